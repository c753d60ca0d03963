//! The actions `review`, `skip` and `undo`. A schedule is written back in its format and to its location.

use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::{Interval, Rating, Scheduler};
use notehost_sdk::text::splice::{self, Splice};

use crate::collection::{Card, CardNote, Collection, NoteSchedule};
use crate::comment::{Entry, Fsrs};
use crate::records::Record;
use crate::reply::{CardItem, due, full_item, scheduler, span};
use crate::review_log::{self, Undo};
use crate::sm2;

/// Number of lapses that make a card a leech.
const LEECH_LAPSES: u32 = 8;

/// Answer a flashcard: rate how well it was remembered, and reschedule it (FSRS, or SM-2 if its note uses that).
///
/// Example: `{"card": "Coffee/Brewing flashcards.md#4b9ce0bb", "rating": 3}`
#[args]
pub struct Review {
    /// The card id from `next` or `list`.
    pub card: String,
    /// 1 again (forgotten), 2 hard, 3 good, 4 easy.
    pub rating: u64,
}

/// The new schedule of a reviewed card.
#[reply]
pub struct ReviewResult {
    /// The card id.
    pub card: String,
    /// Its note.
    pub path: String,
    /// The rating, 1 to 4.
    pub rating: u8,
    /// Its state: `learning`, `review` or `relearning`.
    pub state: String,
    /// When it is due: a date, or a local time within a day.
    pub due: Option<String>,
    /// Days until it is due; 0 within a day.
    pub interval_days: u32,
    /// `fsrs` or `sm2`.
    pub scheduler: String,
    /// Where the schedule is stored: `note` or `store`.
    pub kept_in: String,
    /// Present and true if it was suspended as a leech, after repeated lapses.
    pub leech: Option<bool>,
}

/// The result of a review.
pub(crate) struct ReviewOutcome {
    /// The schedule to write to the note, if it is stored there.
    entry: Option<Entry>,
    record: Record,
    pub(crate) interval: Interval,
    lapsed: bool,
}

/// Computes the result of a review.
pub(crate) fn review_outcome(
    loaded: &CardNote,
    card: &Card,
    rating: Rating,
    scheduler: &Scheduler,
    collection: &Collection<'_>,
) -> Result<ReviewOutcome> {
    let clock = &collection.clock;
    let mut record = card.record.clone();
    record.reps = record.reps.saturating_add(1);
    record.last = clock.now;
    record.skipped = 0;
    let is_review = card.state() == "review";
    let lapsed = is_review && rating == Rating::Again;
    record.lapses = record.lapses.saturating_add(u32::from(lapsed));
    let comment = loaded.question(card).schedule.as_ref();
    let in_fsrs = comment.is_some_and(|comment| comment.is_fsrs(&loaded.note.text));
    let by_model = |days: u32| {
        let next = scheduler.review(card.memory(), days, rating, Some(seed(card)));
        next.ok_or_else(|| unreadable(loaded, card))
    };
    let days = card.last().map_or(0, |last| clock.days_since(last));
    let (entry, interval) = match &card.note_schedule {
        NoteSchedule::Unreadable => return Err(unreadable(loaded, card)),
        NoteSchedule::Absent => {
            let (memory, interval) = by_model(days)?;
            record.memory = Some(memory);
            (record.due, record.day, record.interval) = match interval {
                Interval::Soon(wait) => {
                    let due = clock.now.saturating_add(wait as i64);
                    (due, clock.day(due), 0)
                }
                Interval::Days(days) => (0, clock.today() + i64::from(days), days),
            };
            (None, interval)
        }
        NoteSchedule::Entry(Entry::Fsrs(fsrs)) => {
            let (memory, interval) = by_model(days)?;
            (
                Some(Entry::Fsrs(fsrs.after(memory, interval, clock.now, lapsed))),
                interval,
            )
        }
        NoteSchedule::Entry(Entry::New) if in_fsrs => {
            let fresh = Fsrs {
                due: clock.now,
                interval: 0,
                memory: None,
                reps: 0,
                lapses: 0,
                last: None,
                rest: String::new(),
            };
            let (memory, interval) = by_model(0)?;
            (
                Some(Entry::Fsrs(fresh.after(memory, interval, clock.now, false))),
                interval,
            )
        }
        NoteSchedule::Entry(old) => {
            let before = match old {
                Entry::Sm2(before) => Some(before),
                _ => None,
            };
            let next = sm2::review(before, rating, clock.today());
            let days = u32::try_from(next.due - clock.today()).unwrap_or(0);
            (Some(Entry::Sm2(next)), Interval::Days(days))
        }
    };
    Ok(ReviewOutcome {
        entry,
        record,
        interval,
        lapsed,
    })
}

/// The seed of interval fuzz: deterministic for a card and its number of reviews.
fn seed(card: &Card) -> u64 {
    let digest = blake3::hash(format!("{}\0{}", card.id, card.reps()).as_bytes());
    digest.as_bytes()[..8]
        .iter()
        .fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

fn unreadable(loaded: &CardNote, card: &Card) -> Error {
    let question = loaded.question(card);
    Error::unsupported(format!(
        "the schedule of the card on line {} of `{}` is invalid: repair its `<!--SR:…-->` comment, or delete the comment to start over",
        question.line, loaded.note.path
    ))
}

impl Action for Review {
    type Output = ReviewResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ReviewResult> {
        let rating = Rating::of_number(self.rating).ok_or_else(|| {
            Error::validation(format!(
                "`rating` is {}: it must be 1 (again), 2 (hard), 3 (good) or 4 (easy)",
                self.rating
            ))
        })?;
        let collection = Collection::of(vault);
        let (loaded, card) = collection.card(&self.card)?;
        if card.record.suspended {
            return Err(Error::conflict(format!(
                "the card `{}` is suspended: `resume` it first",
                card.handle()
            )));
        }
        let scheduler = scheduler(&loaded, &collection)?;
        let mut next = review_outcome(&loaded, &card, rating, &scheduler, &collection)?;
        let lapses = match &next.entry {
            Some(Entry::Fsrs(fsrs)) => fsrs.lapses,
            _ => next.record.lapses,
        };
        let leech =
            next.lapsed && lapses >= LEECH_LAPSES && lapses.is_multiple_of(LEECH_LAPSES / 2);
        if leech {
            next.record.suspended = true;
            next.record.leech = true;
        }
        let comment = match &next.entry {
            Some(entry) => Some(write_back(vault, &loaded, &card, entry, &collection)?),
            None => None,
        };
        let before = match &card.record_path {
            Some(path) => {
                let kept = vault_record(&collection, path, &card.id)?;
                kept.map(|record| (path.clone(), record))
            }
            None => None,
        };
        collection.save_record(&card, next.record.clone())?;
        collection.records.save()?;
        let undo = Undo {
            time: collection.clock.now,
            path: card.path.clone(),
            id: card.id.clone(),
            before,
            comment,
        };
        review_log::append(vault, undo, rating.number(), card.state() == "review")?;
        let after = Card {
            record: next.record,
            note_schedule: next
                .entry
                .clone()
                .map_or(NoteSchedule::Absent, NoteSchedule::Entry),
            ..card
        };
        Ok(ReviewResult {
            card: after.handle(),
            path: after.path.clone(),
            rating: rating.number(),
            state: after.state().to_owned(),
            due: due(after.due_time(&collection.clock), &collection),
            interval_days: match next.interval {
                Interval::Soon(_) => 0,
                Interval::Days(days) => days,
            },
            scheduler: if matches!(next.entry, Some(Entry::Sm2(_))) {
                "sm2"
            } else {
                "fsrs"
            }
            .to_owned(),
            kept_in: if next.entry.is_some() {
                "note"
            } else {
                "store"
            }
            .to_owned(),
            leech: leech.then_some(true),
        })
    }

    fn text(output: &ReviewResult) -> String {
        let due = output.due.as_deref().unwrap_or("never");
        let days = span(Interval::Days(output.interval_days));
        ReplyText::new(format!("{}: due {due} ({days})", output.state))
            .line_if(output.leech.is_some().then_some("this card is a leech (repeated lapses) and was suspended: reword it, then `resume` it"))
            .into()
    }
}

fn vault_record(collection: &Collection<'_>, path: &str, id: &str) -> Result<Option<Record>> {
    let records = collection.records.of_note(path)?;
    Ok(records.into_iter().find(|record| record.id == id))
}

/// Writes a schedule into its comment; returns the comment before and after.
fn write_back(
    vault: &Vault,
    loaded: &CardNote,
    card: &Card,
    entry: &Entry,
    collection: &Collection<'_>,
) -> Result<(String, String)> {
    let text = &loaded.note.text;
    let Some(comment) = &loaded.question(card).schedule else {
        return Err(unreadable(loaded, card));
    };
    let (range, with) = comment.with(text, card.sibling, entry, collection.clock.now);
    let before = text[comment.range.clone()].to_owned();
    let at = range.start - comment.range.start..range.end - comment.range.start;
    let after = format!("{}{with}{}", &before[..at.start], &before[at.end..]);
    let edited = spliced(loaded, Splice::replace(range, with))?;
    vault.write_note(&loaded.note, &edited)?;
    Ok((before, after))
}

/// Applies a splice to the text of a note.
pub(crate) fn spliced(loaded: &CardNote, splice: Splice) -> Result<String> {
    splice::apply(&loaded.note.text, vec![splice]).map_err(|error| {
        Error::new(
            Code::InternalError,
            format!("`{}`: {error}", loaded.note.path),
        )
    })
}

/// Postpone a flashcard: move it to the end of today's queue without rating it.
///
/// Example: `{"card": "Coffee/Brewing flashcards.md#4b9ce0bb"}`
#[args]
pub struct Skip {
    /// The card id.
    pub card: String,
}

/// A changed card.
#[reply]
pub struct ChangedCard {
    /// The card after the change.
    pub card: CardItem,
}

impl Action for Skip {
    type Output = ChangedCard;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ChangedCard> {
        let collection = Collection::of(vault);
        let (loaded, mut card) = collection.card(&self.card)?;
        card.record.skipped = collection.clock.now.max(1);
        collection.save_record(&card, card.record.clone())?;
        collection.records.save()?;
        Ok(ChangedCard {
            card: full_item(&loaded, &card, &collection),
        })
    }

    fn text(output: &ChangedCard) -> String {
        format!("moved to the end of today's queue: `{}`", output.card.card)
    }
}

/// Take back the last rating; the card gets its previous schedule. Repeat to take back earlier ratings.
///
/// Example: `{}`
#[args]
pub struct UndoReview {}

/// An undone review.
#[reply]
pub struct UndoneReview {
    /// The card after the change; absent if its text no longer exists.
    pub card: Option<CardItem>,
    /// Its note.
    pub path: String,
}

impl Action for UndoReview {
    type Output = UndoneReview;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<UndoneReview> {
        let is_visible = |undo: &Undo| vault.access(&undo.path) != Tier::None;
        let undo = review_log::undoable(vault)?
            .into_iter()
            .rev()
            .find(is_visible);
        let Some(undo) = undo else {
            return Err(Error::not_found("no review to undo"));
        };
        let collection = Collection::of(vault);
        if let Some((before, after)) = &undo.comment {
            let (loaded, card) = collection.card(&format!("{}#{}", undo.path, undo.id))?;
            let range = loaded
                .question(&card)
                .schedule
                .as_ref()
                .map(|comment| comment.range.clone());
            let range = range.filter(|range| loaded.note.text[range.clone()] == **after).ok_or_else(|| {
                Error::conflict(format!(
                    "the schedule of the card in `{}` changed since the review: the review cannot be undone",
                    undo.path
                ))
            })?;
            let edited = spliced(&loaded, Splice::replace(range, before.clone()))?;
            vault.write_note(&loaded.note, &edited)?;
        }
        // If the note has moved since, its record moved with the review or is found by the question of the card.
        let before = undo.before.as_ref();
        if before.is_none_or(|(path, _)| *path != undo.path) {
            collection.records.put(&undo.path, &undo.id, None)?;
        }
        if let Some((path, record)) = before {
            collection
                .records
                .put(path, &undo.id, Some(record.clone()))?;
        }
        collection.records.save()?;
        review_log::remove(vault, &undo)?;
        let collection = Collection::of(vault);
        let card = collection.card(&format!("{}#{}", undo.path, undo.id)).ok();
        Ok(UndoneReview {
            card: card.map(|(loaded, card)| full_item(&loaded, &card, &collection)),
            path: undo.path,
        })
    }

    fn text(output: &UndoneReview) -> String {
        match &output.card {
            Some(card) => format!("review undone: `{}` is {} again", card.card, card.state),
            None => format!("review undone: a card of `{}`", output.path),
        }
    }
}
