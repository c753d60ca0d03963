//! Turns positioned glyphs into lines of text: a gap is a space, a step down a new line, a larger step a new paragraph.

use hayro_font::kurbo::Point;

/// The minimum gap for a space, relative to the glyph height.
const SPACE_GAP: f64 = 0.18;
/// The minimum vertical step for a new line.
const LINE_STEP: f64 = 0.45;
/// The minimum vertical step for a new paragraph.
const PARAGRAPH_STEP: f64 = 1.9;

/// The text so far.
#[derive(Debug)]
pub(super) struct Lines {
    text: String,
    max_bytes: usize,
    /// Where the last glyph ended, and its height.
    last: Option<(Point, f64)>,
}

impl Lines {
    /// An empty text of at most `max_bytes`.
    pub(super) fn new(max_bytes: usize) -> Lines {
        Lines {
            text: String::new(),
            max_bytes,
            last: None,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.max_bytes
    }

    /// Adds letters that extend from one point to another.
    pub(super) fn add(&mut self, letters: &str, begin: Point, end: Point, height: f64) {
        if let Some((last, last_height)) = self.last {
            self.step(last, begin, height.max(last_height).max(f64::MIN_POSITIVE));
        }
        for letter in letters.chars() {
            match letter {
                // Invisible characters.
                '\0' | '\u{ad}' | '\u{feff}' | '\u{fffd}' => {}
                letter if letter.is_whitespace() => self.space(),
                letter if letter.is_control() => {}
                letter => self.text.push(letter),
            }
        }
        self.last = Some((end, height));
    }

    /// Advances over a glyph without a known character.
    pub(super) fn skip(&mut self, end: Point) {
        if let Some((last, _)) = &mut self.last {
            *last = end;
        }
    }

    /// The text, without trailing spaces.
    pub(super) fn finish(self) -> String {
        let mut text = String::with_capacity(self.text.len());
        for line in self.text.trim().lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn step(&mut self, from: Point, to: Point, height: f64) {
        let (right, up) = (to.x - from.x, (to.y - from.y).abs());
        if !(right.is_finite() && up.is_finite()) {
            return;
        }
        if up > PARAGRAPH_STEP * height {
            self.line();
            self.line();
        } else if up > LINE_STEP * height {
            self.line();
        } else if right > SPACE_GAP * height || right < -height {
            self.space();
        }
    }

    fn line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }
}
