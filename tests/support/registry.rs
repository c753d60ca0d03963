//! A real registry on this machine: Debian's `docker-registry`, unpacked into the build folder and never installed.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use super::http::{Connection, Response, wait_until};

const PACKAGE: &str = "docker-registry";
/// The media type of manifests.
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A registry that runs until it is dropped.
pub(crate) struct Registry {
    program: Child,
    address: String,
    folder: tempfile::TempDir,
}

impl Registry {
    /// Starts a registry, or prints why there is none.
    pub(crate) fn start() -> Option<Registry> {
        Registry::start_with("")
    }

    /// Starts a registry that requires the user `ana` with the password `a:secret`.
    pub(crate) fn start_locked() -> Option<Registry> {
        Registry::start_with("auth:\n  htpasswd:\n    realm: tests\n    path: PLACE/users\n")
    }

    fn start_with(more: &str) -> Option<Registry> {
        let program = match program() {
            Ok(program) => program,
            Err(reason) => {
                eprintln!("skipped: no registry available: {reason}");
                return None;
            }
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().display().to_string();
        // The system reuses a freed port last, so nobody takes it in the meantime.
        let address = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .to_string();
        let config = format!(
            "version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: PLACE/data\nhttp:\n  addr: {address}\n{more}"
        );
        let users = "ana:$2b$05$abcdefghijklmnopqrstuulzITFXwzymEQHrMFHqnEHvRQyATqn8.\n";
        std::fs::write(folder.path().join("users"), users).expect("a file");
        let file = folder.path().join("config.yml");
        std::fs::write(&file, config.replace("PLACE", &place)).expect("a file");
        let program = Command::new(program)
            .arg("serve")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the registry starts");
        let registry = Registry {
            program,
            address,
            folder,
        };
        wait_until("the registry listens", || {
            std::net::TcpStream::connect(&registry.address).is_ok()
        });
        Some(registry)
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A reference to something in it, such as `todo:1.0.0`.
    pub(crate) fn reference(&self, name: &str) -> String {
        format!("oci://{}/{name}", self.address)
    }

    /// The file of a blob.
    pub(crate) fn blob(&self, digest: &str) -> PathBuf {
        let digits = digest.strip_prefix("sha256:").expect("a digest");
        self.folder
            .path()
            .join("data/docker/registry/v2/blobs/sha256")
            .join(&digits[..2])
            .join(digits)
            .join("data")
    }

    /// The text of a manifest.
    pub(crate) fn manifest(&self, name: &str, tag: &str) -> String {
        let path = format!("/v2/{name}/manifests/{tag}");
        let headers = [("Accept", MANIFEST)];
        let response = Connection::open(&self.address).ask("GET", &path, &headers, "");
        assert_eq!(response.status, 200, "{response:?}");
        response.body
    }

    /// Uploads a custom manifest under a tag.
    pub(crate) fn put_manifest(&self, name: &str, tag: &str, body: &str) -> Response {
        let path = format!("/v2/{name}/manifests/{tag}");
        let headers = [("Content-Type", MANIFEST)];
        let response = Connection::open(&self.address).ask("PUT", &path, &headers, body);
        assert_eq!(response.status, 201, "{response:?}");
        response
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The registry's program, fetched once per build folder.
fn program() -> Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(fetch).clone()
}

fn fetch() -> Result<PathBuf, String> {
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PACKAGE);
    let program = installed.join("usr/bin").join(PACKAGE);
    if program.exists() {
        return Ok(program);
    }
    let beside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    run(Command::new("apt-get")
        .args(["download", PACKAGE])
        .current_dir(beside.path()))?;
    let package = std::fs::read_dir(beside.path())
        .expect("a folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or("nothing was downloaded")?;
    let unpacked = beside.path().join("unpacked");
    run(Command::new("dpkg").arg("-x").arg(&package).arg(&unpacked))?;
    // A concurrent test run may have been faster.
    let _ = std::fs::rename(&unpacked, &installed);
    match program.exists() {
        true => Ok(program),
        false => Err(format!("the package has no `{PACKAGE}`")),
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
