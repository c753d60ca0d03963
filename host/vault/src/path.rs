//! Validation and normalization of guest paths, and when two names are equal. Pure text, no file access.
//!
//! All input is untrusted. Only the Unicode normal form is normalized; any other leniency belongs to the components.

use caseless::Caseless;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::error::VaultError;

const MAX_NAME_BYTES: usize = 255;
const MAX_PATH_BYTES: usize = 4096;

/// The folder of the vault's own files, inside the vault.
pub const PRIVATE: &str = ".notehost";
/// The folder for the data of components.
pub(crate) const DATA: &str = ".notehost/store";

/// Checks a guest's path. `""` is the vault itself and has no parts.
///
/// A part that begins with a dot, however disguised, is refused as absent: `Err(None)`.
pub(crate) fn parse(path: &str) -> Result<Vec<&str>, Option<VaultError>> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let refuse = |why: &str| {
        Some(VaultError::invalid(format!(
            "path `{}` {why}",
            printable(path)
        )))
    };
    if path.len() > MAX_PATH_BYTES {
        return Err(Some(VaultError::invalid(format!(
            "a path may have {MAX_PATH_BYTES} bytes at most"
        ))));
    }
    if path.chars().any(char::is_control) {
        return Err(refuse("contains a control character"));
    }
    if path.contains('\\') {
        return Err(refuse("contains a backslash: parts are separated by `/`"));
    }
    if path.starts_with('/') {
        return Err(refuse("is absolute: paths are relative to the vault"));
    }
    let parts: Vec<&str> = path.split('/').collect();
    for part in &parts {
        match *part {
            "" => return Err(refuse("has an empty part")),
            "." | ".." => return Err(refuse("contains `.` or `..`")),
            _ if part.len() > MAX_NAME_BYTES => {
                return Err(Some(VaultError::invalid(format!(
                    "a name may have {MAX_NAME_BYTES} bytes at most"
                ))));
            }
            _ if is_closed(part) => return Err(None),
            _ => {}
        }
    }
    Ok(parts)
}

/// Whether components can access a path at all; fails if the path is invalid.
pub fn is_open(path: &str) -> Result<bool, VaultError> {
    match parse(path) {
        Ok(_) => Ok(true),
        Err(None) => Ok(false),
        Err(Some(refused)) => Err(refused),
    }
}

/// Checks the name of a new file or folder, beyond what [`parse`] requires of every name: it must also work where the
/// vault is synchronised to.
pub(crate) fn check_new_name(name: &str) -> Result<(), VaultError> {
    const RESERVED: [char; 8] = ['<', '>', ':', '"', '|', '?', '*', '\\'];
    let refuse = |why: String| {
        Err(VaultError::invalid(format!(
            "a new name cannot be `{name}`: {why}"
        )))
    };
    if let Some(found) = name.chars().find(|c| RESERVED.contains(c)) {
        return refuse(format!("`{found}` is not allowed on every system"));
    }
    if name.ends_with(['.', ' ']) {
        return refuse("it ends with a dot or a space".into());
    }
    if name
        .chars()
        .any(|c| matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
    {
        return refuse("it contains invisible characters".into());
    }
    let stem = name.split('.').next().unwrap_or(name).to_ascii_uppercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
    };
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
    {
        return refuse("Windows keeps it for a device".into());
    }
    Ok(())
}

/// Whether a name is closed to components: it begins with a dot, as far as any system might see it.
pub(crate) fn is_closed(name: &str) -> bool {
    // Nearly every name begins with a plain letter or digit: nothing can hide in front of it.
    if name
        .as_bytes()
        .first()
        .is_none_or(u8::is_ascii_alphanumeric)
    {
        return name.is_empty();
    }
    name.nfkc()
        .find(|c| !is_ignorable(*c) && !c.is_whitespace())
        .is_none_or(|first| {
            matches!(
                first,
                '.' | '\u{3002}' | '\u{ff61}' | '\u{701}' | '\u{702}' | '\u{a4f8}' | '\u{10a50}'
            )
        })
}

/// Whether a name found on disk can be named in a path at all.
pub(crate) fn is_speakable(name: &str) -> bool {
    !is_closed(name) && !name.contains('\\') && !name.chars().any(char::is_control)
}

/// Characters that some systems and most readers do not see.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The NFC form; borrowed where it already is.
pub(crate) fn composed(text: &str) -> std::borrow::Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        text.into()
    } else {
        text.nfc().collect::<String>().into()
    }
}

/// What two names or paths have in common that differ only in case or normal form.
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.nfd().default_case_fold().nfc().collect()
    }
}

/// A path below a folder.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// The folder of a path, and the name in it.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether a path is below a folder.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() && !path.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// A path for a message: short, and with nothing that could disturb a terminal.
fn printable(path: &str) -> String {
    path.chars()
        .take(120)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
