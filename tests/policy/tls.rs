//! HTTPS with certificate files that can be replaced while the server runs.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::auth_setup::{place_with_notes, token};
use crate::support::http::{Connection, Server, wait_until};
use crate::support::issuer::{key_file, private_key};
use crate::support::place::Place;

fn certificate(name: &str) -> PathBuf {
    key_file(&format!("tls-{name}.cert.pem"))
}

/// Copies a certificate and its key to where the server reads them.
fn install(place: &Place, name: &str) -> (PathBuf, PathBuf) {
    let (to_certificate, to_key) = (place.root().join("cert.pem"), place.root().join("key.pem"));
    private_key(&format!("tls-{name}.key.pem"), &to_key);
    std::fs::copy(certificate(name), &to_certificate).expect("a certificate");
    (to_certificate, to_key)
}

fn serve(place: &Place) -> Server {
    let (certificate, key) = install(place, "first");
    let mut settings = place.settings();
    settings.http.tls_cert = Some(certificate);
    settings.http.tls_key = Some(key);
    Server::start_authenticated(&place.config_file(&settings), &place.state())
}

/// The reply to a client that trusts only this certificate, or why the handshake fails.
fn ask(server: &Server, trusted: &Path, request: &str) -> Result<String, String> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(trusted).expect("a certificate");
    roots.add(certificate).expect("a certificate to trust");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let socket = TcpStream::connect(server.address()).expect("the program listens");
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("an option of the socket");
    let mut stream = StreamOwned::new(client, socket);
    stream
        .write_all(request.as_bytes())
        .map_err(|error| error.to_string())?;
    let mut answer = String::new();
    // Not every server sends close_notify before it closes the connection.
    if let Err(error) = stream.read_to_string(&mut answer)
        && answer.is_empty()
    {
        return Err(error.to_string());
    }
    Ok(answer)
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[test]
fn https_requires_tokens() {
    let place = place_with_notes();
    token(&place, "laptop", &[]);
    let server = serve(&place);
    assert!(
        server.log().contains("listening on https://127.0.0.1:"),
        "{}",
        server.log()
    );
    let answer = ask(&server, &certificate("first"), HEALTH).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let request =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
    let answer = ask(&server, &certificate("first"), request).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(
        answer.contains("resource_metadata=\"https://localhost/"),
        "{answer}"
    );
    // Another certificate is not trusted, and plain HTTP gets no reply.
    ask(&server, &certificate("second"), HEALTH).expect_err("a certificate that is not trusted");
    let mut plain = Connection::open(server.address());
    plain.send_raw(HEALTH.as_bytes());
    assert!(!plain.rest().contains("HTTP/1.1 200"));
}

#[test]
fn certificates_are_reloaded_and_broken_ones_ignored() {
    let place = place_with_notes();
    let server = serve(&place);
    let is_served = |name: &str| ask(&server, &certificate(name), HEALTH).is_ok();
    assert!(is_served("first") && !is_served("second"));
    let (file, key) = install(&place, "second");
    wait_until("the new certificate is used", || is_served("second"));
    assert!(!is_served("first"));
    server.wait_for_log("the certificate was reloaded");

    std::fs::write(&file, "no certificate").expect("a file");
    server.wait_for_log("the new certificate cannot be used, the previous one stays in use");
    assert!(is_served("second"));
    // The key of another certificate.
    std::fs::copy(certificate("first"), &file).expect("a certificate");
    server.wait_for_log("cannot be used together");
    assert!(is_served("second"));
    std::fs::remove_file(&key).expect("it was there");
    server.wait_for_log("cannot be read: ");
    assert!(is_served("second"));
    install(&place, "first");
    wait_until("the first certificate is used again", || is_served("first"));
}
