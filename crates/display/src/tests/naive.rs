//! A naive display map: every line is expanded, and every query is a walk.

use std::ops::Range;

use base::{Bias, ByteOffset, Row, Span};
use text::{Change, Snapshot};

use crate::block::{BlockId, BlockSpec, PARTS, Placement, height_in_parts};
use crate::cells::{Meter, stand_in};
use crate::limits::LONG_LINE_BYTES;
use crate::wrap::WrapOptions;
use crate::{DisplayMap, DisplayOptions, DisplayPoint, DisplayRow, Inlay, InlayId, SegmentKind};

pub(super) struct Naive {
    pub(super) options: DisplayOptions,
    pub(super) folds: Vec<Span>,
    pub(super) inlays: Vec<Inlay>,
    pub(super) blocks: Vec<NaiveBlock>,
}

#[derive(Clone, Debug)]
pub(super) struct NaiveBlock {
    id: BlockId,
    at: ByteOffset,
    placement: Placement,
    priority: i32,
    height: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Glyph {
    ch: char,
    kind: Kind,
    span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    Inlay(InlayId),
    Fold,
}

#[derive(Debug, Default)]
struct Line {
    glyphs: Vec<Glyph>,
    rows: Range<u32>,
    end: usize,
}

struct NaiveRow {
    line: usize,
    glyphs: Range<usize>,
    indent: u32,
    is_first: bool,
    is_last: bool,
}

/// Line and glyph index, before and after the inlays at an offset.
type Places = Vec<[(usize, usize); 2]>;

impl Naive {
    pub(super) fn change(&mut self, change: &Change) {
        for fold in &mut self.folds {
            let start = change.map(fold.start, Bias::Right);
            let end = change.map(fold.end, Bias::Left);
            *fold = Span::new(start, end.max(start));
        }
        self.folds.retain(|fold| !fold.is_empty());
        for inlay in &mut self.inlays {
            inlay.at = change.map(inlay.at, inlay.bias);
        }
        for block in &mut self.blocks {
            let bias = match block.placement {
                Placement::Above => Bias::Right,
                Placement::Below => Bias::Left,
            };
            block.at = change.map(block.at, bias);
        }
    }

    pub(super) fn fold(&mut self, spans: &[Span], buffer: &Snapshot) {
        for span in spans {
            let span = Span::new(
                buffer.clip(span.start, Bias::Left),
                buffer.clip(span.end, Bias::Left),
            );
            if !span.is_empty() && !self.folds.contains(&span) {
                self.folds.push(span);
            }
        }
    }

    pub(super) fn add_block(&mut self, id: BlockId, spec: &BlockSpec, buffer: &Snapshot) {
        let row = spec.row.min(buffer.last_row());
        self.blocks.push(NaiveBlock {
            id,
            at: match spec.placement {
                Placement::Above => buffer.row_start(row),
                Placement::Below => buffer.row_end(row),
            },
            placement: spec.placement,
            priority: spec.priority,
            height: height_in_parts(spec.height),
        });
    }

    pub(super) fn remove_block(&mut self, id: BlockId) {
        self.blocks.retain(|block| block.id != id);
    }

    pub(super) fn resize_block(&mut self, id: BlockId, height: f32) {
        for block in &mut self.blocks {
            if block.id == id {
                block.height = height_in_parts(height);
            }
        }
    }

    /// Returns the hidden spans, with overlapping folds joined.
    fn hidden(&self, buffer: &Snapshot) -> Vec<Range<usize>> {
        let mut hidden: Vec<Range<usize>> = Vec::new();
        let mut folds: Vec<Range<usize>> = self
            .folds
            .iter()
            .map(|fold| buffer.clip(fold.start, Bias::Left).0..buffer.clip(fold.end, Bias::Left).0)
            .filter(|fold| !fold.is_empty())
            .collect();
        folds.sort_by_key(|fold| fold.start);
        for fold in folds {
            match hidden.last_mut() {
                Some(last) if fold.start < last.end => last.end = last.end.max(fold.end),
                _ => hidden.push(fold),
            }
        }
        hidden
    }

    fn expand(&self, buffer: &Snapshot) -> (Vec<Line>, Places) {
        let text = buffer.to_string();
        let hidden = self.hidden(buffer);
        let mut inlays: Vec<(usize, &Inlay)> = self
            .inlays
            .iter()
            .map(|inlay| (buffer.clip(inlay.at, Bias::Left).0, inlay))
            .collect();
        inlays.sort_by_key(|(at, inlay)| (*at, inlay.at, inlay.bias));
        let mut lines = vec![Line::default()];
        let mut places = vec![[(0, 0); 2]; text.len() + 1];
        let mut row = 0;
        let mut at = 0;
        loop {
            let ix = lines.len() - 1;
            let line = &mut lines[ix];
            places[at][0] = (ix, line.glyphs.len());
            for (_, inlay) in inlays.iter().filter(|(inlay_at, _)| *inlay_at == at) {
                line.glyphs.extend(inlay.text.chars().map(|ch| Glyph {
                    ch,
                    kind: Kind::Inlay(inlay.id),
                    span: at..at,
                }));
            }
            places[at][1] = (ix, line.glyphs.len());
            if let Some(fold) = hidden.iter().find(|fold| fold.start == at) {
                let before = line.glyphs.len();
                line.glyphs.push(Glyph {
                    ch: '⋯',
                    kind: Kind::Fold,
                    span: fold.clone(),
                });
                for inside in &mut places[fold.start + 1..fold.end] {
                    *inside = [(ix, before), (ix, before + 1)];
                }
                row += text[fold.clone()].matches('\n').count() as u32;
                at = fold.end;
                continue;
            }
            let rest = &text[at..];
            let Some(ch) = rest.chars().next() else {
                line.rows.end = row + 1;
                line.end = at;
                return (lines, places);
            };
            if ch == '\n' || rest.starts_with("\r\n") {
                line.rows.end = row + 1;
                line.end = at;
                let len = line.glyphs.len();
                if ch == '\r' {
                    at += 1;
                    places[at] = [(ix, len); 2];
                }
                at += 1;
                row += 1;
                lines.push(Line {
                    rows: row..row,
                    ..Line::default()
                });
                continue;
            }
            line.glyphs.push(Glyph {
                ch,
                kind: Kind::Text,
                span: at..at + ch.len_utf8(),
            });
            at += ch.len_utf8();
        }
    }

    /// Compares all results with those of the map.
    pub(super) fn check(&self, map: &DisplayMap, buffer: &Snapshot) {
        let snapshot = map.snapshot();
        snapshot.shown.assert_invariants();
        let (lines, places) = self.expand(buffer);
        assert_eq!(snapshot.shown.line_count() as usize, lines.len(), "lines");
        assert_eq!(
            snapshot.wrap.line_count() as usize,
            lines.len(),
            "wrapped lines"
        );
        let rows = self.rows(map, &lines);
        let model = Model {
            naive: self,
            buffer,
            lines,
            places,
            rows,
        };
        assert_eq!(snapshot.row_count() as usize, model.rows.len(), "rows");
        model.check_lines(map);
        model.check_points(map);
        model.check_heights(map);
        let mut folds = self.folds.clone();
        folds.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        folds.dedup();
        assert_eq!(map.folds(), folds, "folds");
    }

    /// Returns the expected rows; for stale lines, the actual ones.
    fn rows(&self, map: &DisplayMap, lines: &[Line]) -> Vec<NaiveRow> {
        let snapshot = map.snapshot();
        let mut rows = Vec::new();
        for (ix, line) in lines.iter().enumerate() {
            let text: String = line.glyphs.iter().map(|glyph| glyph.ch).collect();
            let rows_of_line = match self.options.wrap {
                None => broken(&text),
                Some(_) if !snapshot.wrap.is_fresh(ix as u32) => {
                    let first = snapshot.wrap.first_row(ix as u32);
                    let rows = first..snapshot.wrap.first_row(ix as u32 + 1);
                    let rows = rows.map(|row| {
                        let row = snapshot.wrap.row(row);
                        let len = row.columns.map_or(text.len(), |columns| columns.len());
                        (len, row.indent)
                    });
                    rows.collect()
                }
                Some(cells) => {
                    let options = WrapOptions {
                        cells,
                        tab_width: self.options.tab_width,
                    };
                    wrap(&text, options)
                }
            };
            assert_eq!(
                rows_of_line.iter().map(|(len, _)| len).sum::<usize>(),
                text.len(),
                "rows cover line {ix}"
            );
            let mut glyph = 0;
            for (row, (len, indent)) in rows_of_line.iter().enumerate() {
                let from = glyph;
                let mut bytes = 0;
                while bytes < *len {
                    bytes += line.glyphs[glyph].ch.len_utf8();
                    glyph += 1;
                }
                assert_eq!(bytes, *len, "a row breaks within a character");
                rows.push(NaiveRow {
                    line: ix,
                    glyphs: from..glyph,
                    indent: if row == 0 { 0 } else { *indent },
                    is_first: row == 0,
                    is_last: row + 1 == rows_of_line.len(),
                });
            }
        }
        rows
    }
}

/// Returns the rows of a wrapped line: their bytes and their indent.
fn wrap(text: &str, options: WrapOptions) -> Vec<(usize, u32)> {
    let mut rows = Vec::new();
    let mut rest = text;
    let (mut indent, mut hanging) = (0, options.indent(text));
    while let Some(len) = options.row_len(rest, indent) {
        rows.push((len, indent));
        let breaks = rest[..len].ends_with('\n');
        rest = &rest[len..];
        (indent, hanging) = if breaks {
            (0, options.indent(rest))
        } else {
            (hanging, hanging)
        };
    }
    rows.push((rest.len(), indent));
    rows
}

/// Returns the rows of a line that does not wrap.
fn broken(text: &str) -> Vec<(usize, u32)> {
    if text.len() <= LONG_LINE_BYTES {
        text.split_inclusive('\n')
            .map(|row| (row.len(), 0))
            .chain(text.is_empty().then_some((0, 0)))
            .collect()
    } else {
        vec![(text.len(), 0)]
    }
}

struct Model<'a> {
    naive: &'a Naive,
    buffer: &'a Snapshot,
    lines: Vec<Line>,
    places: Places,
    rows: Vec<NaiveRow>,
}

impl Model<'_> {
    fn glyphs(&self, row: &NaiveRow) -> &[Glyph] {
        &self.lines[row.line].glyphs[row.glyphs.clone()]
    }

    /// Returns the cell before each glyph of a row, and the end of the row.
    fn cells(&self, row: &NaiveRow) -> Vec<u32> {
        let mut meter = Meter::new(row.indent, self.naive.options.tab_width);
        let mut cells = vec![meter.cell];
        for glyph in self.glyphs(row) {
            meter.advance(glyph.ch);
            cells.push(meter.cell);
        }
        cells
    }

    /// Returns the offset before a glyph of a line.
    fn offset(&self, line: usize, glyph: usize) -> usize {
        let line = &self.lines[line];
        line.glyphs
            .get(glyph)
            .map_or(line.end, |glyph| glyph.span.start)
    }

    fn check_lines(&self, map: &DisplayMap) {
        let snapshot = map.snapshot();
        for (ix, row) in self.rows.iter().enumerate() {
            let line = snapshot.line(DisplayRow(ix as u32));
            let cells = self.cells(row);
            let mut text = String::new();
            for (glyph, cell) in self.glyphs(row).iter().zip(cells.windows(2)) {
                match glyph.ch {
                    '\n' => {}
                    '\t' => text.push_str(&" ".repeat((cell[1] - cell[0]) as usize)),
                    ch => text.push_str(&stand_in(ch).unwrap_or(ch.to_string())),
                }
            }
            assert_eq!(line.text, text, "text of row {ix}");
            assert_eq!(line.indent_cells, row.indent, "indent of row {ix}");
            assert_eq!(line.start_cell, row.indent, "start of row {ix}");
            assert_eq!(Some(&line.end_cell), cells.last(), "end of row {ix}");
            assert_eq!(snapshot.max_cell(DisplayRow(ix as u32)), line.end_cell);
            assert_eq!(line.is_last_wrap, row.is_last, "last row {ix}");
            let first = row.is_first.then(|| Row(self.lines[row.line].rows.start));
            assert_eq!(line.buffer_row, first, "buffer row of row {ix}");
            let (told, is_first) = snapshot.buffer_row(DisplayRow(ix as u32));
            assert_eq!(
                is_first.then_some(told),
                first,
                "buffer row of row {ix}, told alone"
            );
            let start = self.offset(row.line, row.glyphs.start);
            assert_eq!(line.span.start.0, start, "start of row {ix}");
            let end = self
                .glyphs(row)
                .last()
                .map_or(start, |glyph| glyph.span.end);
            assert_eq!(line.span.end.0, end, "end of row {ix}");
            self.check_segments(&line, row, &cells);
            self.check_windows(map, ix, &cells);
        }
        for (ix, line) in self.lines.iter().enumerate() {
            let rows = self
                .rows
                .iter()
                .enumerate()
                .filter(|(_, row)| row.line == ix);
            let rows: Vec<u32> = rows.map(|(row, _)| row as u32).collect();
            let expected = DisplayRow(rows[0])..DisplayRow(rows[0] + rows.len() as u32);
            for row in line.rows.clone() {
                assert_eq!(snapshot.rows_of(Row(row)), expected, "rows of row {row}");
                assert_eq!(snapshot.is_hidden(Row(row)), row != line.rows.start);
                let joined = Row(line.rows.start)..Row(line.rows.end);
                assert_eq!(snapshot.joined_rows(Row(row)), joined);
            }
        }
    }

    fn check_segments(&self, line: &crate::DisplayLine, row: &NaiveRow, cells: &[u32]) {
        let mut at = 0;
        let mut cell = row.indent;
        for segment in &line.segments {
            assert_eq!(segment.text.start, at, "gap in {line:?}");
            assert_eq!(segment.cell, cell, "cells of {line:?}");
            at = segment.text.end;
            cell += segment.cells;
            if segment.kind == SegmentKind::Text {
                assert_eq!(
                    self.buffer.text(segment.span),
                    &line.text[segment.text.clone()]
                );
            }
        }
        assert_eq!(at, line.text.len());
        assert_eq!(Some(&cell), cells.last());
        for glyph in self.glyphs(row).iter().filter(|glyph| glyph.ch != '\n') {
            let is_found = line.segments.iter().any(|segment| match glyph.kind {
                Kind::Inlay(id) => segment.kind == SegmentKind::Inlay(id),
                Kind::Fold => {
                    segment.kind == SegmentKind::FoldPlaceholder
                        && segment.span.range() == glyph.span
                }
                Kind::Text => {
                    !matches!(
                        segment.kind,
                        SegmentKind::Inlay(_) | SegmentKind::FoldPlaceholder
                    ) && segment.span.covers(glyph.span.clone().into())
                }
            });
            assert!(is_found, "no segment for {glyph:?} in {line:?}");
        }
    }

    fn check_windows(&self, map: &DisplayMap, ix: usize, cells: &[u32]) {
        let snapshot = map.snapshot();
        let row = DisplayRow(ix as u32);
        let whole = snapshot.line(row);
        let last = *cells.last().expect("cells");
        for from in (0..last).step_by(7) {
            let window = snapshot.line_window(row, from, from + 5);
            assert!(
                window.start_cell <= from.max(window.indent_cells),
                "{window:?}"
            );
            assert!(
                window.end_cell >= last.min(from + 5),
                "{window:?} from {from}"
            );
            assert!(
                cells.contains(&window.start_cell),
                "{window:?} of {whole:?}"
            );
            assert!(whole.text.contains(&window.text), "{window:?} of {whole:?}");
            assert!(window.end_cell - window.start_cell < 50 + 6, "{window:?}");
        }
    }

    fn check_points(&self, map: &DisplayMap) {
        let snapshot = map.snapshot();
        let text = self.buffer.to_string();
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let offset = ByteOffset(at);
            for bias in [Bias::Left, Bias::Right] {
                let (line, glyph) = self.places[at][usize::from(bias == Bias::Right)];
                let found = self.rows.iter().position(|row| {
                    row.line == line
                        && row.glyphs.start <= glyph
                        && (glyph < row.glyphs.end || row.is_last)
                });
                let row = found.expect("every glyph has a row");
                let cell = self.cells(&self.rows[row])[glyph - self.rows[row].glyphs.start];
                let point = DisplayPoint::new(row as u32, cell);
                assert_eq!(snapshot.to_display(offset, bias), point, "{at} {bias:?}");
                self.check_round_trip(map, offset, bias, point);
            }
            let hidden = self.naive.folds.iter().filter(|fold| fold.contains(offset));
            let hidden = hidden.copied().reduce(|a, b| a.union(b));
            assert_eq!(snapshot.fold_containing(offset), hidden);
        }
        for (ix, row) in self.rows.iter().enumerate() {
            let cells = self.cells(row);
            for cell in 0..cells.last().expect("cells") + 2 {
                self.check_cell(map, ix, cell, &cells);
            }
            self.check_cell(map, ix, u32::MAX, &cells);
            let down = snapshot.row_below(DisplayPoint::new(ix as u32, 3), 5);
            assert!(down.is_none_or(|down| down.row.0 > ix as u32));
            let up = snapshot.row_above(DisplayPoint::new(ix as u32, 3), 5);
            assert_eq!(up.is_none(), ix == 0);
            assert!(up.is_none_or(|up| up.row.0 < ix as u32));
        }
    }

    /// Boundaries of visible graphemes map back, unless they are folded.
    fn check_round_trip(
        &self,
        map: &DisplayMap,
        offset: ByteOffset,
        bias: Bias,
        point: DisplayPoint,
    ) {
        let (line, glyph) = self.places[offset.0][usize::from(bias == Bias::Right)];
        let row = &self.rows[point.row.0 as usize];
        let cells = self.cells(row);
        let ix = glyph - row.glyphs.start;
        let takes_room = cells.get(ix + 1).is_none_or(|next| *next > cells[ix])
            && (ix == 0 || cells[ix - 1] < cells[ix] || self.offset(line, glyph - 1) < offset.0);
        let is_shown = self.offset(line, glyph) == offset.0;
        let previous = self.buffer.previous_grapheme(offset);
        let is_border = offset.0 == 0 || self.buffer.next_grapheme(previous) == offset;
        let leads = ix > 0 && cells[ix] == row.indent;
        if takes_room && is_shown && is_border && !leads {
            assert_eq!(
                map.snapshot().to_buffer(point, bias),
                offset,
                "{point:?} {bias:?}"
            );
        }
    }

    fn check_cell(&self, map: &DisplayMap, ix: usize, cell: u32, cells: &[u32]) {
        let snapshot = map.snapshot();
        let row = &self.rows[ix];
        let glyphs = self.glyphs(row);
        for bias in [Bias::Left, Bias::Right] {
            let offset = snapshot.to_buffer(DisplayPoint::new(ix as u32, cell), bias);
            let found = (0..glyphs.len()).find(|glyph| cells[glyph + 1] > cell);
            let expected = match found {
                _ if cell <= row.indent => self.offset(row.line, row.glyphs.start),
                Some(glyph) if cells[glyph] < cell && bias == Bias::Right => {
                    self.snap(self.offset(row.line, row.glyphs.start + glyph + 1), bias)
                }
                Some(glyph) => self.snap(self.offset(row.line, row.glyphs.start + glyph), bias),
                None if row.is_last || bias == Bias::Right => {
                    self.snap(self.offset(row.line, row.glyphs.end), bias)
                }
                None => {
                    let start = self.offset(row.line, row.glyphs.start);
                    let last = &glyphs[glyphs.len() - 1];
                    match last.kind {
                        Kind::Text => self
                            .buffer
                            .previous_grapheme(ByteOffset(last.span.end))
                            .0
                            .max(start),
                        _ => last.span.start,
                    }
                }
            };
            assert_eq!(offset.0, expected, "row {ix} cell {cell} {bias:?}");
        }
    }

    fn snap(&self, offset: usize, bias: Bias) -> usize {
        let start = self.buffer.previous_grapheme(ByteOffset(offset));
        let end = self.buffer.next_grapheme(start);
        match bias {
            _ if end.0 == offset || offset == 0 => offset,
            Bias::Left => start.0,
            Bias::Right => end.0,
        }
    }

    fn check_heights(&self, map: &DisplayMap) {
        let snapshot = map.snapshot();
        let mut blocks = self.naive.blocks.clone();
        blocks.sort_by_key(|block| (block.priority, block.id));
        let mut y = 0;
        let mut placed = Vec::new();
        let stack = |y: &mut u64, placed: &mut Vec<_>, line: &Line, placement| {
            for block in blocks.iter().filter(|block| block.placement == placement) {
                let row = self.buffer.point_at(block.at).row.0;
                let is_here = match placement {
                    Placement::Above => row == line.rows.start,
                    Placement::Below => row + 1 == line.rows.end,
                };
                if is_here {
                    placed.push((block.id, *y, block.height));
                    *y += block.height;
                }
            }
        };
        for (ix, row) in self.rows.iter().enumerate() {
            let line = &self.lines[row.line];
            let above = y;
            if row.is_first {
                stack(&mut y, &mut placed, line, Placement::Above);
            }
            let display_row = DisplayRow(ix as u32);
            let height = |y: u64| y as f64 / PARTS as f64;
            assert_eq!(snapshot.y_of(display_row), height(y), "top of row {ix}");
            assert_eq!(snapshot.row_at_y(height(y)), display_row);
            assert_eq!(snapshot.row_at_y(height(y) + 0.999), display_row);
            if y > above {
                assert_eq!(
                    snapshot.row_at_y(height(y - 1)),
                    display_row,
                    "block above {ix}"
                );
            }
            y += PARTS;
            if row.is_last {
                stack(&mut y, &mut placed, line, Placement::Below);
            }
        }
        assert_eq!(snapshot.total_height(), y as f64 / PARTS as f64);
        let found = snapshot.blocks_in(-1.0..1e9).into_iter();
        let found: Vec<_> = found
            .map(|block| {
                (
                    block.id,
                    (block.y * PARTS as f64) as u64,
                    (block.height * PARTS as f64) as u64,
                )
            })
            .collect();
        placed.retain(|(_, y, height)| *height > 0 || *y > 0);
        let found: Vec<_> = found
            .into_iter()
            .filter(|(_, y, height)| *height > 0 || *y > 0)
            .collect();
        assert_eq!(found, placed, "blocks");
    }
}
