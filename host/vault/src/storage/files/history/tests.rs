//! Tests of the history on its own.

use super::*;

#[test]
fn unsettled_changes_are_settled_by_the_next_change() {
    let place = tempfile::tempdir().expect("a folder");
    let history = History::open(&place.path().join("history.db")).expect("a history");
    let write = |id: &str| {
        let change = ChangeRow {
            number: 0,
            id: id.to_owned(),
            time: 1,
            caller: "ana".to_owned(),
            action: "document.test".to_owned(),
            undoes: None,
            undoes_whole: false,
            undoes_run: Vec::new(),
            undone: false,
            key: Some(format!("key of {id}")),
            files: Vec::new(),
            data: Vec::new(),
            folders: Vec::new(),
        };
        history
            .write_pending(&change, |_| Ok(None))
            .expect("written");
    };
    let is_read_only = |is_read_only: bool| {
        let connection = history.connection();
        connection
            .pragma_update(None, "query_only", is_read_only)
            .expect("a pragma");
    };
    write("landed");
    write("failed");
    is_read_only(true);
    assert!(history.mark_done("landed").is_err() && history.forget("failed").is_err());
    // What landed is known to have landed, and the other to have not.
    let with_key = |key: &str| history.change_with_key(key).expect("read");
    assert_eq!(
        with_key("key of landed").map(|change| change.id).as_deref(),
        Some("landed")
    );
    assert!(with_key("key of failed").is_none());
    is_read_only(false);
    assert_eq!(history.pending().expect("changes").len(), 2);
    write("next");
    assert!(history.change("landed").expect("a change").is_some());
    let pending = history.pending().expect("changes");
    assert_eq!(
        pending.iter().map(|row| &*row.id).collect::<Vec<_>>(),
        ["next"]
    );
}
