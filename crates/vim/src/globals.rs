//! State that all views share: registers, options, the last search and change, marks in files.
//!
//! Start at `VimGlobals`.

use std::collections::BTreeMap;

use crate::command::{NormalCommand, VisualShape};
use crate::key::Key;
use crate::lines::Pos;
use crate::mapping::Mappings;
use crate::motion::CharFind;
use crate::options::VimOptions;
use crate::register::Registers;
use crate::search::SearchOffset;

/// Longest history of a prompt.
const MAX_HISTORY: usize = 200;

/// State that the `Vim`s of all views share.
#[derive(Clone, Debug, Default)]
pub struct VimGlobals {
    /// Options, which `:set` changes.
    pub options: VimOptions,
    pub(crate) registers: Registers,
    pub(crate) mappings: Mappings,
    pub(crate) last_find: Option<CharFind>,
    pub(crate) search: SearchState,
    pub(crate) substitute: SubstituteState,
    pub(crate) repeat: Option<Repeat>,
    pub(crate) recording: Option<Recording>,
    /// The register played last.
    pub(crate) last_played: Option<char>,
    pub(crate) last_recorded: Option<char>,
    /// `A` to `Z`.
    pub(crate) marks: BTreeMap<char, FileMark>,
    pub(crate) ex_history: History,
    pub(crate) search_history: History,
    /// The text of the last insertion command line command, for `:!` and `:normal`.
    pub(crate) last_shell: String,
    /// The size of the last visual selection, for `1v`.
    pub(crate) visual_size: Option<VisualSize>,
}

impl VimGlobals {
    /// Creates the state at the start of a session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the register into which keys are recorded, for the status bar.
    pub fn recording(&self) -> Option<char> {
        self.recording.as_ref().map(|recording| recording.register)
    }
}

/// The last search.
#[derive(Clone, Debug)]
pub(crate) struct SearchState {
    pub(crate) pattern: Option<String>,
    pub(crate) is_forward: bool,
    pub(crate) offset: SearchOffset,
    /// Whether a capital in the pattern makes it respect case; not for that of `*`.
    pub(crate) uses_smart_case: bool,
    /// Whether matches are highlighted until the next search.
    pub(crate) is_highlighted: bool,
}

impl Default for SearchState {
    fn default() -> Self {
        Self {
            pattern: None,
            is_forward: true,
            offset: SearchOffset::default(),
            uses_smart_case: true,
            is_highlighted: false,
        }
    }
}

/// The last `:s`.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubstituteState {
    pub(crate) pattern: Option<String>,
    /// The replacement with its `~` resolved.
    pub(crate) replacement: Option<String>,
    pub(crate) flags: String,
}

/// The last change, for `.`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeat {
    pub(crate) command: NormalCommand,
    /// The size of the visual selection that it took.
    pub(crate) visual: Option<VisualSize>,
    pub(crate) inserted: Vec<InsertKey>,
}

/// The size of a visual selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisualSize {
    pub(crate) shape: VisualShape,
    pub(crate) rows: u32,
    /// Cells of a block or of a selection in one line; the last cell in several lines.
    pub(crate) cells: u32,
    /// Whether it extends to the ends of the lines.
    pub(crate) to_ends: bool,
}

/// A key of an insertion, or text that the editor inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InsertKey {
    Key(Key),
    /// Text as it is, such as that of a register.
    Text(String),
    /// A completion: characters removed before the caret, and the text in their place.
    Completion {
        removed: usize,
        text: String,
    },
}

/// A macro under construction.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// Name of the register; upper case appends.
    pub(crate) register: char,
    pub(crate) text: String,
}

/// A mark in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileMark {
    /// Name of the file; `None` for a text without one.
    pub(crate) path: Option<String>,
    pub(crate) pos: Pos,
}

/// Lines typed in a prompt, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    lines: Vec<String>,
}

impl History {
    /// Adds a line, and removes an equal one from before.
    pub(crate) fn push(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        self.lines.retain(|known| known != line);
        if self.lines.len() == MAX_HISTORY {
            self.lines.remove(0);
        }
        self.lines.push(line.to_owned());
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn get(&self, ix: usize) -> Option<&str> {
        self.lines.get(ix).map(String::as_str)
    }

    /// The nearest older line from an index on that starts with a text.
    pub(crate) fn older(&self, from: usize, start: &str) -> Option<usize> {
        (0..from.min(self.lines.len()))
            .rev()
            .find(|ix| self.lines[*ix].starts_with(start))
    }

    /// The nearest newer line behind an index that starts with a text.
    pub(crate) fn newer(&self, from: usize, start: &str) -> Option<usize> {
        (from + 1..self.lines.len()).find(|ix| self.lines[*ix].starts_with(start))
    }
}
