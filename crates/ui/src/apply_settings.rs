//! Applies changed settings to every window.

use std::sync::Arc;

use gpui_kit::App;
use settings::Settings;

use crate::theme::{FontChoice, set_fonts};
use crate::{active_settings, motion};

/// Applies settings and redraws every window. Updates fonts and zoom; `ThemeLibrary::apply` applies
/// the theme, because it also knows the system's appearance.
pub fn set_settings(settings: Arc<Settings>, cx: &mut App) {
    set_fonts(FontChoice::from_settings(&settings), cx);
    active_settings::replace(settings, cx);
    motion::apply_reduced_motion(cx);
    cx.refresh_windows();
}
