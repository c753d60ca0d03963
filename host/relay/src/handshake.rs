//! The first line in each direction on a local socket: who connects, with which settings, and whether the holder accepts it.
//! The line is versioned; programs of different versions work together if their ranges of protocols overlap.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notehost_config::{SessionSettings, Settings, vault_sections};
use notehost_platform::local_socket::{self, LocalStream};
use notehost_platform::private;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use crate::SETTINGS_METHOD;
use crate::lines::Lines;

/// The newest protocol of this program, and the oldest that it still speaks.
pub const PROTOCOL: u32 = 1;
const OLDEST_PROTOCOL: u32 = 1;

/// The maximum size of the line; permissions can be long.
const MAX_LINE_BYTES: usize = 1 << 20;
/// How long the other end may take for its line.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How many messages for a person are passed on.
const MAX_NOTES: usize = 20;

/// The folder of the sockets, in the state folder.
const SOCKETS: &str = "sockets";
/// How much of the digest names a socket: paths of sockets are short.
const KEY_CHARS: usize = 24;

/// Identifies the folder of a vault on this machine, whatever id a config gives it.
pub fn vault_key(folder: &Path) -> io::Result<String> {
    let canonical = folder.canonicalize()?;
    let digest = blake3::hash(canonical.as_os_str().as_encoded_bytes()).to_hex();
    Ok(digest[..KEY_CHARS].to_owned())
}

/// The socket of the process that holds the vault with this key. Its folder is created if `state` exists.
pub fn socket_of(state: &Path, key: &str) -> io::Result<PathBuf> {
    let folder = state.join(SOCKETS);
    private::create_folder(&folder)?;
    Ok(folder.join(format!("{key}.sock")))
}

/// What every version of the line has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Compatibility {
    /// The newest protocol that the program speaks.
    #[serde(rename = "notehost")]
    pub protocol: u32,
    /// The oldest one.
    pub oldest: u32,
    /// The program's version.
    pub version: String,
    /// Its process.
    pub process: u32,
}

impl Compatibility {
    /// Of this program.
    pub fn own() -> Compatibility {
        Compatibility {
            protocol: PROTOCOL,
            oldest: OLDEST_PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
        }
    }

    /// Why a holder refuses a program, if their protocols do not overlap.
    fn refusal(&self, newcomer: &Compatibility) -> Option<Refusal> {
        if newcomer.oldest <= self.protocol && self.oldest <= newcomer.protocol {
            return None;
        }
        let message = format!(
            "the vault is served by process {}, which is Notehost {}; this program is Notehost {} and cannot use it",
            self.process, self.version, newcomer.version
        );
        let hint = match newcomer.oldest > self.protocol {
            true => format!(
                "restart the program that started process {}, so that it runs the newer Notehost",
                self.process
            ),
            false => "update this program, or start the one that process uses".to_owned(),
        };
        Some(Refusal { message, hint })
    }
}

/// Who connects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// `notehost serve`, for the client on its stdio.
    Serve,
    /// The command line, for the person at the terminal or as another caller.
    CommandLine {
        /// The caller of `--caller`.
        caller: Option<String>,
    },
}

/// The line of the program that connects.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// Its version.
    #[serde(flatten)]
    pub compatibility: Compatibility,
    /// Who connects.
    pub role: Role,
    /// Identifies its session, also after the holder changed. Random: nobody else can know it.
    pub session: String,
    /// The keys of its vaults, by the ids that its config gives them.
    pub vaults: BTreeMap<String, String>,
    /// The settings of its session.
    pub settings: SessionSettings,
    /// Digests of its settings that the holder decides, by section.
    pub sections: BTreeMap<String, String>,
}

impl Hello {
    /// The line of a session under these settings.
    pub fn new(role: Role, session: &str, settings: &Settings) -> io::Result<Hello> {
        let mut vaults = BTreeMap::new();
        for vault in &settings.vaults {
            vaults.insert(vault.id.clone(), vault_key(&vault.path)?);
        }
        Ok(Hello {
            compatibility: Compatibility::own(),
            role,
            session: session.to_owned(),
            vaults,
            settings: SessionSettings::of(settings),
            sections: section_digests(settings),
        })
    }

    /// The sections in which the holder's config differs.
    pub fn contradictions(&self, holder: &Settings) -> Vec<String> {
        let holder = section_digests(holder);
        let differs = |(name, digest): &(&String, &String)| holder.get(*name) != Some(*digest);
        let differing = self.sections.iter().filter(differs);
        differing
            .filter(|(name, _)| holder.contains_key(*name))
            .map(|(name, _)| name.clone())
            .collect()
    }
}

fn section_digests(settings: &Settings) -> BTreeMap<String, String> {
    let sections = vault_sections(settings).into_iter();
    let digest = |text: String| blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
    sections.map(|(name, text)| (name, digest(text))).collect()
}

/// A vault that a holder serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedVault {
    /// Its id in the holder's config.
    pub id: String,
    /// Its key.
    pub key: String,
}

/// The holder's line for a session that it accepts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Welcome {
    /// The holder's version.
    #[serde(flatten)]
    pub compatibility: Compatibility,
    /// The holder's ids of the session's vaults, by the session's own.
    pub vaults: BTreeMap<String, String>,
    /// Sentences for the person who started the session.
    pub notes: Vec<String>,
}

/// The parameters of the notification by which a program changes the settings of its session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SettingsUpdate {
    /// Its session. The program's client, whose messages come on the same connection, does not know it.
    pub session: String,
    /// The settings.
    pub settings: SessionSettings,
}

impl SettingsUpdate {
    /// The notification as a line.
    pub fn to_line(&self) -> Vec<u8> {
        let notification = serde_json::json!({
            "jsonrpc": "2.0",
            "method": SETTINGS_METHOD,
            "params": self,
        });
        format!("{notification}\n").into_bytes()
    }
}

/// The holder's line for a session that it refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub message: String,
    /// What a person can do.
    pub hint: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Accepted(Box<Welcome>),
    Refused(Refusal),
}

/// Reads the line of a program that has connected, and answers it with what `decide` says. `None` if it was refused.
pub async fn greet(
    mut stream: LocalStream,
    decide: impl FnOnce(&Hello) -> Result<Welcome, Refusal>,
) -> io::Result<Option<(Hello, LocalStream)>> {
    let line = first_line(&mut stream).await?;
    let invalid = |error: serde_json::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let newcomer: Compatibility = serde_json::from_slice(&line).map_err(invalid)?;
    let (answer, hello) = match Compatibility::own().refusal(&newcomer) {
        Some(refusal) => (Answer::Refused(refusal), None),
        None => {
            let hello: Hello = serde_json::from_slice(&line).map_err(invalid)?;
            match decide(&hello) {
                Ok(welcome) => (Answer::Accepted(Box::new(welcome)), Some(hello)),
                Err(refusal) => (Answer::Refused(refusal), None),
            }
        }
    };
    send_line(&mut stream, &answer).await?;
    Ok(hello.map(|hello| (hello, stream)))
}

/// Connects to the holder of one of the session's vaults. `Ok(None)` if nobody listens.
pub async fn connect(
    state: &Path,
    hello: &Hello,
) -> io::Result<Option<Result<(LocalStream, Welcome), Refusal>>> {
    for key in hello.vaults.values() {
        let socket = state.join(SOCKETS).join(format!("{key}.sock"));
        let mut stream = match local_socket::connect(&socket).await {
            Ok(stream) => stream,
            Err(error) if local_socket::is_absent(&error) => continue,
            Err(error) => return Err(error),
        };
        send_line(&mut stream, hello).await?;
        let line = first_line(&mut stream).await?;
        let answer: Answer = serde_json::from_slice(&line)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        return Ok(Some(match answer {
            Answer::Refused(refusal) => Err(refusal),
            Answer::Accepted(mut welcome) => {
                welcome.notes.truncate(MAX_NOTES);
                Ok((stream, *welcome))
            }
        }));
    }
    Ok(None)
}

async fn send_line(stream: &mut LocalStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    timeout(TIMEOUT, stream.write_all(&line)).await?
}

/// The first line. Nothing follows it before it is answered.
async fn first_line(stream: &mut LocalStream) -> io::Result<Vec<u8>> {
    let mut lines = Lines::new(stream, MAX_LINE_BYTES);
    let line = timeout(TIMEOUT, lines.next()).await??;
    let line = line.ok_or(io::ErrorKind::UnexpectedEof)?;
    match line.ends_with(b"\n") && lines.into_parts().0.is_empty() {
        true => Ok(line),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the first line on the local socket is too long, or not the only one",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(oldest: u32, protocol: u32) -> Compatibility {
        Compatibility {
            protocol,
            oldest,
            version: format!("{protocol}.0"),
            process: 7,
        }
    }

    #[test]
    fn programs_with_a_common_protocol_work_together() {
        let holder = program(2, 3);
        for (oldest, newest) in [(1, 2), (2, 2), (3, 9), (1, 9)] {
            assert_eq!(holder.refusal(&program(oldest, newest)), None);
        }
        let newer = holder.refusal(&program(4, 5)).expect("refused");
        assert!(newer.message.contains("process 7") && newer.hint.contains("restart"));
        let older = holder.refusal(&program(1, 1)).expect("refused");
        assert!(older.hint.contains("update this program"), "{older:?}");
    }

    #[test]
    fn a_later_version_of_the_line_can_be_read() {
        let hello = Hello::new(Role::Serve, "s", &Settings::default()).expect("a line");
        let mut text = serde_json::to_value(&hello).expect("JSON");
        text["later"] = serde_json::json!({"a": 1});
        let read: Hello = serde_json::from_value(text).expect("read");
        assert_eq!((read.session.as_str(), read.role), ("s", Role::Serve));
        assert!(read.compatibility.protocol == PROTOCOL);
    }

    #[test]
    fn a_folder_has_one_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = |path: &Path| vault_key(path).expect("a key");
        let name = folder.path().file_name().expect("a name");
        assert_eq!(
            key(folder.path()),
            key(&folder.path().join("..").join(name))
        );
        assert_eq!(key(folder.path()).len(), KEY_CHARS);
    }
}
