//! Display form of key bindings.

use base::Platform;
use gpui_kit::{
    Action, App, IntoElement, KeyBinding, Keystroke, ParentElement as _, RenderOnce, SharedString,
    Styled as _, Window, div, px,
};

use crate::platform::ActivePlatform as _;
use crate::theme::{ActiveTheme as _, dp};

/// Key bindings in small frames, one per stroke: `Ctrl+K` `Ctrl+S`, on macOS `⌘K` `⌘S`.
#[derive(IntoElement)]
pub struct KeyHint {
    keys: SharedString,
}

impl KeyHint {
    /// Returns the binding of an action in the focused context; `None` if it has none.
    pub fn for_action(action: &dyn Action, window: &Window, cx: &App) -> Option<Self> {
        let keys = keys_here(action, window, cx)?;
        Some(Self { keys })
    }

    /// Creates a hint from the display form of `keys_text`, whose strokes are separated by spaces.
    pub fn text(keys: impl Into<SharedString>) -> Self {
        Self { keys: keys.into() }
    }
}

impl RenderOnce for KeyHint {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let colors = &cx.theme().colors;
        let frame = |keys: &str| {
            div()
                .px(dp(4.0))
                .rounded(px(3.0))
                .border_1()
                .border_color(colors.border)
                .text_color(colors.muted)
                .text_size(dp(11.0))
                .child(SharedString::from(keys.to_owned()))
        };
        div()
            .flex()
            .flex_none()
            .gap(dp(3.0))
            .children(self.keys.split(' ').map(frame).collect::<Vec<_>>())
    }
}

/// Returns an action's key binding as text: the binding in the focused context, or else any other
/// binding of the action. Returns `None` if the action has no binding.
pub fn keys_here(action: &dyn Action, window: &Window, cx: &App) -> Option<SharedString> {
    let focus = window.focused(cx);
    let here =
        focus.and_then(|focus| window.highest_precedence_binding_for_action_in(action, &focus));
    let binding = here.or_else(|| window.highest_precedence_binding_for_action(action))?;
    Some(keys_text(&binding, cx.platform()))
}

/// Returns the display form of an action's last binding in any context; `None` if it has none.
pub fn keys_anywhere(action: &dyn Action, cx: &App) -> Option<SharedString> {
    let keymap = cx.key_bindings();
    let keymap = keymap.borrow();
    let binding = keymap.bindings_for_action(action).next_back()?;
    Some(keys_text(binding, cx.platform()))
}

/// Formats a key binding as `platform` writes it: `Ctrl+K Ctrl+S`, on macOS `⌘K ⌘S`.
pub fn keys_text(binding: &KeyBinding, platform: Platform) -> SharedString {
    let strokes = binding.keystrokes().iter();
    let strokes =
        strokes.map(|stroke| keystroke_text(gpui_kit::AsKeystroke::as_keystroke(stroke), platform));
    strokes.collect::<Vec<_>>().join(" ").into()
}

/// Formats one stroke as `platform` writes it: `Ctrl+Shift+P`, on macOS `⇧⌘P`.
///
/// Modifiers are in the order of the platform's menus; on macOS that is ⌃⌥⇧⌘.
pub fn keystroke_text(stroke: &Keystroke, platform: Platform) -> String {
    let modifiers = &stroke.modifiers;
    let names = match platform {
        Platform::MacOs => ["⌃", "⌥", "⇧", "⌘", "Fn"],
        Platform::Linux => ["Ctrl", "Alt", "Shift", "Super", "Fn"],
    };
    let pressed = [
        modifiers.control,
        modifiers.alt,
        modifiers.shift,
        modifiers.platform,
        modifiers.function,
    ];
    let held = names.iter().zip(pressed).filter(|(_, pressed)| *pressed);
    let mut parts: Vec<String> = held.map(|(name, _)| (*name).to_owned()).collect();
    parts.push(key_name(&stroke.key, platform));
    parts.join(match platform {
        Platform::MacOs => "",
        Platform::Linux => "+",
    })
}

fn key_name(key: &str, platform: Platform) -> String {
    let on_both = match key {
        "up" => "↑",
        "down" => "↓",
        "left" => "←",
        "right" => "→",
        "space" => "Space",
        _ => "",
    };
    if !on_both.is_empty() {
        return on_both.to_owned();
    }
    let named = match platform {
        Platform::MacOs => mac_symbol(key),
        Platform::Linux => linux_name(key),
    };
    named.map_or_else(|| capitalized(key), str::to_owned)
}

/// Symbols of Apple's menus and keyboards.
fn mac_symbol(key: &str) -> Option<&'static str> {
    Some(match key {
        "enter" => "↩",
        "escape" => "⎋",
        "tab" => "⇥",
        "backspace" => "⌫",
        "delete" => "⌦",
        "home" => "↖",
        "end" => "↘",
        "pageup" => "⇞",
        "pagedown" => "⇟",
        _ => return None,
    })
}

fn linux_name(key: &str) -> Option<&'static str> {
    Some(match key {
        "enter" => "Enter",
        "escape" => "Esc",
        "backspace" => "Backspace",
        "delete" => "Del",
        "pageup" => "PgUp",
        "pagedown" => "PgDn",
        _ => return None,
    })
}

fn capitalized(key: &str) -> String {
    let mut chars = key.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use base::Platform;
    use gpui_kit::Keystroke;

    use super::keystroke_text;

    #[test]
    fn strokes_are_written_as_each_system_does() {
        let check = |keys: &'static str, linux: &str, mac: &str| {
            let stroke = Keystroke::parse(keys).expect("a stroke");
            assert_eq!(keystroke_text(&stroke, Platform::Linux), linux);
            assert_eq!(keystroke_text(&stroke, Platform::MacOs), mac);
        };
        check("ctrl-k", "Ctrl+K", "⌃K");
        check("cmd-shift-alt-ctrl-p", "Ctrl+Alt+Shift+Super+P", "⌃⌥⇧⌘P");
        check("alt-backspace", "Alt+Backspace", "⌥⌫");
        check("cmd-delete", "Super+Del", "⌘⌦");
        check("shift-enter", "Shift+Enter", "⇧↩");
        check("escape", "Esc", "⎋");
        check("ctrl-tab", "Ctrl+Tab", "⌃⇥");
        check("cmd-up", "Super+↑", "⌘↑");
        check("pagedown", "PgDn", "⇟");
        check("home", "Home", "↖");
        check("ctrl-space", "Ctrl+Space", "⌃Space");
        check("f12", "F12", "F12");
        check("cmd-,", "Super+,", "⌘,");
    }
}
