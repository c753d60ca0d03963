//! Short descriptions of actions: without articles, without the word that the action's name already has, and cut at the
//! end of a clause.

/// Words that start a clause: after a comma before one of them the text may be cut. Before others the comma may belong
/// to a list.
const CLAUSE_STARTS: [&str; 26] = [
    "all", "also", "and", "as", "at", "before", "below", "but", "each", "in", "it", "its",
    "latest", "made", "most", "newest", "of", "or", "out", "so", "the", "then", "through", "to",
    "where", "with",
];

/// How many extra bytes may be used to complete a clause.
const EXTRA_BYTES: usize = 24;

/// The description of an action, to be read after its name, in at most so many bytes.
pub(crate) fn line(action: &str, description: &str, limit: usize) -> String {
    // A description is one line for each paragraph.
    let paragraph = description.trim().lines().next().unwrap_or_default();
    let sentence = paragraph.split(". ").next().unwrap_or_default();
    let text = without_articles(sentence.trim_end_matches('.'));
    let verb = action.split('_').next().unwrap_or_default();
    let text = match text.split_once(' ') {
        Some((first, rest)) if first.eq_ignore_ascii_case(verb) => rest,
        _ => text.as_str(),
    };
    let clauses = |limit: usize| match text.len() <= limit {
        true => Some(text),
        false => first_clauses(text, limit),
    };
    match clauses(limit) {
        Some(whole) => whole.to_owned(),
        None if limit == 0 => String::new(),
        None => clauses(limit + EXTRA_BYTES).map_or_else(|| cut(text, limit), str::to_owned),
    }
}

/// The words without `a`, `an`, `the`, except in code.
fn without_articles(text: &str) -> String {
    let mut in_code = false;
    let mut kept: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let is_article = ["a", "an", "the"]
            .iter()
            .any(|article| word.eq_ignore_ascii_case(article));
        if in_code || !is_article {
            kept.push(word);
        }
        if !word.matches('`').count().is_multiple_of(2) {
            in_code = !in_code;
        }
    }
    kept.join(" ")
}

/// The longest prefix that ends with a clause.
fn first_clauses(text: &str, limit: usize) -> Option<&str> {
    let stops = text.match_indices([';', ':']).map(|(at, _)| at);
    let asides = text.match_indices(" (").map(|(at, _)| at);
    let commas = text.match_indices(", ").map(|(at, _)| at).filter(|at| {
        let next = text[at + 2..].split(' ').next().unwrap_or_default();
        CLAUSE_STARTS.contains(&next)
    });
    let end = stops
        .chain(asides)
        .chain(commas)
        .filter(|end| (1..=limit).contains(end) && is_whole(&text[..*end]))
        .max()?;
    Some(&text[..end])
}

/// Words that cannot end a phrase.
const DANGLING_WORDS: [&str; 10] = [
    "and", "by", "for", "from", "in", "of", "or", "that", "to", "with",
];

/// Whether no parenthesis and no code is left open, and nothing is cut away that explains code or ends a phrase.
fn is_whole(text: &str) -> bool {
    let last = text.rsplit(' ').next().unwrap_or_default();
    if DANGLING_WORDS.contains(&last) {
        return false;
    }
    text.matches('(').count() == text.matches(')').count()
        && text.matches('`').count().is_multiple_of(2)
        && !text.ends_with('`')
}

fn cut(text: &str, limit: usize) -> String {
    let mut short = String::new();
    for word in text.split(' ') {
        if short.len() + word.len() + '…'.len_utf8() > limit {
            break;
        }
        short.push_str(word);
        short.push(' ');
    }
    // A dangling word at the end is removed.
    let mut short = short.trim_end();
    while let Some((before, last)) = short.rsplit_once(' ') {
        if !DANGLING_WORDS.contains(&last) {
            break;
        }
        short = before;
    }
    match short {
        "" => String::new(),
        short => format!("{short}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_continue_after_the_name() {
        let about =
            "Rename a note; links to it follow everywhere.\nExample: `{\"path\": \"Plan\"}`";
        assert_eq!(
            line("rename", about, 60),
            "note; links to it follow everywhere"
        );
        assert_eq!(line("rename", about, 30), "note");
        assert_eq!(
            line(
                "list",
                "List the blocks of a note, or under a heading, with names.",
                30
            ),
            "blocks of note"
        );
    }

    #[test]
    fn cut_clauses_are_marked_and_code_stays_whole() {
        let about = "Count words, characters and tokens of `a b` blocks there.";
        assert_eq!(
            line("count", about, 60),
            "words, characters and tokens of `a b` blocks there"
        );
        assert_eq!(line("count", about, 28), line("count", about, 60));
        assert_eq!(line("count", about, 20), "words, characters…");
        assert_eq!(line("count", about, 2), "");
        assert_eq!(line("count", "", 60), "");
    }
}
