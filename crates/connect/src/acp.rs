//! ACP: hosts external agents, and serves editors as an agent.
//!
//! Both directions use the version-independent types of `protocol`: every update is an upsert by id,
//! and a turn is a state machine driven by events. `v1` converts from and to version 1; another
//! version can be added beside it.
//!
//! Start at `host::start` to host an agent, at `agent::serve` to be one.

pub mod agent;
pub mod host;
#[cfg(feature = "peers")]
pub mod peers;
pub mod protocol;
mod v1;
mod wire;
