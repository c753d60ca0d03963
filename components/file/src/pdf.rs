//! Extracts the text of a PDF page by page, in drawing order. `hayro` parses the file and its fonts and tolerates
//! errors; this module turns glyphs into lines.
//!
//! A PDF is untrusted input: time and memory are bounded.

mod layout;

use std::io::Read as _;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use hayro_font::hayro_cmap::BfString;
use hayro_font::kurbo::{Affine, Point};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontResolverFn, StandardFont};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Dict, Name, Number, Object, Stream};
use hayro_syntax::page::Resources;
use hayro_syntax::{LoadPdfError, Pdf};

use layout::Lines;

/// The maximum nesting depth of form XObjects.
const MAX_FORM_DEPTH: usize = 8;
/// The maximum number of content stream operations per page.
const MAX_OPERATIONS: usize = 2_000_000;
/// The maximum decompressed size of one stream.
const MAX_STREAM_BYTES: u64 = 64 << 20;
/// The maximum decompressed size of all streams.
const MAX_TOTAL_BYTES: u64 = 512 << 20;

/// Why a PDF cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PdfError {
    /// It needs a password.
    Encrypted,
    /// It is not a PDF, or damaged.
    Invalid,
    /// It decompresses to more than the limits.
    TooLarge,
}

/// An opened PDF.
pub(crate) struct Document(Pdf);

impl Document {
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Document, PdfError> {
        if is_decompression_bomb(&bytes) {
            return Err(PdfError::TooLarge);
        }
        match Pdf::new(bytes) {
            Ok(pdf) if pdf.pages().is_empty() => Err(PdfError::Invalid),
            Ok(pdf) => Ok(Document(pdf)),
            Err(LoadPdfError::Decryption(_)) => Err(PdfError::Encrypted),
            Err(LoadPdfError::Invalid) => Err(PdfError::Invalid),
        }
    }

    /// The number of pages.
    pub(crate) fn pages(&self) -> usize {
        self.0.pages().len()
    }

    /// The title, if it has one.
    pub(crate) fn title(&self) -> Option<String> {
        let title = self.0.metadata().title.as_deref()?;
        let text = match title {
            [0xfe, 0xff, rest @ ..] => {
                let units: Vec<u16> = rest
                    .chunks_exact(2)
                    .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
                    .collect();
                String::from_utf16_lossy(&units)
            }
            title => String::from_utf8_lossy(title).into_owned(),
        };
        let text = text.trim().trim_start_matches('\u{feff}').to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Extracts the text of pages, from 1, with at most `max_bytes` each, until `on_page` breaks.
    pub(crate) fn read(
        &self,
        pages: RangeInclusive<usize>,
        max_bytes: usize,
        mut on_page: impl FnMut(usize, String) -> ControlFlow<()>,
    ) {
        let mut extractor = TextExtractor {
            fonts: FontCache::new(),
            // Glyphs are never drawn, so one fallback font suffices.
            font_resolver: Arc::new(|_| Some(StandardFont::Helvetica.get_font_data())),
            cmap_resolver: Arc::new(|_| None),
            lines: Lines::new(max_bytes),
            operations: 0,
        };
        for number in pages {
            let page = number.checked_sub(1).and_then(|at| self.0.pages().get(at));
            if let Some(page) = page {
                extractor.operations = 0;
                extractor.run(
                    page.typed_operations(),
                    page.resources(),
                    State::default(),
                    0,
                );
            }
            let lines = std::mem::replace(&mut extractor.lines, Lines::new(max_bytes));
            if on_page(number, lines.finish()).is_break() {
                return;
            }
        }
    }
}

/// Whether the streams of the file decompress to more than the limits.
fn is_decompression_bomb(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut total = 0;
    while let Some(at) = find(rest, b"stream") {
        let after = &rest[at + b"stream".len()..];
        let data = after.strip_prefix(b"\r").unwrap_or(after);
        let data = data.strip_prefix(b"\n").unwrap_or(data);
        // zlib data starts with 0x78. Its compression ratio is below 1100.
        if data.first() == Some(&0x78) && data.len() as u64 > MAX_STREAM_BYTES / 1100 {
            let mut unpacked = flate2::read::ZlibDecoder::new(data).take(MAX_STREAM_BYTES + 1);
            // Truncated streams count as far as they can be decompressed.
            let _ = std::io::copy(&mut unpacked, &mut std::io::sink());
            total += MAX_STREAM_BYTES + 1 - unpacked.limit();
            if unpacked.limit() == 0 || total > MAX_TOTAL_BYTES {
                return true;
            }
        }
        rest = after;
    }
    false
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes
        .windows(pattern.len())
        .position(|part| part == pattern)
}

/// The graphics and text state.
#[derive(Clone)]
struct State<'a> {
    /// The current transformation matrix.
    transform: Affine,
    text: Affine,
    line: Affine,
    font: Option<Font<'a>>,
    size: f64,
    letter_spacing: f64,
    word_spacing: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

impl Default for State<'_> {
    fn default() -> Self {
        State {
            transform: Affine::IDENTITY,
            text: Affine::IDENTITY,
            line: Affine::IDENTITY,
            font: None,
            size: 1.0,
            letter_spacing: 0.0,
            word_spacing: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

impl State<'_> {
    fn next_line(&mut self, right: f64, up: f64) {
        self.line *= Affine::translate((right, up));
        self.text = self.line;
    }

    /// Moves the pen in text space.
    fn advance(&mut self, right: f64, up: f64) {
        self.text *= Affine::translate((right, up));
    }
}

struct TextExtractor<'a> {
    fonts: FontCache<'a>,
    font_resolver: FontResolverFn,
    cmap_resolver: CMapResolverFn,
    lines: Lines,
    operations: usize,
}

impl<'a> TextExtractor<'a> {
    /// Runs the operations of a page or of a form XObject.
    fn run(
        &mut self,
        mut instructions: TypedIter<'_>,
        resources: &Resources<'a>,
        begin: State<'a>,
        depth: usize,
    ) {
        let mut state = begin;
        let mut saved: Vec<State<'a>> = Vec::new();
        while let Some(instruction) = instructions.next() {
            self.operations += 1;
            if self.operations > MAX_OPERATIONS || self.lines.is_full() {
                return;
            }
            match instruction {
                TypedInstruction::SaveState(_) if saved.len() < 256 => saved.push(state.clone()),
                TypedInstruction::RestoreState(_) => {
                    if let Some(earlier) = saved.pop() {
                        state = earlier;
                    }
                }
                TypedInstruction::Transform(by) => {
                    state.transform *= affine([by.0, by.1, by.2, by.3, by.4, by.5]);
                }
                TypedInstruction::BeginText(_) => {
                    state.text = Affine::IDENTITY;
                    state.line = Affine::IDENTITY;
                }
                TypedInstruction::CharacterSpacing(by) => state.letter_spacing = by.0.as_f64(),
                TypedInstruction::WordSpacing(by) => state.word_spacing = by.0.as_f64(),
                TypedInstruction::HorizontalScaling(by) => state.stretch = by.0.as_f64() / 100.0,
                TypedInstruction::TextLeading(by) => state.leading = by.0.as_f64(),
                TypedInstruction::TextRise(by) => state.rise = by.0.as_f64(),
                TypedInstruction::TextFont(chosen) => {
                    state.size = chosen.1.as_f64();
                    state.font = self.font(resources, chosen.0);
                }
                TypedInstruction::NextLine(by) => state.next_line(by.0.as_f64(), by.1.as_f64()),
                TypedInstruction::NextLineAndSetLeading(by) => {
                    state.leading = -by.1.as_f64();
                    state.next_line(by.0.as_f64(), by.1.as_f64());
                }
                TypedInstruction::SetTextMatrix(to) => {
                    state.line = affine([to.0, to.1, to.2, to.3, to.4, to.5]);
                    state.text = state.line;
                }
                TypedInstruction::NextLineUsingLeading(_) => state.next_line(0.0, -state.leading),
                TypedInstruction::ShowText(shown) => self.show(&mut state, shown.0.as_bytes()),
                TypedInstruction::NextLineAndShowText(shown) => {
                    state.next_line(0.0, -state.leading);
                    self.show(&mut state, shown.0.as_bytes());
                }
                TypedInstruction::ShowTextWithParameters(shown) => {
                    state.word_spacing = shown.0.as_f64();
                    state.letter_spacing = shown.1.as_f64();
                    state.next_line(0.0, -state.leading);
                    self.show(&mut state, shown.2.as_bytes());
                }
                TypedInstruction::ShowTexts(shown) => {
                    for part in shown.0.iter::<Object<'_>>() {
                        match part {
                            Object::String(text) => self.show(&mut state, text.as_bytes()),
                            Object::Number(back) => {
                                let by = -back.as_f64() / 1000.0 * state.size;
                                match is_vertical(&state) {
                                    true => state.advance(0.0, by),
                                    false => state.advance(by * state.stretch, 0.0),
                                }
                            }
                            _ => {}
                        }
                    }
                }
                TypedInstruction::XObject(drawing) => {
                    if depth < MAX_FORM_DEPTH
                        && let Some(form) = resources.get_x_object(drawing.0)
                    {
                        self.run_form(&form, resources, &state, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn run_form(
        &mut self,
        form: &Stream<'a>,
        outer: &Resources<'a>,
        state: &State<'a>,
        depth: usize,
    ) {
        let dict = form.dict();
        let is_form = dict
            .get::<Name<'_>>(b"Subtype")
            .is_some_and(|subtype| &*subtype == b"Form");
        if !is_form {
            return;
        }
        let Ok(content) = form.decoded_data() else {
            return;
        };
        let mut state = state.clone();
        if let Some(matrix) = dict.get::<[f64; 6]>(b"Matrix") {
            state.transform *= Affine::new(matrix);
        }
        let resources = match dict.get::<Dict<'a>>(b"Resources") {
            Some(own) => Resources::new(own),
            None => outer.clone(),
        };
        self.run(TypedIter::new(&content), &resources, state, depth + 1);
    }

    fn font(&mut self, resources: &Resources<'a>, name: &Name<'_>) -> Option<Font<'a>> {
        let dict = resources.get_font(name)?;
        self.fonts
            .font(&dict, &self.font_resolver, &self.cmap_resolver)
    }

    fn show(&mut self, state: &mut State<'a>, bytes: &[u8]) {
        let Some(font) = state.font.clone() else {
            return;
        };
        let is_vertical = is_vertical(state);
        let mut at = 0;
        while at < bytes.len() && !self.lines.is_full() {
            let (code, length) = font.read_code(bytes, at);
            // Always advance, even if a font reports length 0.
            let length = length.max(1);
            at += length;
            let place = state.transform * state.text;
            let begin = place * Point::new(0.0, state.rise);
            let advance = font.code_advance(code);
            let spacing = match (length, code) {
                (1, 32) => state.letter_spacing + state.word_spacing,
                _ => state.letter_spacing,
            };
            let (right, up) = match is_vertical {
                true => (0.0, advance.y / 1000.0 * state.size + spacing),
                false => (
                    (advance.x / 1000.0 * state.size + spacing) * state.stretch,
                    0.0,
                ),
            };
            // Letter spacing is not part of the glyph.
            let ink = match is_vertical {
                true => right,
                false => advance.x / 1000.0 * state.size * state.stretch,
            };
            let end = place * Point::new(ink, up + state.rise);
            let height = (place * Point::new(0.0, state.size) - place * Point::ORIGIN).hypot();
            match unicode(&font, code) {
                Some(BfString::Char(letter)) => {
                    self.lines
                        .add(letter.encode_utf8(&mut [0; 4]), begin, end, height);
                }
                Some(BfString::String(letters)) => self.lines.add(&letters, begin, end, height),
                None => self.lines.skip(end),
            }
            state.advance(right, up);
        }
    }
}

fn is_vertical(state: &State<'_>) -> bool {
    state
        .font
        .as_ref()
        .is_some_and(|font| !font.is_horizontal())
}

fn unicode(font: &Font<'_>, code: u32) -> Option<BfString> {
    match font.glyph(font.map_code(code), code) {
        FontGlyph::Outline(glyph) => glyph.as_unicode(),
        FontGlyph::Type3(glyph) => glyph.as_unicode(),
    }
}

fn affine(numbers: [Number; 6]) -> Affine {
    Affine::new(numbers.map(|number| number.as_f64()))
}
