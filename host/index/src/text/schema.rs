//! The schema of the full-text index: fields, tokenizers, and the stored data of each note.

use std::sync::Arc;

use notehost_sdk::index::Part;
use notehost_sdk::words::{self, Form};
use tantivy::index::IndexSettings;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, SchemaBuilder,
    TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{TantivyDocument, Term};
use unicode_normalization::char::is_combining_mark;

use super::bigrams;

/// A note, as the full-text index takes it.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Identifies the note while this process runs.
    pub doc_id: u32,
    /// Identifies its path and content, also after a restart.
    pub key: u64,
    /// Its names: file name, aliases and title, one per line.
    pub name: String,
    /// Its headings, one per line.
    pub headings: String,
    /// The whole file.
    pub text: Arc<str>,
}

/// How many words there are in the name, the headings and the text.
pub(crate) type Lengths = [u32; 3];

/// What is not seen in the words of a note.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub(super) lengths: Lengths,
    /// Whether the text may contain letters that its words do not show in order (see `containing.rs`).
    pub(super) loose: bool,
}

/// The name under which the index knows our words. It changes when what a word is changes: an index of other words is
/// discarded.
const WORDS: &str = "words-1";

pub(super) const PARTS: usize = 3;

/// The place of a part in everything that has one entry per part.
pub(super) fn place(part: Part) -> usize {
    match part {
        Part::Name => 0,
        Part::Headings => 1,
        Part::Text => 2,
    }
}

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// Name, headings, text.
    pub(super) parts: [Field; PARTS],
    pub(super) key: Field,
    pub(super) loose: Field,
    /// Only on disk.
    bigrams: Field,
}

pub(super) const KEY: &str = "key";
pub(super) const LOOSE: &str = "loose";
pub(super) const BIGRAMS: &str = "neighbours";

/// The fields on disk.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let (parts, key, loose) = shared_fields(&mut builder, INDEXED | FAST);
    let indexed = NumericOptions::default().set_indexed();
    let fields = Fields {
        parts,
        key,
        loose,
        bigrams: builder.add_u64_field(BIGRAMS, indexed),
    };
    (builder.build(), fields)
}

/// The same fields for a segment of few notes, from which nothing is ever deleted: dictionaries of keys and of bigrams
/// would cost more time than all the rest of it.
pub(super) fn fresh_schema() -> Schema {
    let mut builder = Schema::builder();
    shared_fields(&mut builder, NumericOptions::from(FAST));
    builder.build()
}

fn shared_fields(
    builder: &mut SchemaBuilder,
    key: impl Into<NumericOptions>,
) -> ([Field; PARTS], Field, Field) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(WORDS)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions)
        .set_fieldnorms(true);
    let indexed = TextOptions::default().set_indexing_options(indexing);
    let parts = [
        builder.add_text_field("name", indexed.clone()),
        builder.add_text_field("headings", indexed.clone()),
        builder.add_text_field("text", indexed.set_stored()),
    ];
    let key = builder.add_u64_field(KEY, key);
    let loose = builder.add_u64_field(LOOSE, FAST);
    (parts, key, loose)
}

pub(super) fn settings() -> IndexSettings {
    IndexSettings {
        // Snippets are made from it while a caller waits.
        docstore_compression: Compressor::None,
        // A thread for every small segment would cost more than what it does.
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    manager.register(WORDS, TextAnalyzer::from(Words));
    // tantivy requires one also for fields without text.
    manager.register("default", TextAnalyzer::from(Words));
    manager
}

impl Fields {
    pub(super) fn document(&self, document: &Document, loose: bool) -> TantivyDocument {
        let mut made = self.fresh_document(document, loose);
        for number in bigrams::all(&document.text) {
            made.add_u64(self.bigrams, number);
        }
        made
    }

    /// For a fresh segment.
    pub(super) fn fresh_document(&self, document: &Document, loose: bool) -> TantivyDocument {
        let mut made = TantivyDocument::new();
        // Every line is a value of its own, so that no phrase runs from one name into the next.
        for line in document.name.lines() {
            made.add_text(self.parts[0], line);
        }
        for line in document.headings.lines() {
            made.add_text(self.parts[1], line);
        }
        made.add_text(self.parts[2], &document.text);
        made.add_u64(self.key, document.key);
        made.add_u64(self.loose, u64::from(loose));
        made
    }

    pub(super) fn key_term(&self, key: u64) -> Term {
        Term::from_field_u64(self.key, key)
    }
}

/// Counts a note's words, exactly as they are indexed.
pub(crate) fn measure(name: &str, headings: &str, text: &str) -> Measure {
    let count = |text: &str| {
        let mut count = 0;
        words::for_each_word(text, |_| count += 1);
        count
    };
    let mut length = 0;
    let mut loose = false;
    let mut end = 0;
    words::for_each_word(text, |word| {
        length += 1;
        if word.range.start > end {
            loose = loose || is_gap_loose(&text[end..word.range.start]);
        }
        end = end.max(word.range.end);
        loose = loose || is_word_loose(text, &word);
    });
    loose = loose || is_gap_loose(&text[end..]);
    Measure {
        lengths: [
            name.lines().map(count).sum(),
            headings.lines().map(count).sum(),
            length,
        ],
        loose,
    }
}

/// Whether a word differs from its spelling, so that a search for parts of words could miss it.
fn is_word_loose(text: &str, word: &words::Word<'_>) -> bool {
    match word.form {
        Form::Cut => true,
        // Marks that compose with the letter before them, or that folding leaves out.
        Form::Single => {
            // Most letters are seen at once to be what they are.
            let is_plain = |letter| matches!(letter, '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
            text[word.range.clone()] != *word.text
                || (!word.text.chars().all(is_plain) && words::fold(word.text) != word.text)
        }
        Form::Whole if !word.text.is_ascii() => {
            // A letter that is a sign (`🄰`) is a word as it is.
            let written = &text[word.range.clone()];
            let mut letters = written.chars();
            letters.next().is_some()
                && letters.next().is_none()
                && words::fold(written) != word.text
        }
        Form::Whole | Form::Part | Form::Pair => false,
    }
}

/// Whether what stands between words would be letters if it were folded (`㎏`), or would not be there at all.
fn is_gap_loose(gap: &str) -> bool {
    if gap.is_ascii() {
        return false;
    }
    gap.chars().any(|letter| {
        if letter.is_ascii() {
            return false;
        }
        let folded = words::fold(letter.encode_utf8(&mut [0; 4]));
        if folded.is_empty() {
            !is_combining_mark(letter) && !matches!(letter, '\u{200c}' | '\u{200d}' | '\u{ad}')
        } else {
            folded.chars().any(char::is_alphanumeric)
        }
    })
}

/// [`words::for_each_word`] as the index calls it.
#[derive(Debug, Clone, Default)]
struct Words;

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream {
            text,
            found: None,
            token: Token::default(),
        }
    }
}

struct WordStream<'a> {
    text: &'a str,
    /// Only for one word at a time; indexing takes all of them at once.
    found: Option<std::vec::IntoIter<(usize, String)>>,
    token: Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let text = self.text;
        let found = self.found.get_or_insert_with(|| {
            let mut found = Vec::new();
            words::for_each_word(text, |word| {
                found.push((word.position, word.text.to_owned()));
            });
            found.into_iter()
        });
        let Some((position, word)) = found.next() else {
            return false;
        };
        self.token.position = position;
        self.token.text = word;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }

    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let token = &mut self.token;
        words::for_each_word(self.text, |word| {
            token.text.clear();
            token.text.push_str(word.text);
            token.position = word.position;
            sink(token);
        });
    }
}
