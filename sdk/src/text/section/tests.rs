//! Tests of sections: lookup by heading path, and lossless edits.

use super::*;

const NOTE: &str =
    "intro\n\n# Plan\n\nfirst\n\n## Risks\nr1\n\n# Log\n## Risks\nr2\n## A > B\nx\n# Plan\nend";

fn found(text: &str, wanted: &str) -> usize {
    let outline = outline(text).unwrap();
    outline.headings[find(&outline, wanted).unwrap()].line
}

fn error(text: &str, wanted: &str) -> TextError {
    find(&outline(text).unwrap(), wanted).unwrap_err()
}

#[test]
fn heading_paths_select_nested_headings() {
    assert_eq!(found(NOTE, "Log"), 10);
    assert_eq!(found(NOTE, "Plan > Risks"), 7);
    assert_eq!(found(NOTE, "# Plan > ## Risks"), 7);
    assert_eq!(found(NOTE, "log > risks"), 11);
    assert_eq!(found(NOTE, "A > B"), 13);
    assert_eq!(found(NOTE, "Log > A > B"), 13);
    assert_eq!(found("# A\n## X\n### B\n", "A > B"), 3);
    assert_eq!(found("# B\n## B\n", "## B"), 2);
    assert_eq!(found("# **Bold** move\n", "**Bold** move"), 1);
    assert_eq!(found("# C#\n", "C#"), 1);
    assert_eq!(found("#\n##\n", "##"), 2);
}

#[test]
fn ambiguous_headings_are_reported_with_unique_paths() {
    for (text, wanted) in [
        (NOTE, "Plan"),
        (NOTE, "Risks"),
        ("# B\n# A\n## B\n", "B"),
        ("# A\n## B\n# A > B\n", "A > B"),
        ("#\n#\n", "#"),
    ] {
        let outline = outline(text).unwrap();
        let TextError::AmbiguousSection { choices, .. } = find(&outline, wanted).unwrap_err()
        else {
            panic!("{wanted}")
        };
        assert!(choices.len() > 1);
        for choice in choices {
            let index = find(&outline, &choice.section).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                outline.headings[index].line, choice.line,
                "{}",
                choice.section
            );
        }
    }
    assert_eq!(
        error(NOTE, "Plan").to_string(),
        "`Plan` matches 2 headings; use one of these: `Plan [1]` (line 3), `Plan [2]` (line 15)"
    );
}

#[test]
fn a_missing_heading_is_reported_with_similar_ones() {
    assert_eq!(
        error(NOTE, "Plan > Risk").to_string(),
        "no heading `Plan > Risk`; similar headings: `Plan > Risks` (line 7), `Log > Risks` (line 11)"
    );
    assert!(matches!(
        error(NOTE, "Plan [3]"),
        TextError::NoSection { .. }
    ));
    assert!(matches!(error("", "x"), TextError::NoSection { .. }));
    assert!(matches!(error(NOTE, ""), TextError::NoSection { .. }));
}

#[test]
fn sections_are_read_with_or_without_nested_ones() {
    assert_eq!(
        read(NOTE, "Plan [1]", Extent::Own).unwrap().text,
        "# Plan\n\nfirst\n\n"
    );
    let whole = read(NOTE, "Plan [1]", Extent::Whole).unwrap();
    assert_eq!(whole.text, "# Plan\n\nfirst\n\n## Risks\nr1\n\n");
    assert_eq!(&NOTE[whole.range], whole.text);
}

#[test]
fn appending_keeps_the_blank_lines_before_the_next_heading() {
    assert_eq!(
        append("# A\r\n\r\nx\r\n\r\n\r\n# B\r\n", "A", "y\nz").unwrap(),
        "# A\r\n\r\nx\r\ny\r\nz\r\n\r\n\r\n# B\r\n"
    );
    assert_eq!(append("# A\n\n# B\n", "A", "y").unwrap(), "# A\ny\n\n# B\n");
    assert_eq!(append("# A\n## C\n", "A", "y").unwrap(), "# A\ny\n## C\n");
    assert_eq!(append("# A", "A", "y\n").unwrap(), "# A\ny");
    assert_eq!(
        append("# A\nB\n===\n", "A", "y").unwrap(),
        "# A\ny\n\nB\n===\n"
    );
}

#[test]
fn prepending_inserts_right_below_the_heading() {
    assert_eq!(prepend("A\n=\n\nx", "A", "y").unwrap(), "A\n=\ny\n\nx");
}

#[test]
fn replacing_keeps_the_heading_and_surrounding_blank_lines() {
    assert_eq!(
        replace("# A\n\nx\n\n## C\nc\n\n# B\n", "A", "y", Extent::Own).unwrap(),
        "# A\n\ny\n\n## C\nc\n\n# B\n"
    );
    assert_eq!(
        replace("# A\n\nx\n\n## C\nc\n\n# B\n", "A", "y\n", Extent::Whole).unwrap(),
        "# A\n\ny\n\n# B\n"
    );
    assert_eq!(
        replace("# A\nx\n\n# B\n", "A", "", Extent::Whole).unwrap(),
        "# A\n\n# B\n"
    );
    assert_eq!(
        replace("# A\nx", "A", "y\n", Extent::Whole).unwrap(),
        "# A\ny"
    );
    assert_eq!(replace("# A", "A", "y", Extent::Whole).unwrap(), "# A\ny");
    assert_eq!(
        replace("# A\nx\n\nB\n---\n", "A", "y", Extent::Own).unwrap(),
        "# A\ny\n\nB\n---\n"
    );
}

#[test]
fn deleting_removes_the_whole_section() {
    assert_eq!(
        delete("a\n# A\nx\n## C\nc\n# B\nb", "A").unwrap(),
        "a\n# B\nb"
    );
    assert_eq!(delete("# A\nx\n# B\nb", "B").unwrap(), "# A\nx\n");
    assert_eq!(
        delete("para\n# A\nB\n===\n", "A").unwrap(),
        "para\n\nB\n===\n"
    );
}

#[test]
fn a_section_of_another_version_comes_back() {
    let old = "# T\nintro\n\n## A\nold a\n### Below\nb\n\n## B\nold b\n";
    // It replaces the one with the same path, and blank lines around it stay.
    assert_eq!(
        restore("# T\nx\n\n## A\nnew\n\n\n## C\n", old, "A").unwrap(),
        "# T\nx\n\n## A\nold a\n### Below\nb\n\n\n## C\n"
    );
    // Without it, it goes after its predecessor, then below its parent, then to the end.
    assert_eq!(
        restore("# T\n## A\nnew\n\n## C\n", old, "B").unwrap(),
        "# T\n## A\nnew\n\n## B\nold b\n\n## C\n"
    );
    assert_eq!(
        restore("# T\nx\n\n## C\n", old, "A").unwrap(),
        "# T\nx\n\n## A\nold a\n### Below\nb\n\n## C\n"
    );
    assert_eq!(restore("other", old, "B").unwrap(), "other\n\n## B\nold b");
    assert_eq!(restore("", old, "B").unwrap(), "## B\nold b\n");
    // Line endings are those of the note, and a missing final one stays missing.
    assert_eq!(
        restore("# T\r\n## B\r\nnew", old, "B").unwrap(),
        "# T\r\n## B\r\nold b"
    );
    assert!(matches!(
        restore("# B\n", old, "Nowhere"),
        Err(TextError::NoSection { .. })
    ));
    assert!(matches!(
        restore("# T\n## A\n## A\n", old, "A"),
        Err(TextError::AmbiguousSection { .. })
    ));
}
