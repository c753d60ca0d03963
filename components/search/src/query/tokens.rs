//! The tokenizer of text queries.

use notehost_sdk::{Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Or,
    And,
    /// `-` or `NOT` before a term.
    Not,
    /// `name:`
    Field(String),
    /// `[name]` or `[name:value]`
    Bracket(String, Option<String>),
    Term(Term),
}

/// A word or a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) text: String,
    pub(super) is_quoted: bool,
    /// The number of trailing `*`.
    pub(super) stars: usize,
    /// Whether it follows the previous token without whitespace.
    pub(super) is_joined: bool,
}

impl Term {
    /// Whether it is a prefix query.
    pub(super) fn is_prefix(&self) -> bool {
        self.stars > 0
    }
}

/// Splits a query into tokens.
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>> {
    Tokenizer {
        text,
        at: 0,
        has_fields: true,
        tokens: Vec::new(),
    }
    .run()
}

/// Splits the value of a field into tokens; `:` has no meaning there.
pub(super) fn tokenize_value(text: &str) -> Result<Vec<Token>> {
    Tokenizer {
        text,
        at: 0,
        has_fields: false,
        tokens: Vec::new(),
    }
    .run()
}

struct Tokenizer<'t> {
    text: &'t str,
    at: usize,
    has_fields: bool,
    tokens: Vec<Token>,
}

impl Tokenizer<'_> {
    fn run(mut self) -> Result<Vec<Token>> {
        while let Some(letter) = self.letter() {
            let is_joined = self.is_joined();
            match letter {
                letter if letter.is_whitespace() => self.at += letter.len_utf8(),
                '(' => self.single(Token::Open),
                ')' => self.single(Token::Close),
                '|' => self.single(Token::Or),
                '"' | '“' | '”' | '„' => self.quote(letter, is_joined)?,
                // Within a word it is a hyphen, before a word it is the NOT operator.
                '-' if !is_joined || matches!(self.tokens.last(), Some(Token::Open)) => {
                    self.at += 1;
                    if self
                        .letter()
                        .is_some_and(|next| !next.is_whitespace() && next != '-' && next != '>')
                    {
                        self.tokens.push(Token::Not);
                    }
                }
                '[' if self.has_fields && self.bracket() => {}
                _ => self.word(is_joined),
            }
        }
        Ok(self.tokens)
    }

    fn letter(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Whether the next token follows the previous one without whitespace.
    fn is_joined(&self) -> bool {
        let before = self.text[..self.at].chars().next_back();
        before.is_some_and(|before| !before.is_whitespace())
    }

    fn single(&mut self, token: Token) {
        self.at += 1;
        self.tokens.push(token);
    }

    fn quote(&mut self, opening: char, is_joined: bool) -> Result<()> {
        let start = self.at + opening.len_utf8();
        let is_closing = |letter: char| match opening {
            '"' => letter == '"',
            _ => matches!(letter, '“' | '”' | '"'),
        };
        let Some(length) = self.text[start..].find(is_closing) else {
            return Err(Error::validation(format!(
                "`query` has an unclosed quote: `{}`",
                &self.text[self.at..]
            )));
        };
        let end = start + length;
        self.at = end + self.text[end..].chars().next().map_or(1, char::len_utf8);
        let is_prefix = self.letter() == Some('*');
        self.at += usize::from(is_prefix);
        let text = self.text[start..end].to_owned();
        // `"name":value` is a field whose name contains a space.
        if self.has_fields && !is_prefix && self.letter() == Some(':') && is_name(&text, true) {
            self.at += 1;
            self.tokens.push(Token::Field(text));
            return Ok(());
        }
        self.tokens.push(Token::Term(Term {
            text,
            is_quoted: true,
            stars: is_prefix.into(),
            is_joined,
        }));
        Ok(())
    }

    /// Consumes `[name]` or `[name:value]`, if it is next.
    fn bracket(&mut self) -> bool {
        let rest = &self.text[self.at + 1..];
        let Some(end) = rest.find(']') else {
            return false;
        };
        let inner = &rest[..end];
        let (name, value) = match inner.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (inner, None),
        };
        let name = name.trim().trim_matches('"');
        if !is_name(name, true) {
            return false;
        }
        let value = value.map(str::to_owned);
        self.tokens.push(Token::Bracket(name.to_owned(), value));
        self.at += 1 + end + 1;
        true
    }

    fn word(&mut self, is_joined: bool) {
        let rest = &self.text[self.at..];
        let ends = |letter: char| letter.is_whitespace() || "()|\"“”„".contains(letter);
        let length = rest.find(ends).unwrap_or(rest.len());
        let word = &rest[..length];
        if self.has_fields
            && let Some(colon) = word.find(':')
            && is_name(&word[..colon], false)
            && !word[colon + 1..].starts_with([':', '/'])
        {
            self.tokens.push(Token::Field(word[..colon].to_owned()));
            self.at += colon + 1;
            // The rest of the word is the value, even if it starts with an operator.
            let value = &word[colon + 1..];
            if !value.is_empty() {
                self.at += value.len();
                self.tokens.push(Token::Term(term(value, true)));
            }
            return;
        }
        self.at += length;
        self.tokens.push(match word {
            "OR" => Token::Or,
            "AND" | "&" | "&&" => Token::And,
            "NOT" => Token::Not,
            word => Token::Term(term(word, is_joined)),
        });
    }
}

fn term(word: &str, is_joined: bool) -> Term {
    let text = word.trim_end_matches('*');
    Term {
        text: text.to_owned(),
        is_quoted: false,
        stars: word.len() - text.len(),
        is_joined,
    }
}

/// Whether a text is a valid field name. A number is not: `10:30` is a time.
fn is_name(text: &str, with_spaces: bool) -> bool {
    let is_name_char = |letter: char| {
        letter.is_alphanumeric() || "_-.".contains(letter) || with_spaces && letter == ' '
    };
    text.chars().all(is_name_char)
        && text.chars().any(char::is_alphabetic)
        && !text.starts_with('-')
}
