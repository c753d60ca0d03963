//! Progress reports of a long action, as a count of steps.

use crate::Vault;

/// The maximum number of reports per action: each is a host call, and callers cannot use more.
const MAX_REPORTS: u64 = 100;

/// Counts the steps of a long action and reports them to the caller. `vault.steps` creates it.
pub struct Steps<'v> {
    vault: &'v Vault,
    done: u64,
    total: u64,
    reported: u64,
}

impl Vault {
    /// Starts counting `total` steps.
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
            reported: 0,
        }
    }
}

impl Steps<'_> {
    /// Counts a completed step; `what` describes the steps in a few words: `notes read`.
    pub fn done(&mut self, what: &str) {
        self.done += 1;
        let is_last = self.done == self.total;
        if is_last || self.done - self.reported >= self.total.div_ceil(MAX_REPORTS) {
            self.reported = self.done;
            let total = self.total.max(self.done);
            self.vault.progress(self.done, Some(total), what);
        }
    }

    /// Increases the total.
    pub fn more(&mut self, steps: usize) {
        self.total += steps as u64;
    }
}

#[cfg(test)]
mod tests {
    use crate::Vault;

    #[test]
    fn steps_are_reported_per_cent_and_at_the_end() {
        let vault = Vault::in_memory();
        let mut steps = vault.steps(1000);
        steps.more(250);
        for _ in 0..1250 {
            steps.done("notes read");
        }
        let reports = vault.progress_reports();
        assert_eq!(reports.len(), 97);
        assert_eq!(reports[0], (13, Some(1250), "notes read".to_owned()));
        assert_eq!(reports[96].0, 1250);
        assert!(reports.is_sorted());
    }

    #[test]
    fn the_reported_total_is_at_least_the_steps_done() {
        let vault = Vault::in_memory();
        let mut steps = vault.steps(0);
        steps.done("files");
        assert_eq!(vault.progress_reports(), [(1, Some(1), "files".to_owned())]);
    }
}
