//! Colours of cells: palette, changes by the program, inversion, faintness, and a minimum contrast.

use std::cell::RefCell;
use std::collections::HashMap;

use gpui_kit::Hsla;
use settings::{Rgba, TerminalColors, contrast};
use terminal::{CellStyle, ColorSlot, TerminalColor};

/// The lowest contrast of characters and their background: level AA of WCAG 2.
const LOWEST_CONTRAST: f64 = 4.5;

/// Opacity of faint characters.
const DIM: f32 = 0.66;

/// Number of remembered pairs of colours, after which all are forgotten.
const MAX_PAIRS: usize = 4096;

/// Resolves colours of cells.
pub(crate) struct CellColors {
    theme: TerminalColors<Rgba>,
    changed: Vec<(ColorSlot, Rgba)>,
    /// Characters by their own colour and background.
    readable: RefCell<HashMap<(Rgba, Rgba), Rgba>>,
}

/// The colours of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ResolvedColors {
    /// The character, with enough contrast.
    pub(crate) text: Hsla,
    /// The character as drawn by quads, which keeps its colour: separators must match the background beside them.
    pub(crate) drawn: Hsla,
    /// The background; `None` is that of the terminal.
    pub(crate) ground: Option<Hsla>,
    /// The underline.
    pub(crate) underline: Hsla,
}

impl CellColors {
    /// Creates the colours of a theme, with those that the program changed.
    pub(crate) fn new(theme: TerminalColors<Rgba>, changed: &[(ColorSlot, (u8, u8, u8))]) -> Self {
        let changed = changed
            .iter()
            .map(|(slot, (r, g, b))| (*slot, opaque(*r, *g, *b)))
            .collect();
        Self {
            theme,
            changed,
            readable: RefCell::default(),
        }
    }

    /// Returns a colour that a program can query.
    pub(crate) fn slot(&self, slot: ColorSlot) -> Rgba {
        let changed = self.changed.iter().find(|(of, _)| *of == slot);
        if let Some((_, color)) = changed {
            return *color;
        }
        match slot {
            ColorSlot::Foreground => self.theme.foreground,
            ColorSlot::Background => self.theme.background,
            ColorSlot::Cursor => self.theme.cursor,
            ColorSlot::Palette(ix @ 0..=15) => self.theme.ansi[usize::from(ix)],
            ColorSlot::Palette(ix) => xterm(ix),
        }
    }

    /// Returns the colours that a program can query, by `ColorSlot::index`.
    pub(crate) fn queried(&self) -> Vec<(u8, u8, u8)> {
        let colors = ColorSlot::all().map(|slot| self.slot(slot));
        colors.map(|color| (color.r, color.g, color.b)).collect()
    }

    /// Returns the background of the terminal.
    pub(crate) fn background(&self) -> Hsla {
        hsla(self.slot(ColorSlot::Background))
    }

    /// Returns the colour of the cursor.
    pub(crate) fn cursor(&self) -> Hsla {
        hsla(self.slot(ColorSlot::Cursor))
    }

    /// Returns the colour of a character under a filled cursor.
    pub(crate) fn under_cursor(&self) -> Hsla {
        let cursor = self.slot(ColorSlot::Cursor);
        hsla(self.readable(self.slot(ColorSlot::Background), cursor))
    }

    /// Returns the background of selected cells.
    pub(crate) fn selection(&self) -> Hsla {
        hsla(self.theme.selection)
    }

    /// Resolves the colours of a style.
    pub(crate) fn resolve(&self, style: &CellStyle) -> ResolvedColors {
        let mut front = self.color(style.foreground, ColorSlot::Foreground);
        let mut back = self.color(style.background, ColorSlot::Background);
        let mut has_ground = style.background != TerminalColor::Default;
        if style.is_inverse {
            std::mem::swap(&mut front, &mut back);
            has_ground = true;
        }
        let strength = if style.is_dim { DIM } else { 1.0 };
        let text = hsla(self.readable(front, back)).opacity(strength);
        let underline = match style.underline_color {
            Some(color) => hsla(self.color(color, ColorSlot::Foreground)),
            None => text,
        };
        ResolvedColors {
            text,
            drawn: hsla(front).opacity(strength),
            ground: has_ground.then(|| hsla(back)),
            underline,
        }
    }

    fn color(&self, color: TerminalColor, default: ColorSlot) -> Rgba {
        match color {
            TerminalColor::Default => self.slot(default),
            TerminalColor::Palette(ix) => self.slot(ColorSlot::Palette(ix)),
            TerminalColor::Rgb(r, g, b) => opaque(r, g, b),
        }
    }

    /// Moves a colour towards black or white until it can be read on a background.
    fn readable(&self, front: Rgba, back: Rgba) -> Rgba {
        if let Some(known) = self.readable.borrow().get(&(front, back)) {
            return *known;
        }
        let found = with_contrast(front, back);
        let mut readable = self.readable.borrow_mut();
        if readable.len() >= MAX_PAIRS {
            readable.clear();
        }
        readable.insert((front, back), found);
        found
    }
}

fn with_contrast(front: Rgba, back: Rgba) -> Rgba {
    if contrast(front, back) >= LOWEST_CONTRAST {
        return front;
    }
    let (black, white) = (opaque(0, 0, 0), opaque(255, 255, 255));
    let toward = if contrast(white, back) >= contrast(black, back) {
        white
    } else {
        black
    };
    // Steps of an eighth keep as much of the colour as possible.
    let steps = (1..8u8).map(|step| {
        Rgba {
            a: step * 32,
            ..toward
        }
        .blend_over(front)
    });
    steps
        .into_iter()
        .find(|color| contrast(*color, back) >= LOWEST_CONTRAST)
        .unwrap_or(toward)
}

const fn opaque(r: u8, g: u8, b: u8) -> Rgba {
    Rgba { r, g, b, a: 255 }
}

/// Returns a colour of xterm's cube (16 to 231) or greys (232 to 255).
fn xterm(ix: u8) -> Rgba {
    if ix >= 232 {
        let grey = 8 + (ix - 232) * 10;
        return opaque(grey, grey, grey);
    }
    let ix = ix.saturating_sub(16);
    let part = |value: u8| if value == 0 { 0 } else { 55 + value * 40 };
    opaque(part(ix / 36), part(ix / 6 % 6), part(ix % 6))
}

/// Converts a colour for painting.
pub(crate) fn hsla(color: Rgba) -> Hsla {
    let part = |part: u8| f32::from(part) / 255.0;
    gpui_kit::Rgba {
        r: part(color.r),
        g: part(color.g),
        b: part(color.b),
        a: part(color.a),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use settings::{Rgba, builtin, contrast, parse_theme};
    use terminal::{CellStyle, ColorSlot, TerminalColor};

    use super::{CellColors, LOWEST_CONTRAST, hsla, opaque, with_contrast, xterm};

    fn colors(changed: &[(ColorSlot, (u8, u8, u8))]) -> CellColors {
        let (name, text) = builtin::THEMES[0];
        CellColors::new(parse_theme(name, text).0.unwrap().terminal, changed)
    }

    #[test]
    fn unreadable_colours_are_moved_and_others_kept() {
        for back in [0x16_18_1d, 0xff_ff_ff, 0x80_80_80, 0xff_00_00, 0x00_40_80].map(Rgba::from_hex)
        {
            for front in
                [0x00_00_00, 0xff_ff_ff, 0x80_80_80, 0x20_20_ff, 0x44_4b_58].map(Rgba::from_hex)
            {
                let shown = with_contrast(front, back);
                assert!(
                    contrast(shown, back) >= LOWEST_CONTRAST,
                    "{front} on {back}: {shown}"
                );
                assert!(contrast(front, back) < LOWEST_CONTRAST || shown == front);
            }
        }
    }

    #[test]
    fn inverse_cells_exchange_the_colours_of_the_theme() {
        let colors = colors(&[]);
        let plain = colors.resolve(&CellStyle::default());
        assert_eq!(plain.ground, None);
        let inverse = colors.resolve(&CellStyle {
            is_inverse: true,
            ..CellStyle::default()
        });
        assert_eq!(inverse.ground, Some(plain.text));
        assert_eq!(inverse.text, colors.background());
        let dim = colors.resolve(&CellStyle {
            is_dim: true,
            ..CellStyle::default()
        });
        assert_eq!(dim.text, plain.text.opacity(0.66));
    }

    #[test]
    fn programs_replace_colours_of_the_palette() {
        let colors = colors(&[(ColorSlot::Palette(1), (255, 200, 200))]);
        let style = CellStyle {
            foreground: TerminalColor::Palette(1),
            ..CellStyle::default()
        };
        assert_eq!(colors.resolve(&style).text, hsla(opaque(255, 200, 200)));
        assert_eq!(xterm(16), opaque(0, 0, 0));
        assert_eq!(xterm(231), opaque(255, 255, 255));
        assert_eq!(xterm(232), opaque(8, 8, 8));
    }
}
