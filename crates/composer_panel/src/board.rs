//! The board of many agents, as the panel receives it.

pub use agent_service::board::{
    AwaitedInput, BestOfEntry, Board, BoardConnection, BoardHunk, BoardJob, BoardNotice, Command,
    Conflict, ConflictHunk, Event, HandOverTarget, HunkVerdict, JobCommand, JobSpec, JobState,
    JobStatus, JobWorktree, LandingStatus, Resolution, StartAgents, agent_letter,
};
