//! Tab: completes the text being typed and predicts the next edit.
//!
//! Knows: `base`, `text`, `syntax`, `model`. Must not know: files, sockets, threads, gpui, the
//! clock: the driver supplies the time and carries out the effects.
//! Invariant: typing always wins; no stage blocks, and a late result is mapped to the current text
//! or dropped.
//! Invariant: a suggestion names the text it replaces, and applies only while that text is
//! unchanged.
//! Start at `CompletionEngine`, which holds the local predictor, the history of edits and the
//! requests to models.

#![warn(missing_docs)]

mod accept;
mod cache;
mod cause;
mod choose;
pub mod context;
mod debounce;
mod editor_state;
pub mod engine;
mod follow;
pub mod format;
mod history;
pub mod local;
#[cfg(test)]
mod samples;
mod suggestion;
pub mod validate;

pub use accept::AcceptGranularity;
pub use cause::ChangeCause;
pub use choose::{ModelCandidate, TabModelError, choose};
pub use editor_state::EditorState;
pub use follow::FollowResult;
pub use history::{DocumentEdit, EditHistory};
pub use suggestion::{
    SuggestedEdit, Suggestion, SuggestionId, SuggestionIds, SuggestionShape, SuggestionSource,
};
