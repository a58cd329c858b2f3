//! The Linux implementation: namespaces, mounts, Landlock, seccomp, resource limits.
//!
//! `plan` turns a policy into steps; `launch` has a small process fork process 1 of the sandbox;
//! `init` performs the steps there; `supervisor` supervises a command; `watch` answers the seccomp
//! filter's notifications.
//! Invariant: this program holds one end of a socket to every sandbox and every supervisor. When it
//! ends, for any reason, so do they; the kernel kills the processes in them and drops their mounts.

mod caches;
mod control_group;
mod filter;
mod init;
pub(crate) mod kernel;
pub(crate) mod landlock;
mod launch;
mod mounts;
mod packed_request;
mod plan;
mod plan_encoding;
mod protocol;
mod steps;
mod supervisor;
mod supervisor_client;
mod supervisor_pool;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use launch::prepare;
pub(crate) use supervisor_client::{SupervisedCommand, SupervisorHandle};
pub(crate) use supervisor_pool::{SupervisorPool, start};

/// The port of the proxy on the command's own loopback.
const PROXY_PORT: u16 = 3128;
/// The hosts on that loopback, which need no proxy.
const OWN_HOSTS: &str = "localhost,127.0.0.1,::1";
