//! The clients that can be connected: where each keeps its list of servers, and how it writes an entry.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use directories::BaseDirs;
use serde_json::{Map, Value, json};

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// The desktop app of Claude
    ClaudeDesktop,
    /// Claude Code: prints its command, or writes `.mcp.json` with `--project`
    ClaudeCode,
    /// The editor Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
}

/// How the client comes to our server.
#[derive(Debug)]
pub(super) enum Way {
    /// It starts this program with these words.
    Starts { program: String, words: Vec<String> },
    /// The server runs already; a token is taken from this variable.
    Reaches {
        url: String,
        token_variable: Option<String>,
    },
}

impl Client {
    /// What people call it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "Claude Desktop",
            Client::ClaudeCode => "Claude Code",
            Client::Cursor => "Cursor",
            Client::Vscode => "VS Code",
        }
    }

    /// What has to happen before the client sees a change.
    pub(super) fn afterwards(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "quit Claude Desktop and start it again",
            Client::ClaudeCode => "start `claude` anew in that folder; `/mcp` shows the server",
            Client::Cursor => "Cursor takes it up by itself; Settings, MCP shows the server",
            Client::Vscode => "VS Code offers to start it; `MCP: List Servers` shows the server",
        }
    }

    /// The part of its file that lists servers.
    pub(super) fn section(self) -> &'static str {
        match self {
            Client::Vscode => "servers",
            _ => "mcpServers",
        }
    }

    /// The file of its user on this machine; `None` where the client keeps that list to itself.
    pub(super) fn file(self) -> Option<PathBuf> {
        let base = BaseDirs::new()?;
        match self {
            Client::ClaudeDesktop => Some(
                base.config_dir()
                    .join("Claude")
                    .join("claude_desktop_config.json"),
            ),
            Client::ClaudeCode => None,
            Client::Cursor => Some(base.home_dir().join(".cursor").join("mcp.json")),
            Client::Vscode => Some(base.config_dir().join("Code").join("User").join("mcp.json")),
        }
    }

    /// The file for a project; `None` where the client has none.
    pub(super) fn project_file(self, folder: &Path) -> Option<PathBuf> {
        match self {
            Client::ClaudeDesktop => None,
            Client::ClaudeCode => Some(folder.join(".mcp.json")),
            Client::Cursor => Some(folder.join(".cursor").join("mcp.json")),
            Client::Vscode => Some(folder.join(".vscode").join("mcp.json")),
        }
    }

    /// Whether it can come to a server that runs already by what its file says.
    pub(super) fn reaches_servers(self) -> bool {
        self != Client::ClaudeDesktop
    }

    /// The entry as this client writes it.
    pub(super) fn entry(self, way: &Way) -> Value {
        let mut entry = Map::new();
        let mut kind = |name: &str| {
            // Cursor tells them apart by what else is there, Claude Desktop knows only programs.
            if matches!(self, Client::Vscode | Client::ClaudeCode) {
                entry.insert("type".into(), name.into());
            }
        };
        match way {
            Way::Starts { program, words } => {
                kind("stdio");
                entry.insert("command".into(), program.as_str().into());
                entry.insert("args".into(), json!(words));
            }
            Way::Reaches {
                url,
                token_variable,
            } => {
                kind("http");
                entry.insert("url".into(), url.as_str().into());
                if let Some(name) = token_variable {
                    let shown = format!("Bearer {}", self.variable(name));
                    entry.insert("headers".into(), json!({ "Authorization": shown }));
                }
            }
        }
        entry.into()
    }

    /// How the value of a variable is written in this client's file. A token itself is never written there.
    fn variable(self, name: &str) -> String {
        match self {
            Client::ClaudeDesktop | Client::ClaudeCode => format!("${{{name}}}"),
            Client::Cursor | Client::Vscode => format!("${{env:{name}}}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_form() {
        let starts = Way::Starts {
            program: "/bin/notehost".into(),
            words: vec!["serve".into()],
        };
        let reaches = Way::Reaches {
            url: "https://notes.example/mcp".into(),
            token_variable: Some("TOKEN".into()),
        };
        assert_eq!(
            Client::Vscode.entry(&starts),
            json!({"type": "stdio", "command": "/bin/notehost", "args": ["serve"]})
        );
        assert_eq!(
            Client::ClaudeDesktop.entry(&starts),
            json!({"command": "/bin/notehost", "args": ["serve"]})
        );
        assert_eq!(
            Client::Cursor.entry(&reaches),
            json!({"url": "https://notes.example/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}})
        );
        assert_eq!(
            Client::ClaudeCode.entry(&reaches),
            json!({"type": "http", "url": "https://notes.example/mcp",
                "headers": {"Authorization": "Bearer ${TOKEN}"}})
        );
    }
}
