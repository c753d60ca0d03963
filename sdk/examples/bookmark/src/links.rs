//! The web links of a note.

/// Each distinct URL with its line, from 1, in the order of the note.
pub fn of(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut from = 0;
        while let Some(at) = next(line, from) {
            let url = leading_url(&line[at..]);
            from = at + url.len();
            if url.ends_with("://") || found.iter().any(|(_, known)| known == url) {
                continue;
            }
            found.push((index + 1, url.to_owned()));
        }
    }
    found
}

fn next(line: &str, from: usize) -> Option<usize> {
    let found = ["https://", "http://"].map(|scheme| line[from..].find(scheme));
    found.into_iter().flatten().min().map(|at| from + at)
}

/// The URL at the beginning of a text: up to a space or the end of the surrounding link.
fn leading_url(text: &str) -> &str {
    let mut depth = 0;
    let end = text.find(|letter: char| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth < 0 || letter.is_whitespace() || "<>\"`]".contains(letter)
    });
    let url = &text[..end.unwrap_or(text.len())];
    url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\''])
}
