//! The text of a PDF, page by page, in the order in which the file shows it. `hayro` reads the file and its fonts, and
//! forgives what is broken; here glyphs become lines.
//!
//! Every byte of a PDF is controlled by who made it: what costs time or memory is bounded.

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

/// How deep drawings may hold each other.
const DEEPEST: usize = 8;
/// How many drawing instructions of one page are looked at.
const MOST_STEPS: usize = 2_000_000;
/// How large anything compressed in the file may be.
const LARGEST_STREAM: u64 = 64 << 20;
/// How large all of it together may be.
const LARGEST_WHOLE: u64 = 512 << 20;

/// Why a PDF cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It needs a password.
    Locked,
    /// It is no PDF, or too broken.
    Broken,
    /// Something in it grows without measure when it is unpacked.
    Bomb,
}

/// A PDF that was opened.
pub(crate) struct Document(Pdf);

impl Document {
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Document, Unreadable> {
        if has_bomb(&bytes) {
            return Err(Unreadable::Bomb);
        }
        match Pdf::new(bytes) {
            Ok(pdf) if pdf.pages().is_empty() => Err(Unreadable::Broken),
            Ok(pdf) => Ok(Document(pdf)),
            Err(LoadPdfError::Decryption(_)) => Err(Unreadable::Locked),
            Err(LoadPdfError::Invalid) => Err(Unreadable::Broken),
        }
    }

    /// How many pages it has.
    pub(crate) fn pages(&self) -> usize {
        self.0.pages().len()
    }

    /// Its title, if it has one that can be read.
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

    /// Tell the text of some pages, from 1, of so many bytes at most each, until somebody has enough.
    pub(crate) fn read(
        &self,
        pages: RangeInclusive<usize>,
        most: usize,
        mut tell: impl FnMut(usize, String) -> ControlFlow<()>,
    ) {
        let mut reading = Reading {
            fonts: FontCache::new(),
            // Glyphs are never drawn, so that one font will do where a file brings none.
            font_resolver: Arc::new(|_| Some(StandardFont::Helvetica.get_font_data())),
            cmap_resolver: Arc::new(|_| None),
            lines: Lines::new(most),
            steps: 0,
        };
        for number in pages {
            let page = number.checked_sub(1).and_then(|at| self.0.pages().get(at));
            if let Some(page) = page {
                reading.steps = 0;
                reading.follow(
                    page.typed_operations(),
                    page.resources(),
                    State::default(),
                    0,
                );
            }
            let lines = std::mem::replace(&mut reading.lines, Lines::new(most));
            if tell(number, lines.finish()).is_break() {
                return;
            }
        }
    }
}

/// Whether something in the file unpacks to more than there is room for.
fn has_bomb(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut whole = 0;
    while let Some(at) = find(rest, b"stream") {
        let after = &rest[at + b"stream".len()..];
        let data = after.strip_prefix(b"\r").unwrap_or(after);
        let data = data.strip_prefix(b"\n").unwrap_or(data);
        // 0x78 begins what zlib packed. Less than a thousandth of the limit cannot unpack to it.
        if data.first() == Some(&0x78) && data.len() as u64 > LARGEST_STREAM / 1100 {
            let mut unpacked = flate2::read::ZlibDecoder::new(data).take(LARGEST_STREAM + 1);
            // What breaks off is read as far as it goes, and counts as far.
            let _ = std::io::copy(&mut unpacked, &mut std::io::sink());
            whole += LARGEST_STREAM + 1 - unpacked.limit();
            if unpacked.limit() == 0 || whole > LARGEST_WHOLE {
                return true;
            }
        }
        rest = after;
    }
    false
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

/// What a drawing instruction finds and leaves.
#[derive(Clone)]
struct State<'a> {
    /// From the drawing's room to the page's.
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

    /// Move the pen by so much of the text's own room.
    fn advance(&mut self, right: f64, up: f64) {
        self.text *= Affine::translate((right, up));
    }
}

struct Reading<'a> {
    fonts: FontCache<'a>,
    font_resolver: FontResolverFn,
    cmap_resolver: CMapResolverFn,
    lines: Lines,
    steps: usize,
}

impl<'a> Reading<'a> {
    /// Follow the instructions of a page, or of a drawing within one.
    fn follow(
        &mut self,
        mut instructions: TypedIter<'_>,
        resources: &Resources<'a>,
        begin: State<'a>,
        depth: usize,
    ) {
        let mut state = begin;
        let mut saved: Vec<State<'a>> = Vec::new();
        while let Some(instruction) = instructions.next() {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.lines.is_full() {
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
                    if depth < DEEPEST
                        && let Some(form) = resources.get_x_object(drawing.0)
                    {
                        self.follow_form(&form, resources, &state, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn follow_form(
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
        self.follow(TypedIter::new(&content), &resources, state, depth + 1);
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
            // Whatever a font says, something is read.
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
            // The space between letters belongs to neither: only the glyph itself is on the line.
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
