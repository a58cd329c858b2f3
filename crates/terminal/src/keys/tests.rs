//! The golden table of keys, modes and protocol flags.

use super::*;
use crate::snapshot::KittyFlags;

/// Parses `shift-ctrl-alt-super-KEY`; a single letter is a character.
fn key(text: &'static str) -> KeyPress {
    let mut modifiers = KeyModifiers::default();
    let mut rest = text;
    let split = |rest: &'static str| rest.split_once('-').filter(|(_, after)| !after.is_empty());
    while let Some((modifier, after)) = split(rest) {
        match modifier {
            "shift" => modifiers.shift = true,
            "ctrl" => modifiers.control = true,
            "alt" => modifiers.alt = true,
            "super" => modifiers.platform = true,
            _ => panic!("{text}"),
        }
        rest = after;
    }
    let key = match rest {
        "enter" => TerminalKey::Enter,
        "tab" => TerminalKey::Tab,
        "backspace" => TerminalKey::Backspace,
        "escape" => TerminalKey::Escape,
        "space" => TerminalKey::Space,
        "up" => TerminalKey::Up,
        "left" => TerminalKey::Left,
        "home" => TerminalKey::Home,
        "pageup" => TerminalKey::PageUp,
        "delete" => TerminalKey::Delete,
        "menu" => TerminalKey::Menu,
        "kp5" => TerminalKey::Keypad(KeypadKey::Digit(5)),
        "kpenter" => TerminalKey::Keypad(KeypadKey::Enter),
        _ => match rest
            .strip_prefix('f')
            .and_then(|number| number.parse().ok())
        {
            Some(number) => TerminalKey::Function(number),
            None => TerminalKey::Character(rest.chars().next().expect("a letter")),
        },
    };
    KeyPress {
        key,
        text: None,
        shifted: None,
        base_layout: None,
        modifiers,
        kind: KeyEventKind::Press,
    }
}

fn encoded(press: &KeyPress, modes: &TerminalModes) -> String {
    let bytes = encode_key(press, modes, KeyOptions::default());
    bytes.map_or("-".to_owned(), |bytes| bytes.escape_ascii().to_string())
}

fn kitty(flags: u8) -> TerminalModes {
    TerminalModes {
        kitty: KittyFlags(flags),
        ..TerminalModes::default()
    }
}

fn other_keys(level: u8) -> TerminalModes {
    TerminalModes {
        modify_other_keys: level,
        ..TerminalModes::default()
    }
}

#[test]
fn keys_have_the_bytes_of_xterm() {
    let application = TerminalModes {
        is_application_cursor: true,
        is_application_keypad: true,
        ..TerminalModes::default()
    };
    // Key, normal modes, application modes.
    let table = [
        ("a", "a", "a"),
        ("shift-a", "A", "A"),
        ("ctrl-a", "\\x01", "\\x01"),
        ("ctrl-shift-a", "\\x01", "\\x01"),
        ("alt-a", "\\x1ba", "\\x1ba"),
        ("alt-shift-a", "\\x1bA", "\\x1bA"),
        ("ctrl-alt-a", "\\x1b\\x01", "\\x1b\\x01"),
        ("ctrl-space", "\\x00", "\\x00"),
        ("ctrl-[", "\\x1b", "\\x1b"),
        ("ctrl-\\", "\\x1c", "\\x1c"),
        ("ctrl-]", "\\x1d", "\\x1d"),
        ("ctrl-6", "\\x1e", "\\x1e"),
        ("ctrl-/", "\\x1f", "\\x1f"),
        ("ctrl-8", "\\x7f", "\\x7f"),
        ("ctrl-1", "1", "1"),
        ("super-a", "-", "-"),
        ("enter", "\\r", "\\r"),
        ("shift-enter", "\\r", "\\r"),
        ("alt-enter", "\\x1b\\r", "\\x1b\\r"),
        ("tab", "\\t", "\\t"),
        ("shift-tab", "\\x1b[Z", "\\x1b[Z"),
        ("backspace", "\\x7f", "\\x7f"),
        ("ctrl-backspace", "\\x08", "\\x08"),
        ("alt-backspace", "\\x1b\\x7f", "\\x1b\\x7f"),
        ("escape", "\\x1b", "\\x1b"),
        ("space", " ", " "),
        ("up", "\\x1b[A", "\\x1bOA"),
        ("left", "\\x1b[D", "\\x1bOD"),
        ("home", "\\x1b[H", "\\x1bOH"),
        ("shift-up", "\\x1b[1;2A", "\\x1b[1;2A"),
        ("ctrl-alt-left", "\\x1b[1;7D", "\\x1b[1;7D"),
        ("super-up", "\\x1b[1;9A", "\\x1b[1;9A"),
        ("delete", "\\x1b[3~", "\\x1b[3~"),
        ("ctrl-delete", "\\x1b[3;5~", "\\x1b[3;5~"),
        ("pageup", "\\x1b[5~", "\\x1b[5~"),
        ("menu", "\\x1b[29~", "\\x1b[29~"),
        ("f1", "\\x1bOP", "\\x1bOP"),
        ("f4", "\\x1bOS", "\\x1bOS"),
        ("shift-f3", "\\x1b[1;2R", "\\x1b[1;2R"),
        ("f5", "\\x1b[15~", "\\x1b[15~"),
        ("f12", "\\x1b[24~", "\\x1b[24~"),
        ("f20", "\\x1b[34~", "\\x1b[34~"),
        ("f21", "-", "-"),
        ("kp5", "5", "\\x1bOu"),
        ("kpenter", "\\r", "\\x1bOM"),
    ];
    for (name, normal, in_application) in table {
        assert_eq!(
            encoded(&key(name), &TerminalModes::default()),
            normal,
            "{name}"
        );
        let found = encoded(&key(name), &application);
        assert_eq!(found, in_application, "{name} in application modes");
    }
}

#[test]
fn other_keys_are_reported_by_level() {
    let table = [
        ("ctrl-a", "\\x01", "\\x1b[27;5;97~"),
        ("ctrl-1", "\\x1b[27;5;49~", "\\x1b[27;5;49~"),
        ("alt-a", "\\x1ba", "\\x1b[27;3;97~"),
        ("shift-a", "A", "A"),
        ("ctrl-shift-a", "\\x01", "\\x1b[27;6;65~"),
        ("shift-enter", "\\x1b[27;2;13~", "\\x1b[27;2;13~"),
        ("ctrl-tab", "\\x1b[27;5;9~", "\\x1b[27;5;9~"),
        ("shift-tab", "\\x1b[Z", "\\x1b[Z"),
        ("ctrl-backspace", "\\x08", "\\x1b[27;5;127~"),
        ("shift-space", " ", "\\x1b[27;2;32~"),
        ("enter", "\\r", "\\r"),
        ("up", "\\x1b[A", "\\x1b[A"),
    ];
    for (name, first, second) in table {
        assert_eq!(
            encoded(&key(name), &other_keys(1)),
            first,
            "{name} at level 1"
        );
        assert_eq!(
            encoded(&key(name), &other_keys(2)),
            second,
            "{name} at level 2"
        );
    }
}

#[test]
fn keys_have_the_bytes_of_kitty() {
    // Key, disambiguated, all keys as escape codes, all keys with alternates and text.
    let table = [
        ("a", "a", "\\x1b[97u", "\\x1b[97;1;97u"),
        ("shift-a", "A", "\\x1b[97;2u", "\\x1b[97:65;2;65u"),
        ("ctrl-a", "\\x1b[97;5u", "\\x1b[97;5u", "\\x1b[97;5u"),
        ("alt-a", "\\x1b[97;3u", "\\x1b[97;3u", "\\x1b[97;3u"),
        (
            "ctrl-shift-a",
            "\\x1b[97;6u",
            "\\x1b[97;6u",
            "\\x1b[97:65;6u",
        ),
        ("super-a", "\\x1b[97;9u", "\\x1b[97;9u", "\\x1b[97;9u"),
        ("escape", "\\x1b[27u", "\\x1b[27u", "\\x1b[27u"),
        ("enter", "\\r", "\\x1b[13u", "\\x1b[13u"),
        ("shift-enter", "\\x1b[13;2u", "\\x1b[13;2u", "\\x1b[13;2u"),
        ("tab", "\\t", "\\x1b[9u", "\\x1b[9u"),
        ("shift-tab", "\\x1b[9;2u", "\\x1b[9;2u", "\\x1b[9;2u"),
        ("backspace", "\\x7f", "\\x1b[127u", "\\x1b[127u"),
        (
            "ctrl-backspace",
            "\\x1b[127;5u",
            "\\x1b[127;5u",
            "\\x1b[127;5u",
        ),
        ("space", " ", "\\x1b[32u", "\\x1b[32;1;32u"),
        ("ctrl-space", "\\x1b[32;5u", "\\x1b[32;5u", "\\x1b[32;5u"),
        ("up", "\\x1b[A", "\\x1b[A", "\\x1b[A"),
        ("shift-up", "\\x1b[1;2A", "\\x1b[1;2A", "\\x1b[1;2A"),
        ("delete", "\\x1b[3~", "\\x1b[3~", "\\x1b[3~"),
        ("f1", "\\x1b[P", "\\x1b[P", "\\x1b[P"),
        ("f3", "\\x1b[13~", "\\x1b[13~", "\\x1b[13~"),
        ("f13", "\\x1b[57376u", "\\x1b[57376u", "\\x1b[57376u"),
        ("menu", "\\x1b[57363u", "\\x1b[57363u", "\\x1b[57363u"),
        ("kp5", "5", "\\x1b[57404u", "\\x1b[57404;1;53u"),
        ("kpenter", "\\x1b[57414u", "\\x1b[57414u", "\\x1b[57414u"),
    ];
    for (name, disambiguated, all, full) in table {
        assert_eq!(
            encoded(&key(name), &kitty(1)),
            disambiguated,
            "{name} with 1"
        );
        assert_eq!(encoded(&key(name), &kitty(1 | 8)), all, "{name} with 9");
        assert_eq!(
            encoded(&key(name), &kitty(1 | 4 | 8 | 16)),
            full,
            "{name} with 29"
        );
    }
}

#[test]
fn event_types_follow_the_modifiers() {
    use KeyEventKind::{Release, Repeat};
    // Key, kind, flags, bytes.
    let table = [
        ("a", Repeat, 1, "a"),
        ("a", Release, 1, "-"),
        ("a", Repeat, 1 | 2, "a"),
        ("a", Release, 1 | 2, "\\x1b[97;1:3u"),
        ("a", Repeat, 1 | 2 | 8, "\\x1b[97;1:2u"),
        ("shift-a", Release, 1 | 2 | 8 | 16, "\\x1b[97;2:3u"),
        ("ctrl-a", Repeat, 1 | 2, "\\x1b[97;5:2u"),
        ("up", Release, 1 | 2, "\\x1b[1;1:3A"),
        ("delete", Repeat, 2, "\\x1b[3;1:2~"),
        ("enter", Release, 1 | 2, "-"),
        ("enter", Release, 1 | 2 | 8, "\\x1b[13;1:3u"),
        ("escape", Release, 1 | 2, "\\x1b[27;1:3u"),
        ("up", Release, 0, "-"),
        ("up", Repeat, 0, "\\x1b[A"),
    ];
    for (name, kind, flags, expected) in table {
        let press = KeyPress { kind, ..key(name) };
        assert_eq!(
            encoded(&press, &kitty(flags)),
            expected,
            "{name} {kind:?} {flags}"
        );
    }
}

#[test]
fn text_of_the_layout_comes_before_alt() {
    let press = |name: &'static str, text: &str, shifted: Option<char>| KeyPress {
        text: Some(text.to_owned()),
        shifted,
        ..key(name)
    };
    let option = press("alt-l", "@", Some('L'));
    let alt_gr = press("ctrl-alt-q", "@", Some('Q'));
    for press in [&option, &alt_gr] {
        assert_eq!(encoded(press, &TerminalModes::default()), "@");
        assert_eq!(encoded(press, &kitty(1)), "@");
    }
    let meta = KeyOptions {
        alt_is_meta: true,
        ..KeyOptions::default()
    };
    let sent = encode_key(&option, &TerminalModes::default(), meta);
    assert_eq!(sent.as_deref(), Some(b"\x1bl".as_slice()));
    let plain = press("alt-shift-1", "!", Some('!'));
    assert_eq!(encoded(&plain, &TerminalModes::default()), "\\x1b!");
}

#[test]
fn control_works_in_other_scripts() {
    let press = KeyPress {
        base_layout: Some('c'),
        ..key("ctrl-с")
    };
    assert_eq!(encoded(&press, &TerminalModes::default()), "\\x03");
    assert_eq!(encoded(&press, &kitty(1 | 4)), "\\x1b[1089::99;5u");
}

#[test]
fn focus_is_reported_if_asked_for() {
    let asked = TerminalModes {
        reports_focus: true,
        ..TerminalModes::default()
    };
    assert_eq!(encode_focus(true, &asked), Some(b"\x1b[I".as_slice()));
    assert_eq!(encode_focus(false, &asked), Some(b"\x1b[O".as_slice()));
    assert_eq!(encode_focus(true, &TerminalModes::default()), None);
}

#[test]
fn control_backspace_can_delete_a_word() {
    let options = KeyOptions {
        control_backspace_deletes_word: true,
        ..KeyOptions::default()
    };
    let sent = encode_key(&key("ctrl-backspace"), &TerminalModes::default(), options);
    assert_eq!(sent.as_deref(), Some(b"\x1b\x7f".as_slice()));
}
