//! Why a caller may or may not: the same checks as a call meets, with the line that decided. Nothing is run and no
//! vault is opened.

use notehost_sdk::Code;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::authorize::Gate;
use super::rights::{BadRights, Rights};
use super::{CallError, Request, resolve};
use crate::registry::Snapshot;
use notehost_config::Settings;
use notehost_policy::Decision;
use notehost_policy::auth::Caller;
use notehost_vault::{Effect, Kind, Tier, is_open_path};

/// What somebody wants to know.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'asked> {
    /// The action's domain.
    pub domain: &'asked str,
    /// The action.
    pub action: &'asked str,
    /// The vault, where there are several.
    pub vault: Option<&'asked str>,
    /// Where it would do something.
    pub path: &'asked str,
    /// What is there, if that is known.
    pub kind: Option<Kind>,
}

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deciding {
    /// There is no such action, or it is switched off.
    Action,
    /// The caller's scopes.
    Scope,
    /// Which vaults the caller may use.
    Vault,
    /// The kill switch.
    ReadOnly,
    /// It is no path.
    Path,
    /// A folder whose name begins with a dot.
    DotFolder,
    /// The tier of the notebook.
    Notebook,
    /// A rule that narrows the notebook's tier.
    Rule,
    /// What the component is granted.
    Grant,
}

impl Deciding {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Deciding::Action => "action",
            Deciding::Scope => "scope",
            Deciding::Vault => "vault",
            Deciding::ReadOnly => "read_only",
            Deciding::Path => "path",
            Deciding::DotFolder => "dot_folder",
            Deciding::Notebook => "notebook",
            Deciding::Rule => "rule",
            Deciding::Grant => "grant",
        }
    }
}

/// The answer.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Whether the caller may.
    pub allowed: bool,
    /// What decided it.
    pub decided_by: Deciding,
    /// The key of the config that says so, where one does.
    pub key: Option<String>,
    /// The glob of the rule or grant.
    pub glob: Option<String>,
    /// What the caller may do there, as far as it came to that.
    pub tier: Option<Tier>,
    /// What the action needs there.
    pub needed: Option<Tier>,
    /// The whole in a sentence.
    pub sentence: String,
}

/// Whether a caller may do something somewhere, and why.
pub fn explain(
    settings: &Settings,
    domains: &Snapshot,
    caller: &Caller,
    asked: Asked<'_>,
) -> Result<Explanation, BadRights> {
    let rights = Rights::of(settings, caller)?;
    let request = Request {
        domain: asked.domain.to_owned(),
        action: asked.action.to_owned(),
        arguments: Map::new(),
        cancelled: CancellationToken::new(),
        traceparent: None,
        progress: None,
    };
    let found = match resolve::find(&rights.scopes, domains, request) {
        Ok(found) => found,
        Err(error) => return Ok(Explanation::refused(Deciding::Action, &error)),
    };
    let action = match found.action() {
        Ok(action) => action,
        Err(error) => return Ok(Explanation::refused(Deciding::Action, &error)),
    };
    let ids = settings.vaults.iter().map(|vault| vault.id.as_str());
    let ids: Vec<&str> = ids.filter(|id| rights.may_use(id)).collect();
    let gate = Gate {
        settings,
        rights: &rights,
        domain: &found.domain,
        action,
        vaults: &ids,
    };
    if let Err(error) = gate.pass(asked.vault, false) {
        let by = match error.code {
            Code::Forbidden => Deciding::Scope,
            Code::ReadOnly => Deciding::ReadOnly,
            _ => Deciding::Vault,
        };
        return Ok(Explanation::refused(by, &error));
    }
    let path = asked.path;
    match is_open_path(path) {
        Ok(true) => {}
        Ok(false) => {
            let sentence = format!(
                "nobody may do anything at `{path}`: names that begin with a dot are closed, whatever the config says"
            );
            return Ok(Explanation::plain(Deciding::DotFolder, sentence));
        }
        Err(error) => return Ok(Explanation::plain(Deciding::Path, error.message)),
    }
    let needed = needed(action.effect);
    let decision = rights.permissions.decide(path, asked.kind);
    let (granted, granting) = found.domain.grant.decide(path);
    let told = Told {
        caller: caller.name(),
        action: format!("{}.{}", asked.domain, asked.action),
        path,
        needed,
    };
    // The caller's own permissions come first; a grant only takes away.
    Ok(if decision.tier >= needed && granted < needed {
        told.by_grant(asked.domain, granted, granting)
    } else {
        told.by_permissions(&decision)
    })
}

/// The tier that an effect needs.
fn needed(effect: Effect) -> Tier {
    match effect {
        Effect::Read => Tier::Read,
        Effect::Write => Tier::Write,
        Effect::Delete => Tier::Delete,
    }
}

/// What a sentence is made of.
struct Told<'asked> {
    caller: &'asked str,
    action: String,
    path: &'asked str,
    needed: Tier,
}

impl Told<'_> {
    fn by_permissions(&self, decision: &Decision<'_>) -> Explanation {
        let key = decision.said().map(|said| said.key.clone());
        let glob = decision
            .narrowed
            .as_ref()
            .map(|narrowed| narrowed.glob.to_owned());
        let why = match (&key, &glob) {
            (Some(key), Some(glob)) => {
                format!("the rule for `{glob}` (`{key}`) says `{}`", decision.tier)
            }
            (Some(key), None) => format!("`{key}` says `{}`", decision.tier),
            (None, _) => "anybody may list a vault".to_owned(),
        };
        let by = match glob {
            Some(_) => Deciding::Rule,
            None => Deciding::Notebook,
        };
        self.explanation(by, key, glob, decision.tier, &why)
    }

    fn by_grant(&self, domain: &str, granted: Tier, glob: Option<&str>) -> Explanation {
        let key = notehost_config::dotted("components", domain) + ".grant";
        let why = match glob {
            Some(glob) => {
                format!("`{key}` grants the component only `{granted}` there, by `{glob}`")
            }
            None => format!("`{key}` grants the component nothing there"),
        };
        self.explanation(
            Deciding::Grant,
            Some(key),
            glob.map(str::to_owned),
            granted,
            &why,
        )
    }

    fn explanation(
        &self,
        decided_by: Deciding,
        key: Option<String>,
        glob: Option<String>,
        tier: Tier,
        why: &str,
    ) -> Explanation {
        let Told {
            caller,
            action,
            path,
            needed,
        } = self;
        let allowed = tier >= *needed;
        let sentence = match (allowed, tier) {
            (true, _) => {
                format!("`{caller}` may use `{action}` at `{path}`, which needs `{needed}`: {why}")
            }
            (false, Tier::None) => {
                format!("for `{caller}` and `{action}` there is nothing at `{path}`: {why}")
            }
            (false, _) => format!(
                "`{caller}` may not use `{action}` at `{path}`, which needs `{needed}`: {why}"
            ),
        };
        Explanation {
            allowed,
            decided_by,
            key,
            glob,
            tier: Some(tier),
            needed: Some(*needed),
            sentence,
        }
    }
}

impl Explanation {
    fn refused(by: Deciding, error: &CallError) -> Explanation {
        Explanation::plain(by, error.message.clone())
    }

    fn plain(decided_by: Deciding, sentence: String) -> Explanation {
        Explanation {
            allowed: false,
            decided_by,
            key: None,
            glob: None,
            tier: None,
            needed: None,
            sentence,
        }
    }

    /// The same for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "allowed": self.allowed,
            "decided_by": self.decided_by.word(),
            "key": self.key,
            "glob": self.glob,
            "tier": self.tier,
            "needed": self.needed,
            "sentence": self.sentence,
        })
    }
}
