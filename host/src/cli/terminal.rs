//! Colour, tables and a pager, where there is a person to enjoy them. What comes from notes is never let through
//! as terminal control.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use owo_colors::OwoColorize;

use notehost_records::visible::{visible, visible_json, visible_with_styles};

/// More lines than this go through a pager.
const PAGE: usize = 24;
/// Cells are not wrapped in fewer columns than this.
const NARROW: u16 = 40;

/// Whether somebody said that no pager shall come between.
static WITHOUT_PAGER: AtomicBool = AtomicBool::new(false);

/// Print long texts as they are, from now on.
pub(super) fn without_pager() {
    WITHOUT_PAGER.store(true, Ordering::Relaxed);
}

/// One of the two streams, and what it can show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terminal {
    is_terminal: bool,
    has_colour: bool,
    is_stderr: bool,
}

impl Terminal {
    /// Where answers go.
    pub(super) fn stdout() -> Terminal {
        Terminal::new(std::io::stdout().is_terminal(), false)
    }

    /// A file: nobody looks while it is written.
    pub(super) fn file() -> Terminal {
        Terminal::new(false, false)
    }

    /// Where everything else goes.
    pub(super) fn stderr() -> Terminal {
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

    /// Whether a person is looking.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// A heading.
    pub(super) fn strong(&self, text: &str) -> String {
        if self.has_colour {
            text.bold().to_string()
        } else {
            text.to_owned()
        }
    }

    /// Something beside the point.
    pub(super) fn faint(&self, text: &str) -> String {
        if self.has_colour {
            text.dimmed().to_string()
        } else {
            text.to_owned()
        }
    }

    /// Something to type, or something that went well.
    pub(super) fn good(&self, text: &str) -> String {
        if self.has_colour {
            text.green().to_string()
        } else {
            text.to_owned()
        }
    }

    /// Something to look at.
    pub(super) fn warning(&self, text: &str) -> String {
        if self.has_colour {
            text.yellow().to_string()
        } else {
            text.to_owned()
        }
    }

    /// Something that went wrong.
    pub(super) fn bad(&self, text: &str) -> String {
        if self.has_colour {
            text.red().bold().to_string()
        } else {
            text.to_owned()
        }
    }

    /// Text of others: what would move the cursor, hide something or change the order of what is seen is made visible.
    pub(super) fn safe<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.is_terminal {
            true => visible(text),
            false => text.into(),
        }
    }

    /// JSON text: what would be hidden is escaped.
    pub(super) fn safe_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.is_terminal {
            true => visible_json(text),
            false => text.into(),
        }
    }

    /// A table with a header; long cells are wrapped to the width of the terminal.
    pub(super) fn table(
        &self,
        header: &[&str],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> String {
        let mut table = Table::new();
        if self.is_stderr {
            table.use_stderr();
        }
        table.load_style(presets::NOTHING);
        // Some terminals do not know their width, and nothing can be wrapped to a very small one.
        if table.width().is_some_and(|width| width >= NARROW) {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        }
        table.set_header(header.iter().map(|name| {
            // Also a header can be text of others: the keys of what a component answers.
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
        // Without a frame the first column needs no room before it.
        for column in table.column_iter_mut().take(1) {
            column.set_padding((0, 1));
        }
        format!("{}\n", table.trim_fmt())
    }

    /// Print, through a pager if a person would have to scroll. Nothing but our own styles gets to a terminal unseen, also
    /// where a text of others was not made safe before.
    pub(super) fn print(&self, text: &str) {
        let text = match self.is_terminal {
            true => visible_with_styles(text),
            false => text.into(),
        };
        // A pager needs somebody at the keyboard as well.
        let is_watched = self.is_terminal
            && !self.is_stderr
            && !WITHOUT_PAGER.load(Ordering::Relaxed)
            && std::io::stdin().is_terminal();
        if is_watched && text.lines().count() > PAGE && page(&text) {
            return;
        }
        // A reader that went away (`| head`) has seen enough.
        let _ = if self.is_stderr {
            std::io::stderr().write_all(text.as_bytes())
        } else {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        };
    }
}

/// Show a text in the person's pager; `false` if there is none.
fn page(text: &str) -> bool {
    let chosen = std::env::var("PAGER").unwrap_or_else(|_| "less".into());
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next() else {
        return false;
    };
    let spawned = Command::new(program)
        .args(words)
        // Leave at once what fits the screen, keep colour, keep the text on the screen afterwards.
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
        // Leaving the pager early is no failure.
        let _ = stdin.write_all(text.as_bytes());
    }
    pager.wait().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_cannot_speak_to_the_terminal() {
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
