//! What one command, or one room, may touch: plain data.
//!
//! Knows: paths as they are written. Must not know: the disk, the environment, how a policy is enforced.
//! Invariant: what is not given here is denied. An empty list gives nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;

use base::AbsPath;
use serde::{Deserialize, Serialize};

mod file;
mod person;
mod secrets;

pub use file::PolicyFile;
pub use person::Person;

/// What may be touched. The whole disk can be read but for `hidden` and the private folders (`/tmp`,
/// `/var/tmp`, `/run`, `/dev/shm`), which start empty and are gone at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The folder to work in: can be written but for `protected`. A link is followed once, at the start.
    pub workspace: AbsPath,
    /// Paths to be seen, read-only, although they lie in a hidden or a private folder.
    pub readable: Vec<AbsPath>,
    /// Files and folders beside the workspace that can be written. Those that do not exist are passed over, and so
    /// are those behind a link that a command could have made.
    pub writable: Vec<AbsPath>,
    /// Folders that seem writable: changes are seen by nobody else and gone at the end. For caches in
    /// the home folder. Those that do not exist and would be hidden from a listing are made for the time of the
    /// sandbox; others are passed over.
    pub scratch: Vec<AbsPath>,
    /// Files and folders that look empty. Those that do not exist are passed over.
    pub hidden: Vec<AbsPath>,
    /// What stays as it is within the workspace and the writable folders.
    pub protected: Protected,
    /// What can be reached.
    pub network: Network,
    /// The whole environment: nothing else is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// How much may be used.
    pub limits: Limits,
    /// Layers that the person decided to do without.
    pub without: BTreeSet<Layer>,
}

/// What makes other programs run code, and therefore stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    /// Names in the workspace and in every other writable folder, compared without regard to case: what is there
    /// is read-only, what is not there cannot come into being. `.git` is always one of them: a pointer file is
    /// read-only, a folder is a repository as below, and one that is not there can be made by `git init`.
    pub names: Vec<String>,
    /// Git folders that can be committed to: objects, references, index, `HEAD` and logs can be written,
    /// what configures git can't. They may lie within the workspace (nested repositories) or outside
    /// (the git folder of a linked worktree), where they become writable by being named here.
    pub repositories: Vec<AbsPath>,
    /// Further files and folders that are read-only although they lie in something writable; those that are not
    /// there cannot come into being.
    pub paths: Vec<AbsPath>,
}

/// What can be reached over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing but the command's own loopback.
    None,
    /// These hosts, through a proxy; an empty list gives none.
    Hosts(Vec<HostRule>),
}

/// A host that can be reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostRule {
    /// A name in plain ASCII (`crates.io`), or `*.` and a name for all that end in it.
    pub host: String,
    /// The ports; none means 80 and 443.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
}

/// How much an order may use. `None` leaves a limit as the program itself has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of memory for the whole tree, where the system can count it.
    pub memory: Option<u64>,
    /// Processes and threads at a time, where the system can count them for the tree; otherwise for the user.
    pub processes: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// Bytes of one file.
    pub file_bytes: Option<u64>,
    /// Seconds of processor time of one process.
    pub cpu_seconds: Option<u64>,
    /// Bytes in the private folders together, each of them.
    pub private_bytes: u64,
}

impl Default for Limits {
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

/// A wall of its own. A command stays in as long as one of those that concern a thing holds; none is
/// left out unless the policy says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Processes, users, names and messages of its own. Without it there are no mounts either.
    Namespaces,
    /// A view of the disk of its own.
    Mounts,
    /// A network of its own.
    Network,
    /// The kernel's second opinion on what can be written.
    Landlock,
    /// System calls that are not given; with it go the typed denials.
    Seccomp,
    /// No program gives more rights than its caller had.
    NoNewPrivs,
    /// Limits on what is used.
    Limits,
}

impl Layer {
    /// Every layer, in the order in which they are put up.
    pub const ALL: [Self; 7] = [
        Self::Namespaces,
        Self::Mounts,
        Self::Network,
        Self::Landlock,
        Self::Seccomp,
        Self::NoNewPrivs,
        Self::Limits,
    ];

    /// As written on a command line and in a policy file.
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

    /// The layer of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
