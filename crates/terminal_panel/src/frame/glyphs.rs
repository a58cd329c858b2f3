//! Characters that are drawn as quads and paths, so that adjacent cells join without seams: box drawing, blocks,
//! Powerline separators, Braille and sextants.

use gpui_kit::{Bounds, Hsla, PaintQuad, Path, PathBuilder, Pixels, Window, fill, point, px, size};

use super::boxes::draw_box;

/// A part of a drawn character.
pub(crate) enum CellShape {
    Quad(PaintQuad),
    Path(Path<Pixels>, Hsla),
}

impl CellShape {
    /// Appends a path. A path that cannot be built leaves a gap.
    pub(super) fn push_path(path: PathBuilder, color: Hsla, shapes: &mut Vec<Self>) {
        if let Ok(path) = path.build() {
            shapes.push(Self::Path(path, color));
        }
    }

    /// Paints the part.
    pub(crate) fn paint(self, window: &mut Window) {
        match self {
            Self::Quad(quad) => window.paint_quad(quad),
            Self::Path(path, color) => window.paint_path(path, color),
        }
    }
}

/// Returns whether a character is drawn instead of shaped.
pub(crate) fn is_drawn(character: char) -> bool {
    matches!(character,
        '\u{2500}'..='\u{259f}' | '\u{e0b0}'..='\u{e0b4}' | '\u{2800}'..='\u{28ff}' | '\u{1fb00}'..='\u{1fb3b}')
}

/// Appends the shapes of a drawn character in a cell. `scale` is the scale factor of the screen.
pub(crate) fn draw(
    character: char,
    cell: Bounds<Pixels>,
    scale: f32,
    color: Hsla,
    shapes: &mut Vec<CellShape>,
) {
    if draw_box(character, cell, scale, color, shapes) {
        return;
    }
    match character {
        '\u{2580}'..='\u{259f}' => draw_block(character, cell, color, shapes),
        '\u{e0b0}'..='\u{e0b4}' => draw_separator(character, cell, color, shapes),
        '\u{2800}'..='\u{28ff}' => draw_braille(character, cell, color, shapes),
        _ => draw_sextant(character, cell, color, shapes),
    }
}

/// Returns a part of a cell, given in eighths of its width and height.
fn eighths(cell: Bounds<Pixels>, x: [f32; 2], y: [f32; 2]) -> Bounds<Pixels> {
    let (width, height) = (cell.size.width / 8.0, cell.size.height / 8.0);
    Bounds::new(
        point(cell.left() + width * x[0], cell.top() + height * y[0]),
        size(width * (x[1] - x[0]), height * (y[1] - y[0])),
    )
}

fn draw_block(character: char, cell: Bounds<Pixels>, color: Hsla, shapes: &mut Vec<CellShape>) {
    let code = character as u32;
    let mut part = |x: [f32; 2], y: [f32; 2], color: Hsla| {
        shapes.push(CellShape::Quad(fill(eighths(cell, x, y), color)));
    };
    let (whole, first, second) = ([0.0, 8.0], [0.0, 4.0], [4.0, 8.0]);
    match code {
        0x2580 => part(whole, first, color),
        0x2581..=0x2588 => part(whole, [8.0 - (code - 0x2580) as f32, 8.0], color),
        0x2589..=0x258f => part([0.0, (0x2590 - code) as f32], whole, color),
        0x2590 => part(second, whole, color),
        0x2591..=0x2593 => part(whole, whole, color.opacity((code - 0x2590) as f32 / 4.0)),
        0x2594 => part(whole, [0.0, 1.0], color),
        0x2595 => part([7.0, 8.0], whole, color),
        _ => {
            for (bit, x, y) in [
                (1, first, first),
                (2, second, first),
                (4, first, second),
                (8, second, second),
            ] {
                if quadrants(code) & bit != 0 {
                    part(x, y, color);
                }
            }
        }
    }
}

/// Returns the filled quadrants: 1 is upper left, 2 upper right, 4 lower left, 8 lower right.
fn quadrants(code: u32) -> u8 {
    const QUADRANTS: [u8; 10] = [
        4,
        8,
        1,
        1 | 4 | 8,
        1 | 8,
        1 | 2 | 4,
        1 | 2 | 8,
        2,
        2 | 4,
        2 | 4 | 8,
    ];
    QUADRANTS[(code - 0x2596) as usize]
}

fn draw_separator(character: char, cell: Bounds<Pixels>, color: Hsla, shapes: &mut Vec<CellShape>) {
    let (left, right) = (cell.left(), cell.right());
    let middle = cell.top() + cell.size.height / 2.0;
    let (top, bottom) = (cell.top(), cell.bottom());
    let points_left = matches!(character, '\u{e0b2}' | '\u{e0b3}');
    let (base, tip) = if points_left {
        (right, left)
    } else {
        (left, right)
    };
    let is_outline = matches!(character, '\u{e0b1}' | '\u{e0b3}');
    let mut path = if is_outline {
        PathBuilder::stroke(px(1.0))
    } else {
        PathBuilder::fill()
    };
    path.move_to(point(base, top));
    if character == '\u{e0b4}' {
        let control = tip + (tip - base) * 0.25;
        path.cubic_bezier_to(
            point(base, bottom),
            point(control, top),
            point(control, bottom),
        );
    } else {
        path.line_to(point(tip, middle));
        path.line_to(point(base, bottom));
    }
    if !is_outline {
        path.close();
    }
    CellShape::push_path(path, color, shapes);
}

fn draw_braille(character: char, cell: Bounds<Pixels>, color: Hsla, shapes: &mut Vec<CellShape>) {
    /// The dots of the bits: column and row.
    const DOTS: [(f32, f32); 8] = [
        (0.0, 0.0),
        (0.0, 1.0),
        (0.0, 2.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.0, 3.0),
        (1.0, 3.0),
    ];
    let bits = character as u32 - 0x2800;
    let (width, height) = (cell.size.width / 2.0, cell.size.height / 4.0);
    let side = width.min(height) * 0.55;
    for (bit, (column, row)) in DOTS.into_iter().enumerate() {
        if bits & (1 << bit) != 0 {
            let x = cell.left() + width * (column + 0.5) - side / 2.0;
            let y = cell.top() + height * (row + 0.5) - side / 2.0;
            let dot = Bounds::new(point(x, y), size(side, side));
            shapes.push(CellShape::Quad(fill(dot, color).corner_radii(side / 2.0)));
        }
    }
}

/// Draws a sextant: two columns and three rows of blocks (U+1FB00 to U+1FB3B).
fn draw_sextant(character: char, cell: Bounds<Pixels>, color: Hsla, shapes: &mut Vec<CellShape>) {
    // Patterns that are half blocks have other code points and are left out of the range.
    let mut bits = character as u32 - 0x1fb00 + 1;
    bits += u32::from(bits >= 0x15);
    bits += u32::from(bits >= 0x2a);
    let third = 8.0 / 3.0;
    for bit in 0..6u8 {
        if bits & (1 << bit) != 0 {
            let (column, row) = (f32::from(bit % 2), f32::from(bit / 2));
            let x = [column * 4.0, column * 4.0 + 4.0];
            let y = [row * third, row * third + third];
            shapes.push(CellShape::Quad(fill(eighths(cell, x, y), color)));
        }
    }
}

#[cfg(test)]
mod tests {
    use gpui_kit::{Bounds, black, point, px, size};

    use super::{CellShape, draw, is_drawn};

    fn shapes(character: char) -> Vec<CellShape> {
        let cell = Bounds::new(point(px(10.0), px(20.0)), size(px(8.0), px(16.0)));
        let mut shapes = Vec::new();
        draw(character, cell, 1.0, black(), &mut shapes);
        shapes
    }

    /// Returns left, top, right and bottom of each quad, relative to the cell.
    fn quads(character: char) -> Vec<[f32; 4]> {
        let quads = shapes(character)
            .into_iter()
            .filter_map(|shape| match shape {
                CellShape::Quad(quad) => Some(quad.bounds),
                CellShape::Path(..) => None,
            });
        quads
            .map(|it| {
                [
                    f32::from(it.left()) - 10.0,
                    f32::from(it.top()) - 20.0,
                    f32::from(it.right()) - 10.0,
                    f32::from(it.bottom()) - 20.0,
                ]
            })
            .collect()
    }

    #[test]
    fn every_drawn_character_has_a_shape() {
        let all = (0..=0x1_fbffu32).filter_map(char::from_u32);
        for character in all.filter(|it| is_drawn(*it) && *it != '\u{2800}') {
            assert!(!shapes(character).is_empty(), "{character:?}");
        }
        assert!(!is_drawn('a') && !is_drawn('\u{25a0}'));
    }

    #[test]
    fn lines_reach_the_edges_of_their_cell() {
        assert_eq!(quads('─').len(), 2);
        let ends = |quads: &[[f32; 4]], ix: usize| {
            quads
                .iter()
                .map(|quad| quad[ix])
                .fold((f32::MAX, f32::MIN), |(low, high), it| {
                    (low.min(it), high.max(it))
                })
        };
        let line = quads('─');
        assert_eq!((ends(&line, 0).0, ends(&line, 2).1), (0.0, 8.0));
        let cross = quads('╬');
        assert_eq!((ends(&cross, 1).0, ends(&cross, 3).1), (0.0, 16.0));
        assert_eq!(cross.len(), 8);
        // The strands of a double corner meet at the outer corner.
        let corner = quads('╔');
        let top = corner.iter().map(|it| it[1]).fold(f32::MAX, f32::min);
        let left = corner.iter().map(|it| it[0]).fold(f32::MAX, f32::min);
        assert!(corner.iter().any(|it| it[0] == left && it[1] == top));
    }

    #[test]
    fn blocks_fill_their_part_of_the_cell() {
        assert_eq!(quads('█'), [[0.0, 0.0, 8.0, 16.0]]);
        assert_eq!(quads('▂'), [[0.0, 12.0, 8.0, 16.0]]);
        assert_eq!(quads('▎'), [[0.0, 0.0, 2.0, 16.0]]);
        assert_eq!(quads('▚'), [[0.0, 0.0, 4.0, 8.0], [4.0, 8.0, 8.0, 16.0]]);
        assert_eq!(quads('⣿').len(), 8);
        assert_eq!(quads('\u{1fb00}').len(), 1);
    }
}
