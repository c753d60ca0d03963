//! The flashcard domain: spaced repetition of cards written in notes.
//!
//! Notes are parsed for cards on every call (`lines`, `spans`, `cards`) and the cards are matched with their stored records
//! (`records`, `identity`). A note is edited only to update a schedule in it or to create or remove cards.

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
    /// Flashcards in notes, spaced repetition: `next` returns the next card, `review` rates it 1–4, `create` adds cards.
    /// Cards are `Q::A`, `Q:::A` (both directions), lines separated by `?` or `??`, `==cloze==`, `{{cloze}}`, in notes with
    /// `#flashcards/deck`, the property `deck`, or a folder `Flashcards`.
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

/// The ranges of the card passages of a note, without and with their schedules. For corpus tests.
#[doc(hidden)]
pub fn passages(note: &str) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let found = cards::questions(note, true).into_iter();
    found
        .map(|question| (question.range, question.whole))
        .collect()
}
