//! A card as it is told.

use notehost_sdk::dates;
use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::{Interval, Rating, Scheduler};

use crate::collection::{Card, CardNote, Collection, When};

/// How much of a card's texts a list tells, in characters.
const LISTED: usize = 300;

/// A card of a list.
#[reply]
pub struct CardItem {
    /// Names it for other actions.
    pub card: String,
    /// Its note.
    pub path: String,
    /// The line of the file on which it begins, from 1.
    pub line: usize,
    /// Its deck.
    pub deck: Option<String>,
    /// What is asked.
    pub front: String,
    /// What is to be answered.
    pub back: String,
    /// `new`, `learning`, `review`, `relearning`; `unreadable` if the schedule in the note cannot be read.
    pub state: String,
    /// When it is asked: a day, or a local time within a day.
    pub due: Option<String>,
    /// The days between the last answer and that day.
    pub interval_days: Option<f64>,
    /// Which of the cards of its passage it is, from 1; only where there are several.
    pub sibling: Option<usize>,
    /// Only if it is: not asked until it is resumed.
    pub suspended: Option<bool>,
    /// Only if it is: it was suspended because it was forgotten again and again.
    pub leech: Option<bool>,
}

/// A card as a list tells it: long texts are cut.
pub(crate) fn item(loaded: &CardNote, card: &Card, collection: &Collection<'_>) -> CardItem {
    let mut item = whole(loaded, card, collection);
    for text in [&mut item.front, &mut item.back] {
        if let Some((at, _)) = text.char_indices().nth(LISTED) {
            text.truncate(at);
            text.push('…');
        }
    }
    item
}

/// A card with all of its texts.
pub(crate) fn whole(loaded: &CardNote, card: &Card, collection: &Collection<'_>) -> CardItem {
    let question = loaded.question(card);
    let side = &question.sides[card.sibling];
    CardItem {
        card: card.handle(),
        path: card.path.clone(),
        line: question.line,
        deck: card.deck.clone(),
        front: side.front.clone(),
        back: side.back.clone(),
        state: card.state().to_owned(),
        due: due(card.when(&collection.clock), collection),
        interval_days: card.interval(),
        sibling: (question.sides.len() > 1).then_some(card.sibling + 1),
        suspended: card.record.suspended.then_some(true),
        leech: (card.record.leech && card.record.suspended).then_some(true),
    }
}

/// When a card is asked, in words.
pub(crate) fn due(when: When, collection: &Collection<'_>) -> Option<String> {
    match when {
        When::Never => None,
        When::At(moment) => Some(collection.clock.shown(moment)),
        When::On(day) => Some(dates::date(day)),
    }
}

/// A line of a text.
pub(crate) fn line(item: &CardItem) -> String {
    let one_line = |text: &str| text.replace('\n', " / ");
    let due = item
        .due
        .as_ref()
        .map_or_else(String::new, |due| format!(", due {due}"));
    let rest = if item.suspended.is_some() {
        ", suspended"
    } else {
        ""
    };
    format!(
        "- {} → {}  ({}{due}{rest}) `{}`",
        one_line(&item.front),
        one_line(&item.back),
        item.state,
        item.card
    )
}

/// When a card would be asked again after each answer.
#[reply]
pub struct Previews {
    /// After 1: forgotten.
    pub again: String,
    /// After 2: remembered with effort.
    pub hard: String,
    /// After 3: remembered.
    pub good: String,
    /// After 4: known at once.
    pub easy: String,
}

/// A scheduler for the cards of a note.
pub(crate) fn scheduler(loaded: &CardNote, collection: &Collection<'_>) -> Result<Scheduler> {
    let retention = match loaded.retention {
        Some(retention) => retention,
        None => collection.records.retention()?,
    };
    Scheduler::new(retention).ok_or_else(|| {
        Error::new(
            Code::InternalError,
            "the scheduler refuses its own parameters",
        )
    })
}

/// What each answer would bring; nothing where the schedule cannot be read.
pub(crate) fn previews(
    loaded: &CardNote,
    card: &Card,
    collection: &Collection<'_>,
) -> Result<Option<Previews>> {
    let scheduler = scheduler(loaded, collection)?;
    let told = |rating| {
        let next = crate::reviewing::answered(loaded, card, rating, &scheduler, collection).ok()?;
        Some(span(next.interval))
    };
    let [Some(again), Some(hard), Some(good), Some(easy)] = Rating::ALL.map(told) else {
        return Ok(None);
    };
    Ok(Some(Previews {
        again,
        hard,
        good,
        easy,
    }))
}

/// An interval in words.
pub(crate) fn span(interval: Interval) -> String {
    match interval {
        Interval::Soon(wait) => format!("{} min", (wait / 60_000).max(1)),
        Interval::Days(0) => "today".to_owned(),
        Interval::Days(1) => "1 day".to_owned(),
        Interval::Days(days) => format!("{days} days"),
    }
}
