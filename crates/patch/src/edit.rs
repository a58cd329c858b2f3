//! Result of parsing any format: operations on files, and hunks within them.

use std::ops::Range;

use base::Row;

/// An edit of one file as the model wrote it: a path and an operation, not yet matched against the
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// Path as written, relative to the root, with forward slashes.
    pub path: String,
    /// Operation on the file.
    pub change: PatchOperation,
}

/// An operation of a model on a file: create, delete, overwrite, update by hunks, or change
/// anchored lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchOperation {
    /// Creates a file. Whether it may replace an existing one is the caller's policy.
    Create {
        /// Full text of the file.
        text: String,
    },
    /// Deletes the whole file.
    Delete {
        /// Content quoted by the edit, if any; the file must then contain exactly this.
        content: Option<String>,
    },
    /// Replaces the whole text; the file need not exist.
    Overwrite {
        /// Full text of the file.
        text: String,
    },
    /// Changes parts of the file, and may move it.
    Update {
        /// Hunks in the order written.
        hunks: Vec<PatchHunk>,
        /// New path of the file.
        move_to: Option<String>,
    },
    /// Changes lines identified by number and hash.
    Anchored {
        /// Operations in the order written; all anchors refer to the file as it was read.
        operations: Vec<AnchoredEdit>,
    },
}

/// A replacement within a file. Lines end in `\n` regardless of the file, unless the edit itself
/// distinguishes `\r\n` from `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchHunk {
    /// Text to find; empty for a pure insertion.
    pub old: String,
    /// Replacement for the old text.
    pub new: String,
    /// Whether `old` and `new` are whole lines or arbitrary text.
    pub grain: Grain,
    /// Whether the hunk applies once or everywhere.
    pub occurrences: Occurrences,
    /// Lines (`@@ …`) that precede the position, the outermost first.
    pub context: Vec<String>,
    /// Row at which `old` starts according to the model.
    pub row: Option<Row>,
    /// Whether `old` must end the file.
    pub at_end: bool,
    /// Whether the position must follow that of the preceding hunk.
    pub in_order: bool,
    /// Bytes of the model's text that this was parsed from.
    pub source: Range<usize>,
}

/// Granularity of a hunk: whole lines or arbitrary text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Whole lines; `old` and `new` end in `\n` unless empty.
    Lines,
    /// Arbitrary text, also within a line.
    Text,
}

/// The occurrences of the old text that a hunk replaces: exactly one, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrences {
    /// Exactly one; more than one is ambiguous.
    One,
    /// Every occurrence in the file.
    All,
}

/// An edit of a range of lines. The range is given by anchors, `LINE#HASH`, instead of the text of
/// the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchoredEdit {
    /// First line of the range.
    pub first: LineAnchor,
    /// Last line of the range, inclusive; equal to `first` for one line.
    pub last: LineAnchor,
    /// Action on these lines.
    pub action: AnchoredAction,
    /// Bytes of the model's text that this was parsed from.
    pub source: Range<usize>,
}

/// A line by number and hash, as it was when the file was read; see `anchor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineAnchor {
    /// Its row at that time.
    pub row: Row,
    /// Hash of its text at that time.
    pub hash: String,
}

/// An action on anchored lines: replace them, or insert before or after them. Texts are whole
/// lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnchoredAction {
    /// Replaces the lines; an empty text deletes them.
    Replace(String),
    /// Inserts lines before the first.
    InsertBefore(String),
    /// Inserts lines after the last.
    InsertAfter(String),
}
