//! Tests of the full-text search. Here is what they share: notes, queries, and an index of a few notes.

mod changes;
mod files;
mod matching;
mod ranking;
mod snippets;
mod statistics;

use std::sync::Arc;

use super::*;

fn note(doc_id: u32, name: &str, text: &str) -> Document {
    let headings: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .collect();
    let mut key = u64::from(doc_id);
    for byte in name.bytes().chain(text.bytes()) {
        key = key
            .wrapping_mul(0x100_0000_01b3)
            .wrapping_add(u64::from(byte) + 1);
    }
    Document {
        doc_id,
        key,
        name: name.to_owned(),
        headings: headings.join("\n"),
        text: Arc::from(text),
    }
}

fn words(text: &str) -> Tree {
    Tree::Words {
        text: text.to_owned(),
        part: None,
    }
}

fn words_in(text: &str, part: Part) -> Tree {
    Tree::Words {
        text: text.to_owned(),
        part: Some(part),
    }
}

fn prefix(text: &str) -> Tree {
    Tree::Prefix {
        text: text.to_owned(),
        part: None,
    }
}

fn measured(document: &Document) -> Measure {
    measure(&document.name, &document.headings, &document.text)
}

/// What production code does with measures and deadlines, without either.
impl Texts {
    pub(super) fn put(&self, document: Document) -> Lengths {
        let measure = measured(&document);
        self.put_measured(document, measure)
    }

    pub(super) fn load(&self, documents: Vec<Document>) -> Vec<Lengths> {
        let documents = documents.into_iter();
        self.load_measured(
            documents
                .map(|document| {
                    let measure = measured(&document);
                    (document, measure)
                })
                .collect(),
        )
    }

    pub(super) fn best(
        &self,
        tree: &Tree,
        visible: &Bitmap,
        count: usize,
        order: &dyn Fn(u32, u32) -> Ordering,
    ) -> SearchResult<Hits> {
        self.best_until(tree, visible, count, order, &Deadline::none())
    }

    pub(super) fn all(&self, tree: &Tree, visible: &Bitmap) -> SearchResult<Hits> {
        self.all_until(tree, visible, &Deadline::none())
    }

    pub(super) fn containing(
        &self,
        texts: &[Vec<String>],
        visible: &Bitmap,
    ) -> SearchResult<Bitmap> {
        self.containing_until(texts, visible, &Deadline::none())
    }

    pub(super) fn kept(&self, doc_id: u32) -> Option<Arc<str>> {
        let text = self.text_of(doc_id, &Deadline::none());
        text.expect("no deadline is set")
    }
}

/// An index of these notes, all of them changed since it was written.
struct Library {
    texts: Texts,
    count: u32,
    _folder: tempfile::TempDir,
}

impl Library {
    fn of(notes: &[(&str, &str)]) -> Library {
        let folder = tempfile::tempdir().unwrap();
        let texts = Texts::open(&folder.path().join("texts"));
        for (doc_id, (name, text)) in notes.iter().enumerate() {
            texts.put(note(doc_id as u32, name, text));
        }
        Library {
            texts,
            count: notes.len() as u32,
            _folder: folder,
        }
    }

    fn of_texts(notes: &[&str]) -> Library {
        let notes: Vec<(&str, &str)> = notes.iter().map(|text| ("n", *text)).collect();
        Library::of(&notes)
    }

    fn hits(&self, tree: &Tree) -> Hits {
        let visible = Bitmap::all_below(self.count);
        let by_doc_id = |left: u32, right: u32| left.cmp(&right);
        let best = self.texts.best(tree, &visible, 1000, &by_doc_id).unwrap();
        assert_eq!(best.total, best.hits.len() as u64);
        let mut all = self.texts.all(tree, &visible).unwrap();
        all.hits.sort_by(|left, right| {
            right
                .score
                .total_cmp(&left.score)
                .then(left.doc_id.cmp(&right.doc_id))
        });
        assert_eq!(all, best, "`all` and `best` agree on {tree:?}");
        best
    }

    /// The doc ids, in order.
    fn found(&self, tree: &Tree) -> Vec<u32> {
        let mut doc_ids: Vec<u32> = self.hits(tree).hits.iter().map(|hit| hit.doc_id).collect();
        doc_ids.sort_unstable();
        doc_ids
    }

    /// The doc ids, best first.
    fn ranked(&self, tree: &Tree) -> Vec<u32> {
        self.hits(tree).hits.iter().map(|hit| hit.doc_id).collect()
    }
}
