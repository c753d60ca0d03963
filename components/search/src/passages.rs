//! Passages of notes: the lines around a match that belong together, with their section.

use std::ops::RangeInclusive;

use notehost_sdk::text::{self, Outline, approx_tokens};

/// A section up to this size is returned as a whole, in tokens.
const MAX_WHOLE_SECTION_TOKENS: usize = 200;
/// How far a passage extends from the matching line.
const MAX_CONTEXT_LINES: usize = 15;

/// Whole lines of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The lines of the file, from 1.
    pub(crate) lines: RangeInclusive<usize>,
    /// The matching line.
    pub(crate) place: usize,
    /// The heading path of the section.
    pub(crate) section: Option<String>,
    pub(crate) text: String,
}

impl Passage {
    pub(crate) fn tokens(&self) -> usize {
        approx_tokens(&self.text)
    }
}

/// A note split into lines.
pub(crate) struct Lines<'n> {
    lines: Vec<&'n str>,
    /// The first line of the body, from 1.
    body: usize,
    outline: Option<Outline>,
}

impl<'n> Lines<'n> {
    pub(crate) fn of(note: &'n str) -> Lines<'n> {
        Lines {
            lines: note.lines().collect(),
            body: text::line_of(note, text::body::start(note)),
            outline: text::outline(note).ok(),
        }
    }

    /// The passages around these lines, in the same order and without overlap.
    pub(crate) fn around(&self, places: impl IntoIterator<Item = usize>) -> Vec<Passage> {
        let mut passages: Vec<Passage> = Vec::new();
        for place in places {
            let is_known = passages.iter().any(|known| known.lines.contains(&place));
            if is_known || place == 0 || place > self.lines.len() {
                continue;
            }
            let mut lines = self.extent(place);
            // Passages must not overlap.
            for known in &passages {
                if known.lines.end() < &place {
                    lines = (*lines.start()).max(known.lines.end() + 1)..=*lines.end();
                } else {
                    lines = *lines.start()..=(*lines.end()).min(known.lines.start() - 1);
                }
            }
            passages.push(self.passage(lines, place));
        }
        passages
    }

    /// The beginning of the note, up to a number of tokens; `None` if the body is empty.
    pub(crate) fn beginning(&self, tokens: usize) -> Option<Passage> {
        let has_text = |line: &usize| !self.lines[line - 1].trim().is_empty();
        let first = (self.body..=self.lines.len()).find(has_text)?;
        let whole = self.passage(first..=self.lines.len(), first);
        self.cut(&whole, tokens)
    }

    /// Truncates a passage to the lines around its match that fit; `None` if not even that line fits.
    pub(crate) fn cut(&self, passage: &Passage, tokens: usize) -> Option<Passage> {
        let cost = |line: usize| approx_tokens(self.lines[line - 1]) + 1;
        let (mut from, mut to) = (passage.place, passage.place);
        let mut left = tokens.checked_sub(cost(passage.place))?;
        loop {
            let below = (to < *passage.lines.end()).then(|| cost(to + 1));
            let above = (from > *passage.lines.start()).then(|| cost(from - 1));
            // Lines below the match are usually more relevant than lines above it.
            match (
                below.filter(|cost| *cost <= left),
                above.filter(|cost| *cost <= left),
            ) {
                (Some(cost), _) => {
                    left -= cost;
                    to += 1;
                }
                (None, Some(cost)) => {
                    left -= cost;
                    from -= 1;
                }
                (None, None) => break,
            }
        }
        let cut = self.passage(from..=to, passage.place);
        (!cut.text.is_empty() && cut.tokens() <= tokens).then_some(cut)
    }

    /// The lines that belong to a line: its section if that is short, else its paragraph.
    fn extent(&self, place: usize) -> RangeInclusive<usize> {
        if place < self.body {
            return place..=place;
        }
        let section = self.section_lines(place);
        let whole = self.passage(section.clone(), place);
        if whole.tokens() <= MAX_WHOLE_SECTION_TOKENS {
            return section;
        }
        let is_blank = |line: usize| self.lines[line - 1].trim().is_empty();
        let mut from = place;
        while from > *section.start() && place - from < MAX_CONTEXT_LINES && !is_blank(from - 1) {
            from -= 1;
        }
        let mut to = place;
        while to < *section.end() && to - place < MAX_CONTEXT_LINES && !is_blank(to + 1) {
            to += 1;
        }
        // Extend a heading by its first paragraph.
        if place == *section.start() && to == place && place < *section.end() {
            to += 1;
            while to < *section.end()
                && to - place < MAX_CONTEXT_LINES
                && (is_blank(to) || !is_blank(to + 1))
            {
                to += 1;
            }
        }
        from..=to
    }

    /// From the heading above a line to the one below it.
    fn section_lines(&self, place: usize) -> RangeInclusive<usize> {
        let headings = self.outline.iter().flat_map(|outline| &outline.headings);
        let starts: Vec<usize> = headings.map(|heading| heading.line).collect();
        let above = starts.iter().rev().find(|start| **start <= place);
        let below = starts.iter().find(|start| **start > place);
        let from = above.copied().unwrap_or(self.body).min(place);
        let to = below.map_or(self.lines.len(), |start| start - 1).max(place);
        from..=to
    }

    fn passage(&self, lines: RangeInclusive<usize>, place: usize) -> Passage {
        let (mut from, mut to) = (*lines.start(), *lines.end());
        let is_blank = |line: usize| self.lines[line - 1].trim().is_empty();
        while from < to && is_blank(from) {
            from += 1;
        }
        while to > from && is_blank(to) {
            to -= 1;
        }
        Passage {
            lines: from..=to,
            place: place.clamp(from, to),
            section: self.section(place),
            text: self.lines[from - 1..to].join("\n"),
        }
    }

    fn section(&self, place: usize) -> Option<String> {
        let outline = self.outline.as_ref()?;
        let mut headings = outline.headings.iter().enumerate().rev();
        let (index, _) = headings.find(|(_, heading)| heading.line <= place)?;
        Some(outline.path(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sections_are_whole_passages_and_long_ones_are_split_into_paragraphs() {
        let note = "---\na: 1\n---\n# One\n\nfirst\n\n## Two\nsecond\n# Three\n";
        let lines = Lines::of(note);
        let passages = lines.around([6, 9, 4, 2]);
        assert_eq!(passages[0].text, "# One\n\nfirst");
        assert_eq!(passages[0].lines, 4..=6);
        assert_eq!(passages[1].section.as_deref(), Some("One > Two"));
        assert_eq!(passages[2].text, "a: 1");
        assert_eq!(passages.len(), 3);
        let long = format!(
            "# Long\n\n{}\n\nthe place\nand more\n\n{}",
            "word ".repeat(500),
            "word ".repeat(500)
        );
        let passages = Lines::of(&long).around([5]);
        assert_eq!(passages[0].text, "the place\nand more");
        let heading = Lines::of(&long).around([1]);
        assert_eq!(heading[0].lines, 1..=3);
    }

    #[test]
    fn a_passage_is_truncated_at_line_boundaries() {
        let note = "one one one one\ntwo two two two\nthree three three\nfour four four\n";
        let lines = Lines::of(note);
        let whole = &lines.around([2])[0];
        assert_eq!(whole.lines, 1..=4);
        let cut = lines.cut(whole, 12).unwrap();
        assert_eq!(cut.text, "two two two two\nthree three three");
        assert_eq!(lines.cut(whole, 3), None);
        assert_eq!(lines.beginning(6).unwrap().text, "one one one one");
        assert_eq!(Lines::of("\n\n").beginning(50), None);
        assert_eq!(Lines::of("").around([1]), []);
    }
}
