//! Who calls. Credentials (tokens, JWT) are checked here as well once they exist; nothing else makes a [`Caller`].

/// How a call came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// From the process that started us: its trust is the parent's.
    Stdio,
    /// Over HTTP, from loopback.
    Http,
    /// From `notehost call`.
    CommandLine,
}

/// Who calls, as far as every later stage needs to know.
#[derive(Debug, Clone)]
pub struct Caller {
    name: String,
    entrance: Entrance,
}

impl Caller {
    /// The process that started us over stdio.
    pub fn stdio() -> Caller {
        Caller {
            name: "stdio".into(),
            entrance: Entrance::Stdio,
        }
    }

    /// Whoever reaches an unauthenticated loopback address.
    pub fn loopback() -> Caller {
        Caller {
            name: "http".into(),
            entrance: Entrance::Http,
        }
    }

    /// The person at the terminal; `name` picks a named caller of the config.
    pub fn command_line(name: Option<&str>) -> Caller {
        Caller {
            name: name.unwrap_or("cli").into(),
            entrance: Entrance::CommandLine,
        }
    }

    /// The name under which the config may give it permissions of its own.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it came in.
    pub fn entrance(&self) -> Entrance {
        self.entrance
    }
}
