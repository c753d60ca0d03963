//! Property tests of link updates: for any vault, note and move, each link resolves as before, and nothing else changes.
#![cfg(feature = "markdown")]

use std::collections::BTreeSet;

use notehost_sdk::text::links::{
    Detachment, Kind, Link, Moves, Names, TargetFilter, detach, parse, rewrite,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const FOLDERS: &[&str] = &["", "A/", "B/", "A/B/", "Ä folder/", "c (x)/deep/"];
const NAMES: &[&str] = &[
    "X.md",
    "x.md",
    "x y.md",
    "Note.with.dots.md",
    "É.md",
    "E\u{301}.md",
    "it's.md",
    "Z(1.md",
    "50%.md",
    "q&a \"z\".md",
    "C# [1].md",
    "日记.md",
    "a_b*c.md",
    "t`ick.md",
    "$1.md",
    "i.png",
    "Ä (2).png",
    "m.md.md",
];
/// Names that every kind of link can contain, and that differ not only in case.
const PLAIN_NAMES: &[&str] = &[
    "One.md",
    "two words.md",
    "Trois.é.md",
    "vier (4).md",
    "five.png",
    "sechs's.md",
];

fn paths(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    (select(FOLDERS), select(names)).prop_map(|(folder, name)| format!("{folder}{name}"))
}

/// The form of a generated link.
#[derive(Debug, Clone)]
struct Shape {
    file: Index,
    form: u8,
    kind: u8,
    extension: bool,
    fragment: bool,
    text: bool,
}

fn shapes() -> impl Strategy<Value = Shape> {
    (
        any::<Index>(),
        0..7u8,
        0..5u8,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(file, form, kind, extension, fragment, text)| Shape {
            file,
            form,
            kind,
            extension,
            fragment,
            text,
        })
}

/// The context of a generated link.
const BLOCKS: &[&str] = &[
    "@",
    "text @ and",
    "- @",
    "> @",
    "> [!note] @\n> @",
    "# @",
    "1. a\n\n   @",
    "| a |\n|---|\n| @ |",
    "`@` x",
    "```\n@\n```",
    "%% @ %%",
    "<!-- @ -->",
    "    @",
    "$@$",
    "**@**, @",
    "[^1]: @",
    "it`s @",
    "%%\n@\n%%",
    "costs $5 @",
    "<b>@</b>",
];

fn relative(source: &str, path: &str) -> String {
    let depth = source.matches('/').count();
    format!("{}{path}", "../".repeat(depth))
}

fn percent(path: &str, all: bool) -> String {
    let mut encoded = String::new();
    for letter in path.chars() {
        if letter.is_ascii_alphanumeric()
            || "/._'&*".contains(letter)
            || (!all && !letter.is_ascii())
        {
            encoded.push(letter);
        } else {
            for byte in letter.to_string().bytes() {
                encoded.push_str(&format!("%{byte:02x}"));
            }
        }
    }
    encoded
}

fn written(shape: &Shape, files: &[String], source: &str, in_table: bool) -> String {
    let path = shape.file.get(files);
    let stripped = if shape.extension {
        path
    } else {
        path.strip_suffix(".md").unwrap_or(path)
    };
    let name = stripped.rsplit('/').next().unwrap_or(stripped);
    let target = match shape.form {
        0 | 1 => name.to_owned(),
        2 => stripped.to_owned(),
        3 => format!("/{stripped}"),
        4 => relative(source, stripped),
        5 => format!("./{}", name.to_uppercase()),
        _ => stripped
            .split_once('/')
            .map_or(stripped, |(_, tail)| tail)
            .to_owned(),
    };
    let fragment = if shape.fragment { "#Head ing" } else { "" };
    match shape.kind {
        0 | 1 => {
            let pipe = if in_table { "\\|" } else { "|" };
            let embed = if shape.kind == 1 { "!" } else { "" };
            let alias = if shape.text {
                format!("{pipe}an alias")
            } else {
                String::new()
            };
            format!("{embed}[[{target}{fragment}{alias}]]")
        }
        2 => format!(
            "[text]({}{})",
            percent(&target, shape.text),
            fragment.replace(' ', "%20")
        ),
        3 => format!(
            "![text](<{}{fragment}> \"title\")",
            target.replace(['<', '>', '|', '\\', '#', '%'], "_")
        ),
        _ => format!(
            "[![i]({})]({})",
            percent(&target, true),
            percent(&target, false)
        ),
    }
}

#[derive(Debug, Clone)]
struct Scene {
    files: Vec<String>,
    source: String,
    note: String,
    moves: Moves,
}

fn scenes(names: &'static [&'static str]) -> impl Strategy<Value = Scene> {
    let files = prop::collection::btree_set(paths(names), 2..9);
    let blocks = prop::collection::vec((select(BLOCKS), shapes(), shapes()), 1..8);
    let moves = prop::collection::vec((any::<Index>(), paths(names)), 0..5);
    (
        files,
        blocks,
        moves,
        any::<Index>(),
        prop::option::of((shapes(), any::<bool>())),
    )
        .prop_map(|(files, blocks, wanted, source, property)| {
            let mut files: Vec<String> = files.into_iter().collect();
            if !files.iter().any(|file| file.ends_with(".md")) {
                files.push("A/source.md".to_owned());
            }
            let notes: Vec<&String> = files.iter().filter(|file| file.ends_with(".md")).collect();
            let source = (*source.get(&notes)).clone();
            let mut note = String::new();
            if let Some((shape, single)) = property {
                let link = written(&Shape { kind: 0, ..shape }, &files, &source, false);
                let value = if single {
                    format!("'{}'", link.replace('\'', "''"))
                } else {
                    format!("\"{}\"", link.replace('\\', "\\\\").replace('"', "\\\""))
                };
                note.push_str(&format!("---\nup: {value} # [[X]]\n---\n"));
            }
            for (block, one, other) in &blocks {
                let in_table = block.starts_with('|');
                let mut parts = block.split('@');
                note.push_str(parts.next().unwrap_or_default());
                for (part, shape) in parts.zip([one, other]) {
                    note.push_str(&written(shape, &files, &source, in_table));
                    note.push_str(part);
                }
                note.push_str("\n\n");
            }
            Scene {
                moves: movable(&files, wanted),
                files,
                source,
                note,
            }
        })
}

/// Moves without conflicting destinations.
fn movable(files: &[String], wanted: Vec<(Index, String)>) -> Moves {
    let mut occupied: BTreeSet<String> = files.iter().cloned().collect();
    let mut moves: Vec<(String, String)> = Vec::new();
    for (file, to) in wanted {
        let from = file.get(files);
        if !occupied.contains(&to) && moves.iter().all(|(old, _)| old != from) {
            occupied.insert(to.clone());
            moves.push((from.clone(), to));
        }
    }
    moves.into_iter().collect()
}

fn resolved<'n>(names: &'n Names, source: &str, link: &Link) -> Option<&'n str> {
    names
        .resolve(source, &link.target)
        .filter(|_| !link.external && !link.target.is_empty())
        .map(|found| found.path)
}

/// The note without the paths of its links.
fn around(note: &str, links: &[Link]) -> String {
    let mut ranges: Vec<_> = links.iter().map(|link| link.target_range.clone()).collect();
    ranges.sort_by_key(|range| range.start);
    let mut rest = String::new();
    let mut copied = 0;
    for range in ranges {
        rest.push_str(&note[copied..range.start]);
        rest.push('@');
        copied = range.end;
    }
    rest + &note[copied..]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn every_link_resolves_as_before(scene in scenes(NAMES)) {
        let Scene { files, source, note, moves } = scene;
        let before = Names::new(files);
        let after = before.moved(&moves);
        let result = rewrite(&source, &note, &moves, &before, &after);
        let changed = result.apply(&note);
        let (old, new) = (parse(&note), parse(&changed));
        prop_assert_eq!(around(&note, &old), around(&changed, &new));
        for (old, new) in old.iter().zip(&new) {
            prop_assert_eq!(old.kind, new.kind);
            let stuck = result.stuck.iter().any(|stuck| stuck.line == old.line && stuck.link == note[old.range.clone()]);
            if let Some(meant) = resolved(&before, &source, old) && !stuck {
                prop_assert_eq!(resolved(&after, moves.after(&source), new), Some(moves.after(meant)), "{:?}", old);
            }
        }
        for stuck in &result.stuck {
            prop_assert!(stuck.target.contains(['#', '[', '`', '$']) || stuck.link.contains(['`', '$']), "{:?}", stuck);
        }
        if moves.destination(&source).is_none() && !result.splices.is_empty() {
            prop_assert!(moves.disturbed().may_be_linked_from(&note));
        }
    }

    #[test]
    fn without_moves_nothing_changes(scene in scenes(NAMES)) {
        let names = Names::new(scene.files);
        let result = rewrite(&scene.source, &scene.note, &Moves::default(), &names, &names);
        prop_assert_eq!(result.splices, []);
        prop_assert_eq!(result.stuck, []);
    }

    #[test]
    fn moving_back_restores_the_note(scene in scenes(PLAIN_NAMES)) {
        let Scene { files, source, note, moves } = scene;
        let before = Names::new(files);
        let after = before.moved(&moves);
        let there = rewrite(&source, &note, &moves, &before, &after);
        prop_assert_eq!(&there.stuck, &[]);
        let moved = there.apply(&note);
        let back: Moves = moves.iter().map(|(old, new)| (new, old)).collect();
        let again = rewrite(moves.after(&source), &moved, &back, &after, &before);
        prop_assert_eq!(&again.stuck, &[]);
        let restored = again.apply(&moved);
        let links = parse(&note);
        for (old, new) in links.iter().zip(parse(&restored)) {
            prop_assert_eq!(resolved(&before, &source, old), resolved(&before, &source, &new));
            // A full path is restored; in the root it is indistinguishable from a name.
            let path = before.resolve(&source, &old.target).map(|found| found.path);
            if old.kind == Kind::Wiki && old.target.contains('/') && path == Some(old.target.as_str()) && moves.after(&old.target).contains('/') {
                prop_assert_eq!(&note[old.target_range.clone()], &restored[new.target_range.clone()]);
            }
        }
    }

    #[test]
    fn detached_links_no_longer_exist(scene in scenes(PLAIN_NAMES), removed in any::<Index>()) {
        let Scene { files, source, note, .. } = scene;
        // Without a preceding embed, an indented block may become part of a list.
        let note = note.replace("    ", "> ");
        let removed = removed.get(&files).clone();
        let names = Names::new(files);
        for how in [Detachment::Unlink, Detachment::Mark] {
            let result = detach(&source, &note, |path| path == removed, &names, how);
            let rest = parse(&result.apply(&note));
            prop_assert!(rest.iter().all(|link| resolved(&names, &source, link) != Some(&removed)));
            let others = parse(&note).into_iter().filter(|link| resolved(&names, &source, link) != Some(&removed));
            prop_assert!(rest.len() <= others.count());
        }
    }

    #[test]
    fn link_ranges_are_valid_for_any_text(pieces in prop::collection::vec(select(PIECES), 0..60), frontmatter in any::<bool>()) {
        let note = format!("{}{}", if frontmatter { "---\n" } else { "" }, pieces.concat());
        let links = parse(&note);
        let mut targets = Vec::new();
        for link in &links {
            let whole = &note[link.range.clone()];
            prop_assert!(link.range.start <= link.target_range.start && link.target_range.end <= link.range.end);
            prop_assert!(link.text(&note).is_none_or(|text| whole.contains(text)));
            prop_assert_eq!(link.line, note[..link.range.start].matches('\n').count() + 1);
            if matches!(link.kind, Kind::Wiki | Kind::Embed) {
                prop_assert_eq!(&note[link.target_range.clone()], &link.target);
            }
            if let Some(name) = link.target.rsplit('/').next().filter(|name| !name.is_empty() && !link.external) {
                prop_assert!(TargetFilter::new([name]).may_be_linked_from(&note), "{:?}", link);
            }
            targets.push(link.target_range.clone());
        }
        targets.sort_by_key(|range| range.start);
        prop_assert!(targets.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}

const PIECES: &[&str] = &[
    "[[",
    "]]",
    "[",
    "]",
    "](",
    "(",
    ")",
    "|",
    "\\",
    "`",
    "``",
    "```\n",
    "$",
    "$$",
    "%%",
    "<!--",
    "-->",
    "\n",
    "\r\n",
    "\n\n",
    "> ",
    "- ",
    "    ",
    "#",
    "^",
    "a",
    "é",
    "b c",
    ":",
    "]: ",
    "<",
    ">",
    "---\n",
    "\"",
    "'",
    " ",
    "!",
    "![[",
    "x: ",
    "| a |\n|---|\n",
    "<b ",
    "=\"",
    "%20",
    "%e9",
    "/",
    "../",
    "[^1]: ",
    "~~~\n",
    "\t",
    "\u{feff}",
];
