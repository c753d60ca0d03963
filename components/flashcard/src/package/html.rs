//! Converts between Markdown and the HTML of Anki fields, limited to what cards use.

use comrak::markdown_to_html;
use notehost_sdk::text::dialect;

/// Converts Markdown to HTML. Embedded HTML is kept; formulas get the delimiters of Anki.
pub(crate) fn from_markdown(markdown: &str) -> String {
    let mut options = dialect::options();
    options.render.r#unsafe = true;
    options.render.hardbreaks = true;
    let html = markdown_to_html(markdown, &options);
    let html = formulas(&html);
    let html = html.trim();
    // A single paragraph needs no tags.
    let only = html
        .strip_prefix("<p>")
        .and_then(|rest| rest.strip_suffix("</p>"));
    only.filter(|inner| !inner.contains("<p>"))
        .unwrap_or(html)
        .to_owned()
}

/// Converts the formula markup of comrak to that of Anki.
fn formulas(html: &str) -> String {
    const INLINE: &str = "<span data-math-style=\"inline\">";
    const DISPLAY: &str = "<span data-math-style=\"display\">";
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("<span data-math-style=\"") {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, open, close) = match rest.starts_with(INLINE) {
            true => (INLINE.len(), "\\(", "\\)"),
            false if rest.starts_with(DISPLAY) => (DISPLAY.len(), "\\[", "\\]"),
            false => break,
        };
        let end = rest.find("</span>").unwrap_or(rest.len());
        text.push_str(open);
        text.push_str(rest.get(length..end).unwrap_or_default());
        text.push_str(close);
        rest = rest.get(end + "</span>".len()..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// Converts the HTML of a field to Markdown. `embed` returns the Markdown embed of a media file.
pub(crate) fn to_markdown(html: &str, embed: &dyn Fn(&str) -> String) -> String {
    let mut writer = Writer {
        text: String::with_capacity(html.len()),
        links: Vec::new(),
        list: Vec::new(),
    };
    let mut rest = html;
    while let Some(letter) = rest.chars().next() {
        let taken = match letter {
            '<' => writer.tag(rest, embed),
            '&' => writer.entity(rest),
            '[' => sound(rest).map(|(name, length)| {
                writer.text.push_str(&embed(&name));
                length
            }),
            '\\' => writer.formula(rest),
            _ => None,
        };
        let taken = taken.unwrap_or_else(|| {
            writer
                .text
                .push(if letter == '\u{a0}' || letter == '\r' || letter == '\n' {
                    ' '
                } else {
                    letter
                });
            letter.len_utf8()
        });
        rest = rest.get(taken..).unwrap_or_default();
    }
    tidied(&writer.text)
}

struct Writer {
    text: String,
    /// The targets of open links.
    links: Vec<String>,
    /// The next number of each open list; `None` for unordered lists.
    list: Vec<Option<u32>>,
}

impl Writer {
    fn tag(&mut self, rest: &str, embed: &dyn Fn(&str) -> String) -> Option<usize> {
        if rest.starts_with("<!--") {
            return Some(rest.find("-->").map_or(rest.len(), |end| end + 3));
        }
        let end = rest.find('>')?;
        let inner = &rest[1..end];
        let closing = inner.starts_with('/');
        let name: String = inner
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        if name.is_empty() {
            return None;
        }
        let length = end + 1;
        match (name.to_ascii_lowercase().as_str(), closing) {
            ("br", _) | ("p" | "div" | "tr" | "h1" | "h2" | "h3" | "ul" | "ol" | "hr", _) => {
                match (name.to_ascii_lowercase().as_str(), closing) {
                    ("ul", false) => self.list.push(None),
                    ("ol", false) => self.list.push(Some(1)),
                    ("ul" | "ol", true) => drop(self.list.pop()),
                    _ => {}
                }
                self.text.push('\n');
            }
            ("td" | "th", true) => self.text.push(' '),
            ("li", false) => {
                let marker = match self.list.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("\n{}. ", *number - 1)
                    }
                    _ => "\n- ".to_owned(),
                };
                self.text.push_str(&marker);
            }
            ("b" | "strong", _) => self.text.push_str("**"),
            ("i" | "em", _) => self.text.push('*'),
            ("s" | "del" | "strike", _) => self.text.push_str("~~"),
            ("code" | "tt", _) => self.text.push('`'),
            ("pre", _) => self.text.push_str("\n```\n"),
            ("sub" | "sup" | "u", closing) => {
                let slash = if closing { "/" } else { "" };
                self.text
                    .push_str(&format!("<{slash}{}>", name.to_ascii_lowercase()));
            }
            ("img" | "source" | "video" | "audio", false) => {
                if let Some(source) = attribute(inner, "src") {
                    let outside = source.contains("://") || source.starts_with("data:");
                    let shown = if outside {
                        format!("![]({source})")
                    } else {
                        embed(&source)
                    };
                    self.text.push_str(&shown);
                }
            }
            ("a", false) => {
                self.links
                    .push(attribute(inner, "href").unwrap_or_default());
                self.text.push('[');
            }
            ("a", true) => {
                let target = self.links.pop().unwrap_or_default();
                self.text.push_str(&format!("]({target})"));
            }
            ("style" | "script", false) => {
                let close = format!("</{}", name.to_ascii_lowercase());
                let body = &rest[length..];
                return Some(length + body.to_ascii_lowercase().find(&close).unwrap_or(body.len()));
            }
            _ => {}
        }
        Some(length)
    }

    fn entity(&mut self, rest: &str) -> Option<usize> {
        let (letter, length) = entity(rest)?;
        self.text.push(letter);
        Some(length)
    }

    fn formula(&mut self, rest: &str) -> Option<usize> {
        let mark = match rest.get(..2)? {
            "\\(" | "\\)" => "$",
            "\\[" | "\\]" => "$$",
            _ => return None,
        };
        self.text.push_str(mark);
        Some(2)
    }
}

/// The name in `[sound:name]`, and the length of the markup.
fn sound(rest: &str) -> Option<(String, usize)> {
    let inner = rest.strip_prefix("[sound:")?;
    let end = inner.find(']')?;
    Some((decoded(&inner[..end]), "[sound:".len() + end + 1))
}

/// The value of an attribute.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower.get(from..)?.find(name) {
        let at = from + at;
        from = at + name.len();
        let is_apart = tag[..at].ends_with(|letter: char| {
            letter.is_ascii_whitespace() || letter == '"' || letter == '\''
        });
        let rest = tag[from..].trim_start();
        if let Some(value) = rest.strip_prefix('=').filter(|_| is_apart) {
            let value = value.trim_start();
            let raw = match value.chars().next()? {
                quote @ ('"' | '\'') => value[1..].split(quote).next()?,
                _ => value
                    .split(|letter: char| letter.is_ascii_whitespace() || letter == '/')
                    .next()?,
            };
            return Some(decoded(raw));
        }
    }
    None
}

fn decoded(text: &str) -> String {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (letter, length) = entity(rest).unwrap_or((letter, letter.len_utf8()));
        decoded.push(letter);
        rest = &rest[length..];
    }
    decoded
}

/// Decodes an entity at the start of a text; returns the character and the length of the entity.
fn entity(rest: &str) -> Option<(char, usize)> {
    let inner = rest.strip_prefix('&')?;
    let end = inner.bytes().take(12).position(|byte| byte == b';')?;
    let name = inner.get(..end)?;
    let letter = match name {
        "nbsp" => ' ',
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number).filter(|letter| !letter.is_control() || *letter == '\n')?
        }
    };
    Some((letter, end + 2))
}

/// Removes blank lines, which would end a card, and trailing spaces.
fn tidied(text: &str) -> String {
    let lines = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.trim().is_empty());
    lines
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .replace("****", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_markdown() {
        let embed = |name: &str| format!("![[{name}]]");
        for (html, markdown) in [
            ("a<br>b<div>c</div>", "a\nb\nc"),
            ("<b>x</b> &amp; <i>y</i>&nbsp;z", "**x** & *y* z"),
            ("<img class=\"k\" src=\"a &amp; b.png\">", "![[a & b.png]]"),
            ("[sound:x.mp3]", "![[x.mp3]]"),
            ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
            ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
            ("\\(x^2\\) \\[y\\]", "$x^2$ $$y$$"),
            ("<a href='http://x'>t</a>", "[t](http://x)"),
            ("1 < 2 &#955; &unknown; &", "1 < 2 λ &unknown; &"),
            ("<style>b{}</style>t<!-- c -->", "t"),
            ("<", "<"),
            ("日本<br>語", "日本\n語"),
        ] {
            assert_eq!(to_markdown(html, &embed), markdown, "{html}");
        }
    }

    #[test]
    fn markdown_becomes_html() {
        assert_eq!(from_markdown("a **b**"), "a <strong>b</strong>");
        assert_eq!(from_markdown("$x$"), "\\(x\\)");
        assert_eq!(from_markdown("a\nb"), "a<br />\nb");
        assert!(from_markdown("- a\n- b").starts_with("<ul>"));
        assert_eq!(from_markdown("<img src=\"x\">"), "<img src=\"x\">");
        assert_eq!(from_markdown("{{c1::a}} b"), "{{c1::a}} b");
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_is_converted(text in "\\PC{0,80}", html in "[<>/&;a-z\"'= \\[\\]:#0-9]{0,60}") {
            let embed = |name: &str| name.to_owned();
            to_markdown(&text, &embed);
            to_markdown(&html, &embed);
            from_markdown(&text);
        }
    }
}
