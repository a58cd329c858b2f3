//! Display form of key bindings.

use gpui_kit::{
    Action, App, IntoElement, KeyBinding, Keystroke, ParentElement as _, RenderOnce, SharedString,
    Styled as _, Window, div, px,
};

use crate::theme::{ActiveTheme as _, dp};

/// Key bindings in small frames: `Ctrl K` `Ctrl S`.
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

    /// Creates a hint from text, with chords separated by spaces.
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
    Some(keys_text(&binding))
}

/// Formats a key binding: `Ctrl+K Ctrl+S`, on macOS `⌘K ⌘S`.
pub fn keys_text(binding: &KeyBinding) -> SharedString {
    let strokes = binding
        .keystrokes()
        .iter()
        .map(|stroke| keystroke_text(gpui_kit::AsKeystroke::as_keystroke(stroke)));
    strokes.collect::<Vec<_>>().join(" ").into()
}

fn keystroke_text(stroke: &Keystroke) -> String {
    let mac = cfg!(target_os = "macos");
    let modifiers = &stroke.modifiers;
    let names = if mac {
        ["⌃", "⌥", "⇧", "⌘", "Fn"]
    } else {
        ["Ctrl", "Alt", "Shift", "Super", "Fn"]
    };
    let pressed = [
        modifiers.control,
        modifiers.alt,
        modifiers.shift,
        modifiers.platform,
        modifiers.function,
    ];
    let mut parts: Vec<String> = names
        .iter()
        .zip(pressed)
        .filter(|(_, pressed)| *pressed)
        .map(|(name, _)| (*name).to_owned())
        .collect();
    parts.push(key_name(&stroke.key));
    parts.join(if mac { "" } else { "+" })
}

fn key_name(key: &str) -> String {
    match key {
        "up" => "↑".to_owned(),
        "down" => "↓".to_owned(),
        "left" => "←".to_owned(),
        "right" => "→".to_owned(),
        "enter" => "Enter".to_owned(),
        "escape" => "Esc".to_owned(),
        "backspace" => "Backspace".to_owned(),
        "delete" => "Del".to_owned(),
        "pageup" => "PgUp".to_owned(),
        "pagedown" => "PgDn".to_owned(),
        "space" => "Space".to_owned(),
        _ => {
            let mut chars = key.chars();
            chars.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(chars).collect()
            })
        }
    }
}
