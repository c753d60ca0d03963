//! Lists and sets permissions.

use notehost_sdk::Code;
use serde_json::{Map, json};

use super::super::{CallError, Host};
use super::{AdminArgs, Answer, written};
use notehost_vault::Tier;

pub(super) fn list(host: &Host, caller: Option<&str>) -> Answer {
    let settings = host.settings();
    let permissions = &settings.permissions;
    let mut lines = vec![format!("default: {}", permissions.default.as_str())];
    let notebooks = permissions.notebooks.iter();
    lines.extend(notebooks.map(|(notebook, tier)| format!("{notebook}: {}", tier.as_str())));
    let rules = permissions.rules.iter();
    lines.extend(rules.map(|rule| format!("{} at most {}", rule.glob, rule.tier.as_str())));
    let callers = settings
        .callers
        .iter()
        .filter(|(name, _)| caller.is_none_or(|caller| caller == name.as_str()))
        .map(|(name, own)| (name.clone(), json!(own)));
    let callers: Map<_, _> = callers.collect();
    lines.extend(
        callers
            .keys()
            .map(|name| format!("{name}: own permissions")),
    );
    if settings.read_only {
        lines.push("everything is read-only now".to_owned());
    }
    let told = json!({
        "default": permissions.default,
        "notebooks": permissions.notebooks,
        "rules": permissions.rules,
        "callers": callers,
        "read_only": settings.read_only,
    });
    (lines.join("\n"), told)
}

pub(super) async fn set(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let word = args.text("tier")?;
    let tier: Tier = word
        .parse()
        .map_err(|_| CallError::new(Code::ValidationError, format!("`{word}` is not a tier")))?;
    let (notebook, caller) = (args.maybe("notebook"), args.maybe("caller"));
    written(
        host.edit_config(|edit| edit.set_tier(caller, notebook, tier))
            .await,
    )?;
    let mut told = Map::from_iter([("tier".to_owned(), word.into())]);
    for (name, value) in [("notebook", notebook), ("caller", caller)] {
        if let Some(value) = value {
            told.insert(name.into(), value.into());
        }
    }
    let place = notebook.unwrap_or("notebooks not listed in the config");
    let whom = caller.map_or_else(|| "everybody".to_owned(), |caller| format!("`{caller}`"));
    Ok((
        format!("{whom} has `{word}` in {place} from now on"),
        told.into(),
    ))
}
