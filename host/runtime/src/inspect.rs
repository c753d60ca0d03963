//! Inspects a component file without compiling or running it: imports and exports, contract version, manifest,
//! producers. All input is untrusted.

use std::ops::Range;

use sha2::{Digest as _, Sha256};
use wasmparser::{Chunk, CustomSectionReader, KnownCustom, Parser, Payload};

use super::contract::{self, Contract, ContractError, Track};
use super::manifest::{MANIFEST_SECTION, Manifest, ManifestError};

/// The largest component that is taken.
pub const MAX_COMPONENT_BYTES: usize = 64 << 20;

/// How deep components may nest.
const MAX_DEPTH: usize = 100;
/// Limits of the listed tools, and of the length of their names.
const MAX_PRODUCERS: usize = 32;
const MAX_PRODUCER_CHARS: usize = 100;

/// What the bytes of a component contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// How many bytes it has.
    pub size: usize,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
    /// Its imports, by full name with version.
    pub imports: Vec<String>,
    /// What it offers, by full name with version.
    pub exports: Vec<String>,
    /// The ceiling of what it can be granted, if its author said one.
    pub manifest: Option<Manifest>,
    /// The languages and tools it was made with, if recorded.
    pub producers: Vec<Producer>,
}

/// A language or a tool that a component was made with, as it claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Producer {
    /// `language`, `sdk` or `processed-by`.
    pub role: &'static str,
    /// Which one.
    pub name: String,
    /// Its version; may be empty.
    pub version: String,
}

/// Why a file cannot be loaded as a component. Each message continues the name of the component or file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InspectError {
    /// There is nothing in it.
    #[error("is not a WebAssembly component: it is empty")]
    Empty,
    /// It is too large.
    #[error("is too large: it has {size} bytes, and at most {MAX_COMPONENT_BYTES} are allowed")]
    TooLarge {
        /// Its size.
        size: usize,
    },
    /// It is something else.
    #[error("is not a WebAssembly component: it is not WebAssembly")]
    NotWebAssembly,
    /// It is WebAssembly for people to read.
    #[error(
        "is not a WebAssembly component: it is in the WebAssembly text format; convert it to binary, for example with `wasm-tools parse`"
    )]
    Text,
    /// It is a module without an interface.
    #[error(
        "is not a WebAssembly component: it is a core module; build it for `wasm32-wasip2`, or wrap it with `wasm-tools component new`"
    )]
    CoreModule,
    /// It is in a form of the future or of the past.
    #[error(
        "is not a WebAssembly component that this host can read: it has another version of the binary format"
    )]
    OtherFormat,
    /// Its end is missing.
    #[error(
        "is not a complete WebAssembly component: it is truncated after {size} bytes; fetch or build it again"
    )]
    Truncated {
        /// How much is there.
        size: usize,
    },
    /// It violates the binary format.
    #[error("is not a WebAssembly component: it is damaged at byte {offset}: {reason}")]
    Damaged {
        /// Where.
        offset: usize,
        /// What the parser said.
        reason: String,
    },
    /// Its manifest cannot be used.
    #[error("has an invalid manifest: {0}")]
    Manifest(#[from] ManifestError),
    /// No adapter fits it.
    #[error(transparent)]
    Contract(#[from] ContractError),
}

impl Inspected {
    /// By which track of the contract it is called.
    pub fn track(&self) -> Result<Track, InspectError> {
        let exports = self.exports.iter().map(String::as_str);
        Ok(contract::track_of(exports)?)
    }

    /// The newest version of the contract that it was built for, whether this host supports it or not.
    pub fn contract(&self) -> Option<Contract> {
        let exports = self.exports.iter();
        exports.filter_map(|name| Contract::of_export(name)).max()
    }
}

/// Read what a component is. What it exports is not judged: ask [`Inspected::track`].
pub fn inspect(bytes: &[u8]) -> Result<Inspected, InspectError> {
    let reading = Reading::of(bytes)?;
    Ok(Inspected {
        size: bytes.len(),
        digest: digest(bytes),
        imports: reading.imports,
        exports: reading.exports,
        manifest: reading.manifest,
        producers: reading.producers,
    })
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Reading {
    imports: Vec<String>,
    exports: Vec<String>,
    manifest: Option<Manifest>,
    producers: Vec<Producer>,
    /// Where manifests lie at the top level, with the heads of their sections.
    pub(super) manifest_sections: Vec<Range<usize>>,
}

impl Reading {
    /// Read a file to its end.
    pub(super) fn of(bytes: &[u8]) -> Result<Reading, InspectError> {
        recognise(bytes)?;
        let mut reading = Reading::default();
        reading.walk(bytes)?;
        Ok(reading)
    }

    fn walk(&mut self, bytes: &[u8]) -> Result<(), InspectError> {
        let truncated = InspectError::Truncated { size: bytes.len() };
        let mut parser = Parser::new(0);
        // The parsers around what is being read, each with where its own part ends.
        let mut around: Vec<(Parser, usize)> = Vec::new();
        let (mut at, mut end) = (0, bytes.len());
        loop {
            let is_top = around.is_empty();
            if is_top && at == bytes.len() {
                return Ok(());
            }
            // Nested components are complete; only the file itself can end too early.
            let chunk = parser.parse(&bytes[at..end], !is_top).map_err(damaged)?;
            let (consumed, payload) = match chunk {
                Chunk::NeedMoreData(_) => return Err(truncated),
                Chunk::Parsed { consumed, payload } => (consumed, payload),
            };
            let section = at..at + consumed;
            at = section.end;
            match payload {
                Payload::ModuleSection {
                    parser: inner,
                    unchecked_range: range,
                }
                | Payload::ComponentSection {
                    parser: inner,
                    unchecked_range: range,
                } => {
                    if range.end > bytes.len() {
                        return Err(truncated);
                    }
                    if range.end > end || around.len() == MAX_DEPTH {
                        return Err(InspectError::Damaged {
                            offset: range.start,
                            reason: "a nested component or module does not fit".into(),
                        });
                    }
                    around.push((std::mem::replace(&mut parser, inner), end));
                    end = range.end;
                }
                Payload::End(_) => match around.pop() {
                    Some((outer, outer_end)) => (parser, end) = (outer, outer_end),
                    None => return Ok(()),
                },
                Payload::ComponentImportSection(imports) if is_top => {
                    for import in imports {
                        let name = import.map_err(damaged)?.name;
                        let suffix = name.version_suffix.unwrap_or_default();
                        self.imports.push(named(name.name, suffix, section.start)?);
                    }
                }
                Payload::ComponentExportSection(exports) if is_top => {
                    for export in exports {
                        let name = export.map_err(damaged)?.name;
                        let suffix = name.version_suffix.unwrap_or_default();
                        self.exports.push(named(name.name, suffix, section.start)?);
                    }
                }
                Payload::CustomSection(custom) if custom.name() == MANIFEST_SECTION => {
                    self.take_manifest(custom.data())?;
                    if is_top {
                        self.manifest_sections.push(section);
                    }
                }
                Payload::CustomSection(custom) => self.take_producers(&custom),
                Payload::UnknownSection { id, .. } => {
                    return Err(InspectError::Damaged {
                        offset: section.start,
                        reason: format!("unknown section id {id}"),
                    });
                }
                _ => {}
            }
        }
    }

    fn take_manifest(&mut self, json: &[u8]) -> Result<(), ManifestError> {
        let found = Manifest::parse(json)?;
        match &self.manifest {
            Some(known) if *known != found => Err(ManifestError::Several),
            _ => {
                self.manifest = Some(found);
                Ok(())
            }
        }
    }

    /// Nobody needs it, so what cannot be read is passed over.
    fn take_producers(&mut self, section: &CustomSectionReader<'_>) {
        let KnownCustom::Producers(fields) = section.as_known() else {
            return;
        };
        for field in fields.into_iter().flatten() {
            let role = match field.name {
                "language" => "language",
                "sdk" => "sdk",
                _ => "processed-by",
            };
            for value in field.values.into_iter().flatten() {
                let producer = Producer {
                    role,
                    name: printable(value.name),
                    version: printable(value.version),
                };
                if self.producers.len() < MAX_PRODUCERS && !self.producers.contains(&producer) {
                    self.producers.push(producer);
                }
            }
        }
    }
}

/// Distinguishes a component from everything else that people pass.
fn recognise(bytes: &[u8]) -> Result<(), InspectError> {
    if bytes.is_empty() {
        return Err(InspectError::Empty);
    }
    if bytes.len() > MAX_COMPONENT_BYTES {
        return Err(InspectError::TooLarge { size: bytes.len() });
    }
    if Parser::is_component(bytes) {
        return Ok(());
    }
    Err(if Parser::is_core_wasm(bytes) {
        InspectError::CoreModule
    } else if bytes.starts_with(b"\0asm") {
        match bytes.len() < 8 {
            true => InspectError::Truncated { size: bytes.len() },
            false => InspectError::OtherFormat,
        }
    } else if is_text(bytes) {
        InspectError::Text
    } else {
        InspectError::NotWebAssembly
    })
}

/// Whether it begins as WebAssembly's text form does, after comments and space.
fn is_text(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let mut lines = start.lines().map(str::trim_start);
    lines
        .find(|line| !line.is_empty() && !line.starts_with(";;"))
        .is_some_and(|line| line.starts_with("(module") || line.starts_with("(component"))
}

fn damaged(error: wasmparser::Error) -> InspectError {
    InspectError::Damaged {
        offset: error.offset(),
        reason: printable(error.message()),
    }
}

/// A name as it can be shown and compared.
fn named(name: &str, suffix: &str, offset: usize) -> Result<String, InspectError> {
    let whole = format!("{name}{suffix}");
    match whole.is_empty() || whole.contains(char::is_control) {
        false => Ok(whole),
        true => Err(InspectError::Damaged {
            offset,
            reason: "it contains an invalid name".into(),
        }),
    }
}

fn printable(text: &str) -> String {
    let shown = text.chars().filter(|character| !character.is_control());
    shown.take(MAX_PRODUCER_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_components_are_refused_with_a_specific_error() {
        for (bytes, word) in [
            (&b""[..], "it is empty"),
            (b"#!/bin/sh\n", "it is not WebAssembly"),
            (b"\x7fELF\x02\x01\x01\0\0\0\0\0", "it is not WebAssembly"),
            (
                b";; a comment\n  (component)",
                "the WebAssembly text format",
            ),
            (b"\0asm\x01\0\0\0", "a core module"),
            (b"\0asm\x0c\0\x01\0", "another version of the binary format"),
            (b"\0as", "it is not WebAssembly"),
            (b"\0asm\x0d", "truncated after 5 bytes"),
            (b"\0asm\x0d\0\x01\0\0\x7f", "truncated after 10 bytes"),
            (b"\0asm\x0d\0\x01\0\x7f\x01\0", "unknown section id 127"),
        ] {
            let error = inspect(bytes).expect_err(word).to_string();
            assert!(error.contains(word), "{word}: {error}");
        }
        let size = MAX_COMPONENT_BYTES + 1;
        assert_eq!(
            inspect(&vec![0; size]),
            Err(InspectError::TooLarge { size })
        );
    }

    #[test]
    fn the_digest_is_sha256() {
        assert_eq!(
            digest(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
