//! Key presses: encoded for the program, or left to bindings and to the input handler.

use base::Platform;
use gpui_kit::{
    Context, KeyDownEvent, KeyUpEvent, Keystroke, KeystrokeEvent, Modifiers, OperatingSystem,
    Subscription, Window,
};
use terminal::{
    KeyEventKind, KeyModifiers, KeyOptions, KeyPress, KittyFlags, TerminalKey, TerminalModes,
    encode_key,
};
use ui::{ActivePlatform as _, ActiveSettings as _};

use super::{TerminalView, copy_mode};
use crate::actions::{SendKeystroke, SendText, ToggleSendAllKeys};

/// Handles a key that has no binding. Keys that only produce text are left to the input handler.
pub(super) fn key_down(
    view: &mut TerminalView,
    event: &KeyDownEvent,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let stroke = &event.keystroke;
    if !view.takes_input() || view.preedit.is_some() || event.prefer_character_input {
        return;
    }
    view.refresh(cx);
    if view.is_copying() || is_plain_text(stroke, &view.contents.snapshot.modes) {
        return;
    }
    let kind = if event.is_held {
        KeyEventKind::Repeat
    } else {
        KeyEventKind::Press
    };
    if send_keystroke(view, stroke, kind, cx) {
        cx.stop_propagation();
    }
}

/// Reports the release of a key, if the program asked for releases.
pub(super) fn key_up(
    view: &mut TerminalView,
    event: &KeyUpEvent,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let kitty = view.contents.snapshot.modes.kitty;
    // The release of a key takes no program over.
    if kitty.has(KittyFlags::EVENT_TYPES) && !view.is_watching() && !view.is_copying() {
        send_keystroke(view, &event.keystroke, KeyEventKind::Release, cx);
    }
}

/// Sends a key to the program; returns false if the key sends nothing.
fn send_keystroke(
    view: &mut TerminalView,
    stroke: &Keystroke,
    kind: KeyEventKind,
    cx: &mut Context<TerminalView>,
) -> bool {
    let Some(press) = key_press(stroke, kind) else {
        return false;
    };
    let options = KeyOptions {
        alt_is_meta: cx.settings().terminal.option_as_meta,
        control_backspace_deletes_word: true,
    };
    let bytes = encode_key(&press, &view.contents.snapshot.modes, options);
    let Some(bytes) = bytes else {
        return false;
    };
    view.send(bytes, cx);
    true
}

/// Handler of an action: sends a key as if it had no binding.
pub(super) fn send_key_action(
    view: &mut TerminalView,
    action: &SendKeystroke,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let system = match cx.platform() {
        Platform::MacOs => OperatingSystem::Mac,
        Platform::Linux => OperatingSystem::Linux,
    };
    match Keystroke::parse_with_os(&action.0, system) {
        Ok(stroke) => {
            view.refresh(cx);
            let stroke = stroke.with_simulated_ime();
            send_keystroke(view, &stroke, KeyEventKind::Press, cx);
        }
        Err(_) => view.show_notice(format!("\u{201c}{}\u{201d} is not a key", action.0), cx),
    }
}

/// Handler of an action: types a text.
pub(super) fn send_text_action(
    view: &mut TerminalView,
    action: &SendText,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.send(action.0.clone().into_bytes(), cx);
}

/// Handler of an action.
pub(super) fn toggle_send_all_keys(
    view: &mut TerminalView,
    _: &ToggleSendAllKeys,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.send_all_keys = !view.send_all_keys;
    let message = if view.send_all_keys {
        "All keys go to the program"
    } else {
        "Keys with bindings go to Burin"
    };
    view.show_notice(message, cx);
}

/// Takes keys before any binding sees them: those of copy mode, and all keys while they go to the program.
pub(super) fn intercept_keys(window: &Window, cx: &mut Context<TerminalView>) -> Subscription {
    let (view, own) = (cx.weak_entity(), window.window_handle());
    cx.intercept_keystrokes(move |event: &KeystrokeEvent, window, cx| {
        if window.window_handle() != own {
            return;
        }
        let taken = view.update(cx, |view, cx| intercept(view, &event.keystroke, window, cx));
        // A view that is closed takes no keys.
        if taken.unwrap_or(false) {
            cx.stop_propagation();
        }
    })
}

fn intercept(
    view: &mut TerminalView,
    stroke: &Keystroke,
    window: &mut Window,
    cx: &mut Context<TerminalView>,
) -> bool {
    if !view.focus.is_focused(window) {
        return false;
    }
    view.refresh(cx);
    if view.is_copying() {
        return copy_mode::press_in_copy_mode(view, stroke, window, cx);
    }
    let is_active =
        view.send_all_keys && view.running_program().is_some() && view.preedit.is_none();
    if !is_active || is_toggle(stroke, cx) {
        return false;
    }
    !is_plain_text(stroke, &view.contents.snapshot.modes)
        && send_keystroke(view, stroke, KeyEventKind::Press, cx)
}

/// Returns whether a key is bound to the action that ends sending all keys to the program.
fn is_toggle(stroke: &Keystroke, cx: &Context<TerminalView>) -> bool {
    let bindings = cx.key_bindings();
    let bindings = bindings.borrow();
    bindings
        .bindings_for_action(&ToggleSendAllKeys)
        .any(|binding| {
            let strokes = binding.keystrokes();
            strokes.len() == 1
                && strokes[0].key() == stroke.key
                && *strokes[0].modifiers() == stroke.modifiers
        })
}

/// Returns whether a key only produces text, which comes through the input handler: so that input methods see it.
fn is_plain_text(stroke: &Keystroke, modes: &TerminalModes) -> bool {
    let Modifiers {
        control,
        alt,
        platform,
        function,
        ..
    } = stroke.modifiers;
    let is_modified = control || alt || platform || function;
    let has_text = stroke
        .key_char
        .as_deref()
        .is_some_and(|text| !text.is_empty() && !text.chars().any(char::is_control));
    // A program that wants all keys as escape codes also wants those with text.
    let wants_all = modes.kitty.has(KittyFlags::ALL_KEYS);
    has_text && !is_modified && !wants_all
}

fn key_press(stroke: &Keystroke, kind: KeyEventKind) -> Option<KeyPress> {
    let Modifiers {
        control,
        alt,
        shift,
        platform,
        ..
    } = stroke.modifiers;
    let text = stroke.key_char.clone();
    Some(KeyPress {
        key: terminal_key(&stroke.key)?,
        text: text.filter(|text| !text.chars().any(char::is_control)),
        // The toolkit does not tell them.
        shifted: None,
        base_layout: None,
        modifiers: KeyModifiers {
            shift,
            alt,
            control,
            platform,
        },
        kind,
    })
}

fn terminal_key(name: &str) -> Option<TerminalKey> {
    Some(match name {
        "enter" => TerminalKey::Enter,
        "tab" => TerminalKey::Tab,
        "backspace" => TerminalKey::Backspace,
        "escape" => TerminalKey::Escape,
        "space" => TerminalKey::Space,
        "up" => TerminalKey::Up,
        "down" => TerminalKey::Down,
        "left" => TerminalKey::Left,
        "right" => TerminalKey::Right,
        "home" => TerminalKey::Home,
        "end" => TerminalKey::End,
        "pageup" => TerminalKey::PageUp,
        "pagedown" => TerminalKey::PageDown,
        "insert" => TerminalKey::Insert,
        "delete" => TerminalKey::Delete,
        "menu" => TerminalKey::Menu,
        _ => return character_key(name),
    })
}

fn character_key(name: &str) -> Option<TerminalKey> {
    let number = name.strip_prefix('f').and_then(|it| it.parse::<u8>().ok());
    if let Some(number @ 1..=35) = number {
        return Some(TerminalKey::Function(number));
    }
    let mut chars = name.chars();
    let first = chars.next()?;
    chars
        .next()
        .is_none()
        .then_some(TerminalKey::Character(first))
}
