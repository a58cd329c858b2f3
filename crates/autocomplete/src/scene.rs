//! What is known of the text with the caret, at one moment.

use base::{AbsPath, ByteOffset, Row};
use syntax::{Language, SyntaxSnapshot};
use text::Snapshot;

/// The text with the caret and what is in sight of it. Cheap to clone; may go to any thread.
#[derive(Clone)]
pub struct Scene {
    /// Its file; none for a text that has none yet.
    pub path: Option<AbsPath>,
    /// The text, with its revision.
    pub snapshot: Snapshot,
    /// Its tree, which may be of an older revision, with the offsets of now.
    pub syntax: Option<SyntaxSnapshot>,
    /// Its language; none is plain text.
    pub language: Option<Language>,
    /// The newest caret. Others get what it gets, where the same stands around them.
    pub caret: ByteOffset,
    /// The rows in sight, the second one exclusive.
    pub rows: (Row, Row),
    /// What one step of indentation is: a tab, or so many spaces.
    pub indent: String,
}
