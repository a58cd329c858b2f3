//! The board of many agents, as views receive it.

use std::sync::Arc;

use futures::channel::mpsc;

pub use composer::conflict::{Conflict, ConflictHunk, Resolution};
pub use composer::job::{AwaitedInput, HandOverTarget, JobSpec, JobState, JobStatus, JobWorktree};
pub use composer::review::HunkVerdict;
pub use composer::view::{
    BestOfEntry, Board, BoardHunk, BoardJob, BoardNotice, LandingStatus, agent_letter,
};
pub use composer::{Command, Event, JobCommand, StartAgents};

/// A connection to the board of a folder.
pub struct BoardConnection {
    /// Sends a command without blocking.
    pub send: Arc<dyn Fn(Command) + Send + Sync>,
    /// The states of the board, as `Event::Board`: the present one, then each new one.
    pub events: mpsc::UnboundedReceiver<Event>,
}
