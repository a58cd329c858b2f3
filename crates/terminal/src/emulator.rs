//! The terminal emulator as a plain value: bytes in, grid and events out.
//!
//! Must not know: clocks, processes, threads.
//! Invariant: the same bytes give the same grid, however they are split.

mod copy_mode;

use std::fmt;
use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::grid::{Dimensions, Scroll};
use alacritty_terminal::index::{Column, Line, Point, Side};
use alacritty_terminal::selection::{Selection, SelectionRange, SelectionType};
use alacritty_terminal::term::{self, Config, TermMode};
use alacritty_terminal::vte::ansi::{self, Processor, Timeout};
use base::AbsPath;
use host::process::TerminalSize;

use crate::commands::{CommandId, CommandLog, CommandState, MovePositions, OutputEnd, OutputText};
use crate::event::TerminalEvent;
use crate::frame::{FrameCache, is_torn};
use crate::grid_text::{last_text, logical_line, text_between};
use crate::hyperlinks::hyperlink_at;
use crate::lines::{LineTracker, MAX_ROWS, is_alternate};
use crate::links::LogicalLine;
use crate::modes::{mode_sequences, modes_of, program_colors};
use crate::performer::{ClipboardAccess, Listener, Performer, PerformerState, cursor};
use crate::position::{CellHalf, CellPosition, CellSpan, LineNumber, SelectedCells};
use crate::reflow::{GridSize, resize, with_primary};
use crate::scanner::{Scanner, ScannerOutput};
use crate::scroll_region::ScrollRegion;
use crate::search::{self, SearchStep, TerminalDirection, TerminalSearch};
use crate::selection::{SelectionGuard, SelectionKind, selected_cells, selected_text};
use crate::snapshot::{
    ColorSlot, CursorShape, CursorState, ScrollState, ScrollTarget, TerminalModes, TerminalSnapshot,
};

pub use copy_mode::{CopyMotion, CopyStep};

/// Takes the place of a sequence of the scanner in the core's input: an OSC 52 with a letter of no clipboard.
const SEQUENCE: &[u8] = b"\x1b]52;\xff;s\x07";
/// Sequences that wait in a synchronized update; more end it.
const MAX_WAITING: usize = 1_000;
/// Width of a grid in columns, at most.
const MAX_COLUMNS: u16 = 2_000;

/// The settings of an emulator.
#[derive(Clone, Debug)]
pub struct EmulatorOptions {
    /// The size of the grid; at least 2 columns and 1 row are used.
    pub size: TerminalSize,
    /// Number of lines of the scrollback.
    pub scrollback: u32,
    /// The shape of the cursor unless the program sets one.
    pub cursor_shape: CursorShape,
    /// The clipboards that the program may use.
    pub clipboard: ClipboardAccess,
    /// The nonce of the shell integration: command lines (OSC 633;E) are accepted with it only.
    pub nonce: Option<String>,
    /// The name of this machine: folders (OSC 7) of other machines are ignored. A session sets it if it is missing.
    pub host_name: Option<String>,
}

/// A terminal emulator.
pub struct Emulator {
    term: Term<Listener>,
    processor: Processor<UpdateFlag>,
    scanner: Scanner,
    state: PerformerState,
    frame: FrameCache,
    guard: SelectionGuard,
    copy: Option<copy_mode::CopyMode>,
}

/// Whether a synchronized update is open. The caller measures its time.
#[derive(Debug, Default)]
struct UpdateFlag(bool);

impl Timeout for UpdateFlag {
    fn set_timeout(&mut self, _duration: Duration) {
        self.0 = true;
    }

    fn clear_timeout(&mut self) {
        self.0 = false;
    }

    fn pending_timeout(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Emulator {
    /// Creates an empty terminal.
    pub fn new(options: EmulatorOptions) -> Self {
        let lines = LineTracker::new(options.scrollback as usize);
        let config = Config {
            scrolling_history: lines.core_history(),
            default_cursor_style: ansi::CursorStyle {
                shape: core_shape(options.cursor_shape),
                blinking: false,
            },
            kitty_keyboard: true,
            ..Config::default()
        };
        let mut state = PerformerState::new(lines);
        state.clipboard = options.clipboard;
        state.nonce = options.nonce;
        state.host_name = options.host_name;
        let term = Term::new(config, &grid_size(options.size), state.listener.clone());
        Self {
            term,
            processor: Processor::new(),
            scanner: Scanner::default(),
            state,
            frame: FrameCache::default(),
            guard: SelectionGuard::default(),
            copy: None,
        }
    }

    /// Processes output of the program. `now` is the time of the caller's clock, used for the durations of commands.
    pub fn feed(&mut self, bytes: &[u8], now: Duration) {
        let view = self.pinned_line();
        let Self {
            term,
            processor,
            state,
            ..
        } = self;
        let mut performer = Performer { term, state, now };
        self.scanner.scan(bytes, &mut |output| match output {
            ScannerOutput::Core(bytes) => processor.advance(&mut performer, bytes),
            ScannerOutput::Sequence(sequence) => {
                performer.state.sequences.push_back(sequence);
                processor.advance(&mut performer, SEQUENCE);
                if performer.state.sequences.len() >= MAX_WAITING {
                    processor.stop_sync(&mut performer);
                }
            }
        });
        self.settle(view);
    }

    /// Returns whether the program holds back its output in a synchronized update (2026). If it does not end within 150
    /// milliseconds, the caller calls `end_update`.
    pub fn is_updating(&self) -> bool {
        self.processor.sync_timeout().pending_timeout()
    }

    /// Shows the output that a synchronized update holds back.
    pub fn end_update(&mut self, now: Duration) {
        let view = self.pinned_line();
        let Self {
            term,
            processor,
            state,
            ..
        } = self;
        processor.stop_sync(&mut Performer { term, state, now });
        self.settle(view);
    }

    /// Returns the first line in view if output must not move the view: the user scrolled back, or is in copy mode.
    fn pinned_line(&self) -> Option<LineNumber> {
        let offset = self.term.grid().display_offset() as u64;
        let is_pinned = offset > 0 || self.copy.is_some();
        is_pinned.then(|| self.state.lines.screen_top(&self.term).above(offset))
    }

    /// Brings everything up to date after output. The view keeps `view` as its first line.
    fn settle(&mut self, view: Option<LineNumber>) {
        self.state.lines.trim(&mut self.term);
        self.state.log.trim(self.state.lines.oldest());
        self.state.collect();
        // The core moves the view by lines that scroll in a region as well, even beyond its history.
        let is_behind = self.term.grid().display_offset() > 0 || self.copy.is_some();
        if let Some(view) = view.filter(|_| is_behind) {
            let scroll = self.scroll_to(view, true);
            self.term.scroll_display(scroll);
        }
        let range = self.selection_range();
        let holds =
            range.is_none_or(|range| self.guard.holds(&self.term, &self.state.lines, &range));
        if !holds {
            self.term.selection = None;
        }
    }

    /// Takes the events since the last call.
    pub fn take_events(&mut self) -> Vec<TerminalEvent> {
        self.state.events.take()
    }

    /// Takes the answers to the program's queries since the last call.
    pub(crate) fn take_replies(&mut self) -> Vec<u8> {
        self.state.events.take_replies()
    }

    /// Changes the size. Lines of the primary screen are wrapped again; commands, selection and cursor stay on their text.
    pub fn resize(&mut self, size: TerminalSize) {
        let size = grid_size(size);
        if (size.rows, size.columns) == (self.term.screen_lines(), self.term.columns()) {
            return;
        }
        let mut positions = Vec::new();
        let selected = self
            .selection()
            .filter(|selected| !selected.is_block && !is_alternate(&self.term));
        if let Some(selected) = selected {
            positions.extend([selected.span.start, selected.span.last]);
        }
        self.state
            .log
            .for_each_position(&mut |position| positions.push(*position));
        let mut copy = self.copy.filter(|_| !is_alternate(&self.term));
        if let Some(copy) = &mut copy {
            copy.for_each_position(&mut |position| positions.push(*position));
        }
        resize(&mut self.term, &mut self.state.lines, size, &mut positions);
        self.state.region = ScrollRegion::default();
        let mut moved = positions.into_iter();
        let span = selected.and_then(|_| {
            let (start, last) = (moved.next()?, moved.next()?);
            Some(CellSpan { start, last })
        });
        self.state.log.for_each_position(&mut |position| {
            *position = moved.next().unwrap_or(*position);
        });
        if let Some(mut copy) = copy {
            copy.for_each_position(&mut |position| {
                *position = moved.next().unwrap_or(*position);
            });
            self.copy = Some(copy);
        }
        match span {
            Some(span) => self.select(span),
            None => self.guard_selection(),
        }
    }

    /// Returns the size of the grid.
    pub(crate) fn size(&self) -> TerminalSize {
        TerminalSize {
            rows: self.term.screen_lines() as u16,
            columns: self.term.columns() as u16,
        }
    }

    /// Sets the size of a cell in pixels, which programs can query.
    pub fn set_cell_pixels(&mut self, width: u16, height: u16) {
        self.state.cell_pixels = Some((width, height));
    }

    /// Changes the number of lines of the scrollback.
    pub fn set_scrollback(&mut self, lines: u32) {
        let Self { term, state, .. } = self;
        let was_alternate = is_alternate(term);
        with_primary(term, |term| {
            state.lines.set_scrollback(term, lines as usize);
            if was_alternate {
                state.lines.set_parked_history(term.history_size());
            }
        });
    }

    /// Changes the part of the scrollback in view.
    pub fn scroll(&mut self, target: ScrollTarget) {
        let scroll = match target {
            ScrollTarget::Lines(lines) => Scroll::Delta(lines),
            ScrollTarget::PageUp => Scroll::PageUp,
            ScrollTarget::PageDown => Scroll::PageDown,
            ScrollTarget::Top => Scroll::Top,
            ScrollTarget::Bottom => Scroll::Bottom,
            ScrollTarget::Line(line) => self.scroll_to(line, false),
            ScrollTarget::LineAtTop(line) => self.scroll_to(line, true),
        };
        self.term.scroll_display(scroll);
    }

    /// Returns the scroll that brings a line into view, or to its top.
    fn scroll_to(&self, line: LineNumber, is_to_top: bool) -> Scroll {
        let screen_top = self.state.lines.screen_top(&self.term).0;
        let offset = self.term.grid().display_offset() as u64;
        let first = screen_top.saturating_sub(offset);
        let last = first + self.term.screen_lines() as u64 - 1;
        let wanted = if is_to_top || line.0 < first {
            screen_top.saturating_sub(line.0)
        } else if line.0 > last {
            (screen_top + self.term.screen_lines() as u64 - 1).saturating_sub(line.0)
        } else {
            offset
        };
        let wanted = wanted.min(self.term.history_size() as u64);
        Scroll::Delta((wanted as i64 - offset as i64) as i32)
    }

    /// Removes the scrollback, and the screen above the open prompt or the line of the cursor.
    pub fn clear(&mut self) {
        if is_alternate(&self.term) {
            return;
        }
        let cursor_line = self.term.grid().cursor.point.line;
        let prompt = self.state.log.last().filter(|last| last.is_waiting());
        let prompt = prompt.and_then(|last| self.state.lines.line(&self.term, last.prompt.line));
        let kept = prompt.unwrap_or(cursor_line).clamp(Line(0), cursor_line);
        let screen = Line(0)..Line(self.term.screen_lines() as i32);
        self.term.selection = None;
        self.term.grid_mut().scroll_up(&screen, kept.0 as usize);
        self.term.grid_mut().cursor.point.line -= kept.0;
        let history = self.term.history_size();
        self.term.grid_mut().clear_history();
        self.state.lines.history_cleared(history);
        self.state.log.trim(self.state.lines.oldest());
        self.frame = FrameCache::after(&self.frame);
    }

    /// Returns the visible part. Costs little if little changed since the last call.
    pub fn snapshot(&mut self) -> TerminalSnapshot {
        let (first_line, rows) = self.frame.update(&mut self.term, &self.state.lines);
        TerminalSnapshot {
            size: self.size(),
            first_line,
            rows,
            cursor: self.cursor_state(),
            is_copying: self.copy.is_some(),
            selection: self.selection(),
            scroll: ScrollState {
                offset: self.term.grid().display_offset() as u32,
                history: self.term.history_size() as u32,
            },
            modes: self.modes(),
            colors: program_colors(self.term.colors()),
        }
    }

    fn cursor_state(&self) -> Option<CursorState> {
        if let Some(position) = self.copy_cursor() {
            return self.cursor_at(self.nearest_point(position), CursorShape::Block, false);
        }
        if !self.term.mode().contains(TermMode::SHOW_CURSOR) {
            return None;
        }
        let style = self.term.cursor_style();
        let shape = match style.shape {
            ansi::CursorShape::Block => CursorShape::Block,
            ansi::CursorShape::Underline => CursorShape::Underline,
            ansi::CursorShape::Beam => CursorShape::Beam,
            ansi::CursorShape::HollowBlock => CursorShape::HollowBlock,
            ansi::CursorShape::Hidden => return None,
        };
        self.cursor_at(self.term.grid().cursor.point, shape, style.blinking)
    }

    /// Returns a cursor at a cell; `None` if that is out of view.
    fn cursor_at(
        &self,
        mut point: Point,
        shape: CursorShape,
        is_blinking: bool,
    ) -> Option<CursorState> {
        let is_half = |point: Point, half: term::cell::Flags| {
            let row = &self.term.grid()[point.line];
            row[point.column].flags.contains(half) && !is_torn(row, point.column.0)
        };
        if is_half(point, term::cell::Flags::WIDE_CHAR_SPACER) {
            point.column -= 1;
        }
        let row = point.line.0 + self.term.grid().display_offset() as i32;
        let row = usize::try_from(row).ok()?;
        (row < self.term.screen_lines()).then(|| CursorState {
            position: CellPosition::new(
                self.state.lines.number(&self.term, point.line),
                point.column.0 as u16,
            ),
            row: row as u16,
            shape,
            is_blinking,
            is_wide: is_half(point, term::cell::Flags::WIDE_CHAR),
        })
    }

    /// Returns the modes that the program set.
    pub fn modes(&self) -> TerminalModes {
        let last = self.state.log.last();
        let is_prompt_open = last.is_some_and(|last| last.state == CommandState::Editing);
        TerminalModes {
            modify_other_keys: self.state.modify_other_keys,
            is_prompt_open,
            ..modes_of(*self.term.mode())
        }
    }

    /// Returns the sequences that give another terminal, which did not see the whole output, the screen and the modes that
    /// the program set. The text is not part of them.
    pub fn mode_sequences(&self) -> Vec<u8> {
        let mut sequences = mode_sequences(&self.modes());
        if !self.term.mode().contains(TermMode::SHOW_CURSOR) {
            sequences.extend_from_slice(b"\x1b[?25l");
        }
        sequences
    }

    /// Returns a colour that the program changed.
    pub fn changed_color(&self, slot: ColorSlot) -> Option<(u8, u8, u8)> {
        let changed = program_colors(self.term.colors());
        let color = changed.into_iter().find(|(of, _)| *of == slot);
        color.map(|(_, color)| color)
    }

    /// Returns the title that the program set.
    pub fn title(&self) -> Option<&str> {
        self.state.title.as_deref()
    }

    /// Returns the folder that the shell reported.
    pub fn folder(&self) -> Option<&AbsPath> {
        self.state.folder.as_ref()
    }

    /// Returns the commands of the shell.
    pub fn commands(&self) -> &CommandLog {
        &self.state.log
    }

    /// Returns the output of a command, at most about `cap` bytes; `None` if it has none or its lines were trimmed. The
    /// output of a running command ends at the cursor.
    pub fn command_output(&mut self, id: CommandId, cap: usize) -> Option<OutputText> {
        self.read_output(Some(id), |term, lines, start, end| {
            text_between(term, lines, start, end, cap)
        })
    }

    /// Returns the last part of the output of a command, or of the whole text without a command, at most about `cap` bytes.
    /// `None` as for `command_output`; the text ends at the cursor.
    pub fn output_end(&mut self, id: Option<CommandId>, cap: usize) -> Option<OutputEnd> {
        self.read_output(id, |term, lines, start, end| {
            last_text(term, lines, start, end, cap)
        })
    }

    /// Calls `read` with the start and the end of a command's output, or of the whole text without a command.
    fn read_output<R>(
        &mut self,
        id: Option<CommandId>,
        read: impl FnOnce(&Term<Listener>, &LineTracker, CellPosition, CellPosition) -> R,
    ) -> Option<R> {
        let (start, end) = match id {
            Some(id) => {
                let command = self.state.log.get(id)?;
                (command.output?, command.end)
            }
            None => (CellPosition::default(), None),
        };
        let Self { term, state, .. } = self;
        with_primary(term, |term| {
            let lines = &state.lines;
            let end = end.unwrap_or_else(|| cursor(term, lines));
            (end.line >= lines.oldest()).then(|| read(term, lines, start, end))
        })
    }

    /// Returns the number of bytes of a control string that is not complete.
    #[cfg(test)]
    pub(crate) fn unfinished_bytes(&self) -> usize {
        self.scanner.unfinished_bytes()
    }

    /// Returns the text from a position to the cursor, at most about `cap` bytes. Starts with the oldest line if the
    /// position was trimmed.
    #[cfg(test)]
    pub(crate) fn text_since(&mut self, position: CellPosition, cap: usize) -> OutputText {
        let Self { term, state, .. } = self;
        with_primary(term, |term| {
            let end = cursor(term, &state.lines);
            text_between(term, &state.lines, position, end, cap)
        })
    }

    /// Returns the position of the cursor.
    pub fn cursor(&self) -> CellPosition {
        cursor(&self.term, &self.state.lines)
    }

    /// Returns the logical line that contains a line, joined from at most 129 rows; `None` if the line does not exist.
    pub fn logical_line(&self, line: LineNumber) -> Option<LogicalLine> {
        logical_line(&self.term, &self.state.lines, line)
    }

    /// Returns the target of the hyperlink (OSC 8) at a cell, and the adjacent cells that belong to it.
    pub fn hyperlink_at(&self, position: CellPosition) -> Option<(String, Vec<CellSpan>)> {
        hyperlink_at(&self.term, &self.state.lines, position)
    }

    /// Starts a selection at a cell.
    pub fn start_selection(&mut self, kind: SelectionKind, position: CellPosition, half: CellHalf) {
        let kind = match kind {
            SelectionKind::Cells => SelectionType::Simple,
            SelectionKind::Block => SelectionType::Block,
            SelectionKind::Words => SelectionType::Semantic,
            SelectionKind::Lines => SelectionType::Lines,
        };
        let point = self.nearest_point(position);
        self.term.selection = Some(Selection::new(kind, point, side(half)));
        self.guard_selection();
    }

    /// Moves the end of the selection.
    pub fn extend_selection(&mut self, position: CellPosition, half: CellHalf) {
        let point = self.nearest_point(position);
        if let Some(selection) = &mut self.term.selection {
            selection.update(point, side(half));
        }
        self.guard_selection();
    }

    /// Selects cells.
    pub fn select(&mut self, span: CellSpan) {
        self.start_selection(SelectionKind::Cells, span.start, CellHalf::Left);
        self.extend_selection(span.last, CellHalf::Right);
    }

    /// Selects the screen and the scrollback.
    pub fn select_all(&mut self) {
        let lines = &self.state.lines;
        let first = lines.number(&self.term, self.term.topmost_line());
        let last = lines.number(&self.term, self.term.bottommost_line());
        self.select(CellSpan {
            start: CellPosition::new(first, 0),
            last: CellPosition::new(last, u16::MAX),
        });
    }

    /// Removes the selection.
    pub fn clear_selection(&mut self) {
        self.term.selection = None;
    }

    /// Returns the selected text, without newlines where a row was only wrapped; `None` if nothing is selected.
    pub fn selected_text(&self) -> Option<String> {
        let selected = self.selection()?;
        Some(selected_text(&self.term, &self.state.lines, &selected))
    }

    fn selection(&self) -> Option<SelectedCells> {
        let range = self.selection_range()?;
        Some(selected_cells(&self.term, &self.state.lines, &range))
    }

    fn selection_range(&self) -> Option<SelectionRange> {
        self.term.selection.as_ref()?.to_range(&self.term)
    }

    /// Remembers the selected cells, so that the selection ends when they change.
    fn guard_selection(&mut self) {
        let range = self.selection_range();
        let guard = range.map(|range| SelectionGuard::new(&self.term, &self.state.lines, &range));
        self.guard = guard.unwrap_or_default();
    }

    /// Returns the cell of the core that is nearest to a position.
    fn nearest_point(&self, position: CellPosition) -> Point {
        let lines = &self.state.lines;
        let first = lines.number(&self.term, self.term.topmost_line());
        let last = lines.number(&self.term, self.term.bottommost_line());
        let number = position.line.clamp(first, last);
        let line = lines.line(&self.term, number).unwrap_or_default();
        let column = usize::from(position.column).min(self.term.columns() - 1);
        Point::new(line, Column(column))
    }

    /// Searches a bounded number of lines for the next match that begins after `from` (down) or before it (up); wraps
    /// around at the ends.
    pub fn search(
        &self,
        search: &mut TerminalSearch,
        from: CellPosition,
        direction: TerminalDirection,
    ) -> SearchStep {
        search::step(&self.term, &self.state.lines, search, from, direction)
    }

    /// Returns the matches in view.
    pub fn matches_in_view(&self, search: &mut TerminalSearch) -> Vec<CellSpan> {
        search::shown_matches(&self.term, &self.state.lines, search)
    }

    /// Calls `read` with the core, the primary screen shown.
    pub(crate) fn with_core<R>(
        &mut self,
        read: impl FnOnce(&mut Term<Listener>, &mut PerformerState) -> R,
    ) -> R {
        let Self { term, state, .. } = self;
        with_primary(term, |term| read(term, state))
    }
}

fn grid_size(size: TerminalSize) -> GridSize {
    GridSize {
        rows: size.rows.clamp(1, MAX_ROWS).into(),
        columns: size.columns.clamp(2, MAX_COLUMNS).into(),
    }
}

fn side(half: CellHalf) -> Side {
    match half {
        CellHalf::Left => Side::Left,
        CellHalf::Right => Side::Right,
    }
}

fn core_shape(shape: CursorShape) -> ansi::CursorShape {
    match shape {
        CursorShape::Block => ansi::CursorShape::Block,
        CursorShape::Underline => ansi::CursorShape::Underline,
        CursorShape::Beam => ansi::CursorShape::Beam,
        CursorShape::HollowBlock => ansi::CursorShape::HollowBlock,
    }
}

#[cfg(test)]
mod tests;
