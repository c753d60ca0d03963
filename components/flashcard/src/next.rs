//! The `next` action: the review queue.

use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::prelude::*;

use crate::collection::{Card, CardNote, Collection, DueTime};
use crate::read_actions::{notes_in, scope};
use crate::reply::{CardItem, Previews, full_item, previews};

/// Get the next flashcard to study, with its answer, and how many are left. Then rate it with `review`.
///
/// Example: `{"deck": "coffee"}`
#[args]
pub struct Next {
    /// Only cards of this deck.
    pub deck: Option<String>,
}

/// The next card to review.
#[reply]
pub struct NextCard {
    /// The card; absent if none is due or new.
    pub card: Option<CardItem>,
    /// Next interval for each rating.
    pub answers: Option<Previews>,
    /// Number of cards due now.
    pub due: u64,
    /// Number of new cards.
    pub new: u64,
    /// If no card is due or new: the next due date.
    pub next_due: Option<String>,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

impl Action for Next {
    type Output = NextCard;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<NextCard> {
        let scope = scope(vault, None, self.deck.as_deref(), None, None)?;
        let collection = Collection::of(vault);
        let notes = notes_in(&collection, &scope)?;
        let cards: Vec<(&CardNote, &Card)> = notes
            .iter()
            .flat_map(|loaded| loaded.cards.iter().map(move |card| (loaded, card)))
            .collect();
        let clock = &collection.clock;
        let due = cards.iter().filter(|(_, card)| card.is_due(clock)).count() as u64;
        let new = cards.iter().filter(|(_, card)| card.is_new()).count() as u64;
        let queue = cards
            .iter()
            .filter(|(_, card)| card.is_due(clock) || card.is_new());
        let first = queue.min_by_key(|(loaded, card)| rank(loaded, card, &collection));
        let (card, answers) = match first {
            Some((loaded, card)) => (
                Some(full_item(loaded, card, &collection)),
                previews(loaded, card, &collection)?,
            ),
            None => (None, None),
        };
        let coming = cards
            .iter()
            .filter(|(_, card)| !card.record.suspended)
            .map(|(_, card)| card.due_time(clock));
        let coming = coming
            .filter(|when| *when != DueTime::Never)
            .min_by_key(|when| match when {
                DueTime::At(moment) => (clock.day(*moment), *moment),
                DueTime::On(day) => (*day, i64::MIN),
                DueTime::Never => (i64::MAX, 0),
            });
        Ok(NextCard {
            next_due: coming
                .filter(|_| card.is_none())
                .and_then(|when| crate::reply::due(when, &collection)),
            card,
            answers,
            due,
            new,
            index: building(vault),
        })
    }

    fn text(output: &NextCard) -> String {
        let left = format!("{} due, {} new", output.due, output.new);
        let text = match (&output.card, &output.next_due) {
            (Some(card), _) => format!(
                "{left}\ncard: `{}`\nfront: {}\nback: {}",
                card.card, card.front, card.back
            ),
            (None, Some(due)) => format!("no card is due; next due: {due}"),
            (None, None) => "no card is due".to_owned(),
        };
        text + &unfinished(output.index.as_ref())
    }
}

/// The sort key of a card in today's queue: learning steps, then due cards, then new cards. Siblings of cards reviewed
/// today follow, because they would reveal the answer, and cards skipped today are last.
fn rank(loaded: &CardNote, card: &Card, collection: &Collection<'_>) -> (u8, i64, u8, i64) {
    let clock = &collection.clock;
    let is_today = |moment: i64| moment != 0 && clock.day(moment) == clock.today();
    let skipped = if is_today(card.record.skipped) {
        card.record.skipped
    } else {
        0
    };
    let siblings = loaded.siblings(card.question).iter();
    let sibling_reviewed = siblings
        .filter(|other| other.id != card.id)
        .any(|other| other.last().is_some_and(is_today));
    let (kind, order) = match card.due_time(clock) {
        DueTime::At(moment) => (0, moment),
        DueTime::On(day) => (1, day),
        DueTime::Never => (2, 0),
    };
    let last = match (skipped != 0, sibling_reviewed && kind != 0) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    (last, skipped, kind, order)
}
