//! Information about this server, its health, and messages to its console.

use notehost_sdk::dates::iso;
use notehost_sdk::index::{Progress, Query};
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;

/// Information about this server: version, vaults, tool surface, domains, state of the index.
///
/// Example: `{}`
#[args]
pub struct Info {}

/// Information about the server.
#[reply]
pub struct ServerInfo {
    /// The version of Notehost.
    pub version: String,
    /// The vault of this call.
    pub vault: String,
    /// The vaults you may use; a call that names none goes to the first.
    pub vaults: Vec<String>,
    /// How actions are offered as tools.
    pub surface: String,
    /// Whether the server is read-only at the moment.
    pub read_only: bool,
    /// The start time.
    pub started: String,
    /// `open`, or `existing` if only tags already in use may be added.
    pub tag_policy: String,
    /// The state of the index.
    pub index: IndexStatus,
    /// The domains you may call.
    pub domains: Vec<DomainInfo>,
}

/// The state of the index.
#[reply]
pub struct IndexStatus {
    /// `building` or `ready`.
    pub state: String,
    /// Number of indexed notes.
    pub done: u64,
    /// Total number of notes.
    pub total: u64,
}

/// A tool domain.
#[reply]
pub struct DomainInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Number of its actions you may call.
    pub actions: u32,
}

fn index(vault: &Vault) -> IndexStatus {
    // Outside a running server, the first query starts the index. The result does not matter here.
    let _ = vault.find(&Query {
        limit: 1,
        ..Query::default()
    });
    let state = vault.index_state();
    IndexStatus {
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
        let domains = about.domains.into_iter().map(|domain| DomainInfo {
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

/// Check whether everything works: the vault is readable, the index is complete, writing is possible.
///
/// Example: `{}`
#[args]
pub struct Health {}

/// The health of the server.
#[reply]
pub struct HealthReport {
    /// `ok`, or `degraded` if a check failed.
    pub status: String,
    /// The checks.
    pub checks: Vec<Check>,
}

/// The result of a check.
#[reply]
pub struct Check {
    /// The name of the check.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
    /// Details.
    pub message: String,
}

impl Action for Health {
    type Output = HealthReport;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<HealthReport> {
        let check = |name: &str, ok: bool, message: String| Check {
            name: name.to_owned(),
            ok,
            message,
        };
        let listed = match vault.list("", false, None, 1) {
            Ok(_) => check("vault", true, "readable".to_owned()),
            Err(error) => check("vault", false, error.message().to_owned()),
        };
        let index = index(vault);
        let is_ready = index.state == "ready";
        let message = match is_ready {
            true => format!("complete, {}", counted(index.total, "note")),
            false => format!("being built, {} of {} notes", index.done, index.total),
        };
        let about = vault.about()?;
        let writing = match about.read_only {
            true => "disabled by an admin: write calls are refused",
            false => "allowed within your permissions",
        };
        let domains = counted(about.domains.len() as u64, "domain");
        let checks = vec![
            listed,
            check("index", is_ready, message),
            check("writing", !about.read_only, writing.to_owned()),
            check(
                "components",
                !about.domains.is_empty(),
                format!("{domains} available"),
            ),
        ];
        let is_healthy = checks.iter().all(|check| check.ok);
        Ok(HealthReport {
            status: if is_healthy { "ok" } else { "degraded" }.to_owned(),
            checks,
        })
    }

    fn text(output: &HealthReport) -> String {
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

/// The severity of a message.
#[args]
#[derive(Copy)]
pub enum NoticeLevel {
    /// for information.
    Info,
    /// needs attention.
    Warn,
    /// something failed.
    Error,
}

/// Show a message to the people who watch the server's console; it changes no notes.
///
/// Example: `{"message": "The garden notes are tidied."}`
#[args]
pub struct Notify {
    /// The message, at most 1000 characters.
    pub message: String,
    /// The severity (default `info`).
    pub level: Option<NoticeLevel>,
}

/// The shown message.
#[reply]
pub struct NotifyResult {
    /// The message.
    pub message: String,
    /// The severity.
    pub level: String,
}

impl Action for Notify {
    type Output = NotifyResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<NotifyResult> {
        use notehost_sdk::Level;
        let (level, name) = match self.level {
            None | Some(NoticeLevel::Info) => (Level::Info, "info"),
            Some(NoticeLevel::Warn) => (Level::Warn, "warn"),
            Some(NoticeLevel::Error) => (Level::Error, "error"),
        };
        vault.notify(level, &self.message)?;
        Ok(NotifyResult {
            message: self.message,
            level: name.to_owned(),
        })
    }

    fn text(output: &NotifyResult) -> String {
        format!("shown as {}: {}", output.level, output.message)
    }
}
