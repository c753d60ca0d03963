//! The index against a plain scan of the same notes (the SDK's vault in memory), against an index made from nothing, and
//! against a vault without the hidden notes.

mod limits;
mod questions;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use notehost_sdk::index::Query;
use notehost_sdk::{MemoryVault, RawVault};
use proptest::prelude::*;
use serde_json::Value;

use super::{Answer, Index, Question};
use crate::limits::deadline::Deadline;
use notehost_vault::{
    Access, CommitNote, Effect, Kind, Limits, Rules, Tier, Transaction, Vault, VaultSettings,
};
use questions::{is_scored, questions, words};

/// A vault on disk with its index.
struct World {
    folder: tempfile::TempDir,
    state: tempfile::TempDir,
    open: Option<(Arc<Vault>, Arc<Index>)>,
}

/// Rules that hide one notebook, or nothing.
struct Hiding(Option<&'static str>);

impl Rules for Hiding {
    fn tier(&self, path: &str) -> Tier {
        match self.0 {
            Some(hidden) if path == hidden || path.starts_with(&format!("{hidden}/")) => Tier::None,
            _ => Tier::Delete,
        }
    }

    fn tier_of(&self, path: &str, _: Kind) -> Tier {
        self.tier(path)
    }

    fn identity(&self) -> Option<u64> {
        Some(u64::from(self.0.is_some()))
    }
}

impl World {
    fn new() -> World {
        let mut world = World {
            folder: tempfile::tempdir().expect("a folder"),
            state: tempfile::tempdir().expect("a folder"),
            open: None,
        };
        world.reopen();
        world
    }

    /// Another index of the same folder, made from nothing.
    fn beside(&self) -> (tempfile::TempDir, Arc<Vault>, Arc<Index>) {
        let state = tempfile::tempdir().expect("a folder");
        // The vault has its writer already.
        let vault = Vault::open_read_only("test", self.folder.path(), state.path());
        let (vault, index) = indexed(vault.expect("a vault"));
        (state, vault, index)
    }

    fn reopen(&mut self) {
        self.open = None;
        self.open = Some(opened(self.folder.path().into(), self.state.path().into()));
    }

    fn vault(&self) -> &Arc<Vault> {
        &self.open.as_ref().expect("it is open").0
    }

    fn index(&self) -> &Arc<Index> {
        &self.open.as_ref().expect("it is open").1
    }

    /// As an editor outside would.
    fn put(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a note");
    }

    /// Takes up what was changed outside.
    fn catch_up(&self) {
        let caught_up = self.index().catch_up(&Deadline::none());
        caught_up.expect("no deadline is set");
    }

    fn commit(&self, act: impl FnOnce(&mut Transaction)) {
        let mut transaction = begin(self.vault(), None, Effect::Delete);
        act(&mut transaction);
        let by = CommitNote {
            caller: "test".into(),
            action: "test.act".into(),
            key: None,
        };
        transaction.commit(by).expect("it lands");
    }

    fn ask(&self, question: Question) -> String {
        ask(self.vault(), self.index(), None, question)
    }

    /// The same notes in memory.
    fn in_memory(&self) -> MemoryVault {
        let mut vault = MemoryVault::new();
        for scanned in self
            .vault()
            .scan_files(|| true)
            .expect("files")
            .expect("files")
        {
            let bytes = fs::read(self.folder.path().join(&scanned.path)).expect("a file");
            vault.set_time(scanned.stamp.modified_millis());
            vault = vault.with_bytes(&scanned.path, &bytes);
        }
        vault
    }
}

fn opened(folder: PathBuf, state: PathBuf) -> (Arc<Vault>, Arc<Index>) {
    let vault = Vault::open("test", &folder, &state, VaultSettings::default());
    indexed(vault.expect("a vault"))
}

fn indexed(vault: Vault) -> (Arc<Vault>, Arc<Index>) {
    let vault = Arc::new(vault);
    let index = Index::open(&vault);
    index.start();
    assert!(index.wait(None));
    (vault, index)
}

fn begin(vault: &Arc<Vault>, hidden: Option<&'static str>, effect: Effect) -> Transaction {
    vault.begin(Access {
        rules: Arc::new(Hiding(hidden)),
        effect,
        component: "test".into(),
        limits: Limits::default(),
    })
}

fn ask(
    vault: &Arc<Vault>,
    index: &Arc<Index>,
    hidden: Option<&'static str>,
    question: Question,
) -> String {
    let mut transaction = begin(vault, hidden, Effect::Read);
    match index.ask(&mut transaction, question).expect("an answer") {
        Answer::Paths(paths) => paths.join("\n"),
        answer => serde_json::to_string(&answer).expect("JSON"),
    }
}

fn by_scan(vault: &MemoryVault, question: &Question) -> String {
    let json = |value: Result<String, serde_json::Error>| value.expect("JSON");
    match question {
        Question::Find(query) => json(serde_json::to_string(&vault.find(query).expect("notes"))),
        Question::Backlinks(of) => {
            json(serde_json::to_string(&vault.backlinks(of).expect("links")))
        }
        Question::Unresolved(of) => {
            json(serde_json::to_string(&vault.unresolved(of).expect("links")))
        }
        Question::Tags(of) => json(serde_json::to_string(&vault.tags(of).expect("tags"))),
        Question::Edges => json(serde_json::to_string(&vault.edges().expect("edges"))),
        Question::Files => vault.files().expect("files").join("\n"),
        Question::Linking(files) => vault.linking(files).expect("notes").join("\n"),
        Question::Containing(texts) => vault.containing(texts).expect("notes").join("\n"),
        Question::NamesIn(text) => {
            json(serde_json::to_string(&vault.names_in(text).expect("names")))
        }
    }
}

/// An answer without what a plain scan cannot know: how good a hit is, and how a snippet is cut.
fn comparable(answer: &str, is_scored: bool) -> Value {
    let mut value: Value = serde_json::from_str(answer).unwrap_or_else(|_| answer.into());
    if let Some(items) = value.get_mut("items").and_then(Value::as_array_mut) {
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.remove("score");
            item.remove("snippets");
        }
        if is_scored {
            items.sort_by_key(|item| item["path"].to_string());
        }
    }
    value
}

const PATHS: [&str; 12] = [
    "Plan.md",
    "Work/Plan.md",
    "Work/Deep/My note.md",
    "Secret/Plan.md",
    "Secret/Hidden.md",
    "Zoo/plan b.md",
    "日記/計画.md",
    "Café.md",
    "Work/pic.png",
    "Secret/pic.png",
    "Other.md",
    "Work/Target.md",
];

const PIECES: [&str; 34] = [
    "[[Plan]]",
    "[[plan|the plan]]",
    "[[Work/Plan#Goals]]",
    "![[pic.png]]",
    "![[Plan#^b1]]",
    "[x](Work/Deep/My%20note.md)",
    "[y](../Plan.md)",
    "[[計画]]",
    "[[cafe\u{301}]]",
    "[[Nowhere]]",
    "[[nowhere]]",
    "[[Hidden]]",
    "[[#Goals]]",
    "[out](https://example.org)",
    "`[[Plan]]`",
    "#work",
    "#Work/urgent",
    "#secret/x",
    "#読書",
    "\n# Goals\n",
    "\n## Deeper goals\n",
    "\n- [ ] open task\n",
    "\n- [x] done task\n",
    "\nA block ^b1\n",
    "the plan of my note",
    "parse_noteName",
    "naïve café",
    "今日は良い天気",
    "한국어 문장",
    "שלום עולם",
    "🎉 party",
    "alpha beta gamma",
    "beta",
    "\n%% comment [[Plan]] #no %%\n",
];

const HEADS: [&str; 7] = [
    "",
    "",
    "---\ntags: [work, Reading]\nstatus: open\nrating: 3\n---\n",
    "---\naliases: [The Plan, 別名]\ntitle: Titled\nstatus: Done\ndue: 2024-05-01\n---\n",
    "---\nsee: \"[[Plan]]\"\nrating: 5\nlist: [a, B]\n---\n",
    "---\nbroken: [\n---\n",
    "\u{feff}---\ntag: x, y\n---\n",
];

fn note() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..7);
    (prop::sample::select(HEADS.as_slice()), pieces)
        .prop_map(|(head, pieces)| format!("{head}{}\n", pieces.join(" ")))
}

#[derive(Debug, Clone)]
enum Step {
    Edit(usize, String),
    EditOutside(usize, String),
    Rename(usize, usize),
    Remove(usize),
    RemoveOutside(usize),
    RenameOutside(usize, usize),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    prop_oneof![
        4 => (path(), note()).prop_map(|(path, text)| Step::Edit(path, text)),
        4 => (path(), note()).prop_map(|(path, text)| Step::EditOutside(path, text)),
        1 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => path().prop_map(Step::Remove),
        1 => path().prop_map(Step::RemoveOutside),
        1 => (path(), path()).prop_map(|(from, to)| Step::RenameOutside(from, to)),
        1 => Just(Step::Restart),
    ]
}

fn take(world: &mut World, step: &Step) {
    let there = |path: &str| world.folder.path().join(path).exists();
    match step {
        Step::Edit(path, text) => {
            let path = PATHS[*path];
            world.commit(|transaction| {
                let written = match there(path) {
                    true => transaction.write(path, text.as_bytes(), None),
                    false => transaction.create(path, text.as_bytes()),
                };
                written.expect("it can be written");
            });
        }
        Step::EditOutside(path, text) => {
            world.put(PATHS[*path], text);
            world.catch_up();
        }
        Step::Rename(from, to) if there(PATHS[*from]) && !there(PATHS[*to]) && from != to => {
            world.commit(|transaction| {
                let renamed = transaction.rename(PATHS[*from], PATHS[*to]);
                renamed.expect("it can be renamed");
            });
        }
        Step::Remove(path) if there(PATHS[*path]) => world.commit(|transaction| {
            transaction.remove(PATHS[*path]).expect("it can be removed");
        }),
        Step::RemoveOutside(path) if there(PATHS[*path]) => {
            fs::remove_file(world.folder.path().join(PATHS[*path])).expect("it was there");
            world.catch_up();
        }
        Step::RenameOutside(from, to) if there(PATHS[*from]) && from != to => {
            let to = world.folder.path().join(PATHS[*to]);
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::rename(world.folder.path().join(PATHS[*from]), to).expect("it was there");
            world.catch_up();
        }
        Step::Restart => world.reopen(),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn incremental_index_matches_a_rebuilt_index(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let mut world = World::new();
        for step in &steps {
            take(&mut world, step);
        }
        world.catch_up();
        let (_state, vault, fresh) = world.beside();
        for question in questions() {
            let known = world.ask(question.clone());
            let made = ask(&vault, &fresh, None, question.clone());
            prop_assert_eq!(known, made, "{:?}", question);
        }
    }

    #[test]
    fn answers_match_a_plain_scan(
        notes in prop::collection::vec((0..PATHS.len(), note()), 0..12),
    ) {
        let world = World::new();
        for (path, text) in &notes {
            world.put(PATHS[*path], text);
        }
        world.catch_up();
        let scan = world.in_memory();
        for question in questions() {
            let is_scored = is_scored(&question);
            let known = comparable(&world.ask(question.clone()), is_scored);
            let scanned = comparable(&by_scan(&scan, &question), is_scored);
            prop_assert_eq!(known, scanned, "{:?}", question);
        }
    }

    #[test]
    fn hidden_notes_do_not_affect_answers(
        notes in prop::collection::vec((0..PATHS.len(), note()), 0..12),
    ) {
        let world = World::new();
        let without = World::new();
        for (path, text) in &notes {
            world.put(PATHS[*path], text);
            if !PATHS[*path].starts_with("Secret/") {
                without.put(PATHS[*path], text);
                let time = fs::metadata(world.folder.path().join(PATHS[*path])).expect("a file").modified().expect("a time");
                let file = fs::File::options().write(true).open(without.folder.path().join(PATHS[*path])).expect("a file");
                file.set_modified(time).expect("its time can be set");
            }
        }
        world.catch_up();
        without.catch_up();
        for question in questions() {
            let hidden = ask(world.vault(), world.index(), Some("Secret"), question.clone());
            let absent = without.ask(question.clone());
            prop_assert_eq!(hidden, absent, "{:?}", question);
        }
    }
}

#[test]
fn edits_by_other_programs_are_indexed() {
    let world = World::new();
    world.put("New/Later.md", "a wombat [[Plan]]");
    let question = || {
        Question::Find(Query {
            condition: Some(words("wombat")),
            limit: 5,
            ..Query::default()
        })
    };
    let began = std::time::Instant::now();
    while !world.ask(question()).contains("Later.md") {
        assert!(began.elapsed().as_secs() < 30, "it is never found");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    fs::remove_dir_all(world.folder.path().join("New")).expect("it was there");
    while world.ask(question()).contains("Later.md") {
        assert!(began.elapsed().as_secs() < 60, "it is never forgotten");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let mut world = World::new();
    for path in PATHS {
        world.put(path, "a wombat [[Plan]] #tag\n");
    }
    world.catch_up();
    world.reopen();
    let everything = |world: &World| -> Vec<String> {
        let answers = questions().into_iter().map(|question| world.ask(question));
        answers.collect()
    };
    let before = everything(&world);
    let index_folder = world.vault().state().join("index");
    let mut ahead = vec![index_folder.clone()];
    let mut files = Vec::new();
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path().is_dir() {
                true => ahead.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    assert!(!files.is_empty());
    for file in files {
        let Ok(good) = fs::read(&file) else { continue };
        for bad in [
            Vec::new(),
            good[..good.len() / 2].to_vec(),
            vec![0xa5; good.len()],
        ] {
            world.open = None;
            if fs::write(&file, bad).is_err() {
                continue;
            }
            world.reopen();
            let began = std::time::Instant::now();
            // What cannot be read is noticed at the first question that needs it, and healed behind it.
            while everything(&world) != before {
                assert!(
                    began.elapsed().as_secs() < 30,
                    "{} stays broken",
                    file.display()
                );
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

#[test]
fn ignored_notes_are_not_found_but_linked() {
    let world = World::new();
    world.put(".notehostignore", "Old/\n*.draft.md\n");
    world.put(
        ".obsidian/app.json",
        r#"{"userIgnoreFilters": ["Archive/", "/secret-\\d+/"]}"#,
    );
    for path in [
        "Old/A.md",
        "Archive/B.md",
        "x.draft.md",
        "secret-7.md",
        "Kept.md",
    ] {
        world.put(path, "wombat #animal [[Kept]]\n");
    }
    world.index().core.refresh_ignored();
    world.catch_up();
    let found = world.ask(Question::Find(Query {
        condition: Some(words("wombat")),
        limit: 10,
        ..Query::default()
    }));
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["total"], 1);
    assert_eq!(found["items"][0]["path"], "Kept.md");
    let linking = world.ask(Question::Linking(vec!["Kept.md".into()]));
    assert_eq!(linking.lines().count(), 5);
}

#[test]
fn in_an_action_that_writes_an_answer_must_still_hold_at_commit() {
    let world = World::new();
    world.put("Plan.md", "plan\n");
    let mut transaction = begin(world.vault(), None, Effect::Write);
    let question = Question::Linking(vec!["Plan.md".into()]);
    let answer = world
        .index()
        .ask(&mut transaction, question)
        .expect("paths");
    assert_eq!(answer, Answer::Paths(Vec::new()));
    transaction.rename("Plan.md", "New.md").expect("a rename");
    world.commit(|other| {
        other.create("Late.md", b"[[Plan]]").expect("a note");
    });
    let by = CommitNote {
        caller: "test".into(),
        action: "test.act".into(),
        key: None,
    };
    assert!(transaction.commit(by).is_err(), "a link was missed");
}
