//! Shapes a row of cells into positioned glyphs, backgrounds and lines.
//!
//! Invariant: every glyph begins at its cell, whatever the metrics of its font.

use gpui_kit::{FontId, GlyphId, Hsla, Pixels, TextRun, Window};
use terminal::{CellStyle, CellWidth, StyleRun, TerminalCell, TerminalRow, Underline};

use super::colors::ResolvedColors;
use super::glyphs::is_drawn;
use super::palette::Palette;

/// A glyph with its cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellGlyph {
    pub(crate) column: u16,
    /// Distance from the left edge of the cell.
    pub(crate) shift: Pixels,
    pub(crate) font: FontId,
    pub(crate) id: GlyphId,
    pub(crate) color: Hsla,
    pub(crate) is_emoji: bool,
}

/// A line under or through some cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CellStroke {
    pub(crate) column: u16,
    pub(crate) count: u16,
    pub(crate) kind: StrokeKind,
    pub(crate) color: Hsla,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StrokeKind {
    Underline(Underline),
    Strikethrough,
}

/// A row of cells, ready to be painted at any place.
#[derive(Debug, Default)]
pub(crate) struct ShapedCells {
    pub(crate) glyphs: Vec<CellGlyph>,
    /// Backgrounds: column, number of cells, colour. Adjacent cells of one colour are merged.
    pub(crate) grounds: Vec<(u16, u16, Hsla)>,
    pub(crate) strokes: Vec<CellStroke>,
    /// Characters that are drawn by quads and paths: column and colour.
    pub(crate) drawn: Vec<(u16, char, Hsla)>,
}

/// Shapes a row.
pub(crate) fn shape(row: &TerminalRow, palette: &Palette, window: &Window) -> ShapedCells {
    let mut shaper = CellShaper {
        palette,
        window,
        shaped: ShapedCells::default(),
        pending: PendingText::default(),
    };
    for run in &row.runs {
        let colors = palette.colors.resolve(&run.style);
        shaper.shaped.add_ground(run, &colors);
        if run.style.is_hidden {
            continue;
        }
        shaper.shaped.add_strokes(run, &colors);
        for column in run.columns.clone() {
            let Some(cell) = row.cells.get(usize::from(column)) else {
                break;
            };
            if is_drawn(cell.character) {
                let drawn = (column, cell.character, colors.drawn);
                shaper.shaped.drawn.push(drawn);
            } else if cell.width != CellWidth::Spacer && !is_blank(cell) {
                shaper.push(column, cell, &run.style, colors.text);
            }
        }
    }
    shaper.flush();
    shaper.shaped
}

fn is_blank(cell: &TerminalCell) -> bool {
    cell.character == ' ' && cell.combining.is_none()
}

/// Returns whether a cell can be shaped together with its neighbours.
fn is_plain(cell: &TerminalCell) -> bool {
    cell.width == CellWidth::Single && cell.combining.is_none() && cell.character < '\u{250}'
}

impl ShapedCells {
    fn add_ground(&mut self, run: &StyleRun, colors: &ResolvedColors) {
        let Some(color) = colors.ground else {
            return;
        };
        let (start, count) = (run.columns.start, run.columns.len() as u16);
        match self.grounds.last_mut() {
            Some((from, cells, same)) if *same == color && *from + *cells == start => {
                *cells += count;
            }
            _ => self.grounds.push((start, count, color)),
        }
    }

    fn add_strokes(&mut self, run: &StyleRun, colors: &ResolvedColors) {
        let mut add = |kind, color| {
            self.strokes.push(CellStroke {
                column: run.columns.start,
                count: run.columns.len() as u16,
                kind,
                color,
            });
        };
        if run.style.underline != Underline::None {
            add(StrokeKind::Underline(run.style.underline), colors.underline);
        }
        if run.style.is_struck {
            add(StrokeKind::Strikethrough, colors.text);
        }
    }
}

/// Shapes the cells of a row, those of one font together.
struct CellShaper<'a> {
    palette: &'a Palette,
    window: &'a Window,
    shaped: ShapedCells,
    pending: PendingText,
}

/// Adjacent cells of one font that are not shaped yet.
#[derive(Default)]
struct PendingText {
    text: String,
    /// For each byte at which a cell begins: its column and colour.
    starts: Vec<(usize, u16, Hsla)>,
    style: Option<CellStyle>,
    /// The column after the last cell.
    end: u16,
    /// Whether the cell must be shaped apart from others.
    is_apart: bool,
}

impl CellShaper<'_> {
    fn push(&mut self, column: u16, cell: &TerminalCell, style: &CellStyle, color: Hsla) {
        let is_apart = !is_plain(cell);
        let has_same_font = self.pending.style.is_some_and(|known| {
            known.is_bold == style.is_bold && known.is_italic == style.is_italic
        });
        if is_apart || self.pending.is_apart || !has_same_font || column != self.pending.end {
            self.flush();
        }
        let pending = &mut self.pending;
        pending.starts.push((pending.text.len(), column, color));
        pending.text.push(cell.character);
        let combining = cell.combining.as_deref().unwrap_or_default();
        pending.text.push_str(combining);
        pending.style = Some(*style);
        pending.is_apart = is_apart;
        pending.end = column + 1;
    }

    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let (Some(style), Some((_, _, color))) = (pending.style, pending.starts.first()) else {
            return;
        };
        let run = TextRun {
            len: pending.text.len(),
            font: self.palette.font_of(&style),
            // The colour of each glyph is chosen below.
            color: *color,
            background_color: None,
            underline: None,
            strikethrough: None,
        };
        let advance = (!pending.is_apart).then_some(self.palette.advance);
        let text_system = self.window.text_system();
        let line = text_system.layout_line(&pending.text, self.palette.size, &[run], advance);
        let mut cell = None;
        for run in &line.runs {
            for glyph in &run.glyphs {
                let ix = pending
                    .starts
                    .partition_point(|(byte, ..)| *byte <= glyph.index);
                let (_, column, color) = pending.starts[ix.saturating_sub(1)];
                // The first glyph of a cell begins at the cell, and its others keep their distance from the first.
                let origin = match cell {
                    Some((known, x)) if known == column => x,
                    _ => glyph.position.x,
                };
                cell = Some((column, origin));
                self.shaped.glyphs.push(CellGlyph {
                    column,
                    shift: glyph.position.x - origin,
                    font: run.font_id,
                    id: glyph.id,
                    color,
                    is_emoji: glyph.is_emoji,
                });
            }
        }
    }
}
