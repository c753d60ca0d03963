//! Classifies the links of an exported page. Only allowed addresses become links; all others stay text.

use notehost_sdk::fold_name;
use notehost_sdk::text::percent;

/// Allowed URL schemes.
const ALLOWED_SCHEMES: [&str; 4] = ["http", "https", "mailto", "tel"];

/// An address of a Markdown link.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// An allowed external URL.
    External,
    /// An image as a data URI.
    InlineImage,
    /// A URL that must not become a link.
    Blocked,
    /// A file of the vault with an optional fragment.
    File {
        target: String,
        fragment: Option<String>,
    },
}

impl Address {
    pub(super) fn of(url: &str) -> Address {
        let end = url.find(['/', '?', '#']).unwrap_or(url.len());
        if let Some((scheme, _)) = url[..end].split_once(':') {
            let scheme = scheme.to_ascii_lowercase();
            return if ALLOWED_SCHEMES.contains(&scheme.as_str()) {
                Address::External
            } else if is_inline_image(url) {
                Address::InlineImage
            } else {
                Address::Blocked
            };
        }
        // `//host` is a URL without a scheme; `data:image/png` was handled above.
        if url.starts_with("//") {
            return Address::External;
        }
        Address::in_vault(url)
    }

    /// Parses the target of a wikilink, which is never external.
    pub(super) fn in_vault(written: &str) -> Address {
        let (target, fragment) = match written.split_once('#') {
            Some((target, fragment)) => (target, Some(fragment)),
            None => (written, None),
        };
        Address::File {
            target: percent::decode(target.trim()),
            fragment: fragment
                .map(|fragment| percent::decode(fragment.trim()))
                .filter(|fragment| !fragment.is_empty()),
        }
    }
}

/// Whether a URL is a data URI of a raster image.
fn is_inline_image(url: &str) -> bool {
    let Some(rest) = url
        .get(..5)
        .filter(|head| head.eq_ignore_ascii_case("data:"))
    else {
        return false;
    };
    let mime = &url[rest.len()..];
    [
        "image/png;base64,",
        "image/jpeg;base64,",
        "image/gif;base64,",
        "image/webp;base64,",
    ]
    .iter()
    .any(|known| {
        mime.get(..known.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(known))
            && mime[known.len()..]
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    })
}

/// A heading as part of an anchor: letters and digits, everything else as dashes.
pub(super) fn slug(heading: &str) -> String {
    let mut slug = String::new();
    for letter in fold_name(heading).chars() {
        match letter.is_alphanumeric() {
            true => slug.push(letter),
            false if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// The anchor of a fragment: the innermost heading, or a block.
pub(super) fn fragment_anchor(fragment: &str) -> String {
    let innermost = fragment.rsplit('#').next().unwrap_or(fragment).trim();
    match innermost.strip_prefix('^') {
        Some(block) => block_anchor(block),
        None => slug(innermost),
    }
}

/// The anchor of a block.
pub(super) fn block_anchor(block: &str) -> String {
    format!("block-{}", slug(block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_addresses_become_links() {
        for harmless in ["https://a.b/c?d#e", "HTTP://a", "mailto:a@b", "//a.b/c"] {
            assert_eq!(Address::of(harmless), Address::External, "{harmless}");
        }
        for blocked in [
            "javascript:alert(1)",
            "JaVaScRiPt:x",
            "java\tscript:x",
            "\u{1}javascript:x",
            "vbscript:x",
            "file:///etc/passwd",
            "data:text/html,<script>",
            "data:image/svg+xml;base64,AAAA",
            "data:image/png;base64,AA\"onerror=",
        ] {
            assert_eq!(Address::of(blocked), Address::Blocked, "{blocked}");
        }
        assert_eq!(
            Address::of("data:image/png;base64,AA=="),
            Address::InlineImage
        );
        assert_eq!(
            Address::of("My%20note.md#A%20b"),
            Address::File {
                target: "My note.md".to_owned(),
                fragment: Some("A b".to_owned())
            }
        );
    }

    #[test]
    fn anchors_are_slugs() {
        assert_eq!(fragment_anchor("A#B c: d!"), "b-c-d");
        assert_eq!(fragment_anchor("^x-1"), "block-x-1");
        assert_eq!(slug("日本 \"<"), "日本");
    }
}
