//! Access to the settings in force from every view: `cx.settings()`.

use std::sync::Arc;

use gpui_kit::{App, BorrowAppContext as _, Global};
use settings::Settings;

struct SettingsInForce(Arc<Settings>);

impl Global for SettingsInForce {}

/// Provides the settings in force.
pub trait ActiveSettings {
    /// Returns the settings in force. Views that cache derived values compare the pointers.
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

/// Applies settings and redraws every window. Updates fonts and zoom; `ThemeLibrary::apply` applies
/// the theme, because it also knows the system's appearance.
pub fn set_settings(settings: Arc<Settings>, cx: &mut App) {
    crate::theme::set_fonts(crate::theme::FontChoice::from_settings(&settings), cx);
    if cx.has_global::<SettingsInForce>() {
        cx.update_global::<SettingsInForce, _>(|current, _| current.0 = settings);
    } else {
        cx.set_global(SettingsInForce(settings));
    }
    crate::motion::apply_reduced_motion(cx);
    cx.refresh_windows();
}
