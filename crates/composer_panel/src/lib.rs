//! The panel for agents: a prompt, a transcript that streams, cards for calls of tools, approvals, the list of
//! sessions.
//!
//! Knows: `agent`'s records and events, the design system. Must not know: how a session runs, where models are.
//! Invariant: it shows what events say and decides nothing; what a person decides goes out as a command.
//! Start at `ComposerPanel`; what a transcript shows is `transcript`, plain data; engines are behind `Agents`.

#![warn(missing_docs)]

pub mod actions;
pub mod agents;
pub mod board;
pub mod transcript;

mod changes;
mod panel;
mod whole;

pub use agents::Agents;
pub use panel::{ComposerPanel, PanelEvent, Standing, mark};
