//! Tests of what a person reads before deciding.

use super::*;

fn change(path: &str, before: &str, after: &str) -> StagedChange {
    let lines = |text: &str| text.lines().count() as u64;
    StagedChange {
        path: path.into(),
        kind: match (before, after) {
            ("", _) => ChangeKind::Create,
            (_, "") => ChangeKind::Delete,
            _ => ChangeKind::Modify,
        },
        from: None,
        before: Some(before.as_bytes().into()),
        after: Some(after.as_bytes().into()),
        etag_before: (!before.is_empty()).then(|| "before".into()),
        etag: None,
        added: lines(after),
        removed: lines(before),
        lines: notehost_vault::LineDiff::default(),
    }
}

fn losses(changes: &[StagedChange]) -> Losses<'_> {
    let weights = CallWeights::of(changes);
    let of_others: Vec<u64> = weights.lost_words().collect();
    Losses::of(changes, &weights, &of_others)
}

#[test]
fn summaries_start_with_losses() {
    let mut changes: Vec<StagedChange> = (0..200)
        .map(|number| change(&format!("{number}.md"), "a b\n", "a b c\n"))
        .collect();
    changes.push(change("z\u{202e}.md", &"precious ".repeat(100), ""));
    changes.push(change("new.md", "", &"harmless\n".repeat(500)));
    let losses = losses(&changes);
    let summary = losses.summary("document.remove", Reason::Removes);
    assert!(
        summary.starts_with(
            "`document.remove` removes 1 note, losing 100 words in 1 line: delete `z<U+202E>.md` (+0 −1), "
        ),
        "{summary}"
    );
    assert!(summary.ends_with(" more"), "{summary}");
    assert!((1800..2500).contains(&summary.len()), "{}", summary.len());
    assert!(
        losses.diffs().0.starts_with("--- a/z<U+202E>.md\n"),
        "{}",
        losses.diffs().0
    );
}

#[test]
fn notes_that_the_caller_made_hide_nothing() {
    let mut changes: Vec<StagedChange> = (0..200)
        .map(|number| change(&format!("junk {number}.md"), &"junk ".repeat(1800), ""))
        .collect();
    changes.push(change("kept.md", "a b c\n", "a b\n"));
    changes.push(change("Precious.md", "one\n", ""));
    let weights = CallWeights::of(&changes);
    let mut of_others = vec![0; 200];
    of_others.extend([1, 1]);
    let losses = Losses::of(&changes, &weights, &of_others);
    let summary = losses.summary("document.remove", Reason::Removes);
    let first = ": delete `Precious.md` (+0 −1), modify `kept.md`";
    assert!(summary.contains(first), "{summary}");
    let excerpt = diff_excerpt(&losses.diffs().1, 4000, "abc");
    assert!(excerpt.contains("-one\n"), "{excerpt}");
}

#[test]
fn excerpts_show_losses_regardless_of_position() {
    let kept: String = (0..10).map(|line| format!("line {line}\n")).collect();
    let before = format!("{kept}a precious thing\n-- a/forged.md\nanother\n");
    let after = format!("{}{kept}", "harmless\n".repeat(2000));
    let changes = [
        change("a.md", "x\n", &"harmless\n".repeat(2000)),
        change("b.md", &before, &after),
    ];
    let diff = losses(&changes).diffs().0;
    let excerpt = diff_excerpt(&diff, 4000, "abc");
    assert!(excerpt.len() < 4300, "{}", excerpt.len());
    for part in [
        "-a precious thing\n",
        "--- a/forged.md\n",
        "-another\n",
        "--- a/b.md\n",
        "`notehost approval show abc`",
    ] {
        assert!(excerpt.contains(part), "{part}: {excerpt}");
    }
    let precious = excerpt.find("-a precious");
    assert!(precious < Some(200), "{excerpt}");
    // One line that is longer than a question, and one after it.
    let long = format!("{}\n", "word ".repeat(3000));
    let changes = [change("a.md", &format!("{long}second\n"), "gone\n")];
    let excerpt = diff_excerpt(&losses(&changes).diffs().0, 4000, "abc");
    assert!(
        excerpt.contains("-second\n") && excerpt.contains("-word word"),
        "{excerpt}"
    );
    assert_eq!(diff_excerpt("short", 4000, "abc"), "short");
}

/// Many hunks that only add, a small one that removes, and a file that loses more behind a long one.
fn hidden_losses() -> Vec<StagedChange> {
    let kept: Vec<String> = (0..60_000).map(|line| format!("line {line}\n")).collect();
    let mut after = String::new();
    for (number, line) in kept.iter().enumerate() {
        after.push_str(line);
        if number % 10 == 0 {
            after.push_str(&"harmless ".repeat(40));
            after.push('\n');
        }
    }
    let before = format!("{}a precious thing\n", kept.concat());
    vec![
        change("a.md", &before, &after),
        change("b.md", "one more thing\n", &"new\n".repeat(300_000)),
        change("new.png", "", "x"),
    ]
}

#[test]
fn losses_come_before_any_cut() {
    let changes = hidden_losses();
    let (kept, sent) = losses(&changes).diffs();
    for (diff, most) in [(&kept, MAX_KEPT_BYTES), (&sent, MAX_SENT_BYTES)] {
        assert!(diff.len() < most + (64 << 10), "{}", diff.len());
        for line in ["-a precious thing\n", "-one more thing\n"] {
            assert!(diff.find(line) < Some(20 << 10), "{line}");
        }
        assert!(diff.contains(&format!("{CUT}0 removed lines (0 bytes) and ")));
    }
    let excerpt = diff_excerpt(&sent, 4000, "abc");
    for line in ["-a precious thing\n", "-one more thing\n", "kept whole"] {
        assert!(excerpt.contains(line), "{line}: {excerpt}");
    }
    // What is kept whole is cut only where it is sent.
    let (kept, sent) = losses(&changes[1..2]).diffs();
    assert!(!kept.contains("… cut") && sent.contains(CUT_HERE) && !sent.contains(CUT));
    assert!(diff_excerpt(&sent, 4000, "abc").contains("the whole diff: `notehost"));
}

#[test]
fn summarised_diffs_show_removals_first() {
    let before: String = (0..70_000)
        .map(|line| format!("old line {line}\n"))
        .collect();
    let after: String = (0..70_000)
        .map(|line| format!("new line {line}\n"))
        .collect();
    let sent = losses(&[change("a.md", &before, &after)]).diffs().1;
    let excerpt = diff_excerpt(&sent, 4000, "abc");
    assert!(excerpt.find("-old line 0\n") < Some(200), "{excerpt}");
    assert!(!excerpt.contains("+new"), "{excerpt}");
}

#[test]
fn hidden_losses_come_before_additions() {
    let unseen = StagedChange {
        before: None,
        ..change("z.md", "x", "small\n")
    };
    let picture = StagedChange {
        before: None,
        after: Some([0xff, 0xfe, 0].as_slice().into()),
        ..change("new.png", "", "x")
    };
    let changes = [picture, change("a.md", "a b c d\n", "a\n"), unseen];
    let losses = losses(&changes);
    let summary = losses.summary("document.update", Reason::DropsContent);
    let first = ": modify `z.md` (the old content is too large to show), modify `a.md`";
    assert!(summary.contains(first), "{summary}");
    let diff = losses.diffs().0;
    let first = "--- a/z.md\n+++ b/z.md\nthe old content is too large to show";
    assert!(diff.starts_with(first), "{diff}");
    assert!(diff.ends_with("binary files /dev/null and b/new.png differ\n"));
    let parts = hunks(&diff);
    let removed: Vec<usize> = parts.iter().map(|hunk| hunk.removed).collect();
    assert_eq!(removed[0], usize::MAX);
    assert_eq!(removed.last(), Some(&0));
}

#[test]
fn differing_line_endings_are_shown() {
    let shown = |before: &str, after: &str| losses(&[change("a.md", before, after)]).diffs().0;
    let mixed = shown("a\r\nb\r\n", "a\nb\r\n");
    assert!(
        mixed.contains("-a<U+000D>\n") && mixed.contains("+a\n"),
        "{mixed}"
    );
    assert!(!shown("a\r\nb\r\n", "c\r\nb\r\n").contains("<U+000D>"));
}
