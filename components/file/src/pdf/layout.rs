//! Glyphs at places become lines of text: a gap is a space, a step down a new line, a larger one a new paragraph.

use hayro_font::kurbo::Point;

/// A gap this wide, in heights of a letter, is a space.
const SPACE: f64 = 0.18;
/// A step this far up or down is a new line.
const LINE: f64 = 0.45;
/// A step this far is a new paragraph.
const PARAGRAPH: f64 = 1.9;

/// The text so far.
#[derive(Debug)]
pub(super) struct Lines {
    text: String,
    most: usize,
    /// Where the last glyph ended, and its height.
    last: Option<(Point, f64)>,
}

impl Lines {
    /// Nothing yet, and so many bytes at most.
    pub(super) fn new(most: usize) -> Lines {
        Lines {
            text: String::new(),
            most,
            last: None,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.most
    }

    /// Some letters that reach from one point to another.
    pub(super) fn add(&mut self, letters: &str, begin: Point, end: Point, height: f64) {
        if let Some((last, last_height)) = self.last {
            self.step(last, begin, height.max(last_height).max(f64::MIN_POSITIVE));
        }
        for letter in letters.chars() {
            match letter {
                // What no reader sees.
                '\0' | '\u{ad}' | '\u{feff}' | '\u{fffd}' => {}
                letter if letter.is_whitespace() => self.space(),
                letter if letter.is_control() => {}
                letter => self.text.push(letter),
            }
        }
        self.last = Some((end, height));
    }

    /// A glyph of which nobody knows the letter takes its room.
    pub(super) fn skip(&mut self, end: Point) {
        if let Some((last, _)) = &mut self.last {
            *last = end;
        }
    }

    /// The text, without space at the ends of lines.
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
        if up > PARAGRAPH * height {
            self.line();
            self.line();
        } else if up > LINE * height {
            self.line();
        } else if right > SPACE * height || right < -height {
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
