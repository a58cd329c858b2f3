//! Rope buffers, authored edits, anchors, selections, the undo tree, encodings and diffs.
//!
//! Knows: `base`. Must not know: files, clocks, threads, languages, how text is drawn.
//! Invariant: every offset is a count of UTF-8 bytes on a char boundary of the revision it names.
//! Invariant: a buffer's text keeps its original line endings; rows are separated by line feeds.
//! Invariant: undoing every step restores the start text; redoing every step restores the text
//! before that.
//! Invariant: only `storage` names the rope, so that it can be replaced.
//! Start at `Buffer::edit`; use `Snapshot` for reading; the undo tree is in `history`.
//!
//! ```
//! use base::{ByteOffset, Span};
//! use text::{Buffer, EditOrigin, Timestamp};
//!
//! let mut buffer = Buffer::new("one two");
//! let before = buffer.snapshot();
//! let change = buffer.replace(Span::from(0..3), "1", &EditOrigin::user(Timestamp(0)));
//! assert_eq!(buffer.snapshot().to_string(), "1 two");
//! assert_eq!(change.map(ByteOffset(4), base::Bias::Left), ByteOffset(2));
//! buffer.undo();
//! assert!(before.diff_rows(&buffer.snapshot()).is_empty());
//! ```

#![warn(missing_docs)]

mod anchors;
mod buffer;
mod change;
mod change_log;
mod diff;
mod edit;
mod encoding;
mod history;
mod line_ending;
mod moves;
mod operation;
#[cfg(test)]
mod random;
mod selection;
mod snapshot;
mod span_set;
mod storage;

pub use anchors::AnchorId;
pub use buffer::{Buffer, UndoOutcome};
pub use change::{Change, Splice};
pub use diff::{RowHunk, RowSpan, diff_lines, diff_lines_for_display, diff_words};
pub use edit::{Author, Edit, EditKind, EditOrigin, Timestamp};
pub use encoding::{
    Decoded, EncodeError, Encoding, FileFormat, decode, decode_as, decode_text, encode,
    looks_binary,
};
pub use history::{CheckpointId, History, NodeId, UndoStep};
pub use line_ending::{LineEnding, LineEndings};
pub use moves::{LineChange, MovedLines, moved_lines};
pub use operation::BufferOperation;
pub use selection::{Selection, SelectionSet};
pub use snapshot::{Chars, CharsBefore, Chunks, Snapshot};
pub use span_set::{PlacedMark, SpanMark, SpanSet};
