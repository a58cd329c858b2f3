//! The agent panel: prompt, streaming transcript, cards for tool calls, approvals, and the session
//! list.
//!
//! Knows: `agent`'s records and events, the design system. Must not know: how a session runs, where
//! models are.
//! Invariant: it shows the state that events describe and decides nothing; the user's decisions go
//! out as commands.
//! Start at `ComposerPanel`; `transcript` is the plain data of a transcript; the engines are behind
//! `AgentService`.

#![warn(missing_docs)]

pub mod actions;
pub mod board;
pub mod transcript;

mod changes;
mod completion;
mod context_meter;
mod mention_chips;
mod panel;
mod prompt_image;
mod revealed_text;
mod session_list;
mod session_notices;
mod source_rows;

/// The agent engines as the panel sees them. Wired by the app.
pub mod agents {
    mod fake;

    pub use agent_service::*;
    pub use fake::{FakeAgents, FakeRequest};
}

pub use agent_service::{ModelTraits, effort_name};
pub use agents::{AgentService, Error};
pub use completion::{CompletionKind, CompletionRow, FindMentions, PromptCommand};
pub use composer::folder_review::BufferEdit;
pub use panel::{
    AgentCounts, ComposerPanel, DraftMode, HistoryChoice, HistoryOption, PanelEvent,
    RestoreRequest, age, agent_mark, comment_field,
};
pub use session_notices::{SessionNotice, SessionVisibility, session_notice};
