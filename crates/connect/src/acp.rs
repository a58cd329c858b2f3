//! ACP: agents of others as guests, and ourselves as an agent in the editors of others.
//!
//! Both directions speak in the words of `words`, which belong to no version of the protocol: every update is an
//! upsert by id, and a turn is a state machine fed by events. Version 1 is in `v1`; another one can stand beside it.
//!
//! Start at `host::start` to host an agent, at `agent::serve` to be one.

pub mod agent;
pub mod host;
#[cfg(feature = "peers")]
pub mod peers;
mod v1;
mod wire;
pub mod words;
