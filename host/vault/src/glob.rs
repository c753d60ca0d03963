//! Globs over paths: the one place that compiles them, wherever they come from. A glob may be hostile, so it is bounded
//! before it is parsed (globset recurses once per open brace) and compiled with a limit on its size.

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

/// The longest glob, in bytes.
const MAX_GLOB_BYTES: usize = 1 << 10;
/// How deep braces may nest.
const MAX_BRACE_DEPTH: usize = 10;
/// How much memory a compiled glob may take.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// A compiled glob: `*` and `?` stay within a folder, `**` crosses any number of them, `\` is an ordinary character.
#[derive(Debug, Clone)]
pub struct Glob(Regex);

impl Glob {
    /// Compiles a glob, or returns why it is invalid. Fold it first if the paths are folded.
    pub fn new(text: &str) -> Result<Glob, String> {
        check_bounds(text)?;
        let built = GlobBuilder::new(text)
            .literal_separator(true)
            .backslash_escape(false)
            .build()
            .map_err(|error| error.kind().to_string())?;
        RegexBuilder::new(built.regex())
            .dot_matches_new_line(true)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
            .map(Glob)
            .map_err(|_| "it takes too much memory when it is compiled".to_owned())
    }

    /// Whether it matches all of a path.
    pub fn is_match(&self, path: &str) -> bool {
        self.0.is_match(path.as_bytes())
    }
}

/// Refuses a glob that is too long or nested too deeply to be parsed.
pub fn check_bounds(text: &str) -> Result<(), String> {
    if text.len() > MAX_GLOB_BYTES {
        return Err(format!("it is longer than {MAX_GLOB_BYTES} bytes"));
    }
    let mut depth = 0_usize;
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'[' => rest = after_class(rest),
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACE_DEPTH {
            return Err(format!("braces nest deeper than {MAX_BRACE_DEPTH}"));
        }
    }
    Ok(())
}

/// What follows a class of characters whose `[` was just read. Its first character is never its end.
fn after_class(rest: &[u8]) -> &[u8] {
    let rest = match rest {
        [b'!' | b'^', rest @ ..] => rest,
        rest => rest,
    };
    let end = rest.iter().skip(1).position(|byte| *byte == b']');
    // Without an end, globset refuses all of it.
    end.map_or(&[], |end| &rest[end + 2..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_long_globs_are_refused_before_they_are_parsed() {
        for depth in [11, 300, 1900, 32_000] {
            let glob = format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
            let error = Glob::new(&glob).expect_err("refused");
            assert!(
                error.contains("deeper") || error.contains("longer"),
                "{error}"
            );
        }
        assert!(Glob::new(&"a".repeat(MAX_GLOB_BYTES + 1)).is_err());
        // In a class, a brace neither opens nor closes anything.
        assert!(Glob::new(&"[{]".repeat(12)).is_ok_and(|glob| glob.is_match(&"{".repeat(12))));
        let hidden = format!("{}a{}", "{[}]".repeat(11), "}".repeat(11));
        assert!(Glob::new(&hidden).is_err_and(|error| error.contains("deeper")));
        for glob in ["{", "}", "{a", "[", "[z-a]"] {
            assert!(Glob::new(glob).is_err(), "{glob}");
        }
    }

    #[test]
    fn ten_levels_and_long_globs_still_match() {
        let deep = format!("{}a{}", "{".repeat(10), ",b}".repeat(10));
        assert!(Glob::new(&deep).is_ok_and(|glob| glob.is_match("b")));
        for dense in ["?", "*a", "**/", "[!a]", "é", "{a,b}"] {
            let text = dense.repeat(MAX_GLOB_BYTES / dense.len());
            assert!(Glob::new(&text).is_ok(), "{dense}");
        }
    }

    #[test]
    fn separators_bind_stars_and_backslashes_are_ordinary() {
        for (glob, path, fits) in [
            ("work/*.md", "work/a.md", true),
            ("work/*.md", "work/b/a.md", false),
            ("work/**", "work/b/a.md", true),
            ("work/**", "work", false),
            ("**/a?c.md", "é/aéc.md", false),
            ("**/a*c.md", "é/aéc.md", true),
            ("[ab]*", "b.md", true),
            (r"a\*b", r"a\xb", true),
            ("a*", "a\nb", true),
        ] {
            let built = Glob::new(glob).expect("a glob");
            assert_eq!(built.is_match(path), fits, "{glob} {path}");
        }
    }
}
