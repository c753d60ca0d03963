//! Parses all links of a note. `blocks` finds prose, `inline` parses links in prose, `properties` parses links in the
//! frontmatter.

use std::ops::Range;

use super::{Link, blocks, inline, properties, segments};
use crate::text::frontmatter;

/// The links of a note, in order of their start.
///
/// Code, math, HTML, comments and unquoted YAML lists contain no links.
pub fn parse(note: &str) -> Vec<Link> {
    parse_within(note, MAX_TREE_INPUT_BYTES)
}

/// The largest note for which the Markdown parser's tree fits in a component's memory.
const MAX_TREE_INPUT_BYTES: usize = 8 << 20;

fn parse_within(note: &str, max_tree: usize) -> Vec<Link> {
    if !note.contains('[') {
        return Vec::new();
    }
    let mut links = Vec::new();
    let frontmatter = frontmatter::locate(note);
    if let Some(found) = &frontmatter {
        properties::scan(note, found.yaml.clone(), &mut links);
    }
    let body = frontmatter.map_or(0, |found| found.block.end);
    links.extend(prose(note, body..note.len(), '[', max_tree).links);
    links.sort_by_key(|link| link.range.start);
    number(note, &mut links);
    links
}

/// The links in parts of a note for which `is_wanted` is true; links in other parts may be omitted.
pub(super) fn parse_where(note: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<Link> {
    let mut links = Vec::new();
    let frontmatter = frontmatter::locate(note);
    if let Some(found) = &frontmatter
        && is_wanted(&note[found.yaml.clone()])
    {
        properties::scan(note, found.yaml.clone(), &mut links);
    }
    let body = frontmatter.map_or(0, |found| found.block.end);
    for part in segments::segments(&note[body..]) {
        let part = body + part.start..body + part.end;
        if is_wanted(&note[part.clone()]) {
            links.extend(prose(note, part, '[', MAX_TREE_INPUT_BYTES).links);
        }
    }
    links.sort_by_key(|link| link.range.start);
    number(note, &mut links);
    links
}

/// The links, hashes and prose of a note, found in one pass.
pub(crate) struct Survey {
    /// As [`parse`] returns them.
    pub(crate) links: Vec<Link>,
    /// Each `#` in prose, as [`hashes`] returns them.
    pub(crate) hashes: Vec<usize>,
    /// The ranges of prose, in whole lines or cells, in order.
    pub(crate) prose: Vec<Range<usize>>,
}

/// The links, hashes and prose of a note.
pub(crate) fn survey(note: &str) -> Survey {
    let frontmatter = frontmatter::locate(note);
    let mut links = Vec::new();
    if let Some(found) = &frontmatter {
        properties::scan(note, found.yaml.clone(), &mut links);
    }
    let body = frontmatter.map_or(0, |found| found.block.end);
    let mut found = inline::Found::default();
    let mut prose = Vec::new();
    for leaf in blocks::leaves(&note[body..], MAX_TREE_INPUT_BYTES) {
        let range = body + leaf.range.start..body + leaf.range.end;
        if note[range.clone()].contains(['[', '#']) {
            if leaf.cell {
                inline::scan_inlines(note, range.clone(), &mut found);
            } else {
                inline::scan(note, range.clone(), &mut found);
            }
        }
        prose.push(range);
    }
    links.extend(found.links);
    links.sort_by_key(|link| link.range.start);
    number(note, &mut links);
    found.hashes.sort_unstable();
    Survey {
        links,
        hashes: found.hashes,
        prose,
    }
}

/// Each `#` in the prose of a note: outside of frontmatter, links, code, math, HTML and comments.
pub(crate) fn hashes(note: &str) -> Vec<usize> {
    let body = frontmatter::locate(note).map_or(0, |found| found.block.end);
    let mut hashes = prose(note, body..note.len(), '#', MAX_TREE_INPUT_BYTES).hashes;
    hashes.sort_unstable();
    hashes
}

/// The links and hashes of those leaves in a part of the body that contain `letter`.
fn prose(note: &str, part: Range<usize>, letter: char, max_tree: usize) -> inline::Found {
    let mut found = inline::Found::default();
    if !note[part.clone()].contains(letter) {
        return found;
    }
    for leaf in blocks::leaves(&note[part.clone()], max_tree) {
        let range = part.start + leaf.range.start..part.start + leaf.range.end;
        if !note[range.clone()].contains(letter) {
            continue;
        }
        if leaf.cell {
            inline::scan_inlines(note, range, &mut found);
        } else {
            inline::scan(note, range, &mut found);
        }
    }
    found
}

fn number(note: &str, links: &mut [Link]) {
    let mut line = 1;
    let mut counted = 0;
    for link in links {
        line += note.as_bytes()[counted..link.range.start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        counted = link.range.start;
        link.line = line;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::links::{Fragment, Kind, Notation};

    /// Each link as `kind target#fragment|text @line`, read back from its ranges.
    fn read(note: &str) -> Vec<String> {
        let described = parse(note).into_iter().map(|link| {
            let fragment = match &link.fragment {
                Some(Fragment::Heading(path)) => format!("#{}", path.join("#")),
                Some(Fragment::Block(block)) => format!("#^{block}"),
                None => String::new(),
            };
            let text = link
                .text(note)
                .map(|text| format!("|{text}"))
                .unwrap_or_default();
            let external = if link.external { " external" } else { "" };
            format!(
                "{:?} {}{fragment}{text} @{}{external}",
                link.kind, link.target, link.line
            )
        });
        described.collect()
    }

    #[test]
    fn wikilinks_have_target_fragment_and_alias() {
        assert_eq!(read("a [[Note]] b"), ["Wiki Note @1"]);
        assert_eq!(
            read("\n[[A/Note.md#Top#Sub|see *it*]]"),
            ["Wiki A/Note.md#Top#Sub|see *it* @2"]
        );
        assert_eq!(
            read("[[Note#^b1]] [[#Here]] [[ Note | x ]]"),
            ["Wiki Note#^b1 @1", "Wiki #Here @1", "Wiki Note| x  @1"]
        );
        assert_eq!(
            read("![[a.png|300]]![[Note#H]]"),
            ["Embed a.png|300 @1", "Embed Note#H @1"]
        );
        assert_eq!(
            read("[[Note|[x]]] [[Note|a [b] c]]"),
            ["Wiki Note|[x] @1", "Wiki Note|a [b] c @1"]
        );
        assert!(read("[[]] [[|x]] [[#]] [[a\nb]] [[a]b]] \\[[a]] [[a").is_empty());
    }

    #[test]
    fn ranges_cover_the_construct_and_the_path() {
        let note = "é ![[ Ünï #h|x]] [t](<a b.md#c> \"t\")";
        let links = parse(note);
        assert_eq!(&note[links[0].range.clone()], "![[ Ünï #h|x]]");
        assert_eq!(&note[links[0].target_range.clone()], "Ünï");
        assert_eq!(&note[links[1].range.clone()], "[t](<a b.md#c> \"t\")");
        assert_eq!(&note[links[1].target_range.clone()], "a b.md");
        assert_eq!(links[1].notation, Notation::Angle);
    }

    #[test]
    fn markdown_links_are_decoded() {
        assert_eq!(
            read("[a *b*](Path%20to/Note.md#My%20head \"title\")"),
            ["Markdown Path to/Note.md#My head|a *b* @1"]
        );
        assert_eq!(
            read("[a](x_(1).md) ![](p\\_q.png) [b](%zz%C3%A9.md) [c](%ff.md)"),
            [
                "Markdown x_(1).md|a @1",
                "Image p_q.png| @1",
                "Markdown %zzé.md|b @1",
                "Markdown %ff.md|c @1"
            ]
        );
        assert_eq!(
            read("[a](https://x.y/z#q) [b](mailto:me@x.y) [c](//host/p) [d](#top)"),
            [
                "Markdown https://x.y/z#q|a @1 external",
                "Markdown mailto:me@x.y|b @1 external",
                "Markdown //host/p|c @1 external",
                "Markdown #top|d @1"
            ]
        );
        assert!(read("[a](b c.md) [a]() [a] (b.md) [a](b").is_empty());
    }

    #[test]
    fn links_can_contain_images_but_not_links() {
        assert_eq!(
            read("[![alt](i.png)](n.md)"),
            ["Markdown n.md|![alt](i.png) @1", "Image i.png|alt @1"]
        );
        assert_eq!(read("[a [b](c.md) d](e.md)"), ["Markdown c.md|b @1"]);
        assert_eq!(read("[a] [b](c.md)"), ["Markdown c.md|b @1"]);
    }

    #[test]
    fn definitions_are_at_the_beginning_of_a_paragraph() {
        assert_eq!(
            read("[t][id]\n\n[id]: A/b.md#c 'title'\n[two]: <x y.md>\n\n> [q]: q.md\n"),
            [
                "Definition A/b.md#c|id @3",
                "Definition x y.md|two @4",
                "Definition q.md|q @6"
            ]
        );
        assert_eq!(
            read("[id]: a.md\ntext [[B]]"),
            ["Definition a.md|id @1", "Wiki B @2"]
        );
        assert!(read("text\n[id]: a.md").is_empty());
        assert_eq!(
            read("x[^1]\n\n[^1]: see [[Note]]\n\n[^2]: unused [[Other]]"),
            ["Wiki Note @3", "Wiki Other @5"]
        );
    }

    #[test]
    fn every_block_of_prose_is_read() {
        let note = "# [[A]]\n\n- [ ] [[B]]\n  - x\n\n    [[C]]\n\n> [!note]+ [[D]]\n> [[E]]\n\n[[F]]\n===\n\n1. a\n\n   [[G]]";
        let targets: Vec<String> = parse(note).into_iter().map(|link| link.target).collect();
        assert_eq!(targets, ["A", "B", "C", "D", "E", "F", "G"]);
    }

    #[test]
    fn pipes_in_tables_are_escaped() {
        let note = "| a | b |\n|---|---|\n| [[A\\|x]] | ![[i.png\\|100]] `[[no]]` |\n| `|[[B]]` | [c](C.md) [[D|x]] |\n";
        assert_eq!(
            read(note),
            [
                "Wiki A|x @3",
                "Embed i.png|100 @3",
                "Wiki B @4",
                "Markdown C.md|c @4"
            ]
        );
        assert_eq!(&note[parse(note)[0].target_range.clone()], "A");
    }

    #[test]
    fn code_math_comments_and_html_contain_no_links() {
        for note in [
            "`[[a]]` ``x ` [[a]]``",
            "```\n[[a]]\n```",
            "~~~ md\n[[a]]\n```\n[a](b.md)",
            "- x\n  ```\n  [[a]]\n  ```\n",
            "> ```\n> [[a]]\n> ```\n",
            "    [[a]]\n\n\t[a](b.md)",
            "$[[a]]$ $$\n[[a]]\n$$",
            "x <!-- [[a]] --> y <b title=\"[[a]]\">",
            "<!--\n[[a]]\n\n[[b]]\n-->\n",
            "<div>\n[[a]]\n</div>",
            "%%[[a]]%%",
            "%%\n[[a]]\n\n- [a](b.md)\n%%\n",
            "text %% [[a]]\nmore [[b]] %% end",
        ] {
            assert_eq!(read(note), [""; 0], "{note}");
            if !note.contains("<div>") {
                assert_eq!(parse_within(note, 0), [], "without a tree: {note}");
            }
        }
        assert_eq!(
            read("`a [[b]]\n\n$5 and [[c]] $6\n\ne %% [[d]]"),
            ["Wiki b @1", "Wiki c @3", "Wiki d @5"]
        );
        assert_eq!(
            read("a < b [[c]] > d <b>[[e]]</b>"),
            ["Wiki c @1", "Wiki e @1"]
        );
    }

    #[test]
    fn a_note_too_large_for_a_tree_is_read_by_lines() {
        let note = "# [[A]]\n\n- x\n\n    [[B]]\n\n| [[C\\|c]] |\n\n[id]: D.md\n";
        assert_eq!(parse(note), parse_within(note, 0));
        assert_eq!(parse(note).len(), 4);
    }

    #[test]
    fn strings_in_the_frontmatter_contain_links() {
        let note = "---\nup: \"[[A|a]]\" # [[no]]\nlist:\n  - '[[John''s]]'\n  - \"see [[B#h]], [[C]]\"\nflow: [\"[[D]]\", x's, '[[E]]']\n\
                    text: see [[F]] # [[no]]\nnested: [[no]]\n# [[no]]\nblock: |\n  [[G]] # text\n\n  [[H]]\nescaped: \"[[\\u00e9\\\"]]\"\n\
                    \"key\": \"[[I]]\"\nmap: {a: \"[[J]]\"}\n---\n[[K]]\n";
        let targets: Vec<String> = parse(note).into_iter().map(|link| link.target).collect();
        assert_eq!(
            targets,
            [
                "A", "John's", "B", "C", "D", "E", "F", "G", "H", "é\"", "I", "J", "K"
            ]
        );
        let last = parse(note).pop().expect("one link in the body");
        assert_eq!((last.kind, last.line), (Kind::Wiki, 18));
        assert_eq!(
            read("---\nopen: \"[[A]]\"\n\n[[B]]"),
            ["Wiki A @2", "Wiki B @4"]
        );
    }

    #[test]
    fn line_endings_and_byte_order_marks_are_ignored() {
        assert_eq!(
            read("\u{feff}---\r\na: \"[[A]]\"\r\n---\r\n[[B]]\r\n\r\n[[C]]"),
            ["Property A @2", "Wiki B @4", "Wiki C @6"]
        );
        assert_eq!(read("\u{feff}[[A]]\r\r[[B]]").len(), 2);
    }
}
