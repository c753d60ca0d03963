//! The settings as the rest of the host uses them, with their defaults. Loading them from flags, variables
//! and files is in `layers` and `file`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::TrustSettings;
use super::component_limits::ComponentLimits;
use super::presentation::{LongText, Surface};
use super::supervision::{SupervisionSettings, SwitchReason};
use super::vaults::{CallerPermissions, PermissionSettings, VaultEntry};

/// All settings of the config file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The folders of notes that are served.
    pub vaults: Vec<VaultEntry>,
    /// The id of the vault that calls use if they name none; the first one if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_vault: Option<String>,
    /// Whether all changes are rejected, in every vault.
    pub read_only: bool,
    /// Permissions by notebook and path.
    pub permissions: PermissionSettings,
    /// Overrides for single callers, by name.
    pub callers: BTreeMap<String, CallerSettings>,
    /// Settings of components, by domain name.
    pub components: BTreeMap<String, ComponentSettings>,
    /// A folder of additional components (`NAME.wasm`), reloaded whenever a file changes.
    pub component_folder: Option<PathBuf>,
    /// The limits of a call.
    pub limits: LimitSettings,
    /// The circuit breaker of components.
    pub supervision: SupervisionSettings,
    /// The retention of replaced content.
    pub history: HistorySettings,
    /// The authentication of HTTP callers.
    pub auth: AuthSettings,
    /// The HTTP server.
    pub http: HttpSettings,
    /// The rate limits of callers.
    pub rates: RateSettings,
    /// Which changes need confirmation, and how long approvals are valid.
    pub confirmation: ConfirmationSettings,
    /// How long replies to calls with an `idempotency_key` are kept.
    pub idempotency: IdempotencySettings,
    /// The retention of the audit log.
    pub audit: AuditSettings,
    /// Where traces are sent.
    pub telemetry: TelemetrySettings,
    /// Which tags can be added to notes.
    pub tags: TagSettings,
    /// What models are shown about the vaults.
    pub orientation: OrientationSettings,
    /// Which components are accepted.
    pub trust: TrustSettings,
    /// How the tools are presented to a client.
    #[serde(rename = "tool_surface")]
    pub surface: Surface,
    /// When a change needs confirmation by a person.
    pub confirm: Confirm,
    /// Whether a server runs in the operating system's sandbox.
    pub os_sandbox: OsSandbox,
}

/// Overrides for one caller.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallerSettings {
    /// The caller's own tiers.
    pub permissions: CallerPermissions,
    /// Its scopes: `read`, `write`, `delete`, `admin`, also for one domain (`flashcard:write`). This can only
    /// restrict a token.
    pub scopes: Option<Vec<String>>,
    /// The vaults it may use, by id.
    pub vaults: Option<Vec<String>>,
    /// Whether its client is trusted to ask its user, instead of what its token says. Callers with signed tokens are not
    /// unless `[callers."NAME (signed)"]` sets it.
    pub attended: Option<bool>,
    /// Its tool surface.
    pub surface: Option<Surface>,
    /// How much of a long text in the structured part of a reply is repeated in its text part.
    pub long_text: Option<LongText>,
}

/// The settings of one component.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComponentSettings {
    /// Whether the component is enabled.
    pub enabled: bool,
    /// Single actions: `false` switches one off.
    pub actions: BTreeMap<String, bool>,
    /// The component's file; built-in components have none.
    pub path: Option<PathBuf>,
    /// What a third-party component may use. Built-in components are only limited by the caller's permissions.
    pub grant: GrantSettings,
    /// The limits of its calls; overrides `[limits]`.
    pub limits: ComponentLimits,
    /// Why it is switched off.
    pub because: Option<String>,
    /// Who switched it off.
    pub by: Option<String>,
    /// The reasons for single actions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, SwitchReason>,
}

/// What a third-party component may use: globs by effect, hosts, store size. Everything else is inaccessible to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrantSettings {
    /// Paths it may read, such as `Work/**`; `**` is everything.
    pub read: Vec<String>,
    /// Paths where it may also create, edit and rename.
    pub write: Vec<String>,
    /// Paths where it may also delete.
    pub delete: Vec<String>,
    /// Hosts it may send requests to ([`HostPattern`](super::HostPattern)).
    pub http: Vec<String>,
    /// The size limit of its store in bytes, per vault; default: `limits.store_bytes`.
    pub store_bytes: Option<u64>,
}

impl Default for ComponentSettings {
    fn default() -> Self {
        ComponentSettings {
            enabled: true,
            actions: BTreeMap::new(),
            path: None,
            grant: GrantSettings::default(),
            limits: ComponentLimits::default(),
            because: None,
            by: None,
            reasons: BTreeMap::new(),
        }
    }
}

/// The limits of a call; a call that exceeds them is aborted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// The maximum duration of a call in milliseconds.
    pub call_ms: u64,
    /// The maximum memory of a component instance in bytes.
    pub memory_bytes: usize,
    /// The maximum number of host function calls.
    pub host_calls: u64,
    /// The maximum number of bytes staged for the commit.
    pub staged_bytes: u64,
    /// The maximum size of a reply in bytes.
    pub reply_bytes: usize,
    /// The target size of a reply in model tokens; longer replies are truncated where possible.
    pub reply_tokens: usize,
    /// The maximum number of concurrent calls; further calls wait.
    pub concurrent_calls: usize,
    /// The size limit of a component's store in bytes, per vault.
    pub store_bytes: u64,
    /// The maximum number of HTTP requests of a call.
    pub http_requests: u32,
    /// The maximum number of HTTP bytes of a call, sent and received together.
    pub http_bytes: u64,
}

impl Default for LimitSettings {
    fn default() -> Self {
        LimitSettings {
            call_ms: 10_000,
            memory_bytes: 256 << 20,
            host_calls: 200_000,
            staged_bytes: 128 << 20,
            reply_bytes: 1 << 20,
            reply_tokens: 25_000,
            concurrent_calls: 128,
            store_bytes: 16 << 20,
            http_requests: 64,
            http_bytes: 16 << 20,
        }
    }
}

/// The retention of replaced content.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// In days.
    pub keep_days: u64,
    /// In bytes for all callers together; above it, callers with more than an equal share lose their oldest changes.
    pub keep_bytes: u64,
}

impl Default for HistorySettings {
    fn default() -> Self {
        HistorySettings {
            keep_days: 90,
            keep_bytes: 1 << 30,
        }
    }
}

/// When a change needs confirmation by a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// Before notes are deleted or content is dropped.
    #[default]
    Floor,
    /// Never; for stdio and the command line only.
    Never,
}

/// Whether a server runs in the operating system's sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OsSandbox {
    /// If the system has one.
    #[default]
    Auto,
    /// Never.
    Off,
    /// Always: the server does not start without it.
    Require,
}

/// The authentication of HTTP callers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthSettings {
    /// The method of authentication.
    pub mode: AuthMode,
    /// The public URL of this server, which is the audience of signed tokens.
    pub resource: Option<String>,
    /// Signed tokens (JWT).
    pub jwt: JwtSettings,
}

/// The method of authentication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthMode {
    /// Tokens, and signed tokens if they are configured. A server on loopback that has neither creates a token for its
    /// owner at its first start.
    #[default]
    Auto,
    /// No authentication, only on loopback.
    None,
    /// Tokens of `notehost token new`.
    Token,
    /// Signed tokens (JWT).
    Jwt,
}

/// The verification of signed tokens (JWT).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JwtSettings {
    /// The required issuer.
    pub issuer: Option<String>,
    /// The required audience; default: `auth.resource`.
    pub audience: Option<String>,
    /// The environment variable with the shared secret (HS256).
    pub secret_env: Option<String>,
    /// The file with the shared secret (HS256).
    pub secret_file: Option<PathBuf>,
    /// The file with the public keys (RS256, ES256, EdDSA).
    pub jwks_file: Option<PathBuf>,
    /// Whether tokens without the claim `notehost_vaults` are for all vaults instead of the default one.
    pub all_vaults: bool,
}

/// The HTTP server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// Accepted host names, besides loopback and the address itself.
    pub allowed_hosts: Vec<String>,
    /// Accepted web origins, such as `https://notes.example.org`.
    pub allowed_origins: Vec<String>,
    /// The certificate (PEM) for TLS.
    pub tls_cert: Option<PathBuf>,
    /// Its private key (PEM).
    pub tls_key: Option<PathBuf>,
    /// The idle time after which a session is closed.
    pub session_idle_seconds: u64,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tls_cert: None,
            tls_key: None,
            session_idle_seconds: 30 * 60,
        }
    }
}

/// Rate limits per caller, by effect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateSettings {
    /// Reads per minute.
    pub read: u32,
    /// Writes per minute.
    pub write: u32,
    /// Deletes per minute.
    pub delete: u32,
    /// The burst: how many seconds' worth of calls may come at once.
    pub burst_seconds: u32,
    /// Whether the stdio client is limited too.
    pub stdio: bool,
}

impl Default for RateSettings {
    fn default() -> Self {
        RateSettings {
            read: 600,
            write: 120,
            delete: 30,
            burst_seconds: 10,
            stdio: false,
        }
    }
}

/// Which changes need confirmation, and how long approvals are valid.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfirmationSettings {
    /// A change of more notes than this needs confirmation.
    pub notes: usize,
    /// The seconds after which a pending approval, and a granted one that is not used, expires.
    pub expires_seconds: u64,
    /// The same for unattended callers, whose calls a person approves elsewhere, and later.
    pub unattended_expires_seconds: u64,
}

impl Default for ConfirmationSettings {
    fn default() -> Self {
        ConfirmationSettings {
            notes: 20,
            expires_seconds: 300,
            unattended_expires_seconds: 24 * 60 * 60,
        }
    }
}

/// How long replies to calls with an `idempotency_key` are kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdempotencySettings {
    /// In hours.
    pub keep_hours: u64,
}

impl Default for IdempotencySettings {
    fn default() -> Self {
        IdempotencySettings { keep_hours: 24 }
    }
}

/// The retention of the audit log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// In days.
    pub keep_days: u64,
    /// In rows; the oldest are deleted first.
    pub keep_rows: u64,
}

impl Default for AuditSettings {
    fn default() -> Self {
        AuditSettings {
            keep_days: 90,
            keep_rows: 1_000_000,
        }
    }
}

/// Where traces are sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// An OTLP endpoint over HTTP, such as `http://localhost:4318`; `None` sends nothing.
    pub otlp_endpoint: Option<String>,
}

/// Which tags can be added to notes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TagSettings {
    /// The policy.
    pub policy: TagPolicy,
}

/// What models are shown about the vaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrientationSettings {
    /// Whether anything is shown.
    pub enabled: bool,
    /// The tag of the notes that are written for assistants. Only a tag in the frontmatter counts.
    pub tag: String,
    /// The notebooks whose tagged notes are shown to models; `.` is the notes in the root.
    pub notebooks: Vec<String>,
}

impl Default for OrientationSettings {
    fn default() -> Self {
        OrientationSettings {
            enabled: true,
            tag: "assistant".to_owned(),
            notebooks: Vec::new(),
        }
    }
}

/// Which tags can be added to notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TagPolicy {
    /// Any.
    #[default]
    Open,
    /// Only tags that are already used in the vault.
    Existing,
}
