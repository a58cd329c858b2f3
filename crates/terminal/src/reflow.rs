//! Resizes the core so that positions stay on their text.
//!
//! The core does not tell where a cell goes when rows are wrapped again. The cells of the positions are therefore tagged
//! with hyperlinks before, which the core moves with them, and found again afterwards.
//!
//! Two faults of the core are avoided: see `narrow` and `widen`.

use std::cmp::Ordering;
use std::collections::HashMap;

use alacritty_terminal::Term;
use alacritty_terminal::event::EventListener;
use alacritty_terminal::grid::{Dimensions, Row};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Hyperlink, LineLength};
use alacritty_terminal::vte::ansi::{Handler, KeyboardModes, KeyboardModesApplyBehavior};

use crate::grid_text::{SPACERS, first_row, is_wrapped};
use crate::lines::{LineTracker, MAX_ROWS, is_alternate};
use crate::position::{CellPosition, LineNumber};

/// Start of the target of a tag. Programs cannot set it: the parser drops control characters of hyperlinks.
const TAG: char = '\u{1}';

/// The size of a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridSize {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Dimensions for GridSize {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }
}

/// Tagged cells.
#[derive(Debug, Default)]
struct Tags {
    /// The hyperlink that each tagged cell had.
    hyperlinks: Vec<Option<Hyperlink>>,
    /// For each position, its tag and its distance from the tagged cell in columns; `None` for a line that is not there.
    references: Vec<Option<(usize, u16)>>,
}

/// Resizes the core and moves `positions`, which are on the primary screen, with their text.
pub(crate) fn resize<T: EventListener>(
    term: &mut Term<T>,
    lines: &mut LineTracker,
    size: GridSize,
    positions: &mut [CellPosition],
) {
    let mut tags = Tags::default();
    if !positions.is_empty() {
        tags = with_primary(term, |term| Tags::attach(term, lines, positions));
    }
    resize_grids(term, size);
    let was_alternate = is_alternate(term);
    with_primary(term, |term| {
        let found = tags.detach(term, lines);
        place(
            positions,
            &tags.references,
            &found,
            size.columns,
            lines.oldest(),
        );
        lines.trim(term);
        if was_alternate {
            lines.set_parked_history(term.history_size());
        }
    });
}

/// Changes the size of the core's grids, first the number of rows, as the core does.
fn resize_grids<T: EventListener>(term: &mut Term<T>, size: GridSize) {
    let columns = term.columns();
    term.resize(GridSize { columns, ..size });
    match size.columns.cmp(&columns) {
        Ordering::Less => narrow(term, size),
        Ordering::Greater => widen(term, size),
        Ordering::Equal => {}
    }
}

/// Makes the rows shorter. In the core, a row that wraps pushes the first row of the screen into the scrollback even if
/// the last rows are blank; such rows return to the screen.
fn narrow<T: EventListener>(term: &mut Term<T>, size: GridSize) {
    let lines = with_primary(term, |term| lines_on_screen(term));
    term.resize(size);
    let returning = with_primary(term, |term| rows_to_return(term, lines));
    if returning > 0 {
        // The core fills new rows from the scrollback, and removes blank rows at the bottom.
        let rows = size.rows + returning;
        term.resize(GridSize { rows, ..size });
        term.resize(size);
    }
}

/// Makes the rows longer. The core loses the place of the cursor if its line begins in the scrollback, which is therefore
/// part of the screen meanwhile.
fn widen<T: EventListener>(term: &mut Term<T>, size: GridSize) {
    let above = with_primary(term, |term| {
        let cursor = term.grid().cursor.point.line;
        let first = first_row(term, cursor, MAX_ROWS.into());
        first.0.min(0).unsigned_abs() as usize
    });
    if above > 0 {
        let rows = size.rows + above;
        let columns = term.columns();
        term.resize(GridSize { rows, columns });
        term.resize(GridSize { rows, ..size });
        with_primary(term, |term| scroll_surplus(term, size.rows));
    }
    term.resize(size);
}

/// Returns the number of logical lines that begin on the screen.
fn lines_on_screen<T>(term: &Term<T>) -> usize {
    let rows = (0..term.screen_lines()).map(Line::from);
    rows.filter(|line| begins_line(term, *line)).count()
}

fn begins_line<T>(term: &Term<T>, line: Line) -> bool {
    line == term.topmost_line() || !is_wrapped(&term.grid()[line - 1_i32])
}

/// Returns the last row that has text or the cursor.
fn last_used_row<T>(term: &Term<T>) -> Line {
    let mut last = term.bottommost_line();
    while last > term.grid().cursor.point.line && term.grid()[last].is_clear() {
        last -= 1_i32;
    }
    last
}

/// Returns the number of rows of the last `lines` logical lines that are in the scrollback and for which there are blank
/// rows at the bottom.
fn rows_to_return<T>(term: &Term<T>, lines: usize) -> usize {
    let bottom = term.bottommost_line();
    let blank = bottom.0 - last_used_row(term).0;
    let (mut first, mut left) = (bottom + 1_i32, lines);
    while left > 0 && first > term.topmost_line() {
        first -= 1_i32;
        left -= usize::from(begins_line(term, first));
    }
    (-first.0).clamp(0, blank) as usize
}

/// Moves the first rows into the scrollback if the used rows exceed `rows`.
fn scroll_surplus<T>(term: &mut Term<T>, rows: usize) {
    let used = last_used_row(term).0 + 1;
    let surplus = usize::try_from(used)
        .unwrap_or_default()
        .saturating_sub(rows);
    if surplus > 0 {
        let screen = Line(0)..Line(term.screen_lines() as i32);
        let grid = term.grid_mut();
        grid.scroll_up(&screen, surplus);
        for cursor in [&mut grid.cursor, &mut grid.saved_cursor] {
            cursor.point.line = (cursor.point.line - surplus).max(Line(0));
        }
    }
}

/// Calls `work` with the primary screen shown.
pub(crate) fn with_primary<T: EventListener, R>(
    term: &mut Term<T>,
    work: impl FnOnce(&mut Term<T>) -> R,
) -> R {
    if !is_alternate(term) {
        return work(term);
    }
    let keyboard = (term.mode().intersection(TermMode::KITTY_KEYBOARD_PROTOCOL)).bits() >> 18;
    let selection = term.selection.take();
    let alternate = term.grid().clone();
    term.swap_alt();
    let result = work(term);
    // This clears the alternate screen and forgets keyboard modes that are not on the stack.
    term.swap_alt();
    *term.grid_mut() = alternate;
    term.selection = selection;
    let keyboard = KeyboardModes::from_bits_truncate(keyboard as u8);
    Handler::set_keyboard_mode(term, keyboard, KeyboardModesApplyBehavior::Replace);
    result
}

impl Tags {
    fn attach<T>(term: &mut Term<T>, lines: &LineTracker, positions: &[CellPosition]) -> Self {
        let mut tags = Self::default();
        let mut known = HashMap::new();
        for position in positions {
            let Some(line) = lines.line(term, position.line) else {
                tags.references.push(None);
                continue;
            };
            let row = &mut term.grid_mut()[line];
            let column = anchor_column(row, position.column.into());
            let tag = *known.entry((line.0, column)).or_insert_with(|| {
                let tag = tags.hyperlinks.len();
                let cell = &mut row[Column(column)];
                tags.hyperlinks.push(cell.hyperlink());
                let link = Hyperlink::new(Some(tag), format!("{TAG}{tag}"));
                cell.set_hyperlink(Some(link));
                tag
            });
            let distance = position.column.saturating_sub(column as u16);
            tags.references.push(Some((tag, distance)));
        }
        tags
    }

    /// Removes the tags; returns the positions of their cells.
    fn detach<T>(&mut self, term: &mut Term<T>, lines: &LineTracker) -> Vec<Option<CellPosition>> {
        let mut found = vec![None; self.hyperlinks.len()];
        if found.is_empty() {
            return found;
        }
        for line in term.topmost_line().0..=term.bottommost_line().0 {
            let line = Line(line);
            for column in 0..term.columns() {
                let cell = &term.grid()[line][Column(column)];
                let Some(tag) = cell.extra.as_ref().and_then(|_| tag_of(cell.hyperlink())) else {
                    continue;
                };
                let number = lines.number(term, line);
                let Some(slot) = found.get_mut(tag) else {
                    continue;
                };
                *slot = Some(CellPosition::new(number, column as u16));
                let hyperlink = self.hyperlinks[tag].take();
                term.grid_mut()[line][Column(column)].set_hyperlink(hyperlink);
            }
        }
        found
    }
}

fn tag_of(hyperlink: Option<Hyperlink>) -> Option<usize> {
    hyperlink?.uri().strip_prefix(TAG)?.parse().ok()
}

/// Returns the column of the cell to tag for a position: one that the core keeps when it wraps the row again.
fn anchor_column(row: &Row<Cell>, column: usize) -> usize {
    let last = row.line_length().0.max(1) - 1;
    let mut column = column.min(last);
    let is_spacer = |column: usize| row[Column(column)].flags.intersects(SPACERS);
    while column > 0 && is_spacer(column) {
        column -= 1;
    }
    column
}

/// Sets the positions to those of their tags. A position whose cell is gone moves to the one before it; one whose line was
/// dropped from the scrollback moves above the oldest line.
fn place(
    positions: &mut [CellPosition],
    references: &[Option<(usize, u16)>],
    found: &[Option<CellPosition>],
    columns: usize,
    oldest: LineNumber,
) {
    let mut before = CellPosition::new(oldest.above(1), 0);
    for (position, reference) in positions.iter_mut().zip(references) {
        let Some((tag, distance)) = reference else {
            continue;
        };
        if let Some(cell) = found[*tag] {
            let column = usize::from(cell.column) + usize::from(*distance);
            before = CellPosition::new(cell.line, column.min(columns) as u16);
        }
        *position = before;
    }
}
