//! Tests of `read`.

use std::ops::ControlFlow;

use super::fixtures::{GIF, PNG, composite_pdf, packed, pdf};
use crate::Domain;
use crate::pdf::{Document, PdfError};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::Value;
use notehost_sdk::testing::succeeded;
use notehost_sdk::{Tier, calls};
use proptest::prelude::*;

calls!(Domain);

fn read(path: &str, bytes: &[u8]) -> Value {
    let vault = Vault::in_memory().with_bytes(path, bytes);
    ok(&vault, "read", json!({"path": path}))
}

#[test]
fn an_image_is_returned_with_its_size() {
    let vault = Vault::in_memory().with_bytes("P/a.png", GIF);
    let reply = succeeded::<Domain>(&vault, "read", &json!({"path": "a.png"}));
    let json = reply.json();
    assert_eq!(
        (
            &json["path"],
            &json["kind"],
            &json["mime"],
            &json["width"],
            &json["height"]
        ),
        (
            &json!("P/a.png"),
            &json!("image"),
            &json!("image/gif"),
            &json!(3),
            &json!(2)
        )
    );
    assert!(
        json["etag"].is_string() && json.get("base64").is_none() && json.get("image").is_none()
    );
    assert_eq!(
        reply.content,
        [Content::Image {
            bytes: GIF.to_vec(),
            mime: "image/gif".to_owned()
        }]
    );
    assert!(reply.text.contains("3 × 2 pixels"), "{}", reply.text);
}

#[test]
fn a_file_with_a_wrong_image_extension_is_not_returned_as_image() {
    let vault = Vault::in_memory().with("a.png", "not a picture");
    let reply = succeeded::<Domain>(&vault, "read", &json!({"path": "a.png"}));
    assert_eq!(reply.content, []);
    assert_eq!(reply.json()["content"], "not a picture");
}

#[test]
fn svg_is_text_with_a_size() {
    let json = read("a.svg", b"<svg width='10' height='4'><script/></svg>");
    assert_eq!(
        (&json["kind"], &json["width"]),
        (&json!("image"), &json!(10))
    );
    assert_eq!(
        json["content"],
        "<svg width='10' height='4'><script/></svg>"
    );
}

#[test]
fn a_large_image_is_rejected_with_its_size() {
    let mut bytes = PNG.to_vec();
    bytes.resize((5 << 20) + 1, 0);
    let vault = Vault::in_memory().with_bytes("a.png", &bytes);
    let error = refused(&vault, "read", json!({"path": "a.png"}));
    assert_eq!(error.code(), "too_large");
    assert!(error.message().contains("4 × 5 pixels"), "{error}");
}

#[test]
fn text_is_read_by_lines() {
    let vault = Vault::in_memory().with("a.csv", "a,b\r\nc,d\r\ne");
    let all = ok(&vault, "read", json!({"path": "a.csv"}));
    assert_eq!(all["content"], "a,b\r\nc,d\r\ne");
    assert_eq!(all["lines"], json!({"from": 1, "to": 3, "total": 3}));
    let part = ok(
        &vault,
        "read",
        json!({"path": "a.csv", "offset": 2, "limit": 1}),
    );
    assert_eq!(part["content"], "c,d\r\n");
    assert!(part.get("truncated").is_none());
    for wrong in [
        json!({"offset": 0}),
        json!({"limit": 0}),
        json!({"offset": 4}),
        json!({"pages": "1"}),
    ] {
        let mut arguments = wrong.clone();
        arguments["path"] = "a.csv".into();
        assert_eq!(
            refused(&vault, "read", arguments).code(),
            "validation_error",
            "{wrong}"
        );
    }
}

#[test]
fn a_long_text_is_truncated_and_can_be_continued() {
    let text = "0123456789\n".repeat(10_000);
    let vault = Vault::in_memory().with("a.log", &text);
    let mut whole = String::new();
    let mut offset = Some(1);
    while let Some(from) = offset {
        let part = ok(&vault, "read", json!({"path": "a.log", "offset": from}));
        whole.push_str(part["content"].as_str().unwrap());
        offset = part.get("next_offset").and_then(Value::as_u64);
        assert_eq!(offset.is_some(), part.get("truncated").is_some());
    }
    assert_eq!(whole, text);
}

#[test]
fn a_note_is_read_as_text() {
    let json = read("Work/A.md", "# Ä\n".as_bytes());
    assert_eq!(
        (&json["content"], &json["mime"]),
        (&json!("# Ä\n"), &json!("text/markdown"))
    );
}

#[test]
fn other_content_is_base64_up_to_the_limit() {
    let json = read("a.bin", b"\x00\x01\xff");
    assert_eq!(
        (&json["base64"], &json["kind"]),
        (&json!("AAH/"), &json!("other"))
    );
    let vault = Vault::in_memory().with_bytes("a.bin", &vec![0; (512 << 10) + 1]);
    let error = refused(&vault, "read", json!({"path": "a.bin"}));
    assert_eq!(error.code(), "too_large");
    let error = refused(&vault, "read", json!({"path": "a.bin", "offset": 1}));
    assert_eq!(error.code(), "validation_error");
}

#[test]
fn missing_and_hidden_files_are_not_found() {
    let vault = Vault::in_memory()
        .with("Hidden/a.txt", "x")
        .with("A/b.txt", "")
        .with("B/b.txt", "")
        .allow("Hidden", Tier::None);
    for path in ["gone.png", "Hidden/a.txt", "a.txt", "A"] {
        let error = refused(&vault, "read", json!({"path": path}));
        assert_eq!(error.code(), "not_found", "{path}");
        assert!(error.message().starts_with("no file"), "{error}");
    }
    assert_eq!(
        refused(&vault, "read", json!({"path": "b.txt"})).code(),
        "ambiguous_name"
    );
    assert_eq!(
        refused(&vault, "read", json!({"path": ""})).code(),
        "validation_error"
    );
}

fn page_text(document: &Document, page: usize, max_bytes: usize) -> String {
    let mut text = String::new();
    document.read(page..=page, max_bytes, |_, shown| {
        text = shown;
        ControlFlow::Continue(())
    });
    text
}

const HELLO: &str = "BT /F 12 Tf 20 200 Td (Hello) Tj ( world) Tj 0 -14 Td [(sec) -10 (ond) -900 (line)] TJ 0 -60 Td (caf\\351) Tj ET";

#[test]
fn a_pdf_is_read_page_by_page() {
    let vault =
        Vault::in_memory().with_bytes("a.pdf", &pdf(&[HELLO, "", "BT /F 9 Tf (three) Tj ET"]));
    let all = ok(&vault, "read", json!({"path": "a.pdf"}));
    assert_eq!(
        all["content"],
        "[page 1]\nHello world\nsecond line\n\ncafé\n[page 2]\n[page 3]\nthree\n"
    );
    assert_eq!(all["pages"], json!({"from": 1, "to": 3, "total": 3}));
    let last = ok(&vault, "read", json!({"path": "a.pdf", "pages": "3"}));
    assert_eq!(last["content"], "[page 3]\nthree\n");
    let rest = ok(&vault, "read", json!({"path": "a.pdf", "pages": "2-9"}));
    assert_eq!(rest["pages"], json!({"from": 2, "to": 3, "total": 3}));
    let none = ok(&vault, "read", json!({"path": "a.pdf", "pages": "2"}));
    assert!(none["advice"].as_str().unwrap().contains("scanned"));
    for wrong in ["0", "4", "x", "3-2", "-", "4-"] {
        let error = refused(&vault, "read", json!({"path": "a.pdf", "pages": wrong}));
        assert_eq!(error.code(), "validation_error", "{wrong}");
    }
    let error = refused(&vault, "read", json!({"path": "a.pdf", "offset": 1}));
    assert!(error.message().contains("`pages`"), "{error}");
}

#[test]
fn a_pdf_without_xref_table_is_read() {
    let mut bytes = pdf(&[HELLO]);
    let table = bytes
        .windows(5)
        .position(|part| part == b"xref\n")
        .expect("a table");
    bytes.truncate(table);
    let document = Document::open(bytes).expect("a PDF");
    assert!(page_text(&document, 1, 1000).starts_with("Hello world\n"));
}

#[test]
fn compressed_pages_and_two_byte_fonts_are_read() {
    let document = Document::open(composite_pdf()).expect("a PDF");
    assert_eq!(page_text(&document, 1, 1000), "日😀\n");
}

#[test]
fn a_long_pdf_is_truncated_and_can_be_continued() {
    let line = format!("BT /F 9 Tf ({}) Tj ET", "word ".repeat(9000));
    let vault = Vault::in_memory().with_bytes("a.pdf", &pdf(&[&line, &line, &line]));
    let first = ok(&vault, "read", json!({"path": "a.pdf"}));
    assert_eq!(first["pages"]["to"], 1);
    assert!(
        first["advice"]
            .as_str()
            .unwrap()
            .contains("`pages` \"2-3\""),
        "{}",
        first["advice"]
    );
}

#[test]
fn invalid_pdfs_and_decompression_bombs_are_rejected() {
    let vault = Vault::in_memory().with("a.pdf", "%PDF-1.7\nnothing else");
    assert_eq!(
        refused(&vault, "read", json!({"path": "a.pdf"})).code(),
        "unsupported"
    );
    let zeros = packed(&vec![b' '; (64 << 20) + 10]);
    let bomb = [b"%PDF-1.7\n1 0 obj\n<<>>\nstream\r\n", zeros.as_slice()].concat();
    assert_eq!(Document::open(bomb).err(), Some(PdfError::TooLarge));
}

#[test]
fn recursive_forms_terminate() {
    let nested = format!("BT /F 9 Tf (a) Tj ET {}", "[".repeat(50_000));
    let document = Document::open(pdf(&[&nested, &"q ".repeat(100_000)])).expect("a PDF");
    assert_eq!(page_text(&document, 1, 1000), "a\n");
    assert_eq!(page_text(&document, 2, 1000), "");
    assert_eq!(page_text(&document, 7, 1000), "");
}

/// Arbitrary bytes never panic.
fn survives(bytes: Vec<u8>) {
    if let Ok(document) = Document::open(bytes) {
        for page in 0..=document.pages().min(4) {
            let _ = page_text(&document, page, 10_000);
        }
        let _ = document.title();
    }
}

#[test]
fn truncated_pdfs_never_panic() {
    for whole in [pdf(&[HELLO, "BT ET"]), composite_pdf()] {
        for end in 0..whole.len() {
            survives(whole[..end].to_vec());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn mutated_pdfs_never_panic(
        is_composite in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = if is_composite { composite_pdf() } else { pdf(&[HELLO, HELLO]) };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survives(bytes);
    }

    #[test]
    fn random_operations_never_panic(content in "([0-9]{1,3} |-?[0-9.]{1,12} |/F |\\([a-z\\\\]{0,5}\\) |\\[|\\] |<[0-9a-f]{0,6}> |BT |ET |Tf |Td |TD |Tm |T\\* |Tj |TJ |' |\" |q |Q |cm |Tz |Tw |Tc |TL |Ts |Do |BI |ID |EI ){0,60}") {
        survives(pdf(&[&content]));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..500), named in "a\\.(pdf|png|svg|zip|txt)") {
        survives([b"%PDF-1.4\n".as_slice(), &bytes].concat());
        let vault = Vault::in_memory().with_bytes(&named, &bytes);
        let json = ok(&vault, "read", json!({"path": named}));
        prop_assert_eq!(json["size"].as_u64(), Some(bytes.len() as u64));
    }
}
