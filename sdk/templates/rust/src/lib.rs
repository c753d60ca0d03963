//! A tool domain for Notehost. An action is a struct: its fields are the arguments, its doc comments are what a model
//! reads, `run` is its behaviour. The vault that it receives permits exactly what the caller may do.

use notehost_sdk::prelude::*;

domain! {
    /// Count the words of a note (`count`), and append a line to it (`add`).
    "domain_name" {
        "count" => Count,
        "add" => Add,
    }
}

/// Count the words of a note.
///
/// Example: `{"path": "Welcome"}`
#[args]
pub struct Count {
    /// The note's path, or its unique name.
    pub path: String,
}

/// A note and its word count.
#[reply]
pub struct Counted {
    /// The note.
    pub path: String,
    /// Number of words.
    pub words: usize,
}

impl Action for Count {
    type Output = Counted;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Counted> {
        let note = vault.read_note(&self.path)?;
        Ok(Counted {
            words: note.text.split_whitespace().count(),
            path: note.path,
        })
    }

    fn text(counted: &Counted) -> String {
        format!("{} has {} words", counted.path, counted.words)
    }
}

/// Add a line to the end of a note.
///
/// Example: `{"path": "Welcome", "line": "Water the mint."}`
#[args]
pub struct Add {
    /// The note's path, or its unique name.
    pub path: String,
    /// The line, without a line break.
    pub line: String,
}

impl Action for Add {
    type Output = Counted;
    // The host enforces it: an action with `Effect::Read` cannot write.
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Counted> {
        if self.line.contains('\n') {
            return Err(Error::validation(
                "`line` has a line break: add one line at a time",
            ));
        }
        let note = vault.read_note(&self.path)?;
        let gap = if note.text.is_empty() || note.text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let text = format!("{}{gap}{}\n", note.text, self.line);
        // Staged: committed when the action returns `Ok`, discarded otherwise.
        vault.write_note(&note, &text)?;
        Ok(Counted {
            words: text.split_whitespace().count(),
            path: note.path,
        })
    }

    fn text(counted: &Counted) -> String {
        format!("added; {} has {} words now", counted.path, counted.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(vault: &Vault, line: &str) -> Result<Counted> {
        let (path, line) = ("Plan".to_owned(), line.to_owned());
        Add { path, line }.run(vault)
    }

    #[test]
    fn words_are_counted() {
        let vault = Vault::in_memory().with("Work/Plan.md", "# A plan\n\nwith words");
        let counted = Count {
            path: "plan".into(),
        }
        .run(&vault)
        .expect("the note exists");
        assert_eq!((counted.path.as_str(), counted.words), ("Work/Plan.md", 5));
    }

    #[test]
    fn a_line_is_added_at_the_end() {
        let vault = Vault::in_memory().with("Plan.md", "first");
        assert_eq!(add(&vault, "second").expect("the line is added").words, 2);
        assert_eq!(vault.text("Plan.md").as_deref(), Some("first\nsecond\n"));
        assert_eq!(
            add(&vault, "a\nb").expect_err("two lines").code(),
            "validation_error"
        );
    }

    #[test]
    fn adding_to_a_missing_note_is_not_found() {
        let error = add(&Vault::in_memory(), "x").expect_err("the note is missing");
        assert_eq!(error.code(), "not_found");
    }
}
