//! Edits that language models write: parse, match, plan, explain.
//!
//! Knows: `base`, `text`. Must not know: files, models, time.
//! Invariant: never guesses between two places; a hunk lands exactly, is uniquely explained, or is refused.
//! Invariant: bytes outside the matched range are never changed.
//! Start at `edit`, what the formats are parsed into; `plan` finds the places in one file, `set` in
//! several at once, `live` while the edit is still written. `explain` says what came of it; `mark`
//! tells what changed after it was read; `anchor` names lines by number and hash.
//!
//! ```
//! use patch::edit::{Change, Grain, Hunk, Occurrences};
//! use patch::{FileText, Guard, plan};
//!
//! let text = "fn main() {\n    one();\n}\n";
//! let hunk = Hunk {
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
//! let change = Change::Update { hunks: vec![hunk], move_to: None };
//! let planned = plan(&FileText::new(text), &change, Guard::Off);
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
mod found;
mod indent;
pub mod live;
pub mod mark;
mod nearest;
pub mod outcome;
mod place;
mod placeholder;
mod plan;
mod returns;
pub mod set;

pub use file::FileText;
pub use mark::{Guard, ReadMark};
pub use outcome::{Difference, Doubt, HunkReport, Outcome, Place, Refusal, Rung};
pub use plan::{Planned, Replacement, plan};
