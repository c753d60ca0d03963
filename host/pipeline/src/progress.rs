//! Progress reports of a call: throttled to a few per second, and never decreasing. A component may report as often as
//! it likes; a call that is run again starts at zero.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use notehost_runtime::Progress;

/// The minimum interval between two reports.
const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// The sink for progress of a call. Clones share it.
#[derive(Clone)]
pub struct ProgressSink(Arc<Shared>);

struct Shared {
    tell: Box<dyn Fn(Progress) + Send + Sync>,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    last: Option<(u64, Instant)>,
    /// Whether the end was reported, which is never throttled.
    end: bool,
}

impl ProgressSink {
    /// A sink that reports through this function, which must not block.
    pub fn new(tell: impl Fn(Progress) + Send + Sync + 'static) -> ProgressSink {
        ProgressSink(Arc::new(Shared {
            tell: Box::new(tell),
            told: Mutex::default(),
        }))
    }

    /// Reports the progress, unless throttled.
    pub fn report(&self, progress: Progress) {
        let now = Instant::now();
        let is_news = {
            let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.takes(&progress, now)
        };
        if is_news {
            (self.0.tell)(progress);
        }
    }
}

impl Told {
    fn takes(&mut self, progress: &Progress, now: Instant) -> bool {
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
    fn told(said: &[(u64, u64, Option<u64>)]) -> Vec<u64> {
        let began = Instant::now();
        let mut state = Told::default();
        let mut takes = |&&(after, done, total): &&(u64, u64, Option<u64>)| {
            let progress = Progress {
                done,
                total,
                message: String::new(),
            };
            state.takes(&progress, began + Duration::from_millis(after))
        };
        let taken: Vec<_> = said.iter().filter(&mut takes).collect();
        taken.iter().map(|(_, done, _)| *done).collect()
    }

    #[test]
    fn reports_are_throttled_except_the_end() {
        let said = [
            (0, 1, Some(9)),
            (1, 2, Some(9)),
            (300, 5, Some(9)),
            (301, 9, Some(9)),
        ];
        assert_eq!(told(&said), [1, 5, 9]);
    }

    #[test]
    fn progress_never_decreases() {
        assert_eq!(told(&[(0, 5, None), (500, 5, None), (900, 3, None)]), [5]);
    }

    #[test]
    fn repeated_end_reports_are_throttled() {
        let said: Vec<_> = (0..50)
            .map(|step| (step, step + 1, Some(step + 1)))
            .collect();
        assert_eq!(told(&said), [1]);
    }
}
