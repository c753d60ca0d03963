//! Index queries of a guest: JSON that the host parses, limits and runs on a small vault.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use notehost::index::{Index, Question};
use notehost::vault::{Access, Effect, Kind, Limits, Rules, Tier, Vault, VaultSettings};

/// A view of everything.
struct Open;

impl Rules for Open {
    fn tier(&self, _: &str) -> Tier {
        Tier::Read
    }

    fn tier_of(&self, _: &str, _: Kind) -> Tier {
        Tier::Read
    }

    fn identity(&self) -> Option<u64> {
        Some(0)
    }
}

const NOTES: [(&str, &str); 3] = [
    (
        "Work/Plan.md",
        "---\nstatus: open\ndue: 2024-01-01\ntags: [work]\n---\n# Plan\n\nSee [[Garden]].\n",
    ),
    ("Garden.md", "# Garden\n\n- [ ] water #garden\n"),
    ("Empty.md", ""),
];

static INDEX: LazyLock<(Arc<Vault>, Arc<Index>)> = LazyLock::new(|| {
    let place: PathBuf = std::env::temp_dir().join(format!("notehost-fuzz-{}", std::process::id()));
    for (path, text) in NOTES {
        let file = place.join("vault").join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, text).expect("a note");
    }
    let state = place.join("state");
    std::fs::create_dir_all(&state).expect("a folder");
    let vault = Vault::open(
        "main",
        &place.join("vault"),
        &state,
        VaultSettings::default(),
    );
    let vault = Arc::new(vault.expect("a vault"));
    let index = Index::open(&vault);
    index.start();
    assert!(index.wait(Some(Instant::now() + Duration::from_secs(60))));
    (vault, index)
});

/// JSON as each kind of query. Errors are fine; every query must end soon after its deadline.
pub fn question(input: &[u8]) {
    let Ok(json) = std::str::from_utf8(input) else {
        return;
    };
    let parsed = [
        serde_json::from_str(json).ok().map(Question::Find),
        serde_json::from_str(json).ok().map(Question::Backlinks),
        serde_json::from_str(json).ok().map(Question::Unresolved),
        serde_json::from_str(json).ok().map(Question::Tags),
        serde_json::from_str(json).ok().map(Question::Linking),
        serde_json::from_str(json).ok().map(Question::Containing),
        Some(Question::NamesIn(json.to_owned())),
    ];
    let (vault, index) = &*INDEX;
    for question in parsed.into_iter().flatten() {
        let mut transaction = vault.begin(Access {
            rules: Arc::new(Open),
            effect: Effect::Read,
            component: "fuzz".to_owned(),
            limits: Limits {
                deadline: Some(Instant::now() + Duration::from_secs(1)),
                ..Limits::default()
            },
        });
        let _ = index.ask(&mut transaction, question);
    }
}
