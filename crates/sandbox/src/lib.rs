//! Runs a command so that it can touch only what its policy grants.
//!
//! On Linux by namespaces, mounts, Landlock and a system call filter (`linux`), on macOS by a
//! Seatbelt profile (`macos`, `seatbelt`). Both start from the same lookups of the policy's paths
//! (`lookup`, `granted`, `protect`) and the same proxy (`net`).
//! Knows: `base`, the kernel's means to confine a process. Must not know: agents, repositories
//! beyond the files through which git runs code, how a denial is shown.
//! Invariant: a missing layer refuses the command, unless `Policy::without` names it; omitted
//! layers are listed in `CommandOutcome::without`.
//! Invariant: when a command has ended, every process that it started is dead, and every mount is
//! gone. On macOS a process that hid from the process table may be missed; see the safety page.
//! Invariant: when the calling program is killed, everything that it started ends as well.
//! Start at `start` for one command and at `WarmSandbox` for many; a program calls `prepare` first.
#![warn(missing_docs)]

mod denial;
mod error;
mod git;
mod granted;
mod guard;
mod links;
mod lookup;
mod policy;
mod program;
mod protect;
mod spawn;

pub mod names;
mod net;
pub mod scan;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

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
