//! The progress bar of a call: only on a terminal, and only for calls that report progress.

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::{Progress, ProgressSink};

/// A bar that appears with the first progress report and disappears on drop.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Bar {
        let bar = match Terminal::stderr().is_terminal() {
            true => ProgressBar::no_length(),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Bar(bar)
    }

    /// The sink of progress reports; `None` if stderr is not a terminal.
    pub(crate) fn sink(&self) -> Option<ProgressSink> {
        if self.0.is_hidden() {
            return None;
        }
        let (bar, terminal) = (self.0.clone(), Terminal::stderr());
        Some(ProgressSink::new(move |progress: Progress| {
            bar.set_length(progress.total.unwrap_or(progress.done));
            bar.set_message(terminal.safe(&progress.message).to_string());
            bar.set_position(progress.done);
        }))
    }

    /// Removes the bar from the screen.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
