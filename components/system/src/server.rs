//! What this server is, how it does, and what it may show to people.

use notehost_sdk::dates::iso;
use notehost_sdk::index::{Progress, Query};
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;

/// What this server is: version, vaults, tool surface, domains, state of the index.
///
/// Example: `{}`
#[args]
pub struct Info {}

/// A server.
#[reply]
pub struct ServerInfo {
    /// The version of Notehost.
    pub version: String,
    /// The vault of this call.
    pub vault: String,
    /// The vaults that you may use.
    pub vaults: Vec<String>,
    /// How actions are offered as tools.
    pub surface: String,
    /// Whether nobody may write at the moment.
    pub read_only: bool,
    /// When it began to serve.
    pub started: String,
    /// `open`, or `existing` where notes may only get tags that are in use.
    pub tag_policy: String,
    /// How far the index is.
    pub index: IndexTold,
    /// What you may call.
    pub domains: Vec<DomainTold>,
}

/// How far the index is.
#[reply]
pub struct IndexTold {
    /// `building` or `ready`.
    pub state: String,
    /// How many notes are in it.
    pub done: u64,
    /// How many notes there are.
    pub total: u64,
}

/// A tool domain.
#[reply]
pub struct DomainTold {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How many of its actions you may call.
    pub actions: u32,
}

fn index(vault: &Vault) -> IndexTold {
    // Where nobody serves, an index is only begun when something is asked of it. What it answers does not matter here.
    let _ = vault.find(&Query {
        limit: 1,
        ..Query::default()
    });
    let state = vault.index_state();
    IndexTold {
        state: match state.state {
            Progress::Building => "building".to_owned(),
            Progress::Ready => "ready".to_owned(),
        },
        done: state.done,
        total: state.total,
    }
}

impl Action for Info {
    type Output = ServerInfo;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ServerInfo> {
        let about = vault.about()?;
        let domains = about.domains.into_iter().map(|domain| DomainTold {
            name: domain.name,
            version: domain.version,
            actions: domain.actions,
        });
        Ok(ServerInfo {
            version: about.version,
            vault: about.vault,
            vaults: about.vaults,
            surface: about.surface,
            read_only: about.read_only,
            started: iso(about.started),
            tag_policy: about.tag_policy,
            index: index(vault),
            domains: domains.collect(),
        })
    }

    fn text(output: &ServerInfo) -> String {
        let domains: Vec<String> = output
            .domains
            .iter()
            .map(|domain| format!("{} {} ({})", domain.name, domain.version, domain.actions))
            .collect();
        format!(
            "Notehost {}, vault `{}` of {}, surface `{}`{}\nindex {}: {} of {} notes\ndomains: {}",
            output.version,
            output.vault,
            output.vaults.join(", "),
            output.surface,
            if output.read_only { ", read-only" } else { "" },
            output.index.state,
            output.index.done,
            output.index.total,
            domains.join(", ")
        )
    }
}

/// Whether everything works: the vault can be read, the index is complete, writing is possible.
///
/// Example: `{}`
#[args]
pub struct Health {}

/// How the server does.
#[reply]
pub struct Wellbeing {
    /// `ok`, or `degraded` if one of the checks is not fine.
    pub status: String,
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[reply]
pub struct Check {
    /// What.
    pub name: String,
    /// Whether it is fine.
    pub ok: bool,
    /// How it is.
    pub message: String,
}

impl Action for Health {
    type Output = Wellbeing;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Wellbeing> {
        let check = |name: &str, ok: bool, message: String| Check {
            name: name.to_owned(),
            ok,
            message,
        };
        let listed = match vault.list("", false, None, 1) {
            Ok(_) => check("vault", true, "it can be read".to_owned()),
            Err(error) => check("vault", false, error.message().to_owned()),
        };
        let index = index(vault);
        let is_ready = index.state == "ready";
        let words = match is_ready {
            true => format!("complete, {}", counted(index.total, "note")),
            false => format!("being built, {} of {} notes", index.done, index.total),
        };
        let about = vault.about()?;
        let writing = match about.read_only {
            true => "switched off by an admin: calls that write are refused",
            false => "possible where your permissions allow it",
        };
        let domains = counted(about.domains.len() as u64, "domain");
        let checks = vec![
            listed,
            check("index", is_ready, words),
            check("writing", !about.read_only, writing.to_owned()),
            check(
                "components",
                !about.domains.is_empty(),
                format!("{domains} can be called"),
            ),
        ];
        let is_fine = checks.iter().all(|check| check.ok);
        Ok(Wellbeing {
            status: if is_fine { "ok" } else { "degraded" }.to_owned(),
            checks,
        })
    }

    fn text(output: &Wellbeing) -> String {
        let checks: Vec<String> = output
            .checks
            .iter()
            .map(|check| {
                let mark = if check.ok { "✓" } else { "✗" };
                format!("{mark} {}: {}", check.name, check.message)
            })
            .collect();
        format!("{}\n{}", output.status, checks.join("\n"))
    }
}

/// How much a message matters.
#[args]
#[derive(Copy)]
pub enum NoticeLevel {
    /// good to know.
    Info,
    /// should be looked at.
    Warn,
    /// something went wrong.
    Error,
}

/// Show a message to the people who watch the server's console; it changes no note.
///
/// Example: `{"message": "The garden notes are tidied."}`
#[args]
pub struct Notify {
    /// What to say, at most 1000 characters.
    pub message: String,
    /// How much it matters (default `info`).
    pub level: Option<NoticeLevel>,
}

/// A message was shown.
#[reply]
pub struct Shown {
    /// What it says.
    pub message: String,
    /// How much it matters.
    pub level: String,
}

impl Action for Notify {
    type Output = Shown;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Shown> {
        use notehost_sdk::Level;
        let (level, word) = match self.level {
            None | Some(NoticeLevel::Info) => (Level::Info, "info"),
            Some(NoticeLevel::Warn) => (Level::Warn, "warn"),
            Some(NoticeLevel::Error) => (Level::Error, "error"),
        };
        vault.notify(level, &self.message)?;
        Ok(Shown {
            message: self.message,
            level: word.to_owned(),
        })
    }

    fn text(output: &Shown) -> String {
        format!("shown as {}: {}", output.level, output.message)
    }
}
