//! Rewrites by an instruction: some lines of a text, or a whole file, in one request without tools.
//!
//! Knows: texts, the contract with models. Must not know: files, the router, how a change is shown.
//! Invariant: no function changes a text; `RewriteRegion::edits` returns the edits of an accepted
//! answer, which touch only the lines that differ.
//! Start at `LineRewrite` (the request) and `AnswerReader` (the answer); `FileRewrite` is the request
//! for a whole file.

#![warn(missing_docs)]

mod answer;
mod fence;
mod file;
mod indentation;
mod line_rewrite;
mod progress;
mod reader;
mod region;
mod request;

pub use fence::fenced;
pub use file::{FileRewrite, file_block};
pub use line_rewrite::{EarlierRewrite, LineRewrite, MAX_LINES_BYTES, RewriteEvent, RewriteQuery};
pub use progress::AnswerProgress;
pub use reader::AnswerReader;
pub use region::RewriteRegion;
