//! Parses a transcript. Every line is kept as it is written, so that updating the replies changes nothing else.

use std::collections::BTreeMap;

use notehost::config::{LimitSettings, PermissionSettings};
use notehost::vault::Tier;
use serde::Deserialize;

use super::layout::unescaped;

/// A transcript.
pub(crate) struct Script {
    pub(crate) header: Header,
    pub(crate) steps: Vec<Step>,
}

/// The settings in the `#!` lines.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Header {
    /// The enabled components; all if none is listed.
    pub(crate) components: Option<Vec<String>>,
    /// Disabled actions: `document.remove`.
    pub(crate) switched_off: Vec<String>,
    /// The first caller.
    pub(crate) caller: Named,
    /// Permissions of other callers, by notebook.
    pub(crate) callers: BTreeMap<String, BTreeMap<String, Tier>>,
    /// Permissions of everybody.
    pub(crate) permissions: PermissionSettings,
    pub(crate) limits: LimitSettings,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) permissions: BTreeMap<String, Tier>,
}

impl Default for Named {
    fn default() -> Self {
        Named {
            name: "ana".into(),
            permissions: BTreeMap::new(),
        }
    }
}

/// Some lines of a transcript, with their meaning.
pub(crate) struct Step {
    /// The lines without the reply.
    pub(crate) source: String,
    pub(crate) act: StepKind,
    /// The recorded reply.
    pub(crate) recorded: String,
}

pub(crate) enum StepKind {
    /// Comments and blank lines.
    Nothing,
    /// A file that exists in the vault before the host starts.
    Put { path: String, content: Content },
    /// Changes the caller.
    Caller(String),
    /// A call, with its arguments as written.
    Call {
        domain: String,
        action: String,
        arguments: String,
    },
    /// Sets the clock of the components.
    Clock(chrono::DateTime<chrono::FixedOffset>),
    /// Shows a file on disk.
    Show(String),
}

pub(crate) enum Content {
    File(Vec<u8>),
    Folder,
    Link(String),
}

impl Script {
    /// Parses a transcript; panics with the line that is invalid.
    pub(crate) fn parse(text: &str) -> Script {
        let mut header = String::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let act = match line
                .split_at_checked(2)
                .map(|(mark, rest)| (mark, rest.trim()))
            {
                Some(("#!", setting)) => {
                    header.push_str(setting);
                    header.push('\n');
                    StepKind::Nothing
                }
                Some(("# ", _)) => StepKind::Nothing,
                Some(("@ ", name)) => StepKind::Caller(name.to_owned()),
                Some(("~ ", moment)) => StepKind::Clock(
                    chrono::DateTime::parse_from_rfc3339(moment)
                        .unwrap_or_else(|error| panic!("{error}: {moment}")),
                ),
                Some(("= ", path)) => {
                    StepKind::Show(String::from_utf8(unescaped(path).0).expect("a path"))
                }
                Some(("> ", call)) => parse_call(call),
                Some(("==", path)) if path.starts_with("= ") => {
                    let (step, body) = parse_file(path[2..].trim(), &mut lines);
                    steps.push(Step {
                        source: format!("{line}\n{body}"),
                        act: step,
                        recorded: String::new(),
                    });
                    continue;
                }
                _ if matches!(line, "" | "#" | "===") => StepKind::Nothing,
                _ if line.starts_with(['<', '!', '{', '}', '|', '(', ' ']) => {
                    let answered = steps.last_mut().expect("a reply follows its request");
                    answered.recorded.push_str(line);
                    answered.recorded.push('\n');
                    continue;
                }
                _ => panic!("this line means nothing in a transcript: {line}"),
            };
            steps.push(Step {
                source: format!("{line}\n"),
                act,
                recorded: String::new(),
            });
        }
        let header = toml::from_str(&header).unwrap_or_else(|error| panic!("the header: {error}"));
        Script { header, steps }
    }
}

fn parse_call(call: &str) -> StepKind {
    let (name, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
    let (domain, action) = name.split_once('.').expect("domain.action");
    StepKind::Call {
        domain: domain.to_owned(),
        action: action.to_owned(),
        arguments: arguments.to_owned(),
    }
}

/// `Path.md` with its lines up to the next `===`; `Folder/`; `Path.md -> target`.
fn parse_file(
    path: &str,
    lines: &mut std::iter::Peekable<std::str::Lines<'_>>,
) -> (StepKind, String) {
    let name = |path: &str| String::from_utf8(unescaped(path).0).expect("a path");
    if let Some((path, target)) = path.split_once(" -> ") {
        let content = Content::Link(target.to_owned());
        return (
            StepKind::Put {
                path: name(path),
                content,
            },
            String::new(),
        );
    }
    if path.ends_with('/') {
        let content = Content::Folder;
        return (
            StepKind::Put {
                path: name(path),
                content,
            },
            String::new(),
        );
    }
    let (mut source, mut bytes) = (String::new(), Vec::new());
    while let Some(line) = lines.next_if(|line| !line.starts_with("===")) {
        source.push_str(&format!("{line}\n"));
        let (content, ends) = unescaped(line);
        bytes.extend(content);
        if ends {
            bytes.push(b'\n');
        }
    }
    if lines.next_if_eq(&"===").is_some() {
        source.push_str("===\n");
    }
    let content = Content::File(bytes);
    (
        StepKind::Put {
            path: name(path),
            content,
        },
        source,
    )
}
