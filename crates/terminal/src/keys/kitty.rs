//! Keys in kitty's keyboard protocol.

use super::functional::{FunctionalForm, keypad_character, keypad_number, kitty_form_of};
use super::{KeyEventKind, KeyOptions, KeyPress, KeypadKey, TerminalKey, legacy};
use crate::snapshot::{KittyFlags, TerminalModes};

/// Returns the bytes of a key event.
pub(super) fn encode(
    press: &KeyPress,
    modes: &TerminalModes,
    options: KeyOptions,
) -> Option<Vec<u8>> {
    let flags = modes.kitty;
    let has_events = flags.has(KittyFlags::EVENT_TYPES);
    let has_all = flags.has(KittyFlags::ALL_KEYS);
    if press.kind == KeyEventKind::Release && !has_events {
        return None;
    }
    if let Some(form) = kitty_form_of(press.key) {
        return Some(functional(form, press, flags));
    }
    if press.kind == KeyEventKind::Release {
        let is_quiet = matches!(
            press.key,
            TerminalKey::Enter | TerminalKey::Tab | TerminalKey::Backspace
        );
        return (has_all || !is_quiet).then(|| character(press, flags, options))?;
    }
    if !has_all && is_plain(press, flags, options) {
        return plain(press, modes, options);
    }
    character(press, flags, options)
}

/// Returns whether a press is sent as without the protocol.
fn is_plain(press: &KeyPress, flags: KittyFlags, options: KeyOptions) -> bool {
    if !flags.has(KittyFlags::DISAMBIGUATE) {
        return true;
    }
    let modifiers = press.modifiers;
    match press.key {
        TerminalKey::Escape => false,
        TerminalKey::Enter | TerminalKey::Tab | TerminalKey::Backspace => modifiers.is_empty(),
        TerminalKey::Keypad(KeypadKey::Enter) => false,
        _ => modifiers.is_shift_only() || press.layout_text(options).is_some(),
    }
}

/// Returns the bytes of a press without the protocol.
fn plain(press: &KeyPress, modes: &TerminalModes, options: KeyOptions) -> Option<Vec<u8>> {
    let modes = TerminalModes {
        modify_other_keys: 0,
        ..*modes
    };
    legacy::encode(press, &modes, options)
}

/// Arrows, Home, F1, …
fn functional(form: FunctionalForm, press: &KeyPress, flags: KittyFlags) -> Vec<u8> {
    let modifiers = modifiers_field(press, flags);
    let text = match (form, modifiers) {
        (FunctionalForm::Letter(letter), None) => format!("\x1b[{letter}"),
        (FunctionalForm::Letter(letter), Some(field)) => format!("\x1b[1;{field}{letter}"),
        (FunctionalForm::Tilde(number), None) => format!("\x1b[{number}~"),
        (FunctionalForm::Tilde(number), Some(field)) => format!("\x1b[{number};{field}~"),
        (FunctionalForm::Kitty(number), None) => format!("\x1b[{number}u"),
        (FunctionalForm::Kitty(number), Some(field)) => format!("\x1b[{number};{field}u"),
    };
    text.into_bytes()
}

/// Characters, the keys of ASCII's controls and the keypad: `CSI key ; modifiers ; text u`.
fn character(press: &KeyPress, flags: KittyFlags, options: KeyOptions) -> Option<Vec<u8>> {
    let code = match press.key {
        TerminalKey::Character(character) => character.into(),
        TerminalKey::Space => 32,
        TerminalKey::Escape => 27,
        TerminalKey::Enter => 13,
        TerminalKey::Tab => 9,
        TerminalKey::Backspace => 127,
        TerminalKey::Keypad(key) => keypad_number(key),
        _ => return None,
    };
    let mut key = code.to_string();
    if flags.has(KittyFlags::ALTERNATE_KEYS) {
        key.push_str(&alternates(press));
    }
    let text = associated_text(press, flags, options);
    let field = match (modifiers_field(press, flags), text.is_empty()) {
        (Some(field), _) => field,
        (None, true) => String::new(),
        (None, false) => "1".to_owned(),
    };
    let mut sequence = format!("\x1b[{key}");
    for field in [field, text].iter().filter(|field| !field.is_empty()) {
        sequence.push(';');
        sequence.push_str(field);
    }
    sequence.push('u');
    Some(sequence.into_bytes())
}

/// Returns the field of the modifiers and the event type; `None` if it can be omitted.
fn modifiers_field(press: &KeyPress, flags: KittyFlags) -> Option<String> {
    let parameter = press.modifiers.parameter();
    let event = match press.kind {
        KeyEventKind::Press => None,
        KeyEventKind::Repeat => Some(2),
        KeyEventKind::Release => Some(3),
    };
    match event.filter(|_| flags.has(KittyFlags::EVENT_TYPES)) {
        Some(event) => Some(format!("{parameter}:{event}")),
        None => (parameter > 1).then(|| parameter.to_string()),
    }
}

/// Returns the shifted key, if Shift is held, and the key of the base layout, each after a colon.
fn alternates(press: &KeyPress) -> String {
    let TerminalKey::Character(plain) = press.key else {
        return String::new();
    };
    let shifted = press.shifted_character(plain);
    let shifted =
        (press.modifiers.shift && shifted != plain).then(|| u32::from(shifted).to_string());
    let base = press.base_layout.filter(|base| *base != plain);
    match (shifted, base) {
        (None, None) => String::new(),
        (Some(shifted), None) => format!(":{shifted}"),
        (shifted, Some(base)) => {
            format!(":{}:{}", shifted.unwrap_or_default(), u32::from(base))
        }
    }
}

/// Returns the code points of the text, separated by colons.
fn associated_text(press: &KeyPress, flags: KittyFlags, options: KeyOptions) -> String {
    let is_wanted = flags.has(KittyFlags::TEXT) && press.kind != KeyEventKind::Release;
    let has_text = press.modifiers.is_shift_only() || press.layout_text(options).is_some();
    if !is_wanted || !has_text {
        return String::new();
    }
    let own = match press.key {
        TerminalKey::Keypad(key) => Some(keypad_character(key)),
        _ => press.character(),
    };
    let own = own.filter(|own| !own.is_control()).map(String::from);
    let text = press.plain_text().or(own.as_deref()).unwrap_or_default();
    let codes = text.chars().map(|letter| u32::from(letter).to_string());
    codes.collect::<Vec<_>>().join(":")
}
