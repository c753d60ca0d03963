//! Drives `notehost component dev` in tests.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::tools::author;

/// More than a build and a compilation take on a busy machine; only a hang reaches it.
const TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// A running `notehost component dev`, with its output.
pub(super) struct Dev {
    program: Child,
    output: Arc<Mutex<Vec<String>>>,
    answers: Option<BufReader<ChildStdout>>,
}

impl Dev {
    /// Starts it in a project's folder, with more arguments and variables.
    pub(super) fn start(project: &Path, arguments: &[&str], variables: &[(&str, PathBuf)]) -> Dev {
        let mut command = author(crate::support::program(), project);
        let mut program = command
            .args(["component", "dev", "."])
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = Arc::new(Mutex::new(Vec::new()));
        let (lines, heard) = (
            BufReader::new(program.stderr.take().expect("its stderr")),
            output.clone(),
        );
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                heard.lock().expect("no panic").push(line);
            }
        });
        let answers = program.stdout.take().map(BufReader::new);
        Dev {
            program,
            output,
            answers,
        }
    }

    /// The output so far.
    pub(super) fn output(&self) -> String {
        self.output.lock().expect("no panic").join("\n")
    }

    /// Waits until the output contains this text this many times.
    #[track_caller]
    pub(super) fn wait_for(&self, words: &str, times: usize) {
        let deadline = Instant::now() + TIMEOUT;
        while self.output().matches(words).count() < times {
            let output = self.output();
            let has_failed = output.contains("error: ") && !words.contains("goes on") && times == 1;
            assert!(
                !has_failed && Instant::now() < deadline,
                "no `{words}`:\n{output}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Types a line and returns the reply.
    pub(super) fn call(&mut self, line: &str) -> Value {
        let input = self.program.stdin.as_mut().expect("its stdin");
        writeln!(input, "{line}").expect("it reads");
        let mut answer = String::new();
        let answers = self.answers.as_mut().expect("its stdout");
        answers.read_line(&mut answer).expect("it answers");
        serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}\n{}", self.output()))
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
