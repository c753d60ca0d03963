//! A client of another Notehost, for the command line: of a remote one over HTTP, or of the process that holds a vault of this
//! machine over its local socket (`local`). It uses the stateless revision of MCP: one POST or one line per request and no
//! state between them. A token is sent only to the server it was given for: redirects are not followed. Results are
//! returned as the JSON of the server; what they mean is up to the caller.

mod error;
mod events;
mod local;

use std::net::IpAddr;
use std::time::Duration;

use notehost_platform::local_socket::LocalStream;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Response, StatusCode, Url};
use serde_json::{Map, Value, json};

use self::events::Events;
use self::local::LocalLink;

pub use error::ClientError;

/// The request for all actions visible to a caller, from which the command line makes flags.
const ACTIONS_METHOD: &str = "notehost/actions";
/// The maximum size of a response: as much as a server accepts as a message.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

const REVISION: &str = "2026-07-28";

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The read timeout. The server ends long calls itself.
const READ_TIMEOUT: Duration = Duration::from_secs(600);
/// How often a person is asked about a change that differs each time.
const MAX_QUESTIONS: usize = 3;

/// A client of a remote server.
#[derive(Debug)]
pub struct Client {
    link: Link,
    url: Url,
    authorization: Option<HeaderValue>,
}

/// How it reaches its server.
#[derive(Debug)]
enum Link {
    Http(reqwest::Client),
    Local(LocalLink),
}

/// Asks the person at the terminal whether to approve a change; the text describes it.
pub type Ask<'a> = &'a (dyn Fn(&str) -> bool + Sync);

impl Client {
    /// Creates a client of the server at this address, with this token.
    pub fn new(address: &str, token: Option<&str>) -> Result<Client, ClientError> {
        let url = endpoint(address)?;
        let authorization = token.map(bearer).transpose()?;
        // The first one in a process stays, and it is always this one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none());
        if is_loopback(&url) {
            // No proxy leads back to this machine.
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| ClientError::unreachable(&url, &error))?;
        Ok(Client {
            link: Link::Http(http),
            url,
            authorization,
        })
    }

    /// Creates a client of the process that holds a vault of this machine, on a connection to its local socket whose
    /// handshake is done.
    pub fn local(stream: LocalStream, process: u32) -> Result<Client, ClientError> {
        let address = format!("local://process-{process}");
        let url = address.parse().map_err(|_| ClientError::BadAddress {
            address: address.clone(),
            reason: "it is not a URL".to_owned(),
        })?;
        Ok(Client {
            link: Link::Local(LocalLink::new(stream)),
            url,
            authorization: None,
        })
    }

    /// Replaces the token.
    pub fn with_token(self, token: &str) -> Result<Client, ClientError> {
        Ok(Client {
            authorization: Some(bearer(token)?),
            ..self
        })
    }

    /// Whether it sends a token.
    pub fn has_token(&self) -> bool {
        self.authorization.is_some()
    }

    /// The port of the server, if it is on this machine.
    pub fn loopback_port(&self) -> Option<u16> {
        let port = self.url.port_or_known_default();
        port.filter(|_| is_loopback(&self.url))
    }

    /// The URL of the server.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Whether its token is sent unencrypted over the network.
    pub fn sends_token_unencrypted(&self) -> bool {
        self.authorization.is_some() && self.url.scheme() == "http" && !is_loopback(&self.url)
    }

    /// The error for a server whose responses are not those of a Notehost.
    pub fn not_notehost(&self, reason: &str) -> ClientError {
        ClientError::not_notehost(&self.url, reason)
    }

    /// The listing of all domains visible to this caller.
    pub async fn actions(&self) -> Result<Value, ClientError> {
        self.request(ACTIONS_METHOD, None, json!({}), false).await
    }

    /// Calls a tool and returns its result. If the server requires approval and `ask` is given, the person is asked.
    pub async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        ask: Option<Ask<'_>>,
    ) -> Result<Value, ClientError> {
        let mut params = json!({"name": tool, "arguments": arguments});
        for _ in 0..=MAX_QUESTIONS {
            let result = self
                .request("tools/call", Some(tool), params.clone(), ask.is_some())
                .await?;
            let (Some(ask), true) = (ask, result["resultType"] == "input_required") else {
                return Ok(result);
            };
            params["inputResponses"] = self.answers(&result["inputRequests"], ask)?;
            params["requestState"] = result["requestState"].clone();
        }
        Err(ClientError::Undecided)
    }

    /// The person's answer to each question.
    fn answers(&self, questions: &Value, ask: Ask<'_>) -> Result<Value, ClientError> {
        let mut answers = Map::new();
        for (name, question) in questions.as_object().into_iter().flatten() {
            let message = question["params"]["message"].as_str();
            let (Some(message), "elicitation/create") =
                (message, question["method"].as_str().unwrap_or_default())
            else {
                return Err(self.not_notehost("it asks for input that a terminal cannot provide"));
            };
            let answer = match ask(message) {
                true => json!({"action": "accept", "content": {"approve": true}}),
                false => json!({"action": "decline"}),
            };
            answers.insert(name.clone(), answer);
        }
        Ok(answers.into())
    }

    /// Sends one request and returns its result.
    async fn request(
        &self,
        method: &'static str,
        name: Option<&str>,
        mut params: Value,
        can_ask: bool,
    ) -> Result<Value, ClientError> {
        let capabilities = match can_ask {
            true => json!({"elicitation": {"form": {}}}),
            false => json!({}),
        };
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo":
                {"name": "notehost", "version": env!("CARGO_PKG_VERSION")},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let http = match &self.link {
            Link::Http(http) => http,
            Link::Local(link) => {
                let message = link.ask(&self.url, &body).await?;
                return match message.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(self.refusal(StatusCode::OK, &message)),
                };
            }
        };
        let mut request = http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header("MCP-Protocol-Version", REVISION)
            .header("Mcp-Method", method);
        if let Some(name) = name {
            request = request.header("Mcp-Name", name);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.body(body.to_string()).send().await;
        let response = response.map_err(|error| ClientError::unreachable(&self.url, &error))?;
        let status = response.status();
        let message = self.message(response).await?;
        if status == StatusCode::OK && message["id"] == 1 && message.get("result").is_some() {
            return Ok(message["result"].clone());
        }
        Err(self.refusal(status, &message))
    }

    /// The JSON of a response, plain or as an event. Invalid JSON becomes null.
    async fn message(&self, mut response: Response) -> Result<Value, ClientError> {
        let kind = response.headers().get(CONTENT_TYPE);
        let is_stream = kind
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut events = Events::default();
        let (mut body, mut received) = (Vec::new(), 0);
        let unreachable = |error| ClientError::unreachable(&self.url, &error);
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            received += chunk.len();
            if received > MAX_RESPONSE_BYTES {
                return Err(ClientError::TooLarge(self.url.to_string()));
            }
            if !is_stream {
                body.extend_from_slice(&chunk);
            } else if let Some(answer) = events
                .feed(&chunk)
                .into_iter()
                .find(|message| message["id"] == 1)
            {
                return Ok(answer);
            }
        }
        Ok(serde_json::from_slice(&body).unwrap_or_default())
    }

    /// Maps a response that is not a result to an error.
    fn refusal(&self, status: StatusCode, message: &Value) -> ClientError {
        let text = |at: &str| message.pointer(at).and_then(Value::as_str);
        let words = text("/error/message").unwrap_or_default().to_owned();
        let url = self.url.to_string();
        match status {
            StatusCode::UNAUTHORIZED => ClientError::Unauthorized {
                url,
                showed_one: self.authorization.is_some(),
            },
            // JSON-RPC has errors of its own, some of them with a status that is not 200.
            _ if message["jsonrpc"] == "2.0" => match message["error"]["code"].as_i64() {
                Some(-32601) => self.not_notehost("it does not implement the methods of Notehost"),
                _ => ClientError::Protocol { url, words },
            },
            status if status.is_success() => {
                self.not_notehost("its response is not an MCP message")
            }
            status if text("/error/code").is_some() => ClientError::Refused {
                url,
                status: status.as_u16(),
                words,
            },
            status => self.not_notehost(&format!("it responded with {status}")),
        }
    }
}

/// The endpoint of an address: `/mcp` if it has no path.
fn endpoint(address: &str) -> Result<Url, ClientError> {
    let bad = |reason: &str| ClientError::BadAddress {
        address: address.to_owned(),
        reason: reason.to_owned(),
    };
    let mut url: Url = address.parse().map_err(|_| bad("it is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(bad("it does not begin with `https://` or `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("an address must not contain a token"));
    }
    if url.path() == "/" {
        url.set_path("/mcp");
    }
    url.set_fragment(None);
    Ok(url)
}

fn bearer(token: &str) -> Result<HeaderValue, ClientError> {
    let mut header =
        HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| ClientError::BadToken)?;
    header.set_sensitive(true);
    Ok(header)
}

fn is_loopback(url: &Url) -> bool {
    let name = url.host_str().unwrap_or_default();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let address: Option<IpAddr> = bare.parse().ok();
    name == "localhost" || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_resolve_to_endpoints() {
        for (address, expected) in [
            ("http://127.0.0.1:8765", "http://127.0.0.1:8765/mcp"),
            ("https://notes.example/", "https://notes.example/mcp"),
            (
                "https://notes.example/team/mcp",
                "https://notes.example/team/mcp",
            ),
        ] {
            assert_eq!(endpoint(address).expect("an address").as_str(), expected);
        }
        for bad in [
            "notes.example",
            "127.0.0.1:8765",
            "ftp://notes.example",
            "https://ana:secret@notes.example",
            "file:///etc/passwd",
            "",
        ] {
            assert!(
                matches!(endpoint(bad), Err(ClientError::BadAddress { .. })),
                "{bad}"
            );
        }
    }

    #[test]
    fn plain_http_exposes_tokens_only_to_other_machines() {
        let shows = |address: &str, token| {
            let client = Client::new(address, token).expect("a client");
            client.sends_token_unencrypted()
        };
        assert!(shows("http://192.0.2.1", Some("t")));
        assert!(!shows("http://192.0.2.1", None));
        assert!(!shows("https://192.0.2.1", Some("t")));
        assert!(!shows("http://[::1]:1", Some("t")));
        assert!(matches!(
            Client::new("http://localhost", Some("a\nb")),
            Err(ClientError::BadToken)
        ));
    }
}
