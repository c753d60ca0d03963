//! How far a call has come, as a bar: only where a person looks, and only for calls that say it.

use indicatif::{ProgressBar, ProgressStyle};

use super::terminal::Terminal;
use notehost_pipeline::{Progress, ProgressSink};

/// A bar that appears when a call first says how far it is, and goes when this is dropped.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Bar {
        let bar = match Terminal::stderr().is_terminal() {
            true => ProgressBar::no_length(),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Bar(bar)
    }

    /// What a call tells it through; nothing where nobody looks.
    pub(super) fn sink(&self) -> Option<ProgressSink> {
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

    /// Take it off the screen: something else is to be shown.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
