//! The identity of the caller, and the owner's local time.

use notehost_sdk::dates::Moment;
use notehost_sdk::pages::counted;
use notehost_sdk::{Kind, prelude::*};

/// Who you are here: your name, scopes, permissions in each notebook, rate limits, how many calls you have left.
///
/// Example: `{}`
#[args]
pub struct Whoami {}

/// A caller.
#[reply]
pub struct Identity {
    /// The caller name in the logs.
    pub name: String,
    /// Your scopes.
    pub scopes: Vec<String>,
    /// The only vault you may use, if the server has several.
    pub bound_to: Option<String>,
    /// The vault of this call.
    pub vault: String,
    /// The vaults you may use; a call that names none goes to the first.
    pub vaults: Vec<String>,
    /// Your permission in each notebook of this vault: `r`, `rw` or `rwd`.
    pub tiers: Vec<NotebookTier>,
    /// Number of your successful calls in this vault so far.
    pub calls: u64,
    /// Your rate limits; empty if there are none.
    pub limits: Vec<Limit>,
}

/// A caller's permission in a notebook.
#[reply]
pub struct NotebookTier {
    /// Its folder; `.` is the vault's root.
    pub path: String,
    /// `r`, `rw` or `rwd`.
    pub tier: String,
}

/// A rate limit.
#[reply]
pub struct Limit {
    /// The effect of the calls.
    pub effect: String,
    /// Calls left now.
    pub left: u32,
    /// Calls per minute.
    pub per_minute: u32,
}

impl Action for Whoami {
    type Output = Identity;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Identity> {
        let (caller, about) = (vault.caller()?, vault.about()?);
        let folders = vault.list_all("", false)?.into_iter();
        let folders = folders
            .filter(|entry| entry.kind == Kind::Folder)
            .map(|entry| (entry.path.clone(), vault.access(&entry.path)));
        // Notes in the root are a notebook of their own; query its access with the path of a note.
        let root = [(".".to_owned(), vault.access("note.md"))];
        let tiers = root.into_iter().chain(folders);
        let limits = caller.limits.into_iter().map(|limit| Limit {
            effect: limit.effect,
            left: limit.left,
            per_minute: limit.per_minute,
        });
        Ok(Identity {
            name: caller.name,
            scopes: caller.scopes,
            bound_to: caller.bound_to,
            vault: about.vault,
            vaults: about.vaults,
            tiers: tiers
                .filter(|(_, tier)| *tier > Tier::None)
                .map(|(path, tier)| NotebookTier {
                    path,
                    tier: tier.as_str().to_owned(),
                })
                .collect(),
            calls: caller.calls,
            limits: limits.collect(),
        })
    }

    fn text(output: &Identity) -> String {
        let tiers: Vec<String> = output
            .tiers
            .iter()
            .map(|notebook| format!("{} ({})", notebook.path, notebook.tier))
            .collect();
        let limits: Vec<String> = output
            .limits
            .iter()
            .map(|limit| {
                format!(
                    "{} of {} {} calls",
                    limit.left, limit.per_minute, limit.effect
                )
            })
            .collect();
        let limits = match limits.as_slice() {
            [] => "no rate limit".to_owned(),
            limits => format!("left per minute: {}", limits.join(", ")),
        };
        let vaults = match output.vaults.as_slice() {
            [] | [_] => String::new(),
            several => format!("\nvaults, the default one first: {}", several.join(", ")),
        };
        format!(
            "{}, scopes: {}{vaults}\nnotebooks: {}\n{} so far; {limits}",
            output.name,
            output.scopes.join(", "),
            tiers.join(", "),
            counted(output.calls, "call")
        )
    }
}

/// Current time: date and day of the week where the owner of the notes lives.
///
/// Example: `{"format": "dddd, D MMMM YYYY"}`
#[args]
pub struct Time {
    /// An additional Moment.js format, such as `dddd, D MMMM YYYY`.
    pub format: Option<String>,
}

/// A point in time.
#[reply]
pub struct CurrentTime {
    /// Local time with its offset.
    pub local: String,
    /// The same in UTC.
    pub utc: String,
    /// The local day.
    pub date: String,
    /// The day of the week.
    pub weekday: String,
    /// The ISO week, such as `2026-W47`.
    pub week: String,
    /// The time zone, if known.
    pub zone: Option<String>,
    /// The UTC offset of local time.
    pub offset_minutes: i32,
    /// Unix time.
    pub milliseconds: u64,
    /// The time in the requested `format`.
    pub formatted: Option<String>,
}

impl Action for Time {
    type Output = CurrentTime;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<CurrentTime> {
        let now = vault.now();
        let local = Moment::local(&now);
        if self
            .format
            .as_ref()
            .is_some_and(|format| format.len() > 200)
        {
            return Err(Error::validation("`format` must not exceed 200 bytes"));
        }
        Ok(CurrentTime {
            local: local.iso(),
            utc: Moment::at(now.milliseconds).iso(),
            date: local.format("YYYY-MM-DD"),
            weekday: local.format("dddd"),
            week: local.format("GGGG-[W]WW"),
            zone: now.zone,
            offset_minutes: now.offset_minutes,
            milliseconds: now.milliseconds,
            formatted: self.format.map(|format| local.format(&format)),
        })
    }

    fn text(output: &CurrentTime) -> String {
        let zone = output.zone.as_deref().unwrap_or("local time");
        let shown = output.formatted.as_ref().unwrap_or(&output.local);
        format!("{shown}, {}, {} ({zone})", output.weekday, output.week)
    }
}
