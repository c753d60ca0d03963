//! Decides where the program gets the first-party components from (`NOTEHOST_COMPONENTS`, see CONTRIBUTING.md) and writes
//! the list of them.
//!
//! A release embeds them, compressed. A program in development loads them from a folder, which it brings up to date when
//! it starts: `cargo check`, clippy and editors never build WebAssembly.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[path = "src/builder.rs"]
mod builder;

use builder::{Optimization, QUICK};

/// Optimised across crates, as components are released.
const FULL: Optimization = Optimization {
    level: "3",
    lto: "true",
    codegen_units: "1",
};

/// `build` embeds components that are built now, `skip` leaves them out, and a folder embeds its `notehost_NAME.wasm`
/// files. Not set: a release builds, a program in development loads.
const SOURCE: &str = "NOTEHOST_COMPONENTS";

fn main() {
    let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .ancestors()
        .nth(2)
        .expect("the crate is in the workspace")
        .to_owned();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    println!("cargo::rerun-if-env-changed={SOURCE}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/builder.rs");
    watch(&workspace, "Cargo.lock");

    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let source = env::var(SOURCE).unwrap_or_default();
    let names = match source.as_str() {
        "skip" => Vec::new(),
        _ => component_names(&workspace.join("components")),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // <target>/<profile>/build/<package>/out
    let target = out.ancestors().nth(4).expect("cargo's layout");
    let built = match source.as_str() {
        "" if !is_release => {
            list(&workspace, &names, &out);
            write_paths(&workspace, &target.join("components-dev"), &out);
            return;
        }
        "" | "build" => {
            // Of the SDK only what is compiled: its guide and examples change nothing in here.
            for watched in [
                "components",
                "sdk/Cargo.toml",
                "sdk/src",
                "sdk/macros",
                "wit",
            ] {
                watch(&workspace, watched);
            }
            let optimization = match is_release {
                true => FULL,
                false => QUICK,
            };
            let folder = target.join(match is_release {
                true => "components",
                false => "components-dev",
            });
            match builder::build(&workspace, &names, &folder, optimization) {
                Ok(built) => built,
                Err(error) => panic!("{error}"),
            }
        }
        "skip" => PathBuf::new(),
        folder => {
            watch(Path::new(""), folder);
            PathBuf::from(folder)
        }
    };
    println!("cargo::rustc-cfg=embedded");
    embed(&workspace, &names, &built, &out);
}

fn watch(folder: &Path, path: &str) {
    println!("cargo::rerun-if-changed={}", folder.join(path).display());
}

/// Every folder of `components` that is a crate.
fn component_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the components folder can be read")
        .map(|entry| entry.expect("the components folder can be read").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

fn description_of(workspace: &Path, name: &str) -> String {
    let file = workspace.join("components").join(name);
    file.join("description.json").display().to_string()
}

/// The list for a program that loads the components.
fn list(workspace: &Path, names: &[&str], out: &Path) {
    let mut source = String::from("/// All of them.\npub static EMBEDDED: &[Embedded] = &[\n");
    for name in names {
        let description = description_of(workspace, name);
        writeln!(
            source,
            "    Embedded {{ name: {name:?}, description: include_str!({description:?}) }},"
        )
        .expect("writing to a string");
    }
    source.push_str("];\n");
    fs::write(out.join("embedded.rs"), source).expect("OUT_DIR can be written");
}

fn write_paths(workspace: &Path, target: &Path, out: &Path) {
    let source = format!(
        "const WORKSPACE: &str = {:?};\nconst TARGET_FOLDER: &str = {:?};\n",
        workspace.display().to_string(),
        target.display().to_string(),
    );
    fs::write(out.join("paths.rs"), source).expect("OUT_DIR can be written");
}

/// The list for a program that has the components in it: one archive of all of them, because they have most of their code
/// in common. Compressed together they take a third of what they take one by one.
fn embed(workspace: &Path, names: &[&str], built: &Path, out: &Path) {
    let mut source = String::from("/// All of them.\npub static EMBEDDED: &[Embedded] = &[\n");
    let mut archive = Vec::new();
    for name in names {
        let file = built.join(format!("notehost_{name}.wasm"));
        let wasm = fs::read(&file)
            .unwrap_or_else(|error| panic!("{SOURCE}: `{}`: {error}", file.display()));
        writeln!(
            source,
            "    Embedded {{ name: {name:?}, description: include_str!({:?}), digest: {:?}, start: {}, size: {} }},",
            description_of(workspace, name),
            builder::digest(&wasm),
            archive.len(),
            wasm.len(),
        )
        .expect("writing to a string");
        archive.extend(wasm);
    }
    let packed = out.join("components.zst");
    fs::write(
        &packed,
        compressed(&archive).expect("compressing in memory"),
    )
    .expect("OUT_DIR can be written");
    writeln!(
        source,
        "];\nstatic ARCHIVE: &[u8] = include_bytes!({:?});",
        packed.display().to_string()
    )
    .expect("writing to a string");
    fs::write(out.join("embedded.rs"), source).expect("OUT_DIR can be written");
}

/// With a window over the whole archive.
fn compressed(archive: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 19)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(archive.len().max(2).ilog2() + 1)?;
    encoder.write_all(archive)?;
    encoder.finish()
}
