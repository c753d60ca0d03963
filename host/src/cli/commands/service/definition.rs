//! The text of a service file: a unit of systemd, or a property list of launchd. Each has its own rules of quoting; what
//! cannot be quoted is refused.

use crate::cli::commands::service::manager::Manager;
use crate::cli::ui::failure::Failure;

/// The line by which a file is recognized as written here.
const MARK: &str =
    "Written by `notehost service install`; `notehost service uninstall` removes it.";

/// What a service runs.
pub(super) struct Definition {
    /// The path of the program.
    pub(super) program: String,
    /// Its arguments.
    pub(super) words: Vec<String>,
    /// Where its output goes, where the manager has no log of its own.
    pub(super) log: Option<String>,
}

/// Whether a service file was written here.
pub(super) fn is_ours(text: &str) -> bool {
    text.lines().take(5).any(|line| line.contains(MARK))
}

impl Definition {
    /// The service file.
    pub(super) fn text(&self, manager: Manager) -> Result<String, Failure> {
        let mut all = self.words.iter().chain([&self.program]).chain(&self.log);
        // A line break would begin another setting.
        if let Some(word) = all.find(|word| word.chars().any(char::is_control)) {
            return Err(Failure::usage(format!(
                "{word:?} contains control characters and cannot be written to a service file"
            )));
        }
        match manager {
            Manager::Systemd => self.unit(),
            Manager::Launchd => Ok(self.property_list()),
        }
    }

    fn unit(&self) -> Result<String, Failure> {
        if self.program.contains(['"', '\'', '\\']) {
            return Err(Failure::usage(format!(
                "systemd does not start programs with quotes or backslashes in their path: `{}`",
                self.program
            )));
        }
        // Variables are only replaced in arguments.
        let mut line = format!("\"{}\"", self.program.replace('%', "%%"));
        for word in &self.words {
            line.push(' ');
            line.push_str(&unit_word(word));
        }
        Ok(format!(
            "# {MARK}\n\n[Unit]\nDescription=Notehost, an MCP server for notes\nStartLimitIntervalSec=120\nStartLimitBurst=5\n\n\
             [Service]\nType=exec\nExecStart={line}\nRestart=on-failure\nRestartSec=5\nRestartPreventExitStatus=2\nUMask=0077\n\
             NoNewPrivileges=yes\n\n[Install]\nWantedBy=default.target\n"
        ))
    }

    fn property_list(&self) -> String {
        let all = [&self.program].into_iter().chain(&self.words);
        let words: String = all
            .map(|word| format!("\t\t<string>{}</string>\n", xml_text(word)))
            .collect();
        let log = self.log.as_ref().map_or(String::new(), |log| {
            let log = xml_text(log);
            format!("\t<key>StandardErrorPath</key>\n\t<string>{log}</string>\n")
        });
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<!-- {MARK} -->\n<plist version=\"1.0\">\n<dict>\n\
             \t<key>Label</key>\n\t<string>{label}</string>\n\t<key>ProgramArguments</key>\n\t<array>\n{words}\t</array>\n\
             \t<key>RunAtLoad</key>\n\t<true/>\n\t<key>KeepAlive</key>\n\t<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\
             \t</dict>\n\t<key>ThrottleInterval</key>\n\t<integer>10</integer>\n\t<key>Umask</key>\n\t<integer>63</integer>\n\
             {log}</dict>\n</plist>\n",
            label = super::manager::LABEL,
        )
    }
}

/// An argument as systemd reads it: quoted, with escapes, without specifiers and variables.
fn unit_word(word: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '%' | '$' => quoted.extend([letter, letter]),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

fn xml_text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The command in a service file, as its manager writes it; for people.
pub(super) fn command(manager: Manager, text: &str) -> Option<String> {
    match manager {
        Manager::Systemd => {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("ExecStart="));
            line.map(str::to_owned)
        }
        Manager::Launchd => {
            let (_, rest) = text.split_once("<key>ProgramArguments</key>")?;
            let (array, _) = rest.split_once("</array>")?;
            let words = array.split("<string>").skip(1);
            let words = words.filter_map(|word| Some(word.split_once("</string>")?.0));
            Some(words.collect::<Vec<_>>().join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(program: &str, word: &str) -> Definition {
        Definition {
            program: program.to_owned(),
            words: vec!["serve".to_owned(), word.to_owned()],
            log: None,
        }
    }

    #[test]
    fn units_quote_spaces_specifiers_and_variables() {
        let odd = "/a b/100%h $HOME \"q\" 'r' \\n;";
        let unit = definition("/opt/a b/50% $x/notehost", odd);
        let unit = unit.text(Manager::Systemd).expect("a unit");
        let expected = "ExecStart=\"/opt/a b/50%% $x/notehost\" \"serve\" \"/a b/100%%h $$HOME \\\"q\\\" 'r' \\\\n;\"";
        assert!(unit.lines().any(|line| line == expected), "{unit}");
        assert!(is_ours(&unit));
        for program in ["/a\"b", "/it's", "/a\\b"] {
            assert!(definition(program, "x").text(Manager::Systemd).is_err());
        }
    }

    #[test]
    fn property_lists_escape_markup() {
        let text = definition("/a&b/<notehost>", "x]]>").text(Manager::Launchd);
        let text = text.expect("a property list");
        assert!(
            text.contains("<string>/a&amp;b/&lt;notehost&gt;</string>"),
            "{text}"
        );
        assert!(text.contains("<string>x]]&gt;</string>"), "{text}");
        assert!(is_ours(&text));
    }

    #[test]
    fn line_breaks_are_refused() {
        for manager in [Manager::Systemd, Manager::Launchd] {
            for word in ["a\nExecStartPost=/bin/sh", "a\rb", "a\u{85}b"] {
                assert!(
                    definition("/notehost", word).text(manager).is_err(),
                    "{word:?}"
                );
            }
        }
    }
}
