//! Paints the layout of the text.
//!
//! Backgrounds and text share one layer, because a layer paints quads before glyphs; carets and
//! what lies over the text take one layer each. Few layers keep the scene cheap to build.

use gpui_kit::{
    App, Bounds, ContentMask, Hsla, Path, PathBuilder, Pixels, TextAlign, Window, fill, point, px,
    size,
};
use ui::ActiveTheme as _;

use super::gutter::{FoldArrow, GutterRow};
use super::layout::TextLayout;
use crate::frame::{Palette, ShapedRow};

impl TextLayout {
    /// Paints the text and everything that scrolls with it. Takes the painted items out of the
    /// layout, so that a layout can be painted only once.
    pub(crate) fn paint(&mut self, window: &mut Window, cx: &mut App) {
        let bounds = self.geometry.bounds;
        let surface = cx.theme().colors.surface;
        window.paint_quad(fill(bounds, surface));
        window.paint_layer(bounds, |window| {
            let gutter = self.geometry.gutter.right();
            // Change bars and the current row may extend into the gutter; the text may not.
            for quad in std::mem::take(&mut self.grounds) {
                let is_behind_gutter =
                    quad.bounds.left() < gutter && quad.bounds.left() >= bounds.left();
                if is_behind_gutter && quad.bounds.right() <= gutter {
                    window.paint_quad(quad)
                } else {
                    window.with_content_mask(Some(self.mask_of(&quad.bounds)), |window| {
                        window.paint_quad(quad)
                    })
                }
            }
            self.paint_gutter(window, cx);
            window.with_content_mask(
                Some(ContentMask {
                    bounds: self.geometry.text,
                }),
                |window| {
                    for row in &self.rows {
                        let x = self.geometry.x_of(row.shape.origin_cell);
                        let y = self.geometry.y_of(row.y);
                        if self.is_covered(y) {
                            continue;
                        }
                        paint_row(
                            &row.shape,
                            point(x, y),
                            &self.palette,
                            self.geometry.text,
                            window,
                        );
                    }
                    self.paint_underlines(window);
                    self.paint_messages(window, cx);
                },
            );
        });
        self.paint_fronts(window);
    }

    /// Returns whether sticky headers hide a row at `y` completely.
    pub(super) fn is_covered(&self, y: Pixels) -> bool {
        let geometry = &self.geometry;
        let headers = geometry.line_height * self.sticky.len() as f32;
        y + geometry.line_height <= geometry.bounds.top() + headers
    }

    /// Paints the underlines of diagnostics.
    fn paint_underlines(&self, window: &mut Window) {
        let baseline = baseline(&self.palette, window);
        for underline in &self.underlines {
            if self.is_covered(underline.origin.y) {
                continue;
            }
            let style = gpui_kit::UnderlineStyle {
                thickness: px(1.0),
                color: Some(underline.color),
                wavy: true,
            };
            let origin = underline.origin + point(px(0.0), baseline + px(2.0));
            window.paint_underline(origin, underline.width, &style);
        }
    }

    /// Paints the messages of diagnostics.
    fn paint_messages(&self, window: &mut Window, cx: &mut App) {
        let height = self.geometry.line_height;
        for message in &self.messages {
            if self.is_covered(message.origin.y) {
                continue;
            }
            let left = TextAlign::Left;
            let painted = message
                .line
                .paint(message.origin, height, left, None, window, cx);
            // A glyph that cannot be drawn leaves a gap; painting has no way to report it.
            painted.ok();
        }
    }

    fn mask_of(&self, quad: &Bounds<Pixels>) -> ContentMask<Pixels> {
        // A quad that begins at the left edge of the view also covers the gutter.
        let bounds = if quad.left() <= self.geometry.bounds.left() {
            self.geometry.bounds
        } else {
            self.geometry.text
        };
        ContentMask { bounds }
    }

    fn paint_fronts(&mut self, window: &mut Window) {
        let geometry = &self.geometry;
        // A caret at the left edge of the text may start half a pixel before it.
        let mut area = geometry.text;
        area.origin.x -= px(1.0);
        area.size.width += px(1.0);
        window.with_content_mask(Some(ContentMask { bounds: area }), |window| {
            window.paint_layer(area, |window| {
                self.fronts
                    .drain(..)
                    .for_each(|quad| window.paint_quad(quad));
                for (ix, cells, color) in &self.inverted {
                    let row = &self.rows[*ix];
                    let origin = point(geometry.x_of(row.shape.origin_cell), geometry.y_of(row.y));
                    let from = (cells.start - row.shape.origin_cell.min(cells.start)) as f32
                        * self.palette.advance;
                    let to = (cells.end - row.shape.origin_cell.min(cells.end)) as f32
                        * self.palette.advance;
                    let letters: Vec<_> = row
                        .shape
                        .glyphs
                        .iter()
                        .filter(|glyph| from <= glyph.x && glyph.x < to)
                        .copied()
                        .collect();
                    for mut glyph in letters {
                        glyph.color = *color;
                        paint_glyph(
                            &glyph,
                            origin,
                            baseline(&self.palette, window),
                            &self.palette,
                            window,
                        );
                    }
                }
            });
        });
    }

    fn paint_gutter(&self, window: &mut Window, cx: &App) {
        let color = cx.theme().colors.muted;
        for row in &self.gutter {
            let y = self.geometry.y_of(self.rows[row.ix].y);
            if self.is_covered(y) {
                continue;
            }
            self.paint_number(row, y, window);
            if let Some(arrow) = row.arrow {
                self.paint_arrow(arrow, y, color, window);
            }
        }
    }

    fn paint_number(&self, row: &GutterRow, y: Pixels, window: &mut Window) {
        let Some(mut number) = row.number else {
            return;
        };
        let palette = &self.palette;
        let baseline = baseline(palette, window);
        let mut x = self.geometry.folds.start - px(palette.number_advance * 0.5);
        loop {
            x -= px(palette.number_advance);
            let Some((font, glyph)) = palette.digits.get((number % 10) as usize).copied() else {
                return;
            };
            let origin = point(x, y + baseline);
            // A glyph that cannot be drawn leaves a gap; painting has no way to report it.
            window
                .paint_glyph(origin, font, glyph, palette.number_size, row.color)
                .ok();
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }

    fn paint_arrow(&self, arrow: FoldArrow, y: Pixels, color: Hsla, window: &mut Window) {
        let geometry = &self.geometry;
        let center = point(
            (geometry.folds.start + geometry.folds.end) / 2.0,
            y + geometry.line_height / 2.0,
        );
        if let Some(path) = chevron(arrow, center, f32::from(geometry.line_height) * 0.16) {
            window.paint_path(path, color);
        }
    }

    /// Paints the layers over the text: sticky headers and scrollbars.
    pub(crate) fn paint_above(&mut self, window: &mut Window, cx: &mut App) {
        self.paint_sticky(window, cx);
        let bars = self.geometry.bounds;
        window.paint_layer(bars, |window| {
            self.bars
                .quads
                .drain(..)
                .for_each(|quad| window.paint_quad(quad));
        });
    }

    fn paint_sticky(&self, window: &mut Window, cx: &App) {
        if self.sticky.is_empty() {
            return;
        }
        let colors = cx.theme().colors;
        let geometry = &self.geometry;
        let height = geometry.line_height * self.sticky.len() as f32;
        let width = geometry.vertical.left() - geometry.bounds.left();
        let area = Bounds::new(geometry.bounds.origin, size(width, height));
        window.paint_layer(area, |window| {
            window.paint_quad(fill(area, colors.surface));
            let edge = Bounds::new(
                point(area.left(), area.bottom() - px(1.0)),
                size(width, px(1.0)),
            );
            window.paint_quad(fill(edge, colors.border));
            for (ix, header) in self.sticky.iter().enumerate() {
                let y = geometry.bounds.top() + geometry.line_height * ix as f32;
                let row = GutterRow {
                    ix: 0,
                    number: Some(header.row.0 + 1),
                    color: colors.line_number,
                    arrow: None,
                };
                self.paint_number(&row, y, window);
                let origin = point(geometry.text.left(), y);
                let mut mask = geometry.text;
                mask.size.height = height;
                window.with_content_mask(Some(ContentMask { bounds: mask }), |window| {
                    paint_row(&header.shape, origin, &self.palette, geometry.text, window);
                });
            }
        });
    }
}

/// Returns the distance from the top of a row to its baseline, for text and line numbers.
///
/// Font metrics count the descent downwards on some platforms and upwards on others, so its sign is
/// ignored.
fn baseline(palette: &Palette, window: &Window) -> Pixels {
    let text_system = window.text_system();
    let ascent = text_system.ascent(palette.font_id, palette.size);
    let descent = text_system.descent(palette.font_id, palette.size).abs();
    ((palette.line_height - ascent - descent) / 2. + ascent).round()
}

fn paint_row(
    row: &ShapedRow,
    origin: gpui_kit::Point<Pixels>,
    palette: &Palette,
    sight: Bounds<Pixels>,
    window: &mut Window,
) {
    let baseline = baseline(palette, window);
    // Glyphs a cell or two outside the window may extend into it.
    let near = palette.advance * 3.0;
    let left = f32::from(sight.left() - origin.x) - near;
    let right = f32::from(sight.right() - origin.x) + near;
    for glyph in row
        .glyphs
        .iter()
        .filter(|glyph| left <= glyph.x && glyph.x <= right)
    {
        paint_glyph(glyph, origin, baseline, palette, window);
    }
    for stroke in &row.strokes {
        let x =
            origin.x + px((stroke.cell.saturating_sub(row.origin_cell)) as f32 * palette.advance);
        let width = px(stroke.cells as f32 * palette.advance);
        if stroke.is_through {
            let style = gpui_kit::StrikethroughStyle {
                thickness: px(1.0),
                color: Some(stroke.color),
            };
            window.paint_strikethrough(
                point(x, origin.y + palette.line_height * 0.55),
                width,
                &style,
            );
        } else {
            window.paint_underline(
                point(x, origin.y + baseline + px(2.0)),
                width,
                &stroke.style(),
            );
        }
    }
}

fn paint_glyph(
    glyph: &crate::frame::Glyph,
    origin: gpui_kit::Point<Pixels>,
    baseline: Pixels,
    palette: &Palette,
    window: &mut Window,
) {
    let place = point(origin.x + px(glyph.x), origin.y + baseline);
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

/// Returns a small arrow, pointing down if open and right if folded.
fn chevron(arrow: FoldArrow, center: gpui_kit::Point<Pixels>, reach: f32) -> Option<Path<Pixels>> {
    let (long, short) = (px(reach), px(reach * 0.55));
    let corners = match arrow {
        FoldArrow::Open => [(-long, -short), (px(0.0), short), (long, -short)],
        FoldArrow::Folded => [(-short, -long), (short, px(0.0)), (-short, long)],
    };
    let [first, middle, last] = corners.map(|(x, y)| point(center.x + x, center.y + y));
    let mut builder = PathBuilder::stroke(px(1.3));
    builder.move_to(first);
    builder.line_to(middle);
    builder.line_to(last);
    builder.build().ok()
}
