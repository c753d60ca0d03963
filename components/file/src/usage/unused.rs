//! Finds unused files: by links from the index, and by references that the index does not treat as links.

use std::collections::HashSet;

use notehost_sdk::index::{BacklinksQuery, Condition, Field, Has, Query};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::Value as Json;
use notehost_sdk::text::links::{self, Names};
use notehost_sdk::text::percent;
use notehost_sdk::{Code, Entry};

use crate::canvas::{self, Value};
use crate::file_type::{FileKind, by_name};

/// The maximum number of files to search for at once.
const MAX_FILES_PER_SEARCH: u32 = 500;
/// Longer properties and attributes are not file names.
const MAX_NAME_BYTES: usize = 1024;

/// The unused files among `files`. Canvases and bases are never unused.
pub(super) fn unused_files(vault: &Vault, files: Vec<Entry>) -> Result<Vec<Entry>> {
    let mut left: Vec<Entry> = Vec::new();
    for entry in files {
        if matches!(by_name(&entry.path).kind, FileKind::Canvas | FileKind::Base) {
            continue;
        }
        let links = vault.backlinks(&BacklinksQuery {
            path: entry.path.clone(),
            offset: 0,
            limit: 0,
        })?;
        if links.total == 0 {
            left.push(entry);
        }
    }
    if left.is_empty() {
        return Ok(left);
    }
    let mut used = UsedFiles {
        // A new file may not be indexed yet.
        names: {
            let files = left.iter().map(|entry| entry.path.clone());
            Names::new(vault.files()?.into_iter().chain(files))
        },
        paths: HashSet::new(),
    };
    used.add_links(vault, &left)?;
    used.add_canvases(vault)?;
    used.add_html(vault)?;
    used.add_properties(vault)?;
    left.retain(|entry| !used.paths.contains(&entry.path));
    Ok(left)
}

/// The files that are in use.
struct UsedFiles {
    names: Names,
    paths: HashSet<String>,
}

impl UsedFiles {
    fn add(&mut self, source: &str, target: &str) {
        if let Some(found) = self.names.resolve(source, target)
            && !self.paths.contains(found.path)
        {
            self.paths.insert(found.path.to_owned());
        }
    }

    /// Adds targets of links that the index has not resolved, because the file is too new.
    fn add_links(&mut self, vault: &Vault, files: &[Entry]) -> Result<()> {
        for chunk in files.chunks(MAX_FILES_PER_SEARCH as usize) {
            let paths: Vec<String> = chunk.iter().map(|entry| entry.path.clone()).collect();
            for note in vault.linking(&paths)? {
                let Ok(text) = vault.read_text(&note) else {
                    continue;
                };
                for link in links::parse(&text.text) {
                    if !link.external && !link.target.is_empty() {
                        self.add(&note, &link.target);
                    }
                }
            }
        }
        Ok(())
    }

    fn add_canvases(&mut self, vault: &Vault) -> Result<()> {
        canvas::each(vault, |canvas| {
            for (_, value) in canvas::values(&canvas.text) {
                match value {
                    Value::File(path) => self.add("", &path),
                    Value::Text(text) => {
                        for link in links::parse(&text)
                            .into_iter()
                            .filter(|link| !link.external)
                        {
                            self.add(&canvas.path, &link.target);
                        }
                        self.add_attributes(&canvas.path, &text);
                    }
                }
            }
        })
    }

    fn add_html(&mut self, vault: &Vault) -> Result<()> {
        let texts = ["src=", "href=", "src =", "href =", "poster="].map(str::to_owned);
        for path in vault.mentioning(&texts)? {
            match vault.read_text(&path) {
                Ok(note) => self.add_attributes(&path, &note.text),
                // Skip notes that are not text.
                Err(error) if error.kind() == Code::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Adds the targets of HTML attributes.
    fn add_attributes(&mut self, source: &str, text: &str) {
        let mut rest = text;
        while let Some(equals) = rest.find('=') {
            let name = rest[..equals].trim_end();
            let is_named = ["src", "href", "poster"].iter().any(|attribute| {
                name.len() >= attribute.len()
                    && name.is_char_boundary(name.len() - attribute.len())
                    && name[name.len() - attribute.len()..].eq_ignore_ascii_case(attribute)
            });
            rest = &rest[equals + 1..];
            if !is_named {
                continue;
            }
            let value = rest.trim_start();
            let value = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split(quote).next(),
                _ => value.split([' ', '>', '\n', '\r', '\t']).next(),
            };
            let value = value.unwrap_or_default();
            if value.len() <= MAX_NAME_BYTES {
                let target = value.split(['#', '?']).next().unwrap_or_default();
                if !target.is_empty() {
                    self.add(source, &percent::decode(target));
                }
            }
        }
    }

    fn add_properties(&mut self, vault: &Vault) -> Result<()> {
        for note in vault.find_all(Query {
            condition: Some(Condition::Has(Has::Properties)),
            fields: vec![Field::Properties],
            ..Query::default()
        }) {
            let note = note?;
            for value in note.properties.unwrap_or_default().values() {
                self.add_property(&note.path, value, 0);
            }
        }
        Ok(())
    }

    fn add_property(&mut self, source: &str, value: &Json, depth: usize) {
        match value {
            Json::String(text) if text.len() <= MAX_NAME_BYTES && text.contains('.') => {
                self.add(source, text.trim());
                for link in links::parse(text).into_iter().filter(|link| !link.external) {
                    self.add(source, &link.target);
                }
            }
            Json::Array(items) if depth < 8 => {
                for item in items {
                    self.add_property(source, item, depth + 1);
                }
            }
            Json::Object(map) if depth < 8 => {
                for item in map.values() {
                    self.add_property(source, item, depth + 1);
                }
            }
            _ => {}
        }
    }
}
