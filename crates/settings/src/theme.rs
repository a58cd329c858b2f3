//! Themes: a name, an appearance, a colour for every token, and a style for every highlight kind.
//!
//! Invariant: a `ThemeDefinition` has every token. Colours missing in a file come from Burin's theme of the
//! same appearance, and a problem reports them.

mod read;
mod terminal;
mod tokens;

use std::collections::BTreeMap;

use crate::color::Rgba;

pub use read::parse_theme;
pub use terminal::TerminalColors;
pub(crate) use terminal::terminal_color_names;
pub use tokens::{COLOR_TOKENS, Colors, SYNTAX_NAMES};

/// Number of colours for distinguishing agents.
pub(crate) const AGENTS: usize = 8;

/// A theme as parsed from its file, with a value for every colour token.
#[derive(Clone, Debug, PartialEq)]
pub struct ThemeDefinition {
    /// Name by which the settings select it.
    pub name: String,
    /// Light or dark appearance.
    pub appearance: Appearance,
    /// Colours by semantic token.
    pub colors: Colors<Rgba>,
    /// Colours of terminals.
    pub terminal: TerminalColors<Rgba>,
    /// Colours of agents 1 to 8; they differ in hue and in lightness.
    pub agents: [Rgba; AGENTS],
    /// Styles by dotted name of a highlight kind, without inherited ones; look up with `syntax`.
    pub syntax: BTreeMap<String, SyntaxStyle>,
}

/// Appearance of a theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appearance {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

/// Colour and typeface of text of a highlight kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxStyle {
    /// Colour of the text.
    pub color: Rgba,
    /// Whether the text is bold.
    pub bold: bool,
    /// Whether the text is italic.
    pub italic: bool,
    /// Whether the text is underlined.
    pub underline: bool,
    /// Whether the text is struck through.
    pub strikethrough: bool,
}

impl ThemeDefinition {
    /// Returns the style of a highlight kind such as `function.method`, or else that of `function`;
    /// `None` if neither has one, so that the text is plain.
    pub fn syntax(&self, name: &str) -> Option<SyntaxStyle> {
        let mut name = name;
        loop {
            if let Some(style) = self.syntax.get(name) {
                return Some(*style);
            }
            name = name.rsplit_once('.')?.0;
        }
    }
}

#[cfg(test)]
mod tests;
