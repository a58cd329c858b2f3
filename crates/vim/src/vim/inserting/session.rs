//! The state of an insertion.

use crate::globals::{InsertKey, Repeat};
use crate::lines::Pos;
use crate::marks::PosMap;

/// The reason for which an insertion began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::vim) enum InsertStart {
    /// A command with a count of repetitions.
    Typed(u32),
    /// The operator `c`.
    Changed,
}

/// An argument that the next key gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Waiting {
    #[default]
    Nothing,
    /// The name of a register (`Ctrl-R`).
    Register,
    /// The name of a register whose text is inserted as it is (`Ctrl-R Ctrl-R`).
    LiteralRegister,
    /// The characters of a digraph (`Ctrl-K`).
    Digraph(Option<char>),
    /// A literal character or its number (`Ctrl-V`).
    Literal(Option<CharCode>),
    /// The key behind `Ctrl-G`.
    CtrlG,
    /// The key behind `Ctrl-X`.
    CtrlX,
}

/// The number of a character as far as it is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CharCode {
    pub(super) radix: u32,
    /// Most digits.
    pub(super) most: usize,
    pub(super) digits: String,
}

/// Lines into which the text of a block insertion is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::vim) struct BlockInsertion {
    pub(in crate::vim) rows: Vec<u32>,
    /// The cell at which the text goes in.
    pub(in crate::vim) cell: u32,
    /// Whether the text goes to the ends of the lines instead.
    pub(in crate::vim) to_ends: bool,
    /// Whether lines that are too short get blanks; otherwise they are left out.
    pub(in crate::vim) pads: bool,
    /// Place of the caret at the end; `None` to stay at the end of the text.
    pub(in crate::vim) caret: Option<Pos>,
}

/// A character that replace mode put in, with the one that it replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplacedChar {
    pub(super) old: String,
    pub(super) new_len: usize,
}

/// An insertion in progress.
#[derive(Clone, Debug)]
pub(in crate::vim) struct InsertSession {
    pub(super) count: u32,
    /// The command that began it.
    pub(super) origin: Option<Repeat>,
    /// The keys since the start, or since the last motion.
    pub(super) record: Vec<InsertKey>,
    /// Place where each caret began.
    pub(super) starts: Vec<Pos>,
    /// Place where each caret began before backspaces went further back.
    /// `None` if the line was joined with the one before.
    pub(super) limits: Vec<Option<Pos>>,
    /// Whether a line was opened, and above the caret.
    pub(super) opened_above: Option<bool>,
    pub(super) block: Option<BlockInsertion>,
    pub(super) waiting: Waiting,
    /// Whether the carets are behind an indentation that nothing follows yet.
    pub(super) has_auto_indent: bool,
    /// Whether a motion or the host began it anew, so that it counts for `.` only with text.
    pub(in crate::vim) is_restarted: bool,
    /// Whether text was inserted before the last motion.
    pub(super) has_text: bool,
    /// Characters that replace mode can restore, for each caret.
    pub(super) replaced: Vec<Vec<ReplacedChar>>,
}

impl InsertSession {
    pub(super) fn new(count: u32, starts: Vec<Pos>) -> Self {
        Self {
            count,
            origin: None,
            record: Vec::new(),
            replaced: vec![Vec::new(); starts.len()],
            limits: starts.iter().copied().map(Some).collect(),
            starts,
            opened_above: None,
            block: None,
            waiting: Waiting::Nothing,
            has_auto_indent: false,
            is_restarted: false,
            has_text: false,
        }
    }

    /// Whether the next key is an argument.
    pub(in crate::vim) fn is_waiting(&self) -> bool {
        self.waiting != Waiting::Nothing
    }

    /// Adds what the host inserted to the keys that `.` repeats.
    pub(in crate::vim) fn note(&mut self, key: InsertKey) {
        // The characters that were typed for a completion are part of it.
        self.record.push(key);
    }

    /// Moves the starts through an edit.
    pub(in crate::vim) fn follow(&mut self, map: &PosMap) {
        for pos in self
            .starts
            .iter_mut()
            .chain(self.limits.iter_mut().flatten())
        {
            *pos = map.held(*pos);
        }
        if let Some(block) = &mut self.block {
            for row in &mut block.rows {
                *row = map.nearest(Pos::new(*row, 0)).row;
            }
        }
    }

    /// The start and the limit of a caret.
    pub(super) fn place(&self, caret: usize) -> (Pos, Option<Pos>) {
        let start = self.starts.get(caret).copied().unwrap_or_default();
        (start, self.limits.get(caret).copied().flatten())
    }

    /// Keeps the start and the limit of a caret where they were before an edit.
    pub(super) fn set_place(&mut self, caret: usize, (start, limit): (Pos, Option<Pos>)) {
        if let Some(own) = self.starts.get_mut(caret) {
            *own = start;
        }
        if let Some(own) = self.limits.get_mut(caret) {
            *own = limit;
        }
    }

    /// The text that the recorded keys insert, for the register `.`.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for key in &self.record {
            match key {
                InsertKey::Key(crate::key::Key::Char(char)) => text.push(*char),
                InsertKey::Key(crate::key::Key::Enter) => text.push('\n'),
                InsertKey::Key(crate::key::Key::Tab) => text.push('\t'),
                InsertKey::Key(crate::key::Key::Backspace) => {
                    text.pop();
                }
                InsertKey::Key(_) => {}
                InsertKey::Text(inserted) => text.push_str(inserted),
                InsertKey::Completion {
                    removed,
                    text: completed,
                } => {
                    for _ in 0..*removed {
                        text.pop();
                    }
                    text.push_str(completed);
                }
            }
        }
        text
    }
}
