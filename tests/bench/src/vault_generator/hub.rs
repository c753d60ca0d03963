//! Every form of a link to the hub, and text that only looks like one.

use std::fmt::Write as _;

/// The heading and the block of the hub that links point to.
pub(crate) const HEADING: &str = "Where to begin";
pub(crate) const BLOCK: &str = "hub-block";

/// Number of forms of a link in the body.
const FORMS: usize = 20;

/// Every seventh note links from its properties instead.
pub(crate) fn is_property(number: usize) -> bool {
    number.is_multiple_of(7)
}

/// A frontmatter line that links to the hub.
pub(crate) fn property(number: usize) -> &'static str {
    match number / 7 % 3 {
        0 => "related: \"[[Hub]]\"\n",
        1 => "up: '[[Hub|the hub]]'\n",
        _ => "related:\n  - \"[[Knowledge base/Hub]]\"\n",
    }
}

/// A paragraph that links to the hub from a note that is `depth` folders deep.
pub(crate) fn paragraph(number: usize, depth: usize) -> String {
    let up = "../".repeat(depth);
    // Counted without the property links, so that every form occurs.
    let form = number - number / 7 - 1;
    match form % FORMS {
        0 => "Begin at [[Hub]] and go on.\n".to_owned(),
        1 => "Begin at [[Hub|the middle of it all]] and go on.\n".to_owned(),
        2 => format!("Begin at [[Hub#{HEADING}]] and go on.\n"),
        3 => format!("Begin at [[Hub#^{BLOCK}]] and go on.\n"),
        4 => format!("Begin at [[Hub#{HEADING}|the beginning]] and go on.\n"),
        5 => "![[Hub]]\n".to_owned(),
        6 => format!("![[Hub#{HEADING}]]\n"),
        7 => "Begin at [[Knowledge base/Hub]] and go on.\n".to_owned(),
        8 => "Begin at [[Knowledge base/Hub.md|there]] and go on.\n".to_owned(),
        9 => "Begin at [[hub]] and go on.\n".to_owned(),
        10 => "Begin at [the hub](Hub.md) and go on.\n".to_owned(),
        11 => "Begin at [the hub](Knowledge%20base/Hub.md) and go on.\n".to_owned(),
        12 => "Begin at [the hub](<Knowledge base/Hub.md>) and go on.\n".to_owned(),
        13 => format!("Begin at [the hub]({up}Knowledge%20base/Hub.md) and go on.\n"),
        14 => {
            "Begin at [the hub](Knowledge%20base/Hub.md#Where%20to%20begin) and go on.\n".to_owned()
        }
        15 => "| where | what |\n|---|---|\n| [[Hub\\|the hub]] | all of it |\n".to_owned(),
        16 => "> [!note] Where to begin\n> At [[Hub]], as always.\n".to_owned(),
        17 => "- first\n  - [ ] look at [[Hub]] again\n".to_owned(),
        18 => "Begin at [the hub][middle] and go on.\n\n[middle]: Knowledge%20base/Hub.md\n"
            .to_owned(),
        _ => "Begin at [[Hub]], then [[Hub|again]], then ==[[Hub]]==.\n".to_owned(),
    }
}

/// A paragraph that names the hub without linking to it.
pub(crate) fn decoy(number: usize) -> &'static str {
    match number % 5 {
        0 => "A link is written `[[Hub]]` here.\n",
        1 => "```markdown\n[[Hub]] and [the hub](Hub.md)\n```\n",
        2 => "%% not [[Hub]] any more %%\n",
        3 => "The Hub is a word, and \\[[Hub]] is none.\n",
        _ => "<!-- [[Hub]] -->\n",
    }
}

/// The hub itself.
pub(crate) fn note() -> String {
    let mut text = format!(
        "---\ntags: [moc]\naliases: [The middle]\n---\n# Hub\n\nWhat everything leads to.\n\n## {HEADING}\n\nHere. ^{BLOCK}\n\n## Parts\n\n"
    );
    for part in 1..=40 {
        let _ = writeln!(text, "- part {part}, about which there is more to say");
    }
    text
}
