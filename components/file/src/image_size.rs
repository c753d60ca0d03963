//! Reads the dimensions of images from their headers; nothing is decoded.

use crate::file_type::SVG;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dimensions {
    pub(crate) width: u64,
    pub(crate) height: u64,
}

/// The dimensions of an image, if known.
pub(crate) fn dimensions(mime: &str, bytes: &[u8]) -> Option<Dimensions> {
    if mime == SVG {
        return svg_dimensions(bytes);
    }
    if !mime.starts_with("image/") {
        return None;
    }
    let size = imagesize::blob_size(bytes).ok()?;
    Some(Dimensions {
        width: size.width as u64,
        height: size.height as u64,
    })
}

/// From `width` and `height` of the first element, or else from its `viewBox`.
fn svg_dimensions(bytes: &[u8]) -> Option<Dimensions> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 10)]);
    let (_, after) = head.split_once("<svg")?;
    let (element, _) = after.split_once('>')?;
    let length = |name: &str| number(attribute(element, name)?.trim().trim_end_matches("px"));
    let (width, height) = match (length("width"), length("height")) {
        (Some(width), Some(height)) => (width, height),
        _ => {
            let sides = attribute(element, "viewBox")?;
            let mut sides = sides
                .split(|letter: char| letter.is_whitespace() || letter == ',')
                .filter(|side| !side.is_empty())
                .skip(2)
                .map(number);
            (sides.next()??, sides.next()??)
        }
    };
    Some(Dimensions { width, height })
}

fn number(text: &str) -> Option<u64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && (0.0..=1e9).contains(&number)).then_some(number.round() as u64)
}

/// The value of an attribute of an element.
fn attribute<'e>(element: &'e str, name: &str) -> Option<&'e str> {
    let mut rest = element;
    loop {
        let at = rest.find(name)?;
        let is_whole = rest[..at].ends_with(|before: char| before.is_whitespace());
        let after = rest[at + name.len()..].trim_start();
        rest = &rest[at + name.len()..];
        if let Some(value) = after.strip_prefix('=')
            && is_whole
        {
            let value = value.trim_start();
            let quote = value
                .chars()
                .next()
                .filter(|quote| "\"'".contains(*quote))?;
            return value[1..].split(quote).next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn svg(text: &str) -> Option<(u64, u64)> {
        dimensions(SVG, text.as_bytes()).map(|size| (size.width, size.height))
    }

    #[test]
    fn svg_dimensions_come_from_size_or_view_box() {
        assert_eq!(svg("<svg width=\"10\" height='20px'>"), Some((10, 20)));
        assert_eq!(
            svg("<svg stroke-width='3' viewBox='0 0 30.4, 40'>"),
            Some((30, 40))
        );
        assert_eq!(
            svg("<svg width='100%' height='5' viewBox='0 0 3 4'/>"),
            Some((3, 4))
        );
        for unknown in [
            "<svg>",
            "<svg width=3 height=4>",
            "<svg viewBox='0 0 1'>",
            "x",
            "<svg width='nan' height='1'>",
        ] {
            assert_eq!(svg(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn image_dimensions_come_from_the_header() {
        let gif = b"GIF89a\x03\x00\x02\x00\x80\x00\x00";
        let size = dimensions("image/gif", gif).unwrap();
        assert_eq!((size.width, size.height), (3, 2));
        assert_eq!(dimensions("image/png", b"nothing"), None);
        assert_eq!(dimensions("audio/wav", gif), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            magic in prop::sample::select(vec![
                &b""[..], b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0WEBPVP8 ", b"BM",
                b"II*\0", b"MM\0*", b"8BPS", b"\0\0\x01\0", b"\0\0\0\x18ftypavif", b"\0\0\0\x18ftypheic",
                b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n",
            ]),
            bytes in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let bytes = [magic, &bytes].concat();
            let _ = dimensions("image/any", &bytes);
        }

        #[test]
        fn arbitrary_svg_never_panics(inside in "[ a-z=\"'0-9é.,%]{0,40}") {
            let _ = svg(&format!("<svg width{inside}viewBox='{inside}'>"));
        }
    }
}
