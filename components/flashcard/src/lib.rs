//! The flashcard domain: spaced repetition of cards written in notes.
//!
//! Notes are parsed for cards on every call (`lines`, `spans`, `cards`) and the cards are matched with their stored
//! records (`records`, `identity`). A note is edited only to update a schedule in it or to create or remove cards.

mod cards;
mod clock;
mod collection;
mod comment;
mod decks;
mod edit_actions;
mod export;
mod identity;
mod import;
mod lines;
mod next;
mod package;
mod prompt;
mod read_actions;
mod records;
mod reply;
mod review;
mod review_log;
mod sm2;
mod spans;
mod stats;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

pub use edit_actions::{Create, Remove, Resume, Suspend};
pub use export::Export;
pub use import::Import;
pub use next::Next;
pub use read_actions::{Get, List, ListDecks};
pub use review::{Review, Skip, UndoReview};
pub use stats::Stats;

domain! {
    /// Flashcards in notes, spaced repetition: `next` returns the next card, `review` rates it 1–4, `create` adds
    /// cards. Cards are `Q::A`, `Q:::A` (both directions), lines separated by `?` or `??`, `==cloze==`, `{{cloze}}`, in
    /// notes with `#flashcards/deck`, the property `deck`, or a folder `Flashcards`.
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
        prompt::make_flashcards(),
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
