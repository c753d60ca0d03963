//! The settings. The origin of each value (flag, variable, file, default) is kept with
//! it. Nothing here reads the notes of a vault.

mod address;
mod check;
mod check_rules;
mod check_serving;
mod component_limits;
mod containment;
mod edit;
mod error;
mod file;
mod glob;
mod host_pattern;
mod layers;
mod places;
mod presentation;
mod reload;
mod session;
mod settings;
mod supervision;
mod template;
mod trust;
mod variables;
mod vaults;

pub use address::{DEFAULT_ADDRESS, parse_address};
pub use check_serving::MIN_SECRET_BYTES;
pub use component_limits::ComponentLimits;
pub use containment::{is_inside, resolved, vault_of};
pub use edit::{Edit, TierScope};
pub use error::ConfigError;
pub use file::join as dotted;
pub use glob::glob;
pub use host_pattern::{Destination, HostPattern, Scheme};
pub use layers::{Loaded, LogFormat, Origin, Overrides, Running, ShownSetting, load};
pub use notehost_platform::nearest;
pub use places::{config_file, expand_home, state_folder};
pub use presentation::{LongText, Surface};
pub use reload::{Source, in_force};
pub use session::{SessionSettings, SessionVault, vault_sections};
pub use settings::{
    AuditSettings, AuthMode, AuthSettings, CallerSettings, ComponentSettings, Confirm,
    ConfirmationSettings, GrantSettings, HistorySettings, HttpSettings, IdempotencySettings,
    JwtSettings, LimitSettings, OrientationSettings, OsSandbox, RateSettings, Settings, TagPolicy,
    TagSettings, TelemetrySettings,
};
pub use supervision::{SupervisionSettings, SwitchReason};
pub use template::template;
pub use trust::{PublisherSettings, TrustSettings};
pub use variables::VARIABLES;
pub use vaults::{
    CallerPermissions, PermissionRule, PermissionSettings, VaultCallerSettings, VaultEntry,
};
