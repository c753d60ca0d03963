//! Validation of paths, and names that are closed regardless of permissions. Independent of the vault's content.

use crate::{Error, Result};
use unicode_normalization::UnicodeNormalization as _;

/// The limit of file systems.
const MAX_NAME_BYTES: usize = 255;

/// Characters that a file system or a person could take for a dot, after compatibility folding.
const DOTS: [char; 6] = [
    '.',
    '\u{3002}',
    '\u{701}',
    '\u{702}',
    '\u{a4f8}',
    '\u{10a50}',
];

/// Rejects invalid paths. The empty path is the vault itself.
pub(super) fn check(path: &str) -> Result<()> {
    match flaw(path) {
        None => Ok(()),
        Some(flaw) => Err(Error::validation(format!(
            "path `{}` {flaw}",
            path.replace(char::is_control, "\u{fffd}")
        ))),
    }
}

/// What is wrong with a path, if it is invalid.
fn flaw(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return None;
    }
    if path.contains(char::is_control) {
        return Some("contains a control character");
    }
    if path.contains('\\') {
        return Some("contains a backslash: parts are separated by `/`");
    }
    if path.starts_with('/') {
        return Some("is absolute: paths are relative to the vault");
    }
    path.split('/').find_map(|part| match part {
        "" => Some("has an empty part"),
        "." | ".." => Some("contains `.` or `..`"),
        _ if part.len() > MAX_NAME_BYTES => Some("has a name of more than 255 bytes"),
        _ => None,
    })
}

/// Rejects new names that are not portable to every system that the vault may be synchronised to.
pub(super) fn check_new_name(name: &str) -> Result<()> {
    let invalid = |reason: &str| {
        Err(Error::validation(format!(
            "a new name cannot be `{name}`: {reason}"
        )))
    };
    if let Some(found) = name.chars().find(|letter| "<>:\"|?*".contains(*letter)) {
        return invalid(&format!("`{found}` is not allowed on every system"));
    }
    if name.ends_with(['.', ' ']) {
        return invalid("it ends with a dot or a space");
    }
    let stem = name.split('.').next().unwrap_or(name).to_ascii_uppercase();
    let is_numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
    };
    let is_device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL");
    if is_device || is_numbered("COM") || is_numbered("LPT") {
        return invalid("Windows keeps it for a device");
    }
    Ok(())
}

/// Whether a path contains a dot-folder, or something that a file system or a person could take for one.
pub(super) fn is_closed(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').any(|part| {
            let mut seen = part
                .nfkc()
                .filter(|letter| !is_ignorable(*letter) && !letter.is_whitespace());
            seen.next().is_none_or(|first| DOTS.contains(&first))
        })
}

/// Invisible characters, which some file systems ignore when they compare names.
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// The paths of the parent folders, outermost first.
pub(super) fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// Whether a path is below a folder at any depth; everything is below the vault itself.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() && !path.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// A path in NFC.
pub(super) fn composed(path: &str) -> String {
    path.nfc().collect()
}
