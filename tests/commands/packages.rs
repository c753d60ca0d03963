//! The release files: the bundle for desktop clients, the registry entry, the man pages. Validated with npm's `mcpb`
//! and the registry's schema if available; `NOTEHOST_REQUIRE_NODE=1` and `NOTEHOST_REQUIRE_PIP=1` make them mandatory.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Workspace, run, skip};
use crate::support::repository;

const MCPB: &str = "@anthropic-ai/mcpb@2.1.2";
/// A linter that contains the registry's schemas.
const SCHEMAS: &str = "skillsaw==0.22.0";

/// Builds the package; returns its folder.
fn package(workspace: &Workspace) -> PathBuf {
    let folder = workspace.home().join("package");
    let mut command = Command::new(repository().join(".ci/package"));
    workspace.cleanly(&mut command);
    // The program of the tests is large, and nobody downloads it: compress quickly.
    command
        .args(["--level", "1", "--name", "io.github.someone/notehost"])
        .args([
            "--download",
            "https://downloads.example/notehost/",
            "--binary",
        ])
        .arg(crate::support::program())
        .arg("--out")
        .arg(&folder);
    run(&mut command, "").expect_success();
    folder
}

fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("the file is there");
    serde_json::from_str(&text).expect("JSON")
}

fn bundle(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("a folder");
    let mut paths = files.map(|file| file.expect("a file").path());
    paths
        .find(|path| path.extension().is_some_and(|end| end == "mcpb"))
        .expect("a bundle")
}

#[test]
fn bundle_and_registry_entry_are_valid() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("python3 is not installed", "NOTEHOST_REQUIRE_PIP");
    }
    let workspace = Workspace::new();
    let folder = package(&workspace);
    let packed = bundle(&folder);
    let mut zip =
        zip::ZipArchive::new(std::fs::File::open(&packed).expect("the bundle")).expect("a zip");
    let mut text = String::new();
    let mut manifest = zip.by_name("manifest.json").expect("a manifest");
    manifest.read_to_string(&mut text).expect("text");
    drop(manifest);
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let entry_point = manifest["server"]["entry_point"].as_str().expect("a path");
    let program = zip.by_name(entry_point).expect("the program is in it");
    assert_eq!(program.unix_mode().map(|mode| mode & 0o777), Some(0o755));
    assert_eq!(
        program.size(),
        std::fs::metadata(crate::support::program())
            .expect("it")
            .len()
    );
    drop(program);
    assert!(
        manifest["tools"].to_string().contains("read_section"),
        "{manifest}"
    );

    let entry = read(&folder.join("server.json"));
    let bytes = std::fs::read(&packed).expect("the bundle");
    let digest = sha256(&bytes);
    let name = packed.file_name().expect("a name").to_string_lossy();
    assert_eq!(
        entry["packages"],
        json!([{
            "registryType": "mcpb",
            "identifier": format!("https://downloads.example/notehost/{name}"),
            "version": env!("CARGO_PKG_VERSION"),
            "fileSha256": digest,
            "transport": {"type": "stdio"},
        }])
    );
    for file in [
        "man/notehost.1",
        "man/notehost-call.1",
        "completions/_notehost",
        "completions/notehost.fish",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
    validate_with_mcpb(&workspace, &text);
    validate_with_schema(&workspace, &entry);
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Validates the manifest with npm's `mcpb`.
fn validate_with_mcpb(workspace: &Workspace, manifest: &str) {
    let file = workspace.home().join("manifest.json");
    std::fs::write(&file, manifest).expect("a file");
    let validate = |arguments: &[&str]| {
        let mut command = Command::new("npx");
        command.args(["--yes", &format!("--package={MCPB}"), "--", "mcpb"]);
        command.args(arguments).output()
    };
    match validate(&["--version"]) {
        Ok(result) if result.status.success() => {}
        _ => return skip("npm cannot install mcpb", "NOTEHOST_REQUIRE_NODE"),
    }
    let result = validate(&["validate", &file.to_string_lossy()]).expect("it runs");
    assert!(result.status.success(), "{result:?}");
    // A validator that accepts everything would be useless.
    std::fs::write(&file, manifest.replace("\"binary\"", "\"magic\"")).expect("a file");
    let result = validate(&["validate", &file.to_string_lossy()]).expect("it runs");
    assert!(!result.status.success(), "{result:?}");
}

/// Validates the registry entry with the registry's schema from a Python package.
fn validate_with_schema(workspace: &Workspace, entry: &Value) {
    let folder = workspace.home().join("schemas");
    let fetched = Command::new("python3")
        .args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            SCHEMAS,
            "--dest",
        ])
        .arg(&folder)
        .output();
    if !fetched.is_ok_and(|result| result.status.success()) {
        return skip(
            "pip cannot fetch the registry's schemas",
            "NOTEHOST_REQUIRE_PIP",
        );
    }
    let wheel = std::fs::read_dir(&folder).expect("a folder").next();
    let wheel = wheel.expect("a file").expect("a file").path();
    let mut zip = zip::ZipArchive::new(std::fs::File::open(wheel).expect("a file")).expect("a zip");
    let version = entry["$schema"]
        .as_str()
        .and_then(|url| url.split('/').rev().nth(1));
    let version = version.expect("a version");
    let folder = format!("mcp_registry/v{}/", version.replace('-', "_"));
    let names: Vec<String> = (0..zip.len())
        .filter_map(|index| Some(zip.by_index(index).ok()?.name().ok()?.to_string()))
        .collect();
    let name = names
        .iter()
        .find(|name| name.contains(&folder) && name.ends_with(".json"))
        .unwrap_or_else(|| panic!("no schema of {version}"));
    let mut text = String::new();
    zip.by_name(name)
        .expect("a schema")
        .read_to_string(&mut text)
        .expect("text");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let schema = jsonschema::options().build(&schema).expect("a schema");
    let problems: Vec<String> = schema
        .iter_errors(entry)
        .map(|error| error.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    let mut wrong = entry.clone();
    wrong["description"] = "long ".repeat(50).into();
    assert!(!schema.is_valid(&wrong));
}

#[test]
fn man_pages_are_valid() {
    let workspace = Workspace::new();
    let page = workspace.run(&["man"]).expect_success().output;
    assert!(
        page.contains(".TH notehost 1") && page.contains("SYNOPSIS"),
        "{page}"
    );
    assert!(
        page.contains("connect") && !page.contains("notehost\\-complete(1)"),
        "{page}"
    );
    let folder = workspace.home().join("man");
    workspace
        .run(&["man", "--dir", &folder.to_string_lossy()])
        .expect_success();
    if Command::new("groff").arg("--version").output().is_err() {
        return skip("groff is not installed", "NOTEHOST_REQUIRE_SHELLS");
    }
    for page in std::fs::read_dir(&folder).expect("a folder") {
        let page = page.expect("a page").path();
        let mut command = Command::new("groff");
        command
            .args(["-K", "utf8", "-man", "-ww", "-Tutf8", "-z"])
            .arg(&page);
        let result = run(&mut command, "").expect_success();
        assert_eq!(result.errors, "", "{}", page.display());
    }
    assert!(folder.join("notehost-profile-add.1").exists());
}
