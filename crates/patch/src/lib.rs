//! Edits written by language models: parses, matches, plans and explains them.
//!
//! Knows: `base`, `text`. Must not know: files, models, time.
//! Invariant: never guesses between two positions; a hunk applies exactly, applies with unambiguous
//! differences, or is refused.
//! Invariant: bytes outside the matched range are never changed.
//! Start at `edit`, the result of parsing any format; `plan` finds the positions in one file, `set`
//! in several at once, `live` while the edit is still being written. `explain` describes the result;
//! `mark` detects changes after a file was read; `anchor` identifies lines by number and hash.
//!
//! ```
//! use patch::edit::{Grain, Occurrences, PatchHunk, PatchOperation};
//! use patch::{FileText, StaleGuard, plan};
//!
//! let text = "fn main() {\n    one();\n}\n";
//! let hunk = PatchHunk {
//!     old: "one();\n".to_owned(),
//!     new: "two();\n".to_owned(),
//!     grain: Grain::Lines,
//!     occurrences: Occurrences::One,
//!     context: Vec::new(),
//!     row: None,
//!     at_end: false,
//!     in_order: false,
//!     source: 0..0,
//! };
//! let change = PatchOperation::Update { hunks: vec![hunk], move_to: None };
//! let planned = plan(&FileText::new(text), &change, StaleGuard::Off);
//! assert_eq!(planned.apply(text), "fn main() {\n    two();\n}\n");
//! assert_eq!(planned.hunks[0].line(), Some(2));
//! ```

#![warn(missing_docs)]

pub mod anchor;
mod block;
mod carry;
mod diff;
pub mod edit;
pub mod explain;
mod file;
mod find;
mod fit;
mod fold;
pub mod format;
mod hunk_match;
mod indent;
pub mod live;
pub mod mark;
mod nearest;
pub mod outcome;
mod placeholder;
mod placement;
mod plan;
mod returns;
pub mod set;

pub use file::FileText;
pub use mark::{ReadMark, StaleGuard};
pub use outcome::{
    Ambiguity, HunkDifference, HunkOutcome, HunkRefusal, HunkReport, MatchStrategy, NearMatch,
};
pub use plan::{EditPlan, PlannedReplacement, plan};
