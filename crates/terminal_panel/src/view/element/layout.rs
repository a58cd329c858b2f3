//! Layout of one frame: shaped rows, backgrounds, selection, cursor, composed text and scrollbar.

use std::rc::Rc;

use gpui_kit::{Bounds, Context, Hsla, PaintQuad, Pixels, ShapedLine, TextRun, Window, fill, px};
use terminal::{CellSpan, CommandState, CursorShape, CursorState, SelectedCells};
use ui::ActiveTheme as _;

use crate::frame::{CellStroke, Geometry, Palette, ShapedCells, StrokeKind, grid_size};
use crate::view::TerminalView;

/// Everything that is painted in one frame.
pub(crate) struct TerminalLayout {
    pub(crate) geometry: Geometry,
    pub(super) palette: Rc<Palette>,
    /// The rows in view, from the top.
    pub(super) rows: Vec<Rc<ShapedCells>>,
    /// Selection and matches, behind the text.
    pub(super) marks: Vec<PaintQuad>,
    /// Underlines of the link under the pointer: row and stroke.
    pub(super) links: Vec<(u16, CellStroke)>,
    pub(super) cursor: Option<PlacedCursor>,
    pub(super) preedit: Option<PlacedPreedit>,
    /// The scrollbar with the marks beside it.
    pub(super) bars: Vec<PaintQuad>,
}

/// The cursor in a row of the view.
pub(super) struct PlacedCursor {
    pub(super) row: u16,
    pub(super) column: u16,
    pub(super) bounds: Bounds<Pixels>,
    pub(super) shape: CursorShape,
    pub(super) color: Hsla,
}

/// Composed text at the cursor.
pub(super) struct PlacedPreedit {
    pub(super) bounds: Bounds<Pixels>,
    pub(super) line: ShapedLine,
}

impl TerminalView {
    /// Lays out a frame. Changes the size of the terminal if the area has another one.
    pub(crate) fn lay_out(
        &mut self,
        bounds: Bounds<Pixels>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> TerminalLayout {
        self.count_layout();
        let palette = self.current_palette(window, cx);
        let zoom = cx.theme().fonts.zoom;
        self.resize(grid_size(bounds, &palette, zoom), cx);
        self.set_cell_size(&palette);
        self.refresh(cx);
        let geometry = Geometry::new(bounds, self.grid(), &palette, zoom);
        let mut layout = TerminalLayout {
            geometry: geometry.clone(),
            rows: self.shape_rows(&palette, window),
            palette,
            marks: Vec::new(),
            links: Vec::new(),
            cursor: None,
            preedit: None,
            bars: Vec::new(),
        };
        self.place_selection(&mut layout, cx);
        self.place_links(&mut layout, cx);
        self.place_cursor(&mut layout, window);
        self.place_preedit(&mut layout, window, cx);
        self.place_bars(&mut layout, cx);
        self.set_geometry(geometry, window, cx);
        layout
    }

    fn shape_rows(&mut self, palette: &Palette, window: &Window) -> Vec<Rc<ShapedCells>> {
        let (contents, cache) = self.parts_to_shape();
        let rows = &contents.snapshot.rows;
        cache.begin_frame(rows.len());
        rows.iter()
            .map(|row| cache.get(row, palette, window))
            .collect()
    }

    /// Returns the bounds of the cells of a span in each row of the view.
    fn span_bounds(&self, layout: &TerminalLayout, span: CellSpan) -> Vec<Bounds<Pixels>> {
        self.bounds_of(
            layout,
            SelectedCells {
                span,
                is_block: false,
            },
        )
    }

    fn bounds_of(&self, layout: &TerminalLayout, cells: SelectedCells) -> Vec<Bounds<Pixels>> {
        let parts = self.parts_in_view(cells);
        let bounds = parts
            .into_iter()
            .map(|(row, column, count)| layout.geometry.cells_at(row, column, count));
        bounds.collect()
    }

    fn place_selection(&self, layout: &mut TerminalLayout, cx: &Context<Self>) {
        let colors = cx.theme().colors;
        for span in self.matches() {
            let color = if self.current_match() == Some(*span) {
                colors.find_match_active
            } else {
                colors.find_match
            };
            let bounds = self.span_bounds(layout, *span);
            layout
                .marks
                .extend(bounds.into_iter().map(|bounds| fill(bounds, color)));
        }
        if let Some(selection) = self.selection() {
            let color = layout.palette.colors.selection();
            let bounds = self.bounds_of(layout, selection);
            layout
                .marks
                .extend(bounds.into_iter().map(|bounds| fill(bounds, color)));
        }
    }

    fn place_links(&self, layout: &mut TerminalLayout, cx: &Context<Self>) {
        let color = cx.theme().colors.link;
        for span in self.hovered_spans() {
            let cells = SelectedCells {
                span: *span,
                is_block: false,
            };
            for (row, column, count) in self.parts_in_view(cells) {
                let kind = StrokeKind::Underline(terminal::Underline::Single);
                layout.links.push((
                    row,
                    CellStroke {
                        column,
                        count,
                        kind,
                        color,
                    },
                ));
            }
        }
    }

    fn place_cursor(&self, layout: &mut TerminalLayout, window: &Window) {
        let Some((row, cursor)) = self.visible_cursor() else {
            return;
        };
        let CursorState {
            position,
            is_wide,
            shape,
            ..
        } = cursor;
        let is_active = self.has_focus(window);
        if is_active && !self.is_cursor_lit() {
            return;
        }
        let count = if is_wide { 2 } else { 1 };
        layout.cursor = Some(PlacedCursor {
            row,
            column: position.column,
            bounds: layout.geometry.cells_at(row, position.column, count),
            shape: if is_active {
                shape
            } else {
                CursorShape::HollowBlock
            },
            color: layout.palette.colors.cursor(),
        });
    }

    fn place_preedit(&self, layout: &mut TerminalLayout, window: &Window, cx: &Context<Self>) {
        let (Some(preedit), Some((row, cursor))) = (self.preedit(), self.visible_cursor()) else {
            return;
        };
        let palette = &layout.palette;
        let color = cx.theme().colors.text;
        let run = TextRun {
            len: preedit.text.len(),
            font: palette.font_of(&terminal::CellStyle::default()),
            color,
            background_color: None,
            underline: Some(gpui_kit::UnderlineStyle {
                thickness: px(1.0),
                color: Some(color),
                wavy: false,
            }),
            strikethrough: None,
        };
        let text = preedit.text.clone().into();
        let line = window
            .text_system()
            .shape_line(text, palette.size, &[run], None);
        let mut bounds = layout.geometry.cells_at(row, cursor.position.column, 1);
        bounds.size.width = line.width.max(bounds.size.width);
        // Text that does not fit to the right of the cursor moves to the left.
        let beyond = bounds.right() - layout.geometry.cells.right();
        if beyond > px(0.0) {
            bounds.origin.x = (bounds.origin.x - beyond).max(layout.geometry.cells.left());
        }
        layout.preedit = Some(PlacedPreedit { bounds, line });
    }

    fn place_bars(&self, layout: &mut TerminalLayout, cx: &Context<Self>) {
        let colors = cx.theme().colors;
        let geometry = &layout.geometry;
        let scroll = self.scroll_state();
        let mut last = None;
        for (line, state) in self.overview() {
            let y = geometry.mark_at(*line, scroll).round();
            let color = match state {
                CommandState::Finished(Some(code)) if *code != 0 => colors.error,
                CommandState::Running => colors.info,
                _ => colors.border_strong,
            };
            // Marks of one pixel row are drawn once, unless a failure is among them.
            if last == Some((y, color)) {
                continue;
            }
            last = Some((y, color));
            let mut mark = geometry.scrollbar;
            mark.origin.y = y;
            mark.size.height = px(2.0);
            layout.bars.push(fill(mark, color));
        }
        if let Some(mut handle) = geometry.handle(scroll) {
            let color = if self.is_scrollbar_active() {
                colors.scrollbar_hover
            } else {
                colors.scrollbar
            };
            handle.origin.x += px(2.0);
            handle.size.width -= px(4.0);
            layout.bars.push(fill(handle, color).corner_radii(px(4.0)));
        }
    }
}
