//! Shapes a display row into positioned glyphs.
//!
//! The text system chooses the glyphs; their positions are ours: every cluster begins at its cell,
//! so that carets, selections and glyphs agree whatever the font metrics.
//! Invariant: x positions count from `origin_cell`, so that they stay small in rows of any length.
//! Limitation: right-to-left text is laid out cell by cell from left to right.

mod word_shapes;

use std::cell::RefCell;

use base::Span;
use display::{DisplayLine, DisplaySegment, DisplaySnapshot, InlayId, SegmentKind};
use gpui_kit::{FontId, GlyphId, HighlightStyle, Hsla, TextRun, UnderlineStyle, Window, px};
use smallvec::SmallVec;

pub(crate) use self::word_shapes::WordShapes;
use super::inlay_look::{InlayLook, InlayLooks, SuggestionStyle};
use super::palette::Palette;

/// A glyph of a shaped row with its position and colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glyph {
    /// Pixels from the origin cell.
    pub(crate) x: f32,
    pub(crate) font: FontId,
    pub(crate) id: GlyphId,
    pub(crate) color: Hsla,
    pub(crate) is_emoji: bool,
}

/// An underline or strikethrough over some cells of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStroke {
    pub(crate) cell: u32,
    pub(crate) cells: u32,
    pub(crate) color: Hsla,
    pub(crate) is_through: bool,
    pub(crate) is_wavy: bool,
}

/// A space or tab of a row that may be drawn as a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlankMark {
    pub(crate) cell: u32,
    pub(crate) cells: u32,
    pub(crate) is_tab: bool,
    /// Whether it is a single blank between two words.
    pub(crate) is_single: bool,
}

/// The cells that an inlay fills in one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlayPart {
    pub(crate) id: InlayId,
    pub(crate) cell: u32,
    /// Number of cells; zero for an empty line of the inlay.
    pub(crate) cells: u32,
    /// Bytes of the inlay's text before this row.
    pub(crate) start: usize,
}

/// Returns the cells of a segment that shows an inlay; `None` for every other segment.
fn inlay_part(segment: &DisplaySegment) -> Option<InlayPart> {
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

/// A display row with its glyphs and marks, ready to be painted at any position.
#[derive(Clone, Debug)]
pub(crate) struct ShapedRow {
    pub(crate) origin_cell: u32,
    /// The cell after the last one; `None` if only a part was shaped.
    pub(crate) end_cell: Option<u32>,
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) strokes: SmallVec<[TextStroke; 1]>,
    pub(crate) blanks: SmallVec<[BlankMark; 4]>,
    /// Cells of the fold placeholders.
    pub(crate) folds: SmallVec<[(u32, u32); 1]>,
    /// Parts of inlays in this row.
    pub(crate) inlays: SmallVec<[InlayPart; 1]>,
    /// Cells of leading blanks; `None` if the row contains only blanks.
    pub(crate) indent: Option<u32>,
    /// Cells before the text of a wrapped row.
    pub(crate) hanging: u32,
    /// Whether it is the last display row of its buffer row.
    pub(crate) is_last: bool,
}

impl ShapedRow {
    /// Returns a row without glyphs.
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

/// A run of text with one style, in bytes of the row's painted text.
struct StyledRun {
    start: usize,
    style: Option<HighlightStyle>,
    color: Hsla,
}

/// Inputs of shaping besides the row: fonts, display snapshot, window and caches.
pub(crate) struct Shaper<'a> {
    pub(crate) palette: &'a Palette,
    pub(crate) display: &'a DisplaySnapshot,
    pub(crate) window: &'a Window,
    /// Cache of shaped words.
    pub(crate) words: &'a RefCell<WordShapes>,
    /// Styles of the inlays that have one.
    pub(crate) looks: &'a InlayLooks,
}

impl Shaper<'_> {
    /// Shapes a row. `highlights` returns the highlights of a buffer span, sorted and disjoint.
    pub(crate) fn shape(
        &self,
        line: &DisplayLine,
        highlights: &dyn Fn(Span) -> Vec<syntax::Highlight>,
    ) -> ShapedRow {
        let pieces = self.styled_runs(line, highlights);
        let glyphs = self.glyphs(line, &pieces);
        let fold = |segment: &&DisplaySegment| segment.kind == SegmentKind::FoldPlaceholder;
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

    fn styled_runs(
        &self,
        line: &DisplayLine,
        highlights: &dyn Fn(Span) -> Vec<syntax::Highlight>,
    ) -> Vec<StyledRun> {
        let palette = self.palette;
        let mut pieces = Vec::new();
        let plain = |start: usize, color: Hsla| StyledRun {
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
                        pieces.push(StyledRun {
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

    /// Appends the pieces of an inlay: muted, unless it has its own style.
    fn inlay_pieces(
        &self,
        segment: &DisplaySegment,
        look: Option<&InlayLook>,
        pieces: &mut Vec<StyledRun>,
    ) {
        let palette = self.palette;
        let plain = match look.map(|look| look.look) {
            None => palette.muted,
            Some(SuggestionStyle::Ghost) => palette.ghost(palette.text),
            Some(SuggestionStyle::Added | SuggestionStyle::AddedRows) => palette.text,
        };
        let mut end = segment.text.start;
        let plain_piece = |start: usize| StyledRun {
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
            // Converts offsets in the inlay into offsets in the row, allowing for expanded tabs.
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
            if look == SuggestionStyle::Ghost {
                color = palette.ghost(color);
                style = style.map(|style| HighlightStyle {
                    color: Some(color),
                    ..style
                });
            }
            pieces.push(StyledRun {
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

    fn glyphs(&self, line: &DisplayLine, pieces: &[StyledRun]) -> Vec<Glyph> {
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
        for range in word_shapes::of(&line.text) {
            let mut start = range.start;
            // A word with several fonts is shaped in parts: glyphs of different fonts do not join.
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
                    let x = cluster.glyph_x(cell - line.start_cell, letter.x, self.palette.advance);
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
                // The following text begins at its own cell.
                cluster = Cluster::default();
                start = end;
            }
        }
        glyphs
    }

    /// Returns the runs of one font. Colours are ignored: they would prevent ligatures.
    fn runs(&self, line: &DisplayLine, pieces: &[StyledRun]) -> Vec<TextRun> {
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

    /// Returns the cell of the character at a byte of the painted text.
    fn cell_of(&self, line: &DisplayLine, byte: usize) -> u32 {
        let ix = line
            .segments
            .partition_point(|segment| segment.text.start <= byte);
        let Some(segment) = line.segments.get(ix.wrapping_sub(1)) else {
            return line.start_cell;
        };
        let within = byte - segment.text.start;
        // One byte per cell: pure ASCII.
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

    fn strokes(&self, line: &DisplayLine, pieces: &[StyledRun]) -> SmallVec<[TextStroke; 1]> {
        let ends = pieces
            .iter()
            .skip(1)
            .map(|piece| piece.start)
            .chain([line.text.len()]);
        let mut strokes = SmallVec::new();
        for (piece, end) in pieces.iter().zip(ends) {
            let Some(style) = &piece.style else { continue };
            let cell = self.cell_of(line, piece.start);
            let last = if end == line.text.len() {
                line.end_cell
            } else {
                self.cell_of(line, end)
            };
            let mut push = |color: Option<Hsla>, is_through, is_wavy| {
                let color = color.unwrap_or(piece.color);
                strokes.push(TextStroke {
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

/// Keeps combining marks at their base character.
#[derive(Default)]
struct Cluster {
    cell: Option<u32>,
    x: f32,
    shaped: f32,
}

impl Cluster {
    /// Returns the x of a glyph: at its cell, or beside the preceding glyph if both share the cell.
    /// `shaped` is its x from the text system, and `advance` the width of a cell.
    fn glyph_x(&mut self, cell: u32, shaped: f32, advance: f32) -> f32 {
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

impl TextStroke {
    /// Returns the style of the stroke for the window's underline API.
    pub(crate) fn style(&self) -> UnderlineStyle {
        UnderlineStyle {
            thickness: px(1.0),
            color: Some(self.color),
            wavy: self.is_wavy,
        }
    }
}

fn blanks(line: &DisplayLine) -> SmallVec<[BlankMark; 4]> {
    let mut blanks: SmallVec<[BlankMark; 4]> = SmallVec::new();
    for segment in &line.segments {
        match segment.kind {
            SegmentKind::Tab => {
                blanks.push(BlankMark {
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
                // Marks in rows with wide characters would need each character's cell; such rows
                // are rare and get none.
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
                    blanks.push(BlankMark {
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

/// Returns the cell of the first character that is not a space or tab. Returns `None` if there is
/// none.
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
