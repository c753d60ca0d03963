//! The first-party components. Their descriptions are files of the repository (`components/*/description.json`): a test
//! compares them with what the components say, so that listing the tools needs neither a compile nor a guest.
//!
//! A release has the components in it, compressed; a program in development loads them (`loaded.rs`). Which of the two it
//! is decides `build.rs`.

#[cfg(not(embedded))]
mod builder;
#[cfg(not(embedded))]
mod loaded;

/// A component that comes with the program.
#[derive(Debug)]
pub struct Embedded {
    /// The domain's name.
    pub name: &'static str,
    /// How it describes itself, as JSON.
    pub description: &'static str,
    #[cfg(embedded)]
    digest: &'static str,
    #[cfg(embedded)]
    size: usize,
    #[cfg(embedded)]
    packed: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

#[cfg(embedded)]
impl Embedded {
    /// The digest of its content.
    pub fn digest(&self) -> &'static str {
        self.digest
    }

    /// How many bytes it has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The component. It is unpacked at each call: it is needed only until it was compiled once.
    pub fn wasm(&self) -> Vec<u8> {
        use std::io::Read as _;
        let mut wasm = Vec::with_capacity(self.size);
        let mut decoder = flate2::read::ZlibDecoder::new(self.packed);
        match decoder.read_to_end(&mut wasm) {
            Ok(_) => wasm,
            // The bytes are part of the program: if they are damaged, so may be everything else.
            Err(error) => panic!("the component `{}` is damaged: {error}", self.name),
        }
    }
}

#[cfg(not(embedded))]
impl Embedded {
    /// The digest of its content.
    pub fn digest(&self) -> &'static str {
        &loaded::component(self.name).digest
    }

    /// How many bytes it has.
    pub fn size(&self) -> usize {
        loaded::component(self.name).size
    }

    /// The component.
    pub fn wasm(&self) -> Vec<u8> {
        loaded::component(self.name).read()
    }
}

/// Makes the components available: in development they are built if their sources changed, and opened before the
/// operating system's sandbox closes the folder that they are in. A release has nothing to do.
pub fn prepare() -> Result<(), String> {
    #[cfg(not(embedded))]
    loaded::prepare()?;
    Ok(())
}
