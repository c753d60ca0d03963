//! What kind of file something is: by its name where only that is known, by its first bytes where they are there. A name
//! can lie, so nothing is shown as a picture that does not begin like one.

use notehost_sdk::prelude::*;

/// A kind of file.
#[args]
#[derive(Copy, PartialEq, Eq, notehost_sdk::serde::Serialize)]
#[allow(
    missing_docs,
    reason = "the words say it, and a model reads each of them"
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
    /// The word that callers see.
    pub fn word(self) -> &'static str {
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

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileType {
    /// Its kind.
    pub kind: FileKind,
    /// Its MIME type.
    pub mime: &'static str,
}

/// What is known of nothing.
const UNKNOWN: FileType = FileType {
    kind: FileKind::Other,
    mime: "application/octet-stream",
};
/// The MIME type of vector graphics, which are text and picture at once.
pub const SVG: &str = "image/svg+xml";
/// The MIME type of PDF.
pub const PDF: &str = "application/pdf";
/// Pictures that every client of a model can show.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Extensions in lower case. What is not here is `other`, and a link to it that leads nowhere is a link to a note.
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

/// The extension of a path in lower case, without the dot; a name that only begins with a dot has none.
pub fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_ascii_lowercase())
}

/// What a file is by its name.
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

/// What a file is by its name, if its extension is one of a known kind of file that is no note.
pub fn known(path: &str) -> Option<FileType> {
    let extension = extension(path)?;
    let found = KNOWN.iter().find(|(known, ..)| *known == extension)?;
    Some(FileType {
        kind: found.1,
        mime: found.2,
    })
}

/// What a file is by its bytes, and by its name where they do not tell.
pub fn by_content(path: &str, bytes: &[u8]) -> FileType {
    let named = by_name(path);
    // A graphic is also XML, or text; a note that begins with one is a note.
    if is_svg(bytes) && named.mime != "text/markdown" {
        return FileType {
            kind: FileKind::Image,
            mime: SVG,
        };
    }
    let Some(found) = infer::get(bytes) else {
        // It says to be something that always begins in a way that it does not begin.
        let is_lie = (named.kind == FileKind::Image && named.mime != SVG)
            || matches!(named.kind, FileKind::Pdf | FileKind::Archive);
        return match is_lie || named.mime == SVG {
            true => UNKNOWN,
            false => named,
        };
    };
    let mime = found.mime_type();
    // What wears the clothes of another format: an office document is a zip, a canvas may look like anything.
    let is_worn = |outer: &[&str]| outer.contains(&mime) && named.kind == FileKind::Document;
    if mime == named.mime
        || is_worn(&[
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
        // Sound alone is often kept in a container for films.
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

/// Canvases, bases and notes are what their names say as long as they are text.
fn is_text_kind(kind: FileKind, bytes: &[u8]) -> bool {
    matches!(kind, FileKind::Canvas | FileKind::Base) && text_of(bytes).is_some()
}

/// Whether any client can show this as a picture.
pub fn is_shown(mime: &str) -> bool {
    SHOWN.contains(&mime)
}

/// Whether a text is a vector graphic: its first element is `svg`.
pub fn is_svg(bytes: &[u8]) -> bool {
    // The element stands near the beginning, behind a declaration and comments.
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

/// The text of a file that is text: UTF-8 without the bytes that no text has.
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
    fn bytes_are_believed_and_names_are_not() {
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
    fn a_name_with_a_dot_has_not_always_an_extension() {
        assert_eq!(extension("a/b.c/D.PNG").as_deref(), Some("png"));
        for none in ["a", ".png", "a.", "x.png/a"] {
            assert_eq!(extension(none), None, "{none}");
        }
        assert_eq!(known("Note.with.dots"), None);
        assert_eq!(known("Note.md"), None);
    }

    #[test]
    fn extensions_are_listed_once() {
        let mut names: Vec<&str> = KNOWN.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_kind(
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
