//! What is installed? The component store of this machine, outside every vault: contents by their digest, and a lock
//! file that says which of them is which component. The lock file is the truth, and its rename is the moment at which
//! something is installed, upgraded, rolled back or removed; whatever a crash leaves beside it is swept away later.
//! Nothing is run here.

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
