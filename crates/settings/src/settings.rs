//! The settings as the program reads them.

use std::collections::BTreeMap;

use crate::document::Node;
use crate::section::KeyInfo;
use crate::sections::{
    EditorSettings, FileSettings, KeymapSettings, ModelSettings, SearchSettings, TabSettings,
    ThemeSettings, UiSettings, WindowSettings,
};
use crate::suggest;

/// Every setting. Values come from `Store`; `Settings::default()` has no per-language part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// How text is shown and what typing does; see `for_language`.
    pub editor: EditorSettings,
    /// Which files are shown, and when they are written.
    pub files: FileSettings,
    /// Search through the project.
    pub search: SearchSettings,
    /// The window around the text.
    pub window: WindowSettings,
    /// Colours.
    pub theme: ThemeSettings,
    /// Keys.
    pub keymap: KeymapSettings,
    /// Fonts and motion around the text.
    pub ui: UiSettings,
    /// Language models.
    pub models: ModelSettings,
    /// Completions and predicted edits.
    pub tab: TabSettings,
    /// `editor` with the changes for a language, by the language's name; only languages that have some.
    pub languages: BTreeMap<String, EditorSettings>,
}

/// The section that holds per-language changes.
pub(crate) const LANGUAGES: &str = "languages";

impl Settings {
    /// What comes with the program, from `default.json`.
    pub fn builtin() -> Self {
        crate::store::parse(&[]).0
    }

    /// The editor settings for a language, or the general ones for plain text.
    pub fn for_language(&self, language: Option<&str>) -> &EditorSettings {
        language
            .and_then(|name| self.languages.get(name))
            .unwrap_or(&self.editor)
    }

    /// Every key with its manual entry, section by section.
    pub fn keys() -> impl Iterator<Item = KeyInfo> {
        SECTIONS.iter().flat_map(|(section, keys)| {
            keys.iter().map(move |(name, doc)| KeyInfo {
                section,
                name,
                doc: doc.trim(),
            })
        })
    }

    /// Sets one key of one section (never of `languages`).
    pub(crate) fn set(&mut self, section: &str, key: &str, node: &Node) -> Result<(), SetError> {
        let done = match section {
            "editor" => self.editor.set(key, node),
            "files" => self.files.set(key, node),
            "search" => self.search.set(key, node),
            "window" => self.window.set(key, node),
            "theme" => self.theme.set(key, node),
            "keymap" => self.keymap.set(key, node),
            "ui" => self.ui.set(key, node),
            "models" => self.models.set(key, node),
            "tab" => self.tab.set(key, node),
            _ => return Err(SetError::Unknown(unknown_section(section))),
        };
        match done {
            Some(Ok(())) => Ok(()),
            Some(Err(message)) => Err(SetError::Bad(message)),
            None => Err(SetError::Unknown(unknown_key(section, key))),
        }
    }
}

/// Why a key was not set.
#[derive(Debug)]
pub(crate) enum SetError {
    /// No such section or key.
    Unknown(String),
    /// The value does not fit.
    Bad(String),
}

const SECTIONS: &[(&str, &[(&str, &str)])] = &[
    ("editor", EditorSettings::KEYS),
    ("files", FileSettings::KEYS),
    ("search", SearchSettings::KEYS),
    ("window", WindowSettings::KEYS),
    ("theme", ThemeSettings::KEYS),
    ("keymap", KeymapSettings::KEYS),
    ("ui", UiSettings::KEYS),
    ("models", ModelSettings::KEYS),
    ("tab", TabSettings::KEYS),
];

pub(crate) fn unknown_section(section: &str) -> String {
    let names = SECTIONS.iter().map(|(name, _)| *name).chain([LANGUAGES]);
    // A key at the top level is the usual slip: say where it belongs.
    let homes: Vec<&str> = SECTIONS
        .iter()
        .filter(|(_, keys)| keys.iter().any(|(name, _)| *name == section))
        .map(|(name, _)| *name)
        .collect();
    match homes.first() {
        Some(home) => format!("\"{section}\" belongs inside \"{home}\": {{ … }}"),
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
