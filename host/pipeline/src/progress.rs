//! How far a call has come, on its way to whoever waits for it: a few times a second at most, and never backwards. A
//! component may say it as often as it likes, and anything; a call that is run again begins again at nothing.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use notehost_runtime::Progress;

/// The least time between two that are told.
const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// Where a call tells how far it has come. Clones tell the same one.
#[derive(Clone)]
pub struct ProgressSink(Arc<Shared>);

struct Shared {
    tell: Box<dyn Fn(Progress) + Send + Sync>,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    last: Option<(u64, Instant)>,
    /// Whether the end was told, which waits for no pause.
    end: bool,
}

impl ProgressSink {
    /// A sink that tells through this function, which must not wait.
    pub fn new(tell: impl Fn(Progress) + Send + Sync + 'static) -> ProgressSink {
        ProgressSink(Arc::new(Shared {
            tell: Box::new(tell),
            told: Mutex::default(),
        }))
    }

    /// Tell how far it is, if it is time to.
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

    /// Which of these, said at these milliseconds, are told.
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
    fn a_few_times_a_second_and_the_end_at_once() {
        let said = [
            (0, 1, Some(9)),
            (1, 2, Some(9)),
            (300, 5, Some(9)),
            (301, 9, Some(9)),
        ];
        assert_eq!(told(&said), [1, 5, 9]);
    }

    #[test]
    fn never_backwards() {
        assert_eq!(told(&[(0, 5, None), (500, 5, None), (900, 3, None)]), [5]);
    }

    #[test]
    fn one_that_is_always_at_its_end_is_not_told_more_often() {
        let said: Vec<_> = (0..50)
            .map(|step| (step, step + 1, Some(step + 1)))
            .collect();
        assert_eq!(told(&said), [1]);
    }
}
