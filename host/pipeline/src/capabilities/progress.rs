//! Progress reports of a call: throttled to a few per second, and never decreasing. A component may report as often as
//! it likes; a call that is run again starts at zero.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notehost_runtime::Progress;
use parking_lot::Mutex;

/// The minimum interval between two reports.
const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// The sink for progress of a call. Clones share it.
#[derive(Clone)]
pub struct ProgressSink(Arc<Shared>);

struct Shared {
    report: Box<dyn Fn(Progress) + Send + Sync>,
    throttle: Mutex<Throttle>,
}

#[derive(Default)]
struct Throttle {
    last: Option<(u64, Instant)>,
    /// Whether the end was reported, which is never throttled.
    end: bool,
}

impl ProgressSink {
    /// A sink that reports through this function, which must not block.
    pub fn new(report: impl Fn(Progress) + Send + Sync + 'static) -> ProgressSink {
        ProgressSink(Arc::new(Shared {
            report: Box::new(report),
            throttle: Mutex::default(),
        }))
    }

    /// Reports the progress, unless throttled.
    pub fn report(&self, progress: Progress) {
        let is_let_through = self.0.throttle.lock().admits(&progress, Instant::now());
        if is_let_through {
            (self.0.report)(progress);
        }
    }
}

impl Throttle {
    fn admits(&mut self, progress: &Progress, now: Instant) -> bool {
        let is_end = progress.total == Some(progress.done) && !self.end;
        if let Some((done, time)) = self.last
            && (progress.done <= done || (now < time + MIN_INTERVAL && !is_end))
        {
            return false;
        }
        self.end |= is_end;
        self.last = Some((progress.done, now));
        true
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ProgressSink")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these reports, made at these milliseconds, are passed on.
    fn passed_on(reports: &[(u64, u64, Option<u64>)]) -> Vec<u64> {
        let began = Instant::now();
        let mut throttle = Throttle::default();
        let mut admits = |&&(after, done, total): &&(u64, u64, Option<u64>)| {
            let progress = Progress {
                done,
                total,
                message: String::new(),
            };
            throttle.admits(&progress, began + Duration::from_millis(after))
        };
        let admitted: Vec<_> = reports.iter().filter(&mut admits).collect();
        admitted.iter().map(|(_, done, _)| *done).collect()
    }

    #[test]
    fn reports_are_throttled_except_the_end() {
        let reports = [
            (0, 1, Some(9)),
            (1, 2, Some(9)),
            (300, 5, Some(9)),
            (301, 9, Some(9)),
        ];
        assert_eq!(passed_on(&reports), [1, 5, 9]);
    }

    #[test]
    fn progress_never_decreases() {
        assert_eq!(
            passed_on(&[(0, 5, None), (500, 5, None), (900, 3, None)]),
            [5]
        );
    }

    #[test]
    fn repeated_end_reports_are_throttled() {
        let reports: Vec<_> = (0..50)
            .map(|step| (step, step + 1, Some(step + 1)))
            .collect();
        assert_eq!(passed_on(&reports), [1]);
    }
}
