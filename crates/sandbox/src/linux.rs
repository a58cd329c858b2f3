//! Linux: namespaces, mounts, Landlock, a filter of system calls, limits.
//!
//! `plan` turns a policy into steps; `launch` has a small process fork process 1 of the sandbox; `init`
//! does the steps there; `seat` runs an order; `watch` answers the filter's questions.
//! Invariant: the program holds one end of a socket to every sandbox and every seat. When it ends,
//! however it ends, so do they, and the kernel kills what is in them and drops their mounts.

mod blob;
mod caches;
mod filter;
mod group;
mod init;
mod kernel;
mod launch;
mod mounts;
mod order;
mod plan;
mod protect;
mod room;
mod running;
mod seat;
mod steps;
mod wall;
mod watch;
mod wire;

#[cfg(test)]
mod tests;

pub(crate) use launch::prepare;
pub(crate) use room::{Room, start};
pub(crate) use running::{Ender, Running};
