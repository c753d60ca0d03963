//! Times, sorted.

use std::time::{Duration, Instant};

/// The durations of several runs.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// From existing measurements.
    pub(crate) fn new(mut times: Vec<Duration>) -> Times {
        times.sort();
        Times(times)
    }

    /// Runs something this many times, after a tenth as many warm-up runs.
    pub(crate) fn of(
        runs: usize,
        mut work: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<Times> {
        let mut times = Vec::with_capacity(runs);
        for run in 0..runs + runs / 10 {
            let began = Instant::now();
            work()?;
            if run >= runs / 10 {
                times.push(began.elapsed());
            }
        }
        Ok(Times::new(times))
    }

    /// A quantile, in microseconds.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let place = ((self.0.len() as f64 - 1.0) * share).round() as usize;
        self.0
            .get(place)
            .map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }

    /// The median, in microseconds.
    pub(crate) fn p50(&self) -> f64 {
        self.quantile(0.5)
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "p50 {:8.1} µs   p95 {:8.1} µs",
            self.p50(),
            self.quantile(0.95)
        )
    }
}
