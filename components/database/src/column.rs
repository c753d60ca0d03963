//! A column: a property of notes, a file attribute, or a formula of the database.

use crate::base::Base;
use crate::expression::{Expression, parse};
use notehost_sdk::{Error, Result, fold_name, quoted};

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Column {
    Property(String),
    /// The name of the attribute, without `file.`.
    File(String),
    Formula(String),
}

impl Column {
    /// Parses a column name of a `.base` file: `status`, `note.status`, `file.name`, `formula.x`.
    pub(crate) fn named(name: &str) -> Result<Column, String> {
        let name = name.trim();
        if name.is_empty() {
            return Err("a column has no name".to_owned());
        }
        if let Some(field) = name.strip_prefix("file.") {
            parse(name, false).map_err(|_| {
                format!("unknown column `{name}`: files have no attribute `{field}`")
            })?;
            return Ok(Column::File(field.to_owned()));
        }
        Ok(
            match (name.strip_prefix("formula."), name.strip_prefix("note.")) {
                (Some(formula), _) => Column::Formula(formula.to_owned()),
                (_, Some(property)) => Column::Property(property.to_owned()),
                _ => Column::Property(name.to_owned()),
            },
        )
    }

    /// Resolves a column name from a caller, which may also be a display name.
    pub(crate) fn resolve(name: &str, base: &Base) -> Result<Column> {
        let name = name.trim();
        let known = base.named_columns();
        let parsed = Column::named(name).map_err(Error::validation)?;
        if let Some(column) = known.iter().find(|column| column.is_same(&parsed)) {
            return Ok(column.clone());
        }
        if let Column::Formula(formula) = &parsed {
            let names = base.formula_texts.iter();
            let names = quoted(names.map(|(name, _)| format!("formula.{name}")));
            return Err(Error::not_found(match names.is_empty() {
                true => format!("no formula `{formula}`: the database has none"),
                false => format!("no formula `{formula}`; known formulas: {names}"),
            }));
        }
        let shown: Vec<&Column> = known
            .iter()
            .filter(|column| fold_name(&base.display_name(column)) == fold_name(name))
            .collect();
        Ok(match shown.as_slice() {
            [only] => (*only).clone(),
            _ => parsed,
        })
    }

    /// Its name in a `.base` file.
    pub(crate) fn id(&self) -> String {
        match self {
            Column::Property(name)
                if name.starts_with("file.")
                    || name.starts_with("formula.")
                    || name.starts_with("note.") =>
            {
                format!("note.{name}")
            }
            Column::Property(name) => name.clone(),
            Column::File(field) => format!("file.{field}"),
            Column::Formula(name) => format!("formula.{name}"),
        }
    }

    /// Its name without the prefix of its kind.
    pub(crate) fn short_name(&self) -> &str {
        match self {
            Column::Property(name) | Column::Formula(name) => name,
            Column::File(field) if field == "name" => "name",
            Column::File(field) => field,
        }
    }

    /// Whether two columns are the same; property names are case-insensitive.
    pub(crate) fn is_same(&self, other: &Column) -> bool {
        match (self, other) {
            (Column::Property(one), Column::Property(other)) => fold_name(one) == fold_name(other),
            (one, other) => one == other,
        }
    }

    /// The expression that computes it for a row.
    pub(crate) fn tree(&self) -> Expression {
        match self {
            Column::Property(name) => Expression::Property(name.clone()),
            Column::Formula(name) => Expression::Formula(name.clone()),
            Column::File(field) => {
                parse(&format!("file.{field}"), false).unwrap_or(Expression::File)
            }
        }
    }

    /// `note`, `file` or `formula`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Column::Property(_) => "note",
            Column::File(_) => "file",
            Column::Formula(_) => "formula",
        }
    }
}
