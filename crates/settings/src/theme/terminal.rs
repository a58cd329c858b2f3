//! The colours of terminals.
//!
//! Invariant: a theme without colours of its own for terminals gets them from its other colours.

use std::collections::BTreeMap;

use super::{Appearance, Colors, SyntaxStyle};
use crate::color::Rgba;

/// Start of the keys of these colours in a theme.
pub(super) const PREFIX: &str = "terminal.";

/// Names of the colours of the ANSI palette, in its order.
const ANSI_NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright_black",
    "bright_red",
    "bright_green",
    "bright_yellow",
    "bright_blue",
    "bright_magenta",
    "bright_cyan",
    "bright_white",
];

/// Names of the other colours, with the names that Visual Studio Code has for them.
const PLAIN_NAMES: [(&str, &str); 4] = [
    ("terminal.background", "terminal.background"),
    ("terminal.foreground", "terminal.foreground"),
    ("terminal.cursor", "terminalCursor.foreground"),
    ("terminal.selection", "terminal.selectionBackground"),
];

/// Colours of terminals, of type `C`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TerminalColors<C> {
    /// Background of cells without a colour.
    pub background: C,
    /// Characters without a colour.
    pub foreground: C,
    /// The cursor.
    pub cursor: C,
    /// Background of selected cells.
    pub selection: C,
    /// The palette: black, red, green, yellow, blue, magenta, cyan and white, then their bright forms.
    pub ansi: [C; 16],
}

/// Names the keys of the colours in a theme, for its schema and for hints.
pub(crate) fn terminal_color_names() -> impl Iterator<Item = String> {
    let plain = PLAIN_NAMES.iter().map(|(name, _)| (*name).to_owned());
    plain.chain(
        ANSI_NAMES
            .iter()
            .map(|name| format!("terminal.ansi.{name}")),
    )
}

/// Returns the own name of a key, which may be written as Visual Studio Code does (`terminal.ansiBrightRed`). Returns
/// `None` for other keys.
pub(super) fn own_name(key: &str) -> Option<String> {
    let plain = PLAIN_NAMES
        .iter()
        .find(|(own, foreign)| key == *own || key == *foreign);
    if let Some((own, _)) = plain {
        return Some((*own).to_owned());
    }
    let ansi = ANSI_NAMES
        .iter()
        .find(|name| key == format!("terminal.ansi.{name}") || key == foreign_ansi_name(name))?;
    Some(format!("terminal.ansi.{ansi}"))
}

/// Converts `bright_red` to `terminal.ansiBrightRed`.
fn foreign_ansi_name(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    "terminal.ansi".to_owned() + &words.collect::<String>()
}

/// Builds the colours from those in the file, by own name, and from the theme's other colours.
pub(super) fn terminal_colors(
    found: &BTreeMap<String, Rgba>,
    colors: &Colors<Rgba>,
    syntax: &BTreeMap<String, SyntaxStyle>,
    appearance: Appearance,
) -> TerminalColors<Rgba> {
    let or = |name: &str, other: Rgba| found.get(name).copied().unwrap_or(other);
    let palette = derived_palette(colors, syntax, appearance);
    let mut ansi = palette;
    for (color, name) in ansi.iter_mut().zip(ANSI_NAMES) {
        *color = or(&format!("terminal.ansi.{name}"), *color);
    }
    TerminalColors {
        background: or("terminal.background", colors.surface),
        foreground: or("terminal.foreground", colors.text),
        cursor: or("terminal.cursor", colors.caret),
        selection: or("terminal.selection", colors.selection),
        ansi,
    }
}

fn derived_palette(
    colors: &Colors<Rgba>,
    syntax: &BTreeMap<String, SyntaxStyle>,
    appearance: Appearance,
) -> [Rgba; 16] {
    let kind = |name: &str, other: Rgba| syntax.get(name).map_or(other, |style| style.color);
    let normal = [
        colors.error,
        colors.success,
        colors.warning,
        colors.info,
        kind("keyword", colors.info),
        kind("type", colors.success),
    ];
    let bright = normal.map(|color| toward(color, colors.text));
    let (black, white, bright_white) = match appearance {
        Appearance::Dark => (colors.border_strong, colors.text, colors.text),
        Appearance::Light => (colors.text, colors.muted, colors.disabled),
    };
    let mut palette = [black; 16];
    palette[1..7].copy_from_slice(&normal);
    palette[7] = white;
    palette[8] = colors.muted;
    palette[9..15].copy_from_slice(&bright);
    palette[15] = bright_white;
    palette
}

/// Moves a colour a third of the way to the colour of text, which raises its contrast.
fn toward(color: Rgba, text: Rgba) -> Rgba {
    Rgba { a: 85, ..text }.blend_over(color)
}
