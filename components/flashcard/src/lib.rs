//! The flashcard domain: cards are what people already write in their notes, asked when they are about to be forgotten.
//!
//! A note is read for cards each time (`lines`, `spans`, `cards`), joined with what the component keeps of them
//! (`records`, `identity`), and changed only where a schedule stands in it, or where cards are made or removed.

mod asking;
mod cards;
mod changing;
mod clock;
mod collection;
mod comment;
mod decks;
mod exporting;
mod identity;
mod importing;
mod journal;
mod lines;
mod looking;
mod package;
mod prompting;
mod records;
mod reviewing;
mod sm2;
mod spans;
mod stats;
mod telling;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

pub use asking::Next;
pub use changing::{Create, Remove, Resume, Suspend};
pub use exporting::Export;
pub use importing::Import;
pub use looking::{Get, List, ListDecks};
pub use reviewing::{Review, Skip, UndoReview};
pub use stats::Stats;

domain! {
    /// Flashcards in notes, spaced repetition: `next` asks, `review` rates 1–4, `create` adds. Cards are `Q::A`, `Q:::A`
    /// (both ways), `?` or `??` between lines, `==cloze==`, `{{cloze}}`, in notes with `#flashcards/deck`, the property
    /// `deck`, or a folder `Flashcards`.
    "flashcard" {
        "decks" => ListDecks,
        "list" => List,
        "get" => Get,
        "next" => Next,
        "review" => Review,
        "skip" => Skip,
        "undo" => UndoReview,
        "create" => Create,
        "remove" => Remove,
        "stats" => Stats,
        "suspend" => Suspend,
        "resume" => Resume,
        "export" => Export,
        "import" => Import,
    }
    prompts {
        prompting::make_flashcards(),
    }
}

/// Where the passages of a note are that make cards, with and without their schedules: for tests over many notes.
#[doc(hidden)]
pub fn passages(note: &str) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let found = cards::questions(note, true).into_iter();
    found
        .map(|question| (question.range, question.whole))
        .collect()
}
