//! Reports by mode and encoding.

use super::*;

fn input(kind: MouseKind, column: u16, row: u16) -> MouseInput {
    MouseInput {
        kind,
        column,
        row,
        modifiers: KeyModifiers::default(),
    }
}

fn modes(mouse: MouseTracking, mouse_encoding: MouseEncoding) -> TerminalModes {
    TerminalModes {
        mouse,
        mouse_encoding,
        ..TerminalModes::default()
    }
}

fn report(input: &MouseInput, tracking: MouseTracking, encoding: MouseEncoding) -> Option<String> {
    let bytes = encode_mouse(input, &modes(tracking, encoding))?;
    Some(bytes.escape_ascii().to_string())
}

const LEFT: TerminalMouseButton = TerminalMouseButton::Left;
const RIGHT: TerminalMouseButton = TerminalMouseButton::Right;

#[test]
fn events_are_reported_as_far_as_asked_for() {
    use MouseTracking::{Clicks, Drags, Motion, Off};
    let kinds = [
        (
            MouseKind::Press(LEFT),
            [Off, Clicks, Drags, Motion].map(|mode| mode != Off),
        ),
        (MouseKind::Move(Some(LEFT)), [false, false, true, true]),
        (MouseKind::Move(None), [false, false, false, true]),
        (
            MouseKind::Wheel(WheelDirection::Up),
            [false, true, true, true],
        ),
    ];
    for (kind, expected) in kinds {
        let found = [Off, Clicks, Drags, Motion]
            .map(|mode| report(&input(kind, 0, 0), mode, MouseEncoding::Sgr).is_some());
        assert_eq!(found, expected, "{kind:?}");
    }
}

#[test]
fn reports_have_the_bytes_of_xterm() {
    let all = MouseTracking::Motion;
    let cases = [
        (MouseKind::Press(LEFT), "\\x1b[<0;5;3M", "\\x1b[M %#"),
        (MouseKind::Release(RIGHT), "\\x1b[<2;5;3m", "\\x1b[M#%#"),
        (MouseKind::Move(Some(RIGHT)), "\\x1b[<34;5;3M", "\\x1b[MB%#"),
        (MouseKind::Move(None), "\\x1b[<35;5;3M", "\\x1b[MC%#"),
        (
            MouseKind::Wheel(WheelDirection::Up),
            "\\x1b[<64;5;3M",
            "\\x1b[M`%#",
        ),
        (
            MouseKind::Wheel(WheelDirection::Down),
            "\\x1b[<65;5;3M",
            "\\x1b[Ma%#",
        ),
    ];
    for (kind, sgr, legacy) in cases {
        let input = input(kind, 4, 2);
        assert_eq!(
            report(&input, all, MouseEncoding::Sgr).as_deref(),
            Some(sgr)
        );
        assert_eq!(
            report(&input, all, MouseEncoding::Legacy).as_deref(),
            Some(legacy)
        );
    }
}

#[test]
fn far_cells_need_a_wide_encoding() {
    let far = input(MouseKind::Press(LEFT), 300, 0);
    assert_eq!(
        report(&far, MouseTracking::Clicks, MouseEncoding::Legacy),
        None
    );
    let utf8 = report(&far, MouseTracking::Clicks, MouseEncoding::Utf8);
    assert_eq!(utf8.as_deref(), Some("\\x1b[M \\xc5\\x8d!"));
    let sgr = report(&far, MouseTracking::Clicks, MouseEncoding::Sgr);
    assert_eq!(sgr.as_deref(), Some("\\x1b[<0;301;1M"));
}

#[test]
fn shift_keeps_the_mouse_in_the_view() {
    let modes = modes(MouseTracking::Motion, MouseEncoding::Sgr);
    let shift = KeyModifiers {
        shift: true,
        ..KeyModifiers::default()
    };
    assert!(is_mouse_reported(&modes, KeyModifiers::default()));
    assert!(!is_mouse_reported(&modes, shift));
}

#[test]
fn the_wheel_sends_arrows_on_the_alternate_screen() {
    let wheel = |direction| input(MouseKind::Wheel(direction), 0, 0);
    let mut modes = TerminalModes::default();
    let up = wheel(WheelDirection::Up);
    assert_eq!(wheel_effect(&up, 3, &modes), WheelEffect::Scroll);
    modes.is_alternate_screen = true;
    assert_eq!(wheel_effect(&up, 3, &modes), WheelEffect::Scroll);
    modes.is_alternate_scroll = true;
    let sent = |text: &str| WheelEffect::Send(text.as_bytes().to_vec());
    assert_eq!(wheel_effect(&up, 2, &modes), sent("\x1b[A\x1b[A"));
    modes.is_application_cursor = true;
    let down = wheel(WheelDirection::Down);
    assert_eq!(wheel_effect(&down, 1, &modes), sent("\x1bOB"));
    modes.mouse = MouseTracking::Clicks;
    modes.mouse_encoding = MouseEncoding::Sgr;
    assert_eq!(wheel_effect(&down, 3, &modes), sent("\x1b[<65;1;1M"));
}
