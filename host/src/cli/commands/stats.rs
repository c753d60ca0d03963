//! `notehost stats`: numbers, durations and callers of calls, as tables and small charts. Reads the records only.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::options::{Common, OutputFlags};
use crate::cli::records;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_records::audit::{By, Filter, Group, Part, Statistics, statistics};
use notehost_records::when::{self, Moment, moment};

/// The maximum width of a bar.
const BAR: usize = 20;
/// Eighths of a cell, vertically and horizontally.
const UPWARDS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const RIGHTWARDS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];

/// Show statistics of calls: numbers, durations, callers.
///
/// Prints tables and charts on a terminal, JSON in a pipe. Times are ages (`2h`, `7d`) or UTC (`2026-11-01`).
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Only calls since this time
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Moment>,
    /// Only calls before this time
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    until: Option<Moment>,
    /// Group calls by this
    #[arg(long, value_name = "WHAT", default_value = "action")]
    by: By,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

impl Stats {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let (_, records) = records::open(self.common)?;
        let filter = Filter {
            since: self.since.map(|moment| moment.0),
            until: self.until.map(|moment| moment.0),
            ..Filter::default()
        };
        let mut found = statistics(&*records, &filter, self.by)?;
        if self.by == By::Day {
            for day in &mut found.items {
                day.name = day
                    .name
                    .parse()
                    .map_or_else(|_| day.name.clone(), when::shown_day);
            }
        }
        let terminal = Terminal::stdout();
        if self.output.is_json(&terminal) {
            print_json(&terminal, to_json(&found));
        } else {
            terminal.print(&for_people(&terminal, &found));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn to_json(found: &Statistics) -> Value {
    let moment = |moment: Option<i64>| moment.map(when::iso);
    let parts: Vec<Value> = found
        .over_time
        .iter()
        .map(|part| json!({"time": when::iso(part.time), "calls": part.calls, "failed": part.failed}))
        .collect();
    json!({
        "from": moment(found.from),
        "to": moment(found.to),
        "total": found.total,
        "by": found.by,
        "items": found.items,
        "callers": found.callers,
        "outcomes": found.outcomes,
        "over_time": parts,
    })
}

fn for_people(terminal: &Terminal, found: &Statistics) -> String {
    let (Some(from), Some(to)) = (found.from, found.to) else {
        return format!("{}\n", terminal.faint("no calls"));
    };
    let total = &found.total;
    let mut text = format!(
        "{}  {} – {}\n",
        terminal.strong(&format!("{} calls", total.calls)),
        when::shown(from),
        when::shown(to)
    );
    text.push_str(&format!(
        "{} failed ({:.1} %) · p50 {} ms · p95 {} ms · about {} tokens in, {} out\n\n",
        total.failed,
        total.error_rate * 100.0,
        shown_ms(total.p50_ms),
        shown_ms(total.p95_ms),
        shown_count(total.tokens_in),
        shown_count(total.tokens_out)
    ));
    let line =
        |of: fn(&Part) -> u64| sparkline(&found.over_time.iter().map(of).collect::<Vec<_>>());
    text.push_str(&format!(
        "calls   {}\n",
        terminal.good(&line(|part| part.calls))
    ));
    text.push_str(&format!(
        "failed  {}\n\n",
        terminal.bad(&line(|part| part.failed))
    ));
    let what = match found.by {
        By::Action => "action",
        By::Caller => "caller",
        By::Domain => "domain",
        By::Day => "day",
    };
    text.push_str(&groups(terminal, what, &found.items));
    if found.by != By::Caller {
        text.push('\n');
        text.push_str(&groups(terminal, "caller", &found.callers));
    }
    text.push('\n');
    let most = found
        .outcomes
        .iter()
        .map(|outcome| outcome.calls)
        .max()
        .unwrap_or_default();
    let rows = found.outcomes.iter().map(|outcome| {
        vec![
            outcome.outcome.clone(),
            outcome.calls.to_string(),
            bar(outcome.calls, most),
        ]
    });
    text.push_str(&terminal.table(&["outcome", "calls", ""], rows));
    text
}

fn groups(terminal: &Terminal, what: &str, groups: &[Group]) -> String {
    let most = groups
        .iter()
        .map(|group| group.calls)
        .max()
        .unwrap_or_default();
    let rows = groups.iter().map(|group| {
        vec![
            group.name.clone(),
            group.calls.to_string(),
            bar(group.calls, most),
            format!("{:.1} %", group.error_rate * 100.0),
            shown_ms(group.p50_ms),
            shown_ms(group.p95_ms),
            shown_count(group.tokens_in),
            shown_count(group.tokens_out),
        ]
    });
    let header = [
        what,
        "calls",
        "",
        "failed",
        "p50 ms",
        "p95 ms",
        "tokens in",
        "out",
    ];
    terminal.table(&header, rows)
}

/// A vertical bar of one cell per number.
fn sparkline(numbers: &[u64]) -> String {
    let most = numbers.iter().copied().max().unwrap_or_default().max(1);
    let height = |number: &u64| {
        UPWARDS[usize::try_from((number * 8).div_ceil(most))
            .unwrap_or(8)
            .min(8)]
    };
    numbers.iter().map(height).collect()
}

/// A horizontal bar, relative to the maximum.
fn bar(number: u64, most: u64) -> String {
    let eighths = (number * BAR as u64 * 8).div_ceil(most.max(1));
    let eighths = usize::try_from(eighths).unwrap_or_default().min(BAR * 8);
    format!(
        "{}{}",
        RIGHTWARDS[8].repeat(eighths / 8),
        RIGHTWARDS[eighths % 8]
    )
}

fn shown_ms(milliseconds: f64) -> String {
    match milliseconds {
        small if small < 10.0 => format!("{small:.2}"),
        large => format!("{large:.0}"),
    }
}

fn shown_count(count: i64) -> String {
    match count {
        ..10_000 => count.to_string(),
        10_000..10_000_000 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_scaled_to_their_numbers() {
        assert_eq!(sparkline(&[0, 1, 4, 8]), " ▁▄█");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(bar(0, 10), "");
        assert_eq!(bar(10, 10), "█".repeat(20));
        assert_eq!(bar(5, 10), "█".repeat(10));
        assert_eq!(bar(1, 1000), "▏");
    }

    #[test]
    fn statistics_are_tables_and_charts_for_people() {
        let group = |name: &str, calls, failed| Group {
            name: name.into(),
            calls,
            failed,
            error_rate: failed as f64 / calls as f64,
            p50_ms: 1.5,
            p95_ms: 20.0,
            tokens_in: 12,
            tokens_out: 34_567,
        };
        let found = Statistics {
            from: Some(0),
            to: Some(60_000),
            total: group("all", 4, 1),
            by: By::Action,
            items: vec![group("document.read", 3, 0), group("document.edit", 1, 1)],
            callers: vec![group("phone", 4, 1)],
            outcomes: Vec::new(),
            over_time: vec![Part {
                time: 0,
                calls: 4,
                failed: 1,
            }],
        };
        let text = for_people(&Terminal::stdout(), &found);
        for expected in [
            "4 calls",
            "25.0 %",
            "document.read",
            "phone",
            "34k",
            "20",
            "█",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
