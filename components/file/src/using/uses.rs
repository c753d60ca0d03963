//! Whether anything uses a file: links by the index, and what the index does not see as a link.

use std::collections::HashSet;

use notehost_sdk::index::{BacklinksQuery, Condition, Field, Has, Query};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::Value as Json;
use notehost_sdk::text::links::{self, Names};
use notehost_sdk::{Code, Entry};

use crate::canvas::{self, Value};
use crate::encoding::percent_decoded;
use crate::kinds::{FileKind, by_name};

/// How many notes are asked for at once.
const PAGE: u32 = 500;
/// A property longer than this names no file.
const LONGEST_NAME: usize = 1024;

/// Those of some files that nothing uses. Canvases and bases are looked at for themselves and never unused.
pub(super) fn unused(vault: &Vault, files: Vec<Entry>) -> Result<Vec<Entry>> {
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
    let mut used = Used {
        // A file that was put there a moment ago may not be indexed yet.
        names: {
            let files = left.iter().map(|entry| entry.path.clone());
            Names::new(vault.files()?.into_iter().chain(files))
        },
        paths: HashSet::new(),
    };
    used.by_links(vault, &left)?;
    used.by_canvases(vault)?;
    used.by_html(vault)?;
    used.by_properties(vault)?;
    left.retain(|entry| !used.paths.contains(&entry.path));
    Ok(left)
}

/// Files that something uses which is no link.
struct Used {
    names: Names,
    paths: HashSet<String>,
}

impl Used {
    fn target(&mut self, source: &str, target: &str) {
        if let Some(found) = self.names.resolve(source, target)
            && !self.paths.contains(found.path)
        {
            self.paths.insert(found.path.to_owned());
        }
    }

    /// Links by their words: those that the index does not know to lead to a file, because the file is too new.
    fn by_links(&mut self, vault: &Vault, files: &[Entry]) -> Result<()> {
        for chunk in files.chunks(PAGE as usize) {
            let paths: Vec<String> = chunk.iter().map(|entry| entry.path.clone()).collect();
            for note in vault.linking(&paths)? {
                let Ok(text) = vault.read_text(&note) else {
                    continue;
                };
                for link in links::parse(&text.text) {
                    if !link.external && !link.target.is_empty() {
                        self.target(&note, &link.target);
                    }
                }
            }
        }
        Ok(())
    }

    fn by_canvases(&mut self, vault: &Vault) -> Result<()> {
        canvas::each(vault, |canvas| {
            for (_, value) in canvas::values(&canvas.text) {
                match value {
                    Value::File(path) => self.target("", &path),
                    Value::Text(text) => {
                        for link in links::parse(&text)
                            .into_iter()
                            .filter(|link| !link.external)
                        {
                            self.target(&canvas.path, &link.target);
                        }
                        self.attributes(&canvas.path, &text);
                    }
                }
            }
        })
    }

    fn by_html(&mut self, vault: &Vault) -> Result<()> {
        let texts = ["src=", "href=", "src =", "href =", "poster="].map(str::to_owned);
        for path in vault.mentioning(&texts)? {
            match vault.read_text(&path) {
                Ok(note) => self.attributes(&path, &note.text),
                // A note that is no text shows no pictures.
                Err(error) if error.kind() == Code::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What the attributes of HTML elements name, wherever they stand.
    fn attributes(&mut self, source: &str, text: &str) {
        let mut rest = text;
        while let Some(equals) = rest.find('=') {
            let name = rest[..equals].trim_end();
            let is_named = ["src", "href", "poster"].iter().any(|wanted| {
                name.len() >= wanted.len()
                    && name.is_char_boundary(name.len() - wanted.len())
                    && name[name.len() - wanted.len()..].eq_ignore_ascii_case(wanted)
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
            if value.len() <= LONGEST_NAME {
                let target = value.split(['#', '?']).next().unwrap_or_default();
                if !target.is_empty() {
                    self.target(source, &percent_decoded(target));
                }
            }
        }
    }

    fn by_properties(&mut self, vault: &Vault) -> Result<()> {
        let mut query = Query {
            condition: Some(Condition::Has(Has::Properties)),
            limit: PAGE,
            fields: vec![Field::Properties],
            ..Query::default()
        };
        loop {
            let found = vault.find(&query)?;
            query.offset += found.items.len() as u64;
            let is_last = found.items.is_empty() || query.offset >= found.total;
            for note in found.items {
                for value in note.properties.unwrap_or_default().values() {
                    self.property(&note.path, value, 0);
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    fn property(&mut self, source: &str, value: &Json, depth: usize) {
        match value {
            Json::String(text) if text.len() <= LONGEST_NAME && text.contains('.') => {
                self.target(source, text.trim());
                for link in links::parse(text).into_iter().filter(|link| !link.external) {
                    self.target(source, &link.target);
                }
            }
            Json::Array(items) if depth < 8 => {
                for item in items {
                    self.property(source, item, depth + 1);
                }
            }
            Json::Object(map) if depth < 8 => {
                for item in map.values() {
                    self.property(source, item, depth + 1);
                }
            }
            _ => {}
        }
    }
}
