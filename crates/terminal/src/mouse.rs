//! Encoding of mouse events as bytes for the program.

use crate::keys::KeyModifiers;
use crate::snapshot::{MouseEncoding, MouseTracking, TerminalModes};

/// A mouse event over a cell of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MouseInput {
    /// The kind of the event.
    pub kind: MouseKind,
    /// The column of the cell, from 0.
    pub column: u16,
    /// The row of the view, from 0.
    pub row: u16,
    /// The modifiers.
    pub modifiers: KeyModifiers,
}

/// The kind of a mouse event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// A button went down.
    Press(TerminalMouseButton),
    /// A button went up.
    Release(TerminalMouseButton),
    /// The pointer entered another cell, with the pressed button.
    Move(Option<TerminalMouseButton>),
    /// The wheel turned by one step.
    Wheel(WheelDirection),
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalMouseButton {
    /// The left button.
    Left,
    /// The middle button.
    Middle,
    /// The right button.
    Right,
}

/// The direction of a step of the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WheelDirection {
    /// Away from the user.
    Up,
    /// Towards the user.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// The effect of a step of the wheel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WheelEffect {
    /// The bytes are sent to the program.
    Send(Vec<u8>),
    /// The view scrolls.
    Scroll,
}

/// Returns whether mouse events go to the program. With Shift they stay in the view.
pub fn is_mouse_reported(modes: &TerminalModes, modifiers: KeyModifiers) -> bool {
    modes.mouse != MouseTracking::Off && !modifiers.shift
}

/// Returns the report of a mouse event; `None` if the program did not ask for it, or the position cannot be encoded.
pub fn encode_mouse(input: &MouseInput, modes: &TerminalModes) -> Option<Vec<u8>> {
    let is_wanted = match input.kind {
        MouseKind::Press(_) | MouseKind::Release(_) | MouseKind::Wheel(_) => {
            modes.mouse != MouseTracking::Off
        }
        MouseKind::Move(Some(_)) => {
            matches!(modes.mouse, MouseTracking::Drags | MouseTracking::Motion)
        }
        MouseKind::Move(None) => modes.mouse == MouseTracking::Motion,
    };
    if !is_wanted {
        return None;
    }
    let code = button_code(input.kind) + modifier_code(input.modifiers);
    let (column, row) = (u32::from(input.column) + 1, u32::from(input.row) + 1);
    let is_release = matches!(input.kind, MouseKind::Release(_));
    match modes.mouse_encoding {
        MouseEncoding::Sgr => {
            let end = if is_release { 'm' } else { 'M' };
            Some(format!("\x1b[<{code};{column};{row}{end}").into_bytes())
        }
        encoding => {
            // The old encodings do not tell which button went up.
            let code = if is_release { (code & !3) | 3 } else { code };
            let mut report = b"\x1b[M".to_vec();
            for value in [code, column, row] {
                push_value(&mut report, value + 32, encoding)?;
            }
            Some(report)
        }
    }
}

/// Appends a value of an old encoding; `None` if it is too large.
fn push_value(report: &mut Vec<u8>, value: u32, encoding: MouseEncoding) -> Option<()> {
    match encoding {
        MouseEncoding::Utf8 => {
            let letter = char::from_u32(value).filter(|_| value <= 2_047)?;
            report.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        MouseEncoding::Legacy | MouseEncoding::Sgr => report.push(u8::try_from(value).ok()?),
    }
    Some(())
}

fn button_code(kind: MouseKind) -> u32 {
    let button = |button: TerminalMouseButton| match button {
        TerminalMouseButton::Left => 0,
        TerminalMouseButton::Middle => 1,
        TerminalMouseButton::Right => 2,
    };
    match kind {
        MouseKind::Press(pressed) | MouseKind::Release(pressed) => button(pressed),
        MouseKind::Move(Some(pressed)) => 32 + button(pressed),
        MouseKind::Move(None) => 32 + 3,
        MouseKind::Wheel(WheelDirection::Up) => 64,
        MouseKind::Wheel(WheelDirection::Down) => 65,
        MouseKind::Wheel(WheelDirection::Left) => 66,
        MouseKind::Wheel(WheelDirection::Right) => 67,
    }
}

fn modifier_code(modifiers: KeyModifiers) -> u32 {
    4 * u32::from(modifiers.shift)
        + 8 * u32::from(modifiers.alt)
        + 16 * u32::from(modifiers.control)
}

/// Returns the effect of one step of the wheel: a report, arrow keys on the alternate screen (1007), or scrolling.
/// `lines` is the number of lines of a step.
pub fn wheel_effect(input: &MouseInput, lines: u16, modes: &TerminalModes) -> WheelEffect {
    if is_mouse_reported(modes, input.modifiers) {
        return WheelEffect::Send(encode_mouse(input, modes).unwrap_or_default());
    }
    let has_arrows = modes.is_alternate_screen && modes.is_alternate_scroll;
    if !has_arrows || input.modifiers.shift {
        return WheelEffect::Scroll;
    }
    let letter = match input.kind {
        MouseKind::Wheel(WheelDirection::Up) => 'A',
        MouseKind::Wheel(WheelDirection::Down) => 'B',
        _ => return WheelEffect::Send(Vec::new()),
    };
    let introducer = if modes.is_application_cursor {
        'O'
    } else {
        '['
    };
    let arrow = format!("\x1b{introducer}{letter}");
    WheelEffect::Send(arrow.repeat(lines.into()).into_bytes())
}

#[cfg(test)]
mod tests;
