//! The built-in prompts: common tasks with notes, independent of components. Short and practical; the name of an action
//! is filled in for the client's surface.

use std::sync::LazyLock;

use notehost_sdk::{Prompt, PromptArgument};

/// The host's own prompts, in the order in which they are listed.
pub(super) fn own() -> &'static [Prompt] {
    static OWN: LazyLock<Vec<Prompt>> = LazyLock::new(|| {
        vec![
            summarise_note(),
            find_connections(),
            daily_review(),
            research(),
            tidy_notebook(),
        ]
    });
    &OWN
}

fn summarise_note() -> Prompt {
    Prompt::new("summarise_note", "Summarise a note: what it says, what it decides, what is open")
        .title("Summarise a note")
        .argument(PromptArgument::note("note", "The note to summarise").required())
        .argument(PromptArgument::heading("section", "Only the part under this heading"))
        .argument(PromptArgument::text("length", "How long, such as `three sentences`"))
        .text(
            "Summarise the note `{{note}}`, which follows.\n\
             Only the part under the heading `{{section}}`.\n\
             - First one sentence that says what it is about.\n\
             - Then what it says, decides or claims, in its own order and language. Keep names, numbers and dates exactly.\n\
             - At the end what is open: tasks, questions, contradictions. Leave the part out if there is nothing.\n\
             Length: {{length}}.\n\
             Add nothing that is not in it. If the text that follows is cut, read the rest with {{document.read}}.\n\
             Change nothing; if I want to keep the summary, add it with {{document.append}} where I say.",
        )
}

fn find_connections() -> Prompt {
    Prompt::new("find_connections", "Find notes related to a note, and propose links")
        .title("Find connections of a note")
        .argument(PromptArgument::note("note", "The note to connect").required())
        .argument(PromptArgument::notebook("notebook", "Look only in this notebook"))
        .text(
            "Find what the note `{{note}}`, which follows, should be linked with.\n\
             Look only at notes of the notebook `{{notebook}}`.\n\
             1. See what is linked already: {{link.outgoing}} and {{link.backlinks}} (with `mentions: \"also\"`).\n\
             2. Find candidates: {{link.suggest}} for names that occur in it without a link, {{search.similar}} for notes like it.\n\
             3. Read those that look promising with {{document.read_many}}.\n\
             4. Propose at most seven connections, the strongest first: both notes, the sentence in each that connects \
             them, and why a reader wants the link. Leave out what only shares a word.\n\
             5. Wait until I choose. Then make the links with {{document.edit}}: turn existing words into \
             `[[links]]` rather than adding a list, and show me the diff with `dry_run: true` first.",
        )
}

fn daily_review() -> Prompt {
    Prompt::new("daily_review", "Review the day: what changed, what is open, what is next")
        .title("Review the day")
        .argument(PromptArgument::text("day", "Which day, such as `2026-04-12`; today without it"))
        .argument(PromptArgument::notebook("notebook", "Only this notebook"))
        .text(
            "Review my day with me.\n\
             The day is {{day}}.\n\
             Stay in the notebook `{{notebook}}`.\n\
             1. Which day it is where I live: {{system.time}}.\n\
             2. What changed: {{search.recent}} (`since`: the beginning of that day), and who changed it: {{system.changes}}.\n\
             3. Read the daily note of that day, if there is one, and what changed, with {{document.read_many}}.\n\
             4. Find open tasks with {{search.regex}} (`pattern`: `- \\[ \\]`), those with a date of that day or before \
             first.\n\
             5. Tell me in this order: done, still open, overdue, and one thing to start with next. Name the note for \
             each. At most twenty lines.\n\
             6. Ask whether to add a short review to the daily note; then do it with {{document.append}}.",
        )
}

fn research() -> Prompt {
    Prompt::new("research", "Answer a question from the notes, with its sources")
        .title("Research across the vault")
        .argument(PromptArgument::text("question", "What you want to know").required())
        .argument(PromptArgument::notebook("notebook", "Look only in this notebook"))
        .argument(PromptArgument::tag("tag", "Look only at notes with this tag"))
        .text(
            "Answer from my notes: {{question}}\n\
             Look only in the notebook `{{notebook}}` (`path`).\n\
             Look only at notes with the tag `{{tag}}` (`tags`).\n\
             1. Collect passages with {{search.context}}. Ask two or three times, in the words that the notes may use: \
             synonyms, names, the other languages of the notes.\n\
             2. If a passage is too short to judge, read around it with {{document.read}}; follow its links with \
             {{link.neighbours}}.\n\
             3. Answer in a few paragraphs. After each claim name the note, and the line of the source, as \
             `[[Note]]`. Quote where the wording matters.\n\
             4. Say where notes disagree, and what they do not say. Never fill a gap from what you know yourself \
             without saying so.\n\
             Change nothing. If I want to keep the answer, make a note of it with {{document.create}}.",
        )
}

fn tidy_notebook() -> Prompt {
    Prompt::new("tidy_notebook", "Tidy a notebook: names, tags, links, misplaced notes")
        .title("Tidy a notebook")
        .argument(PromptArgument::notebook("notebook", "The notebook to tidy").required())
        .argument(PromptArgument::property("property", "A property that every note should have"))
        .text(
            "Tidy the notebook `{{notebook}}` with me.\n\
             1. See what is in it: {{notebook.children}}, and which tags are used: {{tag.list}} (`path`: the notebook).\n\
             2. Look for broken links ({{link.unresolved}}), notes that nothing links to ({{link.orphans}}), and files \
             that no note uses ({{file.unused}}), each with `path`: the notebook.\n\
             3. Look for notes that say the same, uninformative names, tags that differ only in spelling.\n\
             Find notes without the property `{{property}}` with {{search.query}}, and propose a value for each.\n\
             4. Propose a plan as a table: what, where, why; the safest changes first. Touch nothing before I agree.\n\
             5. Then go step by step, each with `dry_run: true` first: {{document.rename}} and {{document.move}} (links \
             follow), {{tag.rename}}, {{document.set_properties}}.\n\
             6. At the end list what changed, with the change ids that {{document.undo}} takes back.",
        )
}
