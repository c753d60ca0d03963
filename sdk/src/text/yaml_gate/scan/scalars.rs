//! Finds the ends of scalars: quoted, plain and block scalars.

use super::Scan;

impl Scan<'_> {
    pub(super) fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            let length = self.line_break(0);
            match byte {
                _ if length > 0 => self.skip_break(length),
                b'\\' if quote == b'"' => {
                    self.at += 1;
                    match self.line_break(0) {
                        0 => self.at += 1,
                        length => self.skip_break(length),
                    }
                }
                b'\'' if quote == b'\'' && self.peek(1) == Some(b'\'') => self.at += 2,
                _ if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// A plain scalar, including its continuation lines.
    pub(super) fn plain(&mut self) {
        let in_flow = !self.flow.is_empty();
        let least = self.indents.last().map_or(0, |indent| indent.column + 1);
        let mut is_over = false;
        loop {
            while !self.is_blank(0) {
                let ends = match self.peek(0) {
                    Some(b':') => self.is_blank(1),
                    Some(b',' | b'[' | b']' | b'{' | b'}') => in_flow,
                    _ => false,
                };
                if ends {
                    return self.after_plain(is_over);
                }
                self.at += 1;
            }
            let blanks = self.at;
            loop {
                match self.line_break(0) {
                    0 if matches!(self.peek(0), Some(b' ' | b'\t')) => self.at += 1,
                    0 => break,
                    length => {
                        self.skip_break(length);
                        is_over = true;
                    }
                }
            }
            let column = self.at - self.line_start;
            let has_ended = self.at == blanks
                || self.peek(0) == Some(b'#')
                || !in_flow && column < least
                || column == 0 && self.is_document_mark()
                || in_flow && matches!(self.peek(0), Some(b',' | b'[' | b']' | b'{' | b'}'));
            if has_ended {
                return self.after_plain(is_over);
            }
        }
    }

    fn after_plain(&mut self, is_over: bool) {
        self.key_allowed |= is_over;
    }

    /// A block scalar after `|` or `>`.
    pub(super) fn block_scalar(&mut self) {
        let within = self.indents.last().map(|indent| indent.column);
        self.at += 1;
        let mut explicit = None;
        while let Some(byte @ (b'+' | b'-' | b'1'..=b'9')) = self.peek(0) {
            if byte.is_ascii_digit() {
                explicit = Some(within.unwrap_or(0) + usize::from(byte - b'0'));
            }
            self.at += 1;
        }
        self.skip_line();
        self.skip_break(self.line_break(0));
        let mut widest = 0;
        let mut indent = explicit;
        loop {
            let rest = &self.bytes[self.at..];
            let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
            let spaces = indent.map_or(spaces, |indent| spaces.min(indent));
            self.at += spaces;
            widest = widest.max(spaces);
            match self.line_break(0) {
                0 if self.peek(0).is_none() => return,
                0 => {}
                length => {
                    self.skip_break(length);
                    continue;
                }
            }
            let least = within.map_or(1, |column| column + 1);
            let indent = *indent.get_or_insert(widest.max(least));
            if spaces < indent {
                return;
            }
            self.skip_line();
            match self.line_break(0) {
                0 => return,
                length => self.skip_break(length),
            }
        }
    }
}
