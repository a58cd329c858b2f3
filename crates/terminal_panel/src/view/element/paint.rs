//! Paints the layout of a terminal.
//!
//! A layer paints its quads before its glyphs, so backgrounds, selection and text share one; what lies over the text
//! takes another.

use gpui_kit::{App, BorderStyle, Bounds, TextAlign, Window, fill, outline, point, px, size};
use terminal::CursorShape;

use super::layout::{PlacedCursor, TerminalLayout};
use super::lines::paint_stroke;
use crate::frame::{CellGlyph, Geometry, Palette, draw};

/// Width of the bar cursor, in pixels.
const BAR: f32 = 2.0;

impl TerminalLayout {
    /// Paints everything.
    pub(super) fn paint(&mut self, window: &mut Window, cx: &mut App) {
        let bounds = self.geometry.bounds;
        window.paint_quad(fill(bounds, self.palette.colors.background()));
        window.paint_layer(bounds, |window| {
            self.paint_grounds(window);
            for quad in std::mem::take(&mut self.marks) {
                window.paint_quad(quad);
            }
            self.paint_text(window);
        });
        window.paint_layer(bounds, |window| {
            if let Some(cursor) = &self.cursor {
                self.paint_cursor(cursor, window);
            }
            self.paint_preedit(window, cx);
            for quad in std::mem::take(&mut self.bars) {
                window.paint_quad(quad);
            }
        });
    }

    fn paint_grounds(&self, window: &mut Window) {
        for (row, cells) in (0..).zip(&self.rows) {
            for (column, count, color) in &cells.grounds {
                let bounds = self.geometry.cells_at(row, *column, *count);
                window.paint_quad(fill(bounds, *color));
            }
        }
    }

    fn paint_text(&self, window: &mut Window) {
        let (geometry, palette) = (&self.geometry, &self.palette);
        let mut shapes = Vec::new();
        for (row, cells) in (0..).zip(&self.rows) {
            for (column, character, color) in &cells.drawn {
                let cell = geometry.cells_at(row, *column, 1);
                draw(*character, cell, palette.scale, *color, &mut shapes);
            }
            for glyph in &cells.glyphs {
                paint_glyph(glyph, row, geometry, palette, window);
            }
            for stroke in &cells.strokes {
                paint_stroke(row, stroke, geometry, palette, window);
            }
        }
        for (row, stroke) in &self.links {
            paint_stroke(*row, stroke, geometry, palette, window);
        }
        for shape in shapes {
            shape.paint(window);
        }
    }

    fn paint_cursor(&self, cursor: &PlacedCursor, window: &mut Window) {
        let bounds = cursor.bounds;
        match cursor.shape {
            CursorShape::HollowBlock => {
                window.paint_quad(outline(bounds, cursor.color, BorderStyle::Solid));
            }
            CursorShape::Beam => {
                let bar = Bounds::new(bounds.origin, size(px(BAR), bounds.size.height));
                window.paint_quad(fill(bar, cursor.color));
            }
            CursorShape::Underline => {
                let top = point(bounds.left(), bounds.bottom() - px(BAR));
                let line = Bounds::new(top, size(bounds.size.width, px(BAR)));
                window.paint_quad(fill(line, cursor.color));
            }
            CursorShape::Block => self.paint_block(cursor, window),
        }
    }

    fn paint_block(&self, cursor: &PlacedCursor, window: &mut Window) {
        window.paint_quad(fill(cursor.bounds, cursor.color));
        let Some(cells) = self.rows.get(usize::from(cursor.row)) else {
            return;
        };
        let color = self.palette.colors.under_cursor();
        for glyph in cells.glyphs.iter().filter(|it| it.column == cursor.column) {
            let glyph = CellGlyph { color, ..*glyph };
            paint_glyph(&glyph, cursor.row, &self.geometry, &self.palette, window);
        }
        let mut shapes = Vec::new();
        for (column, character, _) in cells.drawn.iter().filter(|it| it.0 == cursor.column) {
            let cell = self.geometry.cells_at(cursor.row, *column, 1);
            draw(*character, cell, self.palette.scale, color, &mut shapes);
        }
        for shape in shapes {
            shape.paint(window);
        }
    }

    fn paint_preedit(&self, window: &mut Window, cx: &mut App) {
        let Some(preedit) = &self.preedit else {
            return;
        };
        let ground = self.palette.colors.background();
        window.paint_quad(fill(preedit.bounds, ground));
        let (origin, height) = (preedit.bounds.origin, self.geometry.line_height);
        let line = &preedit.line;
        let painted = line.paint(origin, height, TextAlign::Left, None, window, cx);
        // A glyph that cannot be drawn leaves a gap; painting has no way to report it.
        painted.ok();
    }
}

fn paint_glyph(
    glyph: &CellGlyph,
    row: u16,
    geometry: &Geometry,
    palette: &Palette,
    window: &mut Window,
) {
    let x = geometry.x_of(glyph.column) + glyph.shift;
    let place = point(x, geometry.y_of(row) + palette.baseline);
    // A glyph that cannot be drawn leaves a gap; painting has no way to report it.
    if glyph.is_emoji {
        window
            .paint_emoji(place, glyph.font, glyph.id, palette.size)
            .ok()
    } else {
        window
            .paint_glyph(place, glyph.font, glyph.id, palette.size, glyph.color)
            .ok()
    };
}
