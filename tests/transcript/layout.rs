//! The form of bytes and JSON in a transcript: readable, without characters that an editor would hide or change.

use serde_json::Value;

const WIDTH: usize = 116;

/// One line of a file, without its line feed, with invisible characters escaped. `\` at the end stands for a missing
/// line feed.
pub(crate) fn escaped_line(line: &[u8]) -> String {
    let (body, ends) = match line.strip_suffix(b"\n") {
        Some(body) => (body, true),
        None => (line, false),
    };
    let mut text = String::new();
    for chunk in body.utf8_chunks() {
        chunk
            .valid()
            .chars()
            .for_each(|letter| push_escaped(letter, &mut text));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if text.ends_with(' ') {
        text.pop();
        text.push_str("\\x20");
    }
    if !ends {
        text.push('\\');
    }
    text
}

/// A text as escaped lines.
pub(crate) fn escaped_lines(text: &[u8]) -> Vec<String> {
    if text.is_empty() {
        return vec![escaped_line(b"")];
    }
    text.split_inclusive(|byte| *byte == b'\n')
        .map(escaped_line)
        .collect()
}

fn push_escaped(letter: char, text: &mut String) {
    match letter {
        '\\' => text.push_str("\\\\"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        letter if is_hard_to_see(letter) => {
            text.push_str(&format!("\\u{{{:x}}}", u32::from(letter)))
        }
        letter if letter.is_control() => text.push_str(&format!("\\x{:02x}", u32::from(letter))),
        letter => text.push(letter),
    }
}

/// Combining marks and zero-width characters.
fn is_hard_to_see(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}')
}

/// The bytes of an escaped line, and whether a line feed follows.
pub(crate) fn unescaped(line: &str) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else {
            return (bytes, false);
        };
        rest = &rest[kind.len_utf8()..];
        match kind {
            '\\' | '=' => bytes.push(kind as u8),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'x' => {
                let (digits, after) = rest.split_at(2);
                bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
                rest = after;
            }
            'u' => {
                let (digits, after) = rest[1..].split_once('}').expect("\\u{…}");
                let code = u32::from_str_radix(digits, 16).expect("a code point");
                let letter = char::from_u32(code).expect("a character");
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
            }
            other => panic!("unknown escape `\\{other}`: {line}"),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    (bytes, true)
}

/// JSON on one line if it fits, otherwise with one line per member.
pub(crate) fn json(value: &Value, indent: usize) -> String {
    let line = one_line(value);
    if indent + line.chars().count() <= WIDTH {
        return line;
    }
    let inner = " ".repeat(indent + 2);
    let outer = " ".repeat(indent);
    match value {
        Value::Object(map) => {
            let parts: Vec<String> = map
                .iter()
                .map(|(key, value)| {
                    format!(
                        "{inner}{}: {}",
                        Value::from(key.as_str()),
                        json(value, indent + 2)
                    )
                })
                .collect();
            format!("{{\n{}\n{outer}}}", parts.join(",\n"))
        }
        Value::Array(items) => {
            let parts: Vec<String> = items
                .iter()
                .map(|item| format!("{inner}{}", json(item, indent + 2)))
                .collect();
            format!("[\n{}\n{outer}]", parts.join(",\n"))
        }
        _ => line,
    }
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let parts: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), one_line(value)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        Value::Array(items) => {
            let parts: Vec<String> = items.iter().map(one_line).collect();
            format!("[{}]", parts.join(", "))
        }
        scalar => {
            let mut text = String::new();
            for letter in scalar.to_string().chars() {
                match is_hard_to_see(letter) {
                    true => text.push_str(&format!("\\u{:04x}", u32::from(letter))),
                    false => text.push(letter),
                }
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_round_trips() {
        for bytes in [
            &b"plain\n"[..],
            b"a\\b\tc\r\n",
            b"no end",
            b"\xef\xbb\xbfBOM\n",
            b"\xff\xfe\n",
            b"space \n",
            b"",
        ] {
            let (mut back, ends) = unescaped(&escaped_line(bytes));
            if ends {
                back.push(b'\n');
            }
            assert_eq!(back, bytes);
        }
    }
}
