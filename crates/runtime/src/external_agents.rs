//! External agents: those that can be hosted, their processes, and their sessions in worktrees.
//!
//! A hosted session takes the same commands and sends the same events as one of our own, so boards,
//! views and reviews do not distinguish them. Its records are in the ledger; the agent keeps its own
//! conversation.
//! Knows: the host side of ACP, the journal of a session, the change log of a worktree. Must not
//! know: windows, command lines.
//! Invariant: a change in the worktree during a turn has the agent as its author, whether the agent
//! wrote through the protocol or by its own tools.
//! Invariant: an agent on the board runs in the sandbox of its worktree, or not at all, unless the
//! user turned the sandbox off.
//! Start at `directory::find` for an agent, at `session::start` for a session.

pub mod directory;
pub mod install;
pub mod launch;
mod options;
mod permission;
mod recorder;
pub(crate) mod session;
mod sign_in;
pub mod terminals;
pub(crate) mod tree_author;

pub use directory::ExternalAgent;
