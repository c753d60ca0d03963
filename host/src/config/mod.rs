//! The settings: what an admin decided. Where each value comes from (flag, variable, file, default) is kept with
//! it. Nothing here reads a vault.

mod address;
mod check;
mod error;
mod file;
mod layers;
mod nearest;
mod places;
mod settings;
mod template;

pub use address::{DEFAULT_ADDRESS, parse_address};
pub use error::ConfigError;
pub use layers::{Given, Loaded, LogFormat, Origin, Running, Shown, VARIABLES, load};
pub use nearest::nearest;
pub use places::{config_file, expand_home, state_folder};
pub use settings::{
    CallerPermissions, CallerSettings, ComponentSettings, Confirm, GrantSettings, HistorySettings,
    LimitSettings, PermissionRule, PermissionSettings, Settings, Surface, VaultEntry,
};
pub use template::template;
