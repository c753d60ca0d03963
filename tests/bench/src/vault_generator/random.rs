//! Deterministic random numbers: the same for the same seed, on every machine and with any number of threads.

/// A stream of numbers. Every note has its own, seeded with the vault's seed and the note's number, so that notes can
/// be written in any order.
pub(crate) struct Random(u64);

impl Random {
    /// The stream of one item of a vault.
    pub(crate) fn new(seed: u64, thing: u64) -> Random {
        let mut random = Random(seed ^ thing.wrapping_mul(0xA24B_AED4_963E_E407));
        // Adjacent items start with adjacent states.
        random.number();
        random.number();
        random
    }

    /// Any number (SplitMix64).
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in [0, 1).
    pub(crate) fn share(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// One of several.
    pub(crate) fn one<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }

    /// Log-normal numbers with this `median`; `spread` is the deviation of the logarithm.
    pub(crate) fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.share()).cos();
        median * (normal * spread).exp()
    }
}

/// Ranks with the Zipf–Mandelbrot distribution.
pub(crate) struct Zipf(Vec<f64>);

impl Zipf {
    /// With this many ranks.
    pub(crate) fn new(ranks: usize) -> Zipf {
        let mut sum = 0.0;
        let mut sums: Vec<f64> = (0..ranks)
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 2.7);
                sum
            })
            .collect();
        for so_far in &mut sums {
            *so_far /= sum;
        }
        Zipf(sums)
    }

    /// A rank, from 0.
    pub(crate) fn rank(&self, random: &mut Random) -> usize {
        let share = random.share();
        self.0
            .partition_point(|so_far| *so_far <= share)
            .min(self.0.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let take = |seed, thing| {
            let mut random = Random::new(seed, thing);
            [random.number(), random.number()]
        };
        assert_eq!(take(1, 7), take(1, 7));
        assert_ne!(take(1, 7), take(2, 7));
        assert_ne!(take(1, 7), take(1, 8));
    }

    #[test]
    fn lower_ranks_are_more_frequent() {
        let zipf = Zipf::new(1000);
        let mut random = Random::new(1, 1);
        let mut counts = vec![0; 1000];
        for _ in 0..100_000 {
            counts[zipf.rank(&mut random)] += 1;
        }
        assert!(counts[0] > counts[10] && counts[10] > counts[200]);
    }

    #[test]
    fn half_of_the_values_are_below_the_median() {
        let mut random = Random::new(1, 1);
        let below = (0..10_000)
            .filter(|_| random.log_normal(1500.0, 1.0) < 1500.0)
            .count();
        assert!((4800..5200).contains(&below), "{below}");
    }
}
