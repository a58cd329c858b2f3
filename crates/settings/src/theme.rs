//! Themes: a name, light or dark, a colour for every token, and a style for every kind of syntax.
//!
//! Invariant: a `Theme` has every token. What a file leaves out comes from Burin's own theme of the same
//! appearance, and a problem says so.

mod read;
mod tokens;

use std::collections::BTreeMap;

use crate::color::Rgba;

pub use read::parse_theme;
pub use tokens::{COLOR_TOKENS, Colors, SYNTAX_NAMES};

/// How many colours tell agents apart.
pub(crate) const AGENTS: usize = 8;

/// A complete theme.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// The name that settings choose it by.
    pub name: String,
    /// Light or dark.
    pub appearance: Appearance,
    /// Colours by meaning.
    pub colors: Colors<Rgba>,
    /// Colours of agents 1 to 8; they differ in hue and in lightness.
    pub agents: [Rgba; AGENTS],
    /// Styles by the dotted name of a kind of syntax. See `syntax`.
    pub syntax: BTreeMap<String, SyntaxStyle>,
}

/// Whether a theme is light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appearance {
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

/// How one kind of syntax looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxStyle {
    /// Colour of the letters.
    pub color: Rgba,
    /// Bold letters.
    pub bold: bool,
    /// Italic letters.
    pub italic: bool,
    /// A line under the letters.
    pub underline: bool,
    /// A line through the letters.
    pub strikethrough: bool,
}

impl Theme {
    /// The style for `function.method`, or else for `function`; plain text has none.
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
