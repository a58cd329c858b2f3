//! The panel with the changes of a folder's repositories: staging, the message of the next commit, branches and remotes.
//!
//! Knows: the values of `git` and `git_program`, the design system, the editor for the message. Must not know: the disk,
//! processes, the window's panes and documents.
//! Invariant: a request that failed leaves no trace: the panel shows what the service reads afterwards.
//! Invariant: one call of the git program runs at a time; staging goes on meanwhile and is answered in any order.
//! Invariant: texts of Git, hooks and remotes are made printable before they are drawn.
//! Start at `ChangesPanel`; repositories are behind `GitService`.

#![warn(missing_docs)]

pub mod actions;

mod fake;
mod message;
mod panel;
mod rows;
mod service;
mod state;

pub use fake::FakeGit;
pub use panel::{
    BisectStep, ChangesPanel, ChangesPanelEvent, CommitKind, CommitPurpose, GitSummary,
    PanelCommand, RebaseList, on_commands,
};
pub use service::{
    CompareRequest, DiffRequest, DiscardedFile, GitAnswer, GitCommand, GitFailure, GitFailureKind,
    GitOutcome, GitPrompt, GitRepository, GitRun, GitService, GitTick, HookReport, MessageDraft,
    NamedVersion, PushMode, RebasePlan, RepositoryRole, StagingStep,
};
