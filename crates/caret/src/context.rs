//! Input and output of planning.
//!
//! Start at `CommandContext` and `CaretPlan`.

use base::{Revision, Span};
use display::DisplaySnapshot;
use syntax::{Language, SyntaxSnapshot};
use text::{Edit, EditKind, LineEnding, SelectionSet, Snapshot};

use crate::column_box::ColumnBox;

/// Settings that affect commands. The indentation settings may be those detected from the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaretOptions {
    /// Display cells between tab stops, and width of an indentation level.
    pub tab_width: u32,
    /// Whether to indent with tabs.
    pub hard_tabs: bool,
    /// Whether typing an opening bracket or quote inserts the closing one.
    pub auto_close: bool,
    /// Whether typing a bracket or quote over a selection surrounds it.
    pub auto_surround: bool,
    /// Whether to indent new rows by the syntax instead of copying the previous row.
    pub smart_indent: bool,
    /// Whether a new row in a line comment or list starts with its marker.
    pub continue_comments: bool,
    /// Display rows per page motion.
    pub page_rows: u32,
}

/// Input of planning a command: the text and its view at one revision, and the settings.
#[derive(Clone, Copy)]
pub struct CommandContext<'a> {
    /// Snapshot of the text.
    pub snapshot: &'a Snapshot,
    /// The selections, of the same revision.
    pub selections: &'a SelectionSet,
    /// Display snapshot of the same revision.
    pub display: &'a DisplaySnapshot,
    /// Syntax snapshot; ignored if it is of an older revision.
    pub syntax: Option<&'a SyntaxSnapshot>,
    /// Language of the text; `None` for plain text.
    pub language: Option<&'a Language>,
    /// Settings that commands depend on.
    pub options: &'a CaretOptions,
    /// Line ending to insert for a typed line break.
    pub line_ending: LineEnding,
    /// Memory of the last plan.
    pub memory: &'a CommandMemory,
}

/// Maximum number of carets for querying the tree about indentation, at about 0.2 ms each; with
/// more, rows and brackets decide.
const MAX_TREE_INDENTS: usize = 48;

impl<'a> CommandContext<'a> {
    /// Returns the syntax tree for queries about indentation. Returns `None` without a tree, and if
    /// there are too many carets for one query each.
    pub(crate) fn indent_tree(&self) -> Option<&'a SyntaxSnapshot> {
        let is_few = self.selections.len() <= MAX_TREE_INDENTS;
        self.syntax.filter(|syntax| is_few && syntax.has_tree())
    }

    /// Returns the memory of the last plan. Returns `None` if text or selections have changed
    /// since.
    pub(crate) fn memory(&self) -> Option<&CommandMemory> {
        let (revision, selections) = self.memory.valid_for.as_ref()?;
        let is_valid = *revision == self.snapshot.revision() && selections == self.selections;
        is_valid.then_some(self.memory)
    }
}

/// State passed from one command to the next. The caller stores the memory of the last plan and
/// passes it back; it is ignored once the selections or the text change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandMemory {
    /// Revision and selections for which it is valid.
    pub(crate) valid_for: Option<(Revision, SelectionSet)>,
    /// Selections to restore when shrinking, newest last.
    pub(crate) expanded_from: Vec<SelectionSet>,
    /// Whether further occurrences must be whole words.
    pub(crate) whole_words: bool,
    /// Box that produced the selections.
    pub(crate) column_box: Option<ColumnBox>,
    /// Whether the carets are left over from a box after an edit.
    pub(crate) was_box: bool,
}

/// Result of planning a command: edits, new selections and folds. The text and the view stay
/// unchanged until the caller applies the plan.
#[derive(Clone, Debug)]
pub struct CaretPlan {
    /// The edits, sorted and disjoint, in offsets of the context's snapshot.
    pub edits: Vec<Edit>,
    /// The selections after the edits.
    pub selections: SelectionSet,
    /// Kind that decides whether the edit joins the previous undo step.
    pub kind: EditKind,
    /// Memory for the next command.
    pub memory: CommandMemory,
    /// Folds to open, in offsets of the context's snapshot.
    pub unfold: Vec<Span>,
    /// Spans to fold after the edits, in offsets of the text after them.
    pub fold: Vec<Span>,
}
