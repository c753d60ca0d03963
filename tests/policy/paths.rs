//! Paths and globs in many spellings: no spelling of a path gets more access than the path itself, and everything that
//! is read or staged is at an allowed path.

use std::sync::Arc;

use notehost::config::Settings;
use notehost::policy::Permissions;
use notehost::vault::{Access, Effect, Limits, Rules, Tier, Vault, VaultSettings};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use crate::support::place::Place;

const SECRET: &[u8] = b"the word is zqx";

/// Denied, restricted and open paths.
const CONFIG: &str = r#"
[permissions]
default = "rwd"
[permissions.notebooks]
"Geh\u00e9im" = "none"
"Straße" = "none"
[[permissions.rules]]
glob = "Work/Pr\u00edvate/**"
tier = "none"
[[permissions.rules]]
glob = "**/Sécret*"
tier = "none"
[[permissions.rules]]
glob = "Work/Shelf"
tier = "r"
"#;

/// Denied files that contain the secret.
const DENIED: [&str; 6] = [
    "Gehéim/Note.md",
    "Gehéim/Sub/Deep.md",
    "Straße/Note.md",
    "Work/Prívate/Note.md",
    "Work/Sub/Sécret plan.md",
    "Work/Sécrets/Note.md",
];

fn permissions() -> Permissions {
    let settings: Settings = toml::from_str(CONFIG).expect("settings");
    Permissions::of_caller(&settings, "main", "ana", None).expect("permissions")
}

fn vault() -> (Place, Arc<Vault>) {
    let place = Place::new();
    for path in DENIED {
        place.write(path, SECRET);
    }
    for path in [".git/config", ".obsidian/app.json", "Work/.hidden/Note.md"] {
        place.write(path, SECRET);
    }
    place.write("Work/Open.md", "open\n");
    place.write("Work/Shelf/Note.md", "shelf\n");
    let settings = VaultSettings::default();
    let vault = Vault::open("main", &place.vault(), &place.state(), settings).expect("a vault");
    (place, Arc::new(vault))
}

fn access() -> Access {
    Access {
        rules: Arc::new(permissions()),
        effect: Effect::Delete,
        component: "test".into(),
        limits: Limits::default(),
    }
}

/// A way to spell a path differently.
#[derive(Debug, Clone, Copy)]
enum Twist {
    Upper,
    Lower,
    Swap(usize),
    Decompose,
    Compose,
    Compatible,
    DoubleS,
    UpFront,
    UpInside(usize),
    Here(usize),
    Backslash(usize),
    Doubled(usize),
    Slash,
    Absolute,
    TrailingDot(usize),
    TrailingSpace(usize),
    Percent(usize),
    PercentDots,
    Null(usize),
    ZeroWidth(usize),
    FullWidthSlash,
    NoSuffix,
}

fn twist() -> impl Strategy<Value = Twist> {
    let at = 0usize..40;
    prop_oneof![
        Just(Twist::Upper),
        Just(Twist::Lower),
        at.clone().prop_map(Twist::Swap),
        Just(Twist::Decompose),
        Just(Twist::Compose),
        Just(Twist::Compatible),
        Just(Twist::DoubleS),
        Just(Twist::UpFront),
        at.clone().prop_map(Twist::UpInside),
        at.clone().prop_map(Twist::Here),
        at.clone().prop_map(Twist::Backslash),
        at.clone().prop_map(Twist::Doubled),
        Just(Twist::Slash),
        Just(Twist::Absolute),
        at.clone().prop_map(Twist::TrailingDot),
        at.clone().prop_map(Twist::TrailingSpace),
        at.clone().prop_map(Twist::Percent),
        Just(Twist::PercentDots),
        at.clone().prop_map(Twist::Null),
        at.prop_map(Twist::ZeroWidth),
        Just(Twist::FullWidthSlash),
        Just(Twist::NoSuffix),
    ]
}

impl Twist {
    /// Whether the result is the same path on every system: then it must have the same tier.
    fn is_same_path(self) -> bool {
        use Twist::{Compose, Decompose, DoubleS, Lower, Swap, Upper};
        matches!(
            self,
            Upper | Lower | Swap(_) | Decompose | Compose | DoubleS
        )
    }

    fn apply(self, path: &str) -> String {
        match self {
            Twist::Upper => path.to_uppercase(),
            Twist::Lower => path.to_lowercase(),
            Twist::Swap(at) => changed(path, at, |letter| match letter.is_uppercase() {
                true => letter.to_lowercase().collect(),
                false => letter.to_uppercase().collect(),
            }),
            Twist::Decompose => path.nfd().collect(),
            Twist::Compose => path.nfc().collect(),
            Twist::Compatible => path.nfkd().collect(),
            Twist::DoubleS => path.replace('ß', "ss"),
            Twist::UpFront => format!("Work/../{path}"),
            Twist::UpInside(at) => part(path, at, |name| format!("{name}/../{name}")),
            Twist::Here(at) => part(path, at, |name| format!("./{name}")),
            Twist::Backslash(at) => separator(path, at, "\\"),
            Twist::Doubled(at) => separator(path, at, "//"),
            Twist::Slash => format!("{path}/"),
            Twist::Absolute => format!("/{path}"),
            Twist::TrailingDot(at) => part(path, at, |name| format!("{name}.")),
            Twist::TrailingSpace(at) => part(path, at, |name| format!("{name} ")),
            Twist::Percent(at) => changed(path, at, |letter| {
                let mut bytes = [0; 4];
                let bytes = letter.encode_utf8(&mut bytes).bytes();
                bytes.map(|byte| format!("%{byte:02x}")).collect()
            }),
            Twist::PercentDots => format!("Work/%2e%2e/{path}"),
            Twist::Null(at) => changed(path, at, |letter| format!("{letter}\0")),
            Twist::ZeroWidth(at) => changed(path, at, |letter| format!("{letter}\u{200b}")),
            Twist::FullWidthSlash => path.replace('/', "\u{ff0f}"),
            Twist::NoSuffix => path.trim_end_matches(".md").to_owned(),
        }
    }
}

/// The path with one of its letters replaced.
fn changed(path: &str, at: usize, change: impl Fn(char) -> String) -> String {
    let count = path.chars().count().max(1);
    let letters = path.chars().enumerate();
    letters
        .map(|(place, letter)| match place == at % count {
            true => change(letter),
            false => letter.to_string(),
        })
        .collect()
}

/// The path with one of its parts replaced.
fn part(path: &str, at: usize, change: impl Fn(&str) -> String) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let changed = parts
        .iter()
        .enumerate()
        .map(|(place, name)| match place == at % parts.len() {
            true => change(name),
            false => (*name).to_owned(),
        });
    changed.collect::<Vec<_>>().join("/")
}

/// The path with one of its separators replaced.
fn separator(path: &str, at: usize, by: &str) -> String {
    let places: Vec<usize> = path.match_indices('/').map(|(place, _)| place).collect();
    match places.get(at % places.len().max(1)) {
        Some(place) => format!("{}{by}{}", &path[..*place], &path[place + 1..]),
        None => path.to_owned(),
    }
}

fn denied() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&DENIED[..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Rules ignore case and Unicode normalization, in the path and in the rule.
    #[test]
    fn the_same_path_has_the_same_tier(path in "[A-Za-zäéßÅñ]{1,6}(/[A-Za-zäéßÅñ ]{1,6}){0,3}", twists in prop::collection::vec(twist(), 1..4)) {
        let mut spelt = path.clone();
        for twist in twists.iter().filter(|twist| twist.is_same_path()) {
            spelt = twist.apply(&spelt);
        }
        let first = path.split('/').next().unwrap_or_default();
        let mut settings = Settings::default();
        settings.permissions.default = Tier::Delete;
        settings.permissions.notebooks.insert(first.to_owned(), Tier::Write);
        let rule = format!("[[permissions.rules]]\nglob = \"{path}\"\ntier = \"none\"\n");
        let rules: Settings = toml::from_str(&rule).expect("a rule");
        settings.permissions.rules = rules.permissions.rules;
        let permissions = Permissions::of_caller(&settings, "main", "ana", None).expect("permissions");
        prop_assert_eq!(permissions.tier(&path), Tier::None);
        prop_assert_eq!(permissions.tier(&spelt), Tier::None, "{:?}", spelt);
        prop_assert_eq!(permissions.tier(&format!("{spelt}/below.md")), Tier::None, "{:?}", spelt);
    }

    /// A denied path cannot be read, seen or changed in any spelling.
    #[test]
    fn no_spelling_reaches_a_denied_path(path in denied(), twists in prop::collection::vec(twist(), 0..4)) {
        // Opening a vault takes longer than a hundred paths.
        thread_local!(static OPEN: (Place, Arc<Vault>) = vault());
        let mut spelt = path.to_owned();
        for twist in &twists {
            spelt = twist.apply(&spelt);
        }
        let found = OPEN.with(|(_, vault)| behind(vault, &spelt));
        prop_assert!(found.is_empty(), "{:?} ({:?}): {:?}", spelt, twists, found);
        if twists.iter().all(|twist| twist.is_same_path()) {
            let tier = OPEN.with(|(_, vault)| vault.begin(access()).tier_at(&spelt));
            prop_assert_eq!(tier, Tier::None, "{:?}", spelt);
        }
    }

    /// A name that starts with a dot is denied, whatever surrounds it.
    #[test]
    fn no_spelling_reaches_a_dot_folder(path in prop::sample::select(&[".git/config", ".obsidian/app.json", "Work/.hidden/Note.md"][..]), twists in prop::collection::vec(twist(), 0..3)) {
        thread_local!(static OPEN: (Place, Arc<Vault>) = vault());
        let mut spelt = path.to_owned();
        for twist in &twists {
            spelt = twist.apply(&spelt);
        }
        let found = OPEN.with(|(_, vault)| behind(vault, &spelt));
        prop_assert!(found.is_empty(), "{:?} ({:?}): {:?}", spelt, twists, found);
    }
}

/// Everything that a caller can find at a path that should be denied.
fn behind(vault: &Arc<Vault>, spelt: &str) -> Vec<String> {
    let mut found = Vec::new();
    let rules = permissions();
    let mut transaction = vault.begin(access());
    let mut add = |what: &str, content: String| found.push(format!("{what}: {content}"));
    if let Ok(blob) = transaction.read(spelt) {
        add(
            "read",
            format!("{:?}", String::from_utf8_lossy(&blob.bytes)),
        );
    }
    if let Ok(entry) = transaction.stat(spelt)
        && !entry.path.is_empty()
    {
        add("stat", entry.path);
    }
    for path in transaction.resolve(spelt, None).unwrap_or_default() {
        add("resolve", path);
    }
    // Anything that can be created from it must be at an allowed path.
    let _ = transaction.write(spelt, b"mine", None);
    let _ = transaction.remove(spelt);
    let _ = transaction.rename(spelt, "Work/Taken.md");
    let _ = transaction.rename("Work/Open.md", spelt);
    let _ = transaction.create(spelt, b"mine");
    let _ = transaction.create_folder(spelt);
    for change in transaction.changes() {
        for path in [Some(&change.path), change.from.as_ref()]
            .into_iter()
            .flatten()
        {
            let is_closed = path
                .split('/')
                .any(|name| name.trim_start().starts_with('.'));
            if rules.tier(path) < Tier::Write || is_closed {
                add("staged", path.clone());
            }
        }
        if change.before.as_deref() == Some(SECRET) {
            add("shown", change.path);
        }
    }
    found
}

/// The property can fail: allowed paths are found.
#[test]
fn allowed_paths_are_found() {
    let (_place, vault) = vault();
    let found = behind(&vault, "Work/Open.md");
    assert!(
        found.iter().any(|text| text.starts_with("read")),
        "{found:?}"
    );
    let mut transaction = vault.begin(access());
    assert_eq!(transaction.tier_at("work/shelf/note.md"), Tier::Read);
    let error = transaction
        .write("Work/Shelf/Note.md", b"x", None)
        .expect_err("only to be read");
    assert_eq!(error.code(), "permission_denied");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("`Work/Shelf`")),
        "{:?}",
        error.hint()
    );
}
