//! Notes that are like a note or a text.

use notehost_sdk::index::{Condition, Query};
use notehost_sdk::prelude::*;
use notehost_sdk::{stem_of, text, words};

use crate::MOST;
use crate::narrowing;
use crate::text::{Hits, hits, readable_hits};
use notehost_sdk::pages::Span;

/// How much of a text is looked at: what sets it apart is said by then.
const LOOKED_AT: usize = 64 * 1024;

/// Find notes that are like a note or a text: they share the words that set it apart. Give `path` or `text`.
///
/// Example: `{"path": "Garden/Tomatoes"}`
#[args]
pub struct Similar {
    /// The note.
    pub path: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// How many, 1–200 (default 10).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl Action for Similar {
    type Output = Hits;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Hits> {
        let span = Span::within(self.limit, 10, MOST, self.cursor.as_deref())?;
        let mut conditions = Vec::new();
        let text = match (self.path, self.text) {
            (Some(path), None) => {
                let note = vault.read_note(&path)?;
                conditions.push(Condition::Not(Box::new(Condition::Under(
                    note.path.clone(),
                ))));
                format!("{}\n{}", stem_of(&note.path), text::body(&note.text))
            }
            (None, Some(text)) => text,
            _ => {
                return Err(Error::validation("give exactly one of `path` and `text`"));
            }
        };
        let text = begin(&text, LOOKED_AT);
        if words::query_terms(text).is_empty() {
            return Err(Error::validation(
                "there are no words that another note could have too",
            ));
        }
        conditions.push(Condition::Like(text.to_owned()));
        let found = vault.find(&Query {
            condition: Some(narrowing::all(conditions)),
            offset: span.offset(),
            limit: span.count(),
            snippets: 1,
            ..Query::default()
        })?;
        Ok(hits(vault, found, &span))
    }

    fn text(output: &Hits) -> String {
        readable_hits(output)
    }
}

/// The first so many bytes of a text, or one letter less.
fn begin(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
