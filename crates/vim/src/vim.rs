//! The modal machine of one view.
//!
//! Start at `Vim::press`. `exec` holds what a command works with; `normal` dispatches commands.

mod block;
mod carets;
mod case;
mod change;
mod comment;
mod delete;
mod ex;
mod exchange;
mod exec;
mod format;
mod indent;
mod inserting;
mod join;
mod keys;
mod listing;
mod marking;
mod moving;
mod normal;
mod number;
mod operate;
mod prompt;
mod put;
mod region;
mod registers;
mod repeat;
mod scrolling;
mod searching;
mod surround;
mod undoing;
mod view;
mod visual;
mod yank;

use std::collections::BTreeMap;

use crate::command::{CommandLineKind, VisualShape};
use crate::key::Key;
use crate::lines::Pos;
use crate::marks::Marks;

pub use ex::VimrcProblem;
pub use prompt::PromptView;
pub use view::CaretView;

use exchange::ExchangeMark;
use inserting::InsertSession;
use keys::Typeahead;
use prompt::Prompt;

/// The mode of a view, as shown in the status bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Keys are commands.
    Normal,
    /// An operator waits for a text.
    OperatorPending,
    /// Keys are text.
    Insert,
    /// Keys replace text.
    Replace,
    /// Keys change a selection or operate on it.
    Visual(VisualShape),
    /// Keys replace the selection.
    Select(VisualShape),
    /// Keys edit a command line.
    Prompt(CommandLineView),
}

/// The kind of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandLineView {
    /// An ex command, after `:`.
    Command,
    /// A search forward, after `/`.
    SearchForward,
    /// A search backward, after `?`.
    SearchBackward,
}

impl From<CommandLineKind> for CommandLineView {
    fn from(kind: CommandLineKind) -> Self {
        match kind {
            CommandLineKind::Ex => CommandLineView::Command,
            CommandLineKind::SearchForward => CommandLineView::SearchForward,
            CommandLineKind::SearchBackward => CommandLineView::SearchBackward,
        }
    }
}

/// The mode without what pending keys make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Normal,
    Visual(VisualShape),
    Select(VisualShape),
    Insert,
    Replace { is_virtual: bool },
}

/// A caret: a position on a character, or between characters while inserting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Caret {
    pos: Pos,
    /// Fixed end of the visual selection.
    anchor: Pos,
    want: Want,
}

/// The column that vertical motions aim at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    /// The column of the caret.
    Here,
    Cell(u32),
    LineEnd,
}

impl Caret {
    fn at(pos: Pos) -> Self {
        Self {
            pos,
            anchor: pos,
            want: Want::Here,
        }
    }
}

/// The last visual selection, for `gv` and the marks `<` and `>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct VisualMemory {
    shape: VisualShape,
    anchor: Pos,
    head: Pos,
    want: Want,
}

/// The start of an undo step, for the caret after undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StepStart {
    /// The caret before the first change.
    caret: Option<Pos>,
    /// The first and the last line that the command took, changed or not.
    rows: Option<(u32, u32)>,
}

/// The state of `U`: a line before its latest changes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SavedLine {
    row: u32,
    text: String,
}

/// The modal machine of one view: keys and the state of a text go in, edits, selections and effects
/// come out. It has no timer and no other hidden input, so the same keys give the same result.
#[derive(Clone, Debug)]
pub struct Vim {
    state: State,
    /// Sorted by position, at least one.
    carets: Vec<Caret>,
    primary: usize,
    /// The caret that a command works on.
    active: usize,
    /// Keys of an unfinished command.
    pending: Vec<Key>,
    typeahead: Typeahead,
    prompt: Option<Prompt>,
    insert: Option<InsertSession>,
    /// Whether one command of normal mode interrupts an insertion (`Ctrl-O`).
    is_insert_normal: bool,
    marks: Marks,
    visual: Option<VisualMemory>,
    /// Whether an undo step is open.
    is_step_open: bool,
    /// Whether all lines were deleted, so that there is nothing more to delete.
    is_emptied: bool,
    /// Start of the open undo step.
    step: StepStart,
    /// Starts of undo steps, by the number of the step.
    steps: BTreeMap<u32, StepStart>,
    saved_line: Option<SavedLine>,
    exchange: Option<ExchangeMark>,
    /// Lines that `Ctrl-D` scrolls; 0 for half of the view.
    scroll_rows: u32,
}

impl Vim {
    /// Creates a machine in normal mode with a caret at the start of the text.
    pub fn new() -> Self {
        Self {
            state: State::Normal,
            carets: vec![Caret::at(Pos::default())],
            primary: 0,
            active: 0,
            pending: Vec::new(),
            typeahead: Typeahead::default(),
            prompt: None,
            insert: None,
            is_insert_normal: false,
            marks: Marks::default(),
            visual: None,
            is_step_open: false,
            is_emptied: false,
            step: StepStart::default(),
            steps: BTreeMap::new(),
            saved_line: None,
            exchange: None,
            scroll_rows: 0,
        }
    }

    /// Returns the mode for the status bar and for key bindings.
    pub fn mode(&self) -> Mode {
        if let Some(prompt) = &self.prompt {
            return Mode::Prompt(prompt.kind().into());
        }
        match self.state {
            State::Normal if self.has_operator() => Mode::OperatorPending,
            State::Normal => Mode::Normal,
            State::Insert => Mode::Insert,
            State::Replace { .. } => Mode::Replace,
            State::Visual(shape) => Mode::Visual(shape),
            State::Select(shape) => Mode::Select(shape),
        }
    }

    /// Returns whether keys are waited for: an unfinished command or mapping.
    pub fn is_waiting(&self) -> bool {
        !self.pending.is_empty() || self.typeahead.has_mapping()
    }

    /// Returns the keys of an unfinished command, for the status bar.
    pub fn pending_keys(&self) -> String {
        let keys = self.pending.iter().chain(self.typeahead.mapping_keys());
        keys.map(Key::to_string).collect()
    }

    /// Returns whether an unfinished mapping waits, so that the host calls `Vim::time_out` after
    /// the time of the options.
    pub fn needs_timeout(&self) -> bool {
        self.typeahead.has_mapping()
    }

    /// Whether the pending keys contain an operator.
    fn has_operator(&self) -> bool {
        let mut keys = self.pending.iter();
        while let Some(key) = keys.next() {
            match key {
                Key::Char('"') => {
                    keys.next();
                }
                Key::Char('0'..='9') => {}
                Key::Char('d' | 'c' | 'y' | '<' | '>' | '=' | '!') => return true,
                Key::Char('g') => {
                    let next = keys.next();
                    return matches!(
                        next,
                        Some(Key::Char('~' | 'u' | 'U' | '?' | 'q' | 'w' | 'c'))
                    );
                }
                _ => return false,
            }
        }
        false
    }
}

impl Default for Vim {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
