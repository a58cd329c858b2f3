//! The state that a command works with: the machine, the shared state, the host, and the text.
//!
//! Invariant: `lines` is the current text. Every edit goes through `Exec::edit`, which moves marks and carets along.
//! Start at `Exec`.

use base::Span;
use text::{Edit, LineEnding};

use super::ex::GlobalRows;
use super::{Caret, SavedLine, State, StepStart, Vim, Want};
use crate::chars;
use crate::command::VisualShape;
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::globals::VimGlobals;
use crate::host::{Viewport, VimHost};
use crate::lines::{Lines, Pos};
use crate::marks::PosMap;
use crate::motion::Aim;
use crate::register::CaretSlot;

/// Everything that a command reads and changes.
pub(super) struct Exec<'a> {
    pub(super) vim: &'a mut Vim,
    pub(super) globals: &'a mut VimGlobals,
    pub(super) host: &'a mut dyn VimHost,
    pub(super) lines: Lines,
    pub(super) effects: Vec<Effect>,
    /// The rows in view, as far as commands of this key scrolled.
    pub(super) viewport: Viewport,
    /// Nested macros and `:normal` commands.
    pub(super) depth: u32,
    /// Keys carried out since the key was pressed.
    pub(super) keys_run: usize,
    /// Whether `.` runs, so that nothing is recorded for it.
    pub(super) is_repeating: bool,
    /// Whether `:g` runs, so that messages and jumps of its commands are left out.
    pub(super) is_global: bool,
    /// Lines for which the command of `:g` is still to run.
    pub(super) global_rows: Option<GlobalRows>,
    /// Whether the undo step stays open for the commands of `:g`.
    pub(super) holds_step: bool,
    /// The first and the last line that the running command takes, until its first edit.
    rows_taken: Option<(u32, u32)>,
}

impl<'a> Exec<'a> {
    pub(super) fn new(
        vim: &'a mut Vim,
        globals: &'a mut VimGlobals,
        host: &'a mut dyn VimHost,
    ) -> Self {
        let lines = Lines::new(host.snapshot(), globals.options.tab_width);
        Self {
            viewport: host.viewport(),
            vim,
            globals,
            host,
            lines,
            effects: Vec::new(),
            depth: 0,
            keys_run: 0,
            is_repeating: false,
            is_global: false,
            global_rows: None,
            holds_step: false,
            rows_taken: None,
        }
    }

    pub(super) fn caret(&self) -> &Caret {
        &self.vim.carets[self.vim.active]
    }

    pub(super) fn caret_mut(&mut self) -> &mut Caret {
        &mut self.vim.carets[self.vim.active]
    }

    pub(super) fn pos(&self) -> Pos {
        self.caret().pos
    }

    /// Moves the caret; vertical motions aim at its new column.
    pub(super) fn set_pos(&mut self, pos: Pos) {
        let caret = self.caret_mut();
        caret.pos = pos;
        caret.want = Want::Here;
    }

    /// Moves the caret by a motion or a command that keeps or sets the aimed column.
    pub(super) fn set_pos_aiming(&mut self, pos: Pos, aim: Aim) {
        let want = match aim {
            Aim::Here => Want::Here,
            Aim::Same => match self.caret().want {
                Want::Here => Want::Cell(self.caret_cell()),
                want => want,
            },
            Aim::LineEnd => Want::LineEnd,
            Aim::Cell(cell) => Want::Cell(cell),
        };
        let caret = self.caret_mut();
        caret.pos = pos;
        caret.want = want;
    }

    /// Moves the caret to the first character of a line that is no blank.
    pub(super) fn set_row(&mut self, row: u32) {
        let row = row.min(self.lines.last());
        self.set_pos(Pos::new(row, self.lines.first_non_blank(row)));
    }

    pub(super) fn is_visual(&self) -> bool {
        matches!(self.vim.state, State::Visual(_) | State::Select(_))
    }

    pub(super) fn visual_shape(&self) -> Option<VisualShape> {
        match self.vim.state {
            State::Visual(shape) | State::Select(shape) => Some(shape),
            _ => None,
        }
    }

    pub(super) fn is_inserting(&self) -> bool {
        matches!(self.vim.state, State::Insert | State::Replace { .. })
    }

    /// Whether the caret may rest behind the last character of a line.
    pub(super) fn may_pass_end(&self) -> bool {
        self.is_visual() || self.is_inserting() || self.vim.is_insert_normal
    }

    /// The cell that vertical motions aim at.
    pub(super) fn wanted_cell(&self) -> Want {
        match self.caret().want {
            Want::Here => Want::Cell(self.caret_cell()),
            want => want,
        }
    }

    /// The cell at which the caret is shown: the last one of a tab, except while inserting and at
    /// the start of a selection.
    pub(super) fn caret_cell(&self) -> u32 {
        let pos = self.pos();
        let (start, end) = self.lines.cells(pos);
        let is_tab = self.lines.char_at(pos) == Some('\t');
        let shows_end = match self.vim.state {
            State::Normal => true,
            State::Visual(_) | State::Select(_) => pos > self.caret().anchor,
            State::Insert | State::Replace { .. } => false,
        };
        if is_tab && shows_end { end - 1 } else { start }
    }

    /// The position in a row under the aimed column.
    pub(super) fn pos_in_row(&self, row: u32, want: Want) -> Pos {
        let row = row.min(self.lines.last());
        let past_end = self.may_pass_end();
        let col = match want {
            Want::LineEnd => self.lines.len(row),
            Want::Cell(cell) => self.lines.col_at_cell(row, cell),
            Want::Here => self.pos().col,
        };
        self.lines.clamp(Pos::new(row, col), past_end)
    }

    /// The caret among all carets of the command, for registers.
    pub(super) fn slot(&self) -> CaretSlot {
        CaretSlot {
            ix: self.vim.active,
            count: self.vim.carets.len(),
        }
    }

    /// Replaces the text between two positions. Line feeds in `text` become line endings.
    pub(super) fn replace(&mut self, from: Pos, to: Pos, text: &str) -> Done {
        let span = self.lines.span(from, to);
        self.edit(vec![Edit::new(span, text)])
    }

    pub(super) fn insert_at(&mut self, at: Pos, text: &str) -> Done {
        self.replace(at, at, text)
    }

    /// Applies sorted, disjoint edits in the undo step of the command. Adjusts the positions of marks
    /// and of all carets but the active one to the edits.
    pub(super) fn edit(&mut self, edits: Vec<Edit>) -> Done {
        self.edit_except(edits, Some(self.vim.active))
    }

    /// Applies edits at the carets of an insertion, and moves all carets behind the new text.
    pub(super) fn edit_at_carets(&mut self, edits: Vec<Edit>) -> Done {
        self.edit_except(edits, None)
    }

    fn edit_except(&mut self, mut edits: Vec<Edit>, except: Option<usize>) -> Done {
        edits.retain(|edit| !edit.span.is_empty() || !edit.text.is_empty());
        let Some(first) = edits.first() else {
            return Ok(());
        };
        let start = first.span.start;
        if self.host.is_read_only() {
            return Err(Error::ReadOnly);
        }
        if self.host.line_ending() == LineEnding::CrLf {
            for edit in &mut edits {
                if edit.text.contains('\n') {
                    edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
                }
            }
        }
        self.save_line(&edits);
        self.vim.is_emptied = false;
        let is_new = self.open_step();
        let taken = self.rows_taken.take();
        if is_new || self.vim.step.caret.is_none() {
            self.vim.step = StepStart {
                caret: Some(self.pos()),
                rows: taken,
            };
        }
        let before = self.lines.clone();
        let change = self.host.edit(&edits);
        self.refresh();
        let map = PosMap::new(&before, &self.lines, &change);
        self.vim.marks.follow(&map);
        self.vim.follow_elsewhere(&map, except);
        self.follow_file_marks(&before, &change);
        if let Some(rows) = &mut self.global_rows {
            rows.follow(&before, &self.lines, &change);
        }
        let pos = self.lines.pos(start);
        self.vim.marks.change = Some(pos);
        self.vim.marks.changes.note(pos, is_new);
        Ok(())
    }

    /// Keeps the text of a line for `U` when the first edit changes it, and forgets it when lines
    /// come or go.
    fn save_line(&mut self, edits: &[Edit]) {
        let row = |offset| self.lines.text().point_at(offset).row.0;
        let rows = edits
            .iter()
            .map(|edit| (row(edit.span.start), row(edit.span.end)));
        let in_one_row = rows.clone().all(|(first, last)| first == last)
            && edits.iter().all(|edit| !edit.text.contains('\n'));
        let Some((first, _)) = rows.clone().next().filter(|_| in_one_row) else {
            self.vim.saved_line = None;
            return;
        };
        if self
            .vim
            .saved_line
            .as_ref()
            .is_none_or(|saved| saved.row != first)
        {
            self.vim.saved_line = Some(SavedLine {
                row: first,
                text: self.lines.line(first).into_owned(),
            });
        }
    }

    /// Moves the marks of this file in the shared state along.
    fn follow_file_marks(&mut self, before: &Lines, change: &text::Change) {
        if self.globals.marks.is_empty() {
            return;
        }
        let own = self.host.file_name(crate::host::FileName::Current);
        let map = PosMap::new(before, &self.lines, change);
        self.globals.marks.retain(|_, mark| {
            if mark.path != own {
                return true;
            }
            let mapped = map.anchored(mark.pos);
            mark.pos = mapped.unwrap_or(mark.pos);
            mapped.is_some()
        });
    }

    /// Reads the text again after an edit.
    pub(super) fn refresh(&mut self) {
        self.lines = Lines::new(self.host.snapshot(), self.globals.options.tab_width);
    }

    /// Opens an undo step for the command unless one is open. Returns whether it did.
    pub(super) fn open_step(&mut self) -> bool {
        if self.vim.is_step_open {
            return false;
        }
        self.host.begin_step();
        self.vim.is_step_open = true;
        self.vim.step = StepStart {
            caret: Some(self.pos()),
            rows: None,
        };
        true
    }

    /// Notes the lines that a command takes, changed or not: undo leaves the caret among them.
    pub(super) fn note_rows(&mut self, first: u32, last: u32) {
        self.rows_taken = Some((first, last));
    }

    /// Opens an undo step that the commands of `:g` do not end.
    pub(super) fn open_step_for_all(&mut self) {
        self.open_step();
        // The caret that counts is that before the first change.
        self.vim.step.caret = None;
        self.holds_step = true;
    }

    /// Ends the undo step of a command or of an insertion.
    pub(super) fn close_step(&mut self) {
        if self.vim.is_step_open && !self.holds_step {
            self.host.end_step();
            self.vim.is_step_open = false;
            let state = self.host.undo_state();
            self.vim.steps.insert(state, self.vim.step);
        }
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn message(&mut self, text: impl Into<String>) {
        self.effects.push(Effect::Message {
            text: text.into(),
            is_error: false,
        });
    }

    /// Sets the marks `[` and `]`.
    pub(super) fn set_change_marks(&mut self, start: Pos, end: Pos) {
        self.vim.marks.start = Some(start);
        self.vim.marks.end = Some(end);
    }

    /// Adds the caret's place to the jump list.
    pub(super) fn note_jump(&mut self) {
        if self.is_global {
            return;
        }
        let pos = self.pos();
        self.vim.marks.previous = pos;
        self.vim.marks.jumps.push(pos);
    }

    /// Runs a command for every caret. Fails with the first error if no caret succeeded.
    pub(super) fn each_caret(&mut self, mut run: impl FnMut(&mut Self) -> Done) -> Done {
        if self.vim.carets.len() == 1 {
            self.vim.active = 0;
            return run(self);
        }
        let primary = self.vim.carets[self.vim.primary];
        let mut failure = None;
        let mut succeeded = false;
        let mut primary_after = primary;
        for ix in 0..self.vim.carets.len() {
            self.vim.active = ix;
            match run(self) {
                Ok(()) => succeeded = true,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let Some(caret) = self.vim.carets.get(self.vim.primary) {
            primary_after = *caret;
        }
        self.vim.merge_carets(primary_after);
        self.vim.active = self.vim.primary;
        match failure {
            Some(error) if !succeeded => Err(error),
            _ => Ok(()),
        }
    }

    /// Moves a caret in normal mode off the end of its line.
    pub(super) fn clamp_carets(&mut self) {
        let past_end = self.may_pass_end();
        for caret in &mut self.vim.carets {
            caret.pos = self.lines.clamp(caret.pos, past_end);
            caret.anchor = self.lines.clamp(caret.anchor, true);
        }
    }

    /// The bytes of whole lines with their endings, so that removing them leaves whole lines.
    pub(super) fn whole_rows(&self, first: u32, last: u32) -> Span {
        let text = self.lines.text();
        let start = text.row_start(base::Row(first));
        let end = text.row_start(base::Row(last + 1));
        if last < self.lines.last() || first == 0 {
            return Span::new(start, end);
        }
        // The last line may lack an ending; then the one before the first goes instead.
        let has_ending = end > text.row_end(base::Row(last));
        if has_ending {
            return Span::new(start, end);
        }
        Span::new(text.row_end(base::Row(first - 1)), end)
    }

    /// Whether the next characters of a line are blanks up to its end.
    pub(super) fn ends_in_blanks(&self, pos: Pos) -> bool {
        let line = self.lines.line(pos.row);
        line.get(pos.col..)
            .is_some_and(|rest| rest.chars().all(chars::is_blank))
    }
}
