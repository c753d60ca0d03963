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

/// What the program prints after a build that failed.
const FAILED_BUILD: &str = "is still loaded; waiting for a change";
/// How compilers and the program begin an error.
const BUILD_ERROR: &str = "error: ";

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
        let (lines, received) = (
            BufReader::new(program.stderr.take().expect("its stderr")),
            output.clone(),
        );
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                received.lock().expect("no panic").push(line);
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

    /// Waits until the output contains this text this many times. If no build is expected to have failed, the first error
    /// ends the wait.
    #[track_caller]
    pub(super) fn wait_for(&self, words: &str, times: usize) {
        let builds_so_far_succeed = !self.output().contains(FAILED_BUILD);
        self.wait(words, times, |output| {
            builds_so_far_succeed && output.contains(BUILD_ERROR)
        });
    }

    /// Waits until a build has failed and the program goes on with the component that it had.
    #[track_caller]
    pub(super) fn wait_for_failed_build(&self) {
        self.wait(FAILED_BUILD, 1, |_| false);
    }

    #[track_caller]
    fn wait(&self, words: &str, times: usize, is_hopeless: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let output = self.output();
            if output.matches(words).count() >= times {
                return;
            }
            assert!(
                !is_hopeless(&output) && Instant::now() < deadline,
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
