//! Embeds the SDK's sources and the contract, for projects of authors who have nothing but the program.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .parent()
        .expect("the host is in the workspace")
        .to_owned();
    let parts = ["LICENSE", "sdk/Cargo.toml", "sdk/src", "sdk/macros", "wit"];
    let mut files = Vec::new();
    for part in parts {
        let path = workspace.join(part);
        println!("cargo::rerun-if-changed={}", path.display());
        collect(&path, &mut files);
    }
    files.sort();
    let mut source = String::from(
        "/// The SDK and the contract: paths from the top of the repository, and texts.\n",
    );
    source.push_str("static SDK_SOURCES: &[(&str, &str)] = &[\n");
    for file in files {
        let path = file.strip_prefix(&workspace).expect("it is in there");
        let path = path.to_str().expect("a plain path").replace('\\', "/");
        writeln!(
            source,
            "    ({path:?}, include_str!({:?})),",
            file.display().to_string()
        )
        .expect("writing to a string");
    }
    source.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("sdk_sources.rs"), source).expect("OUT_DIR can be written");
}

/// Every file below a folder, without its tests.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let name = path.file_name().unwrap_or_default();
    if name == "tests" || name == "tests.rs" || name == "target" {
        return;
    }
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).expect("the folder can be read") {
        collect(&entry.expect("the folder can be read").path(), files);
    }
}
