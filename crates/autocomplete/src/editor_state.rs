//! State of the editor at one moment.

use base::{AbsPath, ByteOffset, Row};
use syntax::{Language, SyntaxSnapshot};
use text::Snapshot;

/// The text of the focused editor with its caret, visible rows and syntax tree: all that Tab needs
/// to know of a view. Cheap to clone, and may be sent to any thread.
#[derive(Clone)]
pub struct EditorState {
    /// Path of the file; `None` for an unsaved text.
    pub path: Option<AbsPath>,
    /// The text, with its revision.
    pub snapshot: Snapshot,
    /// Syntax tree with current offsets; its structure may be of an older revision.
    pub syntax: Option<SyntaxSnapshot>,
    /// Language; `None` for plain text.
    pub language: Option<Language>,
    /// The newest caret. Other carets receive the same edit if the text around them matches.
    pub caret: ByteOffset,
    /// Visible rows, the second one exclusive.
    pub rows: (Row, Row),
    /// One step of indentation: a tab or a number of spaces.
    pub indent: String,
}
