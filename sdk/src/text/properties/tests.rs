//! Tests of property edits: the changed value, and lossless preservation of the rest.

use super::*;
use serde_json::json;

fn set(text: &str, properties: Value) -> String {
    let Value::Object(map) = properties else {
        panic!("an object")
    };
    set_properties(text, &map, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn remove(text: &str, key: &str) -> String {
    set_properties(text, &Map::new(), &[key.to_owned()]).unwrap_or_else(|error| panic!("{error}"))
}

/// Sets properties in the YAML of a note and returns the YAML.
fn set_yaml(yaml: &str, properties: Value) -> String {
    let edited = set(&format!("---\n{yaml}---\nbody\n"), properties);
    edited
        .strip_prefix("---\n")
        .unwrap()
        .strip_suffix("---\nbody\n")
        .unwrap()
        .to_owned()
}

fn remove_yaml(yaml: &str, key: &str) -> String {
    let edited = remove(&format!("---\n{yaml}---\nbody\n"), key);
    edited
        .strip_prefix("---\n")
        .unwrap()
        .strip_suffix("---\nbody\n")
        .unwrap()
        .to_owned()
}

const YAML: &str = "# top\ntitle: \"Old\" # why\ntags: [a, 'b' , c] # flow\naliases:\n  - one # first\n  # between\n  - \"two\"\nnested:\n  k: v # kv\n  deep:\n    m: 1\nnone:\ntext: |\n  line\n  more\n\nplain: x\n# end\n";

#[test]
fn only_the_value_changes() {
    assert_eq!(
        set_yaml(YAML, json!({"title": "New: title"})),
        YAML.replace("\"Old\"", "\"New: title\"")
    );
    assert_eq!(
        set_yaml(YAML, json!({"plain": true})),
        YAML.replace("plain: x", "plain: true")
    );
    assert_eq!(
        set_yaml(YAML, json!({"none": "[[Note]]"})),
        YAML.replace("none:", "none: \"[[Note]]\"")
    );
    assert_eq!(
        set_yaml(YAML, json!({"title": null})),
        YAML.replace("title: \"Old\" #", "title: #")
    );
    assert_eq!(
        set_yaml(YAML, json!({"nested.deep.m": 2})),
        YAML.replace("m: 1", "m: 2")
    );
    assert_eq!(
        set_yaml(YAML, json!({"text": "short"})),
        YAML.replace("text: |\n  line\n  more\n", "text: short\n")
    );
    assert_eq!(
        set_yaml(YAML, json!({"text": "a\nb"})),
        YAML.replace("|\n  line\n  more\n", "|-\n  a\n  b\n")
    );
}

#[test]
fn an_equal_value_changes_no_byte() {
    let all = json!({"title": "Old", "tags": ["a", "b", "c"], "aliases": ["one", "two"], "nested": {"deep": {"m": 1}, "k": "v"}, "none": null, "text": "line\nmore\n"});
    assert_eq!(set_yaml(YAML, all), YAML);
}

#[test]
fn lists_keep_their_style() {
    assert_eq!(
        set_yaml(YAML, json!({"tags": ["a", "b", "c", "d, e"]})),
        YAML.replace(", c]", ", c, \"d, e\"]")
    );
    assert_eq!(
        set_yaml(YAML, json!({"tags": ["x", "b", "c"]})),
        YAML.replace("[a", "[x")
    );
    assert_eq!(
        set_yaml(YAML, json!({"tags": ["b", "c"]})),
        YAML.replace("[a, ", "[")
    );
    assert_eq!(
        set_yaml(YAML, json!({"tags": ["a", "c"]})),
        YAML.replace(", 'b'", "")
    );
    assert_eq!(
        set_yaml(YAML, json!({"tags": ["0", "a", "b", "c"]})),
        YAML.replace("[a", "[\"0\", a")
    );
    assert_eq!(
        set_yaml(YAML, json!({"tags": []})),
        YAML.replace("[a, 'b' , c]", "[]")
    );
    assert_eq!(
        set_yaml("tags: []\n", json!({"tags": ["x"]})),
        "tags: [x]\n"
    );
    assert_eq!(
        set_yaml(YAML, json!({"aliases": ["one", "two", "three"]})),
        YAML.replace("\"two\"\n", "\"two\"\n  - three\n")
    );
    assert_eq!(
        set_yaml(YAML, json!({"aliases": ["one", "drei"]})),
        YAML.replace("\"two\"", "\"drei\"")
    );
    assert_eq!(
        set_yaml(YAML, json!({"aliases": ["two"]})),
        YAML.replace("  - one # first\n", "")
    );
    assert_eq!(
        set_yaml(YAML, json!({"aliases": []})),
        YAML.replace(
            "aliases:\n  - one # first\n  # between\n  - \"two\"\n",
            "aliases: []\n"
        )
    );
    assert_eq!(
        set_yaml("a:\n- x\n- y\nb: 1\n", json!({"a": ["x", "z", {"k": [1]}]})),
        "a:\n- x\n- z\n- k:\n    - 1\nb: 1\n"
    );
    assert_eq!(
        set_yaml("a: x # c\n", json!({"a": ["x", "y"]})),
        "a: # c\n  - x\n  - y\n"
    );
    assert_eq!(
        set_yaml("a:\n  - x\nb: 1\n", json!({"a": "x"})),
        "a: x\nb: 1\n"
    );
}

#[test]
fn new_keys_are_appended_and_dotted_keys_nest() {
    assert_eq!(
        set_yaml(YAML, json!({"new": ["x"]})),
        format!("{YAML}new:\n  - x\n")
    );
    assert_eq!(
        set_yaml(YAML, json!({"a.b": 1})),
        format!("{YAML}a:\n  b: 1\n")
    );
    assert_eq!(
        set_yaml(YAML, json!({"nested.new": 1})),
        YAML.replace("    m: 1\n", "    m: 1\n  new: 1\n")
    );
    assert_eq!(
        set_yaml(YAML, json!({"none.new": 1})),
        YAML.replace("none:\n", "none:\n  new: 1\n")
    );
    assert_eq!(set_yaml("a.b: 1\n", json!({"a.b": 2})), "a.b: 2\n");
    assert_eq!(
        set_yaml("a: {b: 1}\n", json!({"a.c": "x"})),
        "a: {b: 1, c: x}\n"
    );
    assert_eq!(set_yaml("{b: 1}\n", json!({"a": "x"})), "{b: 1, a: x}\n");
    assert_eq!(set_yaml("  b: 1\n", json!({"a": "x"})), "  b: 1\n  a: x\n");
    assert_eq!(set_yaml("# c\n", json!({"a": "x"})), "# c\na: x\n");
    assert_eq!(set_yaml("", json!({"a": "x"})), "a: x\n");
}

#[test]
fn unchanged_nested_keys_keep_their_lines() {
    assert_eq!(
        set_yaml(YAML, json!({"nested": {"k": "v", "other": 1}})),
        YAML.replace("  deep:\n    m: 1\n", "  other: 1\n")
    );
}

#[test]
fn removing_deletes_the_lines_of_the_key() {
    assert_eq!(
        remove_yaml(YAML, "title"),
        YAML.replace("title: \"Old\" # why\n", "")
    );
    assert_eq!(
        remove_yaml(YAML, "aliases"),
        YAML.replace("aliases:\n  - one # first\n  # between\n  - \"two\"\n", "")
    );
    assert_eq!(
        remove_yaml(YAML, "nested.deep.m"),
        YAML.replace("  deep:\n    m: 1\n", "")
    );
    assert_eq!(
        remove_yaml(YAML, "text"),
        YAML.replace("text: |\n  line\n  more\n", "")
    );
    assert_eq!(remove_yaml(YAML, "absent"), YAML);
    assert_eq!(remove_yaml("a: {b: 1, c: 2}\n", "a.b"), "a: {c: 2}\n");
    assert_eq!(remove_yaml("a: {b: 1, c: 2}\n", "a.c"), "a: {b: 1}\n");
    assert_eq!(
        remove_yaml("a: 1 # kept with the key\n# stays\n", "a"),
        "# stays\n"
    );
}

#[test]
fn frontmatter_is_created_and_removed_with_its_properties() {
    assert_eq!(
        set("\u{feff}x\r\ny", json!({"a.b": [1]})),
        "\u{feff}---\r\na:\r\n  b:\r\n    - 1\r\n---\r\nx\r\ny"
    );
    assert_eq!(
        remove("\u{feff}---\r\na: 1\r\n---\r\n\r\nx", "a"),
        "\u{feff}\r\nx"
    );
    assert_eq!(set("", json!({"a": 1})), "---\na: 1\n---\n");
    assert_eq!(
        set("---\nrule\n", json!({"a": 1})),
        "---\na: 1\n---\n---\nrule\n"
    );
    assert_eq!(set("x", json!({})), "x");
    assert_eq!(
        set("---\na: 1\n---", json!({"b": "2"})),
        "---\na: 1\nb: \"2\"\n---"
    );
}

#[test]
fn line_endings_follow_the_note() {
    let text = "---\r\na: 1 # c\r\nl:\r\n  - x\r\n---\r\nbody\r\n";
    assert_eq!(
        set(text, json!({"l": ["x", "y"], "t": "a\nb"})),
        "---\r\na: 1 # c\r\nl:\r\n  - x\r\n  - y\r\nt: |-\r\n  a\r\n  b\r\n---\r\nbody\r\n"
    );
}

#[test]
fn unsafe_edits_are_rejected() {
    let error = |text: &str, key: &str| {
        set_properties(text, &Map::from_iter([(key.to_owned(), json!(1))]), &[]).unwrap_err()
    };
    assert!(matches!(
        error("---\na: [\n---\n", "b"),
        TextError::BrokenFrontmatter { .. }
    ));
    assert!(matches!(
        error("---\nwords\n---\n", "b"),
        TextError::NoProperties { .. }
    ));
    assert!(matches!(
        error("---\na: 5\n---\n", "a.b"),
        TextError::NotNested { .. }
    ));
    assert!(matches!(
        error("---\na: &x 2\nb: *x\n---\n", "a"),
        TextError::NotEditable { .. }
    ));
}
