//! Keys as xterm sends them, with modifyOtherKeys.

use super::functional::{FunctionalForm, form_of, keypad_character};
use super::{KeyEventKind, KeyModifiers, KeyOptions, KeyPress, KeypadKey, TerminalKey};
use crate::snapshot::TerminalModes;

/// Returns the bytes of a press or repeat.
pub(super) fn encode(
    press: &KeyPress,
    modes: &TerminalModes,
    options: KeyOptions,
) -> Option<Vec<u8>> {
    if press.kind == KeyEventKind::Release {
        return None;
    }
    if let Some(form) = form_of(press.key) {
        return Some(functional(
            form,
            press.modifiers,
            modes.is_application_cursor,
        ));
    }
    match press.key {
        TerminalKey::Keypad(key) => keypad(key, press, modes),
        TerminalKey::Character(_) | TerminalKey::Space => text(press, modes, options),
        _ if press.modifiers.platform => None,
        _ => control_key(press, modes, options),
    }
}

/// Arrows, Home, F1, …
fn functional(form: FunctionalForm, modifiers: KeyModifiers, is_application: bool) -> Vec<u8> {
    let parameter = modifiers.parameter();
    let text = match form {
        FunctionalForm::Letter(letter) if parameter > 1 => format!("\x1b[1;{parameter}{letter}"),
        FunctionalForm::Letter(letter @ 'P'..='S') => format!("\x1bO{letter}"),
        FunctionalForm::Letter(letter) if is_application => format!("\x1bO{letter}"),
        FunctionalForm::Letter(letter) => format!("\x1b[{letter}"),
        FunctionalForm::Tilde(number) if parameter > 1 => format!("\x1b[{number};{parameter}~"),
        FunctionalForm::Tilde(number) => format!("\x1b[{number}~"),
        FunctionalForm::Kitty(_) => String::new(),
    };
    text.into_bytes()
}

fn keypad(key: KeypadKey, press: &KeyPress, modes: &TerminalModes) -> Option<Vec<u8>> {
    if press.modifiers.platform {
        return None;
    }
    if modes.is_application_keypad && press.modifiers.is_empty() {
        let letter = match key {
            KeypadKey::Digit(digit) => char::from(b'p' + digit.min(9)),
            KeypadKey::Decimal => 'n',
            KeypadKey::Divide => 'o',
            KeypadKey::Multiply => 'j',
            KeypadKey::Subtract => 'm',
            KeypadKey::Add => 'k',
            KeypadKey::Enter => 'M',
            KeypadKey::Equal => 'X',
        };
        return Some(format!("\x1bO{letter}").into_bytes());
    }
    let character = keypad_character(key).to_string();
    let text = press.plain_text().unwrap_or(&character);
    Some(with_meta(text.as_bytes(), press.modifiers))
}

/// Enter, Tab, Backspace and Escape.
fn control_key(press: &KeyPress, modes: &TerminalModes, options: KeyOptions) -> Option<Vec<u8>> {
    let modifiers = press.modifiers;
    let code: u32 = match press.key {
        TerminalKey::Enter => 13,
        TerminalKey::Tab => 9,
        TerminalKey::Backspace => 127,
        TerminalKey::Escape => 27,
        _ => return None,
    };
    let is_back_tab = press.key == TerminalKey::Tab && modifiers.shift;
    let is_well_known = press.key == TerminalKey::Backspace
        || is_back_tab
        || !(modifiers.shift || modifiers.control);
    let is_other = match modes.modify_other_keys {
        0 => false,
        1 => !is_well_known,
        _ if is_back_tab => modifiers.control || modifiers.alt,
        _ => !modifiers.is_empty(),
    };
    if is_other {
        return Some(other_key(modifiers, code));
    }
    let bytes: &[u8] = match press.key {
        TerminalKey::Enter => b"\r",
        TerminalKey::Tab if modifiers.shift => b"\x1b[Z",
        TerminalKey::Tab => b"\t",
        TerminalKey::Backspace if modifiers.control && options.control_backspace_deletes_word => {
            return Some(b"\x1b\x7f".to_vec());
        }
        TerminalKey::Backspace if modifiers.control => b"\x08",
        TerminalKey::Backspace => b"\x7f",
        _ => b"\x1b",
    };
    Some(with_meta(bytes, modifiers))
}

/// Characters and the space bar.
fn text(press: &KeyPress, modes: &TerminalModes, options: KeyOptions) -> Option<Vec<u8>> {
    if let Some(text) = press.layout_text(options) {
        return Some(text.as_bytes().to_vec());
    }
    let modifiers = press.modifiers;
    if modifiers.platform {
        return None;
    }
    let character = press.character()?;
    if is_other_key(press, character, modes.modify_other_keys) {
        return Some(other_key(modifiers, character.into()));
    }
    if modifiers.control
        && let Some(byte) = control_byte(press, character)
    {
        return Some(with_meta(&[byte], modifiers));
    }
    let own = character.to_string();
    let typed = press.plain_text().filter(|_| modifiers.is_shift_only());
    let text = typed.unwrap_or(&own);
    Some(with_meta(text.as_bytes(), modifiers))
}

/// Returns whether modifyOtherKeys applies to a character.
fn is_other_key(press: &KeyPress, character: char, level: u8) -> bool {
    let modifiers = press.modifiers;
    match level {
        0 => false,
        // Keys with a well-known meaning keep it.
        1 => modifiers.control && control_byte(press, character).is_none(),
        _ => !modifiers.is_shift_only() || (modifiers.shift && press.key == TerminalKey::Space),
    }
}

fn other_key(modifiers: KeyModifiers, code: u32) -> Vec<u8> {
    format!("\x1b[27;{};{code}~", modifiers.parameter()).into_bytes()
}

/// Returns the control character of Ctrl with a key; `None` if it has none.
fn control_byte(press: &KeyPress, character: char) -> Option<u8> {
    let plain = match press.key {
        TerminalKey::Character(plain) => plain,
        _ => ' ',
    };
    // In other scripts, the key of a US keyboard counts.
    [Some(character), Some(plain), press.base_layout]
        .into_iter()
        .flatten()
        .find_map(control_of)
}

fn control_of(character: char) -> Option<u8> {
    Some(match character {
        'a'..='z' => character as u8 - b'a' + 1,
        'A'..='Z' => character as u8 - b'A' + 1,
        ' ' | '@' | '2' => 0x00,
        '[' | '3' => 0x1b,
        '\\' | '4' => 0x1c,
        ']' | '5' => 0x1d,
        '^' | '6' | '~' => 0x1e,
        '_' | '7' | '/' => 0x1f,
        '8' | '?' => 0x7f,
        _ => return None,
    })
}

/// Puts ESC before bytes if Alt is held.
fn with_meta(bytes: &[u8], modifiers: KeyModifiers) -> Vec<u8> {
    let mut all = Vec::with_capacity(bytes.len() + 1);
    if modifiers.alt {
        all.push(0x1b);
    }
    all.extend_from_slice(bytes);
    all
}
