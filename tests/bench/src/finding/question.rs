//! What is asked, and who answers: everybody gets the same questions in the same run.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::statistics::Times;

/// Something to find out about a vault.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    /// Notes with a word.
    Word(String),
    /// Notes with words in this order.
    Phrase(String),
    /// Notes with a word that begins like this.
    Prefix(String),
    /// Notes with a text in a script without spaces.
    Unspaced(String),
    /// Lines that match.
    Pattern(String),
    /// Twenty links that lead to a note.
    Backlinks(String),
    /// All tags with their counts, a page of fifty.
    Tags,
    /// Notes with a tag.
    Tagged(String),
    /// Twenty names that links use and nothing has.
    Unresolved,
    /// The text of a note.
    Read(String),
}

impl Question {
    /// Whether the answer is notes that have some text, which ripgrep counts too.
    pub(crate) fn is_of_notes(&self) -> bool {
        matches!(
            self,
            Question::Word(_) | Question::Phrase(_) | Question::Prefix(_) | Question::Unspaced(_)
        )
    }
}

/// Questions of one kind, and the design's bar for them in microseconds.
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    pub(crate) bar: Option<f64>,
    pub(crate) questions: Vec<Question>,
}

/// An answer.
pub(crate) struct Answer {
    /// From the question to the last byte of the answer.
    pub(crate) took: Duration,
    /// How much was found.
    pub(crate) found: usize,
}

/// Somebody who can be asked.
pub(crate) trait Contestant {
    /// Who.
    fn name(&self) -> &'static str;

    /// Ask; nothing if this is a question that it has no answer for.
    fn ask(&mut self, question: &Question) -> Result<Option<Answer>>;
}

/// What asking came to.
pub(crate) struct Asked {
    pub(crate) times: Times,
    /// How much was found, over all questions once; nothing if there was no time for all.
    pub(crate) found: Option<usize>,
}

/// How often and how long to ask.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) most: usize,
    pub(crate) longest: Duration,
}

impl Patience {
    /// For ours, and for those that are as fast.
    pub(crate) const MUCH: Patience = Patience {
        most: 400,
        longest: Duration::from_secs(8),
    };
    /// For those that take seconds.
    pub(crate) const LITTLE: Patience = Patience {
        most: 400,
        longest: Duration::from_secs(4),
    };
}

/// Ask all questions of a kind in turn, until there were enough answers. The first round does not count, unless it
/// already takes too long.
pub(crate) fn ask(
    contestant: &mut dyn Contestant,
    kind: &Kind,
    patience: Patience,
) -> Result<Option<Asked>> {
    let began = Instant::now();
    let (mut first, mut found) = (Vec::new(), 0);
    for question in &kind.questions {
        let Some(answer) = contestant.ask(question)? else {
            return Ok(None);
        };
        first.push(answer.took);
        found += answer.found;
        if began.elapsed() > patience.longest {
            break;
        }
    }
    let is_whole = first.len() == kind.questions.len();
    let mut times = Vec::new();
    for question in kind.questions.iter().cycle().take(patience.most) {
        if began.elapsed() > patience.longest {
            break;
        }
        times.extend(contestant.ask(question)?.map(|answer| answer.took));
    }
    if times.len() < 3 {
        times.extend(first);
    }
    Ok((!times.is_empty()).then(|| Asked {
        times: Times::new(times),
        found: is_whole.then_some(found),
    }))
}
