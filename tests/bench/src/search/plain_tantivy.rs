//! tantivy called directly: an index of the same files in this process, with its default tokenizer. No transport,
//! sandbox, permissions or link graph: the lower bound of a search.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{PhraseQuery, Query, RegexQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TEXT};
use tantivy::snippet::SnippetGenerator;
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, Term, doc};

use super::query::{Answer, Contestant, VaultQuery};
use crate::vaults::Notes;

/// An index of a vault's notes.
pub(crate) struct Plain {
    searcher: Rc<Searcher>,
    body: Field,
    with_snippets: bool,
}

/// Builds the index in a folder: one that only searches, one that also makes snippets. Also returns the build time.
pub(crate) fn index(notes: &Notes, folder: &Path) -> Result<(Plain, Plain, Duration)> {
    let began = Instant::now();
    let mut schema = Schema::builder();
    let path = schema.add_text_field("path", STRING | STORED);
    let body = schema.add_text_field("body", TEXT | STORED);
    fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema.build())?;
    let threads = std::thread::available_parallelism()?.get();
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, 64_000_000 * threads)?;
    for note in &notes.notes {
        let text = fs::read_to_string(notes.folder.join(note))?;
        writer.add_document(doc!(path => note.as_str(), body => text))?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    let took = began.elapsed();
    let searcher = Rc::new(index.reader()?.searcher());
    let plain = |with_snippets| Plain {
        searcher: Rc::clone(&searcher),
        body,
        with_snippets,
    };
    Ok((plain(false), plain(true), took))
}

impl Plain {
    fn query(&self, vault_query: &VaultQuery) -> Result<Option<Box<dyn Query>>> {
        let term = |word: &str| Term::from_field_text(self.body, word);
        Ok(match vault_query {
            VaultQuery::Word(word) => {
                let query = TermQuery::new(term(word), IndexRecordOption::WithFreqs);
                Some(Box::new(query))
            }
            VaultQuery::Phrase(phrase) => Some(Box::new(PhraseQuery::new(
                phrase.split(' ').map(term).collect(),
            ))),
            VaultQuery::Prefix(prefix) => Some(Box::new(RegexQuery::from_pattern(
                &format!("{prefix}.*"),
                self.body,
            )?)),
            // Its tokenizer treats a sentence without spaces as one word.
            _ => None,
        })
    }
}

impl Contestant for Plain {
    fn name(&self) -> &'static str {
        if self.with_snippets {
            "tantivy + snippets"
        } else {
            "tantivy"
        }
    }

    fn run(&mut self, vault_query: &VaultQuery) -> Result<Option<Answer>> {
        let began = Instant::now();
        let Some(query) = self.query(vault_query)? else {
            return Ok(None);
        };
        let best = TopDocs::with_limit(20).order_by_score();
        let (hits, found) = self.searcher.search(&*query, &(best, Count))?;
        if self.with_snippets {
            let snippets = SnippetGenerator::create(&self.searcher, &*query, self.body)?;
            for (_, address) in &hits {
                let note: TantivyDocument = self.searcher.doc(*address)?;
                std::hint::black_box(snippets.snippet_from_doc(&note));
            }
        }
        std::hint::black_box(hits);
        Ok(Some(Answer {
            took: began.elapsed(),
            found,
        }))
    }
}
