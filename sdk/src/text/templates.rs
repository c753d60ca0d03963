//! Renders templates with the variables of Obsidian's core templates, `{{title}}`, `{{date}}`, `{{time}}`, with formats
//! (`{{date:YYYY}}`), and variables of the caller. Unknown variables are left unchanged and reported.

use std::collections::BTreeMap;

use crate::dates::{self, Moment};
use crate::{Kind, Result, Vault};

/// The default format of `{{date}}`.
const DEFAULT_DATE_FORMAT: &str = "YYYY-MM-DD";
/// The default format of `{{time}}`.
const DEFAULT_TIME_FORMAT: &str = "HH:mm";
/// The names of the template folder if the owner's editor has no setting.
const DEFAULT_FOLDERS: [&str; 2] = ["Templates", "templates"];

/// The values of variables.
#[derive(Debug, Clone)]
pub struct Variables {
    now: Moment,
    date_format: String,
    time_format: String,
    /// By lowercase name.
    values: BTreeMap<String, String>,
}

impl Variables {
    /// The current local time, with the owner's formats.
    pub fn new(vault: &Vault) -> Result<Variables> {
        let conventions = vault.conventions()?;
        let chosen = |format: Option<String>, default: &str| {
            format
                .filter(|format| !format.trim().is_empty())
                .unwrap_or_else(|| default.to_owned())
        };
        Ok(Variables {
            now: Moment::now(vault),
            date_format: chosen(conventions.template_date, DEFAULT_DATE_FORMAT),
            time_format: chosen(conventions.template_time, DEFAULT_TIME_FORMAT),
            values: BTreeMap::new(),
        })
    }

    /// Sets the time.
    pub fn at(mut self, moment: Moment) -> Variables {
        self.now = moment;
        self
    }

    /// Sets the title.
    pub fn titled(self, title: &str) -> Variables {
        self.with("title", title)
    }

    /// Adds a variable (the name is case-insensitive). A `date` in ISO form (`2026-01-31`) is also the day that `{{date:…}}`
    /// formats.
    pub fn with(mut self, name: &str, value: &str) -> Variables {
        self.values.insert(folded(name), value.to_owned());
        self
    }

    /// The value of a variable, as written between its braces.
    fn value(&self, written: &str) -> Option<String> {
        if let Some(value) = self.values.get(&folded(written)) {
            return Some(value.clone());
        }
        let (name, format) = match written.split_once(':') {
            Some((name, format)) => (folded(name), Some(format.trim())),
            None => (folded(written), None),
        };
        match name.as_str() {
            "date" => Some(
                self.day()
                    .format(format.unwrap_or(self.date_format.as_str())),
            ),
            "time" => Some(self.now.format(format.unwrap_or(self.time_format.as_str()))),
            _ => None,
        }
    }

    fn day(&self) -> Moment {
        let date = self.values.get("date").and_then(|date| dates::day_of(date));
        let milliseconds = date.and_then(|day| u64::try_from(day.saturating_mul(dates::DAY)).ok());
        milliseconds.map_or(self.now, Moment::at)
    }
}

/// A rendered template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// The text.
    pub text: String,
    /// The unknown variables as written between their braces, each once, in order. The text contains them unchanged.
    pub unknown: Vec<String>,
}

/// Renders a template.
pub fn fill(template: &str, variables: &Variables) -> Filled {
    let mut filled = Filled::default();
    filled.text.reserve(template.len());
    each_variable(template, |piece| match piece {
        Piece::Text(text) => filled.text.push_str(text),
        Piece::Variable(written) => match variables.value(written) {
            Some(value) => filled.text.push_str(&value),
            None => {
                filled.text.push_str(&format!("{{{{{written}}}}}"));
                let name = written.trim().to_owned();
                if !filled.unknown.contains(&name) {
                    filled.unknown.push(name);
                }
            }
        },
    });
    filled
}

/// The variables of a template as written between their braces, each once, in order.
pub fn names(template: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    each_variable(template, |piece| {
        if let Piece::Variable(written) = piece
            && !names.iter().any(|name| name == written.trim())
        {
            names.push(written.trim().to_owned());
        }
    });
    names
}

/// The template folder: from the settings of the owner's editor, or a folder with a default name.
pub fn folder(vault: &Vault) -> Result<Option<String>> {
    let known = vault.conventions()?.templates;
    let known = known.as_deref().map(|folder| folder.trim_matches('/'));
    let candidates = known.into_iter().filter(|folder| !folder.is_empty());
    for folder in candidates.chain(DEFAULT_FOLDERS) {
        if let Ok(entry) = vault.stat(folder)
            && entry.kind == Kind::Folder
        {
            return Ok(Some(entry.path));
        }
    }
    Ok(None)
}

enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Splits a template. A variable is text between double braces, on one line and without braces.
fn each_variable<'t>(template: &'t str, mut handle: impl FnMut(Piece<'t>)) {
    let mut rest = template;
    while let Some(open) = rest.find("{{") {
        let inner = &rest[open + 2..];
        let end = inner.find(['{', '}', '\n', '\r']).unwrap_or(inner.len());
        let written = &inner[..end];
        if inner[end..].starts_with("}}") && !written.trim().is_empty() {
            handle(Piece::Text(&rest[..open]));
            handle(Piece::Variable(written));
            rest = &inner[end + 2..];
        } else {
            // Advance by one brace, so that `{{{title}}` is a brace and a variable.
            handle(Piece::Text(&rest[..=open]));
            rest = &rest[open + 1..];
        }
    }
    handle(Piece::Text(rest));
}

fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Conventions;
    use proptest::prelude::*;

    const TEN: u64 = 1_767_261_845_000;

    #[test]
    fn only_known_variables_are_replaced() {
        let vault = Vault::in_memory().at(TEN);
        let variables = Variables::new(&vault).unwrap().titled("Plan");
        let filled = fill(
            "# {{title}}\n{{ Date }} {{time}} {{date:DD.MM.YYYY}} {{else}} {{x {{title}} {{{title}} {{}} {{",
            &variables,
        );
        assert_eq!(
            filled.text,
            "# Plan\n2026-01-01 10:04 01.01.2026 {{else}} {{x Plan {Plan {{}} {{"
        );
        assert_eq!(filled.unknown, ["else"]);
    }

    #[test]
    fn formats_and_offset_come_from_the_conventions() {
        let vault = Vault::in_memory()
            .at(TEN)
            .in_zone(15 * 60)
            .with_conventions(Conventions {
                template_date: Some("D/M/YY".to_owned()),
                template_time: Some("h a".to_owned()),
                ..Conventions::default()
            });
        let variables = Variables::new(&vault).unwrap();
        assert_eq!(fill("{{date}} {{time}}", &variables).text, "2/1/26 1 am");
    }

    #[test]
    fn values_of_the_caller_take_precedence() {
        let vault = Vault::in_memory().at(TEN);
        let variables = Variables::new(&vault)
            .unwrap()
            .with("Client", "Ana {{title}}")
            .with("date", "2024-02-29");
        let filled = fill(
            "{{client}} {{date}} {{date:YYYY}} {{time:mm}} {{title}} {{ title }}",
            &variables,
        );
        assert_eq!(
            filled.text,
            "Ana {{title}} 2024-02-29 2024 04 {{title}} {{ title }}"
        );
        assert_eq!(filled.unknown, ["title"]);
        assert_eq!(
            names("{{a}} {{ b:c }} {{a}} {{\n}}"),
            ["a".to_owned(), "b:c".to_owned()]
        );
    }

    #[test]
    fn the_template_folder_is_configured_or_default() {
        let named = |folder: &str| Conventions {
            templates: Some(folder.to_owned()),
            ..Conventions::default()
        };
        let vault = || {
            Vault::in_memory()
                .with("Meta/T/a.md", "")
                .with("templates/b.md", "")
        };
        assert_eq!(
            folder(&vault().with_conventions(named("/Meta/T/")))
                .unwrap()
                .as_deref(),
            Some("Meta/T")
        );
        for conventions in [named("Gone"), Conventions::default()] {
            assert_eq!(
                folder(&vault().with_conventions(conventions))
                    .unwrap()
                    .as_deref(),
                Some("templates")
            );
        }
        assert_eq!(folder(&Vault::in_memory()).unwrap(), None);
    }

    proptest! {
        #[test]
        fn unknown_variables_stay_unchanged(template in "[a-c{}: \n\r|é]{0,40}") {
            let vault = Vault::in_memory();
            let variables = Variables::new(&vault).unwrap();
            let filled = fill(&template, &variables);
            prop_assert_eq!(&filled.text, &template);
            prop_assert_eq!(filled.unknown, names(&template));
        }

        #[test]
        fn text_around_variables_stays_unchanged(before in "[^{}]{0,20}", after in "[^{}]{0,20}") {
            let vault = Vault::in_memory();
            let variables = Variables::new(&vault).unwrap().titled("T");
            let filled = fill(&format!("{before}{{{{title}}}}{after}"), &variables);
            prop_assert_eq!(filled.text, format!("{before}T{after}"));
        }
    }
}
