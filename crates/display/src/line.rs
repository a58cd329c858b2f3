//! Content of a display row, ready to be shaped and painted.

use std::ops::Range;

use base::{ByteOffset, Row, Span};

use crate::cells::{Meter, plain_prefix, stand_in};
use crate::inlay::InlayId;
use crate::position::DisplayRow;
use crate::shown_text::{ChunkSource, ShownChunk};
use crate::tab::{Ruler, Strip};

/// The content of a display row, or of some cells of it, ready to be shaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayLine {
    /// Number of the display row.
    pub row: DisplayRow,
    /// The buffer row that begins here; `None` on the continuation of a wrapped line.
    pub buffer_row: Option<Row>,
    /// The buffer bytes shown, folded ones included, without the line ending.
    pub span: Span,
    /// Text to paint: tabs as spaces, control characters as stand-ins, folds as placeholders.
    pub text: String,
    /// The parts of `text` in order, without gaps.
    pub segments: Vec<DisplaySegment>,
    /// Empty cells before `text` on the continuation of a wrapped line; 0 elsewhere.
    pub indent_cells: u32,
    /// The cell where `text` begins: `indent_cells`, or further right in a window.
    pub start_cell: u32,
    /// The cell where `text` ends.
    pub end_cell: u32,
    /// Whether the line ends here, rather than going on in the next display row.
    pub is_last_wrap: bool,
}

/// A part of a display row with a single origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplaySegment {
    /// Origin of the segment.
    pub kind: SegmentKind,
    /// Span in the buffer; empty for an inlay.
    pub span: Span,
    /// Byte range in `DisplayLine::text`. For `Text`, the bytes equal those of the buffer. Empty
    /// for an empty line of an inlay.
    pub text: Range<usize>,
    /// Cell at which it begins.
    pub cell: u32,
    /// Number of cells it covers.
    pub cells: u32,
    /// For an inlay, the number of bytes of its text before this segment; otherwise 0.
    pub inlay_start: usize,
}

/// Origin of a segment: text, tab, control character, inlay or fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Text of the buffer.
    Text,
    /// A tab, painted as spaces.
    Tab,
    /// An invisible or control character, painted as a stand-in such as `^A`.
    Control,
    /// Text of an inlay.
    Inlay(InlayId),
    /// The placeholder of a fold.
    FoldPlaceholder,
}

impl DisplayLine {
    /// Reads the part of a strip that covers `cells`, including a few bytes before these cells.
    /// `row` is the number of the display row that the strip shows.
    pub(crate) fn read(
        ruler: &Ruler<'_>,
        strip: &Strip,
        row: DisplayRow,
        cells: Range<u32>,
    ) -> Self {
        let (from, from_cell) = ruler.anchor_before(strip, cells.start);
        let shown = ruler.shown;
        let buffer_row = strip.is_first().then(|| {
            let offset = shown.to_buffer(strip.shown.start);
            shown.buffer.point_at(offset).row
        });
        let mut writer = RowWriter {
            meter: Meter::new(from_cell, ruler.tab_width),
            cells,
            text: String::new(),
            segments: Vec::new(),
            start_cell: from_cell,
        };
        for chunk in shown.chunks(from..strip.shown.end) {
            writer.write(chunk);
            if writer.meter.cell >= writer.cells.end {
                break;
            }
        }
        let start = match writer.segments.first() {
            Some(segment) => segment.span.start,
            None => shown.to_buffer(from),
        };
        let end = writer
            .segments
            .last()
            .map_or(start, |segment| segment.span.end);
        Self {
            row,
            buffer_row,
            span: Span::new(start, end),
            text: writer.text,
            segments: writer.segments,
            indent_cells: strip.indent,
            start_cell: writer.start_cell,
            end_cell: writer.meter.cell,
            is_last_wrap: strip.is_last,
        }
    }
}

/// Builds a display line from chunks.
struct RowWriter {
    meter: Meter,
    cells: Range<u32>,
    text: String,
    segments: Vec<DisplaySegment>,
    /// Cell at which `text` begins.
    start_cell: u32,
}

impl RowWriter {
    fn write(&mut self, chunk: ShownChunk<'_>) {
        if let ChunkSource::Fold(span) = chunk.source {
            let cell = self.meter.cell;
            self.meter.advance_text(chunk.text);
            return self.push(SegmentKind::FoldPlaceholder, span, chunk.text, cell);
        }
        if let ChunkSource::Inlay(id) = chunk.source {
            return self.write_inlay(id, chunk);
        }
        let mut ix = 0;
        while let Some(ch) = chunk.text[ix..].chars().next() {
            let cell = self.meter.cell;
            if cell >= self.cells.end {
                break;
            }
            let len = self.unit_len(&chunk.text[ix..], ch);
            let piece = &chunk.text[ix..ix + len];
            self.meter.advance_text(piece);
            let start: ByteOffset = chunk.offset + ix;
            let span = Span::new(start, start + len);
            ix += len;
            if ch == '\t' {
                let blanks = " ".repeat((self.meter.cell - cell) as usize);
                self.push(SegmentKind::Tab, span, &blanks, cell);
            } else if let Some(shape) = stand_in(ch) {
                self.push(SegmentKind::Control, span, &shape, cell);
            } else {
                self.push(SegmentKind::Text, span, piece, cell);
            }
        }
    }

    /// The text of an inlay, which holds no control characters but tabs and line feeds.
    fn write_inlay(&mut self, id: InlayId, chunk: ShownChunk<'_>) {
        let (kind, span) = (SegmentKind::Inlay(id), Span::at(chunk.offset));
        let mut ix = 0;
        while let Some(ch) = chunk.text[ix..].chars().next() {
            let cell = self.meter.cell;
            if cell >= self.cells.end {
                break;
            }
            let len = self.unit_len(&chunk.text[ix..], ch);
            let piece = &chunk.text[ix..ix + len];
            self.meter.advance_text(piece);
            let before = self.segments.len();
            let joins = self.segments.last().is_some_and(|last| {
                last.kind == kind && last.inlay_start + last.text.len() == chunk.inlay_start + ix
            });
            match ch {
                // Nothing is painted, but the row is known to end in the inlay.
                '\n' => self.push_joined(kind, span, "", cell, joins),
                '\t' => {
                    let blanks = " ".repeat((self.meter.cell - cell) as usize);
                    self.push_joined(kind, span, &blanks, cell, joins);
                }
                _ => match stand_in(ch) {
                    Some(shape) => self.push_joined(kind, span, &shape, cell, joins),
                    None => self.push_joined(kind, span, piece, cell, joins),
                },
            }
            if let Some(segment) = self.segments.get_mut(before) {
                segment.inlay_start = chunk.inlay_start + ix;
            }
            ix += len;
        }
    }

    /// Returns the number of bytes to write at once: printable ASCII up to an edge of the window,
    /// or one character.
    fn unit_len(&self, text: &str, ch: char) -> usize {
        let cell = self.meter.cell;
        let border = if cell < self.cells.start {
            self.cells.start
        } else {
            self.cells.end
        };
        let room = &text.as_bytes()[..text.len().min((border - cell) as usize)];
        plain_prefix(room).max(ch.len_utf8())
    }

    /// Adds a part; buffer text that continues the previous part is joined to it.
    fn push(&mut self, kind: SegmentKind, span: Span, text: &str, cell: u32) {
        let joins = kind == SegmentKind::Text
            && self
                .segments
                .last()
                .is_some_and(|last| last.kind == kind && last.span.end == span.start);
        self.push_joined(kind, span, text, cell, joins);
    }

    /// Adds the part that ends at the meter's cell, unless all of it is before the window. `joins` appends it to
    /// the previous part.
    fn push_joined(&mut self, kind: SegmentKind, span: Span, text: &str, cell: u32, joins: bool) {
        let is_before = self.segments.is_empty() && self.meter.cell <= self.cells.start;
        if is_before && self.cells.start > 0 {
            self.start_cell = self.meter.cell;
            return;
        }
        let cells = self.meter.cell - cell;
        let from = self.text.len();
        self.text.push_str(text);
        match self.segments.last_mut() {
            Some(last) if joins => {
                last.span.end = span.end;
                last.text.end = self.text.len();
                last.cells += cells;
            }
            _ => self.segments.push(DisplaySegment {
                kind,
                span,
                text: from..self.text.len(),
                cell,
                cells,
                inlay_start: 0,
            }),
        }
    }
}
