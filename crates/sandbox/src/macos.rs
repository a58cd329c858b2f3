//! The macOS implementation: a Seatbelt profile, a proxy and a private folder for each command.
//!
//! `launch` writes the profile and starts the system's launcher, which confines itself and becomes
//! the command; `command` waits for the process tree and ends it; `denials` reads what the kernel
//! reports; `private_folder` replaces the folders that all programs share.
//! Invariant: the launcher is `/usr/bin/sandbox-exec` and no other program of that name.
//! Invariant: a command that the launcher does not confine is not run: its failures are errors.
//! Invariant: the profile is written for each command from what the disk holds then, so a warm
//! sandbox is always current.
//! Only `child` and `memory` make system calls of macOS; the rest also runs in tests on Linux, with a
//! stand-in for the launcher.

mod child;
mod command;
mod denials;
mod launch;
mod memory;
mod pool;
mod private_folder;

pub(crate) use command::{SupervisedCommand, SupervisorHandle};
pub(crate) use pool::{SupervisorPool, start};

/// Does nothing: every command is started by the system's launcher.
pub(crate) fn prepare() {}

#[cfg(test)]
mod tests;
