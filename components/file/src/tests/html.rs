//! Tests of HTML export: rendering, and safety against active content.

use super::fixtures::GIF;
use crate::Domain;
use notehost_sdk::prelude::*;
use notehost_sdk::{MemoryVault, calls};
use proptest::prelude::*;

calls!(Domain);

fn page(vault: &MemoryVault, paths: &[&str]) -> String {
    ok(
        vault,
        "export",
        json!({"paths": paths, "format": "html", "to": "Out.html", "if_exists": "overwrite"}),
    );
    vault.text("Out.html").expect("a page")
}

/// The body of a page with one note.
fn body(markdown: &str) -> String {
    let vault = Vault::in_memory()
        .with("N.md", markdown)
        .with(
            "Other.md",
            "# Other\n\nfirst ^b1\n\n## Part\npart text\n\n## Rest\nrest",
        )
        .with("Loop.md", "loop ![[Loop]] ![[N]]")
        .with_bytes("P/a.gif", GIF)
        .with("d.pdf", "x")
        .with("v.svg", "<svg><script>alert(1)</script></svg>")
        .with("a.mp3", "ID3\x04");
    let page = page(&vault, &["N"]);
    let (_, body) = page.split_once("<body>\n").expect("a body");
    body.to_owned()
}

#[test]
fn a_page_is_a_complete_document() {
    let vault = Vault::in_memory()
        .with("A <b>.md", "---\ntitle: \"<i>\"\ntags: [x, y]\n---\ntext")
        .with("B.md", "# Own title\n[[A <b>]]");
    let page = page(&vault, &["A <b>", "B"]);
    assert!(page.starts_with("<!DOCTYPE html>\n<html>"));
    for expected in [
        "<title>Notes</title>",
        "default-src 'none'",
        "<li><a href=\"#n1\">A &lt;b&gt;</a></li>",
        "<h1 class=\"title\">A &lt;b&gt;</h1>",
        "<tr><th>tags</th><td>x, y</td></tr>",
        "<tr><th>title</th><td>&lt;i&gt;</td></tr>",
        "<a href=\"#n1\">A &lt;b&gt;</a></p>",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert_eq!(page.matches("class=\"title\"").count(), 1);
    assert!(page.ends_with("</html>\n"));
}

#[test]
fn images_are_inlined() {
    let uri = "data:image/gif;base64,R0lG";
    let html = body("![[a.gif|30x20]] ![some *text*](P/a.gif) ![[a.gif|Label]]");
    assert!(html.contains(&format!("<img src=\"{uri}")), "{html}");
    assert!(
        html.contains("alt=\"a.gif\" width=\"30\" height=\"20\">"),
        "{html}"
    );
    assert!(
        html.contains("alt=\"some text\">") && html.contains("alt=\"Label\">"),
        "{html}"
    );
    assert!(body("![[v.svg]]").contains("<img src=\"data:image/svg+xml;base64,"));
    assert!(body("![[a.mp3]]").contains("<audio controls src=\"data:audio/mpeg;base64,"));
    assert!(
        body("![[d.pdf]] ![[gone.png]]").contains(
            "<span class=\"outside\">d.pdf</span> <span class=\"outside\">gone.png</span>"
        )
    );
    assert!(body("![far](https://x.y/z.png)").contains("<a href=\"https://x.y/z.png\">far</a>"));
    assert!(
        body("![in](data:image/png;base64,AA==)")
            .contains("<img src=\"data:image/png;base64,AA==\" alt=\"in\">")
    );
}

#[test]
fn omitted_files_are_reported() {
    let vault = Vault::in_memory()
        .with(
            "N.md",
            "---\na: b\n---\nx\n![[d.pdf]]\n![](https://x.y/z.png) ![[gone.png]]",
        )
        .with("d.pdf", "");
    let exported = ok(&vault, "export", json!({"paths": ["N"], "format": "html"}));
    let left_out: Vec<_> = exported["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| (left["line"].clone(), left["target"].clone()))
        .collect();
    assert_eq!(
        left_out,
        [
            (json!(5), json!("d.pdf")),
            (json!(6), json!("https://x.y/z.png")),
            (json!(6), json!("gone.png"))
        ]
    );
}

#[test]
fn embedded_notes_are_rendered_in_place() {
    let whole = body("![[Other]]");
    assert!(
        whole.contains("<div class=\"embed-title\">Other</div>") && whole.contains("rest"),
        "{whole}"
    );
    let part = body("![[Other#Part]]");
    assert!(
        part.contains("part text") && !part.contains("rest"),
        "{part}"
    );
    let block = body("![[Other#^b1]]");
    assert!(
        block.contains("<p>first") && !block.contains("^b1") && !block.contains("part"),
        "{block}"
    );
    assert!(body("![[Other#Gone]]").contains("<span class=\"outside\">Other</span>"));
    let looped = body("![[Loop]] ![[N]]");
    assert_eq!(looped.matches("embed-title").count(), 1);
    assert!(looped.contains("<a href=\"#n1\">N</a>"), "{looped}");
}

#[test]
fn links_are_internal_or_external() {
    let vault = Vault::in_memory()
        .with("A.md", "[[B#Part one|there]] [x](B.md#Gone) [[#Own]] [[C]] [c](C.md) [out](https://x.y) [[B#^id]]\n\n## Own\n\n## Own")
        .with("B.md", "## Part one\n\ntext ^id")
        .with("C.md", "");
    let page = page(&vault, &["A", "B"]);
    for expected in [
        "<a href=\"#n2-part-one\">there</a>",
        "<a href=\"#n2\">x</a>",
        "<a href=\"#n1-own\">#Own</a>",
        "<span class=\"outside\">C</span>",
        "<span class=\"outside\">c</span>",
        "<a href=\"https://x.y\">out</a>",
        "<a href=\"#n2-block-id\">",
        "<h2><a id=\"n2-part-one\"></a>Part one</h2>",
        "<a id=\"n1-own-2\"></a>",
        "<a id=\"n2-block-id\"></a>",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
}

#[test]
fn obsidian_syntax_is_rendered() {
    let html = body(
        "> [!warning] Mind\n> the gap\n\n==high== ~~gone~~ %%hidden%% <!-- quiet -->\n\n- [x] done\n\n| a | b |\n|---|---|\n| [[Other\\|o]] | 2 |\n\nnote[^1]\n\n[^1]: foot",
    );
    for expected in [
        "data-callout=\"warning\"",
        "<mark>high</mark>",
        "<del>gone</del>",
        "type=\"checkbox\"",
        "<td><span class=\"outside\">o</span></td>",
        "href=\"#n1-fn-1\"",
        "id=\"n1-fn-1\"",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
    assert!(
        !html.contains("hidden") && !html.contains("quiet"),
        "{html}"
    );
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for piece in ["> ", "- ", "[", "![", "*a ", "![[", "<b>", "**", "`", "1. "] {
        let html = body(&format!("{}x", piece.repeat(20_000)));
        assert_eq!(dangers(&html), Vec::<String>::new(), "{piece}");
    }
}

/// The unsafe tags and attributes of a page.
fn dangers(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        let Some(length) = rest[open..].find('>') else {
            found.push("a tag does not end".to_owned());
            break;
        };
        let tag = &rest[open + 1..open + length];
        rest = &rest[open + length..];
        let mut outside = String::new();
        for (number, piece) in tag.split('"').enumerate() {
            if number % 2 == 0 {
                outside.push_str(piece);
                continue;
            }
            let value = piece
                .replace("&#10;", "")
                .replace("&#9;", "")
                .to_ascii_lowercase();
            let is_address = outside.ends_with("href=") || outside.ends_with("src=");
            let is_fine = [
                "http:",
                "https:",
                "mailto:",
                "tel:",
                "#",
                "//",
                "data:image/",
                "data:audio/",
                "data:video/",
            ]
            .iter()
            .any(|start| value.starts_with(start));
            if is_address && !is_fine {
                found.push(format!("an address: {value}"));
            }
        }
        let outside = outside.to_ascii_lowercase();
        let name = outside
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .unwrap_or_default();
        if [
            "script", "iframe", "object", "embed", "form", "link", "base", "svg", "style",
        ]
        .contains(&name)
        {
            found.push(format!("an element: {tag}"));
        }
        if outside.split([' ', '\n', '\t', '/']).any(|attribute| {
            attribute.starts_with("on")
                || attribute.starts_with("style")
                || attribute.starts_with("srcdoc")
        }) {
            found.push(format!("an attribute: {tag}"));
        }
    }
    found
}

#[test]
fn the_safety_check_detects_active_content() {
    for bad in [
        "<script>x</script>",
        "<a href=\"javascript:x\">",
        "<img src=\"x\" onerror=\"y\">",
        "<a href=\"JAVASCRIPT:x\">",
        "<img/onerror=1>",
        "<svg onload=x>",
        "<a",
        "<iframe src=\"https://x\">",
    ] {
        assert!(!dangers(bad).is_empty(), "{bad}");
    }
    assert!(dangers("<a href=\"#n1\">javascript: onerror= &lt;script&gt;</a>").is_empty());
}

#[test]
fn active_content_is_removed() {
    for attack in [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<!-- --><script>alert(1)</script>",
        "<!-- x\n--><script>alert(1)</script>",
        "[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [z](java&#10;script:alert(1)) [t](&#1;javascript:x)",
        "<javascript:alert(1)>",
        "[r]\n\n[r]: javascript:alert(1) \"onload=x\"",
        "![x](javascript:alert(1)) ![y\" onerror=\"z](P/a.gif)",
        "[[\" onclick=\"x]] ![[\" onclick=\"x|\"><script>]]",
        "[a](# \"\\\" onclick=\\\"x\")",
        "> [!\"><script>x] y",
        "> [!note|\"><script>x] y",
        "```\"><script>\nx\n```",
        "$x \"><script>$ `$\"><script>$`",
        "# \"><script>alert(1)</script> ^\"",
        "x ^\"><script>",
        "<svg><script>x</script></svg> <iframe src=x> <a href=\"javascript:x\">k</a>",
        "![[v.svg]]",
        "[x](data:text/html;base64,AAAA) [y](vbscript:x) [z](file:///a)",
        "[^\"><script>]\n\n[^\"><script>]: x",
        "<https://a.b/\"onclick=x>",
    ] {
        let html = body(attack);
        assert_eq!(dangers(&html), Vec::<String>::new(), "{attack}\n{html}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_markdown_never_becomes_active_content(
        pieces in prop::collection::vec(prop_oneof![
            prop::sample::select(vec![
                "<script>", "</script>", "javascript:", "onerror=", "<img src=x ", "![[", "]]", "[[", "[", "](", ")", "|", "\"", "'", ">",
                "<", "&quot;", "&#34;", "&lt;", "`", "```", "\n", "\n\n", "> [!note]", "> ", "<!--", "-->", "a.gif", "Other", "#", "^id", "%%", "==", "$",
                "[^1]", "[^1]: ", "- ", "    ", "| a | b |\n|---|---|\n", "\\", "data:text/html,", "data:image/png;base64,", "https://", "\t", "&Tab;", "&NewLine;",
                "---\n", "x: ", "[r]: ", "!", "{", "}", "\u{0}", "é",
            ]).prop_map(str::to_owned),
            "[ -~]{0,4}",
        ], 0..24),
    ) {
        let html = body(&pieces.concat());
        prop_assert_eq!(dangers(&html), Vec::<String>::new(), "{}", html);
    }
}
