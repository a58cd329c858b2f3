//! Carets: motions, edits, selections, clipboard and find, as pure functions.
//!
//! Knows: `base`, `text`, `syntax`, `display`. Must not know: windows, files, time, threads, and who
//! owns the buffer it plans for.
//! Invariant: `plan` reads a `Context` and answers with a `Plan`; nothing here changes anything.
//! Invariant: the edits of a plan are sorted and disjoint and name offsets of the snapshot they were
//! planned for; its selections name offsets of the text after them.
//! Invariant: planned selections lie on grapheme boundaries.
//! Start at `plan`; the list of commands is in `command`, of motions in `motion`.

mod command;
mod context;
mod motion;
mod plan;

mod boxes;
mod brackets;
mod case;
mod comment;
mod delete;
mod draft;
mod expand;
mod indent;
mod insert;
mod newline;
mod occurrences;
mod quotes;
mod row_heads;
mod rows;
mod select;
mod words;

pub mod clipboard;
pub mod find;
pub mod history;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use boxes::ColumnBox;
pub use command::{Command, Unit};
pub use context::{CaretOptions, Context, Memory, Plan};
pub use motion::Motion;
pub use plan::{plan, settle};
