//! The vault that a component is tested on, and a single run of an action there. Everything is deleted after the test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use notehost_sdk::host::{About, CallerInfo, Conventions, Now};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::ConformanceError;
use super::fault_injection::{FaultPlan, FaultScheduler};
use notehost_config::LimitSettings;
use notehost_index::Index;
use notehost_platform::private::new_folder_in;
use notehost_runtime::{
    ActionDescription, CallEnvironment, Component, DenyEgress, Description, Job, RunError, Runtime,
};
use notehost_vault::{
    Access, ChangeKind, CommitNote, Effect, Limits, Rules, Tier, Transaction, Vault, VaultSettings,
};

/// The modification time of every note: 2026-03-02 09:00 UTC.
const MODIFIED_AT: Duration = Duration::from_secs(1_772_442_000);
/// The fixed time of the component's clock: an hour later.
const NOW: u64 = (1_772_442_000 + 3600) * 1000;

/// A note with every kind of content.
pub(super) const RICH_NOTE: &str = "Work/Plan.md";
/// Another one, in the root.
pub(super) const ROOT_NOTE: &str = "Welcome.md";

/// The files of the test vault.
const NOTES: [(&str, &[u8]); 13] = [
    (ROOT_NOTE, b"# Welcome\n\nSee [[Plan]], [[Meeting|the meeting]] and [[Nowhere]]. #start\n"),
    (
        RICH_NOTE,
        "---\ntags: [project, plan]\nstatus: open\ndue: 2026-03-05\naliases: [The plan]\n---\n# Plan\n\nA plan for \
         the [[Meeting]]. ^intro\n\n## Tasks\n\n- [ ] write it #todo\n- [x] think\n\n## Cards\n\nCapital of \
         France::Paris\n\nWhat is 2 + 2?\n?\n4\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n"
            .as_bytes(),
    ),
    ("Work/Meeting.md", b"# Meeting\n\nWith Ana. ![[Picture.png]]\n\n> a quote\n"),
    ("Work/Deep/Nested/Note.md", b"deep down\n"),
    ("Work/Windows.md", b"# One\r\n\r\ntwo\r\n"),
    ("Work/Books.base", b"filters: 'file.hasTag(\"project\")'\nviews:\n  - type: table\n    name: All\n"),
    (
        "Work/Picture.png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\
          \r\n-\xb4\0\0\0\0IEND\xaeB`\x82",
    ),
    ("Diary/2026-03-01.md", b"# Sunday\n\n- [ ] rest\n"),
    ("Diary/2026-03-02.md", b""),
    ("Templates/Note.md", b"# {{title}}\n\n{{date}}\n"),
    ("Odd/\u{65e5}\u{672c}\u{8a9e}.md", "# \u{30e1}\u{30e2}\n\n\u{691c}\u{7d22} #\u{65e5}\u{8a18}\n".as_bytes()),
    ("Odd/Latin.md", b"caf\xe9\n"),
    ("Odd/Broken.md", b"---\ntags: [one\n: : :\n---\nbody\n"),
];

/// The test vault with the component under test.
pub(super) struct TestVault<'suite> {
    runtime: &'suite Runtime,
    component: &'suite Component,
    domain: Arc<str>,
    pub(super) limits: LimitSettings,
    /// Before the folder: it is removed when nothing uses it any more.
    index: Arc<Index>,
    vault: Arc<Vault>,
    folder: Scratch,
    runs: AtomicU64,
}

/// The conditions of a call.
pub(super) struct CallConditions {
    /// The tier on all paths.
    pub(super) tier: Tier,
    pub(super) plan: FaultPlan,
    pub(super) limits: LimitSettings,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) ending: Ending,
    /// The staged changes, if it succeeded: path, kind, new content.
    pub(super) staged: Vec<(String, ChangeKind, Option<Vec<u8>>)>,
    /// How often it exceeded its declared effect.
    pub(super) oversteps: u64,
    pub(super) host_calls: u64,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending {
    /// It returned a reply.
    Replied {
        text: String,
        structured: String,
    },
    /// It returned an error.
    Refused {
        code: String,
        message: String,
    },
    /// What it read changed meanwhile; a host runs it again.
    Conflict,
    Cancelled,
    TimedOut,
    OverLimit(String),
    Broke(String),
}

impl<'suite> TestVault<'suite> {
    pub(super) fn new(
        runtime: &'suite Runtime,
        component: &'suite Component,
        description: &Description,
        limits: LimitSettings,
    ) -> Result<TestVault<'suite>, ConformanceError> {
        let folder = Scratch::new()?;
        for (path, bytes) in NOTES {
            folder.put(path, bytes)?;
        }
        let vault = Arc::new(Vault::open(
            "conformance",
            &folder.notes(),
            &folder.0.join("state"),
            VaultSettings::default(),
        )?);
        make_a_past(&vault)?;
        let index = Index::open(&vault);
        index.start();
        index.wait(Some(Instant::now() + Duration::from_secs(60)));
        Ok(TestVault {
            runtime,
            component,
            domain: Arc::from(description.name.as_str()),
            limits,
            index,
            vault,
            folder,
            runs: AtomicU64::new(0),
        })
    }

    /// How many calls were made.
    pub(super) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// The file paths of some notes.
    pub(super) fn files(&self, paths: &[&str]) -> Vec<PathBuf> {
        let notes = self.folder.notes();
        paths.iter().map(|path| notes.join(path)).collect()
    }

    /// Restores the original content of notes.
    pub(super) fn restore(&self, paths: &[&str]) {
        for (path, bytes) in NOTES.iter().filter(|(path, _)| paths.contains(path)) {
            if let Err(error) = self.folder.put(path, bytes) {
                tracing::debug!("a note of the conformance suite could not be restored: {error}");
            }
        }
    }

    /// The default conditions: everything is allowed, no faults.
    pub(super) fn usual(&self) -> CallConditions {
        CallConditions {
            tier: Tier::Delete,
            plan: FaultPlan::Watch,
            limits: self.limits.clone(),
        }
    }

    /// Makes a call under default conditions.
    pub(super) async fn call(
        &self,
        action: &ActionDescription,
        arguments: &Map<String, Value>,
    ) -> Answer {
        self.call_under(action, arguments, self.usual()).await
    }

    /// Makes a call on a fresh instance. The staged changes are inspected and dropped.
    pub(super) async fn call_under(
        &self,
        action: &ActionDescription,
        arguments: &Map<String, Value>,
        conditions: CallConditions,
    ) -> Answer {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let rules = Arc::new(UniformRules {
            tier: conditions.tier,
            oversteps: AtomicU64::new(0),
        });
        let fault_scheduler = Arc::new(FaultScheduler::new(conditions.plan));
        let deadline = Instant::now() + Duration::from_millis(conditions.limits.call_ms);
        let transaction = self.vault.begin(Access {
            rules: rules.clone(),
            effect: action.effect,
            component: self.domain.to_string(),
            limits: Limits {
                deadline: Some(deadline),
                max_staged_bytes: conditions.limits.staged_bytes,
                store_quota: conditions.limits.store_bytes,
                ..Limits::default()
            },
        });
        let job = Job {
            caller: Arc::from(""),
            domain: self.domain.clone(),
            action: action.name.clone(),
            arguments: Value::Object(arguments.clone()).to_string().into(),
            transaction,
            index: self.index.clone(),
            environment: Arc::new(FixedEnvironment),
            deadline,
            limits: conditions.limits,
            cancelled: CancellationToken::new(),
            fault_injector: Some(fault_scheduler.clone()),
            egress: Arc::new(DenyEgress),
        };
        let mut staged = Vec::new();
        let ending = match self.runtime.run(self.component, job).await {
            Ok(outcome) => {
                staged = staged_by(&outcome.transaction);
                Ending::Replied {
                    text: outcome.reply.text,
                    structured: outcome.reply.structured,
                }
            }
            Err(RunError::Refused { code, message, .. }) => Ending::Refused { code, message },
            Err(RunError::Conflict) => Ending::Conflict,
            // Nobody takes anything away here.
            Err(RunError::Cancelled | RunError::Revoked(_)) => Ending::Cancelled,
            Err(RunError::TimedOut(_) | RunError::NotStarted(_)) => Ending::TimedOut,
            Err(error @ RunError::OutOfSharedMemory) => Ending::OverLimit(error.to_string()),
            Err(RunError::OverLimit(limit)) => Ending::OverLimit(limit),
            Err(RunError::Failed(reason)) => Ending::Broke(first_cause(&reason)),
            Err(RunError::Load(error)) => Ending::Broke(error.to_string()),
        };
        Answer {
            ending,
            staged,
            oversteps: rules.oversteps.load(Ordering::Relaxed),
            host_calls: fault_scheduler.host_calls(),
        }
    }
}

fn staged_by(transaction: &Transaction) -> Vec<(String, ChangeKind, Option<Vec<u8>>)> {
    let changes = transaction.changes().into_iter();
    changes
        .map(|change| {
            let after = change.after.map(|bytes| bytes.to_vec());
            (change.path, change.kind, after)
        })
        .collect()
}

/// The reason of a guest's crash, without the backtrace.
fn first_cause(reason: &str) -> String {
    let causes: Vec<&str> = reason.split("wasm trap: ").collect();
    let problem = match causes.as_slice() {
        [_, trap, ..] => trap,
        _ => reason,
    };
    let line = problem.lines().next().unwrap_or_default();
    line.chars().take(200).collect()
}

/// Creates, changes and removes a note, so that there is a history and a trash.
fn make_a_past(vault: &Arc<Vault>) -> Result<(), ConformanceError> {
    let path = "Work/Old.md";
    let begin = || {
        vault.begin(Access {
            rules: Arc::new(UniformRules {
                tier: Tier::Delete,
                oversteps: AtomicU64::new(0),
            }),
            effect: Effect::Delete,
            component: "conformance".into(),
            limits: Limits::default(),
        })
    };
    let commit = |transaction: Transaction| {
        let note = CommitNote {
            caller: "conformance".into(),
            action: "conformance.prepare".into(),
            key: None,
        };
        let committed = transaction.commit(note);
        committed.map_err(|error| std::io::Error::other(error.to_string()))
    };
    let mut making = begin();
    making.create(path, b"# Old\n\none\n")?;
    commit(making)?;
    let mut changing = begin();
    changing.write(path, b"# Old\n\none\ntwo\n", None)?;
    commit(changing)?;
    let mut removing = begin();
    removing.remove(path)?;
    commit(removing)?;
    Ok(())
}

/// Grants the same tier on all paths, and counts attempts beyond an action's effect.
struct UniformRules {
    tier: Tier,
    oversteps: AtomicU64,
}

impl Rules for UniformRules {
    fn tier(&self, _: &str) -> Tier {
        self.tier
    }

    fn identity(&self) -> Option<u64> {
        // Counted downwards, far from the names that policy gives.
        Some(u64::MAX - self.tier as u64)
    }

    fn overstepped(&self, _: Effect) {
        self.oversteps.fetch_add(1, Ordering::Relaxed);
    }
}

/// A call environment with a fixed clock.
struct FixedEnvironment;

impl CallEnvironment for FixedEnvironment {
    fn now(&self) -> Now {
        Now {
            milliseconds: NOW,
            offset_minutes: 60,
            zone: Some("Europe/Berlin".into()),
        }
    }

    fn about(&self) -> About {
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            vault: "conformance".into(),
            vaults: vec!["conformance".into()],
            surface: "domain".into(),
            read_only: false,
            started: NOW,
            tag_policy: "open".into(),
            domains: Vec::new(),
        }
    }

    fn caller(&self) -> CallerInfo {
        CallerInfo {
            name: "conformance".into(),
            scopes: ["read", "write", "delete"].map(str::to_owned).to_vec(),
            bound_to: None,
            calls: 0,
            limits: Vec::new(),
        }
    }

    fn conventions(&self, _: &mut Transaction) -> Conventions {
        Conventions {
            templates: Some("Templates".into()),
            daily_notes: Some("Diary".into()),
            property_types: BTreeMap::from([("due".to_owned(), "date".to_owned())]),
            ..Conventions::default()
        }
    }
}

/// A temporary folder, removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        let folder = new_folder_in(&std::env::temp_dir(), "notehost-conformance")?;
        let scratch = Scratch(folder);
        std::fs::create_dir(scratch.notes())?;
        Ok(scratch)
    }

    fn notes(&self) -> PathBuf {
        self.0.join("notes")
    }

    fn put(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        let file = self.notes().join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(&file, bytes)?;
        let open = std::fs::File::options().write(true).open(&file)?;
        open.set_modified(SystemTime::UNIX_EPOCH + MODIFIED_AT)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays in the system's folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
