//! Candidates for a substring search, found by the words of notes, so that not every note has to be read.
//!
//! The result may contain false positives, never false negatives. A text is cut into pieces that must occur within one
//! word of the note: in scripts with spaces a run of letters is part of a word; in scripts without spaces two adjacent
//! letters are a word. Notes for which this does not hold (very long runs, composed letters, signs that fold to
//! letters) are marked as loose when they are indexed (`schema.rs`) and are always candidates.

use notehost_sdk::words::{self, Form};

use super::schema::place;
use super::segment::Segment;
use super::state::State;
use super::{Bitmap, SearchResult};
use crate::limits::deadline::Deadline;

/// A shorter piece of a word occurs in too many words to be worth a look.
const MIN_CHARS: usize = 3;

/// What the words of a note must be like to contain a text.
struct Needle {
    /// A word contains this.
    within: Option<String>,
    /// These are words.
    exact: Vec<String>,
}

pub(super) fn containing(
    state: &State,
    texts: &[Vec<String>],
    visible: &Bitmap,
    deadline: &Deadline,
) -> SearchResult<Bitmap> {
    let mut found = state.live.clone();
    found.keep_within(visible);
    for choices in texts {
        // One without pieces makes the others worthless: the note may contain just that.
        let mut needles = Vec::with_capacity(choices.len());
        for text in choices {
            deadline.before(text.len())?;
            needles.push(needle(text));
        }
        let Some(needles) = needles.into_iter().collect::<Option<Vec<_>>>() else {
            continue;
        };
        let mut fitting = Bitmap::new();
        for segment in state.segments() {
            for doc in candidates(segment, &needles, deadline)?.iter() {
                deadline.step()?;
                let doc_id = segment.doc_ids[doc as usize];
                if found.contains(doc_id) {
                    fitting.insert(doc_id);
                }
            }
        }
        found = fitting;
    }
    Ok(found)
}

/// The documents of a segment that may contain one of these.
fn candidates(segment: &Segment, needles: &[Needle], deadline: &Deadline) -> SearchResult<Bitmap> {
    let words = &segment.parts[place(notehost_sdk::index::Part::Text)];
    let mut found: Bitmap = segment.loose.iter().copied().collect();
    for needle in needles {
        deadline.check()?;
        let mut fitting: Option<Bitmap> = None;
        let mut keep = |docs: Bitmap| match &mut fitting {
            Some(fitting) => fitting.keep_within(&docs),
            None => fitting = Some(docs),
        };
        for word in &needle.exact {
            deadline.step()?;
            let mut docs = Bitmap::new();
            if let Some(info) = words.info(word)? {
                words.each_doc(&info, deadline, |doc| {
                    docs.insert(doc);
                })?;
            }
            keep(docs);
        }
        if let Some(text) = &needle.within {
            let mut docs = Bitmap::new();
            words.each_containing(text, deadline, |info| {
                words.each_doc(info, deadline, |doc| {
                    docs.insert(doc);
                })
            })?;
            keep(docs);
        }
        if let Some(fitting) = fitting {
            found.extend_by(&fitting);
        }
    }
    Ok(found)
}

/// `None` if the text could occur in any note.
fn needle(text: &str) -> Option<Needle> {
    let folded = words::fold(text);
    let mut longest: &str = "";
    let mut pairs: Vec<String> = Vec::new();
    let mut singles: Vec<String> = Vec::new();
    words::for_each_word(&folded, |word| match word.form {
        Form::Whole | Form::Cut => {
            // An iota can be written as a mark, which folding takes away.
            for piece in folded[word.range].split('ι') {
                if piece.chars().count() > longest.chars().count() {
                    longest = piece;
                }
            }
        }
        Form::Part => {}
        Form::Single => singles.push(word.text.to_owned()),
        Form::Pair => pairs.push(word.text.to_owned()),
    });
    let mut exact = if pairs.is_empty() { singles } else { pairs };
    exact.sort_unstable();
    exact.dedup();
    let longest = longest.trim_matches('_');
    let within = (longest.chars().count() >= MIN_CHARS).then(|| longest.to_owned());
    (within.is_some() || !exact.is_empty()).then_some(Needle { within, exact })
}
