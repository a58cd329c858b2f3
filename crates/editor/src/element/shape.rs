//! From a display row to letters with their places.
//!
//! The text system chooses the shapes; their places are ours: every cluster begins at its cell, so that
//! carets, selections and letters agree whatever the fonts say.
//! Invariant: x positions count from `origin_cell`, so that they stay small in rows of any length.
//! Limitation: text that runs from right to left is laid out cell by cell from left to right.

mod words;

use std::cell::RefCell;

use base::Span;
use display::{DisplayLine, DisplaySnapshot, InlayId, Segment, SegmentKind};
use gpui_kit::{FontId, GlyphId, HighlightStyle, Hsla, TextRun, UnderlineStyle, Window, px};
use smallvec::SmallVec;

pub(crate) use self::words::Words;
use super::palette::Palette;
use crate::editor::{InlayLook, InlayLooks};
use crate::suggestion::Look;

/// One letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glyph {
    /// Pixels from the origin cell.
    pub(crate) x: f32,
    pub(crate) font: FontId,
    pub(crate) id: GlyphId,
    pub(crate) color: Hsla,
    pub(crate) is_emoji: bool,
}

/// A line under or through letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) cell: u32,
    pub(crate) cells: u32,
    pub(crate) color: Hsla,
    pub(crate) is_through: bool,
    pub(crate) is_wavy: bool,
}

/// A blank that may be shown as a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blank {
    pub(crate) cell: u32,
    pub(crate) cells: u32,
    pub(crate) is_tab: bool,
    /// Whether it stands alone between two words.
    pub(crate) is_single: bool,
}

/// The cells of an inlay in one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlayPart {
    pub(crate) id: InlayId,
    pub(crate) cell: u32,
    /// May be none: of an empty line of an inlay.
    pub(crate) cells: u32,
    /// Bytes of its text before this row.
    pub(crate) start: usize,
}

fn inlay_part(segment: &Segment) -> Option<InlayPart> {
    match segment.kind {
        SegmentKind::Inlay(id) => Some(InlayPart {
            id,
            cell: segment.cell,
            cells: segment.cells,
            start: segment.inlay_start,
        }),
        _ => None,
    }
}

/// A display row, ready to be painted.
#[derive(Clone, Debug)]
pub(crate) struct ShapedRow {
    pub(crate) origin_cell: u32,
    /// The cell behind the last; `None` where only a part was shaped.
    pub(crate) end_cell: Option<u32>,
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) strokes: SmallVec<[Stroke; 1]>,
    pub(crate) blanks: SmallVec<[Blank; 4]>,
    /// Cells of the signs for folded text.
    pub(crate) folds: SmallVec<[(u32, u32); 1]>,
    /// The parts of inlays on it.
    pub(crate) inlays: SmallVec<[InlayPart; 1]>,
    /// Cells of blanks at its start; `None` when there is nothing else.
    pub(crate) indent: Option<u32>,
    /// Cells before the text of a continued row.
    pub(crate) hanging: u32,
    /// Whether it is the last of the display rows of its row.
    pub(crate) is_last: bool,
}

impl ShapedRow {
    /// A row without anything.
    #[cfg(test)]
    pub(crate) fn empty() -> Self {
        Self {
            origin_cell: 0,
            end_cell: Some(0),
            glyphs: Vec::new(),
            strokes: SmallVec::new(),
            blanks: SmallVec::new(),
            folds: SmallVec::new(),
            inlays: SmallVec::new(),
            indent: None,
            hanging: 0,
            is_last: true,
        }
    }
}

/// A stretch of letters of one look, in the bytes of the row's painted text.
struct Piece {
    start: usize,
    style: Option<HighlightStyle>,
    color: Hsla,
}

/// What shaping needs besides the row.
pub(crate) struct Shaper<'a> {
    pub(crate) palette: &'a Palette,
    pub(crate) display: &'a DisplaySnapshot,
    pub(crate) window: &'a Window,
    /// Words that were shaped before.
    pub(crate) words: &'a RefCell<Words>,
    /// How inlays look that have a look of their own.
    pub(crate) looks: &'a InlayLooks,
}

impl Shaper<'_> {
    /// Shapes a row. `highlights` gives the colours of a span of the buffer, sorted and disjoint.
    pub(crate) fn shape(
        &self,
        line: &DisplayLine,
        highlights: &dyn Fn(Span) -> Vec<syntax::Highlight>,
    ) -> ShapedRow {
        let pieces = self.pieces(line, highlights);
        let glyphs = self.glyphs(line, &pieces);
        let fold = |segment: &&Segment| segment.kind == SegmentKind::FoldPlaceholder;
        ShapedRow {
            origin_cell: line.start_cell,
            end_cell: Some(line.end_cell),
            glyphs,
            strokes: self.strokes(line, &pieces),
            blanks: blanks(line),
            folds: line
                .segments
                .iter()
                .filter(fold)
                .map(|segment| (segment.cell, segment.cells))
                .collect(),
            inlays: line.segments.iter().filter_map(inlay_part).collect(),
            indent: indent(line),
            hanging: line.indent_cells,
            is_last: line.is_last_wrap,
        }
    }

    fn pieces(
        &self,
        line: &DisplayLine,
        highlights: &dyn Fn(Span) -> Vec<syntax::Highlight>,
    ) -> Vec<Piece> {
        let palette = self.palette;
        let mut pieces = Vec::new();
        let plain = |start: usize, color: Hsla| Piece {
            start,
            style: None,
            color,
        };
        for segment in &line.segments {
            match segment.kind {
                SegmentKind::Text => {
                    let at = |offset: base::ByteOffset| {
                        segment.text.start + (offset - segment.span.start)
                    };
                    let mut end = segment.text.start;
                    for highlight in highlights(segment.span) {
                        let start = at(highlight.span.start);
                        if start > end {
                            pieces.push(plain(end, palette.text));
                        }
                        let style = palette.style(highlight.kind);
                        let color = style.and_then(|style| style.color).unwrap_or(palette.text);
                        pieces.push(Piece {
                            start,
                            style,
                            color,
                        });
                        end = at(highlight.span.end);
                    }
                    if end < segment.text.end {
                        pieces.push(plain(end, palette.text));
                    }
                }
                SegmentKind::Tab => pieces.push(plain(segment.text.start, palette.text)),
                SegmentKind::Control => pieces.push(plain(segment.text.start, palette.error)),
                SegmentKind::Inlay(id) => {
                    self.inlay_pieces(segment, self.looks.get(&id), &mut pieces)
                }
                SegmentKind::FoldPlaceholder => {
                    pieces.push(plain(segment.text.start, palette.muted));
                }
            }
        }
        pieces
    }

    /// The pieces of an inlay: muted, unless it has a look of its own.
    fn inlay_pieces(&self, segment: &Segment, look: Option<&InlayLook>, pieces: &mut Vec<Piece>) {
        let palette = self.palette;
        let plain = match look.map(|look| look.look) {
            None => palette.muted,
            Some(Look::Ghost) => palette.ghost(palette.text),
            Some(Look::Added | Look::AddedRows) => palette.text,
        };
        let mut end = segment.text.start;
        let plain_piece = |start: usize| Piece {
            start,
            style: None,
            color: plain,
        };
        let known =
            look.and_then(|look| look.colours.as_deref().map(|colours| (look.look, colours)));
        for (look, highlight) in known
            .iter()
            .flat_map(|(look, colours)| colours.iter().map(|it| (*look, it)))
        {
            // Offsets in the inlay become offsets in the row; what a tab takes more is behind them.
            let at = |offset: u32| {
                segment.text.start + (offset as usize).saturating_sub(segment.inlay_start)
            };
            let (start, stop) = (
                at(highlight.start).max(end),
                at(highlight.end).min(segment.text.end),
            );
            if start >= stop {
                continue;
            }
            if start > end {
                pieces.push(plain_piece(end));
            }
            let mut style = palette.style(highlight.kind);
            let mut color = style.and_then(|style| style.color).unwrap_or(palette.text);
            if look == Look::Ghost {
                color = palette.ghost(color);
                style = style.map(|style| HighlightStyle {
                    color: Some(color),
                    ..style
                });
            }
            pieces.push(Piece {
                start,
                style,
                color,
            });
            end = stop;
        }
        if end < segment.text.end || segment.text.is_empty() {
            pieces.push(plain_piece(end));
        }
    }

    fn glyphs(&self, line: &DisplayLine, pieces: &[Piece]) -> Vec<Glyph> {
        let mut glyphs = Vec::with_capacity(line.text.len());
        let runs = self.runs(line, pieces);
        let mut run_end = 0;
        let mut runs = runs.iter().map(|run| {
            run_end += run.len;
            (run_end, run)
        });
        let Some(mut run) = runs.next() else {
            return glyphs;
        };
        let mut cluster = Cluster::default();
        for range in words::of(&line.text) {
            let mut start = range.start;
            // A word of several fonts is shaped in parts: letters of different fonts do not join.
            while start < range.end {
                while run.0 <= start {
                    let Some(next) = runs.next() else {
                        return glyphs;
                    };
                    run = next;
                }
                let end = run.0.min(range.end);
                let word = self
                    .words
                    .borrow_mut()
                    .shape(&line.text[start..end], run.1, self);
                for letter in word.iter() {
                    let index = start + letter.index as usize;
                    let cell = self.cell_of(line, index);
                    let x = cluster.place(cell - line.start_cell, letter.x, self.palette.advance);
                    let piece = pieces.partition_point(|piece| piece.start <= index);
                    let color = pieces
                        .get(piece.wrapping_sub(1))
                        .map_or(self.palette.text, |piece| piece.color);
                    glyphs.push(Glyph {
                        x,
                        font: letter.font,
                        id: letter.id,
                        color,
                        is_emoji: letter.is_emoji,
                    });
                }
                // What follows begins at a cell of its own.
                cluster = Cluster::default();
                start = end;
            }
        }
        glyphs
    }

    /// Runs of one font. Colours are left out: they would keep letters from joining.
    fn runs(&self, line: &DisplayLine, pieces: &[Piece]) -> Vec<TextRun> {
        let mut runs: Vec<TextRun> = Vec::new();
        let ends = pieces
            .iter()
            .skip(1)
            .map(|piece| piece.start)
            .chain([line.text.len()]);
        let run = |len: usize, font| TextRun {
            len,
            font,
            color: self.palette.text,
            background_color: None,
            underline: None,
            strikethrough: None,
        };
        for (piece, end) in pieces.iter().zip(ends) {
            let font = self.palette.font_for(piece.style.as_ref());
            match runs.last_mut() {
                Some(last) if last.font == font => last.len += end - piece.start,
                _ => runs.push(run(end - piece.start, font)),
            }
        }
        if runs.is_empty() {
            runs.push(run(line.text.len(), self.palette.font.clone()));
        }
        runs
    }

    /// The cell where the letter at a byte of the painted text begins.
    fn cell_of(&self, line: &DisplayLine, byte: usize) -> u32 {
        let ix = line
            .segments
            .partition_point(|segment| segment.text.start <= byte);
        let Some(segment) = line.segments.get(ix.wrapping_sub(1)) else {
            return line.start_cell;
        };
        let within = byte - segment.text.start;
        // One byte a cell: nothing but ASCII.
        if segment.text.len() == segment.cells as usize {
            return segment.cell + within as u32;
        }
        match segment.kind {
            SegmentKind::Text => {
                let place = self
                    .display
                    .to_display(segment.span.start + within, base::Bias::Right);
                place.cell.clamp(segment.cell, segment.cell + segment.cells)
            }
            _ => {
                let before = line.text.get(segment.text.start..byte).unwrap_or_default();
                segment.cell + (before.chars().count() as u32).min(segment.cells)
            }
        }
    }

    fn strokes(&self, line: &DisplayLine, pieces: &[Piece]) -> SmallVec<[Stroke; 1]> {
        let ends = pieces
            .iter()
            .skip(1)
            .map(|piece| piece.start)
            .chain([line.text.len()]);
        let mut strokes = SmallVec::new();
        for (piece, end) in pieces.iter().zip(ends) {
            let Some(style) = &piece.style else { continue };
            let cell = self.cell_of(line, piece.start);
            let last = match end == line.text.len() {
                true => line.end_cell,
                false => self.cell_of(line, end),
            };
            let mut push = |color: Option<Hsla>, is_through, is_wavy| {
                let color = color.unwrap_or(piece.color);
                strokes.push(Stroke {
                    cell,
                    cells: last.saturating_sub(cell),
                    color,
                    is_through,
                    is_wavy,
                });
            };
            if let Some(underline) = style.underline {
                push(underline.color, false, underline.wavy);
            }
            if let Some(strikethrough) = style.strikethrough {
                push(strikethrough.color, true, false);
            }
        }
        strokes
    }
}

/// Keeps marks above and below letters at the letter they belong to.
#[derive(Default)]
struct Cluster {
    cell: Option<u32>,
    x: f32,
    shaped: f32,
}

impl Cluster {
    fn place(&mut self, cell: u32, shaped: f32, advance: f32) -> f32 {
        if self.cell == Some(cell) {
            return self.x + (shaped - self.shaped);
        }
        *self = Self {
            cell: Some(cell),
            x: cell as f32 * advance,
            shaped,
        };
        self.x
    }
}

impl Stroke {
    /// As the window draws it.
    pub(crate) fn style(&self) -> UnderlineStyle {
        UnderlineStyle {
            thickness: px(1.0),
            color: Some(self.color),
            wavy: self.is_wavy,
        }
    }
}

fn blanks(line: &DisplayLine) -> SmallVec<[Blank; 4]> {
    let mut blanks: SmallVec<[Blank; 4]> = SmallVec::new();
    for segment in &line.segments {
        match segment.kind {
            SegmentKind::Tab => {
                blanks.push(Blank {
                    cell: segment.cell,
                    cells: segment.cells,
                    is_tab: true,
                    is_single: false,
                });
            }
            SegmentKind::Text => {
                let text = line.text.get(segment.text.clone()).unwrap_or_default();
                let is_plain = text.len() == segment.cells as usize;
                let bytes = text.as_bytes();
                // Marks in rows with wide letters would need each letter's cell; they are rare and go without.
                for (ix, _) in bytes
                    .iter()
                    .enumerate()
                    .filter(|(_, byte)| is_plain && **byte == b' ')
                {
                    let is_ink = |at: Option<usize>| {
                        at.and_then(|at| bytes.get(at))
                            .is_some_and(|byte| *byte != b' ')
                    };
                    let is_single = is_ink(ix.checked_sub(1)) && is_ink(Some(ix + 1));
                    blanks.push(Blank {
                        cell: segment.cell + ix as u32,
                        cells: 1,
                        is_tab: false,
                        is_single,
                    });
                }
            }
            _ => {}
        }
    }
    blanks
}

fn indent(line: &DisplayLine) -> Option<u32> {
    for segment in &line.segments {
        match segment.kind {
            SegmentKind::Tab => {}
            SegmentKind::Text | SegmentKind::Inlay(_) => {
                let text = line.text.get(segment.text.clone()).unwrap_or_default();
                if let Some(at) = text.bytes().position(|byte| byte != b' ') {
                    return Some(segment.cell + at as u32);
                }
            }
            _ => return Some(segment.cell),
        }
    }
    None
}
