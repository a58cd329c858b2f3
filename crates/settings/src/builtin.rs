//! Built-in texts: default settings, keymaps and themes.

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

/// Operating system for which a base keymap is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeymapSystem {
    /// Ctrl is the main modifier.
    Linux,
    /// Command is the main modifier.
    Mac,
}

/// Returns the file name and text of the built-in keymap for a base and an operating system.
pub const fn keymap(base: KeymapBase, system: KeymapSystem) -> (&'static str, &'static str) {
    match (base, system) {
        (KeymapBase::VsCode, KeymapSystem::Linux) => (
            "vscode-linux.json",
            include_str!("../../../assets/keymaps/vscode-linux.json"),
        ),
        (KeymapBase::VsCode, KeymapSystem::Mac) => (
            "vscode-macos.json",
            include_str!("../../../assets/keymaps/vscode-macos.json"),
        ),
        (KeymapBase::Zed, KeymapSystem::Linux) => (
            "zed-linux.json",
            include_str!("../../../assets/keymaps/zed-linux.json"),
        ),
        (KeymapBase::Zed, KeymapSystem::Mac) => (
            "zed-macos.json",
            include_str!("../../../assets/keymaps/zed-macos.json"),
        ),
    }
}

#[cfg(test)]
mod tests;
