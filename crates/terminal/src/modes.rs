//! The core's modes and colours as values of this crate.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::color::Colors;
use alacritty_terminal::vte::ansi::NamedColor;

use crate::snapshot::{ColorSlot, KittyFlags, MouseEncoding, MouseTracking, TerminalModes};

/// Returns the modes that the core knows; the others are off.
pub(crate) fn modes_of(mode: TermMode) -> TerminalModes {
    let has = |flag: TermMode| mode.contains(flag);
    let first = |flags: &[(TermMode, u8)]| {
        let set = flags.iter().filter(|(flag, _)| has(*flag));
        set.fold(0, |all, (_, bit)| all | bit)
    };
    let mouse = if has(TermMode::MOUSE_MOTION) {
        MouseTracking::Motion
    } else if has(TermMode::MOUSE_DRAG) {
        MouseTracking::Drags
    } else if has(TermMode::MOUSE_REPORT_CLICK) {
        MouseTracking::Clicks
    } else {
        MouseTracking::Off
    };
    let mouse_encoding = if has(TermMode::SGR_MOUSE) {
        MouseEncoding::Sgr
    } else if has(TermMode::UTF8_MOUSE) {
        MouseEncoding::Utf8
    } else {
        MouseEncoding::Legacy
    };
    TerminalModes {
        is_application_cursor: has(TermMode::APP_CURSOR),
        is_application_keypad: has(TermMode::APP_KEYPAD),
        is_bracketed_paste: has(TermMode::BRACKETED_PASTE),
        is_alternate_screen: has(TermMode::ALT_SCREEN),
        is_alternate_scroll: has(TermMode::ALTERNATE_SCROLL),
        reports_focus: has(TermMode::FOCUS_IN_OUT),
        mouse,
        mouse_encoding,
        kitty: KittyFlags(first(&[
            (TermMode::DISAMBIGUATE_ESC_CODES, KittyFlags::DISAMBIGUATE),
            (TermMode::REPORT_EVENT_TYPES, KittyFlags::EVENT_TYPES),
            (TermMode::REPORT_ALTERNATE_KEYS, KittyFlags::ALTERNATE_KEYS),
            (TermMode::REPORT_ALL_KEYS_AS_ESC, KittyFlags::ALL_KEYS),
            (TermMode::REPORT_ASSOCIATED_TEXT, KittyFlags::TEXT),
        ])),
        modify_other_keys: 0,
        is_prompt_open: false,
    }
}

/// Returns the sequences that set these modes in a terminal that has none of them. The keys and the mouse of a program work
/// then in a terminal that did not see how the program set its modes.
pub(crate) fn mode_sequences(modes: &TerminalModes) -> Vec<u8> {
    let mouse = match modes.mouse {
        MouseTracking::Off => None,
        MouseTracking::Clicks => Some(1000),
        MouseTracking::Drags => Some(1002),
        MouseTracking::Motion => Some(1003),
    };
    let encoding = match modes.mouse_encoding {
        MouseEncoding::Legacy => None,
        MouseEncoding::Utf8 => Some(1005),
        MouseEncoding::Sgr => Some(1006),
    };
    let private = [
        modes.is_alternate_screen.then_some(1049),
        modes.is_application_cursor.then_some(1),
        modes.is_bracketed_paste.then_some(2004),
        modes.reports_focus.then_some(1004),
        mouse,
        encoding,
    ];
    let mut text = String::new();
    for mode in private.into_iter().flatten() {
        text.push_str(&format!("\x1b[?{mode}h"));
    }
    if !modes.is_alternate_scroll {
        text.push_str("\x1b[?1007l");
    }
    if modes.is_application_keypad {
        text.push_str("\x1b=");
    }
    if modes.kitty != KittyFlags::default() {
        text.push_str(&format!("\x1b[={};1u", modes.kitty.0));
    }
    if modes.modify_other_keys > 0 {
        text.push_str(&format!("\x1b[>4;{}m", modes.modify_other_keys));
    }
    text.into_bytes()
}

/// Returns the colours that the program changed.
pub(crate) fn program_colors(colors: &Colors) -> Vec<(ColorSlot, (u8, u8, u8))> {
    let palette = (0..=u8::MAX).map(|index| (usize::from(index), ColorSlot::Palette(index)));
    let named = [
        (NamedColor::Foreground as usize, ColorSlot::Foreground),
        (NamedColor::Background as usize, ColorSlot::Background),
        (NamedColor::Cursor as usize, ColorSlot::Cursor),
    ];
    let slots = palette.chain(named);
    slots
        .filter_map(|(index, slot)| {
            let color = colors[index]?;
            Some((slot, (color.r, color.g, color.b)))
        })
        .collect()
}
