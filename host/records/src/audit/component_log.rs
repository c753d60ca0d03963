//! The logs of components (printed and logged lines): two files of bounded size per component, the older one
//! replaced whenever the newer one is full. A separate thread writes them. Calls do not wait for it: if a
//! component logs faster than the thread can write, lines of that component are dropped.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde::Serialize;

use crate::when;
use notehost_platform::clock::now_ms;
use notehost_platform::{files, private};

/// The maximum size of each of a component's two files.
const MAX_FILE_BYTES: u64 = 256 << 10;
/// The maximum size of the pending lines of a component; more are dropped.
const MAX_PENDING_BYTES: usize = 64 << 10;
/// How long lines are batched before they are written.
const BATCH_DELAY: Duration = Duration::from_millis(50);

/// Writes the logs of components.
pub struct ComponentLogs {
    folder: PathBuf,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Waiting>,
    /// Signals pending lines, a flush request or the end.
    work: Condvar,
    /// Signals written lines.
    done: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: HashMap<Arc<str>, Pending>,
    is_writing: bool,
    hurry: bool,
    ending: bool,
}

#[derive(Default)]
struct Pending {
    text: String,
    dropped: u64,
}

impl ComponentLogs {
    /// Logs in this folder, which is created with the first line.
    pub fn new(folder: &Path) -> ComponentLogs {
        ComponentLogs {
            folder: folder.to_owned(),
            shared: Arc::default(),
            thread: Mutex::default(),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a line. `stream` is its source (`stdout`, `stderr`, or a level), `call` the id of the call; the
    /// line itself is untrusted.
    pub fn write(&self, component: &Arc<str>, stream: &str, call: &str, line: &str) {
        // The name becomes a file name.
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if component.is_empty() || !component.chars().all(is_plain) {
            return;
        }
        let mut waiting = self.shared.state.lock();
        let is_first = waiting.lines.is_empty();
        let pending = waiting.lines.entry(component.clone()).or_default();
        if pending.text.len() + line.len() > MAX_PENDING_BYTES {
            pending.dropped += 1;
        } else {
            put(&mut pending.text, stream, call, line);
        }
        drop(waiting);
        if is_first {
            self.start();
            self.shared.work.notify_one();
        }
    }

    /// Waits until everything is written.
    pub fn flush(&self) {
        let mut waiting = self.shared.state.lock();
        while !waiting.lines.is_empty() || waiting.is_writing {
            waiting.hurry = true;
            self.shared.work.notify_one();
            self.shared.done.wait_for(&mut waiting, BATCH_DELAY);
            if !self.is_running() {
                return;
            }
        }
    }

    fn is_running(&self) -> bool {
        let thread = self.thread.lock();
        thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    fn start(&self) {
        let mut thread = self.thread.lock();
        if thread.is_some() {
            return;
        }
        let (folder, shared) = (self.folder.clone(), self.shared.clone());
        let started = std::thread::Builder::new()
            .name("notehost-components-log".into())
            .spawn(move || keep(&folder, &shared));
        *thread = started
            .inspect_err(|error| tracing::error!("component logs are not written: {error}"))
            .ok();
    }
}

impl Drop for ComponentLogs {
    fn drop(&mut self) {
        self.shared.state.lock().ending = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.get_mut().take() {
            let _ = thread.join();
        }
    }
}

/// Writes pending lines, until it is stopped and nothing is pending.
fn keep(folder: &Path, shared: &Shared) {
    loop {
        let mut waiting = shared.state.lock();
        let is_idle = |waiting: &mut Waiting| waiting.lines.is_empty() && !waiting.ending;
        shared.work.wait_while(&mut waiting, is_idle);
        let is_early = |waiting: &mut Waiting| !waiting.hurry && !waiting.ending;
        shared
            .work
            .wait_while_for(&mut waiting, is_early, BATCH_DELAY);
        let lines = std::mem::take(&mut waiting.lines);
        let ending = waiting.ending;
        waiting.hurry = false;
        waiting.is_writing = true;
        drop(waiting);
        for (component, mut pending) in lines {
            if pending.dropped > 0 {
                let notice = format!(
                    "{} lines were dropped because they came too fast",
                    pending.dropped
                );
                put(&mut pending.text, "notehost", "", &notice);
            }
            if let Err(error) = append(folder, &component, &pending.text) {
                tracing::warn!(
                    component = &*component,
                    "cannot write the component's log: {error}"
                );
            }
        }
        let mut waiting = shared.state.lock();
        waiting.is_writing = false;
        let is_all = waiting.lines.is_empty();
        drop(waiting);
        shared.done.notify_all();
        if ending && is_all {
            return;
        }
    }
}

/// Formats a line of the file: time, stream, call, text.
fn put(text: &mut String, stream: &str, call: &str, line: &str) {
    text.push_str(&when::iso(now_ms()));
    for part in [stream, call] {
        text.push('\t');
        text.push_str(part);
    }
    text.push('\t');
    for letter in line.chars() {
        match letter {
            '"' | '\'' | '\\' => text.push(letter),
            // Controlled by the component: control and hidden characters are escaped.
            other => text.extend(other.escape_debug()),
        }
    }
    text.push('\n');
}

fn append(folder: &Path, component: &str, text: &str) -> io::Result<()> {
    private::create_folder(folder)?;
    let path = newer(folder, component);
    let mut file = open(&path)?;
    if file.metadata()?.len() + text.len() as u64 > MAX_FILE_BYTES {
        fs::rename(&path, older(folder, component))?;
        file = open(&path)?;
    }
    file.write_all(text.as_bytes())
}

fn newer(folder: &Path, component: &str) -> PathBuf {
    folder.join(format!("{component}.log"))
}

fn older(folder: &Path, component: &str) -> PathBuf {
    folder.join(format!("{component}.log.1"))
}

fn open(path: &Path) -> io::Result<File> {
    // Logs may contain text of notes, so they are private.
    private::options().append(true).create(true).open(path)
}

/// A line of a component's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    /// The time.
    pub time: String,
    /// `stdout`, `stderr`, or the log level; `notehost` is the host itself.
    pub stream: String,
    /// The id of the call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// The text, with control characters escaped.
    pub text: String,
}

impl LogLine {
    fn parse(line: &str) -> Option<LogLine> {
        let mut parts = line.splitn(4, '\t').map(str::to_owned);
        Some(LogLine {
            time: parts.next()?,
            stream: parts.next()?,
            call: parts.next()?,
            text: parts.next()?,
        })
    }
}

/// The last lines of a component's log, and a follower for the lines after them.
pub fn log_lines(
    folder: &Path,
    component: &str,
    most: usize,
) -> io::Result<(Vec<LogLine>, LogFollower)> {
    let mut follower = LogFollower {
        newer: newer(folder, component),
        older: older(folder, component),
        file: None,
        read: 0,
    };
    let mut lines = match File::open(&follower.older) {
        Ok(mut file) => read_from(&mut file, 0)?.0,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    lines.extend(follower.more()?);
    lines.drain(..lines.len().saturating_sub(most));
    Ok((lines, follower))
}

/// Follows a component's log from a position.
pub struct LogFollower {
    newer: PathBuf,
    older: PathBuf,
    /// The file that was read, and the position in it.
    file: Option<u64>,
    read: u64,
}

impl LogFollower {
    /// The lines since the last call.
    pub fn more(&mut self) -> io::Result<Vec<LogLine>> {
        let mut lines = Vec::new();
        let opened = match File::open(&self.newer) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let Some(mut file) = opened else {
            return Ok(lines);
        };
        let number = files::number(&file)?;
        if self.file != Some(number) {
            // The file was full and has been renamed: its unread lines are there.
            if let (Some(known), Ok(mut before)) = (self.file, File::open(&self.older))
                && files::number(&before)? == known
            {
                lines = read_from(&mut before, self.read)?.0;
            }
            (self.file, self.read) = (Some(number), 0);
        }
        let (new, end) = read_from(&mut file, self.read)?;
        self.read = end;
        lines.extend(new);
        Ok(lines)
    }
}

/// The complete lines from a position, and their end.
fn read_from(file: &mut File, from: u64) -> io::Result<(Vec<LogLine>, u64)> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES * 2).read_to_end(&mut bytes)?;
    let end = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let text = String::from_utf8_lossy(&bytes[..end]);
    let lines = text.lines().filter_map(LogLine::parse).collect();
    Ok((lines, from + end as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[LogLine]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn log_lines_are_found_and_followed() {
        let state = tempfile::tempdir().expect("a folder");
        let folder = state.path().join("logs");
        let name: Arc<str> = Arc::from("echo");
        let logs = ComponentLogs::new(&folder);
        let (none, mut follower) = log_lines(&folder, "echo", 10).expect("no file");
        assert!(none.is_empty());
        logs.write(&name, "stderr", "say#1", "one \x1b[2J\t\"two\" 日本");
        logs.write(&Arc::from("../evil"), "stderr", "", "nowhere");
        logs.flush();
        let lines = follower.more().expect("lines");
        assert_eq!(texts(&lines), ["one \\u{1b}[2J\\t\"two\" 日本"]);
        assert_eq!((&*lines[0].stream, &*lines[0].call), ("stderr", "say#1"));
        logs.write(&name, "info", "", "three");
        drop(logs);
        assert_eq!(texts(&follower.more().expect("lines")), ["three"]);
        assert_eq!(
            texts(&log_lines(&folder, "echo", 1).expect("lines").0),
            ["three"]
        );
        assert_eq!(fs::read_dir(&folder).expect("files").count(), 1);
        assert!(!state.path().join("evil.log").exists());
    }

    #[test]
    fn the_log_is_bounded_and_followers_miss_no_line() {
        let state = tempfile::tempdir().expect("a folder");
        let name: Arc<str> = Arc::from("loud");
        let logs = ComponentLogs::new(state.path());
        let (_, mut follower) = log_lines(state.path(), "loud", 0).expect("no file");
        let mut followed = Vec::new();
        for round in 0..40 {
            for number in 0..20 {
                logs.write(
                    &name,
                    "stdout",
                    "",
                    &format!("{round}.{number} {}", "x".repeat(900)),
                );
            }
            logs.flush();
            followed.extend(follower.more().expect("lines"));
        }
        assert_eq!(followed.len(), 800);
        for file in [newer(state.path(), "loud"), older(state.path(), "loud")] {
            let size = fs::metadata(file).expect("a file").len();
            assert!(size <= MAX_FILE_BYTES && size > 0, "{size}");
        }
        // Too fast: what does not fit is counted, and others are not touched.
        let other: Arc<str> = Arc::from("quiet");
        logs.write(&name, "stdout", "", &"x".repeat(MAX_PENDING_BYTES + 1));
        logs.write(&other, "stdout", "", "a word");
        logs.flush();
        let (lines, _) = log_lines(state.path(), "loud", 1).expect("lines");
        assert!(
            lines[0].text.starts_with("1 lines were dropped"),
            "{lines:?}"
        );
        let (lines, _) = log_lines(state.path(), "quiet", 9).expect("lines");
        assert_eq!(texts(&lines), ["a word"]);
    }
}
