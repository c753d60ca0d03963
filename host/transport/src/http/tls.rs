//! TLS with a certificate and a key from files, reloaded when they change. An unusable certificate is logged, and the
//! previous one stays in use.

use std::convert::Infallible;
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use notehost_config::HttpSettings;
use notehost_platform::files::Stamp;
use notehost_platform::private::is_readable_by_others;

/// How often the files are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A certificate in use, and where it came from.
pub(super) struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    stamps: [Option<Stamp>; 2],
    in_use: RustlsConfig,
}

/// The configured certificate, if any.
pub(super) fn read(settings: &HttpSettings) -> Result<Option<Certificate>, String> {
    let (certificate, key) = match (&settings.tls_cert, &settings.tls_key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
        (Some(_), None) => return Err("`http.tls_cert` is set, but `http.tls_key` is not".into()),
        (None, Some(_)) => return Err("`http.tls_key` is set, but `http.tls_cert` is not".into()),
    };
    let stamps = stamps(&certificate, &key);
    let in_use = RustlsConfig::from_config(load(&certificate, &key)?);
    Ok(Some(Certificate {
        certificate,
        key,
        stamps,
        in_use,
    }))
}

impl Certificate {
    /// The TLS configuration, which changes with the files.
    pub(super) fn in_use(&self) -> RustlsConfig {
        self.in_use.clone()
    }

    /// Watches the files for changes.
    pub(super) async fn follow(mut self) -> Infallible {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let now = stamps(&self.certificate, &self.key);
            if now == self.stamps {
                continue;
            }
            self.stamps = now;
            let file = self.certificate.display();
            match load(&self.certificate, &self.key) {
                Ok(config) => {
                    self.in_use.reload_from_config(config);
                    tracing::info!(%file, "the certificate was reloaded");
                }
                Err(reason) => {
                    tracing::warn!(%file, reason, "the new certificate cannot be used, the previous one stays in use");
                }
            }
        }
    }
}

fn stamps(certificate: &Path, key: &Path) -> [Option<Stamp>; 2] {
    [certificate, key].map(Stamp::of)
}

fn load(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
    let shown = certificate.display();
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| format!("the certificate `{shown}` cannot be read: {error}"))?;
    if chain.is_empty() {
        return Err(format!("`{shown}` contains no certificate"));
    }
    let unreadable =
        |error: &dyn Display| format!("the key `{}` cannot be read: {error}", key.display());
    let mut opened = File::open(key).map_err(|error| unreadable(&error))?;
    let found = opened.metadata().map_err(|error| unreadable(&error))?;
    if is_readable_by_others(&found) {
        return Err(format!(
            "other users of this machine can read the key: `chmod 600 {}`",
            key.display()
        ));
    }
    let private =
        PrivateKeyDer::from_pem_reader(&mut opened).map_err(|error| unreadable(&error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| {
            config
                .with_no_client_auth()
                .with_single_cert(chain, private)
        })
        .map_err(|error| {
            format!("the certificate `{shown}` and its key cannot be used together: {error}")
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
