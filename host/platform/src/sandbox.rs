//! The sandbox that the operating system offers a process for its files: Landlock on Linux. Other systems have none that
//! a program can enter by itself without a signed profile.

use std::path::PathBuf;

/// Whether this system has such a sandbox.
pub fn is_available() -> bool {
    system::is_available()
}

/// Limits this thread and every thread that it starts from now on, for good: folders in `write` can be changed, files and
/// folders in `read` can be read, each with everything below. Does nothing on a system that has no sandbox.
pub fn confine(write: &[PathBuf], read: &[PathBuf]) -> Result<(), String> {
    system::confine(write, read)
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::PathBuf;

    use landlock::{
        ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
    };

    /// The newest rights requested; an older kernel enforces those it knows.
    const RIGHTS: ABI = ABI::V5;

    /// System files read by name resolution, time zones, certificates, the allocator and the compiler's thread pool.
    const SYSTEM: [&str; 28] = [
        "/etc",
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/nix/store",
        "/gnu/store",
        "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates",
        "/usr/share/pki",
        "/usr/share/ssl",
        "/var/lib/ca-certificates",
        "/usr/share/zoneinfo",
        "/usr/share/zoneinfo-icu",
        "/run/NetworkManager",
        "/run/systemd/resolve",
        "/run/resolvconf",
        "/run/nscd",
        "/proc/self",
        "/proc/cpuinfo",
        "/proc/locks",
        "/proc/meminfo",
        "/proc/stat",
        "/proc/sys",
        "/sys/devices/system",
        "/sys/fs/cgroup",
        "/sys/kernel/mm",
    ];
    const DEVICES: [&str; 3] = ["/dev/null", "/dev/random", "/dev/urandom"];

    fn read_access() -> BitFlags<AccessFs> {
        AccessFs::ReadFile | AccessFs::ReadDir
    }

    /// Everything that a vault and the state folder need: no programs, devices or pipes.
    fn write_access() -> BitFlags<AccessFs> {
        AccessFs::from_all(RIGHTS)
            & !(AccessFs::Execute
                | AccessFs::MakeChar
                | AccessFs::MakeBlock
                | AccessFs::MakeFifo
                | AccessFs::IoctlDev)
    }

    /// Rights that all kernels with a usable Landlock have. Without `Refer` (ABI 2) no file can be renamed into another
    /// folder, and every commit does that.
    fn ruleset() -> Result<Ruleset, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V2))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(RIGHTS))
    }

    pub(super) fn is_available() -> bool {
        ruleset().and_then(Ruleset::create).is_ok()
    }

    pub(super) fn confine(write: &[PathBuf], read: &[PathBuf]) -> Result<(), String> {
        let program: Option<PathBuf> = std::env::current_exe().ok();
        let restrict = || {
            ruleset()?
                .create()?
                .add_rules(path_beneath_rules(write, write_access()))?
                .add_rules(path_beneath_rules(
                    read.iter().chain(&program),
                    read_access(),
                ))?
                .add_rules(path_beneath_rules(SYSTEM, read_access()))?
                .add_rules(path_beneath_rules(
                    DEVICES,
                    AccessFs::ReadFile | AccessFs::WriteFile,
                ))?
                .restrict_self()
        };
        match restrict() {
            Ok(status) if status.ruleset != RulesetStatus::NotEnforced => Ok(()),
            Ok(_) => Err("the kernel does not enforce Landlock".to_owned()),
            Err(error) => Err(format!("Landlock: {error}")),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn is_available() -> bool {
        false
    }

    pub(super) fn confine(
        _: &[std::path::PathBuf],
        _: &[std::path::PathBuf],
    ) -> Result<(), String> {
        Ok(())
    }
}
