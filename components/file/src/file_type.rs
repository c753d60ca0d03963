//! Detects file types: by name, or by content if it is available. A name can be wrong, so a file is only shown as an
//! image if its content is one.

use notehost_sdk::prelude::*;

/// A kind of file.
#[args]
#[derive(Copy, PartialEq, Eq, notehost_sdk::serde::Serialize)]
#[allow(
    missing_docs,
    reason = "the names are self-explanatory, and descriptions cost tokens"
)]
pub enum FileKind {
    Image,
    Audio,
    Video,
    Pdf,
    Canvas,
    Base,
    Document,
    Archive,
    Other,
}

impl FileKind {
    /// The name in replies.
    pub fn as_str(self) -> &'static str {
        match self {
            FileKind::Image => "image",
            FileKind::Audio => "audio",
            FileKind::Video => "video",
            FileKind::Pdf => "pdf",
            FileKind::Canvas => "canvas",
            FileKind::Base => "base",
            FileKind::Document => "document",
            FileKind::Archive => "archive",
            FileKind::Other => "other",
        }
    }
}

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileType {
    /// Its kind.
    pub kind: FileKind,
    /// Its MIME type.
    pub mime: &'static str,
}

/// The type of unknown files.
const UNKNOWN: FileType = FileType {
    kind: FileKind::Other,
    mime: "application/octet-stream",
};
/// The MIME type of SVG, which is both text and image.
pub const SVG: &str = "image/svg+xml";
/// The MIME type of PDF.
pub const PDF: &str = "application/pdf";
/// Image formats that every client can display.
const DISPLAYABLE: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Known extensions in lower case. Other files are `other`, and a broken link to one counts as a link to a note.
const KNOWN: &[(&str, FileKind, &str)] = &[
    ("png", FileKind::Image, "image/png"),
    ("apng", FileKind::Image, "image/apng"),
    ("jpg", FileKind::Image, "image/jpeg"),
    ("jpeg", FileKind::Image, "image/jpeg"),
    ("gif", FileKind::Image, "image/gif"),
    ("webp", FileKind::Image, "image/webp"),
    ("svg", FileKind::Image, SVG),
    ("bmp", FileKind::Image, "image/bmp"),
    ("avif", FileKind::Image, "image/avif"),
    ("heic", FileKind::Image, "image/heic"),
    ("heif", FileKind::Image, "image/heif"),
    ("tif", FileKind::Image, "image/tiff"),
    ("tiff", FileKind::Image, "image/tiff"),
    ("ico", FileKind::Image, "image/vnd.microsoft.icon"),
    ("jxl", FileKind::Image, "image/jxl"),
    ("psd", FileKind::Image, "image/vnd.adobe.photoshop"),
    ("mp3", FileKind::Audio, "audio/mpeg"),
    ("m4a", FileKind::Audio, "audio/mp4"),
    ("aac", FileKind::Audio, "audio/aac"),
    ("wav", FileKind::Audio, "audio/wav"),
    ("flac", FileKind::Audio, "audio/flac"),
    ("ogg", FileKind::Audio, "audio/ogg"),
    ("oga", FileKind::Audio, "audio/ogg"),
    ("opus", FileKind::Audio, "audio/opus"),
    ("3gp", FileKind::Audio, "audio/3gpp"),
    ("mid", FileKind::Audio, "audio/midi"),
    ("midi", FileKind::Audio, "audio/midi"),
    ("mp4", FileKind::Video, "video/mp4"),
    ("m4v", FileKind::Video, "video/mp4"),
    ("webm", FileKind::Video, "video/webm"),
    ("ogv", FileKind::Video, "video/ogg"),
    ("mov", FileKind::Video, "video/quicktime"),
    ("mkv", FileKind::Video, "video/x-matroska"),
    ("avi", FileKind::Video, "video/x-msvideo"),
    ("pdf", FileKind::Pdf, PDF),
    ("canvas", FileKind::Canvas, "application/json"),
    ("base", FileKind::Base, "application/yaml"),
    ("txt", FileKind::Document, "text/plain"),
    ("text", FileKind::Document, "text/plain"),
    ("log", FileKind::Document, "text/plain"),
    ("csv", FileKind::Document, "text/csv"),
    ("tsv", FileKind::Document, "text/tab-separated-values"),
    ("json", FileKind::Document, "application/json"),
    ("xml", FileKind::Document, "application/xml"),
    ("yaml", FileKind::Document, "application/yaml"),
    ("yml", FileKind::Document, "application/yaml"),
    ("toml", FileKind::Document, "application/toml"),
    ("html", FileKind::Document, "text/html"),
    ("htm", FileKind::Document, "text/html"),
    ("css", FileKind::Document, "text/css"),
    ("js", FileKind::Document, "text/javascript"),
    ("ts", FileKind::Document, "text/plain"),
    ("py", FileKind::Document, "text/x-python"),
    ("rs", FileKind::Document, "text/plain"),
    ("sh", FileKind::Document, "text/x-shellscript"),
    ("tex", FileKind::Document, "text/x-tex"),
    ("bib", FileKind::Document, "text/x-bibtex"),
    ("ics", FileKind::Document, "text/calendar"),
    ("eml", FileKind::Document, "message/rfc822"),
    ("excalidraw", FileKind::Document, "application/json"),
    ("rtf", FileKind::Document, "application/rtf"),
    ("doc", FileKind::Document, "application/msword"),
    (
        "docx",
        FileKind::Document,
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("xls", FileKind::Document, "application/vnd.ms-excel"),
    (
        "xlsx",
        FileKind::Document,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("ppt", FileKind::Document, "application/vnd.ms-powerpoint"),
    (
        "pptx",
        FileKind::Document,
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    (
        "odt",
        FileKind::Document,
        "application/vnd.oasis.opendocument.text",
    ),
    (
        "ods",
        FileKind::Document,
        "application/vnd.oasis.opendocument.spreadsheet",
    ),
    (
        "odp",
        FileKind::Document,
        "application/vnd.oasis.opendocument.presentation",
    ),
    ("epub", FileKind::Document, "application/epub+zip"),
    ("zip", FileKind::Archive, "application/zip"),
    ("gz", FileKind::Archive, "application/gzip"),
    ("tgz", FileKind::Archive, "application/gzip"),
    ("tar", FileKind::Archive, "application/x-tar"),
    ("7z", FileKind::Archive, "application/x-7z-compressed"),
    ("rar", FileKind::Archive, "application/vnd.rar"),
    ("bz2", FileKind::Archive, "application/x-bzip2"),
    ("xz", FileKind::Archive, "application/x-xz"),
    ("zst", FileKind::Archive, "application/zstd"),
];

/// The extension of a path in lower case, without the dot; a dotfile has none.
pub fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_ascii_lowercase())
}

/// Detects the type by name.
pub fn by_name(path: &str) -> FileType {
    known(path).unwrap_or(if notehost_sdk::is_note(path) {
        FileType {
            kind: FileKind::Document,
            mime: "text/markdown",
        }
    } else {
        UNKNOWN
    })
}

/// Detects the type by extension; `None` for notes and unknown extensions.
pub fn known(path: &str) -> Option<FileType> {
    let extension = extension(path)?;
    let found = KNOWN.iter().find(|(known, ..)| *known == extension)?;
    Some(FileType {
        kind: found.1,
        mime: found.2,
    })
}

/// Detects the type by content, or by name if the content is inconclusive.
pub fn by_content(path: &str, bytes: &[u8]) -> FileType {
    let named = by_name(path);
    // SVG is also XML and text; a note that starts with SVG is still a note.
    if is_svg(bytes) && named.mime != "text/markdown" {
        return FileType {
            kind: FileKind::Image,
            mime: SVG,
        };
    }
    let Some(found) = infer::get(bytes) else {
        // The extension promises a magic number that the content does not have.
        let is_mismatch = (named.kind == FileKind::Image && named.mime != SVG)
            || matches!(named.kind, FileKind::Pdf | FileKind::Archive);
        return match is_mismatch || named.mime == SVG {
            true => UNKNOWN,
            false => named,
        };
    };
    let mime = found.mime_type();
    // Formats inside other formats: an office document is a zip, a canvas is any text.
    let is_container = |outer: &[&str]| outer.contains(&mime) && named.kind == FileKind::Document;
    if mime == named.mime
        || is_container(&[
            "application/zip",
            "text/xml",
            "text/html",
            "text/x-shellscript",
        ])
        || is_text_kind(named.kind, bytes)
    {
        return named;
    }
    let kind = match (mime, found.matcher_type()) {
        (PDF, _) => FileKind::Pdf,
        (_, infer::MatcherType::Image) => FileKind::Image,
        (_, infer::MatcherType::Audio) => FileKind::Audio,
        // Audio often uses a video container.
        (_, infer::MatcherType::Video) if named.kind == FileKind::Audio => FileKind::Audio,
        (_, infer::MatcherType::Video) => FileKind::Video,
        (_, infer::MatcherType::Archive) => FileKind::Archive,
        (_, infer::MatcherType::Doc | infer::MatcherType::Book | infer::MatcherType::Text) => {
            FileKind::Document
        }
        _ => FileKind::Other,
    };
    FileType { kind, mime }
}

/// Canvases and bases are detected by name, if they are text.
fn is_text_kind(kind: FileKind, bytes: &[u8]) -> bool {
    matches!(kind, FileKind::Canvas | FileKind::Base) && text_of(bytes).is_some()
}

/// Whether every client can display this image type.
pub fn is_displayable(mime: &str) -> bool {
    DISPLAYABLE.contains(&mime)
}

/// Whether the content is SVG: its first element is `svg`.
pub fn is_svg(bytes: &[u8]) -> bool {
    // The element may follow a declaration and comments.
    let head = &bytes[..bytes.len().min(4096)];
    let head = String::from_utf8_lossy(head);
    let mut rest = head.trim_start_matches('\u{feff}').trim_start();
    loop {
        let skipped = if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->")
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            rest.split_once('>')
        } else {
            break;
        };
        match skipped {
            Some((_, after)) => rest = after.trim_start(),
            None => return false,
        }
    }
    rest.strip_prefix("<svg")
        .is_some_and(|after| after.starts_with(|next: char| next.is_whitespace() || next == '>'))
}

/// The content as text, if it is UTF-8 without NUL bytes.
pub fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!bytes.contains(&0)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    #[test]
    fn content_takes_precedence_over_the_name() {
        let kind = |path: &str, bytes: &[u8]| {
            let found = by_content(path, bytes);
            (found.kind, found.mime)
        };
        assert_eq!(kind("a.jpg", PNG), (FileKind::Image, "image/png"));
        assert_eq!(kind("a.txt", PNG), (FileKind::Image, "image/png"));
        assert_eq!(kind("a.png", b"hello"), (UNKNOWN.kind, UNKNOWN.mime));
        assert_eq!(kind("a.pdf", b"%PDF-1.7\n"), (FileKind::Pdf, PDF));
        assert_eq!(kind("a.pdf", b""), (UNKNOWN.kind, UNKNOWN.mime));
        assert_eq!(
            kind("a.svg", b"<?xml version='1.0'?>\n<!-- x --><svg >"),
            (FileKind::Image, SVG)
        );
        assert_eq!(
            kind("a.svg", b"<html><svg>"),
            (FileKind::Document, "text/html")
        );
        assert_eq!(kind("a.svg", b"x"), (UNKNOWN.kind, UNKNOWN.mime));
        assert_eq!(kind("a.md", b"<svg >").1, "text/markdown");
        assert_eq!(kind("a.docx", b"PK\x03\x04rest").0, FileKind::Document);
        assert_eq!(
            kind("a.canvas", b"{}"),
            (FileKind::Canvas, "application/json")
        );
        assert_eq!(kind("a.csv", b"a,b"), (FileKind::Document, "text/csv"));
        assert_eq!(kind("A.MD", b"# x").1, "text/markdown");
        assert_eq!(kind("strange", b"\x01\x02"), (UNKNOWN.kind, UNKNOWN.mime));
    }

    #[test]
    fn not_every_dot_starts_an_extension() {
        assert_eq!(extension("a/b.c/D.PNG").as_deref(), Some("png"));
        for none in ["a", ".png", "a.", "x.png/a"] {
            assert_eq!(extension(none), None, "{none}");
        }
        assert_eq!(known("Note.with.dots"), None);
        assert_eq!(known("Note.md"), None);
    }

    #[test]
    fn extensions_are_unique() {
        let mut names: Vec<&str> = KNOWN.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    proptest! {
        #[test]
        fn every_input_has_a_type(
            name in "[a-z.é]{0,6}\\.(png|svg|pdf|zip|docx|canvas|x)",
            magic in prop::sample::select(vec![&b""[..], PNG, b"PK\x03\x04", b"<svg", b"<!--", b"RIFF", b"\0\0\0\x18ftyp"]),
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let bytes = [magic, &bytes].concat();
            let found = by_content(&name, &bytes);
            prop_assert!(!found.mime.is_empty());
        }
    }
}
