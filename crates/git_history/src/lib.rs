//! The history of a repository in a tab: the graph of its commits, filters, details; and blame in the texts.
//!
//! Knows: the values of `git_program`, the design system, the editor's marks for authors of lines. Must not know:
//! processes, files, the window's panes, which folders are trusted.
//! Invariant: work on the UI thread does not grow with the history: rows arrive in batches, and the list draws those in
//! sight.
//! Invariant: a query ends with its process when its `RunningQuery` is dropped.
//! Invariant: nothing is asked again while neither the user nor HEAD moves.
//! Start at `HistoryView` (the tab) and `HistoryService`, which the app wires; `blamed_rows` turns a blame into marks.

#![warn(missing_docs)]

pub mod actions;

mod age;
mod blame;
mod fake;
mod filter;
mod host_page;
mod lanes;
mod reflog;
mod service;
mod view;

pub use blame::{BlameRequest, blamed_rows, commit_card};
pub use fake::FakeHistory;
pub use filter::{file_filter, lines_filter};
pub use host_page::commit_page;
pub use reflog::{state_effect, state_summary};
pub use service::{
    CommitCommand, CommitPage, HistoryAnswer, HistoryError, HistoryService, LogBatch, OpenHistory,
    RunningQuery, VersionPair,
};
pub use view::{HistoryEvent, HistoryView};
