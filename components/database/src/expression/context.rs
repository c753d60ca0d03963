//! The evaluation context shared by all rows of a call: the clock, property types, other files. Lookups are cached for
//! the call.

use super::Date;
use super::value::{Link, Value};
use notehost_sdk::host::Now;
use notehost_sdk::index::{Condition, Field, FoundNote, Query};
use notehost_sdk::{Kind, Result, Vault, fold_name};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The evaluation context of a call.
pub(crate) struct Context<'v> {
    pub(crate) vault: &'v Vault,
    pub(crate) now: Now,
    /// Declared property types by folded name.
    types: BTreeMap<String, String>,
    /// The file that contains the database.
    this: Option<Rc<str>>,
    resolved: RefCell<HashMap<String, Option<Rc<str>>>>,
    notes: RefCell<HashMap<String, Option<Rc<FoundNote>>>>,
    incoming: OnceCell<HashMap<String, Vec<String>>>,
    /// Evaluation steps so far.
    pub(super) steps: Cell<u64>,
    random: Cell<u64>,
}

impl<'v> Context<'v> {
    pub(crate) fn new(vault: &'v Vault, this: Option<&str>) -> Result<Context<'v>> {
        let types = vault.conventions()?.property_types;
        let now = vault.now();
        Ok(Context {
            vault,
            types: types
                .into_iter()
                .map(|(name, kind)| (fold_name(&name), kind))
                .collect(),
            this: this.map(Rc::from),
            resolved: RefCell::default(),
            notes: RefCell::default(),
            incoming: OnceCell::new(),
            steps: Cell::new(0),
            random: Cell::new(now.milliseconds),
            now,
        })
    }

    /// The declared type of a property.
    pub(crate) fn property_type(&self, name: &str) -> Option<&str> {
        if self.types.is_empty() {
            return None;
        }
        self.types.get(&fold_name(name)).map(String::as_str)
    }

    pub(super) fn this(&self) -> Option<Rc<str>> {
        self.this.clone()
    }

    /// The current local time of the owner.
    pub(crate) fn local_now(&self) -> Date {
        self.local(self.now.milliseconds)
    }

    /// Converts a timestamp to local time of the owner.
    pub(crate) fn local(&self, milliseconds: u64) -> Date {
        let ahead = i64::from(self.now.offset_minutes) * 60_000;
        Date::moment(
            i64::try_from(milliseconds)
                .unwrap_or(i64::MAX / 4)
                .saturating_add(ahead),
        )
    }

    /// The file that a link or a name resolves to.
    pub(super) fn resolve(&self, name: &str) -> Option<Rc<str>> {
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        if let Some(known) = self.resolved.borrow().get(name) {
            return known.clone();
        }
        let exact = [name.to_owned(), format!("{name}.md")]
            .into_iter()
            .find_map(|path| {
                let entry = self.vault.stat(&path).ok()?;
                (entry.kind == Kind::File).then_some(entry.path)
            });
        let found = exact.or_else(|| self.vault.resolve(name, None).ok()?.into_iter().next());
        let found: Option<Rc<str>> = found.map(Rc::from);
        self.resolved
            .borrow_mut()
            .insert(name.to_owned(), found.clone());
        found
    }

    /// The file that a value refers to.
    pub(super) fn file_of(&self, value: &Value) -> Option<Rc<str>> {
        match value {
            Value::File(path) => Some(path.clone()),
            Value::Link(link) if !link.is_external => self.resolve(link.file()),
            Value::Text(text) => match Link::parse(text) {
                Some(link) => self.resolve(link.file()),
                None => self.resolve(text),
            },
            _ => None,
        }
    }

    /// The index entry of a note other than the row.
    pub(super) fn note(&self, path: &str) -> Option<Rc<FoundNote>> {
        if let Some(known) = self.notes.borrow().get(path) {
            return known.clone();
        }
        let found = self.vault.find(&Query {
            condition: Some(Condition::Under(path.to_owned())),
            limit: 1,
            fields: vec![
                Field::Properties,
                Field::Tags,
                Field::Links,
                Field::Aliases,
                Field::Modified,
                Field::Size,
            ],
            ..Query::default()
        });
        let note = found.ok().and_then(|found| found.items.into_iter().next());
        let note = note.filter(|note| note.path == path).map(Rc::new);
        self.notes
            .borrow_mut()
            .insert(path.to_owned(), note.clone());
        note
    }

    /// The notes that link to a file.
    pub(super) fn incoming(&self, path: &str) -> Vec<String> {
        let incoming = self.incoming.get_or_init(|| {
            let mut incoming: HashMap<String, Vec<String>> = HashMap::new();
            if let Ok(edges) = self.vault.edges() {
                for edge in edges.edges.chunks_exact(3) {
                    let from = edges.paths.get(edge[0] as usize);
                    let to = edges.paths.get(edge[1] as usize);
                    if let (Some(from), Some(to)) = (from, to) {
                        incoming.entry(to.clone()).or_default().push(from.clone());
                    }
                }
            }
            incoming
        });
        incoming.get(path).cloned().unwrap_or_default()
    }

    /// A pseudo-random number in 0..1 that varies between calls.
    pub(super) fn random(&self) -> f64 {
        // The splitmix64 generator.
        let seed = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(seed);
        let mut mixed = seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether two values are equal: links are compared by their target file, dates also with text.
    pub(crate) fn same(&self, one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Text(one), Value::Text(other)) => one == other,
            (Value::Date(one), Value::Date(other)) => one.milliseconds == other.milliseconds,
            (Value::Date(date), Value::Text(text)) | (Value::Text(text), Value::Date(date)) => {
                super::parse_date(text).is_some_and(|other| other.milliseconds == date.milliseconds)
            }
            (Value::List(one), Value::List(other)) => {
                let pairs = one.items().iter().zip(other.items());
                one.items().len() == other.items().len()
                    && pairs.into_iter().all(|(one, other)| self.same(one, other))
            }
            (Value::Object(one), Value::Object(other)) => one == other,
            (Value::Link(one), Value::Link(other)) if one.target == other.target => true,
            (Value::Link(link), Value::Text(text)) | (Value::Text(text), Value::Link(link))
                if link.target == **text =>
            {
                true
            }
            (Value::Link(_) | Value::File(_), Value::Link(_) | Value::File(_))
            | (Value::Link(_) | Value::File(_), Value::Text(_))
            | (Value::Text(_), Value::Link(_) | Value::File(_)) => {
                match (self.file_of(one), self.file_of(other)) {
                    (Some(one), Some(other)) => one == other,
                    _ => false,
                }
            }
            (one, other) => match (one.number(), other.number()) {
                (Some(one), Some(other)) => one == other,
                _ => false,
            },
        }
    }
}
