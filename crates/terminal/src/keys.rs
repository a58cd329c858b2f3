//! Encoding of key presses as bytes for the program.
//!
//! Start at `encode_key`.

mod functional;
mod kitty;
mod legacy;

use crate::snapshot::TerminalModes;

/// A key event with the text that it produces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPress {
    /// The key.
    pub key: TerminalKey,
    /// The text that the key produces with its modifiers, from the layout or an input method. AltGr and macOS's Option
    /// produce text here.
    pub text: Option<String>,
    /// The character of the key with Shift alone, if it is known.
    pub shifted: Option<char>,
    /// The character of the key in the layout of a US keyboard, if it is known and differs.
    pub base_layout: Option<char>,
    /// The modifiers.
    pub modifiers: KeyModifiers,
    /// The kind of the event.
    pub kind: KeyEventKind,
}

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminalKey {
    /// A key that produces this character without modifiers, in the current layout: a lower-case letter, a digit, …
    Character(char),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// The space bar.
    Space,
    /// The up arrow.
    Up,
    /// The down arrow.
    Down,
    /// The left arrow.
    Left,
    /// The right arrow.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete.
    Delete,
    /// The menu key.
    Menu,
    /// A function key, 1 to 35.
    Function(u8),
    /// A key of the keypad.
    Keypad(KeypadKey),
}

/// A key of the keypad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeypadKey {
    /// A digit, 0 to 9.
    Digit(u8),
    /// The decimal point.
    Decimal,
    /// Division.
    Divide,
    /// Multiplication.
    Multiply,
    /// Subtraction.
    Subtract,
    /// Addition.
    Add,
    /// Enter.
    Enter,
    /// The equals sign.
    Equal,
}

/// Modifiers of a key or mouse event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyModifiers {
    /// Shift.
    pub shift: bool,
    /// Alt, or macOS's Option.
    pub alt: bool,
    /// Control.
    pub control: bool,
    /// Super, or macOS's Command.
    pub platform: bool,
}

/// The kind of a key event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyEventKind {
    /// The key went down.
    #[default]
    Press,
    /// The key is held and repeats.
    Repeat,
    /// The key went up.
    Release,
}

/// Choices of the user about keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyOptions {
    /// Alt always sends ESC and the plain key, even if the layout produces other text with it.
    pub alt_is_meta: bool,
    /// Ctrl+Backspace deletes a word: it sends `ESC DEL` in place of `BS`.
    pub control_backspace_deletes_word: bool,
}

/// Returns the bytes of a key event; `None` if it sends nothing.
///
/// Text that an input method commits is no key event: it is sent as it is.
pub fn encode_key(press: &KeyPress, modes: &TerminalModes, options: KeyOptions) -> Option<Vec<u8>> {
    match modes.kitty.0 {
        0 => legacy::encode(press, modes, options),
        _ => kitty::encode(press, modes, options),
    }
}

/// Returns the report of a change of focus; `None` if the program did not ask for it.
pub fn encode_focus(is_focused: bool, modes: &TerminalModes) -> Option<&'static [u8]> {
    let report: &[u8] = if is_focused { b"\x1b[I" } else { b"\x1b[O" };
    modes.reports_focus.then_some(report)
}

impl KeyModifiers {
    /// Returns the parameter of xterm and kitty: 1 plus a bit for each modifier.
    fn parameter(self) -> u8 {
        1 + u8::from(self.shift)
            + 2 * u8::from(self.alt)
            + 4 * u8::from(self.control)
            + 8 * u8::from(self.platform)
    }

    /// Returns whether no modifier is held.
    fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns whether at most Shift is held.
    fn is_shift_only(self) -> bool {
        !self.alt && !self.control && !self.platform
    }
}

impl KeyPress {
    /// Returns the text that the key produces, without control characters.
    fn plain_text(&self) -> Option<&str> {
        let text = self.text.as_deref()?;
        (!text.is_empty() && !text.chars().any(char::is_control)).then_some(text)
    }

    /// Returns the character of the key, with Shift if that is held and its effect is known.
    fn character(&self) -> Option<char> {
        let plain = match self.key {
            TerminalKey::Character(character) => character,
            TerminalKey::Space => ' ',
            _ => return None,
        };
        Some(if self.modifiers.shift {
            self.shifted_character(plain)
        } else {
            plain
        })
    }

    fn shifted_character(&self, plain: char) -> char {
        let upper = || Some(plain).filter(|plain| plain.is_alphabetic());
        let upper = || upper().and_then(|plain| plain.to_uppercase().next());
        self.shifted.or_else(upper).unwrap_or(plain)
    }

    /// Returns the text if AltGr or Option produced it: it is neither the plain nor the shifted character of the key.
    fn layout_text(&self, options: KeyOptions) -> Option<&str> {
        let TerminalKey::Character(plain) = self.key else {
            return None;
        };
        let text = self.plain_text()?;
        let is_own = |character: char| {
            let mut letters = text.chars();
            letters.next() == Some(character) && letters.next().is_none()
        };
        let is_plain = is_own(plain) || is_own(self.shifted_character(plain));
        let is_meta = options.alt_is_meta && self.modifiers.alt && !self.modifiers.control;
        (!is_plain && !is_meta && (self.modifiers.alt || self.modifiers.control)).then_some(text)
    }
}

#[cfg(test)]
mod tests;
