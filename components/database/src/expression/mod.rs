//! The expressions of `.base` files: what filters and formulas are written in.
//!
//! `parser` makes a tree of a text and refuses what it does not know by name and place; `evaluate` computes the tree for
//! one note. Nothing here knows YAML, views or actions.

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
mod world;

#[cfg(test)]
mod tests;

pub(crate) use dates::{Date, parse_date};
pub(crate) use evaluate::{Evaluator, Formulas, Row};
pub(crate) use lists::{numbers, unique};
pub(crate) use parser::parse;
pub(crate) use value::{Value, file_link};
pub(crate) use world::World;

use regex::Regex;
use std::rc::Rc;

/// A tree that can be computed.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    /// A value that is written there.
    Literal(Value),
    List(Vec<Expression>),
    Object(Vec<(String, Expression)>),
    /// A property of the note.
    Property(String),
    /// All properties of the note.
    Note,
    /// The note's file.
    File,
    /// A fact of the note's file, such as `name`.
    FileField(&'static str),
    /// The file in which the database stands.
    This,
    /// A formula of the database.
    Formula(String),
    /// What `filter`, `map` and `reduce` hand to their expression.
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

/// A name that stands for something only within `filter`, `map` and `reduce`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub(crate) enum Local {
    Value,
    Index,
    Accumulator,
}

/// What stands between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
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
                "the regular expression has an unknown flag `{unknown}`"
            ));
        }
        let regex = regex::RegexBuilder::new(source)
            .case_insensitive(flags.contains('i'))
            .multi_line(flags.contains('m'))
            .dot_matches_new_line(flags.contains('s'))
            .size_limit(1 << 20)
            .build()
            .map_err(|error| {
                let told = error.to_string();
                let reason = told.lines().last().unwrap_or_default();
                format!(
                    "the regular expression `{source}` cannot be used: {}",
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
    /// Hands every part of the tree to `see`.
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

/// Whether a text is a link as properties have it: `[[Note]]`.
pub(crate) fn is_link(text: &str) -> bool {
    value::Link::parse(text).is_some()
}
