//! Layout of the visible rows as plain values: shaped rows and everything around them.
//!
//! Start at `Editor::lay_out`.

use std::ops::Range;
use std::rc::Rc;

use base::{Bias, Row, Span};
use display::{DisplayOptions, DisplayPoint, DisplayRow, PlacedBlock};
use gpui_kit::{Bounds, Context, Hsla, PaintQuad, Pixels, Window, px, size};
use settings::{LineNumbers, SoftWrap};
use ui::ActiveTheme as _;

use super::geometry::Geometry;
use super::gutter::GutterRow;
use super::palette::Palette;
use super::rows::{LONG_ROW, RowSegment};
use super::scrollbars::ScrollbarState;
use super::shape::{ShapedRow, Shaper};
use super::sticky::StickyRow;
use crate::editor::Editor;

/// A visible display row.
pub(crate) struct VisibleRow {
    pub(crate) row: DisplayRow,
    /// Top of the row, in line heights from the top of the text.
    pub(crate) y: f64,
    pub(crate) buffer_row: Row,
    /// Whether the buffer row begins in this display row.
    pub(crate) begins: bool,
    pub(crate) shape: Rc<ShapedRow>,
}

/// Layout of everything visible.
pub(crate) struct TextLayout {
    pub(crate) geometry: Geometry,
    pub(crate) palette: Rc<Palette>,
    pub(crate) rows: Vec<VisibleRow>,
    pub(crate) blocks: Vec<PlacedBlock>,
    /// Visible bytes of the text.
    pub(crate) span: Span,
    /// Backgrounds behind the text, from bottom to top.
    pub(crate) grounds: Vec<PaintQuad>,
    /// Carets and other quads above the text.
    pub(crate) fronts: Vec<PaintQuad>,
    /// Characters covered by a caret's box, with their colour.
    pub(crate) inverted: Vec<(usize, Range<u32>, Hsla)>,
    pub(crate) gutter: Vec<GutterRow>,
    pub(crate) sticky: Vec<StickyRow>,
    pub(crate) bars: ScrollbarState,
    /// Whether the view has the focus.
    pub(crate) is_focused: bool,
    /// Whether to request the next frame immediately.
    pub(crate) is_gliding: bool,
}

impl Editor {
    /// Lays out what is visible within `bounds`. The only function that scrolls, wraps or shapes.
    pub(crate) fn lay_out(
        &mut self,
        bounds: Bounds<Pixels>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> TextLayout {
        self.follow_settings(cx);
        self.sync(cx);
        let palette = self.current_palette(window, cx);
        let mut geometry = self.measure(bounds, &palette, cx);
        self.use_width(&geometry, cx);
        self.fit_find_bar(bounds.size.width, window, cx);
        self.geometry = Some(geometry.clone());
        self.follow_caret(
            f64::from(palette.advance),
            f64::from(f32::from(geometry.text.size.width)),
            cx,
        );
        self.note_held(window.modifiers().alt, cx);
        self.refresh_suggestion(cx);
        self.wrap_in_sight(&geometry);
        geometry.top = self.snapped_top(&palette, window, cx);
        let rows = self.rows_in_sight(&mut geometry, &palette, window, cx);
        let bottom = geometry.top + geometry.visible_rows;
        let blocks = self.display.blocks_in(geometry.top..bottom);
        let mut layout = TextLayout {
            span: self.span_of(&rows),
            palette,
            rows,
            blocks,
            grounds: Vec::new(),
            fronts: Vec::new(),
            inverted: Vec::new(),
            gutter: Vec::new(),
            sticky: Vec::new(),
            bars: ScrollbarState::default(),
            is_focused: self.focus.is_focused(window),
            is_gliding: self.glide.is_some(),
            geometry,
        };
        self.lay_out_sticky(&mut layout, window, cx);
        self.lay_out_guides(&mut layout, cx);
        self.lay_out_decorations(&mut layout, cx);
        self.lay_out_gutter(&mut layout, cx);
        self.lay_out_bars(&mut layout, cx);
        self.note_painted(&layout.rows);
        self.geometry = Some(layout.geometry.clone());
        layout
    }

    fn current_palette(&mut self, window: &Window, cx: &Context<Self>) -> Rc<Palette> {
        match &self.palette {
            Some(palette) if palette.is_current(window, cx) => palette.clone(),
            _ => {
                let palette = Rc::new(Palette::of(window, cx));
                self.palette = Some(palette.clone());
                palette
            }
        }
    }

    /// Computes the areas of gutter, text and scrollbars.
    fn measure(&self, bounds: Bounds<Pixels>, palette: &Palette, cx: &Context<Self>) -> Geometry {
        let scale = f32::from(palette.size) / 14.0;
        let bar = px((6.0 * scale).round());
        let numbers = match self.settings.line_numbers {
            LineNumbers::Off => px(0.0),
            LineNumbers::On | LineNumbers::Relative => {
                let digits = self.most_rows(cx).to_string().len().max(3);
                px((digits as f32 + 1.0) * palette.number_advance)
            }
        };
        let arrows = if self.settings.fold_arrows {
            px((18.0 * scale).round())
        } else {
            px((8.0 * scale).round())
        };
        let gutter_width = bar + numbers + arrows;
        let vertical_width = px(14.0);
        let gutter = Bounds::new(bounds.origin, size(gutter_width, bounds.size.height));
        let left = gutter.right();
        let right = bounds.right() - vertical_width;
        let text = Bounds::from_corners(
            gpui_kit::point(left, bounds.top()),
            gpui_kit::point(right.max(left + px(1.0)), bounds.bottom()),
        );
        let vertical =
            Bounds::from_corners(gpui_kit::point(right, bounds.top()), bounds.bottom_right());
        Geometry {
            bounds,
            folds: gutter.left() + bar + numbers..left,
            gutter,
            text,
            vertical,
            advance: palette.advance,
            line_height: palette.line_height,
            top: 0.0,
            scroll_x: self.scroll.x,
            most_x: 0.0,
            visible_rows: f64::from(f32::from(bounds.size.height))
                / f64::from(f32::from(palette.line_height)),
            total_rows: self.display.total_height(),
            buffer_rows: Row(0)..Row(0),
            // Value of the last frame, until that of this frame is known.
            sticky_rows: self
                .geometry
                .as_ref()
                .map_or(0, |geometry| geometry.sticky_rows),
        }
    }

    /// Sets the wrap width to the current width.
    fn use_width(&mut self, geometry: &Geometry, cx: &mut Context<Self>) {
        let window = ((f32::from(geometry.text.size.width) / geometry.advance).floor() as u32)
            .saturating_sub(1)
            .max(8);
        let wrap = match self.soft_wrap() {
            SoftWrap::Off => None,
            SoftWrap::Window => Some(window),
            SoftWrap::Column => Some(window.min(self.settings.wrap_column)),
        };
        let options = DisplayOptions {
            tab_width: self.caret_options.tab_width,
            wrap,
        };
        if options != self.map.options() {
            self.map.set_options(options);
            self.display = self.map.snapshot();
            self.rows.forget_shapes();
            self.wrap_in_background(cx);
        }
    }

    /// Wraps the rows about to become visible.
    fn wrap_in_sight(&mut self, geometry: &Geometry) {
        if self.map.options().wrap.is_none() {
            return;
        }
        let first = self.display.row_at_y(self.scroll.top(&self.display));
        let count = geometry.visible_rows.ceil() as u32 + 1;
        if self.map.wrap_rows(first, count) {
            self.display = self.map.snapshot();
            self.rows.forget_shapes();
        }
    }

    /// Returns the scroll position snapped to a whole pixel, so that rows are not blurred.
    fn snapped_top(&mut self, palette: &Palette, window: &Window, cx: &Context<Self>) -> f64 {
        let height = f64::from(f32::from(palette.line_height));
        let top = (self.scroll.top(&self.display) + self.glide_rest(cx)).max(0.0);
        window.pixel_snap_f64(top * height) / height
    }

    fn rows_in_sight(
        &mut self,
        geometry: &mut Geometry,
        palette: &Rc<Palette>,
        window: &Window,
        cx: &Context<Self>,
    ) -> Vec<VisibleRow> {
        let bottom = geometry.top + geometry.visible_rows;
        let first = self.display.row_at_y(geometry.top);
        let last = self.display.row_at_y(bottom);
        geometry.total_rows = self.display.total_height();
        geometry.buffer_rows =
            self.display.buffer_row(first).0..self.display.buffer_row(last).0 + 1;
        self.rows.show(
            geometry.buffer_rows.clone(),
            palette.key(),
            self.snapshot.last_row(),
        );
        self.ask_missing_highlights(geometry.buffer_rows.clone(), cx);
        if self.map.options().wrap.is_some() {
            self.scroll.x = 0.0;
        }
        geometry.scroll_x = self.scroll.x;
        let mut rows: Vec<VisibleRow> = Vec::with_capacity((last - first) as usize + 1);
        for row in (first.0..=last.0).map(DisplayRow) {
            let y = self.display.y_of(row);
            let (buffer_row, begins) = self.display.buffer_row(row);
            let shape = self.shape_of(row, (buffer_row, begins), geometry, palette, window, cx);
            rows.push(VisibleRow {
                row,
                y,
                buffer_row,
                begins,
                shape,
            });
        }
        if self.map.options().wrap.is_none() {
            let width = f64::from(f32::from(geometry.text.size.width));
            let needed = f64::from(self.widest_cell(&rows) + 4) * f64::from(geometry.advance);
            // Shorter rows must not reset the horizontal scroll position.
            geometry.most_x = (needed - width).max(self.scroll.x);
        }
        rows
    }

    /// Returns the cell after the end of the longest visible row; partially shaped rows are
    /// estimated.
    fn widest_cell(&self, rows: &[VisibleRow]) -> u32 {
        let ends = rows.iter().map(|visible| match visible.shape.end_cell {
            Some(end) => end,
            None => self.display.widest_cell_in(visible.row..visible.row + 1),
        });
        ends.max().unwrap_or(0)
    }

    /// Returns the shaped display row, from the cache or shaped now.
    fn shape_of(
        &mut self,
        row: DisplayRow,
        (buffer_row, begins): (Row, bool),
        geometry: &Geometry,
        palette: &Rc<Palette>,
        window: &Window,
        cx: &Context<Self>,
    ) -> Rc<ShapedRow> {
        // Fast path: most rows are short, begin here and are already shaped.
        let whole = RowSegment {
            wrap: 0,
            cells: None,
        };
        if begins && let Some(shape) = self.rows.shape(buffer_row, whole) {
            return shape;
        }
        let part = self.segment_of(row, buffer_row, begins, geometry);
        let shape = self.rows.shape(buffer_row, part);
        shape.unwrap_or_else(|| self.shape_row(row, buffer_row, part, palette, window, cx))
    }

    /// Computes the highlights of visible rows that have none, in one query.
    fn ask_missing_highlights(&mut self, rows: Range<Row>, cx: &Context<Self>) {
        let is_missing = |row: &u32| self.rows.highlights(Row(*row)).is_none();
        // A fold may hide any number of rows; only cached rows can be filled.
        let kept = self.rows.range();
        let rows = rows.start.max(kept.start).0..rows.end.min(kept.end).0;
        let Some(first) = rows.clone().find(is_missing) else {
            return;
        };
        let last = rows.rev().find(is_missing).unwrap_or(first);
        let Some(found) = self.colours_now(Row(first)..Row(last + 1), cx) else {
            return;
        };
        for (row, highlights) in (first..).map(Row).zip(found) {
            if self.rows.highlights(row).is_none() {
                self.rows.set_highlights(row, highlights);
            }
        }
    }

    /// Returns the segment of a row to shape.
    fn segment_of(
        &self,
        row: DisplayRow,
        buffer_row: Row,
        begins: bool,
        geometry: &Geometry,
    ) -> RowSegment {
        let wrap = if begins {
            0
        } else {
            row - self.display.rows_of(buffer_row).start
        };
        // A short row is shaped whole; its byte length is cheaper to query than its cells.
        let bytes = self.snapshot.row_len(buffer_row).0;
        // No wrapped row is this long, and an unwrapped row of this length almost certainly has
        // this many cells.
        let is_surely_long = self.map.options().wrap.is_none() && bytes > LONG_ROW * 16;
        if bytes <= LONG_ROW || !is_surely_long && self.display.max_cell(row) <= LONG_ROW {
            return RowSegment { wrap, cells: None };
        }
        const STEP: u32 = 256;
        let from = (geometry.scroll_x / f64::from(geometry.advance)) as u32;
        let to = from + (f32::from(geometry.text.size.width) / geometry.advance) as u32;
        let from = from.saturating_sub(STEP / 4) / STEP * STEP;
        let to = (to + STEP / 4).div_ceil(STEP) * STEP;
        RowSegment {
            wrap,
            cells: Some((from, to)),
        }
    }

    fn shape_row(
        &mut self,
        row: DisplayRow,
        buffer_row: Row,
        part: RowSegment,
        palette: &Palette,
        window: &Window,
        cx: &Context<Self>,
    ) -> Rc<ShapedRow> {
        let line = match part.cells {
            None => self.display.line(row),
            Some((from, to)) => self.display.line_window(row, from, to),
        };
        let syntax = self.model.read(cx).syntax();
        let row_start = self.snapshot.row_start(buffer_row);
        let is_long = self.snapshot.row_len(buffer_row).0 > LONG_ROW;
        let known = if is_long {
            None
        } else {
            self.rows.highlights(buffer_row)
        };
        let row_end = row_start + self.snapshot.row_len(buffer_row).0 as usize;
        let highlights = |span: Span| match (&known, syntax) {
            (Some(known), _) if span.end <= row_end => within(known, row_start, span),
            (_, Some(syntax)) => syntax.highlights(&self.snapshot, span),
            (_, None) => Vec::new(),
        };
        let shaper = Shaper {
            palette,
            display: &self.display,
            window,
            words: &self.words,
            looks: &self.suggesting.looks,
        };
        let mut shape = shaper.shape(&line, &highlights);
        if part.cells.is_some() {
            shape.end_cell = None;
        }
        let shape = Rc::new(shape);
        // Folded text may change without touching the row, so rows with folds are never cached.
        if shape.folds.is_empty() {
            self.rows.set_shape(buffer_row, part, shape.clone());
        }
        shape
    }

    fn span_of(&self, rows: &[VisibleRow]) -> Span {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return Span::default();
        };
        let start = self.display.to_buffer(
            DisplayPoint {
                row: first.row,
                cell: 0,
            },
            Bias::Left,
        );
        let end = if last.row >= self.display.last_row() {
            self.snapshot.len()
        } else {
            self.display.to_buffer(
                DisplayPoint {
                    row: last.row + 1,
                    cell: 0,
                },
                Bias::Left,
            )
        };
        Span::new(start, end)
    }

    /// Returns the theme's selection colour, which depends on the focus.
    pub(crate) fn selection_color(&self, is_focused: bool, cx: &Context<Self>) -> Hsla {
        let colors = &cx.theme().colors;
        if is_focused {
            colors.selection
        } else {
            colors.selection_inactive
        }
    }
}

/// Returns a row's highlights within a span, as text offsets.
fn within(
    known: &[super::rows::RowHighlight],
    row_start: base::ByteOffset,
    span: Span,
) -> Vec<syntax::Highlight> {
    let (from, to) = (
        (span.start - row_start) as u32,
        (span.end - row_start) as u32,
    );
    let first = known.partition_point(|highlight| highlight.end <= from);
    known[first..]
        .iter()
        .take_while(|highlight| highlight.start < to)
        .map(|highlight| syntax::Highlight {
            span: Span::new(
                row_start + highlight.start.max(from) as usize,
                row_start + highlight.end.min(to) as usize,
            ),
            kind: highlight.kind,
        })
        .collect()
}
