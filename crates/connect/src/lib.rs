//! External tools and agents: MCP servers as tools, hosted ACP agents, and the ACP agent that
//! serves editors.
//!
//! Knows: `base`, `host`, the two protocols. Must not know: our own sessions and tools, windows;
//! the code that connects them implements the traits here.
//! Invariant: types of the protocols' crates do not leave this crate.
//! Invariant: a process started here has its own process group and a scrubbed environment, and ends
//! with its owner.
//! Invariant: arbitrary bytes from the other side result in an error sentence, never in a panic.
//! Start at `mcp::McpClients` for tools, at `acp::host` for external agents, at `acp::agent` for being
//! one.

#![warn(missing_docs)]

pub mod acp;
mod child;
mod framing;
pub mod mcp;
mod variables;

pub use variables::Variables;
