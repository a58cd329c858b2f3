//! The one running model router, and the adapters that speak each provider's wire.
//!
//! Knows: `base`, `model`. Must not know: agents, projects, windows; what a model is called decides nothing.
//! Invariant: adapters never retry; dropping a stream closes its socket.
//! Invariant: a key never reaches a log, a failure's message or a recording.
//! Start at `wire` for what goes over the network, and at `actor` for who may send when.

#![warn(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "the border to the network: it dates rate limits, and tokio's clock measures silence"
)]

pub mod actor;
pub mod http;
pub mod keys;
pub mod record;
pub mod wire;

#[cfg(test)]
mod tests;
