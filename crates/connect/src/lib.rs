//! Tools and agents of others: MCP servers as tools, ACP agents as guests, and ourselves as an ACP agent.
//!
//! Knows: `base`, `host`, the two protocols. Must not know: sessions and tools of our own, windows; whoever plugs
//! them together implements the traits here.
//! Invariant: types of the protocols' crates do not leave this crate.
//! Invariant: a process started here has a group of its own, a scrubbed environment, and ends with its owner.
//! Invariant: whatever bytes the other side sends, what comes of it is a sentence, never a panic.
//! Start at `mcp::Hub` for tools, at `acp::host` for agents of others, at `acp::agent` for being one.

#![warn(missing_docs)]

pub mod acp;
mod child;
mod lines;
pub mod mcp;
mod variables;

pub use variables::Variables;
