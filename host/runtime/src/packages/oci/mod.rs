//! Components in OCI registries: pulled by tag or by digest, pushed with their signature. The layout is the one of
//! other WebAssembly tools: a config `application/vnd.wasm.config.v0+json` and one layer `application/wasm`. The
//! signature is an annotation of the manifest, because the layout allows one layer only; so it is covered by the
//! digest to which a reference may be pinned.
//!
//! A registry is not trusted: content is verified by its digest, and its size is limited while it is received.

mod credentials;
mod error;
mod fetch;
mod reference;

pub use credentials::file as credentials_file;
pub use error::OciError;
pub use reference::{BadReference, Reference};

use std::collections::BTreeMap;
use std::time::Duration;

use http::HeaderValue;
use oci_client::Client;
use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use serde_json::json;

use self::fetch::Fetch;

/// The largest component that is pulled or pushed.
pub const MAX_BYTES: u64 = 64 << 20;

const CONFIG_TYPE: &str = "application/vnd.wasm.config.v0+json";
const LAYER_TYPE: &str = "application/wasm";
/// The annotation with a component's minisign signature, as text.
const SIGNATURE: &str = "notehost.signature.minisign";
/// What every binary component begins with: the magic word, and the version and layer of components.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// How long a registry may take to answer, and then between two parts of an answer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a whole pull or push may take.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(300);

/// A component that came from a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The component.
    pub bytes: Vec<u8>,
    /// The digest of its manifest: what a reference is pinned to.
    pub digest: String,
    /// Its signature, not verified.
    pub signature: Option<String>,
}

/// A component that goes to a registry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artifact {
    /// The component.
    pub bytes: Vec<u8>,
    /// Its signature.
    pub signature: Option<String>,
    /// The interfaces that it exports.
    pub exports: Vec<String>,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
}

/// Whether bytes begin as a component does, and not as a plain module or something else.
pub fn is_component(bytes: &[u8]) -> bool {
    bytes.starts_with(COMPONENT)
}

/// Fetch a component.
pub async fn pull(reference: &Reference) -> Result<Pulled, OciError> {
    within(reference, async {
        let source = Source::of(reference);
        let mut fetch = Fetch::of(reference)?;
        let (manifest, digest) = source.manifest(&fetch.manifest().await?)?;
        let layer = source.layer_of(&manifest)?;
        // By its digest alone: other locations that a manifest names for a layer are not used.
        let most = u64::try_from(layer.size).unwrap_or(0);
        let bytes = source.component(layer, fetch.blob(&layer.digest, most).await?)?;
        let annotations = manifest.annotations.unwrap_or_default();
        Ok(Pulled {
            bytes,
            digest,
            signature: annotations.get(SIGNATURE).cloned(),
        })
    })
    .await
}

/// Store a component under a tag. Returns the digest of its manifest.
pub async fn push(reference: &Reference, artifact: Artifact) -> Result<String, OciError> {
    if reference.digest().is_some() {
        return Err(OciError::NeedsTag(reference.to_string()));
    }
    within(reference, async {
        Registry::of(reference)?.put(artifact).await
    })
    .await
}

async fn within<T>(
    reference: &Reference,
    work: impl Future<Output = Result<T, OciError>>,
) -> Result<T, OciError> {
    tokio::time::timeout(TOTAL_TIMEOUT, work)
        .await
        .unwrap_or_else(|_| Err(OciError::TimedOut(reference.registry().to_owned())))
}

/// The requested reference; the content is verified against it.
struct Source {
    pinned: Option<String>,
    /// The whole reference, for people.
    reference_text: String,
}

impl Source {
    fn of(reference: &Reference) -> Source {
        Source {
            pinned: reference.digest().map(str::to_owned),
            reference_text: reference.to_string(),
        }
    }

    /// The manifest, and its digest. It is what the reference is pinned to, if it is.
    fn manifest(&self, body: &[u8]) -> Result<(OciImageManifest, String), OciError> {
        // Counted by us: the digest that a registry names may be of another kind.
        let digest = digest_of(body);
        if let Some(expected) = &self.pinned
            && *expected != digest
        {
            return Err(OciError::DigestDiffers {
                reference: self.reference_text.clone(),
                expected: expected.clone(),
                found: digest,
            });
        }
        let manifest: OciImageManifest = serde_json::from_slice(body)
            .map_err(|_| self.not_wasm("its manifest is not an OCI image manifest".to_owned()))?;
        Ok((manifest, digest))
    }

    /// The one layer that is the component.
    fn layer_of<'manifest>(
        &self,
        manifest: &'manifest OciImageManifest,
    ) -> Result<&'manifest OciDescriptor, OciError> {
        if manifest.config.media_type != CONFIG_TYPE {
            return Err(self.not_wasm(format!(
                "its config has the type `{}`, expected `{CONFIG_TYPE}`",
                shortened(&manifest.config.media_type)
            )));
        }
        let [layer] = manifest.layers.as_slice() else {
            let count = manifest.layers.len();
            return Err(self.not_wasm(format!("it has {count} layers, expected one")));
        };
        if layer.media_type != LAYER_TYPE {
            return Err(self.not_wasm(format!(
                "its layer has the type `{}`, expected `{LAYER_TYPE}`",
                shortened(&layer.media_type)
            )));
        }
        if !reference::is_digest(&layer.digest) {
            return Err(self.not_wasm("its layer has no sha256 digest".to_owned()));
        }
        if u64::try_from(layer.size).map_or(true, |size| size > MAX_BYTES) {
            return Err(OciError::TooLarge(self.reference_text.clone()));
        }
        Ok(layer)
    }

    /// The bytes of a layer, if they are what its digest says, and a component.
    fn component(&self, layer: &OciDescriptor, bytes: Vec<u8>) -> Result<Vec<u8>, OciError> {
        let found = digest_of(&bytes);
        if found != layer.digest {
            return Err(OciError::DigestDiffers {
                reference: self.reference_text.clone(),
                expected: layer.digest.clone(),
                found,
            });
        }
        if !is_component(&bytes) {
            return Err(self.not_wasm("its layer is not a WebAssembly component".to_owned()));
        }
        Ok(bytes)
    }

    fn not_wasm(&self, reason: String) -> OciError {
        OciError::NotWasm {
            reference: self.reference_text.clone(),
            reason,
        }
    }
}

/// What the fuzzer calls: a manifest, and a challenge that a registry may send.
#[cfg(fuzzing)]
#[doc(hidden)]
pub fn fuzz_manifest(input: &[u8]) {
    let source = Source {
        pinned: None,
        reference_text: "oci://registry.example/fuzz:1".to_owned(),
    };
    if let Ok((manifest, _)) = source.manifest(input) {
        let _ = source.layer_of(&manifest);
    }
    fetch::fuzz_challenge(&String::from_utf8_lossy(input));
}

/// A registry that something is pushed to.
struct Registry {
    client: Client,
    wanted: oci_client::Reference,
    /// The host, and the whole reference, for people.
    host: String,
    reference_text: String,
}

impl Registry {
    fn of(reference: &Reference) -> Result<Registry, OciError> {
        choose_cryptography();
        let config = ClientConfig {
            protocol: match reference.is_loopback() {
                true => ClientProtocol::Http,
                false => ClientProtocol::Https,
            },
            connect_timeout: Some(IDLE_TIMEOUT),
            read_timeout: Some(IDLE_TIMEOUT),
            // One request for each blob: they are small enough.
            use_monolithic_push: true,
            user_agent: concat!("notehost/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        };
        let (host, reference_text) = (reference.registry().to_owned(), reference.to_string());
        Ok(Registry {
            client: Client::try_from(config)
                .map_err(|error| OciError::of(error, &host, &reference_text))?,
            wanted: reference.for_client(),
            host,
            reference_text,
        })
    }

    async fn put(&self, artifact: Artifact) -> Result<String, OciError> {
        if artifact.bytes.len() as u64 > MAX_BYTES {
            return Err(OciError::TooLarge(self.reference_text.clone()));
        }
        let layer = described(LAYER_TYPE, &artifact.bytes);
        let config = json!({
            // Fixed, so that the same component pushed twice has the same digest.
            "created": "1970-01-01T00:00:00Z",
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [layer.digest],
            "component": { "exports": artifact.exports, "imports": artifact.imports },
        })
        .to_string()
        .into_bytes();
        let annotations = artifact
            .signature
            .map(|signature| BTreeMap::from([(SIGNATURE.to_owned(), signature)]));
        let manifest = OciImageManifest {
            media_type: Some(OCI_IMAGE_MEDIA_TYPE.to_owned()),
            config: described(CONFIG_TYPE, &config),
            layers: vec![layer.clone()],
            annotations,
            ..OciImageManifest::default()
        };
        let to_error = |error| self.to_error(error);
        let credentials = credentials::for_registry(&self.host);
        self.client
            .store_auth_if_needed(self.wanted.resolve_registry(), &credentials)
            .await;
        for (blob, digest) in [
            (config, &manifest.config.digest),
            (artifact.bytes, &layer.digest),
        ] {
            let pushed = self.client.push_blob(&self.wanted, blob, digest).await;
            pushed.map_err(to_error)?;
        }
        let body = serde_json::to_vec(&manifest).map_err(|error| to_error(error.into()))?;
        let digest = digest_of(&body);
        let kind = HeaderValue::from_static(OCI_IMAGE_MEDIA_TYPE);
        let pushed = self.client.push_manifest_raw(&self.wanted, body, kind);
        pushed.await.map_err(to_error)?;
        Ok(digest)
    }

    fn to_error(&self, error: oci_client::errors::OciDistributionError) -> OciError {
        OciError::of(error, &self.host, &self.reference_text)
    }
}

fn choose_cryptography() {
    // The first caller has set it; there is only one value to set.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn described(media_type: &str, bytes: &[u8]) -> OciDescriptor {
    OciDescriptor {
        media_type: media_type.to_owned(),
        digest: digest_of(bytes),
        size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
        ..OciDescriptor::default()
    }
}

fn digest_of(bytes: &[u8]) -> String {
    format!("sha256:{}", crate::digest(bytes))
}

/// Controlled by the registry.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}
