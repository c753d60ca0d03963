//! Journals of multi-file commits: the remaining steps of a commit, so that a crash cannot leave it half done.
//!
//! A journal is in the vault, where other programs (git, sync tools, archives) can put files. So it carries an
//! authentication code made with a key that never leaves this machine's state folder, and recovery replays nothing
//! else. Its paths are validated like those of a caller, so even a holder of the key cannot address anything outside
//! the notes. Journals and temporary files also carry the id of the state folder, so that two machines that sync one
//! vault ignore each other's. Replay is in `recovery`.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    identifier::is_id,
    path::{PRIVATE, join, parse},
    storage::files::commit::steps::Step,
};

/// The key's file in a vault's state folder.
pub(crate) const KEY_FILE: &str = "journal.key";
/// Names the purpose of the id that is derived from the key.
const ID_CONTEXT: &str = "notehost 2026-11 state id of a vault";
/// Bytes of the authentication code, in hexadecimal digits.
const CODE_DIGITS: usize = 64;
const STATE_DIGITS: usize = 12;

/// Larger than any journal of a transaction within limits.
pub(crate) const MAX_JOURNAL: u64 = 256 << 20;

/// Where journals are.
pub(crate) fn journal_folder() -> String {
    join(PRIVATE, "journal")
}

/// Where temporary files are.
pub(crate) fn temps_folder() -> String {
    join(PRIVATE, "tmp")
}

/// Where journals are put that are not replayed, and what belongs to them.
pub(crate) fn set_aside_folder() -> String {
    join(PRIVATE, "set-aside")
}

/// What a journal holds: everything that is left to do after a crash.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Journal {
    /// Of the transaction; also of its change in the history.
    pub(crate) id: String,
    pub(crate) caller: String,
    pub(crate) steps: Vec<Step>,
}

/// Which way an interrupted commit goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Back,
}

/// Whose a file of the private folder is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Named by this state folder.
    Own,
    /// Named by another one: another machine, or another `--state`.
    Other,
    /// Not a name that Notehost gives.
    Unknown,
}

/// What binds journals and temporary files to this machine's state folder.
pub(crate) struct Seal {
    key: [u8; 32],
    state: String,
}

impl Seal {
    /// The seal of a vault's state folder; made at the first use.
    pub(crate) fn of(state: &Path) -> io::Result<Seal> {
        Ok(Seal::new(notehost_platform::private::key(
            &state.join(KEY_FILE),
        )?))
    }

    /// The seal of a state folder that was used before.
    pub(crate) fn existing(state: &Path) -> Option<Seal> {
        let file = state.join(KEY_FILE);
        file.exists().then(|| Seal::of(state).ok())?
    }

    /// The seals of all vaults in the state folder that `Vault::open` is given, each with the name of its own folder there.
    /// After a vault got another id or was moved, what it left behind carries another seal of the same machine.
    pub(crate) fn all(state: &Path) -> Vec<(String, Seal)> {
        let folders = std::fs::read_dir(state).into_iter().flatten().flatten();
        let mut seals: Vec<(String, Seal)> = folders
            .filter_map(|folder| {
                let name = folder.file_name().into_string().ok()?;
                Some((name, Seal::existing(&folder.path())?))
            })
            .collect();
        seals.sort_by(|(one, _), (other, _)| one.cmp(other));
        seals
    }

    fn new(key: [u8; 32]) -> Seal {
        let id = blake3::derive_key(ID_CONTEXT, &key);
        let digits = blake3::Hash::from_bytes(id).to_hex();
        Seal {
            key,
            state: digits[..STATE_DIGITS].to_owned(),
        }
    }

    /// The public id of the state folder.
    pub(crate) fn state(&self) -> &str {
        &self.state
    }

    /// What the names of a commit's temporary files and journal begin with.
    pub(crate) fn prefix(&self, id: &str) -> String {
        format!("{}-{id}", self.state)
    }

    /// The name of a commit's journal.
    pub(crate) fn journal_name(&self, id: &str, direction: Direction) -> String {
        let suffix = match direction {
            Direction::Forward => "json",
            Direction::Back => "back.json",
        };
        format!("{}.{suffix}", self.prefix(id))
    }

    /// Whose a journal or temporary file is, by its name.
    pub(crate) fn origin(&self, name: &str) -> Origin {
        let is_state = |state: &str| {
            state.len() == STATE_DIGITS && state.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        match name.split_once('-') {
            Some((state, rest)) if is_state(state) && rest.get(..16).is_some_and(is_id) => {
                match state == self.state {
                    true => Origin::Own,
                    false => Origin::Other,
                }
            }
            _ => Origin::Unknown,
        }
    }

    /// The commit of a journal or temporary file of ours, by its name.
    pub(crate) fn commit_of<'name>(&self, name: &'name str) -> Option<&'name str> {
        match self.origin(name) {
            Origin::Own => name.get(STATE_DIGITS + 1..)?.get(..16),
            Origin::Other | Origin::Unknown => None,
        }
    }

    /// A journal as it is written.
    pub(crate) fn close(&self, journal: &Journal) -> io::Result<Vec<u8>> {
        journal.check().map_err(|path| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("invalid path `{path}` in a journal"),
            )
        })?;
        let body = serde_json::to_vec(journal)?;
        let code = blake3::keyed_hash(&self.key, &body);
        let mut bytes = Vec::with_capacity(CODE_DIGITS + 1 + body.len());
        bytes.extend_from_slice(code.to_hex().as_bytes());
        bytes.push(b'\n');
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// A journal that this state folder wrote, under the name that it gave it; nothing of any other is believed.
    pub(crate) fn open(&self, name: &str, bytes: &[u8]) -> Option<(Journal, Direction)> {
        let (code, body) = bytes.split_at_checked(CODE_DIGITS)?;
        let body = body.strip_prefix(b"\n")?;
        let code = blake3::Hash::from_hex(code).ok()?;
        // Compared in constant time.
        if code != blake3::keyed_hash(&self.key, body) {
            return None;
        }
        let journal: Journal = serde_json::from_slice(body).ok()?;
        journal.check().ok()?;
        let direction = [Direction::Forward, Direction::Back]
            .into_iter()
            .find(|direction| self.journal_name(&journal.id, *direction) == name)?;
        Some((journal, direction))
    }
}

impl Journal {
    /// Whether every path is one that a commit may touch; else the one that is not.
    fn check(&self) -> Result<(), &str> {
        if !is_id(&self.id) {
            return Err(&self.id);
        }
        self.steps.iter().try_for_each(check_step)
    }
}

fn check_step(step: &Step) -> Result<(), &str> {
    let check = |path, is_allowed: bool| if is_allowed { Ok(()) } else { Err(path) };
    match step {
        Step::MakeFolder { path } | Step::Prune { path } => {
            let is_store = path == &join(PRIVATE, "store");
            check(
                path.as_str(),
                is_store || is_below_private(path, &["store"]) || is_of_notes(path),
            )
        }
        Step::Create { temp, path, .. } | Step::Replace { temp, path, .. } => {
            check(temp.as_str(), is_below_private(temp, &["tmp"]))?;
            check(path.as_str(), is_place(path))
        }
        Step::Move { from, to, .. } => {
            check(from.as_str(), is_place(from))?;
            check(to.as_str(), is_place(to))
        }
    }
}

/// Whether a file may be there: among the notes, or where the vault keeps its own.
fn is_place(path: &str) -> bool {
    is_of_notes(path) || is_below_private(path, &["tmp", "trash", "store"])
}

/// Whether a caller could give this path.
fn is_of_notes(path: &str) -> bool {
    !path.is_empty() && parse(path).is_ok()
}

fn is_below_private(path: &str, folders: &[&str]) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some(PRIVATE)
        && parts.next().is_some_and(|folder| folders.contains(&folder))
        // The rest is what Notehost names itself: ids, numbers, encoded keys.
        && path.split('/').count() > 2
        && parts.all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0']))
}

/// Entry for fuzzing: hostile bytes with and without a valid authentication code.
#[cfg(any(fuzzing, test))]
#[cfg_attr(
    not(fuzzing),
    allow(unreachable_pub, reason = "only the fuzz targets reach it")
)]
pub fn fuzz_journal(bytes: &[u8]) {
    let seal = Seal::new([7; 32]);
    let name = seal.journal_name("0000000000000000", Direction::Forward);
    assert!(seal.open(&name, bytes).is_none(), "a code was guessed");
    let code = blake3::keyed_hash(&seal.key, bytes).to_hex();
    let sealed = [code.as_bytes(), b"\n", bytes].concat();
    if let Some((journal, _)) = seal.open(&name, &sealed) {
        for path in journal.steps.iter().flat_map(Step::paths) {
            let parts: Vec<&str> = path.split('/').collect();
            let is_plain = |part: &&str| {
                !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0'])
            };
            let names = match parts.as_slice() {
                [first, "tmp" | "trash" | "store", rest @ ..] if *first == PRIVATE => rest,
                names => names,
            };
            assert!(names.iter().all(is_plain), "{path}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hostile_path() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just(".."),
            Just("."),
            Just(""),
            Just(".git"),
            Just(".notehost"),
            Just("tmp"),
            Just("trash"),
            Just("store"),
            Just("journal"),
            Just("Work"),
            Just("a.md"),
            Just("hooks\0"),
            Just("\u{2024}git"),
        ];
        proptest::collection::vec(part, 0..6).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        /// Also with the key nothing outside the notes and the vault's own folders can be named.
        #[test]
        fn no_path_of_a_journal_leads_elsewhere(from in hostile_path(), to in hostile_path()) {
            let digest = serde_json::json!(vec![0u8; 32]);
            let body = serde_json::json!({
                "id": "0000000000000000",
                "caller": "x",
                "steps": [{"create": {"temp": from, "path": to, "new": {"digest": digest, "inode": 0}}},
                    {"make_folder": {"path": from}}, {"prune": {"path": to}}],
            });
            fuzz_journal(body.to_string().as_bytes());
        }
    }

    #[test]
    fn only_what_this_state_folder_wrote_is_opened() {
        let (ours, theirs) = (Seal::new([1; 32]), Seal::new([2; 32]));
        let journal = |path: &str| Journal {
            id: "0123456789abcdef".into(),
            caller: "ana".into(),
            steps: vec![Step::Prune { path: path.into() }],
        };
        let bytes = ours.close(&journal("Work/Old")).expect("a journal");
        let name = ours.journal_name("0123456789abcdef", Direction::Back);
        let (opened, direction) = ours.open(&name, &bytes).expect("it is ours");
        assert_eq!(
            (opened.caller.as_str(), direction),
            ("ana", Direction::Back)
        );
        assert!(ours.open("0123456789abcdef.json", &bytes).is_none());
        assert!(theirs.open(&name, &bytes).is_none());
        assert!(ours.open(&name, &bytes[CODE_DIGITS + 1..]).is_none());
        // A code is compared, not only read.
        let zeros = [&[b'0'; CODE_DIGITS][..], &bytes[CODE_DIGITS..]].concat();
        assert!(ours.open(&name, &zeros).is_none());
        let theirs_of_it = theirs.close(&journal("Work/Old")).expect("a journal");
        assert!(ours.open(&name, &theirs_of_it).is_none());
        let mut changed = bytes.clone();
        *changed.last_mut().expect("bytes") ^= 1;
        assert!(ours.open(&name, &changed).is_none());
        assert_eq!(ours.origin(&name), Origin::Own);
        assert_eq!(ours.commit_of(&name), Some("0123456789abcdef"));
        assert_eq!(theirs.commit_of(&name), None);
        assert_eq!(theirs.origin(&name), Origin::Other);
        assert_eq!(theirs.origin("evil.json"), Origin::Unknown);
        for path in [
            "..",
            ".git/hooks",
            "../x",
            ".notehost/journal/x",
            "",
            "a//b",
            ".notehost/tmp/../../x",
        ] {
            assert!(ours.close(&journal(path)).is_err(), "{path}");
        }
    }
}
