//! The sequences of keys that have no character.

use super::{KeypadKey, TerminalKey};

/// The form of a key's sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionalForm {
    /// `CSI 1 ; modifiers LETTER`, or `CSI LETTER` without modifiers.
    Letter(char),
    /// `CSI number ; modifiers ~`.
    Tilde(u16),
    /// `CSI number ; modifiers u`, in kitty's protocol alone.
    Kitty(u32),
}

/// Returns the form of a key; `None` for characters and the keys of ASCII's controls.
pub(super) fn form_of(key: TerminalKey) -> Option<FunctionalForm> {
    use FunctionalForm::{Letter, Tilde};
    Some(match key {
        TerminalKey::Up => Letter('A'),
        TerminalKey::Down => Letter('B'),
        TerminalKey::Right => Letter('C'),
        TerminalKey::Left => Letter('D'),
        TerminalKey::End => Letter('F'),
        TerminalKey::Home => Letter('H'),
        TerminalKey::Insert => Tilde(2),
        TerminalKey::Delete => Tilde(3),
        TerminalKey::PageUp => Tilde(5),
        TerminalKey::PageDown => Tilde(6),
        TerminalKey::Menu => Tilde(29),
        TerminalKey::Function(number) => return function_form(number),
        TerminalKey::Character(_)
        | TerminalKey::Enter
        | TerminalKey::Tab
        | TerminalKey::Backspace
        | TerminalKey::Escape
        | TerminalKey::Space
        | TerminalKey::Keypad(_) => return None,
    })
}

fn function_form(number: u8) -> Option<FunctionalForm> {
    const TILDES: [u16; 16] = [
        15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34,
    ];
    match number {
        1..=4 => Some(FunctionalForm::Letter(char::from(b'O' + number))),
        5..=20 => Some(FunctionalForm::Tilde(TILDES[usize::from(number) - 5])),
        _ => None,
    }
}

/// Returns the form of a key in kitty's protocol where it differs from that of xterm.
pub(super) fn kitty_form_of(key: TerminalKey) -> Option<FunctionalForm> {
    match key {
        // `CSI R` is the report of the cursor's position.
        TerminalKey::Function(3) => Some(FunctionalForm::Tilde(13)),
        TerminalKey::Function(number @ 13..=35) => {
            Some(FunctionalForm::Kitty(57_376 + u32::from(number) - 13))
        }
        TerminalKey::Menu => Some(FunctionalForm::Kitty(57_363)),
        key => form_of(key),
    }
}

/// Returns the character of a keypad key.
pub(super) fn keypad_character(key: KeypadKey) -> char {
    match key {
        KeypadKey::Digit(digit) => char::from(b'0' + digit.min(9)),
        KeypadKey::Decimal => '.',
        KeypadKey::Divide => '/',
        KeypadKey::Multiply => '*',
        KeypadKey::Subtract => '-',
        KeypadKey::Add => '+',
        KeypadKey::Enter => '\r',
        KeypadKey::Equal => '=',
    }
}

/// Returns the number of a keypad key in kitty's protocol.
pub(super) fn keypad_number(key: KeypadKey) -> u32 {
    match key {
        KeypadKey::Digit(digit) => 57_399 + u32::from(digit.min(9)),
        KeypadKey::Decimal => 57_409,
        KeypadKey::Divide => 57_410,
        KeypadKey::Multiply => 57_411,
        KeypadKey::Subtract => 57_412,
        KeypadKey::Add => 57_413,
        KeypadKey::Enter => 57_414,
        KeypadKey::Equal => 57_415,
    }
}
