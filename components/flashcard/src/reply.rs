//! Cards in replies, and their text form.

use notehost_sdk::dates;
use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::{Interval, Rating, Scheduler};

use crate::collection::{Card, CardNote, Collection, DueTime};

/// Maximum length of a side in lists, in characters.
const MAX_LISTED_CHARS: usize = 300;

/// A flashcard.
#[reply]
pub struct CardItem {
    /// Its id, to pass as `card`.
    pub card: String,
    /// Its note.
    pub path: String,
    /// Its first line in the file, 1-based.
    pub line: usize,
    /// Its deck.
    pub deck: Option<String>,
    /// The question.
    pub front: String,
    /// The answer.
    pub back: String,
    /// `new`, `learning`, `review`, `relearning`; `unreadable` if the schedule in the note is invalid.
    pub state: String,
    /// When it is due: a date, or a local time within a day.
    pub due: Option<String>,
    /// Days between the last review and the due date.
    pub interval_days: Option<f64>,
    /// Its number among sibling cards, 1-based; absent without siblings.
    pub sibling: Option<usize>,
    /// Present and true if it is suspended.
    pub suspended: Option<bool>,
    /// Present and true if it was suspended as a leech, after repeated lapses.
    pub leech: Option<bool>,
}

/// A card for a list: long texts are cut.
pub(crate) fn item(loaded: &CardNote, card: &Card, collection: &Collection<'_>) -> CardItem {
    let mut item = full_item(loaded, card, collection);
    for text in [&mut item.front, &mut item.back] {
        if let Some((at, _)) = text.char_indices().nth(MAX_LISTED_CHARS) {
            text.truncate(at);
            text.push('…');
        }
    }
    item
}

/// A card with its full texts.
pub(crate) fn full_item(loaded: &CardNote, card: &Card, collection: &Collection<'_>) -> CardItem {
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
        due: due(card.due_time(&collection.clock), collection),
        interval_days: card.interval(),
        sibling: (question.sides.len() > 1).then_some(card.sibling + 1),
        suspended: card.record.suspended.then_some(true),
        leech: (card.record.leech && card.record.suspended).then_some(true),
    }
}

/// The due date as text.
pub(crate) fn due(when: DueTime, collection: &Collection<'_>) -> Option<String> {
    match when {
        DueTime::Never => None,
        DueTime::At(moment) => Some(collection.clock.local_time(moment)),
        DueTime::On(day) => Some(dates::date(day)),
    }
}

/// A card as a line of text.
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

/// The next interval for each rating.
#[reply]
pub struct Previews {
    /// For 1: forgotten.
    pub again: String,
    /// For 2: remembered with effort.
    pub hard: String,
    /// For 3: remembered.
    pub good: String,
    /// For 4: remembered instantly.
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
            "the scheduler rejected the retention parameter",
        )
    })
}

/// The next interval for each rating; `None` if the schedule is invalid.
pub(crate) fn previews(
    loaded: &CardNote,
    card: &Card,
    collection: &Collection<'_>,
) -> Result<Option<Previews>> {
    let scheduler = scheduler(loaded, collection)?;
    let preview = |rating| {
        let next =
            crate::review::review_outcome(loaded, card, rating, &scheduler, collection).ok()?;
        Some(span(next.interval))
    };
    let [Some(again), Some(hard), Some(good), Some(easy)] = Rating::ALL.map(preview) else {
        return Ok(None);
    };
    Ok(Some(Previews {
        again,
        hard,
        good,
        easy,
    }))
}

/// An interval as text.
pub(crate) fn span(interval: Interval) -> String {
    match interval {
        Interval::Soon(wait) => format!("{} min", (wait / 60_000).max(1)),
        Interval::Days(0) => "today".to_owned(),
        Interval::Days(1) => "1 day".to_owned(),
        Interval::Days(days) => format!("{days} days"),
    }
}
