//! The rows in view, copied from the core only where they changed.

use std::sync::Arc;

use alacritty_terminal::Term;
use alacritty_terminal::grid::{Dimensions, Row};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermDamage;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor, Rgb};

use crate::cells::{
    CellStyle, CellWidth, StyleRun, TerminalCell, TerminalColor, TerminalRow, Underline,
};
use crate::grid_text::{SPACERS, is_wrapped};
use crate::lines::{LineTracker, is_alternate};
use crate::position::LineNumber;

/// The rows of the last snapshot.
#[derive(Debug, Default)]
pub(crate) struct FrameCache {
    rows: Vec<Arc<TerminalRow>>,
    first_line: LineNumber,
    columns: usize,
    is_alternate: bool,
    next_generation: u64,
}

impl FrameCache {
    /// Returns a cache without rows, whose generations follow those of `cache`.
    pub(crate) fn after(cache: &Self) -> Self {
        Self {
            next_generation: cache.next_generation,
            ..Self::default()
        }
    }

    /// Returns the first line in view and the rows.
    pub(crate) fn update<T>(
        &mut self,
        term: &mut Term<T>,
        lines: &LineTracker,
    ) -> (LineNumber, Vec<Arc<TerminalRow>>) {
        let offset = term.grid().display_offset();
        let first_line = lines.screen_top(term).above(offset as u64);
        let damaged = match term.damage() {
            TermDamage::Full => None,
            TermDamage::Partial(damaged) => Some(damaged.map(|line| line.line).collect::<Vec<_>>()),
        };
        term.reset_damage();
        let is_same_view = first_line == self.first_line
            && term.columns() == self.columns
            && term.screen_lines() == self.rows.len()
            && is_alternate(term) == self.is_alternate;
        let line_of = |row: usize| Line(row as i32 - offset as i32);
        match damaged {
            Some(damaged) if is_same_view => {
                for row in damaged {
                    let old = self.rows.get(row).cloned();
                    if old.is_some() {
                        self.rows[row] = self.row(&term.grid()[line_of(row)], old);
                    }
                }
            }
            _ => {
                // A line that only moved keeps its row.
                let shift = first_line.0.wrapping_sub(self.first_line.0);
                let old_rows = std::mem::take(&mut self.rows);
                for row in 0..term.screen_lines() {
                    let old = usize::try_from((row as u64).wrapping_add(shift)).ok();
                    let old = old.and_then(|old| old_rows.get(old)).cloned();
                    let row = self.row(&term.grid()[line_of(row)], old);
                    self.rows.push(row);
                }
                self.first_line = first_line;
                self.columns = term.columns();
                self.is_alternate = is_alternate(term);
            }
        }
        (first_line, self.rows.clone())
    }

    /// Copies a row, or returns `old` if that is equal.
    fn row(&mut self, row: &Row<Cell>, old: Option<Arc<TerminalRow>>) -> Arc<TerminalRow> {
        let mut copy = copy_row(row);
        if let Some(old) = old {
            copy.generation = old.generation;
            if *old == copy {
                return old;
            }
        }
        self.next_generation += 1;
        copy.generation = self.next_generation;
        Arc::new(copy)
    }
}

/// Copies a row of the core; its generation is 0.
pub(crate) fn copy_row(row: &Row<Cell>) -> TerminalRow {
    let length = (0..row.len())
        .rev()
        .find(|column| !is_blank(&row[Column(*column)]))
        .map_or(0, |column| column + 1);
    let mut copy = TerminalRow {
        is_wrapped: is_wrapped(row),
        ..TerminalRow::default()
    };
    copy.cells.reserve(length);
    for column in 0..length {
        let cell = &row[Column(column)];
        copy.cells.push(if is_torn(row, column) {
            TerminalCell::single(' ')
        } else {
            copy_cell(cell)
        });
        extend_runs(&mut copy.runs, column as u16, cell);
    }
    copy
}

/// Returns whether a cell is half of a wide character without the other half, or fills a row before its end. The core
/// leaves such cells where a sequence erases, inserts or deletes cells amid a wide character; they are blank.
pub(crate) fn is_torn(row: &Row<Cell>, column: usize) -> bool {
    let flags = |column: usize| row[Column(column)].flags;
    let has_next = column + 1 < row.len();
    if flags(column).contains(Flags::WIDE_CHAR) {
        !has_next || !flags(column + 1).contains(Flags::WIDE_CHAR_SPACER)
    } else if flags(column).contains(Flags::WIDE_CHAR_SPACER) {
        column == 0 || !flags(column - 1).contains(Flags::WIDE_CHAR)
    } else {
        has_next && flags(column).contains(Flags::LEADING_WIDE_CHAR_SPACER)
    }
}

/// Returns whether nothing of the cell is visible.
fn is_blank(cell: &Cell) -> bool {
    let is_space = matches!(cell.c, ' ' | '\t');
    is_space
        && cell.bg == Color::Named(NamedColor::Background)
        && (cell.flags - Flags::WRAPLINE - Flags::BOLD_ITALIC - Flags::DIM).is_empty()
        && cell.extra.as_ref().is_none_or(|_| {
            cell.hyperlink().is_none() && cell.zerowidth().is_none_or(<[char]>::is_empty)
        })
}

fn copy_cell(cell: &Cell) -> TerminalCell {
    let width = if cell.flags.intersects(SPACERS) {
        CellWidth::Spacer
    } else if cell.flags.contains(Flags::WIDE_CHAR) {
        CellWidth::Wide
    } else {
        CellWidth::Single
    };
    let combining = cell.zerowidth().filter(|combining| !combining.is_empty());
    TerminalCell {
        character: if cell.c == '\t' { ' ' } else { cell.c },
        combining: combining.map(|combining| combining.iter().collect::<String>().into()),
        width,
    }
}

/// Adds a cell to the last run, or starts one.
fn extend_runs(runs: &mut Vec<StyleRun>, column: u16, cell: &Cell) {
    let style = style_of(cell);
    let link = cell.extra.as_ref().and_then(|_| cell.hyperlink());
    if let Some(last) = runs.last_mut()
        && last.style == style
        && last.link.as_deref() == link.as_ref().map(|link| link.uri())
    {
        last.columns.end = column + 1;
        return;
    }
    runs.push(StyleRun {
        columns: column..column + 1,
        style,
        link: link.map(|link| link.uri().into()),
    });
}

fn style_of(cell: &Cell) -> CellStyle {
    let flags = cell.flags;
    let underlines = [
        (Flags::UNDERLINE, Underline::Single),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curly),
        (Flags::DOTTED_UNDERLINE, Underline::Dotted),
        (Flags::DASHED_UNDERLINE, Underline::Dashed),
    ];
    let underline = underlines.iter().find(|(flag, _)| flags.contains(*flag));
    CellStyle {
        foreground: color_of(cell.fg),
        background: color_of(cell.bg),
        underline: underline.map_or(Underline::None, |(_, underline)| *underline),
        underline_color: cell.underline_color().map(color_of),
        is_bold: flags.contains(Flags::BOLD),
        is_dim: flags.contains(Flags::DIM),
        is_italic: flags.contains(Flags::ITALIC),
        is_inverse: flags.contains(Flags::INVERSE),
        is_hidden: flags.contains(Flags::HIDDEN),
        is_struck: flags.contains(Flags::STRIKEOUT),
    }
}

fn color_of(color: Color) -> TerminalColor {
    match color {
        Color::Named(name) if (name as usize) < 16 => TerminalColor::Palette(name as u8),
        Color::Named(_) => TerminalColor::Default,
        Color::Indexed(index) => TerminalColor::Palette(index),
        Color::Spec(Rgb { r, g, b }) => TerminalColor::Rgb(r, g, b),
    }
}
