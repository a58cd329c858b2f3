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

/// Sets the built-in settings, unless settings are in force.
pub(crate) fn init(cx: &mut App) {
    if !cx.has_global::<SettingsInForce>() {
        cx.set_global(SettingsInForce(Arc::new(Settings::builtin())));
    }
}

/// Replaces the settings in force without a redraw. `set_settings` also redraws the windows.
pub(crate) fn replace(settings: Arc<Settings>, cx: &mut App) {
    if cx.has_global::<SettingsInForce>() {
        cx.update_global::<SettingsInForce, _>(|current, _| current.0 = settings);
    } else {
        cx.set_global(SettingsInForce(settings));
    }
}
