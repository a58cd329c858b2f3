//! Layout of the visible rows as plain values: shaped rows and everything around them.
//!
//! Start at `lay_out`.

use std::cell::LazyCell;
use std::ops::Range;
use std::rc::Rc;

use base::{Bias, Row, Span};
use display::{DisplayOptions, DisplayPoint, DisplayRow, PlacedBlock};
use gpui_kit::{Bounds, Context, Hsla, PaintQuad, Pixels, Window, px, size};
use settings::{LineNumbers, SoftWrap};
use ui::ActiveTheme as _;

use super::diagnostics::DiagnosticUnderline;
use super::gutter::GutterRow;
use super::line_authors;
use super::row_messages::RowMessage;
use super::scrollbars::ScrollbarState;
use super::sticky::StickyRow;
use crate::editor::{
    Editor, annotations, excerpted, finding, highlighting, inlay_hints, scrolling, smooth_scroll,
    suggesting,
};
use crate::frame::{Geometry, LONG_ROW, Palette, RowSegment, ShapedRow, Shaper};

/// A visible display row with its position and shaped text.
pub(crate) struct VisibleRow {
    pub(crate) row: DisplayRow,
    /// Top of the row, in line heights from the top of the text.
    pub(crate) y: f64,
    pub(crate) buffer_row: Row,
    /// Whether the buffer row begins in this display row.
    pub(crate) begins: bool,
    pub(crate) shape: Rc<ShapedRow>,
}

/// Layout of everything visible in one frame, ready to be painted. Made by `lay_out`.
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
    pub(crate) underlines: Vec<DiagnosticUnderline>,
    pub(crate) messages: Vec<RowMessage>,
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

/// One layout of a view: determines the visible rows and shapes those that are not cached.
struct LayoutPass<'a> {
    editor: &'a mut Editor,
    geometry: Geometry,
    palette: Rc<Palette>,
}

/// Adds everything around the rows to a layout: headers, guides, backgrounds, carets, gutter and
/// scrollbars. Each part is in the module of its name.
pub(super) struct Decorator<'a> {
    pub(super) editor: &'a mut Editor,
    pub(super) layout: &'a mut TextLayout,
}

impl Decorator<'_> {
    fn decorate(mut self, window: &Window, cx: &mut Context<Editor>) {
        self.lay_out_sticky(window, cx);
        self.lay_out_guides(cx);
        self.lay_out_decorations(cx);
        self.add_row_messages(window, cx);
        self.add_line_author(window, cx);
        self.add_author_ages(cx);
        self.lay_out_gutter(cx);
        self.lay_out_bars(cx);
    }
}

impl LayoutPass<'_> {
    /// Scrolls and wraps as requested, then returns the visible rows.
    fn visible_rows(&mut self, window: &mut Window, cx: &mut Context<Editor>) -> Vec<VisibleRow> {
        self.use_width(cx);
        finding::fit_find_bar(self.editor, self.geometry.bounds.size.width, window, cx);
        self.editor.geometry = Some(self.geometry.clone());
        let width = f64::from(f32::from(self.geometry.text.size.width));
        scrolling::follow_caret(self.editor, f64::from(self.palette.advance), width, cx);
        suggesting::note_held(self.editor, window.modifiers().alt, cx);
        self.editor.refresh_suggestion(cx);
        self.wrap_in_sight();
        self.geometry.top = self.snapped_top(window, cx);
        self.rows_in_sight(window, cx)
    }

    /// Sets the wrap width to the current width.
    fn use_width(&mut self, cx: &mut Context<Editor>) {
        let window = ((f32::from(self.geometry.text.size.width) / self.geometry.advance).floor()
            as u32)
            .saturating_sub(1)
            .max(8);
        let wrap = match self.editor.soft_wrap() {
            SoftWrap::Off => None,
            SoftWrap::Window => Some(window),
            SoftWrap::Column => Some(window.min(self.editor.settings.wrap_column)),
        };
        let options = DisplayOptions {
            tab_width: self.editor.caret_options.tab_width,
            wrap,
        };
        if options != self.editor.map.options() {
            self.editor.map.set_options(options);
            self.editor.display = self.editor.map.snapshot();
            self.editor.rows.forget_shapes();
            self.editor.wrap_in_background(cx);
        }
    }

    /// Wraps the rows about to become visible.
    fn wrap_in_sight(&mut self) {
        if self.editor.map.options().wrap.is_none() {
            return;
        }
        let first = self
            .editor
            .display
            .row_at_y(self.editor.scroll.top(&self.editor.display));
        let count = self.geometry.visible_rows.ceil() as u32 + 1;
        if self.editor.map.wrap_rows(first, count) {
            self.editor.display = self.editor.map.snapshot();
            self.editor.rows.forget_shapes();
        }
    }

    /// Returns the scroll position snapped to a whole pixel, so that rows are not blurred.
    fn snapped_top(&mut self, window: &Window, cx: &Context<Editor>) -> f64 {
        let height = f64::from(f32::from(self.palette.line_height));
        let top = (self.editor.scroll.top(&self.editor.display)
            + smooth_scroll::glide_rest(self.editor, cx))
        .max(0.0);
        window.pixel_snap_f64(top * height) / height
    }

    fn rows_in_sight(&mut self, window: &Window, cx: &Context<Editor>) -> Vec<VisibleRow> {
        let bottom = self.geometry.top + self.geometry.visible_rows;
        let first = self.editor.display.row_at_y(self.geometry.top);
        let last = self.editor.display.row_at_y(bottom);
        self.geometry.total_rows = self.editor.display.total_height();
        self.geometry.buffer_rows =
            self.editor.display.buffer_row(first).0..self.editor.display.buffer_row(last).0 + 1;
        self.editor.rows.show(
            self.geometry.buffer_rows.clone(),
            self.palette.key(),
            self.editor.snapshot.last_row(),
        );
        self.ask_missing_highlights(self.geometry.buffer_rows.clone(), cx);
        if self.editor.map.options().wrap.is_some() {
            self.editor.scroll.x = 0.0;
        }
        self.geometry.scroll_x = self.editor.scroll.x;
        let mut rows: Vec<VisibleRow> = Vec::with_capacity((last - first) as usize + 1);
        for row in (first.0..=last.0).map(DisplayRow) {
            let y = self.editor.display.y_of(row);
            let (buffer_row, begins) = self.editor.display.buffer_row(row);
            let shape = self.shape_of(row, (buffer_row, begins), window, cx);
            rows.push(VisibleRow {
                row,
                y,
                buffer_row,
                begins,
                shape,
            });
        }
        if self.editor.map.options().wrap.is_none() {
            let width = f64::from(f32::from(self.geometry.text.size.width));
            let needed = f64::from(self.widest_cell(&rows) + 4) * f64::from(self.geometry.advance);
            // Shorter rows must not reset the horizontal scroll position.
            self.geometry.most_x = (needed - width).max(self.editor.scroll.x);
        }
        rows
    }

    /// Returns the cell after the end of the longest visible row; partially shaped rows are
    /// estimated.
    fn widest_cell(&self, rows: &[VisibleRow]) -> u32 {
        let ends = rows.iter().map(|visible| match visible.shape.end_cell {
            Some(end) => end,
            None => self
                .editor
                .display
                .widest_cell_in(visible.row..visible.row + 1),
        });
        ends.max().unwrap_or(0)
    }

    /// Returns the shaped display row, from the cache or shaped now.
    fn shape_of(
        &mut self,
        row: DisplayRow,
        (buffer_row, begins): (Row, bool),
        window: &Window,
        cx: &Context<Editor>,
    ) -> Rc<ShapedRow> {
        // Fast path: most rows are short, begin here and are already shaped.
        let whole = RowSegment {
            wrap: 0,
            cells: None,
        };
        if begins && let Some(shape) = self.editor.rows.shape(buffer_row, whole) {
            return shape;
        }
        let part = self.segment_of(row, buffer_row, begins);
        let shape = self.editor.rows.shape(buffer_row, part);
        shape.unwrap_or_else(|| self.shape_row(row, buffer_row, part, window, cx))
    }

    /// Computes the highlights of visible rows that have none, in one query.
    fn ask_missing_highlights(&mut self, rows: Range<Row>, cx: &Context<Editor>) {
        let is_missing = |row: &u32| self.editor.rows.highlights(Row(*row)).is_none();
        // A fold may hide any number of rows; only cached rows can be filled.
        let kept = self.editor.rows.range();
        let rows = rows.start.max(kept.start).0..rows.end.min(kept.end).0;
        let Some(first) = rows.clone().find(is_missing) else {
            return;
        };
        let last = rows.rev().find(is_missing).unwrap_or(first);
        let Some(found) = excerpted::colours_now(self.editor, Row(first)..Row(last + 1), cx) else {
            return;
        };
        for (row, highlights) in (first..).map(Row).zip(found) {
            if self.editor.rows.highlights(row).is_none() {
                self.editor.rows.set_highlights(row, highlights);
            }
        }
    }

    /// Returns the segment of a row to shape.
    fn segment_of(&self, row: DisplayRow, buffer_row: Row, begins: bool) -> RowSegment {
        let wrap = if begins {
            0
        } else {
            row - self.editor.display.rows_of(buffer_row).start
        };
        // A short row is shaped whole; its byte length is cheaper to query than its cells.
        let bytes = self.editor.snapshot.row_len(buffer_row).0;
        // No wrapped row is this long, and an unwrapped row of this length almost certainly has
        // this many cells.
        let is_surely_long = self.editor.map.options().wrap.is_none() && bytes > LONG_ROW * 16;
        if bytes <= LONG_ROW || !is_surely_long && self.editor.display.max_cell(row) <= LONG_ROW {
            return RowSegment { wrap, cells: None };
        }
        const STEP: u32 = 256;
        let from = (self.geometry.scroll_x / f64::from(self.geometry.advance)) as u32;
        let to = from + (f32::from(self.geometry.text.size.width) / self.geometry.advance) as u32;
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
        window: &Window,
        cx: &Context<Editor>,
    ) -> Rc<ShapedRow> {
        let line = match part.cells {
            None => self.editor.display.line(row),
            Some((from, to)) => self.editor.display.line_window(row, from, to),
        };
        let colours = LazyCell::new(|| highlighting::text_colours(self.editor, cx));
        let row_start = self.editor.snapshot.row_start(buffer_row);
        let is_long = self.editor.snapshot.row_len(buffer_row).0 > LONG_ROW;
        let known = if is_long {
            None
        } else {
            self.editor.rows.highlights(buffer_row)
        };
        let row_end = row_start + self.editor.snapshot.row_len(buffer_row).0 as usize;
        let highlights = |span: Span| match &known {
            Some(known) if span.end <= row_end => within(known, row_start, span),
            _ => colours.as_ref().map_or_else(Vec::new, |colours| {
                colours.of_span(&self.editor.snapshot, span)
            }),
        };
        let shaper = Shaper {
            palette: &self.palette,
            display: &self.editor.display,
            window,
            words: &self.editor.words,
            looks: &self.editor.suggestion.looks,
        };
        let mut shape = shaper.shape(&line, &highlights);
        if part.cells.is_some() {
            shape.end_cell = None;
        }
        let shape = Rc::new(shape);
        // Folded text may change without touching the row, so rows with folds are never cached.
        if shape.folds.is_empty() {
            self.editor.rows.set_shape(buffer_row, part, shape.clone());
        }
        shape
    }

    fn span_of(&self, rows: &[VisibleRow]) -> Span {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return Span::default();
        };
        let start = self.editor.display.to_buffer(
            DisplayPoint {
                row: first.row,
                cell: 0,
            },
            Bias::Left,
        );
        let end = if last.row >= self.editor.display.last_row() {
            self.editor.snapshot.len()
        } else {
            self.editor.display.to_buffer(
                DisplayPoint {
                    row: last.row + 1,
                    cell: 0,
                },
                Bias::Left,
            )
        };
        Span::new(start, end)
    }
}

/// Lays out the visible part of the view within `bounds`. The only function that scrolls, wraps or shapes.
pub(crate) fn lay_out(
    editor: &mut Editor,
    bounds: Bounds<Pixels>,
    window: &mut Window,
    cx: &mut Context<Editor>,
) -> TextLayout {
    editor.follow_settings(cx);
    editor.sync(cx);
    let palette = current_palette(editor, window, cx);
    let geometry = measure(editor, bounds, &palette, cx);
    let mut pass = LayoutPass {
        editor,
        geometry,
        palette,
    };
    let rows = pass.visible_rows(window, cx);
    let span = pass.span_of(&rows);
    let LayoutPass {
        geometry, palette, ..
    } = pass;
    let bottom = geometry.top + geometry.visible_rows;
    let mut layout = TextLayout {
        span,
        palette,
        rows,
        blocks: editor.display.blocks_in(geometry.top..bottom),
        grounds: Vec::new(),
        fronts: Vec::new(),
        underlines: Vec::new(),
        messages: Vec::new(),
        inverted: Vec::new(),
        gutter: Vec::new(),
        sticky: Vec::new(),
        bars: ScrollbarState::default(),
        is_focused: editor.focus.is_focused(window),
        is_gliding: editor.glide.is_some(),
        geometry,
    };
    Decorator {
        editor,
        layout: &mut layout,
    }
    .decorate(window, cx);
    let shapes = layout.rows.iter().map(|row| row.shape.as_ref());
    let revision = editor.snapshot.revision();
    editor.suggestion.note_painted(shapes, revision);
    editor.geometry = Some(layout.geometry.clone());
    inlay_hints::note_visible(editor, cx);
    annotations::note_visible(editor, cx);
    layout
}

fn current_palette(editor: &mut Editor, window: &Window, cx: &Context<Editor>) -> Rc<Palette> {
    match &editor.palette {
        Some(palette) if palette.is_current(window, cx) => palette.clone(),
        _ => {
            let palette = Rc::new(Palette::of(window, cx));
            editor.palette = Some(palette.clone());
            palette
        }
    }
}

/// Computes the areas of gutter, text and scrollbars.
fn measure(
    editor: &Editor,
    bounds: Bounds<Pixels>,
    palette: &Palette,
    cx: &Context<Editor>,
) -> Geometry {
    let scale = f32::from(palette.size) / 14.0;
    let bar = px((6.0 * scale).round());
    let numbers = match editor.settings.line_numbers {
        LineNumbers::Off => px(0.0),
        LineNumbers::On | LineNumbers::Relative => {
            let digits = excerpted::most_rows(editor, cx).to_string().len().max(3);
            px((digits as f32 + 1.0) * palette.number_advance)
        }
    };
    let arrows = if editor.settings.fold_arrows {
        px((18.0 * scale).round())
    } else {
        px((8.0 * scale).round())
    };
    let marks = if editor.model.read(cx).has_gutter_marks() {
        px((18.0 * scale).round())
    } else {
        px(0.0)
    };
    let authors = line_authors::margin_width(editor, palette, cx);
    let gutter_width = bar + authors + marks + numbers + arrows;
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
        authors: gutter.left() + bar..gutter.left() + bar + authors,
        marks: gutter.left() + bar + authors..gutter.left() + bar + authors + marks,
        folds: gutter.left() + bar + authors + marks + numbers..left,
        gutter,
        text,
        vertical,
        advance: palette.advance,
        line_height: palette.line_height,
        top: 0.0,
        scroll_x: editor.scroll.x,
        most_x: 0.0,
        visible_rows: f64::from(f32::from(bounds.size.height))
            / f64::from(f32::from(palette.line_height)),
        total_rows: editor.display.total_height(),
        buffer_rows: Row(0)..Row(0),
        // Value of the last frame, until that of this frame is known.
        sticky_rows: editor
            .geometry
            .as_ref()
            .map_or(0, |geometry| geometry.sticky_rows),
    }
}

/// Returns the theme's colour for selections. Without the focus, returns the weaker colour of
/// inactive selections.
pub(crate) fn selection_color(is_focused: bool, cx: &Context<Editor>) -> Hsla {
    let colors = &cx.theme().colors;
    if is_focused {
        colors.selection
    } else {
        colors.selection_inactive
    }
}

/// Returns a row's highlights within a span, as text offsets.
fn within(
    known: &[crate::frame::RowHighlight],
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
