//! Text of a vault within a line of the host's own text. A reader must be able to see where the vault's text begins
//! and ends, and must see all of it.

/// A text of a vault as one line of at most so many characters: without control characters, without characters that
/// nobody sees or that reorder others, and without the marks that the host quotes with.
pub fn data_line(text: &str, max_chars: usize) -> String {
    let visible: String = text
        .chars()
        .map(|c| match c {
            '"' | '`' => '\'',
            c if c.is_control() => ' ',
            c => c,
        })
        .filter(|c| !is_invisible(*c))
        .collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Characters without a form of their own: marks of direction, joiners, tags, selectors of variants. A text can hide
/// sentences in them that only a model reads.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_stays_on_one_visible_line() {
        let text = "House\nstyle\t\"for\" `all`\u{202e}\u{200b}\u{e0041}\u{7} notes\u{2028}now";
        assert_eq!(data_line(text, 200), "House style 'for' 'all' notes now");
        assert_eq!(data_line("äöü", 2), "äö…");
        assert_eq!(data_line("äöü", 3), "äöü");
    }
}
