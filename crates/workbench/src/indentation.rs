//! The display name of an indentation.

use gpui_kit::SharedString;

/// Formats an indentation: `4 spaces` or `Tabs 8`.
pub(crate) fn indentation_name(hard: bool, width: u32) -> SharedString {
    if hard {
        format!("Tabs {width}").into()
    } else {
        format!("{width} spaces").into()
    }
}
