//! Explains a permission decision: runs the checks of a call and reports which setting decided. Runs no component and
//! opens no vault.

use notehost_sdk::Code;
use serde_json::{Map, Value, json};

use crate::application::rights::{BadRights, Rights};
use crate::registry::{Action, Snapshot};
use crate::stages::authorize::Gate;
use crate::stages::resolve::{self, Found};
use crate::{CallError, Request};
use notehost_config::Settings;
use notehost_policy::Decision;
use notehost_policy::auth::Caller;
use notehost_vault::{Effect, Kind, Tier, is_open_path};

/// A question about a permission.
#[derive(Debug, Clone, Copy)]
pub struct ExplainQuery<'query> {
    /// The action's domain.
    pub domain: &'query str,
    /// The action.
    pub action: &'query str,
    /// The vault; the caller's default one if it is not set.
    pub vault: Option<&'query str>,
    /// The path of the action's effect.
    pub path: &'query str,
    /// The kind of the entry at that path, if known.
    pub kind: Option<Kind>,
}

/// Which check decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// The action does not exist or is disabled.
    Action,
    /// The caller's scopes.
    Scope,
    /// The vaults of the caller.
    Vault,
    /// The kill switch.
    ReadOnly,
    /// The path is invalid.
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

impl DecidedBy {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            DecidedBy::Action => "action",
            DecidedBy::Scope => "scope",
            DecidedBy::Vault => "vault",
            DecidedBy::ReadOnly => "read_only",
            DecidedBy::Path => "path",
            DecidedBy::DotFolder => "dot_folder",
            DecidedBy::Notebook => "notebook",
            DecidedBy::Rule => "rule",
            DecidedBy::Grant => "grant",
        }
    }
}

/// The explanation.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Whether the caller is allowed.
    pub allowed: bool,
    /// What decided it.
    pub decided_by: DecidedBy,
    /// The config key that decided, if any.
    pub key: Option<String>,
    /// The glob of the rule or grant.
    pub glob: Option<String>,
    /// The caller's tier there, if it was reached.
    pub tier: Option<Tier>,
    /// The tier that the action needs there.
    pub needed: Option<Tier>,
    /// The vault, where several are configured.
    pub vault: Option<String>,
    /// The explanation as a sentence.
    pub sentence: String,
}

/// Explains whether a caller may run an action at a path.
pub fn explain(
    settings: &Settings,
    domains: &Snapshot,
    caller: &Caller,
    query: ExplainQuery<'_>,
) -> Result<Explanation, BadRights> {
    let rights = Rights::of(settings, caller)?;
    let request = Request::new(query.domain, query.action, Map::new());
    let found = match resolve::find(&rights.scopes, domains, request) {
        Ok(found) => found,
        Err(error) => return Ok(Explanation::refused(DecidedBy::Action, &error)),
    };
    let action = match found.action() {
        Ok(action) => action,
        Err(error) => return Ok(Explanation::refused(DecidedBy::Action, &error)),
    };
    let ids: Vec<&str> = rights.vaults().collect();
    let gate = Gate {
        settings,
        rights: &rights,
        domain: &found.domain,
        action,
        vaults: &ids,
    };
    let vault = match gate.pass(query.vault, false) {
        Ok(chosen) => ids.get(chosen).copied().unwrap_or_default(),
        Err(error) => {
            let by = match error.code {
                Code::Forbidden => DecidedBy::Scope,
                Code::ReadOnly => DecidedBy::ReadOnly,
                _ => DecidedBy::Vault,
            };
            return Ok(Explanation::refused(by, &error));
        }
    };
    let explanation = at_path(&rights, vault, &found, action, caller, query);
    Ok(Explanation {
        vault: (settings.vaults.len() > 1).then(|| vault.to_owned()),
        ..explanation
    })
}

/// The decision about the path, in a vault that the caller may use.
fn at_path(
    rights: &Rights,
    vault: &str,
    found: &Found,
    action: &Action,
    caller: &Caller,
    query: ExplainQuery<'_>,
) -> Explanation {
    let path = query.path;
    match is_open_path(path) {
        Ok(true) => {}
        Ok(false) => {
            let sentence = format!(
                "no caller may access `{path}`: names that begin with a dot are closed, regardless of the config"
            );
            return Explanation::plain(DecidedBy::DotFolder, sentence);
        }
        Err(error) => return Explanation::plain(DecidedBy::Path, error.message),
    }
    let needed = needed(action.effect);
    let Some(here) = rights.in_vault(vault) else {
        return Explanation::plain(DecidedBy::Vault, format!("no vault `{vault}`"));
    };
    let decision = here.permissions.decide(path, query.kind);
    let (granted, granting) = found.domain.grant.decide(path);
    let sentence = Sentence {
        caller: caller.name(),
        action: format!("{}.{}", query.domain, query.action),
        path,
        place: match rights.vaults().count() {
            0 | 1 => String::new(),
            _ => format!(" in the vault `{vault}`"),
        },
        needed,
    };
    // The caller's own permissions come first; a grant only takes away.
    if decision.tier >= needed && granted < needed {
        sentence.by_grant(query.domain, granted, granting)
    } else {
        sentence.by_permissions(&decision)
    }
}

/// The tier that an effect needs.
fn needed(effect: Effect) -> Tier {
    match effect {
        Effect::Read => Tier::Read,
        Effect::Write => Tier::Write,
        Effect::Delete => Tier::Delete,
    }
}

/// The parts of an explaining sentence.
struct Sentence<'query> {
    caller: &'query str,
    action: String,
    path: &'query str,
    /// The vault, where the caller has several.
    place: String,
    needed: Tier,
}

impl Sentence<'_> {
    fn by_permissions(&self, decision: &Decision<'_>) -> Explanation {
        let key = decision.stated().map(|said| said.key.clone());
        let glob = decision
            .narrowed
            .as_ref()
            .map(|narrowed| narrowed.glob.to_owned());
        let why = match (&key, &glob) {
            (Some(key), Some(glob)) => {
                format!("the rule for `{glob}` (`{key}`) allows `{}`", decision.tier)
            }
            (Some(key), None) => format!("`{key}` allows `{}`", decision.tier),
            (None, _) => "every caller may list a vault".to_owned(),
        };
        let by = match glob {
            Some(_) => DecidedBy::Rule,
            None => DecidedBy::Notebook,
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
            DecidedBy::Grant,
            Some(key),
            glob.map(str::to_owned),
            granted,
            &why,
        )
    }

    fn explanation(
        &self,
        decided_by: DecidedBy,
        key: Option<String>,
        glob: Option<String>,
        tier: Tier,
        why: &str,
    ) -> Explanation {
        let Sentence {
            caller,
            action,
            path,
            place,
            needed,
        } = self;
        let allowed = tier >= *needed;
        let sentence = match (allowed, tier) {
            (true, _) => {
                format!(
                    "`{caller}` may use `{action}` at `{path}`{place}, which needs `{needed}`: {why}"
                )
            }
            (false, Tier::None) => {
                format!("`{path}`{place} is not visible to `{caller}` with `{action}`: {why}")
            }
            (false, _) => format!(
                "`{caller}` may not use `{action}` at `{path}`{place}, which needs `{needed}`: {why}"
            ),
        };
        Explanation {
            allowed,
            decided_by,
            key,
            glob,
            tier: Some(tier),
            needed: Some(*needed),
            vault: None,
            sentence,
        }
    }
}

impl Explanation {
    fn refused(by: DecidedBy, error: &CallError) -> Explanation {
        Explanation::plain(by, error.message.clone())
    }

    fn plain(decided_by: DecidedBy, sentence: String) -> Explanation {
        Explanation {
            allowed: false,
            decided_by,
            key: None,
            glob: None,
            tier: None,
            needed: None,
            vault: None,
            sentence,
        }
    }

    /// The same for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "allowed": self.allowed,
            "decided_by": self.decided_by.as_str(),
            "key": self.key,
            "glob": self.glob,
            "tier": self.tier,
            "needed": self.needed,
            "vault": self.vault,
            "sentence": self.sentence,
        })
    }
}
