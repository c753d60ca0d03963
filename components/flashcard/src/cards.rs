//! Finds the cards of a note with their exact ranges. A passage (a [`Question`]) yields one card or several sibling
//! cards: both directions, or one for each cloze.

use std::ops::Range;

use crate::comment::{self, Comment};
use crate::lines::{Kind, Line, SCHEDULE, lines, marker_length};
use crate::spans::{self, Cloze, Separator};

/// Maximum length of a passage. Longer ones are ignored: each sibling would repeat the text.
const MAX_PASSAGE_BYTES: usize = 32 << 10;
/// Maximum number of siblings of a passage.
const MAX_SIBLINGS: usize = 100;
/// The placeholder of a cloze in a question.
const GAP: &str = "[...]";

/// The notation of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Question and answer on one line.
    Line,
    /// Question, `?`, answer.
    Lines,
    /// Text with clozes.
    Cloze,
}

impl Shape {
    /// Its name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Shape::Line => "line",
            Shape::Lines => "lines",
            Shape::Cloze => "cloze",
        }
    }
}

/// One card of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Side {
    /// The question.
    pub(crate) front: String,
    /// The answer.
    pub(crate) back: String,
}

/// A passage that yields cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// Its notation.
    pub(crate) shape: Shape,
    /// Its first line in the file, 1-based.
    pub(crate) line: usize,
    /// Its lines, without the last line ending and without its schedule.
    pub(crate) range: Range<usize>,
    /// Its lines with their endings and its schedule.
    pub(crate) whole: Range<usize>,
    /// Its cards.
    pub(crate) sides: Vec<Side>,
    /// The `^id` at its end.
    pub(crate) block: Option<String>,
    /// Its schedule comment.
    pub(crate) schedule: Option<Comment>,
    /// For a cloze: its text in the notation of Anki.
    pub(crate) numbered: Option<String>,
}

/// The passages of a note that yield cards, in order. `bold` is whether bold text is a cloze.
pub(crate) fn questions(note: &str, bold: bool) -> Vec<Question> {
    let lines = lines(note);
    let mut finder = Finder {
        note,
        lines: &lines,
        bold,
        found: Vec::new(),
        passage: Passage::default(),
    };
    let mut index = 0;
    while index < lines.len() {
        index = finder.line(index);
    }
    finder.end(lines.len());
    finder.found
}

/// The lines since the last blank line.
#[derive(Default)]
struct Passage {
    first: Option<usize>,
    separator: Option<(usize, bool)>,
    clozes: Vec<Cloze>,
}

struct Finder<'n> {
    note: &'n str,
    lines: &'n [Line],
    bold: bool,
    found: Vec<Question>,
    passage: Passage,
}

impl Finder<'_> {
    /// Processes a line; returns the index of the next one.
    fn line(&mut self, index: usize) -> usize {
        let line = &self.lines[index];
        match line.kind {
            Kind::Blank => self.end(index),
            Kind::Comment => {}
            Kind::Inert => {
                self.passage.first.get_or_insert(index);
            }
            Kind::Schedule => {
                self.end_with(index, Some(index));
            }
            Kind::Prose => return self.prose(index),
        }
        index + 1
    }

    fn prose(&mut self, index: usize) -> usize {
        let range = self.lines[index].range.clone();
        let text = &self.note[range.clone()];
        if self.passage.separator.is_some() || text.len() > MAX_PASSAGE_BYTES {
            self.passage.first.get_or_insert(index);
            return index + 1;
        }
        let bare = text.trim_start_matches([' ', '\t', '>']).trim_end();
        if let (Some(_), "?" | "??") = (self.passage.first, bare) {
            self.passage.separator = Some((index, bare == "??"));
            return index + 1;
        }
        let hidden = spans::hidden(text, range.start);
        let clozes = spans::clozes(text, range.start, &hidden, self.bold);
        if let Some(separator) = spans::separator(text, range.start, &hidden, &clozes)
            && let Some(question) = self.one_line(index, &separator)
        {
            let after = question.whole.end;
            self.found.push(question);
            self.passage = Passage::default();
            return self.lines.partition_point(|line| line.range.start < after);
        }
        self.passage.first.get_or_insert(index);
        if self.passage.clozes.len() <= MAX_SIBLINGS {
            self.passage.clozes.extend(clozes);
        }
        index + 1
    }

    fn one_line(&self, index: usize, separator: &Separator) -> Option<Question> {
        let line = &self.lines[index];
        let tail = Tail::of(self.note, line.range.clone());
        let from = line.range.start + marker_length(&self.note[line.range.clone()]);
        if from > separator.range.start || separator.range.end > tail.text.end {
            return None;
        }
        let front = strip_deck_tags(&self.note[from..separator.range.start]);
        let back = strip_deck_tags(&self.note[separator.range.end..tail.text.end]);
        let next = self
            .lines
            .get(index + 1)
            .filter(|next| next.kind == Kind::Schedule);
        let schedule = match (&tail.schedule, next) {
            (Some(range), _) => Some(range.clone()),
            (None, Some(next)) => Some(comment_in(self.note, next)),
            (None, None) => None,
        };
        let own_line = tail.schedule.is_none() && schedule.is_some();
        let end = if own_line {
            next.map_or(line.next, |next| next.next)
        } else {
            line.next
        };
        if front.is_empty() || back.is_empty() {
            return None;
        }
        let mut sides = vec![Side {
            front: front.clone(),
            back: back.clone(),
        }];
        if separator.both {
            sides.push(Side {
                front: back,
                back: front,
            });
        }
        Some(Question {
            shape: Shape::Line,
            line: line.number,
            range: line.range.start..tail.end,
            whole: line.range.start..end,
            sides,
            block: tail.block,
            schedule: schedule.map(|range| comment::parse(self.note, range)),
            numbered: None,
        })
    }

    fn end(&mut self, index: usize) {
        self.end_with(index, None);
    }

    /// Ends the passage before a line; its schedule may be on a line of its own.
    fn end_with(&mut self, index: usize, schedule: Option<usize>) {
        let passage = std::mem::take(&mut self.passage);
        let Some(first) = passage.first.filter(|first| *first < index) else {
            return;
        };
        let last = (first..index)
            .rev()
            .find(|at| self.lines[*at].kind != Kind::Comment);
        let (Some(last), range) = (
            last,
            self.lines[first].range.start..self.lines[index - 1].range.end,
        ) else {
            return;
        };
        if range.len() > MAX_PASSAGE_BYTES || last < first {
            return;
        }
        let tail = Tail::of(self.note, self.lines[last].range.clone());
        let own_line = schedule.filter(|_| tail.schedule.is_none());
        let place = tail
            .schedule
            .clone()
            .or_else(|| own_line.map(|at| comment_in(self.note, &self.lines[at])));
        let reading = MultilinePassage {
            note: self.note,
            lines: self.lines,
            first,
            last,
            tail: &tail,
        };
        let made = match passage.separator {
            Some((at, both)) => reading
                .sides(at, both)
                .map(|sides| (Shape::Lines, sides, None)),
            None if passage.clozes.is_empty() => None,
            None => {
                let (sides, numbered) = reading.cloze_sides(&passage.clozes);
                Some((Shape::Cloze, sides, Some(numbered)))
            }
        };
        let Some((shape, sides, numbered)) = made.filter(|(_, sides, _)| !sides.is_empty()) else {
            return;
        };
        self.found.push(Question {
            shape,
            line: self.lines[first].number,
            range: range.start..tail.end,
            whole: range.start..self.lines[own_line.unwrap_or(index - 1)].next,
            sides,
            block: tail.block.clone(),
            schedule: place.map(|range| comment::parse(self.note, range)),
            numbered,
        });
    }
}

/// A passage of several lines.
struct MultilinePassage<'a> {
    note: &'a str,
    lines: &'a [Line],
    first: usize,
    last: usize,
    tail: &'a Tail,
}

impl MultilinePassage<'_> {
    /// The text of a range of lines, without comments.
    fn text(&self, lines: Range<usize>) -> String {
        self.pieces(lines)
            .into_iter()
            .map(|range| &self.note[range])
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn pieces(&self, lines: Range<usize>) -> Vec<Range<usize>> {
        let visible: Vec<usize> = lines
            .filter(|at| self.lines[*at].kind != Kind::Comment)
            .collect();
        let alone = visible.len() == 1;
        let piece = |at: usize| {
            let range = self.lines[at].range.clone();
            let end = if at == self.last {
                self.tail.text.end
            } else {
                range.end
            };
            let text = &self.note[range.start..end];
            // Lists keep their markers; a single line is stripped of them.
            let skipped = if alone && self.lines[at].kind == Kind::Prose {
                marker_length(text)
            } else {
                text.len() - text.trim_start_matches("> ").len()
            };
            range.start + skipped..end
        };
        visible.into_iter().map(piece).collect()
    }

    fn sides(&self, separator: usize, both: bool) -> Option<Vec<Side>> {
        let front = strip_deck_tags(&self.text(self.first..separator));
        let back = self.text(separator + 1..self.last + 1).trim().to_owned();
        if front.is_empty() || back.is_empty() {
            return None;
        }
        let mut sides = vec![Side {
            front: front.clone(),
            back: back.clone(),
        }];
        if both {
            sides.push(Side {
                front: back,
                back: front,
            });
        }
        Some(sides)
    }

    /// One side for each cloze, and the text in the cloze notation of Anki.
    fn cloze_sides(&self, clozes: &[Cloze]) -> (Vec<Side>, String) {
        let pieces = self.pieces(self.first..self.last + 1);
        let is_visible = |cloze: &&Cloze| {
            pieces
                .iter()
                .any(|piece| piece.start <= cloze.outer.start && cloze.outer.end <= piece.end)
        };
        let clozes: Vec<&Cloze> = clozes
            .iter()
            .filter(is_visible)
            .take(MAX_SIBLINGS)
            .collect();
        let mut numbers: Vec<u32> = Vec::new();
        let mut groups: Vec<usize> = Vec::new();
        let mut count = 0;
        for cloze in &clozes {
            let known = cloze
                .number
                .and_then(|number| numbers.iter().position(|known| *known == number));
            groups.push(known.unwrap_or(count));
            if known.is_none() {
                // A cloze without a number is a group of its own.
                numbers.push(cloze.number.unwrap_or(u32::MAX));
                count += 1;
            }
        }
        let written = |show: &dyn Fn(usize, &Cloze) -> String| -> String {
            let mut text = String::new();
            let mut next = 0;
            for (at, piece) in pieces.iter().enumerate() {
                if at > 0 {
                    text.push('\n');
                }
                let mut from = piece.start;
                while let Some(cloze) = clozes
                    .get(next)
                    .filter(|cloze| cloze.outer.end <= piece.end)
                {
                    text.push_str(&self.note[from..cloze.outer.start]);
                    text.push_str(&show(next, cloze));
                    from = cloze.outer.end;
                    next += 1;
                }
                text.push_str(&self.note[from..piece.end]);
            }
            strip_deck_tags(&text)
        };
        let inner = |cloze: &Cloze| self.note[cloze.inner.clone()].to_owned();
        let back = written(&|_, cloze| inner(cloze));
        let sides = (0..count).map(|group| {
            let front = written(&|at, cloze| match groups[at] == group {
                true => cloze
                    .hint
                    .clone()
                    .map_or_else(|| GAP.to_owned(), |hint| format!("[{}]", &self.note[hint])),
                false => inner(cloze),
            });
            Side {
                front,
                back: back.clone(),
            }
        });
        let numbered = written(&|at, cloze| {
            let hint = cloze
                .hint
                .clone()
                .map_or_else(String::new, |hint| format!("::{}", &self.note[hint]));
            format!("{{{{c{}::{}{hint}}}}}", groups[at] + 1, inner(cloze))
        });
        (sides.collect(), numbered)
    }
}

/// The end of the last line of a passage: block id and schedule.
struct Tail {
    /// The remaining text of the line.
    text: Range<usize>,
    /// End of the passage, after its block id and before its schedule.
    end: usize,
    block: Option<String>,
    schedule: Option<Range<usize>>,
}

impl Tail {
    fn of(note: &str, line: Range<usize>) -> Tail {
        let text = &note[line.clone()];
        let schedule = text
            .rfind(SCHEDULE)
            .filter(|at| *at > 0 && text.trim_end().ends_with("-->") && !text[..*at].ends_with('`'))
            .map(|at| line.start + at..line.start + text.trim_end().len());
        let before = schedule.as_ref().map_or(line.end, |range| range.start);
        let kept = note[line.start..before].trim_end();
        let end = line.start + kept.len();
        let id = kept.rsplit_once([' ', '\t']).and_then(|(rest, last)| {
            let id = last.strip_prefix('^')?;
            let is_id = !id.is_empty()
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            is_id.then(|| (rest.trim_end().len(), id.to_owned()))
        });
        Tail {
            text: line.start..id.as_ref().map_or(end, |(length, _)| line.start + length),
            end,
            block: id.map(|(_, id)| id),
            schedule,
        }
    }
}

/// The range of a comment on a line of its own.
fn comment_in(note: &str, line: &Line) -> Range<usize> {
    let text = &note[line.range.clone()];
    let start = text.find(SCHEDULE).unwrap_or(0);
    line.range.start + start..line.range.start + text.trim_end().len()
}

/// Removes the tags that only name the deck.
fn strip_deck_tags(text: &str) -> String {
    if !text.contains('#') {
        return text.trim().to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    for part in text.split_inclusive(char::is_whitespace) {
        if !is_deck_tag(part.trim_end()) {
            kept.push_str(part);
        }
    }
    kept.trim().to_owned()
}

/// Whether a word is `#flashcards` or a tag below it.
fn is_deck_tag(word: &str) -> bool {
    let Some(name) = word.strip_prefix('#') else {
        return false;
    };
    let top = name.split('/').next().unwrap_or_default();
    top.eq_ignore_ascii_case(crate::decks::TAG)
}

#[cfg(test)]
#[path = "tests/cards.rs"]
mod tests;
