//! Fonts, sizes and syntax colours for drawing text, resolved once per theme.

use gpui_kit::{
    App, Font, FontId, FontStyle, FontWeight, GlyphId, HighlightStyle, Hsla, Pixels, Window, px,
};
use syntax::HighlightKind;
use ui::ActiveTheme as _;

/// Opacity of suggested text.
const GHOST: f32 = 0.68;

/// Fonts, sizes and colours for painting code, resolved from one theme at one size.
pub(crate) struct Palette {
    /// Distinguishes this palette from others.
    pub(crate) generation: u64,
    /// Scale factor of the screen.
    scale: f32,
    pub(crate) font: Font,
    pub(crate) font_id: FontId,
    pub(crate) size: Pixels,
    pub(crate) line_height: Pixels,
    /// Width of a cell, in pixels.
    pub(crate) advance: f32,
    pub(crate) text: Hsla,
    pub(crate) muted: Hsla,
    pub(crate) error: Hsla,
    /// Styles indexed by highlight kind.
    styles: Vec<Option<HighlightStyle>>,
    /// Font size of the line numbers, and the width of a digit.
    pub(crate) number_size: Pixels,
    pub(crate) number_advance: f32,
    /// Glyphs of the digits 0 to 9.
    pub(crate) digits: Vec<(FontId, GlyphId)>,
}

impl Palette {
    /// Resolves fonts and colours of the active theme for a window.
    pub(crate) fn of(window: &Window, cx: &App) -> Self {
        let theme = cx.theme();
        let (font, size) = (theme.code_font(), theme.code_size());
        let text_system = window.text_system();
        let font_id = text_system.resolve_font(&font);
        let advance = |size: Pixels| {
            // A font without a zero is unusable for code; any width will do.
            text_system
                .ch_advance(font_id, size)
                .map_or(f32::from(size) * 0.6, f32::from)
        };
        // Line numbers are slightly smaller than the text.
        let number_size = px((f32::from(size) * 0.86).round());
        let numbers = "0123456789";
        let run = gpui_kit::TextRun {
            len: numbers.len(),
            font: font.clone(),
            color: theme.colors.line_number,
            background_color: None,
            underline: None,
            strikethrough: None,
        };
        let shaped = text_system.layout_line(numbers, number_size, &[run], None);
        let digits = shaped
            .runs
            .iter()
            .flat_map(|run| run.glyphs.iter().map(|glyph| (run.font_id, glyph.id)))
            .collect();
        Self {
            generation: theme.generation,
            scale: window.scale_factor(),
            advance: advance(size).max(1.0),
            number_advance: advance(number_size).max(1.0),
            font,
            font_id,
            size,
            line_height: theme.code_line_height(),
            text: theme.colors.text,
            muted: theme.colors.muted,
            error: theme.colors.error,
            styles: HighlightKind::all()
                .iter()
                .map(|kind| theme.syntax(kind.name()))
                .collect(),
            number_size,
            digits,
        }
    }

    /// Returns whether the palette still matches the active theme and the scale of the screen.
    pub(crate) fn is_current(&self, window: &Window, cx: &App) -> bool {
        self.generation == cx.theme().generation && self.scale == window.scale_factor()
    }

    /// Returns the theme's style of a highlight kind. Returns `None` for plain text.
    pub(crate) fn style(&self, kind: HighlightKind) -> Option<HighlightStyle> {
        self.styles.get(kind as usize).copied().flatten()
    }

    /// Returns a colour made paler, for suggested text.
    pub(crate) fn ghost(&self, color: Hsla) -> Hsla {
        color.opacity(GHOST)
    }

    /// Returns the code font with the weight and slant of a style.
    pub(crate) fn font_for(&self, style: Option<&HighlightStyle>) -> Font {
        let mut font = self.font.clone();
        if let Some(style) = style {
            font.weight = style.font_weight.unwrap_or(FontWeight::NORMAL);
            font.style = style.font_style.unwrap_or(FontStyle::Normal);
        }
        font
    }

    /// Returns the key of the shape caches: two palettes with the same key produce the same shapes.
    pub(crate) fn key(&self) -> (u64, u32) {
        (self.generation, self.scale.to_bits())
    }
}
