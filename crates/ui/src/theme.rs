//! The active theme: semantic colours, fonts, sizes. Read with `cx.theme()`.
//!
//! Invariant: the kit's own theme is always derived from this one, so that its controls match ours.

mod kit;

use std::collections::HashMap;

use gpui_kit::{
    App, BorrowAppContext as _, Font, FontFeatures, FontStyle, FontWeight, Global, HighlightStyle,
    Hsla, Pixels, Rems, SharedString, StrikethroughStyle, UnderlineStyle, px, rems,
};
use settings::{Appearance, Colors, Rgba, Settings, SyntaxStyle};

use crate::active_settings::ActiveSettings as _;

/// Colours and fonts for rendering.
#[derive(Clone, Debug)]
pub struct Theme {
    /// Name of the theme.
    pub name: SharedString,
    /// Light or dark appearance.
    pub appearance: Appearance,
    /// Colours by semantic token.
    pub colors: Colors<Hsla>,
    /// Colours of agents 1 to 8.
    pub agents: [Hsla; 8],
    /// Fonts and their sizes.
    pub fonts: FontChoice,
    /// Counts changes of colours, fonts or zoom; caches of shaped text use it as key.
    pub generation: u64,
    styles: HashMap<SharedString, HighlightStyle>,
    source: settings::ThemeDefinition,
}

impl Global for Theme {}

impl Theme {
    /// Returns the style of a highlight kind by its dotted name. If the name has no style, returns
    /// the style of the nearest more general name, such as `string` for `string.escape`. Returns
    /// `None` for plain text.
    pub fn syntax(&self, name: &str) -> Option<HighlightStyle> {
        let mut name = name;
        loop {
            if let Some(style) = self.styles.get(name) {
                return Some(*style);
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// Returns the parsed theme, for restoring it after a preview.
    pub fn source(&self) -> &settings::ThemeDefinition {
        &self.source
    }

    /// Returns whether the theme is dark.
    pub fn is_dark(&self) -> bool {
        self.appearance == Appearance::Dark
    }

    /// Returns the font for code.
    pub fn code_font(&self) -> Font {
        let mut font = gpui_kit::font(self.fonts.code_family.clone());
        if !self.fonts.ligatures {
            font.features = FontFeatures::disable_ligatures();
        }
        if !self.fonts.code_fallbacks.is_empty() {
            font.fallbacks = Some(gpui_kit::FontFallbacks::from_fonts(
                self.fonts.code_fallbacks.clone(),
            ));
        }
        font
    }

    /// Returns the font size for code, including zoom.
    pub fn code_size(&self) -> Pixels {
        px(self.fonts.code_size * self.fonts.zoom)
    }

    /// Returns the line height for code, including zoom, rounded to whole pixels so that rows are
    /// not blurred.
    pub fn code_line_height(&self) -> Pixels {
        px(
            (self.fonts.code_size * self.fonts.zoom * self.fonts.code_line_height)
                .round()
                .max(1.0),
        )
    }

    /// Converts a height in unzoomed pixels into a number of line heights of code.
    pub fn code_lines(&self, pixels: f32) -> f32 {
        pixels * self.fonts.zoom / f32::from(self.code_line_height()).max(1.0)
    }

    /// Returns the scale factor of the interface relative to the design.
    pub fn scale(&self) -> f32 {
        self.fonts.zoom * self.fonts.ui_size / DESIGN_TEXT
    }
}

/// Provides the active theme. (The kit has a trait of the same name; import this one.)
pub trait ActiveTheme {
    /// Returns the active theme.
    fn theme(&self) -> &Theme;
}

impl ActiveTheme for App {
    fn theme(&self) -> &Theme {
        self.global::<Theme>()
    }
}

/// Font families, sizes, and the zoom.
#[derive(Clone, Debug, PartialEq)]
pub struct FontChoice {
    /// Font family of the interface.
    pub ui_family: SharedString,
    /// Font size of the interface at zoom 1, in pixels.
    pub ui_size: f32,
    /// Font family for code.
    pub code_family: SharedString,
    /// Fallback families for characters missing in the code font.
    pub code_fallbacks: Vec<String>,
    /// Font size for code at zoom 1, in pixels.
    pub code_size: f32,
    /// Line height as a multiple of the font size.
    pub code_line_height: f32,
    /// Whether ligatures are enabled.
    pub ligatures: bool,
    /// Zoom factor of the whole window.
    pub zoom: f32,
}

impl FontChoice {
    /// Reads the fonts from the settings.
    pub fn from_settings(settings: &Settings) -> Self {
        Self {
            ui_family: settings.ui.font_family.clone().into(),
            ui_size: settings.ui.font_size,
            code_family: settings.editor.font_family.clone().into(),
            code_fallbacks: settings.editor.font_fallbacks.clone(),
            code_size: settings.editor.font_size,
            code_line_height: settings.editor.line_height,
            ligatures: settings.editor.ligatures,
            zoom: settings.window.zoom,
        }
    }
}

/// Font size for which the design's pixels are given.
const DESIGN_TEXT: f32 = 13.0;

/// One rem in design pixels. The kit's small text is 0.875 rem, which yields the design's 13
/// pixels.
pub(crate) const REM: f32 = DESIGN_TEXT / 0.875;

/// Converts design pixels into rems, which scale with the zoom and the interface font size.
pub fn dp(pixels: f32) -> Rems {
    rems(pixels / REM)
}

/// Returns steps of the four-pixel grid: `space(2)` is eight design pixels.
pub fn space(steps: f32) -> Rems {
    dp(steps * 4.0)
}

/// Returns the height of a row in lists (28 design pixels) and dense trees (24), in real pixels.
pub fn row_height(dense: bool, cx: &App) -> Pixels {
    px(((if dense { 24.0 } else { 28.0 }) * cx.theme().scale()).round())
}

/// Sets Burin's default theme with the fonts of the settings.
pub(crate) fn init(cx: &mut App) {
    let fallback = settings::builtin::THEMES
        .iter()
        .find_map(|(name, text)| settings::parse_theme(name, text).0)
        .expect("a test reads every theme that comes with the program");
    let fonts = FontChoice::from_settings(cx.settings());
    cx.set_global(build(&fallback, fonts, 0));
    kit::follow(cx);
}

/// Sets the active theme, for Burin's controls and the kit's. Notifies observers of the global
/// `Theme`, unless the theme is unchanged.
pub fn set_theme(theme: &settings::ThemeDefinition, cx: &mut App) {
    if cx.theme().source == *theme {
        return;
    }
    let (fonts, generation) = (cx.theme().fonts.clone(), cx.theme().generation + 1);
    cx.update_global::<Theme, _>(|current, _| *current = build(theme, fonts, generation));
    kit::follow(cx);
}

/// Sets the fonts and the zoom. Does nothing before `init`, or if the fonts and the zoom are
/// unchanged.
pub fn set_fonts(fonts: FontChoice, cx: &mut App) {
    if !cx.has_global::<Theme>() || cx.theme().fonts == fonts {
        return;
    }
    cx.update_global::<Theme, _>(|theme, _| {
        theme.fonts = fonts;
        theme.generation += 1;
    });
    kit::follow(cx);
}

fn build(source: &settings::ThemeDefinition, fonts: FontChoice, generation: u64) -> Theme {
    Theme {
        name: source.name.clone().into(),
        appearance: source.appearance,
        colors: source.colors.map(hsla),
        agents: source.agents.map(hsla),
        fonts,
        generation,
        styles: source
            .syntax
            .iter()
            .map(|(name, style)| (name.clone().into(), highlight(style)))
            .collect(),
        source: source.clone(),
    }
}

fn hsla(color: Rgba) -> Hsla {
    let part = |part: u8| f32::from(part) / 255.0;
    gpui_kit::Rgba {
        r: part(color.r),
        g: part(color.g),
        b: part(color.b),
        a: part(color.a),
    }
    .into()
}

fn highlight(style: &SyntaxStyle) -> HighlightStyle {
    let color = hsla(style.color);
    HighlightStyle {
        color: Some(color),
        font_weight: style.bold.then_some(FontWeight::BOLD),
        font_style: style.italic.then_some(FontStyle::Italic),
        underline: style.underline.then(|| UnderlineStyle {
            thickness: px(1.0),
            color: Some(color),
            wavy: false,
        }),
        strikethrough: style.strikethrough.then(|| StrikethroughStyle {
            thickness: px(1.0),
            color: Some(color),
        }),
        ..HighlightStyle::default()
    }
}

#[cfg(test)]
mod tests;
