//! Simulated typing of real changes, over the local tier of Tab.
//!
//! Knows: `autocomplete`, `text`, `syntax`. Must not know: where changes come from; `bench` replays
//! commits, `train_tab` the versions of packages.
//! Invariant: accepting a suggestion is simulated only where it is right, so the typed text is the
//! new text of the change.
//! Start at `ChangedFile`, whose `hunks` an `OpenFile` file takes over one after the other.

pub mod baselines;
pub mod caret_suggestions;
pub mod hunks;
pub mod local_tier;
pub mod typing;

use base::AbsPath;
use syntax::Language;

/// A file before and after a change.
pub struct ChangedFile {
    /// Path within an imaginary project.
    pub path: AbsPath,
    /// Language of the file.
    pub language: Language,
    /// Text before the change.
    pub old: String,
    /// Text after the change.
    pub new: String,
}
