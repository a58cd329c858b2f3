//! The visible part of a terminal at one moment.

use std::sync::Arc;

use host::process::TerminalSize;

use crate::cells::TerminalRow;
use crate::position::{CellPosition, LineNumber, SelectedCells};

/// The visible part of a terminal. Cheap to clone: rows are shared.
#[derive(Clone, Debug)]
pub struct TerminalSnapshot {
    /// The size of the grid in cells.
    pub size: TerminalSize,
    /// The line of the first row in view; row `n` has the line `first_line.below(n)`.
    pub first_line: LineNumber,
    /// The rows in view, `size.rows` of them.
    pub rows: Vec<Arc<TerminalRow>>,
    /// The cursor, in copy mode that of the user; `None` if the program hides it or it is scrolled out of view.
    pub cursor: Option<CursorState>,
    /// Whether copy mode is on.
    pub is_copying: bool,
    /// The selected cells, which may lie outside the view.
    pub selection: Option<SelectedCells>,
    /// The part of the scrollback in view.
    pub scroll: ScrollState,
    /// The modes that the program set.
    pub modes: TerminalModes,
    /// The colours that the program changed (OSC 4, 10, 11, 12), in place of the theme's.
    pub colors: Vec<(ColorSlot, (u8, u8, u8))>,
}

/// The part of the scrollback that is in view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrollState {
    /// Number of lines between the bottom of the view and the bottom of the screen; 0 follows the output.
    pub offset: u32,
    /// Number of lines in the scrollback.
    pub history: u32,
}

/// A change of the part of the scrollback in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollTarget {
    /// Moves by this number of lines: up, towards older output, if it is positive.
    Lines(i32),
    /// Shows the page above.
    PageUp,
    /// Shows the page below.
    PageDown,
    /// Shows the oldest lines.
    Top,
    /// Shows the screen and follows the output.
    Bottom,
    /// Moves as little as possible to show this line.
    Line(LineNumber),
    /// Shows this line in the first row, as far as there are lines below it.
    LineAtTop(LineNumber),
}

/// The cursor in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorState {
    /// The cell of the cursor; the first cell of a wide character.
    pub position: CellPosition,
    /// The row of the view that shows the cursor.
    pub row: u16,
    /// The shape that the program asked for.
    pub shape: CursorShape,
    /// Whether the cursor blinks.
    pub is_blinking: bool,
    /// Whether the character below has two columns.
    pub is_wide: bool,
}

/// The shape of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorShape {
    /// A filled cell.
    Block,
    /// A line below the character.
    Underline,
    /// A line before the character.
    Beam,
    /// The outline of a cell.
    HollowBlock,
}

/// A colour of the theme that a program can change or query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorSlot {
    /// A colour of the palette.
    Palette(u8),
    /// The default colour of characters.
    Foreground,
    /// The default colour behind characters.
    Background,
    /// The colour of the cursor.
    Cursor,
}

impl ColorSlot {
    /// Number of slots.
    pub const COUNT: usize = 259;

    /// Returns all slots, each at its `index`.
    pub fn all() -> impl Iterator<Item = Self> {
        let palette = (0..=u8::MAX).map(Self::Palette);
        palette.chain([Self::Foreground, Self::Background, Self::Cursor])
    }

    /// Returns the index of the slot among all of them: the palette comes first.
    pub fn index(self) -> usize {
        match self {
            Self::Palette(index) => usize::from(index),
            Self::Foreground => 256,
            Self::Background => 257,
            Self::Cursor => 258,
        }
    }
}

/// The modes that a program set and that change input or drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalModes {
    /// Arrow keys send application sequences (DECCKM).
    pub is_application_cursor: bool,
    /// The keypad sends application sequences (DECKPAM).
    pub is_application_keypad: bool,
    /// Pastes are bracketed (2004).
    pub is_bracketed_paste: bool,
    /// The alternate screen is shown.
    pub is_alternate_screen: bool,
    /// The wheel sends arrow keys on the alternate screen (1007).
    pub is_alternate_scroll: bool,
    /// Focus changes are reported (1004).
    pub reports_focus: bool,
    /// Mouse events that are reported.
    pub mouse: MouseTracking,
    /// The encoding of mouse reports.
    pub mouse_encoding: MouseEncoding,
    /// Flags of the kitty keyboard protocol.
    pub kitty: KittyFlags,
    /// xterm's modifyOtherKeys: 0, 1 or 2.
    pub modify_other_keys: u8,
    /// A command line is being edited: the shell marked its prompt's end and no command has started (OSC 133;B).
    pub is_prompt_open: bool,
}

/// Mouse events that a program asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseTracking {
    /// None: the mouse selects text.
    #[default]
    Off,
    /// Presses and releases (1000).
    Clicks,
    /// Also motion with a pressed button (1002).
    Drags,
    /// Also motion without a button (1003).
    Motion,
}

/// The encoding of mouse reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    /// One byte for each value; columns and rows up to 223.
    #[default]
    Legacy,
    /// UTF-8 for each value (1005); columns and rows up to 2015.
    Utf8,
    /// Decimal numbers (1006).
    Sgr,
}

/// Flags of the kitty keyboard protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KittyFlags(pub u8);

impl KittyFlags {
    /// Disambiguates escape codes.
    pub const DISAMBIGUATE: u8 = 1;
    /// Reports repeats and releases.
    pub const EVENT_TYPES: u8 = 2;
    /// Reports the shifted key and the key of the base layout.
    pub const ALTERNATE_KEYS: u8 = 4;
    /// Reports keys that produce text as escape codes.
    pub const ALL_KEYS: u8 = 8;
    /// Reports the text of keys.
    pub const TEXT: u8 = 16;

    /// Returns whether `flag` is set.
    pub fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}
