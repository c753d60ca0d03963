//! Round trips, files written by SQLite itself, and corrupt files.

use proptest::prelude::*;

use super::*;

/// Written by SQLite 3 (through Python): a table `notes` of 300 rows with long, empty and odd values, on pages of 512
/// bytes.
const BY_SQLITE: &[u8] = include_bytes!("../../../tests/fixtures/by-sqlite.db");

#[test]
fn files_written_by_sqlite_are_read() {
    let database = Database::open(BY_SQLITE.to_vec()).unwrap();
    let rows = database.table("notes").unwrap().unwrap();
    assert_eq!(rows.len(), 300);
    for (at, (id, values)) in rows.iter().enumerate() {
        let at = at as i64;
        assert_eq!(*id, at * 7 - 20, "row {at}");
        assert_eq!(values[0], Value::Null);
        assert_eq!(
            values[1],
            Value::Text(format!("ü{at}").repeat(if at == 77 { 400 } else { at as usize % 7 }))
        );
        assert_eq!(
            values[2],
            Value::Integer(at * at * at * 1_000_003 * (1 - 2 * (at % 2)))
        );
        assert_eq!(values[3], Value::Blob(vec![at as u8; at as usize % 10]));
        let real = if at % 3 == 0 {
            Value::Null
        } else {
            Value::Real(at as f64 / 4.0 + 0.125)
        };
        assert_eq!(values[4], real);
    }
    assert_eq!(database.table("nothing").unwrap(), None);
}

#[test]
fn corrupt_files_are_rejected_without_looping() {
    assert!(Database::open(b"no".to_vec()).is_err());
    for at in 0..BY_SQLITE.len().min(4096) {
        let mut bytes = BY_SQLITE.to_vec();
        bytes[at] ^= 0xff;
        if let Ok(database) = Database::open(bytes) {
            let _ = database.table("notes");
        }
    }
    for end in [99, 100, 511, 512, 5000] {
        if let Ok(database) = Database::open(BY_SQLITE[..end].to_vec()) {
            assert!(database.table("notes").is_err());
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Integer),
        (-1e9..1e9).prop_map(Value::Real),
        "\\PC{0,40}".prop_map(Value::Text),
        (0usize..12_000).prop_map(|length| Value::Text("é".repeat(length))),
        proptest::collection::vec(any::<u8>(), 0..50).prop_map(Value::Blob),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn tables_round_trip(
        first in proptest::collection::vec(proptest::collection::vec(value(), 0..6), 0..60),
        many in 0i64..9000,
    ) {
        let rows: Vec<Row> = (1..).zip(first).collect();
        let filler: Vec<Row> = (0..many).map(|id| (id * 1_000_000_007, vec![Value::Integer(id)])).collect();
        let bytes = write(&[
            Table { name: "a", sql: "CREATE TABLE a (x)", rows: rows.clone() },
            Table { name: "b", sql: "CREATE TABLE b (y)", rows: filler.clone() },
        ]);
        let database = Database::open(bytes).unwrap();
        prop_assert_eq!(database.table("a").unwrap().unwrap(), rows);
        prop_assert_eq!(database.table("b").unwrap().unwrap(), filler);
    }
}
