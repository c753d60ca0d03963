//! The component store of this machine, outside every vault: contents by digest, and a lock file that maps component
//! names to them. The lock file is authoritative: renaming it into place installs, upgrades, rolls back or removes a
//! component; leftovers of a crash are removed later. Nothing is run here.

mod fail;
mod lock;
pub mod oci;
mod precedence;
pub mod signature;
mod store;

pub use fail::FAIL_POINTS;
pub use lock::{Installed, Lock, Version};
pub use precedence::is_older;
pub use store::{Packages, PackagesError};
