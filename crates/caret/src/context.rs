//! What a command is planned from, and what a plan says.
//!
//! Start at `Context` and `Plan`.

use base::{Revision, Span};
use display::DisplaySnapshot;
use syntax::{Language, SyntaxSnapshot};
use text::{Edit, EditKind, LineEnding, SelectionSet, Snapshot};

use crate::boxes::ColumnBox;

/// The settings that change what commands do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaretOptions {
    /// Display cells from one tab stop to the next, and the width of one step of indentation.
    pub tab_width: u32,
    /// Whether indentation is made of tabs.
    pub hard_tabs: bool,
    /// Whether typing an opening bracket or quote adds the closing one.
    pub auto_close: bool,
    /// Whether typing a bracket or quote over a selection surrounds it.
    pub auto_surround: bool,
    /// Whether a new row is indented by the syntax, not just like the row before.
    pub smart_indent: bool,
    /// Whether a new row within a line comment or a list starts with its marker.
    pub continue_comments: bool,
    /// Display rows a page motion goes.
    pub page_rows: u32,
}

/// Everything a command is planned from.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The text.
    pub snapshot: &'a Snapshot,
    /// The selections, of the same revision.
    pub selections: &'a SelectionSet,
    /// How the text is shown, of the same revision.
    pub display: &'a DisplaySnapshot,
    /// What is known of its syntax; may be of an older revision, then it is not asked.
    pub syntax: Option<&'a SyntaxSnapshot>,
    /// Its language; none is plain text.
    pub language: Option<&'a Language>,
    /// The settings.
    pub options: &'a CaretOptions,
    /// What a typed line ending becomes.
    pub line_ending: LineEnding,
    /// What the last plan wanted to be remembered.
    pub memory: &'a Memory,
}

/// Carets for which the tree is asked about indentation, some 0.2 ms each; with more of them the
/// rows and brackets around each decide.
const MOST_INDENTED_BY_TREE: usize = 48;

impl<'a> Context<'a> {
    /// The tree to ask about indentation, when there is one and the carets are few enough.
    pub(crate) fn indent_tree(&self) -> Option<&'a SyntaxSnapshot> {
        let is_few = self.selections.len() <= MOST_INDENTED_BY_TREE;
        self.syntax.filter(|syntax| is_few && syntax.has_tree())
    }

    /// What the last plan remembered, if it speaks of these selections in this text.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        let (revision, selections) = self.memory.valid_for.as_ref()?;
        let is_valid = *revision == self.snapshot.revision() && selections == self.selections;
        is_valid.then_some(self.memory)
    }
}

/// What some commands need to know of the commands before them. The owner keeps the one of the last
/// plan and hands it back; it is ignored as soon as the selections or the text are others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The state it speaks of.
    pub(crate) valid_for: Option<(Revision, SelectionSet)>,
    /// Selections to go back to, the newest last.
    pub(crate) expanded_from: Vec<SelectionSet>,
    /// Whether further occurrences must be whole words.
    pub(crate) whole_words: bool,
    /// The box the selections were made from.
    pub(crate) column_box: Option<ColumnBox>,
    /// Whether the carets are left over from a box after an edit.
    pub(crate) was_box: bool,
}

/// What a command would do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The edits, sorted and disjoint, in offsets of the context's snapshot.
    pub edits: Vec<Edit>,
    /// The selections after the edits.
    pub selections: SelectionSet,
    /// How the step joins others in the undo history.
    pub kind: EditKind,
    /// To be handed back with the next command.
    pub memory: Memory,
    /// Folds to open, in offsets of the context's snapshot.
    pub unfold: Vec<Span>,
    /// Spans to fold after the edits, in offsets of the text after them.
    pub fold: Vec<Span>,
}
