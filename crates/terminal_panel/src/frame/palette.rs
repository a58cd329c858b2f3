//! Fonts, sizes and colours of a terminal, resolved once for a theme and a screen.

use gpui_kit::{App, Font, FontStyle, FontWeight, Pixels, Window, px};
use terminal::{CellStyle, ColorSlot};
use ui::{ActiveSettings as _, ActiveTheme as _};

use super::colors::CellColors;

/// Fonts, sizes and colours for shaping and painting.
pub(crate) struct Palette {
    key: PaletteKey,
    font: Font,
    pub(crate) size: Pixels,
    /// Width of a cell, in whole pixels of the screen.
    pub(crate) advance: Pixels,
    /// Height of a row, in whole pixels of the screen.
    pub(crate) line_height: Pixels,
    /// Distance from the top of a row to its baseline.
    pub(crate) baseline: Pixels,
    /// Scale factor of the screen.
    pub(crate) scale: f32,
    pub(crate) colors: CellColors,
}

/// Everything that a palette follows from.
#[derive(Clone, PartialEq)]
struct PaletteKey {
    theme: u64,
    scale: f32,
    family: String,
    size: f32,
    line_height: f32,
    colors: Vec<(ColorSlot, (u8, u8, u8))>,
}

impl PaletteKey {
    fn of(colors: &[(ColorSlot, (u8, u8, u8))], window: &Window, cx: &App) -> Self {
        let (theme, settings) = (cx.theme(), &cx.settings().terminal);
        let family = match settings.font_family.as_str() {
            "" => theme.fonts.code_family.to_string(),
            family => family.to_owned(),
        };
        Self {
            theme: theme.generation,
            scale: window.scale_factor(),
            family,
            size: settings.font_size * theme.fonts.zoom,
            line_height: settings.line_height,
            colors: colors.to_vec(),
        }
    }
}

impl Palette {
    /// Resolves fonts and colours. `colors` are those that the program changed.
    pub(crate) fn new(colors: &[(ColorSlot, (u8, u8, u8))], window: &Window, cx: &App) -> Self {
        let key = PaletteKey::of(colors, window, cx);
        let mut font = cx.theme().code_font();
        font.family = key.family.clone().into();
        // Ligatures would join cells.
        font.features = gpui_kit::FontFeatures::disable_ligatures();
        let (size, scale) = (px(key.size), key.scale);
        let text_system = window.text_system();
        let font_id = text_system.resolve_font(&font);
        let snap = |value: f32| ((value * scale).round() / scale).max(1.0 / scale);
        // A font without a zero is unusable for text; any width will do.
        let advance = text_system
            .ch_advance(font_id, size)
            .map_or(key.size * 0.6, f32::from);
        let line_height = px(snap(key.size * key.line_height));
        let ascent = text_system.ascent(font_id, size);
        // Font metrics count the descent downwards on some platforms and upwards on others.
        let descent = text_system.descent(font_id, size).abs();
        let theme = cx.theme().source().terminal;
        Self {
            font,
            size,
            advance: px(snap(advance)),
            line_height,
            baseline: ((line_height - ascent - descent) / 2.0 + ascent).round(),
            scale,
            colors: CellColors::new(theme, colors),
            key,
        }
    }

    /// Returns whether the palette still matches the theme, the settings, the screen and the program's colours.
    pub(crate) fn is_current(
        &self,
        colors: &[(ColorSlot, (u8, u8, u8))],
        window: &Window,
        cx: &App,
    ) -> bool {
        self.key == PaletteKey::of(colors, window, cx)
    }

    /// Returns the font of a style.
    pub(crate) fn font_of(&self, style: &CellStyle) -> Font {
        let mut font = self.font.clone();
        if style.is_bold {
            font.weight = FontWeight::BOLD;
        }
        if style.is_italic {
            font.style = FontStyle::Italic;
        }
        font
    }
}
