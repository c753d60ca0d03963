//! The `stats` action: card counts, retention and the forecast of due cards.

use std::collections::HashSet;

use notehost_sdk::dates;
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::Scheduler;

use crate::collection::{Collection, DueTime, Scope};
use crate::read_actions::{notes_in, rounded, scope};
use crate::review_log;

/// Days of the forecast, and days for which reviews are counted.
const DAYS: usize = 30;
/// Minimum interval of a mature card in days.
const MATURE_DAYS: f64 = 21.0;

/// Learning statistics: retention, reviews, and a forecast of due cards for 30 days.
///
/// Example: `{"deck": "coffee"}`
#[args]
pub struct Stats {
    /// Only cards of this deck.
    pub deck: Option<String>,
}

/// Learning statistics.
#[reply]
pub struct Statistics {
    /// Card counts.
    pub cards: Counts,
    /// Review counts.
    pub reviews: Reviews,
    /// Retention.
    pub retention: Retention,
    /// Due cards by day, starting today; today includes overdue cards.
    pub forecast: Vec<ForecastDay>,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// Card counts.
#[reply]
#[derive(Default)]
pub struct Counts {
    /// All cards.
    pub total: u64,
    /// Never reviewed.
    pub new: u64,
    /// In learning or relearning steps.
    pub learning: u64,
    /// Interval of less than 21 days.
    pub young: u64,
    /// Interval of 21 days or more.
    pub mature: u64,
    /// Suspended.
    pub suspended: u64,
    /// Suspended as leeches, after repeated lapses.
    pub leeches: u64,
    /// Due now.
    pub due: u64,
}

/// Review counts.
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

/// Retention.
#[reply]
pub struct Retention {
    /// Reviews of the last 30 days of cards with an interval of days.
    pub reviews: u64,
    /// Number of these that were remembered.
    pub remembered: u64,
    /// Fraction remembered, 0 to 1; absent without reviews.
    pub rate: Option<f64>,
    /// Predicted fraction remembered now, for cards with FSRS state.
    pub predicted: Option<f64>,
    /// Desired retention.
    pub desired: f64,
}

/// The forecast of a day.
#[reply]
pub struct ForecastDay {
    /// The date.
    pub date: String,
    /// Number of due cards.
    pub due: u64,
}

impl Action for Stats {
    type Output = Statistics;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Statistics> {
        let scope = scope(vault, None, self.deck.as_deref(), None, None)?;
        let collection = Collection::of(vault);
        let notes = notes_in(&collection, &scope)?;
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
                "review" if card.interval().unwrap_or(0.0) >= MATURE_DAYS => counts.mature += 1,
                "review" => counts.young += 1,
                _ => counts.learning += 1,
            }
            let day = match card.due_time(clock) {
                DueTime::Never => None,
                DueTime::At(moment) => Some(clock.day(moment)),
                DueTime::On(day) => Some(day),
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
        let (reviews, passed) = review_counts(&collection, &scope, &notes)?;
        let of = |part: u64, all: u64| (all > 0).then(|| rounded(part as f32 / all as f32));
        Ok(Statistics {
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

    fn text(output: &Statistics) -> String {
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
            "{total} cards: {due} due, {new} new, {suspended} suspended\nlast 30 days: {} reviews, {rate}\nforecast: {forecast}",
            output.reviews.last_30_days
        ) + &unfinished(output.index.as_ref())
    }
}

/// The review counts of a scope, and of reviews after an interval of days: how many were remembered, and their total.
fn review_counts(
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
    for (path, answer) in review_log::reviews_since(collection.vault, since)? {
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
