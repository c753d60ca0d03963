//! Errors of the remote client, with hints for the person at the command line.

use reqwest::Url;

/// Why a request to a server failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is invalid.
    #[error("`{address}` is not a server address: {reason}")]
    BadAddress {
        /// The given address.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The token has characters that no token can have.
    #[error("the token has characters that are not allowed in a header")]
    BadToken,
    /// The server cannot be reached or its certificate is not trusted.
    #[error("cannot reach `{url}`: {reason}")]
    Unreachable {
        /// Where.
        url: String,
        /// The error of the system.
        reason: String,
        /// Whether it is about the certificate.
        is_tls: bool,
    },
    /// The server denied access.
    #[error("`{url}` denied access: {}", what_is_missing(.showed_one))]
    Unauthorized {
        /// Where.
        url: String,
        /// Whether a token was shown.
        showed_one: bool,
    },
    /// The server refused the request.
    #[error("`{url}` refused the request ({status}): {words}")]
    Refused {
        /// Where.
        url: String,
        /// The status of HTTP.
        status: u16,
        /// The message of the server.
        words: String,
    },
    /// The server returned a protocol error.
    #[error("`{url}` rejected the request: {words}")]
    Protocol {
        /// Where.
        url: String,
        /// The message of the server.
        words: String,
    },
    /// It is not a Notehost server.
    #[error("there is no Notehost at `{url}`: {reason}")]
    NoNotehost {
        /// Where.
        url: String,
        /// Why it is none.
        reason: String,
    },
    /// The response is too large.
    #[error("the response of `{0}` is too large")]
    TooLarge(String),
    /// The change differed each time the person was asked.
    #[error("the proposed change differs each time it is shown; nothing was changed")]
    Undecided,
}

impl ClientError {
    /// Maps a connection error of the library.
    pub(crate) fn unreachable(url: &Url, error: &reqwest::Error) -> ClientError {
        let reason = root_cause(error);
        ClientError::Unreachable {
            url: url.to_string(),
            is_tls: reason.contains("certificate") || reason.contains("TLS"),
            reason,
        }
    }

    pub(crate) fn not_notehost(url: &Url, reason: &str) -> ClientError {
        ClientError::NoNotehost {
            url: url.to_string(),
            reason: reason.to_owned(),
        }
    }

    /// Whether it is a usage error.
    pub fn is_usage(&self) -> bool {
        matches!(self, ClientError::BadAddress { .. } | ClientError::BadToken)
    }

    /// A hint for the person.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            ClientError::BadAddress { .. } => {
                "use for example `--server https://notes.example.org/mcp`, and pass the token with `--token -` or \
                `NOTEHOST_TOKEN`"
            }
            ClientError::BadToken => {
                "a token is one line of letters and digits, as `notehost token new` prints it"
            }
            ClientError::Unreachable { is_tls: true, .. } => {
                "the certificate must name the server and be trusted by this machine; `SSL_CERT_FILE` names a file of \
                certificates to trust"
            }
            ClientError::Unreachable { url, .. } if url.starts_with("local:") => {
                "the process that serves the vault has ended: run the command again"
            }
            ClientError::Unreachable { .. } => {
                "check that the server is running: `notehost serve --http ADDR` starts it"
            }
            ClientError::Unauthorized {
                showed_one: false, ..
            } => {
                "pass one with `--token -`, `NOTEHOST_TOKEN` or a profile; an admin of the server creates it: \
                `notehost token new`"
            }
            ClientError::Unauthorized { .. } => {
                "it is unknown to the server, expired or revoked; an admin of the server can create another: `notehost \
                token new`"
            }
            ClientError::NoNotehost { .. } => {
                "check the address: it ends with `/mcp`; an older Notehost has to be upgraded"
            }
            ClientError::Refused { status: 403, .. } => {
                "the server does not accept this host name: an admin can add it to `http.allowed_hosts`"
            }
            ClientError::Refused { .. }
            | ClientError::Protocol { .. }
            | ClientError::TooLarge(_)
            | ClientError::Undecided => return None,
        })
    }
}

fn what_is_missing(showed_one: &bool) -> &'static str {
    match showed_one {
        true => "the token is invalid",
        false => "it requires a token",
    }
}

/// The root cause of an error: the rest only repeats the address.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
