//! How learning goes: how many cards there are, how much is remembered, and what the next days bring.

use std::collections::HashSet;

use notehost_sdk::dates;
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::Scheduler;

use crate::collection::{Collection, Scope, When};
use crate::journal;
use crate::looking::{no_deck, rounded, scope};

/// How many days the forecast tells, and how many days of answers are counted.
const DAYS: usize = 30;
/// From which interval on a card counts as well known, in days.
const MATURE: f64 = 21.0;

/// Learning statistics: retention, reviews, and a forecast of due cards for 30 days.
///
/// Example: `{"deck": "coffee"}`
#[args]
pub struct Stats {
    /// Only of this deck.
    pub deck: Option<String>,
}

/// How learning goes.
#[reply]
pub struct Told {
    /// How many cards there are.
    pub cards: Counts,
    /// What was answered.
    pub reviews: Reviews,
    /// How much is remembered.
    pub retention: Retention,
    /// Cards that come due, day by day, beginning today with all that is overdue.
    pub forecast: Vec<ForecastDay>,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// How many cards there are.
#[reply]
#[derive(Default)]
pub struct Counts {
    /// All.
    pub total: u64,
    /// Never asked.
    pub new: u64,
    /// In their first steps, or in steps after being forgotten.
    pub learning: u64,
    /// Asked after less than 21 days.
    pub young: u64,
    /// Asked after 21 days or more.
    pub mature: u64,
    /// Not asked.
    pub suspended: u64,
    /// Of these: forgotten again and again.
    pub leeches: u64,
    /// To be asked now.
    pub due: u64,
}

/// How many answers were given.
#[reply]
#[derive(Default)]
pub struct Reviews {
    /// Today.
    pub today: u64,
    /// In the last 7 days.
    pub last_7_days: u64,
    /// In the last 30 days.
    pub last_30_days: u64,
}

/// How much is remembered.
#[reply]
pub struct Retention {
    /// Answers of the last 30 days to cards that came due after days.
    pub reviews: u64,
    /// How many of these were remembered.
    pub remembered: u64,
    /// The share, of 1; not told without answers.
    pub rate: Option<f64>,
    /// What share is likely remembered now, of all cards that FSRS knows.
    pub predicted: Option<f64>,
    /// What is aimed at.
    pub desired: f64,
}

/// What a day brings.
#[reply]
pub struct ForecastDay {
    /// The day.
    pub date: String,
    /// How many cards.
    pub due: u64,
}

impl Action for Stats {
    type Output = Told;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Told> {
        let scope = scope(vault, None, self.deck.as_deref(), None, None)?;
        let collection = Collection::of(vault);
        let notes = collection.notes(&scope)?;
        if notes.is_empty()
            && let Scope::Deck(deck) = &scope
        {
            return Err(no_deck(&collection, deck)?);
        }
        let clock = &collection.clock;
        let today = clock.today();
        let mut counts = Counts::default();
        let mut forecast = vec![0; DAYS];
        let mut likely = Vec::new();
        for card in notes.iter().flat_map(|loaded| &loaded.cards) {
            counts.total += 1;
            counts.due += u64::from(card.is_due(clock));
            if card.record.suspended {
                counts.suspended += 1;
                counts.leeches += u64::from(card.record.leech);
                continue;
            }
            match card.state() {
                "new" | "unreadable" => counts.new += 1,
                "review" if card.interval().unwrap_or(0.0) >= MATURE => counts.mature += 1,
                "review" => counts.young += 1,
                _ => counts.learning += 1,
            }
            let day = match card.when(clock) {
                When::Never => None,
                When::At(moment) => Some(clock.day(moment)),
                When::On(day) => Some(day),
            };
            let ahead = day.and_then(|day| usize::try_from((day - today).max(0)).ok());
            if let Some(count) = ahead.and_then(|ahead| forecast.get_mut(ahead)) {
                *count += 1;
            }
            if let Some(memory) = card.memory() {
                let days = card.last().map_or(0, |last| clock.days_since(last));
                likely.push(Scheduler::retrievability(memory, days));
            }
        }
        let (reviews, passed) = answered(&collection, &scope, &notes)?;
        let of = |part: u64, all: u64| (all > 0).then(|| rounded(part as f32 / all as f32));
        Ok(Told {
            cards: counts,
            reviews,
            retention: Retention {
                reviews: passed.1,
                remembered: passed.0,
                rate: of(passed.0, passed.1),
                predicted: (!likely.is_empty())
                    .then(|| rounded(likely.iter().sum::<f32>() / likely.len() as f32)),
                desired: rounded(collection.records.retention()?),
            },
            forecast: (today..)
                .zip(forecast)
                .map(|(day, due)| ForecastDay {
                    date: dates::date(day),
                    due,
                })
                .collect(),
            index: building(vault),
        })
    }

    fn text(output: &Told) -> String {
        let Counts {
            total,
            new,
            due,
            suspended,
            ..
        } = output.cards;
        let rate = match output.retention.rate {
            Some(rate) => format!(
                "{:.0} % of {} remembered",
                rate * 100.0,
                output.retention.reviews
            ),
            None => "no reviews yet".to_owned(),
        };
        let days: Vec<String> = output
            .forecast
            .iter()
            .filter(|day| day.due > 0)
            .map(|day| format!("{} {}", day.date, day.due))
            .collect();
        let forecast = if days.is_empty() {
            "nothing".to_owned()
        } else {
            days.join(", ")
        };
        format!(
            "{total} cards: {due} due, {new} new, {suspended} suspended\nlast 30 days: {} answers, {rate}\nforecast: {forecast}",
            output.reviews.last_30_days
        ) + &unfinished(output.index.as_ref())
    }
}

/// What was answered in a scope; of answers after days: how many were remembered, of how many.
fn answered(
    collection: &Collection<'_>,
    scope: &Scope,
    notes: &[crate::collection::CardNote],
) -> Result<(Reviews, (u64, u64))> {
    let clock = &collection.clock;
    let since = clock.now.saturating_sub((DAYS as i64 + 1) * dates::DAY);
    let handles: HashSet<String> = match scope {
        Scope::All => HashSet::new(),
        _ => notes
            .iter()
            .flat_map(|loaded| &loaded.cards)
            .map(crate::collection::Card::handle)
            .collect(),
    };
    let mut reviews = Reviews::default();
    let (mut remembered, mut all) = (0, 0);
    for (path, answer) in journal::answers(collection.vault, since)? {
        let days = clock.today() - clock.day(answer.time);
        if days >= DAYS as i64
            || *scope != Scope::All && !handles.contains(&format!("{path}#{}", answer.id))
        {
            continue;
        }
        reviews.today += u64::from(days == 0);
        reviews.last_7_days += u64::from(days < 7);
        reviews.last_30_days += 1;
        if answer.review {
            all += 1;
            remembered += u64::from(answer.rating > 1);
        }
    }
    Ok((reviews, (remembered, all)))
}
