//! The effective settings of all layers.

use std::collections::BTreeMap;

use crate::document::SpannedValue;
use crate::section::{KeyInfo, ValueError};
use crate::sections::{
    AgentSettings, CompletionSettings, EditorSettings, FileSettings, GitSettings,
    InlineEditSettings, KeymapSettings, LspSettings, ModelSettings, SearchSettings, TabSettings,
    TerminalSettings, ThemeSettings, UiSettings, VimSettings, WindowSettings,
};
use crate::suggest;

/// All settings. Values come from `SettingsStore`; `Settings::default()` has no
/// per-language part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Display of text and behaviour of typing; see `for_language`.
    pub editor: EditorSettings,
    /// Visibility and saving of files.
    pub files: FileSettings,
    /// Git in the window.
    pub git: GitSettings,
    /// Search in the project.
    pub search: SearchSettings,
    /// Parts of the window.
    pub window: WindowSettings,
    /// Colour theme for light and dark mode.
    pub theme: ThemeSettings,
    /// Base keymap to start from.
    pub keymap: KeymapSettings,
    /// Fonts and animations of the interface.
    pub ui: UiSettings,
    /// Models, providers and budgets.
    pub models: ModelSettings,
    /// Agents in the window.
    pub agents: AgentSettings,
    /// Completions and edit predictions.
    pub tab: TabSettings,
    /// Changes of some lines by an instruction.
    pub inline_edit: InlineEditSettings,
    /// The list of completions.
    pub completions: CompletionSettings,
    /// Language servers.
    pub lsp: LspSettings,
    /// Terminals.
    pub terminal: TerminalSettings,
    /// Keys of Vim in texts.
    pub vim: VimSettings,
    /// `editor` with the overrides for a language, by name; only languages that have some.
    pub languages: BTreeMap<String, EditorSettings>,
}

/// Name of the section with per-language overrides.
pub(crate) const LANGUAGES: &str = "languages";

impl Settings {
    /// Returns the editor settings for a language by its display name, or the general ones for
    /// plain text and languages without overrides.
    pub fn for_language(&self, language: Option<&str>) -> &EditorSettings {
        language
            .and_then(|name| self.languages.get(name))
            .unwrap_or(&self.editor)
    }

    /// Iterates over all keys with their documentation, section by section; per-language overrides
    /// are left out.
    pub fn keys() -> impl Iterator<Item = KeyInfo> {
        SECTIONS.iter().flat_map(|(section, keys)| {
            keys.iter().map(move |(name, doc)| KeyInfo {
                section,
                name,
                doc: doc.trim(),
            })
        })
    }

    /// Sets one key of one section (never of `languages`), or returns why it cannot be set.
    pub(crate) fn set(
        &mut self,
        section: &str,
        key: &str,
        node: &SpannedValue,
    ) -> Result<(), SetError> {
        let result = match section {
            "editor" => self.editor.set(key, node),
            "files" => self.files.set(key, node),
            "git" => self.git.set(key, node),
            "search" => self.search.set(key, node),
            "window" => self.window.set(key, node),
            "theme" => self.theme.set(key, node),
            "keymap" => self.keymap.set(key, node),
            "ui" => self.ui.set(key, node),
            "models" => self.models.set(key, node),
            "agents" => self.agents.set(key, node),
            "tab" => self.tab.set(key, node),
            "inline_edit" => self.inline_edit.set(key, node),
            "completions" => self.completions.set(key, node),
            "lsp" => self.lsp.set(key, node),
            "terminal" => self.terminal.set(key, node),
            "vim" => self.vim.set(key, node),
            _ => return Err(SetError::Unknown(unknown_section(section))),
        };
        match result {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(SetError::Invalid(error)),
            None => Err(SetError::Unknown(unknown_key(section, key))),
        }
    }
}

/// Reason why a key of the settings was not set.
#[derive(Debug)]
pub(crate) enum SetError {
    /// The section or key is unknown; the message for the user.
    Unknown(String),
    /// The value is invalid.
    Invalid(ValueError),
}

const SECTIONS: &[(&str, &[(&str, &str)])] = &[
    ("editor", EditorSettings::KEYS),
    ("files", FileSettings::KEYS),
    ("git", GitSettings::KEYS),
    ("search", SearchSettings::KEYS),
    ("window", WindowSettings::KEYS),
    ("theme", ThemeSettings::KEYS),
    ("keymap", KeymapSettings::KEYS),
    ("ui", UiSettings::KEYS),
    ("models", ModelSettings::KEYS),
    ("agents", AgentSettings::KEYS),
    ("tab", TabSettings::KEYS),
    ("inline_edit", InlineEditSettings::KEYS),
    ("completions", CompletionSettings::KEYS),
    ("lsp", LspSettings::KEYS),
    ("terminal", TerminalSettings::KEYS),
    ("vim", VimSettings::KEYS),
];

/// Returns the message for an unknown section, with a hint at the section that was probably meant.
pub(crate) fn unknown_section(section: &str) -> String {
    let names = SECTIONS.iter().map(|(name, _)| *name).chain([LANGUAGES]);
    // A section's key at the top level is a common mistake, so the message names the section.
    let sections: Vec<&str> = SECTIONS
        .iter()
        .filter(|(_, keys)| keys.iter().any(|(name, _)| *name == section))
        .map(|(name, _)| *name)
        .collect();
    match sections.first() {
        Some(name) => format!("\"{section}\" belongs inside \"{name}\": {{ … }}"),
        None => format!(
            "unknown section \"{section}\"{}",
            suggest::hint(section, names)
        ),
    }
}

fn unknown_key(section: &str, key: &str) -> String {
    let keys = SECTIONS
        .iter()
        .find(|(name, _)| *name == section)
        .map_or(&[][..], |(_, keys)| keys);
    let hint = suggest::hint(key, keys.iter().map(|(name, _)| *name));
    if !hint.is_empty() {
        return format!("unknown key \"{key}\" in \"{section}\"{hint}");
    }
    match Settings::keys().find(|info| info.name == key && info.section != section) {
        Some(info) => format!("\"{key}\" belongs inside \"{}\": {{ … }}", info.section),
        None => format!("unknown key \"{key}\" in \"{section}\"; it is ignored"),
    }
}

#[cfg(test)]
mod tests;
