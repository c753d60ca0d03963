//! YAML bombs are rejected, normal frontmatter is not, and measurements are never lower than the parser's result.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::scan::measure;
use super::*;
use crate::text::{TextError, frontmatter, set_properties, yaml};

fn nested_in_blocks(levels: usize) -> String {
    (0..levels)
        .map(|level| format!("{:level$}a:\n", ""))
        .collect()
}

#[test]
fn depth_is_limited_in_every_notation() {
    let brackets = |levels: usize| format!("a: {}{}\n", "[".repeat(levels), "]".repeat(levels));
    let braces = |levels: usize| format!("a: {}{}\n", "{b: ".repeat(levels), "}".repeat(levels));
    let dashes = |levels: usize| format!("a:\n  {}x\n", "- ".repeat(levels));
    let questions = |levels: usize| format!("a:\n  {}x\n", "? ".repeat(levels));
    let pairs = |levels: usize| format!("a: {}1{}\n", "[b: ".repeat(levels), "]".repeat(levels));
    for (yaml, outside, levels) in [
        (brackets as fn(usize) -> String, 1, 1),
        (braces, 1, 1),
        (dashes, 1, 1),
        (questions, 1, 1),
        (pairs, 1, 2),
        (nested_in_blocks, 0, 1),
    ] {
        let most = (MAX_DEPTH - outside) / levels;
        assert_eq!(check(&yaml(most)), Ok(()), "{}", yaml(most));
        assert_eq!(check(&yaml(most + 1)), Err(YamlLimit::Depth), "{}", yaml(2));
    }
    for bomb in [
        brackets(100_000),
        braces(20_000),
        dashes(50_000),
        questions(50_000),
    ] {
        assert_eq!(check(&bomb), Err(YamlLimit::Depth), "{}", &bomb[..20]);
    }
}

/// Prefixes that could make a scanner treat the brackets as part of a string or comment, or as closed.
#[test]
fn depth_cannot_be_hidden() {
    let bomb = "[".repeat(200);
    for before in [
        "a: it's ",
        "a: \"x\\\"\" \nb: ",
        "a: ['it''s', \"\", ",
        "# comment\u{2028}b: ",
        "# comment\u{85}b: ",
        "# comment\rb: ",
        "a: |\n  text\nb: ",
        "a: >2-\n  text\nb: ",
        "a: |\n\nb: ",
        "a: x\n  y\nb: ",
        "\u{feff}",
        "\u{feff}\u{feff}",
        "a: 1\n\u{feff}b: ",
        "\t",
        "!tag ",
        "!<x[> ",
        "&anchor ",
        "a: !x,y\nb: ",
        "%YAML 1.1\n--- ",
        "---\n",
        "a: 1\n...\n---\nb: ",
        "? ",
        "a:\n- ",
        "{a: 'b', c: \"d\", e: ",
        "\"a\": ",
        "a: \"b\" ",
    ] {
        let yaml = format!("{before}{bomb}");
        let refused = check(&yaml) == Err(YamlLimit::Depth);
        // The parser does not nest this, so it need not be rejected.
        assert!(refused || before == "a: it's ", "{before:?}");
    }
    for not_closing in ["\"]\", ", "']', ", "x #]\n, ", "\"a\\\"]\", "] {
        let yaml = format!("a: {}", format!("[{not_closing}").repeat(100));
        assert_eq!(check(&yaml), Err(YamlLimit::Depth), "{not_closing:?}");
    }
}

#[test]
fn aliases_are_limited_by_number_and_expanded_size() {
    let billion = {
        let mut yaml = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for level in 1..9 {
            let below = vec![format!("*a{}", level - 1); 9].join(", ");
            yaml += &format!("a{level}: &a{level} [{below}]\n");
        }
        yaml
    };
    let in_blocks = {
        let mut yaml = "a0: &a0\n  - lol\n  - lol\n".to_owned();
        for level in 1..30 {
            yaml += &format!("a{level}: &a{level}\n- *a{0}\n- *a{0}\n", level - 1);
        }
        yaml
    };
    let long = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(35_000),
        vec!["*a"; 90].join(", ")
    );
    let many = format!("a: &a x\nb: [{}]\n", vec!["*a"; MAX_ALIASES + 1].join(", "));
    let own = "a: &a [*a, *a]\n";
    assert_eq!(check(&billion), Err(YamlLimit::Nodes));
    assert!(matches!(
        check(&in_blocks),
        Err(YamlLimit::Nodes | YamlLimit::Expansion)
    ));
    assert_eq!(check(&long), Err(YamlLimit::Expansion));
    assert_eq!(check(&many), Err(YamlLimit::Aliases));
    assert_eq!(check(own), Err(YamlLimit::Expansion));
    // Normal use of aliases is accepted.
    let used = "base: &base\n  color: red\n  size: 1\none:\n  <<: *base\ntwo: &name text\nlist:\n- *name\n- *name\n- &n x\n- *n\n- *n\n&key k: *name\n";
    let measured = measure(used).unwrap();
    assert!(measured.bytes < used.len() + 200, "{measured:?}");
    let list = format!("x: &x short\nlist:\n{}", "- *x\n".repeat(MAX_ALIASES));
    assert!(measure(&list).unwrap().bytes < list.len() + 10 * MAX_ALIASES);
}

#[test]
fn size_and_number_of_values_are_limited() {
    let long = format!("a: {}\n", "x".repeat(MAX_BYTES));
    assert_eq!(check(&long), Err(YamlLimit::Bytes));
    assert_eq!(check(&long[..MAX_BYTES - 1]), Ok(()));
    let many = format!("a: [{}]\n", "1,".repeat(MAX_NODES));
    assert_eq!(check(&many), Err(YamlLimit::Nodes));
    let many = "-\n".repeat(MAX_NODES + 1);
    assert_eq!(check(&many), Err(YamlLimit::Nodes));
}

#[test]
fn a_note_over_a_limit_has_no_properties_and_cannot_be_edited() {
    let note = format!("---\na: {}\n---\ntext\n", "[".repeat(5000));
    let too_complex = TextError::YamlTooComplex {
        line: 2,
        limit: YamlLimit::Depth,
    };
    assert_eq!(frontmatter::properties(&note), Err(too_complex.clone()));
    assert_eq!(too_complex.code(), crate::Code::TooLarge);
    let set = Map::from_iter([("b".to_owned(), json!(1))]);
    assert_eq!(set_properties(&note, &set, &[]), Err(too_complex));
    // An edit cannot exceed a limit either.
    let deep = (0..MAX_DEPTH + 1).fold(json!(1), |inner, _| json!([inner]));
    for note in ["text\n", "---\nb: 1\n---\ntext\n"] {
        let set = Map::from_iter([("a".to_owned(), deep.clone())]);
        let edited = set_properties(note, &set, &[]);
        assert!(
            matches!(edited, Err(TextError::YamlTooComplex { .. })),
            "{edited:?}"
        );
    }
}

#[test]
fn common_frontmatter_is_measured_exactly() {
    for (yaml, depth) in [
        ("", 0),
        ("# only a comment\n", 0),
        ("title: It's \"so\" [not] {a, list}\n", 1),
        ("tags: [a, 'b]', \"c]\"]\n", 2),
        ("tags:\n- a\n- b\nother: x\n", 2),
        ("tags:\n  - a\n  - b: [1, 2]\n    c: d\nother: x\n", 4),
        ("up: \"[[A]]\"\ndown: [[B]]\n", 3),
        ("text: |\n  [[[[\n  - - -\n\n  {{{{\nnext: 1\n", 1),
        ("text: >-\n  [[[[\n   [[[\nnext: [1]\n", 2),
        ("url: https://a.b/c?d=[e]\n日本: 語\n", 1),
        ("date: 2024-01-01\r\nlist:\r\n  - a\r\n", 2),
        ("? a\n: - b\n  - c\n", 2),
        ("[a: b, c]\n", 2),
    ] {
        assert_eq!(measure(yaml).map(|found| found.depth), Ok(depth), "{yaml}");
    }
}

fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

/// Depth and number of nodes, keys included.
fn shape(value: &yaml_serde::Value) -> (usize, usize) {
    use yaml_serde::Value as Yaml;
    let around = |inner: Vec<(usize, usize)>| {
        let depth = inner.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
        let nodes = inner.iter().map(|(_, nodes)| *nodes).sum::<usize>();
        (1 + depth, 1 + nodes)
    };
    match value {
        Yaml::Sequence(items) => around(items.iter().map(shape).collect()),
        Yaml::Mapping(map) => {
            let pairs = map
                .iter()
                .flat_map(|(key, value)| [shape(key), shape(value)]);
            around(pairs.collect())
        }
        Yaml::Tagged(tagged) => shape(&tagged.value),
        _ => (0, 1),
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~äé語\n]{0,12}".prop_map(Value::from),
        "[\\[\\]{}'\"#:,&*!|>?%@ x-]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-z'\\[ ]{1,6}", inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

const PIECES: &[&str] = &[
    "a", "b: ", "c:", "- ", "-", "? ", ": ", ":", "[", "]", "{", "}", ", ", ",", "'", "\"", "''",
    "\\", "#", " # ", "|", ">", "|2", ">-", "!x ", "!", "&a ", "*a ", "&b ", "*b", "%", "@", "`",
    " ", "  ", "    ", "\t", "\n", "\n", "\n", "\n  ", "\n- ", "\n  - ", "\nk: ", "\n  k: ",
    "\r\n", "\r", "\u{85}", "\u{2028}", "\u{feff}", "語", "---", "...", "--- ", "x y", "1",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// YAML written by this crate is measured exactly.
    #[test]
    fn written_yaml_is_measured_exactly(value in values()) {
        let map = match value {
            Value::Object(map) => map,
            other => Map::from_iter([("key".to_owned(), other)]),
        };
        let depth = depth_of(&Value::Object(map.clone()));
        let text = yaml::entries(&map, 0, "\n");
        // An empty mapping is written as an empty text.
        let expected = if map.is_empty() { 0 } else { depth };
        prop_assert_eq!(measure(&text).map(|found| found.depth), Ok(expected), "{}", text);
        let flow = yaml::flow(&Value::Object(map));
        prop_assert_eq!(measure(&flow).map(|found| found.depth), Ok(depth), "{}", flow);
    }

    /// Measurements are an upper bound for everything that the parser accepts.
    #[test]
    fn measurements_are_upper_bounds(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        let Ok(value) = yaml_serde::from_str::<yaml_serde::Value>(&text) else {
            return Ok(());
        };
        let Ok(measured) = measure(&text) else {
            return Ok(());
        };
        let (depth, nodes) = shape(&value);
        if !text.contains('*') {
            prop_assert!(measured.depth >= depth, "{text:?}: {measured:?}, {depth} deep");
        }
        // A document may be a single empty value, which is not counted.
        prop_assert!(measured.nodes + 1 >= nodes, "{text:?}: {measured:?}, {nodes} nodes");
    }
}
