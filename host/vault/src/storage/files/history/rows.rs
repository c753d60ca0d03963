//! Rows of the tables as records.

use rusqlite::Row;

use crate::{
    storage::{
        records::{ChangeRow, FileRow, FolderRow},
        stamp::Digest,
    },
    types::ChangeKind,
};

pub(super) fn change_row(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow {
        number: row.get(0)?,
        id: row.get(1)?,
        time: row.get::<_, i64>(2)? as u64,
        caller: row.get(3)?,
        action: row.get(4)?,
        undoes: row.get(5)?,
        undoes_whole: row.get(6)?,
        undoes_run: Vec::new(),
        undone: row.get(7)?,
        key: None,
        files: Vec::new(),
        data: Vec::new(),
        folders: Vec::new(),
    })
}

pub(super) fn folder_row(row: &Row<'_>) -> rusqlite::Result<FolderRow> {
    Ok(FolderRow {
        path: row.get(0)?,
        is_new: row.get(1)?,
    })
}

pub(super) fn file_row(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    let digest = |index: usize| -> rusqlite::Result<Option<Digest>> {
        Ok(row
            .get::<_, Option<Vec<u8>>>(index)?
            .and_then(|bytes| Digest::from_bytes(&bytes)))
    };
    Ok(FileRow {
        path: row.get(0)?,
        from: row.get(1)?,
        kind: match row.get::<_, String>(2)?.as_str() {
            "create" => ChangeKind::Create,
            "rename" => ChangeKind::Rename,
            "delete" => ChangeKind::Delete,
            _ => ChangeKind::Modify,
        },
        before: digest(3)?,
        after: digest(4)?,
        mode_before: row.get(5)?,
        mode_after: row.get(6)?,
        trash: row.get(7)?,
    })
}

pub(super) fn kind_word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Create => "create",
        ChangeKind::Modify => "modify",
        ChangeKind::Rename => "rename",
        ChangeKind::Delete => "delete",
    }
}
