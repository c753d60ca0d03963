//! Statistics of the audit log: numbers, durations, callers and outcomes of calls.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::filter::Filter;
use crate::store::{CallSample, Records, RecordsError};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The number of time intervals.
const PARTS: i64 = 48;
/// The maximum number of callers shown.
const MAX_CALLERS: usize = 10;

/// How calls are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// `domain.action`.
    #[default]
    Action,
    /// The caller.
    Caller,
    /// The domain.
    Domain,
    /// The day, in UTC.
    Day,
}

/// Statistics of some calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    /// When the first of them began, in milliseconds since 1970.
    pub from: Option<i64>,
    /// When the last of them began.
    pub to: Option<i64>,
    /// All of them.
    pub total: Group,
    /// How they are grouped.
    pub by: By,
    /// The groups, the largest first; days in chronological order.
    pub items: Vec<Group>,
    /// The most frequent callers.
    pub callers: Vec<Group>,
    /// Their outcomes.
    pub outcomes: Vec<Outcome>,
    /// Their distribution over time.
    pub over_time: Vec<Part>,
}

/// A group of calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Group {
    /// The name of the group.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The number of failed calls.
    pub failed: u64,
    /// The share of failed calls, from 0 to 1.
    pub error_rate: f64,
    /// The median duration in milliseconds.
    pub p50_ms: f64,
    /// The 95th percentile of durations in milliseconds.
    pub p95_ms: f64,
    /// The estimated number of tokens of the arguments.
    pub tokens_in: i64,
    /// The estimated number of tokens of the replies.
    pub tokens_out: i64,
}

/// The number of calls with an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// `ok`, an error code, or `cancelled`.
    pub outcome: String,
    /// The number of calls.
    pub calls: u64,
}

/// A time interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// When it begins, in milliseconds since 1970.
    pub time: i64,
    /// The number of calls.
    pub calls: u64,
    /// The number of failed calls.
    pub failed: u64,
}

#[derive(Default)]
struct Accumulator {
    group: Group,
    durations: Vec<i64>,
}

impl Accumulator {
    fn add(&mut self, call: &CallSample) {
        self.group.calls += 1;
        self.group.failed += u64::from(call.outcome != "ok");
        self.group.tokens_in += call.tokens_in;
        self.group.tokens_out += call.tokens_out;
        self.durations.push(call.microseconds);
    }

    fn finish(mut self, name: String) -> Group {
        self.durations.sort_unstable();
        Group {
            name,
            error_rate: match self.group.calls {
                0 => 0.0,
                calls => self.group.failed as f64 / calls as f64,
            },
            p50_ms: percentile(&self.durations, 50),
            p95_ms: percentile(&self.durations, 95),
            ..self.group
        }
    }
}

/// The statistics of the calls that match a filter.
pub fn statistics(
    records: &dyn Records,
    filter: &Filter,
    by: By,
) -> Result<Statistics, RecordsError> {
    let calls = records.call_samples(filter)?;
    let (from, to) = (
        calls.first().map(|call| call.time),
        calls.last().map(|call| call.time),
    );
    let mut total = Accumulator::default();
    let mut items: HashMap<String, Accumulator> = HashMap::new();
    let mut callers: HashMap<String, Accumulator> = HashMap::new();
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    for call in &calls {
        total.add(call);
        let key = match by {
            By::Action => format!("{}.{}", call.domain, call.action),
            By::Caller => call.caller.clone(),
            By::Domain => call.domain.clone(),
            By::Day => call.time.div_euclid(DAY_MS).to_string(),
        };
        items.entry(key).or_default().add(call);
        callers.entry(call.caller.clone()).or_default().add(call);
        *outcomes.entry(call.outcome.clone()).or_default() += 1;
    }
    let mut outcomes: Vec<Outcome> = outcomes
        .into_iter()
        .map(|(outcome, calls)| Outcome { outcome, calls })
        .collect();
    outcomes.sort_by_key(|outcome| std::cmp::Reverse(outcome.calls));
    let mut callers = largest_first(callers);
    callers.truncate(MAX_CALLERS);
    Ok(Statistics {
        from,
        to,
        total: total.finish("all".into()),
        by,
        items: match by {
            By::Day => by_day(items),
            _ => largest_first(items),
        },
        callers,
        outcomes,
        over_time: over_time(&calls, filter),
    })
}

fn largest_first(groups: HashMap<String, Accumulator>) -> Vec<Group> {
    let mut groups: Vec<Group> = groups
        .into_iter()
        .map(|(name, gathered)| gathered.finish(name))
        .collect();
    groups.sort_by(|one, other| (other.calls, &one.name).cmp(&(one.calls, &other.name)));
    groups
}

/// Days are identified by their start, in milliseconds since 1970.
fn by_day(groups: HashMap<String, Accumulator>) -> Vec<Group> {
    let mut days: Vec<(i64, Accumulator)> = groups
        .into_iter()
        .filter_map(|(day, gathered)| Some((day.parse().ok()?, gathered)))
        .collect();
    days.sort_by_key(|(day, _)| *day);
    days.into_iter()
        .map(|(day, gathered)| gathered.finish((day * DAY_MS).to_string()))
        .collect()
}

fn over_time(calls: &[CallSample], filter: &Filter) -> Vec<Part> {
    let (Some(first), Some(last)) = (calls.first(), calls.last()) else {
        return Vec::new();
    };
    let from = filter.since.unwrap_or(first.time).min(first.time);
    let length = ((last.time - from) / PARTS + 1).max(1000);
    let count = (last.time - from) / length + 1;
    let mut parts: Vec<Part> = (0..count)
        .map(|part| Part {
            time: from + part * length,
            calls: 0,
            failed: 0,
        })
        .collect();
    for call in calls {
        let part = usize::try_from((call.time - from) / length).unwrap_or_default();
        if let Some(part) = parts.get_mut(part) {
            part.calls += 1;
            part.failed += u64::from(call.outcome != "ok");
        }
    }
    parts
}

/// The nearest rank of sorted durations, in milliseconds.
pub(super) fn percentile(sorted: &[i64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted
        .get(rank - 1)
        .map_or(0.0, |microseconds| *microseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let durations: Vec<i64> = (1..=100).map(|number| number * 1000).collect();
        assert_eq!(percentile(&durations, 50), 50.0);
        assert_eq!(percentile(&durations, 95), 95.0);
        assert_eq!(percentile(&[7000], 95), 7.0);
        assert_eq!(percentile(&[], 50), 0.0);
    }
}
