//! Tab: completes what is being typed and predicts the next edit.
//!
//! Knows: `base`, `text`, `syntax`, `model`. Must not know: files, sockets, threads, gpui, the clock: whoever
//! drives it says when and carries out what it asks for.
//! Invariant: typing always wins; no stage waits, and what comes back late is followed to the text of now or dropped.
//! Invariant: a suggestion says which text it replaces, and is applied only where that text still stands.
//! Start at `Suggestion`; what is known of the text at one moment is a `Scene`.

#![warn(missing_docs)]

mod accept;
mod cache;
mod cause;
mod choose;
pub mod context;
mod debounce;
pub mod engine;
mod follow;
pub mod format;
pub mod local;
#[cfg(test)]
mod samples;
mod scene;
mod suggestion;
pub mod validate;

pub use accept::Part;
pub use cause::Cause;
pub use choose::{Candidate, choose};
pub use follow::Fate;
pub use scene::Scene;
pub use suggestion::{Replacement, Shape, Source, Suggestion, SuggestionId};
