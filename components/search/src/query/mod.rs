//! Parses a text query into a condition: `quick "brown fox" title:plan -draft (a OR b) #work due:>2024-01-01`.
//!
//! `tokens` splits the text into tokens, `terms` turns a word with its field into a condition; the grammar is here. The
//! parser is lenient where the meaning is obvious (a dangling `OR`, an operator between words) and returns an error
//! where it is not (an unclosed quote).

mod terms;
mod tokens;

use notehost_sdk::host::Now;
use notehost_sdk::index::Condition;
use notehost_sdk::{Error, Result};

use terms::Field;
use tokens::{Term, Token};

/// The maximum length of a query.
const MAX_QUERY_BYTES: usize = 4000;
/// The maximum nesting depth of parentheses.
const MAX_DEPTH: usize = 24;

/// Parses a query into a condition.
///
/// # Errors
/// If the query has no search terms or has a syntax error.
pub fn parse(text: &str, now: &Now) -> Result<Condition> {
    if text.len() > MAX_QUERY_BYTES {
        return Err(Error::validation(format!(
            "`query` has {} bytes; the limit is {MAX_QUERY_BYTES}: `similar` accepts a long text",
            text.len()
        )));
    }
    let mut parser = Parser {
        tokens: tokens::tokenize(text)?,
        at: 0,
        depth: 0,
        now,
    };
    let condition = parser.either(&Field::Anywhere)?;
    if parser.at < parser.tokens.len() {
        return Err(Error::validation("`query` has an unmatched `)`"));
    }
    condition.ok_or_else(|| {
        Error::validation(format!(
            "`query` `{text}` has no search terms: use words, a \"phrase\", `#tag` or `field:value`"
        ))
    })
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    now: &'a Now,
}

impl Parser<'_> {
    /// `a OR b`; `None` if there are no search terms.
    fn either(&mut self, field: &Field) -> Result<Option<Condition>> {
        let mut choices = Vec::new();
        loop {
            choices.extend(self.all(field)?);
            match self.peek() {
                Some(Token::Or) => self.at += 1,
                _ => break,
            }
        }
        Ok(joined(choices, Condition::Any))
    }

    /// `a b`: both terms.
    fn all(&mut self, field: &Field) -> Result<Option<Condition>> {
        let mut terms = Vec::new();
        while !matches!(self.peek(), None | Some(Token::Or | Token::Close)) {
            terms.extend(self.term(field)?);
        }
        Ok(joined(terms, Condition::All))
    }

    fn term(&mut self, field: &Field) -> Result<Option<Condition>> {
        let Some(token) = self.peek().cloned() else {
            return Ok(None);
        };
        self.at += 1;
        Ok(match token {
            Token::And | Token::Or | Token::Close => None,
            Token::Not => {
                let is_followed = !matches!(self.peek(), None | Some(Token::Or | Token::Close));
                let negated = if is_followed {
                    self.nested(|parser| parser.term(field))?
                } else {
                    None
                };
                negated.map(|condition| Condition::Not(Box::new(condition)))
            }
            Token::Open => self.group(field)?,
            Token::Term(term) => field.term(&term, self.now)?,
            Token::Field(name) => self.value(&name)?,
            Token::Bracket(name, inner) => bracket(&name, inner.as_deref(), self.now)?,
        })
    }

    /// Parses what follows `(`.
    fn group(&mut self, field: &Field) -> Result<Option<Condition>> {
        let condition = self.nested(|parser| parser.either(field))?;
        match self.peek() {
            Some(Token::Close) => {
                self.at += 1;
                Ok(condition)
            }
            _ => Err(Error::validation("`query` has an unclosed `(`")),
        }
    }

    /// Parses what follows `name:`.
    fn value(&mut self, name: &str) -> Result<Option<Condition>> {
        let field = Field::named(name);
        match self.peek().cloned() {
            Some(Token::Open) => {
                self.at += 1;
                self.group(&field)
            }
            Some(Token::Term(term)) if term.is_joined => {
                self.at += 1;
                field.term(&term, self.now)
            }
            _ => field.without_value(name).map(Some),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::validation(format!(
                "`query` is nested more than {MAX_DEPTH} levels deep: use fewer parentheses"
            )));
        }
        let done = inner(self);
        self.depth -= 1;
        done
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }
}

/// `[property]` and `[property:value]`, the Obsidian syntax.
fn bracket(name: &str, inner: Option<&str>, now: &Now) -> Result<Option<Condition>> {
    let field = Field::Property(name.to_owned());
    let Some(inner) = inner else {
        return field.without_value(name).map(Some);
    };
    if inner.trim().eq_ignore_ascii_case("null") {
        return Ok(Some(terms::property_exists(name, false)));
    }
    let mut parser = Parser {
        tokens: tokens::tokenize_value(inner)?,
        at: 0,
        depth: 1,
        now,
    };
    match parser.either(&field)? {
        Some(condition) if parser.at == parser.tokens.len() => Ok(Some(condition)),
        None if parser.at == parser.tokens.len() => field.without_value(name).map(Some),
        _ => Err(Error::validation("`query` has an unmatched `)`")),
    }
}

fn joined(
    mut conditions: Vec<Condition>,
    join: impl FnOnce(Vec<Condition>) -> Condition,
) -> Option<Condition> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => Some(join(conditions)),
    }
}

/// The words of a query without operators; `None` for any other query.
pub(crate) fn plain_words(text: &str) -> Option<Vec<String>> {
    let tokens = tokens::tokenize(text).ok()?;
    let words = tokens.into_iter().map(|token| match token {
        Token::Term(Term {
            text,
            is_quoted: false,
            stars: 0,
            ..
        }) if !text.starts_with('#') => Some(text),
        _ => None,
    });
    words.collect()
}
