//! How far a long action has come: steps that are counted, and told to the caller who waits.

use crate::Vault;

/// Told so many times in all, at most: the caller cannot see more, and each is a call of the host.
const MOST_TOLD: u64 = 100;

/// Counts what a long action has done of what it has to do, and tells the caller; `vault.steps` begins it.
pub struct Steps<'v> {
    vault: &'v Vault,
    done: u64,
    total: u64,
    told: u64,
}

impl Vault {
    /// Begin to count: so many steps are to be done.
    ///
    /// ```
    /// # use notehost_sdk::Vault;
    /// # fn run(vault: &Vault, paths: &[String]) {
    /// let mut steps = vault.steps(paths.len());
    /// for path in paths {
    ///     // …
    ///     steps.done("notes read");
    /// }
    /// # }
    /// ```
    pub fn steps(&self, total: usize) -> Steps<'_> {
        Steps {
            vault: self,
            done: 0,
            total: total as u64,
            told: 0,
        }
    }
}

impl Steps<'_> {
    /// One more is done; in a few words, what: `notes read`.
    pub fn done(&mut self, what: &str) {
        self.done += 1;
        let is_last = self.done == self.total;
        if is_last || self.done - self.told >= self.total.div_ceil(MOST_TOLD) {
            self.told = self.done;
            let total = self.total.max(self.done);
            self.vault.progress(self.done, Some(total), what);
        }
    }

    /// There are so many more to do than was known.
    pub fn more(&mut self, steps: usize) {
        self.total += steps as u64;
    }
}

#[cfg(test)]
mod tests {
    use crate::Vault;

    #[test]
    fn steps_are_told_in_hundredths_and_at_the_end() {
        let vault = Vault::in_memory();
        let mut steps = vault.steps(1000);
        steps.more(250);
        for _ in 0..1250 {
            steps.done("notes read");
        }
        let told = vault.progressed();
        assert_eq!(told.len(), 97);
        assert_eq!(told[0], (13, Some(1250), "notes read".to_owned()));
        assert_eq!(told[96].0, 1250);
        assert!(told.is_sorted());
    }

    #[test]
    fn more_steps_than_were_announced_are_told_as_all_there_are() {
        let vault = Vault::in_memory();
        let mut steps = vault.steps(0);
        steps.done("files");
        assert_eq!(vault.progressed(), [(1, Some(1), "files".to_owned())]);
    }
}
