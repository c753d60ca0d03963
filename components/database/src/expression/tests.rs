//! Expressions: results, errors and resource limits.

use super::*;
use notehost_sdk::index::{Field, Query};
use notehost_sdk::serde_json::{Value as Json, json};
use notehost_sdk::{MemoryVault, RawVault as _, Vault};
use proptest::prelude::*;

/// 2024-05-31T10:20:30Z
const NOW: u64 = 1_717_150_830_000;

fn vault() -> MemoryVault {
    Vault::in_memory()
        .at(NOW)
        .with(
            "Books/Dune.md",
            "---\nprice: 12.5\npages: 412\nauthor: \"[[Ana]]\"\ndue: 2024-06-02\nstarted: 2024-05-01T08:00:00\ndone: false\ngenres: [sf, classic]\nmeta: {shelf: A3}\nempty:\nTitle Case: yes it is\n---\n#book/sf [[Ana|her]] ![[cover.png]] [[Nowhere]]\n",
        )
        .with("People/Ana.md", "---\nborn: 1990-01-02\n---\n[[Dune]]\n")
        .with("cover.png", "")
}

fn computed_in(vault: &MemoryVault, text: &str) -> Result<Value, String> {
    let context = Context::new(vault, Some("People/Ana.md")).unwrap();
    let fields = vec![
        Field::Properties,
        Field::Tags,
        Field::Links,
        Field::Aliases,
        Field::Modified,
        Field::Size,
    ];
    let found = vault.find(&Query {
        limit: 10,
        fields,
        ..Query::default()
    });
    let notes = found.unwrap().items.into_iter();
    let note = notes.into_iter().find(|note| note.path == "Books/Dune.md");
    let row = Row::new(note.unwrap());
    let formulas = Formulas::from([
        ("half".to_owned(), parse("price / 2", false)),
        ("a b".to_owned(), parse("formula.half + 1", false)),
    ]);
    Evaluator::new(&context, &formulas, &row).compute(&parse(text, false)?)
}

fn computed(text: &str) -> Result<Json, String> {
    computed_in(&vault(), text).map(|value| value.json())
}

#[track_caller]
fn same(cases: &[(&str, Json)]) {
    for (text, expected) in cases {
        assert_eq!(computed(text).as_ref(), Ok(expected), "{text}");
    }
}

#[test]
fn operators_have_the_usual_precedence() {
    same(&[
        ("1 + 2 * 3", json!(7)),
        ("(1 + 2) * 3 - -1", json!(10)),
        ("7 % 4 / 2", json!(1.5)),
        ("0.1 + 0.2", json!(0.3)),
        ("!true || 1 < 2 && 2 <= 2", json!(true)),
        ("\"a\" + 1 + 'b'", json!("a1b")),
        ("price > 10 && pages >= 412", json!(true)),
        ("missing + 1", json!(null)),
        ("missing > 1", json!(false)),
        ("1 / 0", json!(null)),
        ("\"a\" == 'a' && 1 != 2", json!(true)),
        ("[1, [2]] == [1, [2]]", json!(true)),
        ("1e3", json!(1000)),
        ("\"\\\"\\n\"", json!("\"\n")),
    ]);
}

#[test]
fn properties_formulas_and_files_are_resolved() {
    same(&[
        ("note.price", json!(12.5)),
        ("note[\"Title Case\"]", json!("yes it is")),
        ("PRICE", json!(12.5)),
        ("meta.shelf", json!("A3")),
        ("meta[\"shelf\"]", json!("A3")),
        ("genres[1]", json!("classic")),
        ("genres[9]", json!(null)),
        ("formula[\"a b\"]", json!(7.25)),
        ("file.name", json!("Dune")),
        ("file.name == \"Dune.md\"", json!(true)),
        ("file.basename + file.ext", json!("Dunemd")),
        (
            "file.folder + \":\" + file.path",
            json!("Books:Books/Dune.md"),
        ),
        ("file.tags", json!(["book/sf"])),
        ("file.tags.contains(\"#book/sf\")", json!(true)),
        (
            "file.links",
            json!(["[[Ana]]", "[[Ana|her]]", "[[Nowhere]]"]),
        ),
        ("file.embeds", json!(["[[cover.png]]"])),
        ("file.backlinks", json!(["[[People/Ana]]"])),
        ("file.properties.price", json!(12.5)),
        ("file.size > 10", json!(true)),
        ("this.file.name + this.born.year", json!("Ana1990")),
        ("author == this", json!(true)),
        (
            "file.hasLink(this.file) && file.hasLink(\"Nowhere\")",
            json!(true),
        ),
        ("file.hasTag(\"x\", \"#Book\")", json!(true)),
        ("file.hasTag(\"boo\")", json!(false)),
        (
            "file.hasProperty(\"price\") && !file.hasProperty(\"x\")",
            json!(true),
        ),
        (
            "file.inFolder(\"Books\") && !file.inFolder(\"Book\")",
            json!(true),
        ),
        ("author.asFile().folder", json!("People")),
        ("author.linksTo(file)", json!(true)),
        ("file.asLink(\"it\")", json!("[[Books/Dune|it]]")),
        ("link(\"Ana\") == author", json!(true)),
        ("link(\"https://a.b\", \"x\")", json!("[x](https://a.b)")),
        ("file(\"Ana\").name", json!("Ana")),
    ]);
}

#[test]
fn text_and_number_functions() {
    same(&[
        ("\"hello\".contains(\"ell\")", json!(true)),
        ("\"hello\".containsAll(\"h\", \"x\")", json!(false)),
        ("\"hello\".containsAny(\"h\", \"x\")", json!(true)),
        (
            "\"hello\".startsWith(\"he\") && \"hello\".endsWith(\"lo\")",
            json!(true),
        ),
        ("\"Ä b\".lower() + \"ä\".upper()", json!("ä bÄ")),
        ("\"hello big world\".title()", json!("Hello Big World")),
        ("\" x \".trim().length", json!(1)),
        ("\"a,b,c\".replace(/,/, \"-\")", json!("a-b,c")),
        ("\"a,b,c\".replace(/,/g, \"-\")", json!("a-b-c")),
        ("\"a,b\".replace(\",\", \"-\")", json!("a-b")),
        ("\"ab\".repeat(2).reverse()", json!("baba")),
        (
            "\"hello\".slice(1, 4) + \"hello\".slice(-2)",
            json!("elllo"),
        ),
        ("\"a,b,c\".split(\",\", 2)", json!(["a", "b"])),
        ("\"a1b22c\".split(/\\d+/)", json!(["a", "b", "c"])),
        ("/^H/i.matches(\"hello\")", json!(true)),
        ("(-2.5).abs() + 2.1.ceil() + 2.9.floor()", json!(7.5)),
        ("2.5.round() + 2.3333.round(2)", json!(5.33)),
        ("3.14159.toFixed(2)", json!("3.14")),
        ("1.005.toFixed(2)", json!("1.01")),
        ("5.isEmpty()", json!(false)),
        (
            "missing.isEmpty() && \"\".isEmpty() && [].isEmpty()",
            json!(true),
        ),
        ("missing.toFixed(2)", json!(null)),
        ("missing.contains(\"x\")", json!(false)),
        (
            "1.isTruthy() && \"a\".isType(\"string\") && [].isType(\"list\")",
            json!(true),
        ),
        ("number(\"3.5\") + number(true)", json!(4.5)),
        ("max(1, 3, 2) - min(4, 2)", json!(1)),
        (
            "if(price > 10, \"dear\", \"cheap\") + if(0, 1)",
            json!("dear"),
        ),
        (
            "escapeHTML(\"<a & 'b'>\")",
            json!("&lt;a &amp; &#39;b&#39;&gt;"),
        ),
        ("123.toString() + true.toString()", json!("123true")),
    ]);
}

#[test]
fn list_and_object_functions() {
    same(&[
        ("[1,2,3,4].filter(value > 2)", json!([3, 4])),
        ("[1,2,3].map(value * 10 + index)", json!([10, 21, 32])),
        ("[1,2,3].reduce(acc + value, 0)", json!(6)),
        (
            "[[1,2],[3]].map(value.map(value + 1))",
            json!([[2, 3], [4]]),
        ),
        ("[1,[2,[3]]].flat()", json!([1, 2, 3])),
        ("[3,1,2].sort().reverse().join(\"-\")", json!("3-2-1")),
        ("[\"b\",\"a\",\"B\"].sort()", json!(["a", "B", "b"])),
        ("[1,2,2,\"2\"].unique().length", json!(3)),
        ("[1,2,3,4].slice(1,3)", json!([2, 3])),
        (
            "genres.contains(\"sf\") && genres.containsAll(\"sf\", \"classic\")",
            json!(true),
        ),
        ("genres.containsAny(\"x\", \"sf\")", json!(true)),
        ("[1,2,6].mean() + [1,2].sum()", json!(6)),
        ("list(price).length + list(genres).length", json!(3)),
        ("{\"a\": 1, b: [2]}.keys()", json!(["a", "b"])),
        ("{\"a\": 1}.values()", json!([1])),
        ("{}.isEmpty()", json!(true)),
    ]);
}

#[test]
fn date_functions() {
    same(&[
        ("now()", json!("2024-05-31T10:20:30")),
        ("today()", json!("2024-05-31")),
        ("due", json!("2024-06-02")),
        (
            "due > today() && due < \"2024-06-03\" && due == date(\"2024-06-02\")",
            json!(true),
        ),
        ("due + \"1M\"", json!("2024-07-02")),
        ("date(\"2024-01-31\") + \"1 month\"", json!("2024-02-29")),
        (
            "date(\"2024-12-01\") + \"1M\" + \"4h\" + \"3m\"",
            json!("2025-01-01T04:03:00"),
        ),
        ("(now() + \"1d\") - now()", json!(86_400_000)),
        ("(due - today()).days", json!(2)),
        ("due - today() > duration(\"1d\")", json!(true)),
        ("now() + duration(\"1h\") * 2", json!("2024-05-31T12:20:30")),
        ("started.year + started.month / 10", json!(2024.5)),
        (
            "started.hour + started.minute + started.second + started.millisecond",
            json!(8),
        ),
        ("started.date()", json!("2024-05-01")),
        ("started.time()", json!("08:00:00")),
        (
            "due.format(\"dddd, D MMM YYYY\")",
            json!("Sunday, 2 Jun 2024"),
        ),
        (
            "date(\"1969-07-20\").format(\"YYYY-MM-DD ddd\")",
            json!("1969-07-20 Sun"),
        ),
        (
            "due.relative() + \", \" + started.relative() + \", \" + today().relative()",
            json!("in 2 days, a month ago, today"),
        ),
        ("due.isEmpty()", json!(false)),
        ("due.toString().startsWith(\"2024\")", json!(true)),
        ("number(date(\"1970-01-02\"))", json!(86_400_000)),
        ("(now() - file.mtime).isType(\"duration\")", json!(true)),
    ]);
    assert!(
        computed("date(\"2024-02-30\")")
            .unwrap_err()
            .contains("invalid date `2024-02-30`")
    );
    assert!(
        computed("due - \"soon\"")
            .unwrap_err()
            .contains("invalid duration")
    );
}

#[test]
fn parse_errors_name_the_problem_and_its_position() {
    for (text, expected) in [
        ("foo(1)", "unknown function `foo` (at character 1)"),
        (
            "1 + price.frobnicate()",
            "unknown function `frobnicate` (at character 11)",
        ),
        ("\"a\".Contains(\"b\")", "did you mean `contains`?"),
        ("today(1)", "`today` takes 0 arguments, not 1"),
        ("if(1)", "`if` takes 2 to 3 arguments, not 1"),
        ("file.nmae", "unknown file attribute `file.nmae`"),
        ("status = 1", "write `==` to compare"),
        ("a ? b : c", "write `if(condition, one, other)`"),
        ("a & b", "write `&&` or `||`"),
        ("(1 + 2", "expected `)`"),
        ("[1, 2", "expected `,` or `]`"),
        ("\"open", "missing closing `\"`"),
        ("/a(/.matches(\"x\")", "invalid regular expression"),
        ("/a/q.matches(\"x\")", "unknown flag `q`"),
        ("1 +", "expected a value (at character 4)"),
        ("formula", "`formula` needs a name"),
        ("price.now()", "`now` is a function"),
        ("", "the expression is empty"),
        ("x.", "expected a name after `.`"),
        ("{a 1}", "expected `:`"),
    ] {
        let error = parse(text, false).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for (text, expected) in [
        ("true.toFixed(1)", "a boolean has no function `toFixed`"),
        ("price.lower()", "a number has no function `lower`"),
        (
            "price * \"x\"",
            "`*` is not defined for a number and a string",
        ),
        ("number(\"x\")", "invalid number `x`"),
        ("price.foo", "a number has no `foo`"),
        ("formula.nothing", "no formula `nothing`"),
    ] {
        let error = computed(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn stack_time_and_memory_are_bounded() {
    for text in [
        "(".repeat(10_000),
        "!".repeat(10_000) + "1",
        "[".repeat(5000) + &"]".repeat(5000),
        "1+".repeat(5000) + "1",
        "a".to_owned() + &".b".repeat(5000),
        "if(1,".repeat(3000),
        "x".repeat(30_000),
    ] {
        assert!(parse(&text, false).is_err(), "{}", &text[..10]);
    }
    let twenty = format!("[{}]", ["1"; 60].join(","));
    for text in [
        format!("{twenty}.reduce([acc, acc], 1)"),
        format!("{twenty}.reduce(acc + acc, \"ab\")"),
        format!("{twenty}.reduce([acc, acc].flat(), [1])"),
        format!("{twenty}.reduce([acc], 1)"),
        "\"a\".repeat(999999999)".to_owned(),
        format!("{twenty}.map({twenty}.map({twenty}.map({twenty}.length)))"),
        "\"aaaa\".repeat(200000).replace(\"a\", \"b\".repeat(900000))".to_owned(),
    ] {
        assert!(computed(&text).is_err(), "{text}");
    }
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("price".to_owned()),
        Just("due".to_owned()),
        Just("author".to_owned()),
        Just("genres".to_owned()),
        Just("meta".to_owned()),
        Just("missing".to_owned()),
        Just("file".to_owned()),
        Just("file.tags".to_owned()),
        Just("this".to_owned()),
        Just("now()".to_owned()),
        Just("\"1d\"".to_owned()),
        Just("\"日本 x\"".to_owned()),
        Just("/x|日/g".to_owned()),
        Just("value".to_owned()),
        (-1000i64..1000).prop_map(|number| format!("({number})")),
        Just("1e308".to_owned()),
    ];
    let methods = prop::sample::select(vec![
        "abs()",
        "asFile()",
        "asLink(\"x\")",
        "ceil()",
        "contains(\"x\")",
        "containsAny(1, \"日\")",
        "date()",
        "flat()",
        "filter(value)",
        "format(\"YYYY dd\")",
        "hasLink(\"Ana\")",
        "hasTag(\"x\")",
        "inFolder(\"\")",
        "isEmpty()",
        "join()",
        "keys()",
        "linksTo(file)",
        "lower()",
        "map(value + index)",
        "matches(\"x\")",
        "mean()",
        "reduce(acc + value, 0)",
        "relative()",
        "repeat(3)",
        "replace(/x/g, \"$0$1\")",
        "reverse()",
        "round(2)",
        "slice(-3, 2)",
        "sort()",
        "split(\"\")",
        "sum()",
        "time()",
        "title()",
        "toFixed(2)",
        "toString()",
        "trim()",
        "unique()",
        "values()",
        "isType(\"list\")",
    ]);
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let operators = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||",
        ]);
        prop_oneof![
            (inner.clone(), operators, inner.clone())
                .prop_map(|(one, sign, other)| format!("({one} {sign} {other})")),
            (inner.clone(), methods.clone()).prop_map(|(one, method)| format!("{one}.{method}")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("{one}[{other}]")),
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("if({a}, {b}, {c})")),
            inner.clone().prop_map(|one| format!("!{one}")),
            inner.prop_map(|one| format!("{one}.length")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn parsing_arbitrary_text_never_panics(text in "\\PC{0,60}") {
        let _ = parse(&text, false);
    }

    #[test]
    fn parsing_arbitrary_tokens_never_panics(text in "[a-c(){}\\[\\].,:\"'/\\\\!<>=&|+*%0-9 \\-]{0,60}") {
        let _ = parse(&text, true);
    }

    #[test]
    fn evaluating_arbitrary_expressions_never_panics(text in expression()) {
        let vault = vault();
        if let Ok(value) = computed_in(&vault, &text) {
            let _ = (value.json(), value.display_text(), value.order(&value));
        }
    }

    #[test]
    fn dates_round_trip_through_text(milliseconds in -60_000_000_000_000i64..250_000_000_000_000, is_timed: bool) {
        let seconds = milliseconds.div_euclid(1000) * 1000;
        let date = if is_timed { Date::moment(seconds) } else { Date::day(seconds.div_euclid(86_400_000)) };
        prop_assert_eq!(parse_date(&date.text()), Some(date));
    }
}
