//! Rows of cells with their styles, as a view draws them.

use std::ops::Range;
use std::sync::Arc;

/// A row of the view.
///
/// Rows are shared between snapshots: an unchanged row has the same `generation` in each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalRow {
    /// Identifies the content: two rows of one terminal with equal generations are equal.
    pub generation: u64,
    /// The cells from column 0 on. Blank cells of the default style at the end are omitted.
    pub cells: Vec<TerminalCell>,
    /// The styles of all `cells`, sorted and adjacent.
    pub runs: Vec<StyleRun>,
    /// Whether the text goes on in the next row without a newline.
    pub is_wrapped: bool,
}

/// A cell of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TerminalCell {
    /// The character; a space in a blank cell and in the second cell of a wide character.
    pub character: char,
    /// The zero-width characters that combine with `character`.
    pub combining: Option<Arc<str>>,
    /// The number of columns of the character.
    pub width: CellWidth,
}

/// The role of a cell in a character of one or two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellWidth {
    /// A character of one column.
    Single,
    /// The first cell of a character of two columns.
    Wide,
    /// The second cell of a wide character, or the unused last cell of a row before one that did not fit.
    Spacer,
}

/// Adjacent cells of one style.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StyleRun {
    /// The columns of the cells.
    pub columns: Range<u16>,
    /// The style of the cells.
    pub style: CellStyle,
    /// The target of the hyperlink (OSC 8) that the cells belong to, unfiltered: see `link_target`.
    pub link: Option<Arc<str>>,
}

/// The look of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellStyle {
    /// The colour of the character; `Default` is the theme's foreground.
    pub foreground: TerminalColor,
    /// The colour behind the character; `Default` is the theme's background.
    pub background: TerminalColor,
    /// The line below the character.
    pub underline: Underline,
    /// The colour of the underline; `None` is the colour of the character.
    pub underline_color: Option<TerminalColor>,
    /// Whether the character is bold.
    pub is_bold: bool,
    /// Whether the character is faint.
    pub is_dim: bool,
    /// Whether the character is italic.
    pub is_italic: bool,
    /// Whether foreground and background are exchanged.
    pub is_inverse: bool,
    /// Whether the character is invisible.
    pub is_hidden: bool,
    /// Whether the character is struck out.
    pub is_struck: bool,
}

/// A colour of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminalColor {
    /// The theme's foreground or background.
    Default,
    /// A colour of the palette: 0 to 7 normal, 8 to 15 bright, then the cube and the greys of xterm.
    Palette(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// The line below a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Underline {
    /// No line.
    None,
    /// One straight line.
    Single,
    /// Two straight lines.
    Double,
    /// A wave.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

impl Default for CellStyle {
    fn default() -> Self {
        Self {
            foreground: TerminalColor::Default,
            background: TerminalColor::Default,
            underline: Underline::None,
            underline_color: None,
            is_bold: false,
            is_dim: false,
            is_italic: false,
            is_inverse: false,
            is_hidden: false,
            is_struck: false,
        }
    }
}

impl TerminalRow {
    /// Returns the characters of the row without spacers. Blank cells at the end are omitted unless they have a style.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.cells.len());
        for cell in &self.cells {
            cell.push_to(&mut text);
        }
        text
    }
}

impl TerminalCell {
    /// Creates a cell of one column.
    pub fn single(character: char) -> Self {
        Self {
            character,
            combining: None,
            width: CellWidth::Single,
        }
    }

    /// Appends the characters of the cell to `text`. The second half of a wide character appends nothing.
    pub(crate) fn push_to(&self, text: &mut String) {
        if self.width != CellWidth::Spacer {
            text.push(self.character);
            text.push_str(self.combining.as_deref().unwrap_or_default());
        }
    }
}
