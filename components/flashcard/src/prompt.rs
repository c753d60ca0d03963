//! The prompt `make_flashcards`: creates cards from a note.

use notehost_sdk::{Prompt, PromptArgument};

/// Creates flashcards from the content of a note.
pub(crate) fn make_flashcards() -> Prompt {
    Prompt::new(
        "make_flashcards",
        "Make flashcards from a note, one for each fact worth remembering",
    )
    .title("Make flashcards from a note")
    .argument(PromptArgument::note("note", "The note to learn from").required())
    .argument(PromptArgument::text("deck", "The deck, such as `languages/spanish`"))
    .argument(PromptArgument::text("count", "Maximum number of cards"))
    .text(
        "Make flashcards from the note `{{note}}`, which follows.\n\
         1. List the cards it already has with {{flashcard.list}} (`path`: the note), and do not create duplicates.\n\
         2. Select what is worth remembering: definitions, reasons, numbers, names. One fact per card; the question must be \
         understandable without the note, the answer must be short and contained in the note. Never add facts of your own.\n\
         Create at most {{count}} cards.\n\
         3. Show me the cards as a table of question and answer, and wait for my approval or changes.\n\
         4. Add them with {{flashcard.create}}, all in one call: `cards` with `front` and `back`; for a sentence with one \
         word to recall, a `front` with `==word==` and no `back`; `both: true` to also create the reverse card.\n\
         The deck is `{{deck}}`: pass it as `deck`.\n\
         Then tell me how many cards were created, and that {{flashcard.next}} starts a review.",
    )
}
