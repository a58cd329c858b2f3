//! The theme in force: colours by meaning, fonts, sizes. `cx.theme()` reads it.
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

/// What every view draws with.
#[derive(Clone, Debug)]
pub struct Theme {
    /// The theme's name.
    pub name: SharedString,
    /// Light or dark.
    pub appearance: Appearance,
    /// Colours by meaning.
    pub colors: Colors<Hsla>,
    /// Colours of agents 1 to 8.
    pub agents: [Hsla; 8],
    /// Fonts and sizes.
    pub fonts: FontChoice,
    /// Counts changes of colours, fonts or zoom; caches of shaped text key on it.
    pub generation: u64,
    styles: HashMap<SharedString, HighlightStyle>,
    source: settings::Theme,
}

impl Global for Theme {}

impl Theme {
    /// How a kind of syntax looks, by its dotted name; `None` means plain text.
    pub fn syntax(&self, name: &str) -> Option<HighlightStyle> {
        let mut name = name;
        loop {
            if let Some(style) = self.styles.get(name) {
                return Some(*style);
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// The theme as it was read, for a preview that is taken back.
    pub fn source(&self) -> &settings::Theme {
        &self.source
    }

    /// Whether light letters stand on dark ground.
    pub fn is_dark(&self) -> bool {
        self.appearance == Appearance::Dark
    }

    /// The font of the text area.
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

    /// Size of the text area's letters, zoom included.
    pub fn code_size(&self) -> Pixels {
        px(self.fonts.code_size * self.fonts.zoom)
    }

    /// Height of a line of text, zoom included, in whole pixels so that rows do not blur.
    pub fn code_line_height(&self) -> Pixels {
        px(
            (self.fonts.code_size * self.fonts.zoom * self.fonts.code_line_height)
                .round()
                .max(1.0),
        )
    }

    /// A height in pixels, before zooming, counted in heights of lines of text.
    pub fn code_lines(&self, pixels: f32) -> f32 {
        pixels * self.fonts.zoom / f32::from(self.code_line_height()).max(1.0)
    }

    /// How much larger than designed everything around the text is drawn.
    pub fn scale(&self) -> f32 {
        self.fonts.zoom * self.fonts.ui_size / DESIGN_TEXT
    }
}

/// Reads the theme in force. (The kit has a trait of the same name; import this one.)
pub trait ActiveTheme {
    /// What to draw with.
    fn theme(&self) -> &Theme;
}

impl ActiveTheme for App {
    fn theme(&self) -> &Theme {
        self.global::<Theme>()
    }
}

/// Fonts, their sizes, and the zoom.
#[derive(Clone, Debug, PartialEq)]
pub struct FontChoice {
    /// Family around the text.
    pub ui_family: SharedString,
    /// Its size at zoom 1, in pixels.
    pub ui_size: f32,
    /// Family of the text.
    pub code_family: SharedString,
    /// Families for what that one lacks.
    pub code_fallbacks: Vec<String>,
    /// Size of the text at zoom 1, in pixels.
    pub code_size: f32,
    /// Height of a line as a multiple of the size.
    pub code_line_height: f32,
    /// Whether characters are joined into one sign.
    pub ligatures: bool,
    /// Size of everything.
    pub zoom: f32,
}

impl FontChoice {
    /// What the settings ask for.
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

/// The size that the design's pixels are given at.
const DESIGN_TEXT: f32 = 13.0;

/// One rem in design pixels. The kit's small text is 0.875 rem: it comes out at the design's 13 pixels.
pub(crate) const REM: f32 = DESIGN_TEXT / 0.875;

/// A length in design pixels, which the zoom and the size of the window's font scale.
pub fn dp(pixels: f32) -> Rems {
    rems(pixels / REM)
}

/// Steps of the four-pixel grid: `space(2)` is eight design pixels.
pub fn space(steps: f32) -> Rems {
    dp(steps * 4.0)
}

/// Height of a row in lists (28) and in dense trees (24), in real pixels.
pub fn row_height(dense: bool, cx: &App) -> Pixels {
    px(((if dense { 24.0 } else { 28.0 }) * cx.theme().scale()).round())
}

pub(crate) fn init(cx: &mut App) {
    let fallback = settings::builtin::THEMES
        .iter()
        .find_map(|(name, text)| settings::parse_theme(name, text).0)
        .expect("a test reads every theme that comes with the program");
    let fonts = FontChoice::from_settings(cx.settings());
    cx.set_global(build(&fallback, fonts, 0));
    kit::follow(cx);
}

/// Draws with another theme from now on. Observers of the global `Theme` hear of it.
pub fn set_theme(theme: &settings::Theme, cx: &mut App) {
    if cx.theme().source == *theme {
        return;
    }
    let (fonts, generation) = (cx.theme().fonts.clone(), cx.theme().generation + 1);
    cx.update_global::<Theme, _>(|current, _| *current = build(theme, fonts, generation));
    kit::follow(cx);
}

/// Draws with other fonts or another zoom from now on.
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

fn build(source: &settings::Theme, fonts: FontChoice, generation: u64) -> Theme {
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
