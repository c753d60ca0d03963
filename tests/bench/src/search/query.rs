//! The queries and the trait of the contestants: all contestants get the same queries in the same run.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::statistics::Times;

/// A query on a vault.
#[derive(Debug, Clone)]
pub(crate) enum VaultQuery {
    /// Notes that contain a word.
    Word(String),
    /// Notes that contain words in this order.
    Phrase(String),
    /// Notes that contain a word with this prefix.
    Prefix(String),
    /// Notes that contain a text in a script without spaces.
    Unspaced(String),
    /// Lines that match.
    Pattern(String),
    /// Twenty backlinks of a note.
    Backlinks(String),
    /// All tags with their counts, as a page of fifty.
    Tags,
    /// Notes with a tag.
    Tagged(String),
    /// Twenty unresolved link targets.
    Unresolved,
    /// The text of a note.
    Read(String),
}

impl VaultQuery {
    /// Whether the result is a set of notes that contain some text, which ripgrep can count too.
    pub(crate) fn is_of_notes(&self) -> bool {
        matches!(
            self,
            VaultQuery::Word(_)
                | VaultQuery::Phrase(_)
                | VaultQuery::Prefix(_)
                | VaultQuery::Unspaced(_)
        )
    }
}

/// Queries of one kind, with their target in microseconds.
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    pub(crate) bar: Option<f64>,
    pub(crate) queries: Vec<VaultQuery>,
}

/// The result of a query.
pub(crate) struct Answer {
    /// From sending the query to the last byte of the reply.
    pub(crate) took: Duration,
    /// Number of results.
    pub(crate) found: usize,
}

/// A tool that answers queries.
pub(crate) trait Contestant {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Runs a query; `None` if the tool does not support it.
    fn run(&mut self, query: &VaultQuery) -> Result<Option<Answer>>;
}

/// The measurements of one kind of query.
pub(crate) struct Measured {
    pub(crate) times: Times,
    /// Number of results over all queries; `None` if there was no time for all.
    pub(crate) found: Option<usize>,
}

/// How often and how long to repeat a query.
#[derive(Clone, Copy)]
pub(crate) struct SamplePlan {
    pub(crate) max_samples: usize,
    pub(crate) max_time: Duration,
}

impl SamplePlan {
    /// For Notehost and equally fast tools.
    pub(crate) const FAST: SamplePlan = SamplePlan {
        max_samples: 400,
        max_time: Duration::from_secs(8),
    };
    /// For tools that take seconds.
    pub(crate) const SLOW: SamplePlan = SamplePlan {
        max_samples: 400,
        max_time: Duration::from_secs(4),
    };
}

/// Runs all queries of a kind in turn until there are enough results. The first round is a warm-up, unless it already
/// takes too long.
pub(crate) fn measure_queries(
    contestant: &mut dyn Contestant,
    kind: &Kind,
    plan: SamplePlan,
) -> Result<Option<Measured>> {
    let began = Instant::now();
    let (mut first, mut found) = (Vec::new(), 0);
    for query in &kind.queries {
        let Some(answer) = contestant.run(query)? else {
            return Ok(None);
        };
        first.push(answer.took);
        found += answer.found;
        if began.elapsed() > plan.max_time {
            break;
        }
    }
    let is_whole = first.len() == kind.queries.len();
    let mut times = Vec::new();
    for query in kind.queries.iter().cycle().take(plan.max_samples) {
        if began.elapsed() > plan.max_time {
            break;
        }
        times.extend(contestant.run(query)?.map(|answer| answer.took));
    }
    if times.len() < 3 {
        times.extend(first);
    }
    Ok((!times.is_empty()).then(|| Measured {
        times: Times::new(times),
        found: is_whole.then_some(found),
    }))
}
