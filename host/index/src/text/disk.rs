//! Opens and writes the index on disk.
//!
//! It can always be rebuilt from the notes: a damaged index, or one with another schema or version, is discarded.

use std::fs;
use std::io;
use std::path::Path;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{Index, IndexWriter, SegmentReader};

use super::Failure;
use super::files::Files;
use super::schema::{self, Fields};
use super::segment::Segment;

/// What one thread of the writer may take before it writes a segment.
const SMALL_WRITER_BYTES: usize = 15_000_000;
const LARGE_WRITER_BYTES: usize = 48_000_000;
const MAX_THREADS: usize = 4;

/// Opens the index in a folder, or creates a new one there, or in memory if the disk fails.
pub(super) fn open(folder: &Path) -> (Index, Fields, Vec<Segment>) {
    let (schema, fields) = schema::schema();
    let opened = guarded(|| open_existing(folder, fields)).or_else(|problem| {
        if folder.exists() {
            tracing::info!(%problem, "creating a new search index");
        }
        guarded(|| begin(folder))
    });
    match opened {
        Ok((index, segments)) => (index, fields, segments),
        Err(problem) => {
            tracing::warn!(%problem, folder = %folder.display(), "the search index is in memory only");
            let mut index = Index::create_in_ram(schema);
            *index.settings_mut() = schema::settings();
            index.set_tokenizers(schema::tokenizers());
            (index, fields, Vec::new())
        }
    }
}

/// A writer that takes its time and little memory, or all it can get.
pub(super) fn writer(index: &Index, is_for_many: bool) -> Result<IndexWriter, Failure> {
    let (threads, memory) = if is_for_many {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        (cores.min(MAX_THREADS), LARGE_WRITER_BYTES)
    } else {
        (1, SMALL_WRITER_BYTES)
    };
    let options = IndexWriterOptions::builder()
        .num_worker_threads(threads)
        .memory_budget_per_thread(memory)
        .num_merge_threads(1)
        .build();
    let writer = index.writer_with_options(options)?;
    let mut merging = LogMergePolicy::default();
    merging.set_min_num_segments(4);
    merging.set_min_layer_size(1_000);
    merging.set_del_docs_ratio_before_merge(0.25);
    writer.set_merge_policy(Box::new(merging));
    Ok(writer)
}

fn open_existing(folder: &Path, fields: Fields) -> Result<(Index, Vec<Segment>), Failure> {
    let mut index = Index::open(Files::open(folder).map_err(tantivy::TantivyError::from)?)?;
    let (schema, _) = schema::schema();
    if index.schema() != schema {
        return Err(Failure::Foreign);
    }
    index.set_tokenizers(schema::tokenizers());
    // Whatever is read later is read without checks.
    if !index.validate_checksum()?.is_empty() {
        return Err(Failure::Damaged);
    }
    let segments = index
        .searchable_segments()?
        .iter()
        .map(|segment| Segment::open(&SegmentReader::open(segment)?, fields))
        .collect::<tantivy::Result<_>>()?;
    Ok((index, segments))
}

fn begin(folder: &Path) -> Result<(Index, Vec<Segment>), Failure> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(folder)?,
        Ok(_) => fs::remove_file(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    notehost_platform::private::create_folder(folder)?;
    let index = Index::builder()
        .schema(schema::schema().0)
        .settings(schema::settings())
        .tokenizers(schema::tokenizers())
        .open_or_create(Files::open(folder).map_err(tantivy::TantivyError::from)?)?;
    Ok((index, Vec::new()))
}

/// Damaged files can make the library panic; a panic is turned into an error.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(Err(Failure::Panicked))
}
