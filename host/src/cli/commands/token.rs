//! `notehost token`: creates, lists and revokes tokens for HTTP callers. Changes take effect at once in a running server
//! with the same state folder.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::logging;
use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::records;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{CallerPermissions, Loaded, nearest};
use notehost_platform::clock::now_ms;
use notehost_policy::auth::{self, NewToken, Scopes, TokenError, Tokens, VaultBinding};
use notehost_records::when;
use notehost_vault::Tier;

/// Create, list and revoke tokens for HTTP callers.
#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a token; it is printed once and cannot be shown again
    New(New),
    /// List the tokens: permissions, last use, state
    List(List),
    /// Revoke a token; running servers reject it at once
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct New {
    /// The caller's name, as used in the config and the audit log
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Its scopes: read, write, delete, admin; for one domain `document:write`
    #[arg(long, value_name = "LIST", default_value = "read")]
    scopes: Scopes,
    /// Only this vault, by its id; can be repeated [the default vault of the config]
    #[arg(long, value_name = "ID")]
    vault: Vec<String>,
    /// For all vaults, also those that are added later
    #[arg(long, conflicts_with = "vault")]
    all_vaults: bool,
    /// Its tier in a notebook, instead of the config's: none, r, rw or rwd; can be repeated
    #[arg(long, value_name = "NOTEBOOK=TIER", value_parser = permission)]
    permission: Vec<(String, Tier)>,
    /// How long it is valid, such as 12h, 30d or 8w [until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    ttl: Option<Duration>,
    /// Trust its client to ask its user before a destructive change, and to report the answer
    ///
    /// Without it the token is unattended: a program that holds it cannot confirm its own changes. Destructive calls return
    /// `confirmation_required` with the id of an approval, and a person decides elsewhere, e.g. with `notehost approval
    /// approve ID`. Use `--attended` only for clients that show the question to a person, such as a desktop assistant.
    #[arg(long)]
    attended: bool,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Revoke {
    /// The token's name
    name: String,
    #[command(flatten)]
    common: Common,
}

impl Token {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::New(command) => command.run(),
            Command::List(command) => command.run(),
            Command::Revoke(command) => command.run(),
        }
    }
}

impl New {
    fn run(self) -> Result<ExitCode, Failure> {
        if self.scopes.is_empty() {
            return Err(Failure::usage("`--scopes` is empty")
                .with_hint("for example `--scopes read,write`"));
        }
        let (loaded, tokens) = open(self.common)?;
        check_vaults(&loaded, &self.vault)?;
        let mut notebooks = BTreeMap::new();
        for (notebook, tier) in self.permission {
            if notebooks.insert(notebook.clone(), tier).is_some() {
                return Err(Failure::usage(format!(
                    "`--permission` lists `{notebook}` twice"
                )));
            }
        }
        let now = now_ms();
        let new = NewToken {
            name: self.name,
            scopes: self.scopes,
            vaults: match (self.all_vaults, self.vault.is_empty()) {
                (true, _) => VaultBinding::All,
                (false, true) => VaultBinding::Default,
                (false, false) => VaultBinding::Only(self.vault),
            },
            permissions: (!notebooks.is_empty()).then(|| CallerPermissions {
                notebooks,
                ..CallerPermissions::default()
            }),
            expires: self
                .ttl
                .map(|ttl| now.saturating_add(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX))),
            attended: self.attended,
        };
        let secret = tokens.make(&new)?;
        let terminal = Terminal::stdout();
        if self.output.is_json(&terminal) {
            let made = auth::Token {
                made: new,
                created: now,
                last_used: None,
                revoked: None,
            };
            let mut answer = json_of(&made, now);
            answer["token"] = json!(secret);
            print_json(&terminal, answer);
        } else {
            terminal.print(&format!(
                "{}\n{}\n",
                terminal.good(&secret),
                terminal.faint(
                    "The token is shown only once. Clients send it as `Authorization: Bearer …`."
                ),
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl List {
    fn run(self) -> Result<ExitCode, Failure> {
        let (loaded, records) = records::open(self.common)?;
        let tokens = Tokens::new(records, &loaded.running.state);
        let (tokens, now) = (tokens.list()?, now_ms());
        let terminal = Terminal::stdout();
        if self.output.is_json(&terminal) {
            let items: Vec<Value> = tokens.iter().map(|token| json_of(token, now)).collect();
            print_json(&terminal, json!({ "items": items }));
        } else if tokens.is_empty() {
            terminal.print("No tokens. Create one with `notehost token new --name NAME`.\n");
        } else {
            terminal.print(&table(&terminal, &tokens, now));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Revoke {
    fn run(self) -> Result<ExitCode, Failure> {
        let (loaded, records) = records::open(self.common)?;
        let tokens = Tokens::new(records, &loaded.running.state);
        match tokens.revoke(&self.name) {
            Ok(()) => {
                Terminal::stderr().print(&format!("The token `{}` is revoked.\n", self.name));
                Ok(ExitCode::SUCCESS)
            }
            Err(error @ TokenError::Unknown(_)) => {
                let listed = tokens.list()?;
                let names = listed.iter().map(|token| token.made.name.as_str());
                let hint = match nearest(&self.name, names) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => "`notehost token list` shows the tokens".to_owned(),
                };
                Err(Failure::from(error).with_hint(hint))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        let words = error.to_string();
        match error {
            TokenError::NameTaken(_) => Failure::usage(words)
                .with_hint("choose another name; names are not reused, even after revocation"),
            TokenError::BadName(_) => Failure::usage(words),
            TokenError::Unknown(_) => Failure::call(words),
            TokenError::File { .. } | TokenError::Random(_) | TokenError::Records(_) => {
                Failure::start(words)
            }
        }
    }
}

fn open(common: Common) -> Result<(Loaded, Tokens), Failure> {
    let loaded = options::load(common.given())?;
    logging::start(&loaded.running, "warn")?;
    let records = notehost_records::open(&loaded.running.state)?;
    let tokens = Tokens::new(records, &loaded.running.state);
    Ok((loaded, tokens))
}

/// Checks the vault ids, if a config lists vaults; otherwise `serve` may get its vault on the command line.
fn check_vaults(loaded: &Loaded, ids: &[String]) -> Result<(), Failure> {
    let known: Vec<&str> = loaded
        .settings
        .vaults
        .iter()
        .map(|vault| vault.id.as_str())
        .collect();
    match ids.iter().find(|id| !known.contains(&id.as_str())) {
        Some(id) if !known.is_empty() => Err(Failure::usage(format!("unknown vault `{id}`"))
            .with_hint(format!("configured vaults: {}", known.join(", ")))),
        _ => Ok(()),
    }
}

fn permission(text: &str) -> Result<(String, Tier), String> {
    let (notebook, tier) = text
        .split_once('=')
        .ok_or_else(|| format!("invalid permission `{text}`: expected for example `Work=rw`"))?;
    if notebook.is_empty() || notebook.contains(['/', '\\']) {
        return Err(format!(
            "`{notebook}` is not a notebook: expected the name of a top-level folder, or `.` for notes in the root"
        ));
    }
    let tier = tier.parse::<Tier>().map_err(|error| error.to_string())?;
    Ok((notebook.to_owned(), tier))
}

fn lifetime(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "invalid duration `{text}`: expected a number and s, m, h, d or w, such as `12h` or `30d`"
        )
    };
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    match number {
        0 => Err(wrong()),
        _ => Ok(Duration::from_secs(u64::from(number) * seconds)),
    }
}

/// The state of a token.
fn state(token: &auth::Token, now: i64) -> &'static str {
    match (token.revoked, token.made.expires) {
        (Some(_), _) => "revoked",
        (None, Some(expires)) if expires <= now => "expired",
        _ => "active",
    }
}

fn json_of(token: &auth::Token, now: i64) -> Value {
    let made = &token.made;
    let permissions = made.permissions.as_ref();
    json!({
        "name": made.name,
        "state": state(token, now),
        "scopes": made.scopes.words(),
        "vaults": match &made.vaults {
            VaultBinding::Default => json!("default"),
            VaultBinding::All => json!("all"),
            VaultBinding::Only(ids) => json!(ids),
        },
        "permissions": permissions.map(|permissions| &permissions.notebooks),
        "attended": made.attended,
        "created": when::iso(token.created),
        "expires": made.expires.map(when::iso),
        "last_used": token.last_used.map(when::iso),
        "revoked": token.revoked.map(when::iso),
    })
}

fn table(terminal: &Terminal, tokens: &[auth::Token], now: i64) -> String {
    let rows = tokens.iter().map(|token| {
        let made = &token.made;
        let permissions = made.permissions.as_ref().map(|permissions| {
            let notebooks = permissions.notebooks.iter();
            let words: Vec<String> = notebooks
                .map(|(notebook, tier)| format!("{notebook}={tier}"))
                .collect();
            words.join(" ")
        });
        vec![
            made.name.clone(),
            state(token, now).to_owned(),
            made.scopes.to_string(),
            match &made.vaults {
                VaultBinding::Default => "the default one".to_owned(),
                VaultBinding::All => "all".to_owned(),
                VaultBinding::Only(ids) => ids.join(" "),
            },
            permissions.unwrap_or_default(),
            if made.attended { "yes" } else { "no" }.to_owned(),
            when::ago(token.created, now),
            token
                .last_used
                .map_or_else(|| "never".to_owned(), |time| when::ago(time, now)),
            made.expires
                .map_or_else(|| "never".to_owned(), |time| when::ago(time, now)),
        ]
    });
    terminal.table(
        &[
            "name",
            "state",
            "scopes",
            "vaults",
            "permissions",
            "attended",
            "made",
            "last used",
            "expires",
        ],
        rows,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_a_unit() {
        assert_eq!(lifetime("12h"), Ok(Duration::from_secs(43_200)));
        assert_eq!(lifetime("30d"), Ok(Duration::from_secs(2_592_000)));
        for wrong in [
            "",
            "d",
            "12",
            "0d",
            "-1d",
            "1.5h",
            "30 d",
            "5y",
            "9999999999d",
            "3ä",
        ] {
            assert!(lifetime(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn permissions_name_a_notebook_and_a_tier() {
        assert_eq!(permission("Work=rw"), Ok(("Work".into(), Tier::Write)));
        assert_eq!(permission(".=none"), Ok((".".into(), Tier::None)));
        for wrong in ["Work", "=rw", "Work=", "Work=x", "Work/Sub=r"] {
            assert!(permission(wrong).is_err(), "{wrong}");
        }
    }
}
