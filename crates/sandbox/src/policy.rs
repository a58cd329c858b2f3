//! The access rights of one command or one warm sandbox, as plain data.
//!
//! Knows: paths as written. Must not know: the disk, the environment, how a policy is enforced.
//! Invariant: everything not granted here is denied. An empty list grants nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;

use base::AbsPath;
use serde::{Deserialize, Serialize};

mod file;
mod secrets;
mod user;

pub use file::{PolicyFile, PolicyFileError};
pub use user::UserEnvironment;

/// The granted access. The whole disk is readable except for `hidden` and the folders that all
/// programs share. On Linux these (`/tmp`, `/var/tmp`, `/run`, `/dev/shm`) start empty and are
/// discarded at the end; on macOS they are hidden, and `TMPDIR` names a private folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The working folder: writable except for `protected`, which may name the folder itself. A link
    /// is followed once, at the start.
    pub workspace: AbsPath,
    /// Paths that stay visible, read-only, inside a hidden or private folder.
    pub readable: Vec<AbsPath>,
    /// Writable files and folders besides the workspace. Missing ones are skipped, as are those
    /// behind a link that a command could have created.
    pub writable: Vec<AbsPath>,
    /// Folders that appear writable: changes are visible to no other command and are discarded at
    /// the end. Used for caches in the home folder. A missing folder that no listing would show is
    /// created for the lifetime of the sandbox; other missing folders are skipped. On macOS they are
    /// read-only, since nothing can be discarded there.
    pub scratch: Vec<AbsPath>,
    /// Files and folders that appear empty; on macOS they cannot be opened. Missing ones are skipped.
    pub hidden: Vec<AbsPath>,
    /// Paths that are read-only inside the workspace and the writable folders.
    pub protected: ProtectionRules,
    /// The reachable network hosts.
    pub network: Network,
    /// The complete environment: nothing else is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// The limits on resource usage.
    pub limits: ResourceLimits,
    /// Layers that the user decided to omit.
    pub without: BTreeSet<SandboxLayer>,
}

/// Paths through which other programs run code, and which are therefore read-only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectionRules {
    /// Names in the workspace and in every other writable folder, in any spelling that some volume
    /// takes for the same: existing entries are read-only, missing ones cannot be created. `.git` is
    /// always included: a pointer file is read-only, a folder is treated as a repository (see below),
    /// and a missing one can be created by `git init`, on Linux only: a profile of macOS cannot tell
    /// a harmless configuration from one that runs programs.
    pub names: Vec<String>,
    /// Git folders that can be committed to: objects, references, index, `HEAD` and logs are
    /// writable, git's configuration is not. They may lie inside the workspace (nested
    /// repositories) or outside (the git folder of a linked worktree), where listing them here
    /// makes them writable.
    pub repositories: Vec<AbsPath>,
    /// Further files and folders that are read-only inside a writable folder; missing ones cannot
    /// be created. If the workspace, a writable path or a repository is named here, in whatever
    /// spelling, it is visible and read-only as a whole: with all writable paths and repositories in
    /// it, and with the git folders of a linked worktree.
    pub paths: Vec<AbsPath>,
    /// Start-up files of the home folder: read-only inside a writable folder, missing ones cannot be
    /// created. One that is itself the workspace or a writable path is writable, since the user
    /// opened or granted it.
    pub start_files: Vec<AbsPath>,
}

/// The network access of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Only the command's own loopback; on macOS, which has none, nothing.
    None,
    /// These hosts, through a proxy; an empty list grants none.
    Hosts(Vec<HostRule>),
}

/// A host that may be reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostRule {
    /// A name in plain ASCII (`crates.io`), or `*.` and a name for all its subdomains.
    pub host: String,
    /// The ports; an empty list means 80 and 443.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
}

/// Resource limits of a command. `None` keeps the limit of the calling program. On macOS memory and
/// processes are added up five times a second, and a tree that exceeds its limit is killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResourceLimits {
    /// Bytes of memory for the whole process tree, if the system can count them.
    pub memory: Option<u64>,
    /// Number of processes and threads, counted for the tree if the system can, otherwise for the
    /// user.
    pub processes: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// Maximum file size in bytes.
    pub file_bytes: Option<u64>,
    /// Seconds of CPU time of one process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of data in each of the private folders. Not enforced on macOS.
    pub private_bytes: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self {
            memory: None,
            processes: Some(4096),
            open_files: None,
            file_bytes: None,
            cpu_seconds: None,
            private_bytes: 4 << 30,
        }
    }
}

/// One independent layer of confinement. An operation stays denied as long as one of the layers
/// that cover it holds; no layer is omitted unless the policy says so. macOS has a profile for
/// `Mounts` and `Network`, and `Limits`; the other layers do not exist there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLayer {
    /// Own namespaces for processes, users, host name and IPC. Without them there are no mounts
    /// either.
    Namespaces,
    /// An own view of the file system.
    Mounts,
    /// An own network namespace.
    Network,
    /// The kernel's second check of write access.
    Landlock,
    /// The system call filter; without it denials are not recorded.
    Seccomp,
    /// `no_new_privs`: no program gains more rights than its caller.
    NoNewPrivs,
    /// Limits on resource usage.
    Limits,
}

impl SandboxLayer {
    /// All layers, in the order in which they are set up.
    pub const ALL: [Self; 7] = [
        Self::Namespaces,
        Self::Mounts,
        Self::Network,
        Self::Landlock,
        Self::Seccomp,
        Self::NoNewPrivs,
        Self::Limits,
    ];

    /// Returns the name used on the command line and in policy files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Mounts => "mounts",
            Self::Network => "network",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::NoNewPrivs => "no-new-privs",
            Self::Limits => "limits",
        }
    }

    /// Returns the layer with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

impl fmt::Display for SandboxLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
