//! A component: its bytes, and its code, which is compiled on first use.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use notehost_embedded::Embedded;
use tokio::sync::OnceCell;

use super::inspect::{self, InspectError, Inspected, MAX_COMPONENT_BYTES};
use super::{DescriptionError, Runtime, Sandbox, abi, imports};

/// A component that can be run.
pub struct Component {
    source: Arc<Source>,
    /// Compiled once, on a blocking thread, on first use.
    ready: OnceCell<Result<Arc<abi::Ready>, Arc<LoadError>>>,
}

/// The source of a component.
struct Source {
    name: String,
    wasm: Wasm,
    /// Identifies the content; computed when it is needed.
    digest: OnceLock<String>,
}

/// The bytes of a component.
enum Wasm {
    Owned(Vec<u8>),
    /// Part of the program, and unpacked only when it is compiled or inspected.
    Embedded(&'static Embedded),
}

impl Wasm {
    fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Wasm::Owned(bytes) => Cow::Borrowed(bytes),
            Wasm::Embedded(embedded) => Cow::Owned(embedded.wasm()),
        }
    }

    fn size(&self) -> usize {
        match self {
            Wasm::Owned(bytes) => bytes.len(),
            Wasm::Embedded(embedded) => embedded.size(),
        }
    }
}

/// Why a component cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("component `{name}` cannot be read: {source}")]
    Unreadable {
        /// Which component.
        name: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is not a component, or not one for this host.
    #[error("component `{name}` {reason}")]
    Unfit {
        /// Which component.
        name: String,
        /// Why.
        reason: InspectError,
    },
    /// It has the header of a component, but is invalid.
    #[error("component `{name}` is not valid WebAssembly: {reason}")]
    Invalid {
        /// Which component.
        name: String,
        /// The message of the compiler, in one line.
        reason: String,
    },
    /// It has an import that is not allowed.
    #[error("component `{name}` imports `{import}`, which is not allowed")]
    NotGranted {
        /// Which component.
        name: String,
        /// What it imports.
        import: String,
    },
    /// Its imports or exports do not have the types of the contract.
    #[error("component `{name}` does not match contract {contract}: {reason}")]
    OtherForm {
        /// Which component.
        name: String,
        /// The contract that it declares.
        contract: String,
        /// What is missing or different.
        reason: String,
    },
    /// It could not describe itself.
    #[error("component `{name}` failed to describe itself: {reason}")]
    NoDescription {
        /// Which component.
        name: String,
        /// Why.
        reason: String,
    },
    /// Its description is invalid.
    #[error(transparent)]
    BadDescription(#[from] DescriptionError),
    /// The sandbox itself could not be made.
    #[error("cannot start the WebAssembly engine: {0}")]
    Engine(String),
    /// Another caller already met this error.
    #[error(transparent)]
    Shared(Arc<LoadError>),
}

impl LoadError {
    pub(super) fn engine(error: wasmtime::Error) -> LoadError {
        LoadError::Engine(format!("{error:#}"))
    }

    pub(super) fn shared(error: Arc<LoadError>) -> LoadError {
        LoadError::Shared(error)
    }
}

impl Component {
    /// A component by its bytes. Nothing is compiled yet.
    pub fn new(name: &str, wasm: Vec<u8>) -> Result<Component, LoadError> {
        if wasm.len() > MAX_COMPONENT_BYTES {
            return Err(LoadError::Unfit {
                name: name.into(),
                reason: InspectError::TooLarge { size: wasm.len() },
            });
        }
        Ok(Component::of(name, Wasm::Owned(wasm), OnceLock::new()))
    }

    /// A component that is part of the program. Its bytes take no memory until it is compiled.
    pub fn embedded(embedded: &'static Embedded) -> Component {
        let digest = OnceLock::from(embedded.digest().to_owned());
        Component::of(embedded.name, Wasm::Embedded(embedded), digest)
    }

    fn of(name: &str, wasm: Wasm, digest: OnceLock<String>) -> Component {
        Component {
            source: Arc::new(Source {
                name: name.into(),
                wasm,
                digest,
            }),
            ready: OnceCell::new(),
        }
    }

    /// The name under which it was loaded.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// Its bytes.
    pub fn wasm(&self) -> Cow<'_, [u8]> {
        self.source.wasm.bytes()
    }

    /// How many bytes it has.
    pub fn size(&self) -> usize {
        self.source.wasm.size()
    }

    /// The SHA-256 of its content, in hexadecimal.
    pub fn digest(&self) -> &str {
        self.source.digest()
    }

    /// Inspects the bytes without compiling them; fails if this host cannot call the component.
    pub fn inspect(&self) -> Result<Inspected, LoadError> {
        self.source.inspect(&self.source.wasm.bytes())
    }

    /// Whether another one has the same name and content.
    pub fn is_same_as(&self, other: &Component) -> bool {
        self.source.name == other.source.name && self.digest() == other.digest()
    }

    /// Compile it now instead of at its first call.
    pub async fn prepare(&self, runtime: &Runtime) -> Result<(), Arc<LoadError>> {
        self.ready(runtime).await.map(|_| ())
    }

    pub(super) async fn ready(&self, runtime: &Runtime) -> Result<Arc<abi::Ready>, Arc<LoadError>> {
        if let Some(ready) = self.ready.get() {
            return ready.clone();
        }
        self.ready
            .get_or_init(|| async {
                // Compiling takes a processor for a good part of a second: not on a thread that answers calls.
                let (source, sandbox) = (self.source.clone(), runtime.sandbox.clone());
                runtime.compiling.fetch_add(1, Ordering::Relaxed);
                let compiled = tokio::task::spawn_blocking(move || source.compile(&sandbox)).await;
                runtime.compiling.fetch_sub(1, Ordering::Relaxed);
                compiled
                    .unwrap_or_else(|error| Err(LoadError::Engine(error.to_string())))
                    .map(Arc::new)
                    .map_err(Arc::new)
            })
            .await
            .clone()
    }
}

impl Source {
    fn digest(&self) -> &str {
        self.digest
            .get_or_init(|| inspect::digest(&self.wasm.bytes()))
    }

    fn inspect(&self, wasm: &[u8]) -> Result<Inspected, LoadError> {
        let unfit = |reason| LoadError::Unfit {
            name: self.name.clone(),
            reason,
        };
        let inspected = inspect::inspect(wasm).map_err(unfit)?;
        inspected.track().map_err(unfit)?;
        self.check_imports(inspected.imports.iter().map(String::as_str))?;
        Ok(inspected)
    }

    fn check_imports<'a>(&self, imports: impl Iterator<Item = &'a str>) -> Result<(), LoadError> {
        match imports::first_refused(imports) {
            Some(import) => Err(LoadError::NotGranted {
                name: self.name.clone(),
                import,
            }),
            None => Ok(()),
        }
    }

    #[tracing::instrument(name = "component.compile", level = "debug", skip_all, fields(component = %self.name))]
    fn compile(&self, sandbox: &Sandbox) -> Result<abi::Ready, LoadError> {
        let engine = &sandbox.engine;
        let compiled = match sandbox.compiled.find(engine, self.digest()) {
            Some(compiled) => compiled,
            None => {
                // A compiler is a large attack surface: whatever can be rejected before is.
                let wasm = self.wasm.bytes();
                self.inspect(&wasm)?;
                let compiled = sandbox.compiled.compile(engine, self.digest(), &wasm);
                compiled.map_err(|error| LoadError::Invalid {
                    name: self.name.clone(),
                    reason: one_line(&error),
                })?
            }
        };
        let form = compiled.component_type();
        self.check_imports(form.imports(engine).map(|(name, _)| name))?;
        abi::ready(&self.name, sandbox, &compiled)
    }
}

pub(super) fn one_line(error: &wasmtime::Error) -> String {
    let text = format!("{error:#}");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
