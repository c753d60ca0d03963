//! The supported clients: the config file of each, and the format of its entries.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use directories::BaseDirs;
use serde_json::{Map, Value, json};

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// The Claude desktop app
    ClaudeDesktop,
    /// Claude Code: prints its command, or writes `.mcp.json` with `--project`
    ClaudeCode,
    /// The editor Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
}

/// How a client reaches the server.
#[derive(Debug)]
pub(super) enum Connection {
    /// It starts this program with these arguments.
    Starts { program: String, words: Vec<String> },
    /// It connects to a running server; the token is in this variable.
    Reaches {
        url: String,
        token_variable: Option<String>,
    },
}

impl Client {
    /// Its display name.
    pub(super) fn title(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "Claude Desktop",
            Client::ClaudeCode => "Claude Code",
            Client::Cursor => "Cursor",
            Client::Vscode => "VS Code",
        }
    }

    /// What the user must do for the client to see a change.
    pub(super) fn afterwards(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "restart Claude Desktop",
            Client::ClaudeCode => "restart `claude` in that folder; `/mcp` shows the server",
            Client::Cursor => "Cursor reloads it by itself; Settings > MCP shows the server",
            Client::Vscode => "VS Code offers to start it; `MCP: List Servers` shows the server",
        }
    }

    /// The section of its file that lists servers.
    pub(super) fn section(self) -> &'static str {
        match self {
            Client::Vscode => "servers",
            _ => "mcpServers",
        }
    }

    /// The user's config file; `None` if the client has none that can be edited.
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

    /// The config file of a project; `None` if the client has none.
    pub(super) fn project_file(self, folder: &Path) -> Option<PathBuf> {
        match self {
            Client::ClaudeDesktop => None,
            Client::ClaudeCode => Some(folder.join(".mcp.json")),
            Client::Cursor => Some(folder.join(".cursor").join("mcp.json")),
            Client::Vscode => Some(folder.join(".vscode").join("mcp.json")),
        }
    }

    /// Whether its file supports servers over HTTP.
    pub(super) fn reaches_servers(self) -> bool {
        self != Client::ClaudeDesktop
    }

    /// The entry in the client's format.
    pub(super) fn entry(self, way: &Connection) -> Value {
        let mut entry = Map::new();
        let mut kind = |name: &str| {
            // Cursor distinguishes them by the other keys, Claude Desktop supports only programs.
            if matches!(self, Client::Vscode | Client::ClaudeCode) {
                entry.insert("type".into(), name.into());
            }
        };
        match way {
            Connection::Starts { program, words } => {
                kind("stdio");
                entry.insert("command".into(), program.as_str().into());
                entry.insert("args".into(), json!(words));
            }
            Connection::Reaches {
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

    /// The reference to an environment variable in this client's file. A token itself is never written there.
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
        let starts = Connection::Starts {
            program: "/bin/notehost".into(),
            words: vec!["serve".into()],
        };
        let reaches = Connection::Reaches {
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
