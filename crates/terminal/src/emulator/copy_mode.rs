//! Copy mode: a cursor for the user, which moves through the text and selects it by keys.
//!
//! Invariant: while copy mode lasts, output moves neither the view nor this cursor.

use alacritty_terminal::grid::{Dimensions as _, Scroll};
use alacritty_terminal::index::{Column, Line, Point, Side};
use alacritty_terminal::vi_mode::{ViModeCursor, ViMotion};

use super::Emulator;
use crate::commands::MovePositions;
use crate::position::{CellHalf, CellPosition};
use crate::selection::SelectionKind;

/// A motion of the cursor of copy mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMotion {
    /// To the cell on the left; over the start of a wrapped row.
    Left,
    /// To the cell on the right; over the end of a wrapped row.
    Right,
    /// To the row above.
    Up,
    /// To the row below.
    Down,
    /// To the start of a word, backwards.
    WordLeft,
    /// To the start of the next word.
    WordRight,
    /// To the end of a word.
    WordEnd,
    /// To the first column.
    LineStart,
    /// To the first character of the row.
    LineText,
    /// To the last character of the row.
    LineEnd,
    /// Up by a page.
    PageUp,
    /// Down by a page.
    PageDown,
    /// To the oldest line.
    Top,
    /// To the last line with text.
    Bottom,
    /// To the blank row above.
    ParagraphUp,
    /// To the blank row below.
    ParagraphDown,
    /// To the first row in view.
    ViewTop,
    /// To the middle row in view.
    ViewMiddle,
    /// To the last row in view.
    ViewBottom,
}

/// The effect of a motion on the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep {
    /// Moves the end of a selection that `toggle_copy_selection` started; removes another one.
    Move,
    /// Extends the selection, which starts at the cursor if there is none.
    Extend,
}

/// The cursor of copy mode with its selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyMode {
    cursor: CellPosition,
    selection: Option<CopySelection>,
}

#[derive(Clone, Copy, Debug)]
struct CopySelection {
    /// The end that does not move.
    anchor: CellPosition,
    kind: SelectionKind,
    /// Whether plain motions extend it.
    is_kept: bool,
}

impl MovePositions for CopyMode {
    fn for_each_position(&mut self, visit: &mut dyn FnMut(&mut CellPosition)) {
        visit(&mut self.cursor);
        if let Some(selection) = &mut self.selection {
            visit(&mut selection.anchor);
        }
    }
}

impl Emulator {
    /// Starts copy mode at the cursor of the program, or at the first cell in view if that is out of view.
    pub fn start_copy_mode(&mut self) {
        let cursor = self.term.grid().cursor.point;
        let top = Line(-(self.term.grid().display_offset() as i32));
        let is_in_view = cursor.line < top + self.term.screen_lines();
        let start = if is_in_view {
            cursor
        } else {
            Point::new(top, Column(0))
        };
        self.copy = Some(CopyMode {
            cursor: self.position_of(start),
            selection: None,
        });
    }

    /// Ends copy mode: removes the selection and follows the output again.
    pub fn end_copy_mode(&mut self) {
        if self.copy.take().is_some() {
            self.term.selection = None;
            self.term.scroll_display(Scroll::Bottom);
        }
    }

    /// Returns the cursor of copy mode; `None` outside of it.
    pub fn copy_cursor(&self) -> Option<CellPosition> {
        let cursor = self.copy?.cursor;
        Some(self.position_of(self.nearest_point(cursor)))
    }

    /// Moves the cursor of copy mode, and the view with it.
    pub fn move_copy_cursor(&mut self, motion: CopyMotion, step: CopyStep) {
        let Some(mut copy) = self.copy else {
            return;
        };
        let from = self.nearest_point(copy.cursor);
        let is_kept = copy.selection.is_some_and(|selection| selection.is_kept);
        match step {
            CopyStep::Extend if copy.selection.is_none() => {
                copy.selection = Some(CopySelection {
                    anchor: self.position_of(from),
                    kind: SelectionKind::Cells,
                    is_kept: false,
                });
            }
            CopyStep::Move if !is_kept => {
                copy.selection = None;
                self.term.selection = None;
            }
            CopyStep::Extend | CopyStep::Move => {}
        }
        let to = self.copy_target(from, motion);
        copy.cursor = self.position_of(to);
        self.copy = Some(copy);
        self.select_to_copy_cursor();
    }

    /// Moves the cursor of copy mode to a cell, and the view with it.
    pub fn place_copy_cursor(&mut self, position: CellPosition) {
        let point = self.nearest_point(position);
        let position = self.position_of(point);
        if let Some(copy) = &mut self.copy {
            copy.cursor = position;
            self.term.scroll_to_point(point);
            self.select_to_copy_cursor();
        }
    }

    /// Starts a selection that follows the cursor of copy mode; changes the unit of one, or ends it if that is its unit.
    pub fn toggle_copy_selection(&mut self, kind: SelectionKind) {
        let Some(mut copy) = self.copy else {
            return;
        };
        copy.selection = match copy.selection {
            Some(selection) if selection.is_kept && selection.kind == kind => None,
            Some(selection) => Some(CopySelection {
                kind,
                is_kept: true,
                ..selection
            }),
            None => Some(CopySelection {
                anchor: copy.cursor,
                kind,
                is_kept: true,
            }),
        };
        self.copy = Some(copy);
        self.term.selection = None;
        self.select_to_copy_cursor();
    }

    fn position_of(&self, point: Point) -> CellPosition {
        let line = self.state.lines.number(&self.term, point.line);
        CellPosition::new(line, point.column.0 as u16)
    }

    /// Returns the target of a motion, which is in view afterwards.
    fn copy_target(&mut self, from: Point, motion: CopyMotion) -> Point {
        let cursor = ViModeCursor::new(from);
        let motion = match motion {
            CopyMotion::PageUp => return self.copy_page(cursor, 1),
            CopyMotion::PageDown => return self.copy_page(cursor, -1),
            CopyMotion::Top => return self.show_point(self.term.topmost_line()),
            CopyMotion::Bottom => return self.show_point(self.last_line_with_text()),
            CopyMotion::Left => ViMotion::Left,
            CopyMotion::Right => ViMotion::Right,
            CopyMotion::Up => ViMotion::Up,
            CopyMotion::Down => ViMotion::Down,
            CopyMotion::WordLeft => ViMotion::SemanticLeft,
            CopyMotion::WordRight => ViMotion::SemanticRight,
            CopyMotion::WordEnd => ViMotion::SemanticRightEnd,
            CopyMotion::LineStart => ViMotion::First,
            CopyMotion::LineText => ViMotion::FirstOccupied,
            CopyMotion::LineEnd => ViMotion::Last,
            CopyMotion::ParagraphUp => ViMotion::ParagraphUp,
            CopyMotion::ParagraphDown => ViMotion::ParagraphDown,
            CopyMotion::ViewTop => ViMotion::High,
            CopyMotion::ViewMiddle => ViMotion::Middle,
            CopyMotion::ViewBottom => ViMotion::Low,
        };
        cursor.motion(&mut self.term, motion).point
    }

    /// Scrolls by pages, up if `pages` is positive; returns the cell to which the cursor moves.
    fn copy_page(&mut self, cursor: ViModeCursor, pages: i32) -> Point {
        let lines = self.term.screen_lines() as i32 * pages;
        self.term.scroll_display(Scroll::Delta(lines));
        let point = cursor.scroll(&self.term, lines).point;
        self.term.scroll_to_point(point);
        point
    }

    /// Shows a line; returns its first cell.
    fn show_point(&mut self, line: Line) -> Point {
        let point = Point::new(line, Column(0));
        self.term.scroll_to_point(point);
        point
    }

    /// Returns the last line with text or with the cursor of the program.
    fn last_line_with_text(&self) -> Line {
        let grid = self.term.grid();
        let mut line = self.term.bottommost_line();
        while line > grid.cursor.point.line && grid[line].is_clear() {
            line -= 1_i32;
        }
        line
    }

    /// Selects the text between the anchor and the cursor, both included.
    fn select_to_copy_cursor(&mut self) {
        let Some(CopyMode {
            cursor,
            selection: Some(selection),
        }) = self.copy
        else {
            return;
        };
        self.start_selection(selection.kind, selection.anchor, CellHalf::Left);
        let point = self.nearest_point(cursor);
        if let Some(selection) = &mut self.term.selection {
            selection.update(point, Side::Left);
            selection.include_all();
        }
        self.guard_selection();
    }
}
