//! Box drawing characters (U+2500 to U+257F) as lines from the middle of a cell to its edges.

use gpui_kit::{Bounds, Hsla, PathBuilder, Pixels, fill, point, px, size};

use super::glyphs::CellShape;

/// The weights of the lines to the left, right, top and bottom edges, a row of 16 characters each: none, light, heavy or
/// double. Characters of another kind have dots.
const ARMS: [&str; 8] = [
    "1100 2200 0011 0022 .... .... .... .... .... .... .... .... 0101 0201 0102 0202",
    "1001 2001 1002 2002 0110 0210 0120 0220 1010 2010 1020 2020 0111 0211 0121 0112",
    "0122 0221 0212 0222 1011 2011 1021 1012 1022 2021 2012 2022 1101 2101 1201 2201",
    "1102 2102 1202 2202 1110 2110 1210 2210 1120 2120 1220 2220 1111 2111 1211 2211",
    "1121 1112 1122 2121 1221 2112 1212 2221 2212 2122 1222 2222 .... .... .... ....",
    "3300 0033 0301 0103 0303 3001 1003 3003 0310 0130 0330 3010 1030 3030 0311 0133",
    "0333 3011 1033 3033 3301 1103 3303 3310 1130 3330 3311 1133 3333 .... .... ....",
    ".... .... .... .... 1000 0010 0100 0001 2000 0020 0200 0002 1200 0012 2100 0021",
];

/// The weight of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineWeight {
    None,
    Light,
    Heavy,
    Double,
}

/// The lines of a character, in pixels.
struct BoxCell {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
    /// The middle of the cell, which is the middle of light lines.
    x: f32,
    y: f32,
    /// Thickness of a light line.
    light: f32,
    color: Hsla,
}

/// Appends the shapes of a character. Returns false if it is no box drawing character.
pub(super) fn draw_box(
    character: char,
    cell: Bounds<Pixels>,
    scale: f32,
    color: Hsla,
    shapes: &mut Vec<CellShape>,
) -> bool {
    let code = character as u32;
    if !(0x2500..=0x257f).contains(&code) {
        return false;
    }
    let cell = BoxCell::new(cell, scale, color);
    match code {
        0x2504..=0x250b | 0x254c..=0x254f => cell.draw_dashes(code, shapes),
        0x256d..=0x2570 => cell.draw_arc(code, shapes),
        0x2571..=0x2573 => cell.draw_diagonals(code, shapes),
        _ => cell.draw_arms(arms(code), shapes),
    }
    true
}

fn arms(code: u32) -> [LineWeight; 4] {
    let ix = (code - 0x2500) as usize;
    let digits = ARMS[ix / 16].as_bytes();
    let at = ix % 16 * 5;
    [0, 1, 2, 3].map(|arm| match digits[at + arm] {
        b'1' => LineWeight::Light,
        b'2' => LineWeight::Heavy,
        b'3' => LineWeight::Double,
        _ => LineWeight::None,
    })
}

impl BoxCell {
    fn new(cell: Bounds<Pixels>, scale: f32, color: Hsla) -> Self {
        let snap = |value: f32| (value * scale).round() / scale;
        let (left, top) = (f32::from(cell.left()), f32::from(cell.top()));
        let (right, bottom) = (f32::from(cell.right()), f32::from(cell.bottom()));
        let light = snap((bottom - top) / 16.0).max(1.0 / scale);
        let middle = |from: f32, to: f32| snap((from + to - light) / 2.0) + light / 2.0;
        Self {
            left,
            top,
            right,
            bottom,
            x: middle(left, right),
            y: middle(top, bottom),
            light,
            color,
        }
    }

    fn quad(&self, left: f32, top: f32, right: f32, bottom: f32) -> CellShape {
        let bounds = Bounds::new(
            point(px(left), px(top)),
            size(px(right - left), px(bottom - top)),
        );
        CellShape::Quad(fill(bounds, self.color))
    }

    fn thickness(&self, weight: LineWeight) -> f32 {
        match weight {
            LineWeight::None => 0.0,
            LineWeight::Heavy => self.light * 2.0,
            LineWeight::Light | LineWeight::Double => self.light,
        }
    }

    /// Distance of the two strands of a double line from the middle.
    fn gap(&self) -> f32 {
        self.light
    }

    fn draw_arms(&self, [left, right, up, down]: [LineWeight; 4], shapes: &mut Vec<CellShape>) {
        for (weight, opposite, sign) in [(left, right, -1.0), (right, left, 1.0)] {
            for (offset, start) in self.strands(weight, opposite, up, down) {
                let half = self.thickness(weight) / 2.0;
                let (from, to) = if sign < 0.0 {
                    (self.left, self.x - start)
                } else {
                    (self.x + start, self.right)
                };
                let y = self.y + offset;
                shapes.push(self.quad(from, y - half, to, y + half));
            }
        }
        for (weight, opposite, sign) in [(up, down, -1.0), (down, up, 1.0)] {
            for (offset, start) in self.strands(weight, opposite, left, right) {
                let half = self.thickness(weight) / 2.0;
                let (from, to) = if sign < 0.0 {
                    (self.top, self.y - start)
                } else {
                    (self.y + start, self.bottom)
                };
                let x = self.x + offset;
                shapes.push(self.quad(x - half, from, x + half, to));
            }
        }
    }

    /// Returns the strands of an arm: the offset of each across the arm, and the distance from the middle at which it
    /// starts. `before` and `behind` are the arms that leave at a right angle, to the negative and the positive side.
    fn strands(
        &self,
        weight: LineWeight,
        opposite: LineWeight,
        before: LineWeight,
        behind: LineWeight,
    ) -> Vec<(f32, f32)> {
        let gap = self.gap();
        let across = self.thickness(before).max(self.thickness(behind)) / 2.0;
        let is_double = |weight| weight == LineWeight::Double;
        match weight {
            LineWeight::None => Vec::new(),
            LineWeight::Double => {
                let start = |near, far| {
                    if is_double(near) {
                        gap - self.light / 2.0
                    } else if is_double(far) {
                        -gap - self.light / 2.0
                    } else {
                        -across
                    }
                };
                vec![(-gap, start(before, behind)), (gap, start(behind, before))]
            }
            LineWeight::Light | LineWeight::Heavy => {
                let start = match (is_double(before), is_double(behind)) {
                    (true, true) if opposite == LineWeight::None => gap,
                    (true, false) | (false, true) if opposite == LineWeight::None => {
                        -gap - self.light / 2.0
                    }
                    _ => -across,
                };
                vec![(0.0, start)]
            }
        }
    }

    fn draw_dashes(&self, code: u32, shapes: &mut Vec<CellShape>) {
        let count = match code {
            0x2504..=0x2507 => 3.0,
            0x2508..=0x250b => 4.0,
            _ => 2.0,
        };
        let is_heavy = code % 2 == 1;
        let is_vertical = code & 2 != 0;
        let weight = if is_heavy {
            LineWeight::Heavy
        } else {
            LineWeight::Light
        };
        let half = self.thickness(weight) / 2.0;
        let (from, to) = if is_vertical {
            (self.top, self.bottom)
        } else {
            (self.left, self.right)
        };
        let step = (to - from) / count;
        let mut start = from + step * 0.2;
        while start < to {
            let end = start + step * 0.6;
            shapes.push(if is_vertical {
                self.quad(self.x - half, start, self.x + half, end)
            } else {
                self.quad(start, self.y - half, end, self.y + half)
            });
            start += step;
        }
    }

    fn draw_arc(&self, code: u32, shapes: &mut Vec<CellShape>) {
        let (to_right, to_bottom) = match code {
            0x256d => (true, true),
            0x256e => (false, true),
            0x256f => (false, false),
            _ => (true, false),
        };
        let x = if to_right { self.right } else { self.left };
        let y = if to_bottom { self.bottom } else { self.top };
        let radius = ((self.right - self.left) / 2.0).min((self.bottom - self.top) / 2.0);
        let turn_x = self.x + radius * if to_right { 1.0 } else { -1.0 };
        let turn_y = self.y + radius * if to_bottom { 1.0 } else { -1.0 };
        let at = |x: f32, y: f32| point(px(x), px(y));
        let mut path = PathBuilder::stroke(px(self.light));
        path.move_to(at(self.x, y));
        path.line_to(at(self.x, turn_y));
        path.curve_to(at(turn_x, self.y), at(self.x, self.y));
        path.line_to(at(x, self.y));
        CellShape::push_path(path, self.color, shapes);
    }

    fn draw_diagonals(&self, code: u32, shapes: &mut Vec<CellShape>) {
        let at = |x: f32, y: f32| point(px(x), px(y));
        let rising = (at(self.left, self.bottom), at(self.right, self.top));
        let falling = (at(self.left, self.top), at(self.right, self.bottom));
        let lines = match code {
            0x2571 => vec![rising],
            0x2572 => vec![falling],
            _ => vec![rising, falling],
        };
        for (from, to) in lines {
            let mut path = PathBuilder::stroke(px(self.light));
            path.move_to(from);
            path.line_to(to);
            CellShape::push_path(path, self.color, shapes);
        }
    }
}
