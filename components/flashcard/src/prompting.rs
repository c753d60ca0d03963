//! What people can begin with: cards from a note.

use notehost_sdk::{Prompt, PromptArgument};

/// Cards from what a note says.
pub(crate) fn make_flashcards() -> Prompt {
    Prompt::new(
        "make_flashcards",
        "Make flashcards from a note: the facts worth remembering, one each",
    )
    .title("Make flashcards from a note")
    .argument(PromptArgument::note("note", "The note to learn from").required())
    .argument(PromptArgument::text("deck", "The deck, such as `languages/spanish`"))
    .argument(PromptArgument::text("count", "How many cards at most"))
    .text(
        "Make flashcards from the note `{{note}}`, which follows.\n\
         1. See with {{flashcard.list}} (`path`: the note) which cards it has already, and make none of them again.\n\
         2. Pick what is worth remembering: definitions, reasons, numbers, names. One fact per card; the question must be \
         understood without the note, the answer must be short and stand in the note. Never add facts of your own.\n\
         At most {{count}} cards.\n\
         3. Show me the cards as a table of question and answer, and wait until I agree or change them.\n\
         4. Add them with {{flashcard.create}}, all in one call: `cards` with `front` and `back`; a sentence with one \
         word to recall is a `front` with `==word==` and no `back`; `both: true` where the answer should also ask for \
         the question.\n\
         The deck is `{{deck}}`: give it as `deck`.\n\
         Then tell me how many cards were made, and that {{flashcard.next}} asks them.",
    )
}
