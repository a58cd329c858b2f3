//! Runs a command so that it can touch only what its policy grants.
//!
//! Knows: `base`, the kernel's means to confine a process. Must not know: agents, repositories
//! beyond the files through which git runs code, how a denial is shown.
//! Invariant: a missing layer refuses the command, unless `Policy::without` names it; omitted
//! layers are listed in `CommandOutcome::without`.
//! Invariant: when a command has ended, every process that it started is dead, and every mount is
//! gone.
//! Invariant: when the calling program is killed, everything that it started ends as well.
//! Start at `start` for one command and at `WarmSandbox` for many; a program calls `prepare` first.
#![warn(missing_docs)]

mod denial;
mod error;
mod git;
mod guard;
mod links;
mod policy;
mod spawn;

pub mod names;
mod net;
pub mod scan;
pub mod seatbelt;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use unsupported as system;

pub use denial::{DenialLog, DeniedAccess, PathAccess};
pub use error::SandboxError;
pub use git::GitPrograms;
pub use guard::refusal;
pub use net::{BadRule, is_open_address};
pub use policy::{
    HostRule, Network, Policy, PolicyFile, PolicyFileError, ProtectionRules, ResourceLimits,
    SandboxLayer, UserEnvironment,
};
pub use scan::{ScanBaseline, ScanScope};
pub use spawn::{
    CommandExit, CommandOutcome, KillHandle, RunningCommand, SpawnRequest, WarmSandbox, prepare,
    start,
};
