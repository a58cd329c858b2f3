//! Carets: motions, edits, selections, clipboard and find, as pure functions.
//!
//! Knows: `base`, `text`, `syntax`, `display`. Must not know: windows, files, time, threads, the
//! owner of the buffer.
//! Invariant: `plan` reads a `CommandContext` and returns a `CaretPlan`; nothing here has side effects.
//! Invariant: the edits of a plan are sorted and disjoint and use offsets of the planned snapshot;
//! its selections use offsets of the text after the edits.
//! Invariant: planned selections are on grapheme boundaries.
//! Start at `plan`; the list of commands is in `command`, of motions in `motion`.

mod command;
mod context;
mod motion;
mod plan;

mod auto_close;
mod boxes;
mod brackets;
mod case;
mod column_box;
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

pub use case::{NameSpelling, respelled};
pub use column_box::ColumnBox;
pub use command::{Command, SelectionUnit};
pub use context::{CaretOptions, CaretPlan, CommandContext, CommandMemory};
pub use expand::expand_within;
pub use motion::Motion;
pub use plan::plan;
