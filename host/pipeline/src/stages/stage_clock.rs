//! Measures the stages of a call for its trace. Without a collector nothing is measured.

use std::sync::Arc;
use std::time::Instant;

use notehost_records::audit::StageTime;
use parking_lot::Mutex;

/// Measures the stages of one call. Clones share the measurements.
#[derive(Clone)]
pub(crate) struct StageClock {
    began: Instant,
    /// `None` if no collector gets traces.
    times: Option<Arc<Mutex<Vec<StageTime>>>>,
}

/// A running stage, which ends when this is dropped.
#[must_use]
pub(crate) struct RunningStage<'c> {
    clock: &'c StageClock,
    name: &'static str,
    began: Instant,
}

impl StageClock {
    /// A clock that starts with the call.
    pub(crate) fn start(is_traced: bool) -> StageClock {
        StageClock {
            began: Instant::now(),
            times: is_traced.then(Arc::default),
        }
    }

    /// When the call began.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Measures a stage from now on. `None` if nothing is measured.
    pub(crate) fn stage(&self, name: &'static str) -> Option<RunningStage<'_>> {
        self.times.is_some().then(|| RunningStage {
            clock: self,
            name,
            began: Instant::now(),
        })
    }

    /// Takes the measurements.
    pub(crate) fn take(&self) -> Vec<StageTime> {
        let times = self.times.as_ref();
        times
            .map(|times| std::mem::take(&mut *times.lock()))
            .unwrap_or_default()
    }
}

impl Drop for RunningStage<'_> {
    fn drop(&mut self) {
        let Some(times) = &self.clock.times else {
            return;
        };
        let microseconds = |from: Instant, to: Instant| {
            u64::try_from(to.saturating_duration_since(from).as_micros()).unwrap_or(u64::MAX)
        };
        times.lock().push(StageTime {
            name: self.name,
            start: microseconds(self.clock.began, self.began),
            microseconds: microseconds(self.began, Instant::now()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_measured_only_for_a_trace() {
        let clock = StageClock::start(true);
        drop(clock.stage("claim"));
        drop(clock.clone().stage("run"));
        let names: Vec<_> = clock.take().iter().map(|time| time.name).collect();
        assert_eq!(names, ["claim", "run"]);
        let off = StageClock::start(false);
        assert!(off.stage("run").is_none() && off.take().is_empty());
    }
}
