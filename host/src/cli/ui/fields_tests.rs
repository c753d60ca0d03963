//! Tests of parsing fields by a schema.

use super::*;

fn schema() -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "required": ["path"],
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "limit": {"type": "integer"},
            "ratio": {"type": "number"},
            "recursive": {"type": "boolean"},
            "if_match": {"type": "string"},
            "paths": {"type": "array", "items": {"type": "string"}},
            "lines": {"type": "array", "items": {"type": "integer"}},
            "edits": {"type": "array", "items": {"type": "object"}},
            "set": {"type": "object"},
            "anything": {},
            "vault": {"type": "string"},
        }
    });
    schema.as_object().cloned().expect("an object")
}

fn read(line: &[&str]) -> Result<Value, Failure> {
    let schema = schema();
    let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
    let mut arguments = Map::from_iter([("path".to_owned(), json!("from --json"))]);
    Fields::of("document", "read", &schema).read(
        &words,
        &mut arguments,
        &mut "from stdin\n".as_bytes(),
    )?;
    Ok(Value::Object(arguments))
}

fn refused(line: &[&str]) -> String {
    format!("{:?}", read(line).expect_err("refused"))
}

#[test]
fn fields_are_parsed_by_their_schema_type() {
    let read = read(&[
        "--path",
        "12",
        "--limit",
        "-3",
        "--ratio=0.5",
        "--recursive",
        "--set",
        r#"{"a": 1}"#,
        "--if-match",
        "x",
        "--anything",
        "[1]",
    ]);
    assert_eq!(
        read.expect("arguments"),
        json!({
            "path": "12", "limit": -3, "ratio": 0.5, "recursive": true, "set": {"a": 1}, "if_match": "x",
            "anything": [1],
        })
    );
}

#[test]
fn a_list_is_a_repeated_flag_or_json() {
    let list = |line: &[&str]| read(line).expect("arguments");
    assert_eq!(
        list(&["--paths", "a", "--paths", "b"])["paths"],
        json!(["a", "b"])
    );
    assert_eq!(
        list(&["--paths", r#"["a", "b"]"#, "--paths=[x]"])["paths"],
        json!(["a", "b", "[x]"])
    );
    assert_eq!(
        list(&["--lines", "1", "--lines", "2"])["lines"],
        json!([1, 2])
    );
    assert_eq!(
        list(&["--edits", r#"{"old": "a"}"#])["edits"],
        json!([{"old": "a"}])
    );
}

#[test]
fn a_boolean_flag_defaults_to_true_and_accepts_false() {
    let value = |line: &[&str]| read(line).expect("arguments")["recursive"].clone();
    assert_eq!(value(&["--recursive"]), true);
    assert_eq!(value(&["--recursive", "no"]), false);
    assert_eq!(value(&["--recursive=false"]), false);
    assert_eq!(value(&["--recursive", "--path", "a"]), true);
}

#[test]
fn a_dash_reads_stdin() {
    assert_eq!(
        read(&["--content", "-"]).expect("arguments")["content"],
        "from stdin\n"
    );
}

#[test]
fn every_action_accepts_the_host_fields() {
    assert_eq!(read(&["--dry-run"]).expect("arguments")["dry_run"], true);
}

#[test]
fn a_misspelt_field_names_the_nearest() {
    assert!(
        refused(&["--pth", "a"]).contains("`document read` has no `--pth`: did you mean `--path`?")
    );
    assert!(refused(&["--colour", "a"]).contains("fields: --path, --content"));
    assert!(refused(&["--vault", "a"]).contains("no `--vault`"));
}

#[test]
fn invalid_values_report_the_accepted_ones() {
    assert!(refused(&["--limit", "many"]).contains("`--limit` needs an integer, not `many`"));
    assert!(refused(&["--lines", "x"]).contains("`--lines` needs an integer, not `x`"));
    assert!(refused(&["--set", "a=1"]).contains("`--set` needs a JSON object"));
    assert!(refused(&["--path"]).contains("`--path` needs a value: a string"));
    assert!(refused(&["--path", "a", "--path", "b"]).contains("given twice"));
    assert!(refused(&["A note.md"]).contains("notehost call document read --path 'A note.md'"));
}
