//! Notes that are similar to a note or a text.

use notehost_sdk::index::{Condition, Query};
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;
use notehost_sdk::{stem_of, text, words};

use crate::MAX_PAGE_SIZE;
use crate::restrictions;
use crate::text::{Hits, hits, readable_hits};

/// How much of a text is compared: enough for its distinctive words.
const MAX_COMPARED_BYTES: usize = 64 * 1024;

/// Find similar notes, like a given note or text: they share its distinctive words. Give `path` or `text`.
///
/// Example: `{"path": "Garden/Tomatoes"}`
#[args]
pub struct Similar {
    /// The note.
    pub path: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// Page size, 1–200 (default 10).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

impl Action for Similar {
    type Output = Hits;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Hits> {
        let span = Span::within(self.limit, 10, MAX_PAGE_SIZE, self.cursor.as_deref())?;
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
        let text = &text[..text.floor_char_boundary(MAX_COMPARED_BYTES)];
        if words::query_terms(text).is_empty() {
            return Err(Error::validation(
                "the text has no words to compare with other notes",
            ));
        }
        conditions.push(Condition::Like(text.to_owned()));
        let found = vault.find(&Query {
            condition: Some(restrictions::all_of(conditions)),
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
