//! The board of many agents as the panel is given it. Wired by the app.

use std::sync::Arc;

use futures::channel::mpsc;

pub use composer::desk::{
    Agent, AgentState, Board, Candidate, Conflict, Dispute, Fight, Hunk, Landing, Settlement, Side,
    Task, Told, Verdict, Wish, has_marks, letter,
};

/// The engine of many agents for a folder.
pub struct Live {
    /// What it is told. Telling never waits.
    pub tell: Arc<dyn Fn(Wish) + Send + Sync>,
    /// How everything stands, each time something changed.
    pub boards: mpsc::UnboundedReceiver<Arc<Board>>,
}
