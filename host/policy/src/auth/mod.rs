//! Callers and their authentication. Over stdio the caller is the parent process, over HTTP the bearer of a token;
//! nothing else creates a [`Caller`].

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
pub use notehost_records::store::VaultBinding;
pub use owner::OwnerToken;
pub use scopes::{Scope, Scopes, UnknownScope};
pub use tokens::{NewToken, Token, TokenError, Tokens};

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use notehost_config::CallerPermissions;
use notehost_platform::clock::now_ms;

/// How much of a client's name is kept.
const MAX_CLIENT_CHARS: usize = 40;

/// How a call arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// From the parent process over stdio, which is trusted as such.
    Stdio,
    /// Over HTTP.
    Http,
    /// From `notehost call`.
    CommandLine,
}

impl Entrance {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Entrance::Stdio => "stdio",
            Entrance::Http => "http",
            Entrance::CommandLine => "cli",
        }
    }
}

/// How a caller authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Not at all: the origin of the call is trusted.
    Place,
    /// With a token of `notehost token new`.
    Token,
    /// With a signed token of an issuer.
    Signed,
}

/// The name of the token created at the first start.
pub const OWNER: &str = "owner";

/// The name of the person at the terminal.
const COMMAND_LINE: &str = "cli";
/// The names of callers without a token. No token may have one of them, because the config may trust them with more.
const NAMES_OF_PLACES: [&str; 3] = ["stdio", "http", "cli"];

/// The caller, as later stages need it.
#[derive(Debug, Clone)]
pub struct Caller {
    name: Arc<str>,
    entrance: Entrance,
    scopes: Scopes,
    vaults: VaultBinding,
    /// The permissions in its token.
    permissions: Option<Arc<CallerPermissions>>,
    proof: Proof,
    /// When its token ends, in milliseconds since 1970; `None` is never.
    expires: Option<i64>,
    /// What its token says: whether its client is trusted to ask its user.
    attended: bool,
    /// The session with settings of its own that it belongs to.
    session: Option<SessionId>,
    /// The name that its client has given itself.
    client: Option<Arc<str>>,
}

/// A session of another program of this user, which brought settings of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(u64);

impl SessionId {
    /// An id that no other session of this process has.
    pub fn next() -> SessionId {
        static LAST: AtomicU64 = AtomicU64::new(0);
        SessionId(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl Caller {
    /// The parent process over stdio.
    pub fn stdio() -> Caller {
        Caller::named("stdio", Entrance::Stdio, Scopes::everything_but_admin())
    }

    /// An unauthenticated caller on a loopback address.
    pub fn loopback() -> Caller {
        Caller::named("http", Entrance::Http, Scopes::everything_but_admin())
    }

    /// A caller without any rights.
    pub fn nobody() -> Caller {
        Caller::named("nobody", Entrance::Http, Scopes::default())
    }

    /// Whether it is the owner at the terminal, and no caller whose rights are tried there.
    pub fn is_owner_at_terminal(&self) -> bool {
        let is_there = self.entrance == Entrance::CommandLine && self.proof == Proof::Place;
        is_there && &*self.name == COMMAND_LINE
    }

    /// The person at the terminal; `name` picks a named caller of the config.
    pub fn command_line(name: Option<&str>) -> Caller {
        // Who can run this program on the state folder can do everything that an admin can.
        Caller::named(
            name.unwrap_or(COMMAND_LINE),
            Entrance::CommandLine,
            Scopes::everything(),
        )
    }

    /// A caller with a token over HTTP.
    pub fn with_token(
        name: &str,
        scopes: Scopes,
        vaults: VaultBinding,
        permissions: Option<CallerPermissions>,
    ) -> Caller {
        Caller {
            vaults,
            permissions: permissions.map(Arc::new),
            proof: Proof::Token,
            ..Caller::named(name, Entrance::Http, scopes)
        }
    }

    /// A caller with an issuer's signed token over HTTP.
    fn with_signed_token(
        name: &str,
        scopes: Scopes,
        vaults: VaultBinding,
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
            vaults: VaultBinding::All,
            permissions: None,
            proof: Proof::Place,
            expires: None,
            attended: false,
            session: None,
            client: None,
        }
    }

    /// The same caller in a session with settings of its own.
    pub fn in_session(self, session: SessionId) -> Caller {
        Caller {
            session: Some(session),
            ..self
        }
    }

    /// The same caller, bound to these vaults.
    pub fn bound_to(self, vaults: Vec<String>) -> Caller {
        let both = match self.vaults {
            VaultBinding::All => VaultBinding::Only(vaults),
            // The settings of its session decide which vault that is, and have no others than these.
            VaultBinding::Default => VaultBinding::Default,
            VaultBinding::Only(mut bound) => {
                bound.retain(|id| vaults.contains(id));
                VaultBinding::Only(bound)
            }
        };
        Caller {
            vaults: both,
            ..self
        }
    }

    /// The same caller, whose client calls itself so. The name is arbitrary text: it is shortened to what a label may
    /// have.
    pub fn with_client(self, name: &str) -> Caller {
        let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ' | '/');
        let name: String = name
            .chars()
            .filter(is_plain)
            .take(MAX_CLIENT_CHARS)
            .collect();
        // In a label a signed token is marked with this word.
        let name = Some(name.trim())
            .filter(|name| *name != "signed")
            .unwrap_or_default();
        Caller {
            client: (!name.is_empty()).then(|| Arc::from(name)),
            ..self
        }
    }

    /// The session with settings of its own that it belongs to.
    pub fn session(&self) -> Option<SessionId> {
        self.session
    }

    /// Its key in the history: of several programs with the same one also the name of the client.
    pub fn label(&self) -> String {
        self.with_client_of(self.key())
    }

    /// Its name in the audit log, in the same way.
    pub fn audit_name(&self) -> String {
        self.with_client_of(self.name.to_string())
    }

    fn with_client_of(&self, name: String) -> String {
        match &self.client {
            Some(client) => format!("{name} ({client})"),
            None => name,
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

    /// The key of everything stored about it. A signed token may carry the same name as a static one, but is another
    /// caller.
    pub fn key(&self) -> String {
        match self.proof {
            Proof::Signed => format!("{} (signed)", self.name),
            Proof::Token | Proof::Place => self.name.to_string(),
        }
    }

    /// How its call arrived.
    pub fn entrance(&self) -> Entrance {
        self.entrance
    }

    /// Whether it authenticated with a token of any kind.
    pub fn has_token(&self) -> bool {
        self.proof != Proof::Place
    }

    /// How it authenticated.
    pub fn proof(&self) -> Proof {
        self.proof
    }

    /// Whether its token has expired. Revocation is known to the token store.
    pub fn has_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= now_ms())
    }

    /// Whether its token says that its client is trusted to ask its user. The config may say otherwise:
    /// dispatch decides (`Host::is_attended`).
    pub fn has_attended_token(&self) -> bool {
        self.attended
    }

    /// Its scopes, before the config narrows them.
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// The vaults that its token binds it to. Callers without a token are bound by the config only.
    pub fn vaults(&self) -> &VaultBinding {
        &self.vaults
    }

    /// The permissions in its token.
    pub fn permissions(&self) -> Option<&CallerPermissions> {
        self.permissions.as_deref()
    }
}
