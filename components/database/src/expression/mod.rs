//! The expression language of filters and formulas in `.base` files.
//!
//! `parser` parses a text to a tree and rejects unknown names with their position; `evaluate` evaluates the tree for
//! one note. YAML, views and actions are not handled here.

mod context;
mod dates;
mod evaluate;
mod files;
mod functions;
mod lists;
mod operators;
mod parser;
mod scanner;
mod texts;
mod value;
mod vocabulary;

#[cfg(test)]
mod tests;

pub(crate) use context::Context;
pub(crate) use dates::{Date, parse_date};
pub(crate) use evaluate::{Evaluator, Formulas, Row};
pub(crate) use lists::{numbers, unique};
pub(crate) use parser::parse;
pub(crate) use value::{Value, file_link};

use regex::Regex;
use std::rc::Rc;

/// A parsed expression.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    /// A literal value.
    Literal(Value),
    List(Vec<Expression>),
    Object(Vec<(String, Expression)>),
    /// A property of the note.
    Property(String),
    /// All properties of the note.
    Note,
    /// The note's file.
    File,
    /// An attribute of the note's file, such as `name`.
    FileField(&'static str),
    /// The file that contains the database.
    This,
    /// A formula of the database.
    Formula(String),
    /// A variable that `filter`, `map` and `reduce` bind in their expression.
    Local(Local),
    /// All values of a column, in a summary.
    Values,
    Member(Box<Expression>, String),
    Index(Box<Expression>, Box<Expression>),
    Call(&'static str, Vec<Expression>),
    Method(Box<Expression>, &'static str, Vec<Expression>),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// A variable in scope only within `filter`, `map` and `reduce`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub(crate) enum Local {
    Value,
    Index,
    Accumulator,
}

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A regular expression with its flags.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) source: String,
    pub(crate) regex: Regex,
    pub(crate) is_global: bool,
}

impl Pattern {
    pub(crate) fn new(source: &str, flags: &str) -> Result<Rc<Pattern>, String> {
        if let Some(unknown) = flags.chars().find(|flag| !"gimsuy".contains(*flag)) {
            return Err(format!(
                "unknown flag `{unknown}` of the regular expression"
            ));
        }
        let regex = regex::RegexBuilder::new(source)
            .case_insensitive(flags.contains('i'))
            .multi_line(flags.contains('m'))
            .dot_matches_new_line(flags.contains('s'))
            .size_limit(1 << 20)
            .build()
            .map_err(|error| {
                let message = error.to_string();
                let reason = message.lines().last().unwrap_or_default();
                format!(
                    "invalid regular expression `{source}`: {}",
                    reason.trim_start_matches("error: ")
                )
            })?;
        Ok(Rc::new(Pattern {
            source: source.to_owned(),
            regex,
            is_global: flags.contains('g'),
        }))
    }
}

impl Expression {
    /// Calls `see` with every node of the tree.
    pub(crate) fn each(&self, see: &mut impl FnMut(&Expression)) {
        see(self);
        match self {
            Expression::List(items) | Expression::All(items) | Expression::Any(items) => {
                items.iter().for_each(|item| item.each(see));
            }
            Expression::Object(entries) => entries.iter().for_each(|(_, value)| value.each(see)),
            Expression::Member(inner, _) | Expression::Not(inner) | Expression::Negate(inner) => {
                inner.each(see);
            }
            Expression::Index(one, other) | Expression::Binary(_, one, other) => {
                one.each(see);
                other.each(see);
            }
            Expression::Call(_, arguments) => arguments.iter().for_each(|item| item.each(see)),
            Expression::Method(inner, _, arguments) => {
                inner.each(see);
                arguments.iter().for_each(|item| item.each(see));
            }
            Expression::Literal(_)
            | Expression::Property(_)
            | Expression::Note
            | Expression::File
            | Expression::FileField(_)
            | Expression::This
            | Expression::Formula(_)
            | Expression::Local(_)
            | Expression::Values => {}
        }
    }

    /// The text of a literal.
    pub(crate) fn literal_text(&self) -> Option<&str> {
        match self {
            Expression::Literal(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// Whether a text is a wikilink: `[[Note]]`.
pub(crate) fn is_link(text: &str) -> bool {
    value::Link::parse(text).is_some()
}
