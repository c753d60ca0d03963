//! Colour, tables and a pager on a terminal. Text from notes is never passed through
//! as terminal control sequences.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use owo_colors::OwoColorize;

use notehost_records::visible::{visible, visible_json, visible_with_styles};

/// Longer output goes through a pager, in lines.
const PAGER_LINES: usize = 24;
/// The minimum terminal width for wrapping table cells, in columns.
const MIN_WRAP_WIDTH: u16 = 40;

/// Whether the pager is disabled.
static WITHOUT_PAGER: AtomicBool = AtomicBool::new(false);

/// Disables the pager.
pub(crate) fn without_pager() {
    WITHOUT_PAGER.store(true, Ordering::Relaxed);
}

/// An output stream and its capabilities.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    is_terminal: bool,
    has_colour: bool,
    is_stderr: bool,
}

impl Terminal {
    /// Stdout, for results.
    pub(crate) fn stdout() -> Terminal {
        Terminal::new(std::io::stdout().is_terminal(), false)
    }

    /// A file: no colour, no pager.
    pub(crate) fn file() -> Terminal {
        Terminal::new(false, false)
    }

    /// Stderr, for everything else.
    pub(crate) fn stderr() -> Terminal {
        Terminal::new(std::io::stderr().is_terminal(), true)
    }

    fn new(is_terminal: bool, is_stderr: bool) -> Terminal {
        let said_no = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Terminal {
            is_terminal,
            has_colour: is_terminal && !said_no && !dumb,
            is_stderr,
        }
    }

    /// Whether the stream is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// A heading.
    pub(crate) fn strong(&self, text: &str) -> String {
        self.styled(text, text.bold())
    }

    /// Secondary text.
    pub(crate) fn faint(&self, text: &str) -> String {
        self.styled(text, text.dimmed())
    }

    /// A command to type, or a success.
    pub(crate) fn good(&self, text: &str) -> String {
        self.styled(text, text.green())
    }

    /// A warning.
    pub(crate) fn warning(&self, text: &str) -> String {
        self.styled(text, text.yellow())
    }

    /// An error.
    pub(crate) fn bad(&self, text: &str) -> String {
        self.styled(text, text.red().bold())
    }

    fn styled(&self, plain: &str, styled: impl Display) -> String {
        match self.has_colour {
            true => styled.to_string(),
            false => plain.to_owned(),
        }
    }

    /// Untrusted text: control characters, invisible and bidirectional characters are made visible on a terminal.
    pub(crate) fn safe<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.is_terminal {
            true => visible(text),
            false => text.into(),
        }
    }

    /// JSON text: control and invisible characters are escaped.
    pub(crate) fn safe_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.is_terminal {
            true => visible_json(text),
            false => text.into(),
        }
    }

    /// A table with a header; long cells are wrapped to the width of the terminal.
    pub(crate) fn table(
        &self,
        header: &[&str],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> String {
        let mut table = Table::new();
        if self.is_stderr {
            table.use_stderr();
        }
        table.load_style(presets::NOTHING);
        // Some terminals do not report their width, and very narrow ones cannot be wrapped to.
        if table.width().is_some_and(|width| width >= MIN_WRAP_WIDTH) {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        }
        table.set_header(header.iter().map(|name| {
            // A header can be untrusted text too: the keys of a component's reply.
            let cell = Cell::new(self.safe(name));
            if self.has_colour {
                cell.add_attribute(Attribute::Bold)
            } else {
                cell
            }
        }));
        for row in rows {
            table.add_row(row.iter().map(|text| self.safe(text)));
        }
        // Without a frame the first column needs no padding.
        for column in table.column_iter_mut().take(1) {
            column.set_padding((0, 1));
        }
        format!("{}\n", table.trim_fmt())
    }

    /// Prints text, through a pager if it is long. All control characters except our own styles are made visible, also
    /// if untrusted text was not made safe before.
    pub(crate) fn print(&self, text: &str) {
        let text = match self.is_terminal {
            true => visible_with_styles(text),
            false => text.into(),
        };
        // A pager needs a terminal on stdin as well.
        let is_watched = self.is_terminal
            && !self.is_stderr
            && !WITHOUT_PAGER.load(Ordering::Relaxed)
            && std::io::stdin().is_terminal();
        if is_watched && text.lines().count() > PAGER_LINES && page(&text) {
            return;
        }
        // A closed pipe (`| head`) is not an error.
        let _ = if self.is_stderr {
            std::io::stderr().write_all(text.as_bytes())
        } else {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        };
    }
}

/// Shows a text in the user's pager; `false` if there is none.
fn page(text: &str) -> bool {
    let chosen = std::env::var("PAGER").unwrap_or_else(|_| "less".into());
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next() else {
        return false;
    };
    let spawned = Command::new(program)
        .args(words)
        // Exit at once if the text fits the screen, keep colour, keep the text on the screen afterwards.
        .env(
            "LESS",
            std::env::var("LESS").unwrap_or_else(|_| "FRX".into()),
        )
        .env("LESSCHARSET", "utf-8")
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut pager) = spawned else {
        return false;
    };
    if let Some(mut stdin) = pager.stdin.take() {
        // Quitting the pager early is not a failure.
        let _ = stdin.write_all(text.as_bytes());
    }
    pager.wait().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_text_cannot_control_the_terminal() {
        let terminal = Terminal {
            is_terminal: true,
            has_colour: true,
            is_stderr: false,
        };
        assert_eq!(terminal.safe("a\x1b[2Jb\r\n\tc"), "a<U+001B>[2Jb\n\tc");
        assert_eq!(terminal.safe("plain 日本"), "plain 日本");
        let table = terminal.table(&["k\u{202e}y\x1b[2J"], [vec!["v\u{200b}".to_owned()]]);
        assert!(table.contains("k<U+202E>y<U+001B>[2J"), "{table}");
        assert!(table.contains("v<U+200B>"), "{table}");
        // What a program reads stays as it is.
        let pipe = Terminal {
            is_terminal: false,
            ..terminal
        };
        assert_eq!(pipe.safe("a\u{202e}"), "a\u{202e}");
    }
}
