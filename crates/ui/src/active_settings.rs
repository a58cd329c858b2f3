//! The settings in force, where every view finds them: `cx.settings()`.

use std::sync::Arc;

use gpui_kit::{App, BorrowAppContext as _, Global};
use settings::Settings;

struct SettingsInForce(Arc<Settings>);

impl Global for SettingsInForce {}

/// Reads the settings in force.
pub trait ActiveSettings {
    /// What the program goes by now. Views that keep what they computed from it compare the pointers.
    fn settings(&self) -> &Arc<Settings>;
}

impl ActiveSettings for App {
    fn settings(&self) -> &Arc<Settings> {
        &self.global::<SettingsInForce>().0
    }
}

pub(crate) fn init(cx: &mut App) {
    if !cx.has_global::<SettingsInForce>() {
        cx.set_global(SettingsInForce(Arc::new(Settings::builtin())));
    }
}

/// Puts settings in force and draws every window anew. Fonts and zoom follow; the theme is chosen by
/// `ThemeLibrary::apply`, which also knows what the system asks for.
pub fn set_settings(settings: Arc<Settings>, cx: &mut App) {
    crate::theme::set_fonts(crate::theme::FontChoice::from_settings(&settings), cx);
    if cx.has_global::<SettingsInForce>() {
        cx.update_global::<SettingsInForce, _>(|current, _| current.0 = settings);
    } else {
        cx.set_global(SettingsInForce(settings));
    }
    crate::motion::settle(cx);
    cx.refresh_windows();
}
