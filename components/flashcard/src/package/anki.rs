//! Anki collections: the notes, cards, decks and media of a package. All formats since 2012 are read; packages are
//! written in the format that every Anki version opens (schema 11).

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use sha1::{Digest, Sha1};

use super::PackageError;
use super::archive::{Archive, pack};
use super::sqlite::{Database, Row, Table, Value, write};

/// Separates the fields of a note and, in newer collections, the parts of a deck name.
const FIELD: char = '\u{1f}';
/// Base id of our note types; constant, so that repeated imports into Anki do not duplicate them.
const MODELS: i64 = 1_767_225_600_000;

/// A note of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnkiNote {
    /// Its fields, as HTML.
    pub(crate) fields: Vec<String>,
    /// Its deck, with `::` between parts.
    pub(crate) deck: String,
    /// Number of cards.
    pub(crate) cards: usize,
}

/// The content of a package.
pub(crate) struct Package {
    pub(crate) notes: Vec<AnkiNote>,
    /// The media: names and their file names in the archive.
    pub(crate) media: Vec<(String, String)>,
    archive: Archive,
    packed: bool,
}

impl Package {
    /// Opens a package.
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Package, PackageError> {
        let mut archive = Archive::open(bytes)?;
        let packed = archive.has("collection.anki21b");
        let collection = match packed {
            true => archive.packed_file("collection.anki21b")?,
            false if archive.has("collection.anki21") => archive.file("collection.anki21")?,
            false if archive.has("collection.anki2") => archive.file("collection.anki2")?,
            false => {
                return Err(PackageError::invalid(
                    "the package contains no Anki collection",
                ));
            }
        };
        let notes = notes(&Database::open(collection)?)?;
        let media = match (archive.has("media"), packed) {
            (false, _) => Vec::new(),
            (true, true) => packed_media(&archive.packed_file("media")?),
            (true, false) => plain_media(&archive.file("media")?)?,
        };
        Ok(Package {
            notes,
            media,
            archive,
            packed,
        })
    }

    /// The bytes of a media file; `None` if it is missing.
    pub(crate) fn medium(&mut self, file: &str) -> Result<Option<Vec<u8>>, PackageError> {
        match (self.archive.has(file), self.packed) {
            (false, _) => Ok(None),
            (true, true) => self.archive.packed_file(file).map(Some),
            (true, false) => self.archive.file(file).map(Some),
        }
    }
}

fn notes(database: &Database) -> Result<Vec<AnkiNote>, PackageError> {
    let lacks =
        |table: &str| PackageError::invalid(format!("the collection has no table `{table}`"));
    let decks = decks(database)?;
    let mut cards: BTreeMap<i64, (i64, usize)> = BTreeMap::new();
    for (_, row) in database.table("cards")?.ok_or_else(|| lacks("cards"))? {
        let number = |at: usize| row.get(at).and_then(Value::integer).unwrap_or(0);
        cards.entry(number(1)).or_insert((number(2), 0)).1 += 1;
    }
    let mut notes = Vec::new();
    for (id, row) in database.table("notes")?.ok_or_else(|| lacks("notes"))? {
        let fields = row.get(6).and_then(Value::text).unwrap_or_default();
        let (deck, count) = cards.get(&id).copied().unwrap_or((1, 0));
        notes.push(AnkiNote {
            fields: fields.split(FIELD).map(str::to_owned).collect(),
            deck: decks
                .get(&deck)
                .cloned()
                .unwrap_or_else(|| "Default".to_owned()),
            cards: count,
        });
    }
    Ok(notes)
}

/// The decks by id: a table in newer collections, JSON in one row of older ones.
fn decks(database: &Database) -> Result<BTreeMap<i64, String>, PackageError> {
    let mut decks = BTreeMap::new();
    for (id, row) in database.table("decks")?.unwrap_or_default() {
        let name = row.get(1).and_then(Value::text).unwrap_or_default();
        decks.insert(id, name.replace(FIELD, "::"));
    }
    let rows = database.table("col")?.unwrap_or_default();
    let json = rows.first().and_then(|(_, row)| row.get(10)?.text());
    let by_id: Map<String, Json> = json
        .and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default();
    for (id, deck) in &by_id {
        if let (Ok(id), Some(name)) = (id.parse(), deck["name"].as_str()) {
            decks.insert(id, name.to_owned());
        }
    }
    Ok(decks)
}

fn plain_media(bytes: &[u8]) -> Result<Vec<(String, String)>, PackageError> {
    let names: BTreeMap<String, String> = serde_json::from_slice(bytes)
        .map_err(|error| PackageError::invalid(format!("invalid media list: {error}")))?;
    Ok(names.into_iter().map(|(file, name)| (name, file)).collect())
}

/// The media list of newer packages: a protobuf message of entries with the name as field 1. Files are numbered in
/// order.
fn packed_media(bytes: &[u8]) -> Vec<(String, String)> {
    let entries = fields(bytes).into_iter().filter(|(number, _)| *number == 1);
    let name = |entry: &[u8]| {
        let found = fields(entry).into_iter().find(|(number, _)| *number == 1);
        found.map(|(_, name)| String::from_utf8_lossy(name).into_owned())
    };
    let named = entries
        .enumerate()
        .filter_map(|(at, (_, entry))| Some((name(entry)?, at.to_string())));
    named.collect()
}

/// The length-delimited fields of a protobuf message.
fn fields(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.get(*at)?;
            *at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Some(key) = varint(bytes, &mut at) else {
            break;
        };
        let skipped = match key & 7 {
            0 => varint(bytes, &mut at).map(|_| 0),
            1 => Some(8),
            5 => Some(4),
            2 => varint(bytes, &mut at).and_then(|length| {
                let length = usize::try_from(length).ok()?;
                found.push((key >> 3, bytes.get(at..at.checked_add(length)?)?));
                Some(length)
            }),
            _ => None,
        };
        let Some(skipped) = skipped else { break };
        at = at.saturating_add(skipped);
    }
    found
}

/// The note type of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// Front to back.
    Forward = 1,
    /// In both directions.
    Both = 2,
    /// Cloze.
    Cloze = 3,
}

/// A note to write.
pub(crate) struct NewNote {
    /// Its stable id: importing it again updates the note instead of adding one.
    pub(crate) guid: String,
    pub(crate) model: Model,
    pub(crate) fields: [String; 2],
    /// With `::` between parts.
    pub(crate) deck: String,
    pub(crate) cards: Vec<NewCard>,
}

/// A card of a note to write.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewCard {
    /// Due day relative to `crt`, and interval; `None` for a new card.
    pub(crate) review: Option<(i64, i64)>,
    /// In tenths of a percent.
    pub(crate) ease: i64,
    pub(crate) reps: u32,
    pub(crate) lapses: u32,
    pub(crate) suspended: bool,
    /// Stability and difficulty.
    pub(crate) memory: Option<(f32, f32)>,
}

/// Creates a package of notes and media; days are counted from `crt` (seconds since 1970).
pub(crate) fn package(
    notes: &[NewNote],
    media: Vec<(String, Vec<u8>)>,
    crt: i64,
    now: i64,
) -> Result<Vec<u8>, PackageError> {
    let seconds = now.div_euclid(1000);
    let mut names: Vec<&str> = notes.iter().map(|note| note.deck.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let id_of = |name: &str| number_of(name);
    let mut note_rows: Vec<Row> = Vec::new();
    let mut card_rows: Vec<Row> = Vec::new();
    let integers = |numbers: &[i64]| {
        numbers
            .iter()
            .map(|number| Value::Integer(*number))
            .collect::<Vec<_>>()
    };
    let text = |text: &str| Value::Text(text.to_owned());
    for (at, note) in notes.iter().enumerate() {
        let id = now + at as i64;
        let mut row = vec![Value::Null, text(&note.guid)];
        row.extend(integers(&[MODELS + note.model as i64, seconds, -1]));
        row.extend([
            text(""),
            text(&note.fields.join("\u{1f}")),
            text(&note.fields[0]),
        ]);
        row.extend(integers(&[checksum(&note.fields[0]), 0]));
        row.push(text(""));
        note_rows.push((id, row));
        for (ord, card) in note.cards.iter().enumerate() {
            let (kind, due, interval) = card
                .review
                .map_or((0, at as i64 + 1, 0), |(due, interval)| (2, due, interval));
            let queue = if card.suspended { -1 } else { kind };
            let factor = if kind == 2 { card.ease } else { 0 };
            let mut row = vec![Value::Null];
            row.extend(integers(&[
                id,
                id_of(&note.deck),
                ord as i64,
                seconds,
                -1,
                kind,
                queue,
                due,
                interval,
                factor,
                i64::from(card.reps),
                i64::from(card.lapses),
                0,
                0,
                0,
                0,
            ]));
            let memory = card.memory.filter(|_| kind == 2);
            row.push(Value::Text(
                memory.map_or_else(String::new, |(stability, difficulty)| {
                    json!({ "s": stability, "d": difficulty }).to_string()
                }),
            ));
            card_rows.push((now + card_rows.len() as i64, row));
        }
    }
    let mut col = vec![Value::Null];
    col.extend(integers(&[crt, now, now, 11, 0, 0, 0]));
    let decks = names
        .iter()
        .map(|name| (id_of(name), *name))
        .chain([(1, "Default")]);
    let decks: Map<String, Json> = decks
        .map(|(id, name)| (id.to_string(), deck(id, name, seconds)))
        .collect();
    let models = [Model::Forward, Model::Both, Model::Cloze];
    let models: Map<String, Json> = models
        .map(|kind| ((MODELS + kind as i64).to_string(), model(kind, seconds)))
        .into_iter()
        .collect();
    for json in [
        configuration(),
        Json::Object(models),
        Json::Object(decks),
        options(),
        json!({}),
    ] {
        col.push(Value::Text(json.to_string()));
    }
    let collection = write(&[
        Table {
            name: "col",
            sql: COL,
            rows: vec![(1, col)],
        },
        Table {
            name: "notes",
            sql: NOTES,
            rows: note_rows,
        },
        Table {
            name: "cards",
            sql: CARDS,
            rows: card_rows,
        },
        Table {
            name: "revlog",
            sql: REVLOG,
            rows: Vec::new(),
        },
        Table {
            name: "graves",
            sql: GRAVES,
            rows: Vec::new(),
        },
    ]);
    let list: Map<String, Json> = media
        .iter()
        .enumerate()
        .map(|(at, (name, _))| (at.to_string(), json!(name)))
        .collect();
    let mut files = vec![
        ("collection.anki2".to_owned(), collection),
        (
            "media".to_owned(),
            Json::Object(list).to_string().into_bytes(),
        ),
    ];
    files.extend(
        media
            .into_iter()
            .enumerate()
            .map(|(at, (_, bytes))| (at.to_string(), bytes)),
    );
    pack(&files)
}

const COL: &str = "CREATE TABLE col (id integer primary key, crt integer not null, mod integer not null, scm integer not null, ver integer not null, dty integer not null, usn integer not null, ls integer not null, conf text not null, models text not null, decks text not null, dconf text not null, tags text not null)";
const NOTES: &str = "CREATE TABLE notes (id integer primary key, guid text not null, mid integer not null, mod integer not null, usn integer not null, tags text not null, flds text not null, sfld integer not null, csum integer not null, flags integer not null, data text not null)";
const CARDS: &str = "CREATE TABLE cards (id integer primary key, nid integer not null, did integer not null, ord integer not null, mod integer not null, usn integer not null, type integer not null, queue integer not null, due integer not null, ivl integer not null, factor integer not null, reps integer not null, lapses integer not null, left integer not null, odue integer not null, odid integer not null, flags integer not null, data text not null)";
const REVLOG: &str = "CREATE TABLE revlog (id integer primary key, cid integer not null, usn integer not null, ease integer not null, ivl integer not null, lastIvl integer not null, factor integer not null, time integer not null, type integer not null)";
const GRAVES: &str =
    "CREATE TABLE graves (usn integer not null, oid integer not null, type integer not null)";

/// A numeric id for a name, outside the range that Anki assigns to decks.
fn number_of(name: &str) -> i64 {
    let digest = blake3::hash(name.as_bytes());
    let number = digest.as_bytes()[..5]
        .iter()
        .fold(0, |number, byte| number << 8 | i64::from(*byte));
    MODELS + 1000 + number
}

/// The checksum with which Anki finds equal first fields.
fn checksum(field: &str) -> i64 {
    let digest = Sha1::digest(field.as_bytes());
    digest.as_slice()[..4]
        .iter()
        .fold(0, |number, byte| number << 8 | i64::from(*byte))
}

fn deck(id: i64, name: &str, seconds: i64) -> Json {
    json!({
        "id": id, "name": name, "mod": seconds, "usn": -1, "desc": "", "dyn": 0, "conf": 1, "collapsed": false,
        "browserCollapsed": false, "extendNew": 10, "extendRev": 50, "newToday": [0, 0], "revToday": [0, 0],
        "lrnToday": [0, 0], "timeToday": [0, 0],
    })
}

fn model(kind: Model, seconds: i64) -> Json {
    let (name, fields, question, answer) = match kind {
        Model::Forward => (
            "Notehost Basic",
            ["Front", "Back"],
            "{{Front}}",
            "{{FrontSide}}<hr id=answer>{{Back}}",
        ),
        Model::Both => (
            "Notehost Basic (both ways)",
            ["Front", "Back"],
            "{{Front}}",
            "{{FrontSide}}<hr id=answer>{{Back}}",
        ),
        Model::Cloze => (
            "Notehost Cloze",
            ["Text", "Extra"],
            "{{cloze:Text}}",
            "{{cloze:Text}}<br>{{Extra}}",
        ),
    };
    let template = |ord: i64, name: &str, question: &str, answer: &str| json!({ "name": name, "ord": ord, "qfmt": question, "afmt": answer, "did": null, "bqfmt": "", "bafmt": "" });
    let mut templates = vec![template(0, "Card 1", question, answer)];
    if kind == Model::Both {
        templates.push(template(
            1,
            "Card 2",
            "{{Back}}",
            "{{FrontSide}}<hr id=answer>{{Front}}",
        ));
    }
    let field = |(ord, name): (usize, &str)| json!({ "name": name, "ord": ord, "sticky": false, "rtl": false, "font": "Arial", "size": 20, "media": [] });
    let needed: Vec<Json> = (0..templates.len())
        .map(|ord| json!([ord, "any", [ord]]))
        .collect();
    json!({
        "id": MODELS + kind as i64, "name": name, "type": i64::from(kind == Model::Cloze), "mod": seconds, "usn": -1,
        "sortf": 0, "did": 1, "tmpls": templates, "flds": fields.into_iter().enumerate().map(field).collect::<Vec<_>>(),
        "css": ".card { font-family: arial; font-size: 20px; text-align: center; } .cloze { font-weight: bold; color: blue; }",
        "latexPre": "\\documentclass[12pt]{article}\\begin{document}", "latexPost": "\\end{document}",
        "tags": [], "vers": [], "req": needed,
    })
}

fn configuration() -> Json {
    json!({
        "nextPos": 1, "estTimes": true, "activeDecks": [1], "sortType": "noteFld", "timeLim": 0, "sortBackwards": false,
        "addToCur": true, "curDeck": 1, "newBury": true, "newSpread": 0, "dueCounts": true,
        "curModel": (MODELS + 1).to_string(), "collapseTime": 1200,
    })
}

fn options() -> Json {
    json!({ "1": {
        "id": 1, "name": "Default", "mod": 0, "usn": 0, "maxTaken": 60, "autoplay": true, "timer": 0, "replayq": true, "dyn": false,
        "new": { "bury": true, "delays": [1, 10], "initialFactor": 2500, "ints": [1, 4, 7], "order": 1, "perDay": 20, "separate": true },
        "lapse": { "delays": [10], "leechAction": 0, "leechFails": 8, "minInt": 1, "mult": 0 },
        "rev": { "bury": true, "ease4": 1.3, "fuzz": 0.05, "ivlFct": 1, "maxIvl": 36500, "minSpace": 1, "perDay": 200 },
    } })
}

#[cfg(test)]
#[path = "../tests/package.rs"]
mod tests;
