//! What letters are drawn with: fonts, sizes and the colour of every kind of syntax, looked up once.

use gpui_kit::{
    App, Font, FontId, FontStyle, FontWeight, GlyphId, HighlightStyle, Hsla, Pixels, Window, px,
};
use syntax::HighlightKind;
use ui::ActiveTheme as _;

/// How much of a letter's colour is left while it is not in the text yet.
const GHOST: f32 = 0.68;

/// Fonts and colours of one theme at one size.
pub(crate) struct Palette {
    /// Tells this palette from others.
    pub(crate) generation: u64,
    /// The scale of the screen it was made for.
    scale: f32,
    pub(crate) font: Font,
    pub(crate) font_id: FontId,
    pub(crate) size: Pixels,
    pub(crate) line_height: Pixels,
    /// Width of a cell.
    pub(crate) advance: f32,
    pub(crate) text: Hsla,
    pub(crate) muted: Hsla,
    pub(crate) error: Hsla,
    /// By the number of the kind.
    styles: Vec<Option<HighlightStyle>>,
    /// Size of the numbers in the gutter, and the width of a digit.
    pub(crate) number_size: Pixels,
    pub(crate) number_advance: f32,
    /// The shapes of 0 to 9.
    pub(crate) digits: Vec<(FontId, GlyphId)>,
}

impl Palette {
    /// What the theme in force asks for.
    pub(crate) fn of(window: &Window, cx: &App) -> Self {
        let theme = cx.theme();
        let (font, size) = (theme.code_font(), theme.code_size());
        let text_system = window.text_system();
        let font_id = text_system.resolve_font(&font);
        let advance = |size: Pixels| {
            // A font without a zero is none that code is read in; any width will do.
            text_system
                .ch_advance(font_id, size)
                .map_or(f32::from(size) * 0.6, f32::from)
        };
        // Numbers stand back: they are a little smaller than the letters.
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

    /// Whether it still is what the theme asks for.
    pub(crate) fn is_current(&self, window: &Window, cx: &App) -> bool {
        self.generation == cx.theme().generation && self.scale == window.scale_factor()
    }

    /// How a kind of syntax looks.
    pub(crate) fn style(&self, kind: HighlightKind) -> Option<HighlightStyle> {
        self.styles.get(kind as usize).copied().flatten()
    }

    /// A colour for letters that are not in the text yet.
    pub(crate) fn ghost(&self, color: Hsla) -> Hsla {
        color.opacity(GHOST)
    }

    /// The font for a style.
    pub(crate) fn font_for(&self, style: Option<&HighlightStyle>) -> Font {
        let mut font = self.font.clone();
        if let Some(style) = style {
            font.weight = style.font_weight.unwrap_or(FontWeight::NORMAL);
            font.style = style.font_style.unwrap_or(FontStyle::Normal);
        }
        font
    }

    /// What tells shapes made with this palette from others.
    pub(crate) fn key(&self) -> (u64, u32) {
        (self.generation, self.scale.to_bits())
    }
}
