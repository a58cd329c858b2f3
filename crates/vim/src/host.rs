//! The border to the owner of the text: reads and edits that a command needs at once.
//!
//! Everything that can wait until the key is answered is an `Effect` instead. Start at `VimHost`.

use std::ops::Range;

use base::Span;
use text::{Change, Edit, LineEnding, SelectionSet, Snapshot};

/// The owner of the text that a `Vim` edits, with the facts about its view.
///
/// Only the methods about the text are required. Each edit takes effect at once, so that macros and
/// repeats run through in one go.
pub trait VimHost {
    /// Returns the current text. Takes constant time.
    fn snapshot(&self) -> Snapshot;

    /// Applies sorted, disjoint edits of the current snapshot as one change of the user.
    fn edit(&mut self, edits: &[Edit]) -> Change;

    /// Starts an undo step that lasts until `end_step`. Calls are not nested.
    fn begin_step(&mut self);

    /// Ends the undo step that `begin_step` started.
    fn end_step(&mut self);

    /// Moves in the undo tree. Returns `None` if there is no such state.
    fn travel(&mut self, to: UndoMove) -> Option<Change>;

    /// Returns the number of the current state of the undo tree; 0 for the text at the start.
    /// States are numbered in the order in which they came to be.
    fn undo_state(&self) -> u32;

    /// Returns whether the text cannot be changed.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Returns the line ending for inserted lines.
    fn line_ending(&self) -> LineEnding {
        LineEnding::Lf
    }

    /// Returns the text of a clipboard, with line feeds between lines.
    fn clipboard(&mut self, _kind: ClipboardKind) -> Option<String> {
        None
    }

    /// Sets the text of a clipboard.
    fn set_clipboard(&mut self, _kind: ClipboardKind, _text: &str) {}

    /// Returns the rows in view.
    fn viewport(&self) -> Viewport {
        Viewport { top: 0, height: 24 }
    }

    /// Returns the rows of the closed fold that contains a row; at least two, the first shown.
    fn closed_fold(&self, _row: u32) -> Option<Range<u32>> {
        None
    }

    /// Returns the rows that folds could cover, one range for each, in order of their starts.
    fn folds(&self) -> Vec<Range<u32>> {
        Vec::new()
    }

    /// Returns the offset that a motion by display rows reaches from an offset, for wrapped lines;
    /// `None` for lines that are not wrapped.
    fn display_motion(
        &self,
        _from: base::ByteOffset,
        _motion: DisplayMotion,
    ) -> Option<base::ByteOffset> {
        None
    }

    /// Returns the indentation for a row by the language, for `=` and new lines; `None` without
    /// one.
    fn indent_for(&self, _row: u32) -> Option<String> {
        None
    }

    /// Returns the markers of a comment in the language at a row: the one before, and the one
    /// behind, which is empty for line comments.
    fn comment_markers(&self, _row: u32) -> Option<(String, String)> {
        None
    }

    /// Returns the smallest syntax object of a kind that covers a span and is larger than it.
    fn syntax_object(
        &self,
        _kind: SyntaxObject,
        _extent: ObjectExtent,
        _span: Span,
    ) -> Option<Span> {
        None
    }

    /// Returns the bytes behind a caret that backspace removes with the character before it, such as
    /// a closing bracket that the editor added.
    fn pair_behind(&self, _caret: base::ByteOffset) -> usize {
        0
    }

    /// Returns the edits and carets of typed text or of a line break, with what the editor adds to
    /// it, such as closing brackets and indentation; `None` to insert it as it is.
    fn plan_typing(
        &self,
        _carets: &SelectionSet,
        _text: &str,
    ) -> Option<(Vec<Edit>, SelectionSet)> {
        None
    }

    /// Returns the name of the file, or of the one shown before, as the user types it.
    fn file_name(&self, _which: FileName) -> Option<String> {
        None
    }
}

/// A move in the undo tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoMove {
    /// To the state before the current one.
    Undo,
    /// To the next state of the branch left last.
    Redo,
    /// To a state by its number.
    To(u32),
}

/// A clipboard of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipboardKind {
    /// Clipboard of copy and paste, the register `+`.
    Clipboard,
    /// Primary selection of X11, the register `*`.
    Primary,
}

/// The file whose name a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileName {
    /// File of the text, the register `%`.
    Current,
    /// File shown before, the register `#`.
    Alternate,
}

/// The rows in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// First visible row.
    pub top: u32,
    /// Number of visible rows.
    pub height: u32,
}

/// A motion by rows and columns as shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayMotion {
    /// Down by a number of display rows.
    Down(u32),
    /// Up by a number of display rows.
    Up(u32),
    /// To the start of the display row.
    Start,
    /// To the first character of the display row that is no blank.
    FirstNonBlank,
    /// To the last character of the display row.
    End,
    /// To the middle of the display row.
    Middle,
}

/// A kind of syntax object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxObject {
    /// Function or method.
    Function,
    /// Class or another type.
    Class,
    /// Changed hunk.
    Hunk,
}

/// The part of an object that is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectExtent {
    /// Without delimiters.
    Inner,
    /// With delimiters or blanks.
    Around,
}
