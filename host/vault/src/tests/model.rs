//! Random sequences of operations against a model: a map from path to bytes and mode.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    Create(usize, Vec<u8>),
    Write(usize, Vec<u8>),
    Rename(usize, usize),
    RenameFolder(usize, usize),
    Remove(usize),
    Mode(usize, u32),
    Commit,
}

const PATHS: &[&str] = &[
    "a.md",
    "b.md",
    "F/c.md",
    "F/d.md",
    "F/G/e.md",
    "H/f.md",
    "Secret/s.md",
    "Secret/t.md",
    "Locked/l.md",
];
const FOLDERS: &[&str] = &["F", "H", "F/G", "I", "J/K"];
const RULES: &[(&str, Tier)] = &[
    ("", Tier::Delete),
    ("Secret", Tier::None),
    ("Locked", Tier::Read),
];

fn act() -> impl Strategy<Value = Act> {
    let path = 0..PATHS.len();
    let folder = 0..FOLDERS.len();
    let bytes =
        proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..12);
    prop_oneof![
        3 => (path.clone(), bytes.clone()).prop_map(|(path, bytes)| Act::Create(path, bytes)),
        3 => (path.clone(), bytes).prop_map(|(path, bytes)| Act::Write(path, bytes)),
        3 => (path.clone(), path.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (folder.clone(), folder).prop_map(|(from, to)| Act::RenameFolder(from, to)),
        2 => path.clone().prop_map(Act::Remove),
        1 => (path, prop_oneof![Just(0o600), Just(0o644), Just(0o755)]).prop_map(|(path, mode)| Act::Mode(path, mode)),
        3 => Just(Act::Commit),
    ]
}

type Model = BTreeMap<String, (Vec<u8>, u32)>;

fn is_writable(path: &str) -> bool {
    !path.starts_with("Secret") && !path.starts_with("Locked")
}

fn has_folder(model: &Model, folder: &str) -> bool {
    model.keys().any(|path| path::is_below(path, folder))
}

/// What the operation does to the model, if it can be done.
fn apply(model: &mut Model, act: &Act, new_mode: u32) -> Option<()> {
    match act {
        Act::Create(path, bytes) => {
            let path = PATHS[*path];
            (is_writable(path) && !model.contains_key(path))
                .then(|| drop(model.insert(path.into(), (bytes.clone(), new_mode))))
        }
        Act::Write(path, bytes) => {
            let file = model
                .get_mut(PATHS[*path])
                .filter(|_| is_writable(PATHS[*path]))?;
            file.0 = bytes.clone();
            Some(())
        }
        Act::Rename(from, to) => {
            let (from, to) = (PATHS[*from], PATHS[*to]);
            if !is_writable(from) || !is_writable(to) || model.contains_key(to) {
                return None;
            }
            let file = model.remove(from)?;
            model.insert(to.into(), file);
            Some(())
        }
        Act::RenameFolder(from, to) => {
            let (from, to) = (FOLDERS[*from], FOLDERS[*to]);
            if !has_folder(model, from)
                || has_folder(model, to)
                || from == to
                || path::is_below(to, from)
            {
                return None;
            }
            let moved: Vec<String> = model
                .keys()
                .filter(|path| path::is_below(path, from))
                .cloned()
                .collect();
            for path in moved {
                let file = model.remove(&path)?;
                model.insert(format!("{to}{}", &path[from.len()..]), file);
            }
            Some(())
        }
        Act::Remove(path) => is_writable(PATHS[*path])
            .then(|| model.remove(PATHS[*path]))?
            .map(drop),
        Act::Mode(..) | Act::Commit => None,
    }
}

fn perform(transaction: &mut Transaction, act: &Act) -> Result<(), VaultError> {
    match act {
        Act::Create(path, bytes) => transaction.create(PATHS[*path], bytes).map(drop),
        Act::Write(path, bytes) => transaction.write(PATHS[*path], bytes, None).map(drop),
        Act::Rename(from, to) => transaction.rename(PATHS[*from], PATHS[*to]),
        Act::RenameFolder(from, to) => transaction.rename(FOLDERS[*from], FOLDERS[*to]),
        Act::Remove(path) => transaction.remove(PATHS[*path]).map(drop),
        Act::Mode(..) | Act::Commit => Ok(()),
    }
}

/// Everything that a transaction reports, as text.
fn everything(transaction: &mut Transaction, ids: &[String]) -> String {
    let texts = ["a".to_owned(), "secret".to_owned()];
    let mut report = format!(
        "{:?} {:?} {:?} {:?} {:?}",
        transaction.list("", true, None, 1000),
        transaction.resolve("s", None),
        transaction.mentioning(&texts),
        transaction.trash(None, 1000),
        transaction.history(None, None, 1000),
    );
    for id in ids {
        report += &format!("{:?}", transaction.before("a.md", id));
    }
    report
}

/// Performs random operations, compares with the model after each commit, and reverts all commits at the end.
fn check(acts: &[Act]) -> Result<(), TestCaseError> {
    let fixture = Fixture::new(&[
        ("a.md", "a\r\n"),
        ("F/c.md", "c"),
        ("F/G/e.md", "e"),
        ("Secret/s.md", "secret"),
        ("Locked/l.md", "l"),
    ]);
    fixture.set_mode("a.md", 0o640);
    let new_mode = fixture.new_mode();
    let mut model = fixture.files();
    let mut states = Vec::new();
    let mut ids = Vec::new();
    let mut transaction = fixture.begin_as(RULES, Effect::Delete);
    let mut staged = model.clone();
    let mut is_removed = false;
    for act in acts.iter().chain([&Act::Commit]) {
        if let Act::Commit = act {
            let report = everything(&mut transaction, &ids);
            prop_assert!(!report.contains("Secret"), "{}", report);
            let committed = transaction.commit(note()).unwrap();
            prop_assert_eq!(fixture.files(), staged.clone());
            if let Some(id) = committed.change {
                states.push((id.clone(), model));
                ids.push(id);
            }
            model = staged.clone();
            is_removed = false;
            transaction = fixture.begin_as(RULES, Effect::Delete);
            continue;
        }
        if let Act::Mode(path, mode) = act {
            // Somebody else changes a mode, between two calls.
            if transaction.has_no_changes() && model.contains_key(PATHS[*path]) && states.is_empty()
            {
                fixture.set_mode(PATHS[*path], *mode);
                model.get_mut(PATHS[*path]).unwrap().1 = *mode;
                staged = model.clone();
                transaction = fixture.begin_as(RULES, Effect::Delete);
            }
            continue;
        }
        // A folder that was emptied file by file is still there on disk, and in the way of a folder's
        // new name: the model does not know empty folders.
        let mut next = staged.clone();
        let expected = apply(&mut next, act, new_mode).is_some();
        if let Act::RenameFolder(from, to) = act {
            let is_there =
                |folder: &str| transaction_has(&mut fixture.begin_as(RULES, Effect::Read), folder);
            if is_there(FOLDERS[*to]) || !has_folder(&staged, FOLDERS[*from]) || is_removed {
                continue;
            }
        }
        let done = perform(&mut transaction, act);
        prop_assert_eq!(done.is_ok(), expected, "{:?} {:?}", act, done);
        if expected {
            staged = next;
            is_removed |= matches!(
                act,
                Act::Remove(_) | Act::Rename(..) | Act::RenameFolder(..)
            );
        }
    }
    prop_assert!(fixture.leftovers().is_empty());
    for (id, before) in states.into_iter().rev() {
        let mut transaction = fixture.begin_as(RULES, Effect::Delete);
        transaction.undo(&id).unwrap();
        transaction.commit(note()).unwrap();
        prop_assert_eq!(fixture.files(), before);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_operations_match_the_model_and_undo_exactly(acts in proptest::collection::vec(act(), 1..30)) {
        check(&acts)?;
    }

    #[test]
    fn random_operations_match_the_model_in_memory(acts in proptest::collection::vec(act(), 1..30)) {
        IS_IN_MEMORY.set(true);
        let checked = check(&acts);
        IS_IN_MEMORY.set(false);
        checked?;
    }
}

fn transaction_has(transaction: &mut Transaction, folder: &str) -> bool {
    transaction.stat(folder).is_ok()
}
