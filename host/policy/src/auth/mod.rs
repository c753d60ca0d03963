//! Who calls. Over stdio it is the process that started us, over HTTP whoever shows a token; nothing else makes a
//! [`Caller`].

mod authenticator;
mod jwt;
mod keys;
mod owner;
mod scopes;
mod tokens;

pub use authenticator::{AuthError, Authenticator, Refused};
#[cfg(fuzzing)]
#[doc(hidden)]
pub use keys::fuzz_keys;
pub use owner::OwnerToken;
pub use scopes::{Scope, Scopes, UnknownScope};
pub use tokens::{NewToken, TOKENS_TABLE, Token, TokenError, Tokens};

use std::sync::Arc;

use notehost_config::CallerPermissions;
use notehost_records::database::now_ms;

/// How a call came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// From the process that started us: its trust is the parent's.
    Stdio,
    /// Over HTTP.
    Http,
    /// From `notehost call`.
    CommandLine,
}

impl Entrance {
    /// The word for it in records.
    pub fn word(self) -> &'static str {
        match self {
            Entrance::Stdio => "stdio",
            Entrance::Http => "http",
            Entrance::CommandLine => "cli",
        }
    }
}

/// How somebody proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Not at all: the place they call from is trusted.
    Place,
    /// With a token of `notehost token new`.
    Token,
    /// With a signed token of an issuer.
    Signed,
}

/// The name of the token that is made at the first start.
pub const OWNER: &str = "owner";

/// The names of callers that show no token. No token may be for one of them: the config may trust them with more.
const NAMES_OF_PLACES: [&str; 3] = ["stdio", "http", "cli"];

/// Who calls, as far as every later stage needs to know.
#[derive(Debug, Clone)]
pub struct Caller {
    name: Arc<str>,
    entrance: Entrance,
    scopes: Scopes,
    /// The vaults it is bound to; `None` is all of them.
    vaults: Option<Arc<[String]>>,
    /// What its token says about notebooks.
    permissions: Option<Arc<CallerPermissions>>,
    proof: Proof,
    /// When its token ends, in milliseconds since 1970; `None` is never.
    expires: Option<i64>,
    /// What its token says: whether its client is trusted to ask its user.
    attended: bool,
}

impl Caller {
    /// The process that started us over stdio.
    pub fn stdio() -> Caller {
        Caller::named("stdio", Entrance::Stdio, Scopes::everything_but_admin())
    }

    /// Whoever reaches an unauthenticated loopback address.
    pub fn loopback() -> Caller {
        Caller::named("http", Entrance::Http, Scopes::everything_but_admin())
    }

    /// Nobody, who may do nothing.
    pub fn nobody() -> Caller {
        Caller::named("nobody", Entrance::Http, Scopes::default())
    }

    /// The person at the terminal; `name` picks a named caller of the config.
    pub fn command_line(name: Option<&str>) -> Caller {
        // Who can run this program on the state folder can do everything that an admin can.
        Caller::named(
            name.unwrap_or("cli"),
            Entrance::CommandLine,
            Scopes::everything(),
        )
    }

    /// Somebody who showed a token over HTTP.
    pub fn with_token(
        name: &str,
        scopes: Scopes,
        vaults: Option<Vec<String>>,
        permissions: Option<CallerPermissions>,
    ) -> Caller {
        Caller {
            vaults: vaults.map(Arc::from),
            permissions: permissions.map(Arc::new),
            proof: Proof::Token,
            ..Caller::named(name, Entrance::Http, scopes)
        }
    }

    /// Somebody who showed an issuer's signed token over HTTP.
    fn with_signed_token(
        name: &str,
        scopes: Scopes,
        vaults: Option<Vec<String>>,
        permissions: Option<CallerPermissions>,
    ) -> Caller {
        Caller {
            proof: Proof::Signed,
            ..Caller::with_token(name, scopes, vaults, permissions)
        }
    }

    fn named(name: &str, entrance: Entrance, scopes: Scopes) -> Caller {
        Caller {
            name: Arc::from(name),
            entrance,
            scopes,
            vaults: None,
            permissions: None,
            proof: Proof::Place,
            expires: None,
            attended: false,
        }
    }

    /// The same caller, whose client is trusted to ask its user and to report the answer, or not.
    pub fn attended(self, attended: bool) -> Caller {
        Caller { attended, ..self }
    }

    /// The same caller, whose token ends at this time in milliseconds since 1970.
    fn until(self, expires: Option<i64>) -> Caller {
        Caller { expires, ..self }
    }

    /// The same caller, at this terminal instead of over HTTP.
    pub fn at_terminal(self) -> Caller {
        Caller {
            entrance: Entrance::CommandLine,
            ..self
        }
    }

    /// The name under which the config may give it permissions of its own.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is remembered about it is remembered under this: a signed token may name somebody as a static one does, and
    /// is somebody else.
    pub fn key(&self) -> String {
        match self.proof {
            Proof::Signed => format!("{} (signed)", self.name),
            Proof::Token | Proof::Place => self.name.to_string(),
        }
    }

    /// How it came in.
    pub fn entrance(&self) -> Entrance {
        self.entrance
    }

    /// Whether it proved who it is with a token, of whichever kind.
    pub fn has_token(&self) -> bool {
        self.proof != Proof::Place
    }

    /// How it proved who it is.
    pub fn proof(&self) -> Proof {
        self.proof
    }

    /// Whether its token has ended. That it was revoked is known to whoever keeps the tokens.
    pub fn has_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= now_ms())
    }

    /// Whether its token says that its client is trusted to ask its user. The config may say otherwise:
    /// dispatch decides (`Host::is_attended`).
    pub fn has_attended_token(&self) -> bool {
        self.attended
    }

    /// What it may do at all, before the config narrows it.
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// The vaults that its token binds it to; `None` is all of them.
    pub fn vaults(&self) -> Option<&[String]> {
        self.vaults.as_deref()
    }

    /// What its token says about notebooks.
    pub fn permissions(&self) -> Option<&CallerPermissions> {
        self.permissions.as_deref()
    }
}
