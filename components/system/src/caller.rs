//! Who calls, and what time it is where the owner lives.

use notehost_sdk::dates::Moment;
use notehost_sdk::pages::counted;
use notehost_sdk::{Kind, prelude::*};

/// Who you are here: your name, scopes, what you may do in each notebook, how many calls you have left.
///
/// Example: `{}`
#[args]
pub struct Whoami {}

/// A caller.
#[reply]
pub struct Identity {
    /// The name that the records have.
    pub name: String,
    /// What you may do at all.
    pub scopes: Vec<String>,
    /// The only vault you may use, if the server has more.
    pub bound_to: Option<String>,
    /// What you may do in each notebook: `r`, `rw` or `rwd`.
    pub tiers: Vec<NotebookTier>,
    /// How many of your calls succeeded so far in this vault.
    pub calls: u64,
    /// How many calls you can make now; empty where you are not limited.
    pub limits: Vec<Limit>,
}

/// What a caller may do in a notebook.
#[reply]
pub struct NotebookTier {
    /// Its folder; `.` is the vault's root.
    pub path: String,
    /// `r`, `rw` or `rwd`.
    pub tier: String,
}

/// How many calls are left.
#[reply]
pub struct Limit {
    /// Of which effect.
    pub effect: String,
    /// How many at once, now.
    pub left: u32,
    /// How many a minute.
    pub per_minute: u32,
}

impl Action for Whoami {
    type Output = Identity;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Identity> {
        let caller = vault.caller()?;
        let folders = vault.list_all("", false)?.into_iter();
        let folders = folders
            .filter(|entry| entry.kind == Kind::Folder)
            .map(|entry| (entry.path.clone(), vault.access(&entry.path)));
        // Notes in the root are a notebook of their own; what may be done there is asked with the name of one.
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
            tiers: tiers
                .filter(|(_, tier)| *tier > Tier::None)
                .map(|(path, tier)| NotebookTier {
                    path,
                    tier: tier.word().to_owned(),
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
            [] => "not limited".to_owned(),
            limits => format!("left a minute: {}", limits.join(", ")),
        };
        format!(
            "{}, may {}\nnotebooks: {}\n{} so far; {limits}",
            output.name,
            output.scopes.join(", "),
            tiers.join(", "),
            counted(output.calls, "call")
        )
    }
}

/// What time and which day it is where the owner of the notes lives.
///
/// Example: `{"format": "dddd, D MMMM YYYY"}`
#[args]
pub struct Time {
    /// Also in this Moment.js format, such as `dddd, D MMMM YYYY`.
    pub format: Option<String>,
}

/// A moment.
#[reply]
pub struct TimeTold {
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
    /// The time zone, where it is known.
    pub zone: Option<String>,
    /// How far local time is ahead of UTC.
    pub offset_minutes: i32,
    /// Since 1970.
    pub milliseconds: u64,
    /// In the format that was asked for.
    pub formatted: Option<String>,
}

impl Action for Time {
    type Output = TimeTold;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<TimeTold> {
        let now = vault.now();
        let local = Moment::local(&now);
        if self
            .format
            .as_ref()
            .is_some_and(|format| format.len() > 200)
        {
            return Err(Error::validation("`format` has at most 200 bytes"));
        }
        Ok(TimeTold {
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

    fn text(output: &TimeTold) -> String {
        let zone = output.zone.as_deref().unwrap_or("local time");
        let shown = output.formatted.as_ref().unwrap_or(&output.local);
        format!("{shown}, {}, {} ({zone})", output.weekday, output.week)
    }
}
