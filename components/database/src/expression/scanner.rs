//! The scanner: characters and tokens of an expression.

/// A position in the text of an expression.
pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, at: 0 }
    }

    /// Skips spaces and returns the remaining text.
    pub(super) fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    /// The next character.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Consumes a token if it comes next.
    pub(super) fn take(&mut self, sign: &str) -> bool {
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    /// The position of the next character, 1-based.
    pub(super) fn place(&mut self) -> usize {
        self.rest();
        self.text[..self.at].chars().count() + 1
    }

    /// A name, if one comes next.
    pub(super) fn name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let first = rest.chars().next().filter(|letter| begins_name(*letter))?;
        let end = rest[first.len_utf8()..]
            .find(|letter: char| !begins_name(letter) && !letter.is_numeric())
            .map_or(rest.len(), |end| end + first.len_utf8());
        self.at += end;
        Some(&rest[..end])
    }

    /// A number. A dot belongs to it only before a digit: `5.isEmpty()` is a call.
    pub(super) fn number(&mut self) -> Result<f64, String> {
        let rest = self.rest();
        let digits = |from: usize| rest[from..].bytes().take_while(u8::is_ascii_digit).count();
        let mut end = digits(0);
        if rest[end..].starts_with('.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        self.at += end;
        rest[..end]
            .parse()
            .map_err(|_| format!("invalid number `{}`", &rest[..end]))
    }

    /// A quoted text; the next character is the quote.
    pub(super) fn quoted(&mut self) -> Result<String, String> {
        let rest = self.rest();
        let mut letters = rest.char_indices();
        let Some((_, quote)) = letters.next() else {
            return Err("expected a quoted text".to_owned());
        };
        let mut text = String::new();
        while let Some((offset, letter)) = letters.next() {
            match letter {
                letter if letter == quote => {
                    self.at += offset + quote.len_utf8();
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                letter => text.push(letter),
            }
        }
        Err(format!("missing closing `{quote}`"))
    }

    /// A regular expression and its flags; the next character is the opening slash.
    pub(super) fn pattern(&mut self) -> Result<(&'t str, &'t str), String> {
        let rest = self.rest();
        let (mut is_escaped, mut in_class) = (false, false);
        for (offset, letter) in rest.char_indices().skip(1) {
            match letter {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    let flags = &rest[offset + 1..];
                    let end = flags.bytes().take_while(u8::is_ascii_alphabetic).count();
                    self.at += offset + 1 + end;
                    return Ok((&rest[1..offset], &flags[..end]));
                }
                _ => {}
            }
        }
        Err("the regular expression has no closing `/`".to_owned())
    }
}

/// Letters of every script and emoji; ASCII punctuation is reserved for operators.
fn begins_name(letter: char) -> bool {
    letter.is_alphabetic()
        || matches!(letter, '_' | '$')
        || (!letter.is_ascii()
            && !letter.is_whitespace()
            && !letter.is_numeric()
            && !letter.is_control())
}
