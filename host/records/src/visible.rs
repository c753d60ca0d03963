//! Makes hidden characters of untrusted text visible for people who decide by it: notes, replies of components, names,
//! log lines.
//!
//! Control characters move the cursor and change the terminal; bidirectional controls show text in another order than it
//! has; zero-width and other invisible characters hide that two texts differ. Each becomes its code point in angle
//! brackets, `<U+202E>`. What scripts and emoji need is kept: joiners between letters of scripts that use them or between
//! emoji, and the variation selector behind one.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The maximum length of a path in a sentence.
const MAX_PATH_CHARS: usize = 120;

/// Replaces hidden characters. Line breaks and tabs are kept.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, false, code_point)
}

/// The same, and carriage returns at the end of a line are shown too: for texts that differ in their line ends.
pub fn visible_with_line_ends(text: &str) -> Cow<'_, str> {
    replaced(text, true, code_point)
}

/// The same for a name or path, which must be one line.
pub fn visible_name(name: &str) -> String {
    let mut shown = visible_with_line_ends(name).into_owned();
    for (character, code) in [('\n', "<U+000A>"), ('\t', "<U+0009>")] {
        if shown.contains(character) {
            shown = shown.replace(character, code);
        }
    }
    shown
}

/// The same for a path within a sentence: it cannot end its backticks, and a long one is shortened in the middle.
pub fn visible_path(path: &str) -> String {
    let shown = visible_name(path).replace('`', "<U+0060>");
    let length = shown.chars().count();
    if length <= MAX_PATH_CHARS {
        return shown;
    }
    let kept = MAX_PATH_CHARS / 2;
    let head: String = shown.chars().take(kept).collect();
    let tail: String = shown.chars().skip(length - kept).collect();
    format!("{head}…{tail}")
}

fn code_point(character: char, shown: &mut String) {
    let _ = write!(shown, "<U+{:04X}>", u32::from(character));
}

/// The same for text with our own styles: sequences that only set colour and weight are kept.
pub fn visible_with_styles(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return visible(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, style, after)) = next_style(rest) {
        shown.push_str(&visible(before));
        shown.push_str(style);
        rest = after;
    }
    shown.push_str(&visible(rest));
    shown.into()
}

/// The same for JSON text, with JSON escapes, so that it stays the same document.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    replaced(text, false, |character, shown| {
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn replaced(text: &str, with_line_ends: bool, show: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    // The unchanged text.
    let mut before = None;
    while let Some(character) = characters.next() {
        let after = characters.peek().copied();
        match character {
            // A line break of Windows.
            '\r' if after == Some('\n') && !with_line_ends => {}
            hidden if is_hidden(hidden) && !is_needed(before, hidden, after) => {
                show(hidden, &mut shown);
                before = None;
                continue;
            }
            plain => shown.push(plain),
        }
        before = Some(character);
    }
    shown.into()
}

/// Whether a character is invisible, or changes the display of others.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        character if character.is_control() => true,
        // Soft hyphen, grapheme joiner, Arabic letter mark, fillers and vowels without a shape.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' => true,
        // Zero-width characters and marks of direction; separators; embeddings and overrides.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        // Word joiner, invisible operators, isolates, deprecated controls.
        '\u{2060}'..='\u{206f}' => true,
        '\u{2800}' | '\u{3164}' | '\u{ffa0}' => true,
        // Variation selectors, byte order mark, annotations, musical controls.
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        // Tags and more variation selectors.
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a hidden character is used as intended by its script or emoji.
fn is_needed(before: Option<char>, hidden: char, after: Option<char>) -> bool {
    let (Some(before), after) = (before, after) else {
        return false;
    };
    match hidden {
        '\u{200c}' => is_joining(before) && after.is_some_and(is_joining),
        '\u{200d}' => after.is_some_and(|after| {
            let is_selected = before == '\u{fe0f}';
            is_joining(before) && is_joining(after)
                || (is_emoji(before) || is_selected) && is_emoji(after)
        }),
        // Digits, `#` and `*` have a form as a key.
        '\u{fe0f}' if after == Some('\u{20e3}') => {
            before.is_ascii_digit() || matches!(before, '#' | '*')
        }
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(before),
        _ => false,
    }
}

/// Whether a character belongs to a script where joiners change letter shapes: Arabic and its relatives, those of India
/// and South-East Asia, Mongolian.
fn is_joining(character: char) -> bool {
    let is_script = matches!(character,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{e80}'..='\u{109f}' | '\u{1700}'..='\u{18af}'
        | '\u{1900}'..='\u{1c4f}' | '\u{1cd0}'..='\u{1cff}' | '\u{a800}'..='\u{a82f}'
        | '\u{a840}'..='\u{a8ff}' | '\u{a930}'..='\u{aaff}' | '\u{abc0}'..='\u{abff}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10a00}'..='\u{10fff}'
        | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}');
    is_script && !character.is_whitespace() && !is_hidden(character)
}

/// Whether a character may have the form of an emoji.
fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}')
}

/// The next style sequence, with the text before and after it.
fn next_style(text: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in text.match_indices("\u{1b}[") {
        let parameters = &text[at + 2..];
        let length = parameters.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
        if parameters[length..].starts_with('m') {
            let end = at + 2 + length + 1;
            return Some((&text[..at], &text[at..end], &text[end..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        for (text, shown) in [
            ("a\u{1b}[2Jb", "a<U+001B>[2Jb"),
            ("a\u{9b}31mb\u{7f}", "a<U+009B>31mb<U+007F>"),
            ("over\rwritten\r\nnext\n", "over<U+000D>written\nnext\n"),
            ("a\u{202e}b\u{2066}c", "a<U+202E>b<U+2066>c"),
            ("pass\u{200b}word\u{feff}", "pass<U+200B>word<U+FEFF>"),
            (
                "admi\u{ad}n\u{2060}\u{3164}",
                "admi<U+00AD>n<U+2060><U+3164>",
            ),
            ("tag\u{e0041}", "tag<U+E0041>"),
            (
                "a\u{200d}b \u{200c}x\u{fe0f}",
                "a<U+200D>b <U+200C>x<U+FE0F>",
            ),
            // Joiners and selectors where no script has them.
            (
                "пар\u{200d}оль 水\u{200c}火 x\u{fe0f}\u{200d}🔥 7\u{fe0f}",
                "пар<U+200D>оль 水<U+200C>火 x<U+FE0F><U+200D>🔥 7<U+FE0F>",
            ),
            // A chain of selectors can carry a message.
            ("☂\u{fe0f}\u{fe0f}\u{fe01}", "☂\u{fe0f}<U+FE0F><U+FE01>"),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
        }
    }

    #[test]
    fn joiners_of_scripts_and_emoji_are_kept() {
        for text in [
            "plain\ttext\nnext line",
            "日本語 Tomás ｔｏ",
            "👩\u{200d}🌾 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            "שלום عربي",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(_)) || visible(text) == text);
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn line_ends_and_paths() {
        assert_eq!(visible_with_line_ends("a\r\nb\n"), "a<U+000D>\nb\n");
        assert_eq!(visible_name("a\r\nb"), "a<U+000D><U+000A>b");
        assert_eq!(visible_path("Work/a`b.md"), "Work/a<U+0060>b.md");
        let long = format!("Work/{}/end.md", "x".repeat(4000));
        let shown = visible_path(&long);
        assert!(shown.starts_with("Work/xx") && shown.ends_with("xx/end.md"));
        assert_eq!(shown.chars().count(), MAX_PATH_CHARS + 1);
    }

    #[test]
    fn only_our_own_styles_are_kept() {
        let styled = "\u{1b}[1m\u{1b}[38;5;2mok\u{1b}[0m";
        assert_eq!(visible_with_styles(styled), styled);
        assert_eq!(
            visible_with_styles("\u{1b}[1mx\u{1b}[2J\u{1b}]0;t\u{7}\u{1b}[0m\u{1b}["),
            "\u{1b}[1mx<U+001B>[2J<U+001B>]0;t<U+0007>\u{1b}[0m<U+001B>["
        );
    }

    #[test]
    fn json_stays_the_same_document() {
        let value = serde_json::json!({"k\u{202e}": "\u{e0041}\u{7f}\u{200b} 👩\u{200d}🌾"});
        let text = value.to_string();
        let shown = visible_json(&text);
        assert!(
            shown.contains(r"\u202e") && shown.contains(r"\udb40\udc41"),
            "{shown}"
        );
        let again: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(again, value);
    }
}
