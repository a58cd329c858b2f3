//! Runs a command so that it can touch only what it may.
//!
//! Knows: `base`, the kernel's ways to confine a process. Must not know: agents, repositories beyond
//! the files that make git run code, how a denial is shown.
//! Invariant: a layer that cannot be had refuses the order, unless `Policy::without` names it; what was
//! left out is told in `Finished::without`.
//! Invariant: when an order has ended, every process that it began is dead, and so is every mount.
//! Invariant: when the program that asked is killed, all that it had started ends by itself.
//! Start at `start` for one command and at `Room` for many; a program calls `prepare` first thing.
#![warn(missing_docs)]

mod denied;
mod git;
mod guard;
mod links;
mod order;
mod policy;
mod refused;

pub mod names;
mod net;
pub mod scan;
pub mod seatbelt;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

pub use denied::{Access, Denials, Denied};
pub use git::Programs;
pub use guard::refusal;
pub use net::BadRule;
pub use order::{End, Ender, Finished, Order, Room, Running, prepare, start};
pub use policy::{HostRule, Layer, Limits, Network, Person, Policy, PolicyFile, Protected};
pub use refused::Refused;
pub use scan::{Control, Scope};
