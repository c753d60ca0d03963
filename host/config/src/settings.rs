//! The settings as the rest of the host uses them, with their defaults. How they are read from flags, variables
//! and files is told beside this file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::TrustSettings;
use super::component_limits::ComponentLimits;
use super::presentation::{LongText, Surface};
use super::supervision::{SupervisionSettings, SwitchReason};
use notehost_vault::Tier;

/// Everything that an admin can decide.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The folders of notes that are served.
    pub vaults: Vec<VaultEntry>,
    /// Nothing can be changed by anybody, in any vault.
    pub read_only: bool,
    /// Who may do what in which notebook.
    pub permissions: PermissionSettings,
    /// What differs for single callers, by their name.
    pub callers: BTreeMap<String, CallerSettings>,
    /// Components and actions that are switched off.
    pub components: BTreeMap<String, ComponentSettings>,
    /// A folder whose files `NAME.wasm` are components, swapped whenever a file changes.
    pub component_folder: Option<PathBuf>,
    /// What one call may use.
    pub limits: LimitSettings,
    /// When a component that fails is given a rest.
    pub supervision: SupervisionSettings,
    /// How long what a change replaced is kept.
    pub history: HistorySettings,
    /// How callers over HTTP prove who they are.
    pub auth: AuthSettings,
    /// How HTTP is served.
    pub http: HttpSettings,
    /// How many calls a caller may make.
    pub rates: RateSettings,
    /// What a person is asked about, and how long the question stands.
    pub confirmation: ConfirmationSettings,
    /// How long the reply to a call with an `idempotency_key` is kept.
    pub idempotency: IdempotencySettings,
    /// How long calls are remembered.
    pub audit: AuditSettings,
    /// Where traces are sent.
    pub telemetry: TelemetrySettings,
    /// Which tags notes may get.
    pub tags: TagSettings,
    /// What a model is told about the vaults.
    pub orientation: OrientationSettings,
    /// Whose components are taken.
    pub trust: TrustSettings,
    /// How the tools are presented to a client.
    #[serde(rename = "tool_surface")]
    pub surface: Surface,
    /// When a person is asked before a change lands.
    pub confirm: Confirm,
    /// Whether a server runs inside the operating system's sandbox.
    pub os_sandbox: OsSandbox,
}

/// One folder of notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultEntry {
    /// The name by which calls pick it.
    pub id: String,
    /// Where it is; `~` is the home folder.
    pub path: PathBuf,
    /// Nothing can be changed in it by anybody.
    #[serde(default)]
    pub read_only: bool,
}

/// Who may do what in which notebook.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionSettings {
    /// For notebooks that nothing names.
    pub default: Tier,
    /// By notebook; `.` is the notes in the vault's root.
    pub notebooks: BTreeMap<String, Tier>,
    /// Narrower tiers for paths within notebooks.
    pub rules: Vec<PermissionRule>,
}

impl Default for PermissionSettings {
    fn default() -> Self {
        // A missing line grants no write.
        PermissionSettings {
            default: Tier::Read,
            notebooks: BTreeMap::new(),
            rules: Vec::new(),
        }
    }
}

/// A narrower tier for the paths that a glob matches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    /// Which paths, such as `Work/Contracts/**`.
    pub glob: String,
    /// At most this tier.
    pub tier: Tier,
}

/// What differs for one caller.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallerSettings {
    /// The caller's own tiers.
    pub permissions: CallerPermissions,
    /// What it may do at all: `read`, `write`, `delete`, `admin`, also for one domain (`flashcard:write`). A token never
    /// gets more by this than it has.
    pub scopes: Option<Vec<String>>,
    /// The vaults it may use, by id.
    pub vaults: Option<Vec<String>>,
    /// Whether its client is trusted to ask its user, instead of what its token says. Callers with signed tokens are not
    /// unless `[callers."NAME (signed)"]` says so.
    pub attended: Option<bool>,
    /// How it is shown the tools.
    pub surface: Option<Surface>,
    /// How much of a long text that stands in the structured part of an answer is said in its text as well.
    pub long_text: Option<LongText>,
}

/// The tiers of one caller: what it does not name is as for everybody.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallerPermissions {
    /// For notebooks that nothing names.
    pub default: Option<Tier>,
    /// By notebook.
    pub notebooks: BTreeMap<String, Tier>,
    /// Narrower tiers for paths, on top of everybody's.
    pub rules: Vec<PermissionRule>,
}

/// What is switched off in one component.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComponentSettings {
    /// Whether the component is there at all.
    pub enabled: bool,
    /// Single actions: `false` switches one off.
    pub actions: BTreeMap<String, bool>,
    /// The component's file; first-party components have none, they are part of the program.
    pub path: Option<PathBuf>,
    /// What a component from a file may use. First-party components are only bound by the caller.
    pub grant: GrantSettings,
    /// What one of its calls may use, where that differs from `[limits]`.
    pub limits: ComponentLimits,
    /// Why it is switched off.
    pub because: Option<String>,
    /// Who switched it off.
    pub by: Option<String>,
    /// The same for single actions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, SwitchReason>,
}

/// What a component from a file may use: globs by effect, hosts, room. What nothing names it cannot see or reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrantSettings {
    /// Paths it may read, such as `Work/**`; `**` is everything.
    pub read: Vec<String>,
    /// Paths where it may also create, change and rename.
    pub write: Vec<String>,
    /// Paths where it may also remove.
    pub delete: Vec<String>,
    /// Hosts it may send requests to, as [`HostPattern`](super::HostPattern) reads them.
    pub http: Vec<String>,
    /// How many bytes it may keep in its store, per vault; without it `limits.store_bytes`.
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

/// What one call may use before it is ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// How long a call may take, in milliseconds.
    pub call_ms: u64,
    /// How much memory a component's instance may use, in bytes.
    pub memory_bytes: usize,
    /// How many functions of the host a call may use.
    pub host_calls: u64,
    /// How many bytes a call may stage for its commit.
    pub staged_bytes: u64,
    /// How large a reply may be, in bytes.
    pub reply_bytes: usize,
    /// How many tokens a reply should cost a model: what can be cut is cut to it.
    pub reply_tokens: usize,
    /// How many calls run at once; the rest wait.
    pub concurrent_calls: usize,
    /// How many bytes a component may keep in its store, per vault.
    pub store_bytes: u64,
    /// How many requests a call of a component with granted hosts may send.
    pub http_requests: u32,
    /// How many bytes such a call may send and receive.
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

/// How long what a change replaced is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// In days.
    pub keep_days: u64,
    /// In bytes, of all callers together; over it, whoever has more than an equal share loses the oldest changes.
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

/// When a person is asked before a change lands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// Before what removes notes or drops content.
    #[default]
    Floor,
    /// Never; for stdio and the command line only.
    Never,
}

/// Whether a server runs inside the operating system's sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OsSandbox {
    /// Where the system has one.
    #[default]
    Auto,
    /// Never.
    Off,
    /// Always: without one the server does not start.
    Require,
}

/// How callers over HTTP prove who they are.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthSettings {
    /// Which proof is asked for.
    pub mode: AuthMode,
    /// The URL that clients know this server by: what tokens are made for (their audience).
    pub resource: Option<String>,
    /// Signed tokens of others.
    pub jwt: JwtSettings,
}

/// Which proof is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthMode {
    /// Tokens, and signed tokens where they are configured. A server on loopback that has neither makes a token for its
    /// owner at the first start.
    #[default]
    Auto,
    /// None: no authentication, only on loopback.
    None,
    /// Tokens of `notehost token new`.
    Token,
    /// Signed tokens (JWT).
    Jwt,
}

/// Signed tokens of others: whose they are and how they are checked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JwtSettings {
    /// Who must have issued them.
    pub issuer: Option<String>,
    /// Whom they must be for; without it `auth.resource`.
    pub audience: Option<String>,
    /// The environment variable with the shared secret (HS256).
    pub secret_env: Option<String>,
    /// The file with the shared secret (HS256).
    pub secret_file: Option<PathBuf>,
    /// The file with the public keys (RS256, ES256, EdDSA).
    pub jwks_file: Option<PathBuf>,
}

/// How HTTP is served.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// Names that clients may call us by, besides loopback and the address itself.
    pub allowed_hosts: Vec<String>,
    /// Web origins that may call us, such as `https://notes.example.org`.
    pub allowed_origins: Vec<String>,
    /// The certificate (PEM) for TLS.
    pub tls_cert: Option<PathBuf>,
    /// Its private key (PEM).
    pub tls_key: Option<PathBuf>,
    /// A session on which nothing happens for so long is ended.
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

/// How many calls a caller may make, by effect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateSettings {
    /// Reads in a minute.
    pub read: u32,
    /// Writes in a minute.
    pub write: u32,
    /// Deletes in a minute.
    pub delete: u32,
    /// How many calls may come at once: so many seconds' worth.
    pub burst_seconds: u32,
    /// Whether the process that started us is counted too.
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

/// What a person is asked about, and how long the question stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfirmationSettings {
    /// A change of more notes than this is asked about.
    pub notes: usize,
    /// A question that nobody decides for so long, and an approval that is not used for so long, is void, in seconds.
    pub expires_seconds: u64,
    /// The same for callers that are not attended: a person decides about them elsewhere, and later.
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

/// How long the reply to a call with an `idempotency_key` is kept.
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

/// How long calls are remembered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// In days.
    pub keep_days: u64,
    /// In rows; the oldest go first.
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
    /// An OTLP endpoint over HTTP, such as `http://localhost:4318`; without it nothing is sent.
    pub otlp_endpoint: Option<String>,
}

/// Which tags notes may get.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TagSettings {
    /// What may be tagged with what.
    pub policy: TagPolicy,
}

/// What a model is told about the vaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrientationSettings {
    /// Whether it is told anything.
    pub enabled: bool,
    /// The tag of the notes that are written for assistants. Only a tag in the frontmatter counts.
    pub tag: String,
    /// The notebooks whose tagged notes are shown to models; `.` is the notes in the root. Without one no note is.
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

/// Which tags notes may get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TagPolicy {
    /// Any.
    #[default]
    Open,
    /// Only those that some note of the vault has already.
    Existing,
}
