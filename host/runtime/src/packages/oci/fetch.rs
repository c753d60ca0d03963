//! Size-limited requests to a registry. The client library reads manifests, tokens and errors of any length into
//! memory; since a registry is not trusted, a pull reads them here, up to a limit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use oci_client::errors::OciDistributionError;
use oci_client::manifest::OCI_IMAGE_MEDIA_TYPE;
use oci_client::secrets::RegistryAuth;
use reqwest::{Client, Response, Url};
use serde_json::Value;

use super::{IDLE_TIMEOUT, OciError, Reference, credentials};

/// The largest manifest that is read: what registries themselves take.
pub(super) const MAX_MANIFEST_BYTES: u64 = 4 << 20;
/// The largest answer with a token.
const MAX_TOKEN_BYTES: u64 = 64 << 10;
/// The maximum length of a challenge.
const MAX_CHALLENGE_BYTES: usize = 4096;

/// A registry that something is pulled from.
pub(super) struct Fetch {
    client: Client,
    is_loopback: bool,
    wanted: oci_client::Reference,
    /// How we prove who we are, once the registry has said how it wants it.
    authorization: Option<HeaderValue>,
    host: String,
    reference_text: String,
}

impl Fetch {
    pub(super) fn of(reference: &Reference) -> Result<Fetch, OciError> {
        super::choose_cryptography();
        let (host, reference_text) = (reference.registry().to_owned(), reference.to_string());
        let is_loopback = reference.is_loopback();
        let client = Client::builder()
            .connect_timeout(IDLE_TIMEOUT)
            .read_timeout(IDLE_TIMEOUT)
            // A redirect leaves encryption no more than the first request does.
            .https_only(!is_loopback)
            .user_agent(concat!("notehost/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| OciError::of(error.into(), &host, &reference_text))?;
        Ok(Fetch {
            client,
            is_loopback,
            wanted: reference.for_client(),
            authorization: None,
            host,
            reference_text,
        })
    }

    /// The text of the manifest.
    pub(super) async fn manifest(&mut self) -> Result<Vec<u8>, OciError> {
        let wanted = self.wanted.digest().or(self.wanted.tag());
        let path = format!("manifests/{}", wanted.unwrap_or("latest"));
        let response = self.get(&path, OCI_IMAGE_MEDIA_TYPE).await?;
        self.bounded(response, MAX_MANIFEST_BYTES).await
    }

    /// The bytes of a blob, of which there may be so many.
    pub(super) async fn blob(&mut self, digest: &str, most: u64) -> Result<Vec<u8>, OciError> {
        let response = self.get(&format!("blobs/{digest}"), "*/*").await?;
        self.bounded(response, most).await
    }

    /// A successful response.
    async fn get(&mut self, path: &str, accept: &'static str) -> Result<Response, OciError> {
        let mut response = self.send(path, accept).await?;
        if response.status() == StatusCode::UNAUTHORIZED && self.authorization.is_none() {
            self.authorization = Some(self.authorize(response.headers()).await?);
            response = self.send(path, accept).await?;
        }
        match response.status() {
            status if status.is_success() => Ok(response),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(self.not_allowed()),
            StatusCode::NOT_FOUND => Err(OciError::NotFound(self.reference_text.clone())),
            status => Err(self.failed(format!("it responded with status {status}"))),
        }
    }

    async fn send(&self, path: &str, accept: &'static str) -> Result<Response, OciError> {
        let (host, name) = (self.wanted.resolve_registry(), self.wanted.repository());
        let scheme = match self.is_loopback {
            true => "http",
            false => "https",
        };
        let mut request = self
            .client
            .get(format!("{scheme}://{host}/v2/{name}/{path}"))
            .header(ACCEPT, accept);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        request.send().await.map_err(|error| self.broken(error))
    }

    /// The authorization header that the registry's challenge requires.
    async fn authorize(&self, headers: &HeaderMap) -> Result<HeaderValue, OciError> {
        let basic = match credentials::for_registry(&self.host) {
            RegistryAuth::Basic(name, password) => {
                let shown = STANDARD.encode(format!("{name}:{password}"));
                Some(secret(format!("Basic {shown}")).ok_or_else(|| self.not_allowed())?)
            }
            _ => None,
        };
        let challenges = headers.get_all(WWW_AUTHENTICATE).iter();
        let mut challenges = challenges.filter_map(|challenge| challenge.to_str().ok());
        let Some(bearer) = challenges.find_map(Bearer::parse) else {
            return basic.ok_or_else(|| self.not_allowed());
        };
        let scope = format!("repository:{}:pull", self.wanted.repository());
        let mut query = vec![("scope", scope.as_str())];
        query.extend(
            bearer
                .service
                .as_deref()
                .map(|service| ("service", service)),
        );
        let realm = Url::parse_with_params(&bearer.realm, query)
            .map_err(|_| self.failed("its token endpoint is not a URL".to_owned()))?;
        if !is_confidential(&realm) {
            return Err(self.failed(format!(
                "its token endpoint is `{}`, but credentials are only sent over https or to this machine",
                super::shortened(&bearer.realm)
            )));
        }
        let mut request = self.client.get(realm);
        if let Some(basic) = basic {
            request = request.header(AUTHORIZATION, basic);
        }
        let response = request.send().await.map_err(|error| self.broken(error))?;
        if !response.status().is_success() {
            return Err(self.not_allowed());
        }
        let text = self.bounded(response, MAX_TOKEN_BYTES).await?;
        let answer: Value = serde_json::from_slice(&text).unwrap_or_default();
        let token = answer["token"].as_str().or(answer["access_token"].as_str());
        token
            .and_then(|token| secret(format!("Bearer {token}")))
            .ok_or_else(|| self.failed("it returned no token".to_owned()))
    }

    /// A whole body, if it has no more bytes than this.
    async fn bounded(&self, mut response: Response, most: u64) -> Result<Vec<u8>, OciError> {
        let too_much = || self.failed(format!("it sent more than the allowed {most} bytes"));
        if response
            .content_length()
            .is_some_and(|length| length > most)
        {
            return Err(too_much());
        }
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.broken(error))? {
            if (bytes.len() + part.len()) as u64 > most {
                return Err(too_much());
            }
            bytes.extend_from_slice(&part);
        }
        Ok(bytes)
    }

    fn broken(&self, error: reqwest::Error) -> OciError {
        OciError::of(
            OciDistributionError::RequestError(error),
            &self.host,
            &self.reference_text,
        )
    }

    fn not_allowed(&self) -> OciError {
        OciError::NotAllowed(self.host.clone())
    }

    fn failed(&self, reason: String) -> OciError {
        OciError::Failed {
            registry: self.host.clone(),
            reason,
        }
    }
}

/// Whether nobody between us and this URL can read what is sent to it. Also where the registry itself is on this machine
/// and spoken to without encryption: what it names may be anywhere.
fn is_confidential(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = host == "localhost"
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    match url.scheme() {
        "https" => true,
        "http" => is_loopback,
        _ => false,
    }
}

fn secret(text: String) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The token endpoint of a registry. Untrusted.
#[derive(Debug, PartialEq, Eq)]
struct Bearer {
    realm: String,
    service: Option<String>,
}

impl Bearer {
    /// `Bearer realm="https://…",service="…",scope="…"`
    fn parse(challenge: &str) -> Option<Bearer> {
        let (scheme, mut rest) = challenge.trim().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") || challenge.len() > MAX_CHALLENGE_BYTES {
            return None;
        }
        let (mut realm, mut service) = (None, None);
        loop {
            let (name, after) = rest.trim_start_matches([' ', ',']).split_once('=')?;
            let (value, after) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"')?,
                None => after.split_once(',').unwrap_or((after, "")),
            };
            match name.trim().to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value.to_owned()),
                "service" => service = Some(value.to_owned()),
                _ => {}
            }
            rest = after.trim_start_matches([' ', ',']);
            if rest.is_empty() {
                break;
            }
        }
        Some(Bearer {
            realm: realm?,
            service,
        })
    }
}

/// What the fuzzer calls: a challenge that a registry may send.
#[cfg(fuzzing)]
pub(super) fn fuzz_challenge(text: &str) {
    let _ = Bearer::parse(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Bearer {
                realm: realm.to_owned(),
                service: service.map(str::to_owned),
            })
        };
        for (challenge, wanted) in [
            (
                r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="a:b:pull,push""#,
                bearer("https://auth.docker.io/token", Some("registry.docker.io")),
            ),
            (
                r#"bearer scope="x", realm="https://a/b?c=d""#,
                bearer("https://a/b?c=d", None),
            ),
            (r#"Bearer realm=https://a"#, bearer("https://a", None)),
            (r#"Basic realm="x""#, None),
            (r#"Bearer service="x""#, None),
            (r#"Bearer realm="x"#, None),
            ("Bearer", None),
            ("", None),
        ] {
            assert_eq!(Bearer::parse(challenge), wanted, "{challenge}");
        }
        let long = format!(r#"Bearer realm="{}""#, "x".repeat(MAX_CHALLENGE_BYTES));
        assert_eq!(Bearer::parse(&long), None);
    }

    #[test]
    fn credentials_stay_encrypted_or_on_this_machine() {
        for (url, is_fine) in [
            ("https://auth.example.org/token", true),
            ("http://127.0.0.1:5001/token", true),
            ("http://localhost/token", true),
            ("http://[::1]:5001/token", true),
            ("http://auth.example.org/token", false),
            ("http://localhost.example.org/token", false),
            ("http://192.0.2.1/token", false),
            ("ftp://127.0.0.1/token", false),
        ] {
            let url = Url::parse(url).expect("a URL");
            assert_eq!(is_confidential(&url), is_fine, "{url}");
        }
    }
}
