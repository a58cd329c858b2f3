//! Built-in texts: default settings, keymaps and themes.

use base::Platform;

use crate::sections::KeymapBase;

/// Text of `default.json`: all settings with their default values and, as comments, their
/// documentation.
pub const DEFAULT_SETTINGS: &str = include_str!("../../../assets/settings/default.json");

/// File name and text of every theme, in display order.
pub const THEMES: &[(&str, &str)] = &[
    (
        "burin-dark.json",
        include_str!("../../../themes/burin-dark.json"),
    ),
    (
        "burin-light.json",
        include_str!("../../../themes/burin-light.json"),
    ),
    (
        "high-contrast-dark.json",
        include_str!("../../../themes/high-contrast-dark.json"),
    ),
    (
        "high-contrast-light.json",
        include_str!("../../../themes/high-contrast-light.json"),
    ),
    ("ember.json", include_str!("../../../themes/ember.json")),
    ("fjord.json", include_str!("../../../themes/fjord.json")),
    ("slate.json", include_str!("../../../themes/slate.json")),
    ("paper.json", include_str!("../../../themes/paper.json")),
    ("mist.json", include_str!("../../../themes/mist.json")),
];

/// File name and text of the keymap for the keys of Vim, on top of a base keymap.
pub const VIM_KEYMAP: (&str, &str) = ("vim.json", include_str!("../../../assets/keymaps/vim.json"));

/// Returns the file name and text of a base keymap.
pub const fn keymap(base: KeymapBase, platform: Platform) -> (&'static str, &'static str) {
    match (base, platform) {
        (KeymapBase::VsCode, Platform::Linux) => (
            "vscode-linux.json",
            include_str!("../../../assets/keymaps/vscode-linux.json"),
        ),
        (KeymapBase::VsCode, Platform::MacOs) => (
            "vscode-macos.json",
            include_str!("../../../assets/keymaps/vscode-macos.json"),
        ),
        (KeymapBase::Zed, Platform::Linux) => (
            "zed-linux.json",
            include_str!("../../../assets/keymaps/zed-linux.json"),
        ),
        (KeymapBase::Zed, Platform::MacOs) => (
            "zed-macos.json",
            include_str!("../../../assets/keymaps/zed-macos.json"),
        ),
    }
}

#[cfg(test)]
mod tests;
