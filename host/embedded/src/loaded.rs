//! Components of a program in development: built when the program starts after a source changed, and read from the folder
//! that they were built in.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use super::EMBEDDED;
use super::builder;

include!(concat!(env!("OUT_DIR"), "/paths.rs"));

/// What components are built from, below the workspace.
const SOURCES: [&str; 6] = [
    "components",
    "sdk/Cargo.toml",
    "sdk/src",
    "sdk/macros",
    "wit",
    "Cargo.lock",
];
/// Written after a build: a line `NAME DIGEST` for each component. Its time is that of the build's begin.
const STAMP: &str = "built";

/// A component that was built.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) digest: String,
    pub(crate) size: usize,
    /// Opened early: the operating system's sandbox of a server closes the folder.
    file: Mutex<File>,
}

impl Loaded {
    pub(crate) fn read(&self) -> Vec<u8> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wasm = Vec::new();
        let read = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.read_to_end(&mut wasm));
        match read {
            Ok(_) => wasm,
            Err(error) => panic!("a component in `{TARGET_FOLDER}` cannot be read: {error}"),
        }
    }
}

pub(crate) fn component(name: &str) -> &'static Loaded {
    let all = all().as_ref().unwrap_or_else(|error| panic!("{error}"));
    all.get(name)
        .unwrap_or_else(|| panic!("`{TARGET_FOLDER}` has no component `{name}`"))
}

pub(crate) fn prepare() -> Result<(), String> {
    all().as_ref().map(|_| ()).map_err(String::clone)
}

fn all() -> &'static Result<BTreeMap<String, Loaded>, String> {
    static LOADED: OnceLock<Result<BTreeMap<String, Loaded>, String>> = OnceLock::new();
    LOADED.get_or_init(load)
}

fn load() -> Result<BTreeMap<String, Loaded>, String> {
    let target = Path::new(TARGET_FOLDER);
    let failed = |error: std::io::Error| format!("`{TARGET_FOLDER}`: {error}");
    fs::create_dir_all(target).map_err(failed)?;
    let stamp = target.join(STAMP);
    if !is_current(&stamp) {
        // Many programs start at once in a test run: one of them builds.
        let lock = File::create(target.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        if !is_current(&stamp) {
            build(target, &stamp)?;
        }
    }
    let digests = fs::read_to_string(&stamp).map_err(failed)?;
    let mut loaded = BTreeMap::new();
    for (name, digest) in digests.lines().filter_map(|line| line.split_once(' ')) {
        let file = File::open(target.join(format!("{digest}.wasm"))).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let component = Loaded {
            digest: digest.to_owned(),
            size: usize::try_from(size).unwrap_or(usize::MAX),
            file: Mutex::new(file),
        };
        loaded.insert(name.to_owned(), component);
    }
    Ok(loaded)
}

fn build(target: &Path, stamp: &Path) -> Result<(), String> {
    let begun = SystemTime::now();
    let names: Vec<&str> = EMBEDDED.iter().map(|embedded| embedded.name).collect();
    let built = builder::build(Path::new(WORKSPACE), &names, target, builder::QUICK)?;
    let failed = |error: std::io::Error| format!("`{TARGET_FOLDER}`: {error}");
    let mut lines = String::new();
    for name in names {
        let wasm = fs::read(built.join(format!("notehost_{name}.wasm"))).map_err(failed)?;
        let digest = builder::digest(&wasm);
        // Named by its content: a program that started before the next build reads what belongs to its digest.
        put(&target.join(format!("{digest}.wasm")), &wasm).map_err(failed)?;
        lines.push_str(&format!("{name} {digest}\n"));
    }
    put(stamp, lines.as_bytes()).map_err(failed)?;
    remove_unlisted(target, &lines);
    // Sources that changed during the build are newer than the stamp.
    let file = File::options().write(true).open(stamp).map_err(failed)?;
    file.set_modified(begun).map_err(failed)
}

/// Removes the components of earlier builds. Programs that run keep theirs open.
fn remove_unlisted(target: &Path, listed: &str) {
    for entry in fs::read_dir(target).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_component = path
            .extension()
            .is_some_and(|extension| extension == "wasm");
        let digest = path.file_stem().unwrap_or_default().to_string_lossy();
        if is_component && !listed.contains(&*digest) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Writes a file that appears whole.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    fs::rename(new, path)
}

/// Whether the build that the stamp stands for is newer than every source.
fn is_current(stamp: &Path) -> bool {
    let built = fs::metadata(stamp).and_then(|found| found.modified());
    built.is_ok_and(|built| {
        let mut pending: Vec<PathBuf> = SOURCES
            .iter()
            .map(|source| Path::new(WORKSPACE).join(source))
            .collect();
        while let Some(path) = pending.pop() {
            let Ok(found) = fs::metadata(&path) else {
                return false;
            };
            if found.is_dir() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                // Descriptions are written by a test that asks the components: they are not compiled.
                pending.extend(
                    entries
                        .map(|entry| entry.path())
                        .filter(|path| !path.ends_with("description.json")),
                );
            }
            if found.modified().is_ok_and(|changed| changed > built) && !found.is_dir() {
                return false;
            }
        }
        true
    })
}
