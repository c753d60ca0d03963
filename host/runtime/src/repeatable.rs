//! A frozen wall clock and seeded random numbers: with both, repeating a run on the same notes stages the same change.
//! The monotonic clock keeps running.

use std::convert::Infallible;
use std::time::Duration;

use rand_core::TryRng;
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

use super::call_environment::Repeatable;

/// Freezes a guest's clock and seeds its random numbers.
pub(super) fn freeze(builder: &mut WasiCtxBuilder, repeatable: &Repeatable) {
    let mut seed = SeededRandom::new(repeatable, "insecure seed");
    let mut insecure_seed = [0; 16];
    seed.fill(&mut insecure_seed);
    builder
        .wall_clock(StandingClock(Duration::from_millis(
            repeatable.milliseconds,
        )))
        .secure_random(SeededRandom::new(repeatable, "secure"))
        .insecure_random(SeededRandom::new(repeatable, "insecure"))
        .insecure_random_seed(u128::from_le_bytes(insecure_seed));
}

struct StandingClock(Duration);

impl HostWallClock for StandingClock {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        self.0
    }
}

/// The output of BLAKE3, keyed with the seed: as hard to guess as the seed is.
struct SeededRandom(blake3::OutputReader);

impl SeededRandom {
    fn new(repeatable: &Repeatable, purpose: &str) -> SeededRandom {
        let mut hasher = blake3::Hasher::new_keyed(&repeatable.seed);
        hasher.update(purpose.as_bytes());
        SeededRandom(hasher.finalize_xof())
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

impl TryRng for SeededRandom {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}
