//! The path of a call: `stages` is the pipeline, from the wire to the disk. Around it are the application object
//! (`application`), what one running call may use (`capabilities`), the set of components (`registry`), the host's own
//! domain (`admin`), answers that need no component (`features`), and the conformance suite for components.

pub mod conformance;
pub mod registry;

mod admin;
mod application;
mod call_error;
mod capabilities;
mod features;
mod reply;
mod request;
#[doc(hidden)] // public for the proof in it that no stage can be left out
pub mod stages;

pub use application::file_events::{EventFilter, FileEvent};
pub use application::host::{Host, StartError};
pub use application::reload::ReloadError;
pub use application::rights::BadRights;
pub use application::sessions::OpenSession;
pub use application::status::{ComponentStatus, OpenBreakerStatus, component_status};
pub use call_error::{CallError, PendingApproval, PendingChange};
pub use capabilities::progress::ProgressSink;
pub use features::completion::{complete, complete_notebook};
pub use features::explain::{DecidedBy, ExplainQuery, Explanation, explain};
pub use features::orientation::{Orientation, orientation};
pub use features::vault_data::data_line;
pub use notehost_index::{CompletionKind, Edit, fitting};
pub use notehost_policy::ConfirmedVia;
pub use notehost_runtime::Progress;
pub use notehost_sdk::Code;
pub use reply::{Content, Reply};
pub use request::{CallId, Request};
pub use stages::confirm::question_text::diff_excerpt;
pub use stages::{answered, call};
