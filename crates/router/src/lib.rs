//! The model router, and the adapters for each provider's wire protocol.
//!
//! Knows: `base`, `model`. Must not know: agents, projects, windows; a model's name decides
//! nothing.
//! Invariant: adapters never retry; dropping a stream closes its socket.
//! Invariant: a key never reaches a log, a failure's message or a recording.
//! Start at `wire` for the protocols, and at `actor` for the scheduling of requests.

#![warn(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "the network boundary: it needs the time for rate limits, and tokio's clock for \
              timeouts"
)]

pub mod actor;
mod error;
pub mod http;
pub mod keys;
pub mod record;
pub mod wire;

pub use error::Error;

#[cfg(test)]
mod tests;
