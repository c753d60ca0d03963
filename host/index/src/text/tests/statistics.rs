//! Why the search does not use tantivy's own: with statistics of one caller its pruning drops the best note.

use tantivy::collector::{Count, TopDocs};
use tantivy::query::{Bm25StatisticsProvider, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TEXT};
use tantivy::{Index, IndexWriter, Term, doc};

/// Postings are grouped in blocks of this size, each with a bound of its scores.
const BLOCK: usize = 128;

/// What a caller sees: notes with twenty words on average.
struct VisibleNotes;

impl Bm25StatisticsProvider for VisibleNotes {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(20_000)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(1_000)
    }

    fn doc_freq(&self, _: &Term) -> tantivy::Result<u64> {
        Ok(2 * BLOCK as u64 + 1)
    }
}

#[test]
fn pruning_by_tantivy_misses_hits_with_statistics_of_one_caller() {
    let mut schema = Schema::builder();
    let body = schema.add_text_field("body", TEXT);
    let index = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter = index
        .writer_with_num_threads(1, 15_000_000)
        .expect("a writer");
    let add = |frequency: usize, length: usize| {
        let text = "word ".repeat(frequency) + &"other ".repeat(length - frequency);
        writer.add_document(doc!(body => text)).expect("added");
    };
    // The first block has middling notes; the second one the best of all, among long notes that say the word more often.
    (0..BLOCK).for_each(|_| add(1, 40));
    add(1, 10);
    (1..BLOCK).for_each(|_| add(3, 200));
    add(1, 40);
    // Hidden notes are long. By their average the long notes are the best of the second block, and its bound is theirs.
    (0..100).for_each(|_| add(0, 2_000));
    writer.commit().expect("committed");

    let searcher = index.reader().expect("a reader").searcher();
    assert_eq!(searcher.segment_readers().len(), 1);
    let query = TermQuery::new(
        Term::from_field_text(body, "word"),
        IndexRecordOption::WithFreqs,
    );
    let best = || TopDocs::with_limit(1).order_by_score();
    // Counting all hits as well turns pruning off.
    let (all, _) = searcher
        .search_with_statistics_provider(&query, &(best(), Count), &VisibleNotes)
        .expect("hits");
    let pruned = searcher
        .search_with_statistics_provider(&query, &best(), &VisibleNotes)
        .expect("hits");
    assert_eq!(all[0].1.doc_id, BLOCK as u32, "the short note is the best");
    assert_ne!(
        pruned[0].1.doc_id, all[0].1.doc_id,
        "tantivy bounds blocks for any statistics by now: compare it with `best.rs` again"
    );
}
