//! What every format is parsed into: changes of files, and hunks within them.

use std::ops::Range;

use base::Row;

/// A change of one file as the model wrote it, not yet matched against the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The path as written, relative to the root, with `/`.
    pub path: String,
    /// What happens to it.
    pub change: Change,
}

/// What happens to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file appears. Whether it may replace an existing one is the caller's policy.
    Create {
        /// The whole text.
        text: String,
    },
    /// The file goes away.
    Delete {
        /// All that it is said to hold, where the edit quotes it; then it must hold just that.
        content: Option<String>,
    },
    /// The whole text is replaced; the file may or may not exist.
    Overwrite {
        /// The whole text.
        text: String,
    },
    /// Parts change, and the file may move.
    Update {
        /// In the order written.
        hunks: Vec<Hunk>,
        /// The new path.
        move_to: Option<String>,
    },
    /// Lines named by number and hash change.
    Anchored {
        /// In the order written; anchors all refer to the file as it was read.
        operations: Vec<AnchoredEdit>,
    },
}

/// A replacement within a file. Lines end in `\n` here whatever the file uses, unless the edit itself
/// tells lines with `\r\n` from lines without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The text to find; empty for a pure insertion.
    pub old: String,
    /// What takes its place.
    pub new: String,
    /// Whether `old` and `new` are whole lines or any text.
    pub grain: Grain,
    /// Whether one place or every place is meant.
    pub occurrences: Occurrences,
    /// Lines (`@@ …`) that come before the place, outermost first.
    pub context: Vec<String>,
    /// The row at which the model says `old` starts.
    pub row: Option<Row>,
    /// Whether `old` is said to end the file.
    pub at_end: bool,
    /// Whether the place must lie after that of the hunk before it.
    pub in_order: bool,
    /// The bytes of the model's text that this was read from.
    pub source: Range<usize>,
}

/// What a hunk replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Whole lines; `old` and `new` end in `\n` unless empty.
    Lines,
    /// Any text, within a line too.
    Text,
}

/// How many places are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrences {
    /// Exactly one; more is ambiguous.
    One,
    /// All of them.
    All,
}

/// An edit whose place is named by anchors, `LINE#HASH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchoredEdit {
    /// The first line meant.
    pub first: LineAnchor,
    /// The last line meant, itself included; equal to `first` for one line.
    pub last: LineAnchor,
    /// What happens to them.
    pub action: AnchoredAction,
    /// The bytes of the model's text that this was read from.
    pub source: Range<usize>,
}

/// A line as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineAnchor {
    /// Its row when it was read.
    pub row: Row,
    /// The hash of its text when it was read.
    pub hash: String,
}

/// What happens to anchored lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnchoredAction {
    /// They are replaced; an empty text deletes them.
    Replace(String),
    /// Lines appear before the first.
    InsertBefore(String),
    /// Lines appear after the last.
    InsertAfter(String),
}
