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
    /// Where it is in the archive of all components.
    #[cfg(embedded)]
    start: u64,
    #[cfg(embedded)]
    size: usize,
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

    /// The component. The archive is unpacked up to it at each call, because it is needed only until it was compiled once.
    pub fn wasm(&self) -> Vec<u8> {
        // The bytes are part of the program: if they are damaged, so may be everything else.
        self.unpacked()
            .unwrap_or_else(|error| panic!("the component `{}` is damaged: {error}", self.name))
    }

    fn unpacked(&self) -> std::io::Result<Vec<u8>> {
        use std::io::Read as _;
        let archive = ruzstd::decoding::StreamingDecoder::new(ARCHIVE);
        let mut archive = archive.map_err(std::io::Error::other)?;
        std::io::copy(&mut archive.by_ref().take(self.start), &mut std::io::sink())?;
        let mut wasm = vec![0; self.size];
        archive.read_exact(&mut wasm)?;
        Ok(wasm)
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
