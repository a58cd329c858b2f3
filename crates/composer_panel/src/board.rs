//! The board of many agents, as the panel receives it. Wired by the app.

use std::sync::Arc;

use futures::channel::mpsc;

pub use composer::view::{
    Agent, AgentState, BestOfEntry, Board, BoardHunk, BoardNotice, ConflictChoice, ConflictHunk,
    ConflictWarning, HandOverTarget, HunkVerdict, LandingConflict, LandingStatus, StartAgents,
    UserCommand, agent_letter, has_conflict_markers,
};

/// A connection to the board of a folder.
pub struct BoardConnection {
    /// Sends a command without blocking.
    pub send: Arc<dyn Fn(UserCommand) + Send + Sync>,
    /// The state of the board, after each change.
    pub boards: mpsc::UnboundedReceiver<Arc<Board>>,
}
