//! Settings, keymaps and themes: JSONC text in; plain values and problems out.
//!
//! Knows: `base`. Must not know: files, time, windows, the effect of a setting.
//! Invariant: parsing never fails; any text yields a value, and a `ConfigProblem` with its position for
//! everything invalid.
//! Invariant: `assets/settings/default.json` contains exactly the known keys with their defaults.
//! Start at `SettingsStore` (the layers), `Settings` (the values) and `ThemeDefinition`.

mod color;
mod document;
mod edit;
mod jsonc;
mod keymap;
mod problem;
mod schema;
mod section;
mod sections;
mod settings;
mod snippets;
mod store;
mod suggest;
mod theme;

pub mod builtin;

pub use color::{Rgba, contrast};
pub use edit::{EditError, add_to_list, remove_from_list, set_key};
pub use jsonc::Jsonc;
pub use keymap::{BoundAction, Keymap, KeymapBinding, KeymapBlock, parse_keymap};
pub use problem::ConfigProblem;
pub use schema::{keymap_schema, settings_schema, theme_schema};
pub use section::{KeyInfo, KeyPath};
pub use sections::{
    AgentSettings, Autosave, CompletionSettings, CurrentLine, CursorStyle, EditorSettings,
    EnvironmentVariables, ExternalAgentSetting, FileSettings, GitSettings, InlineDiagnostics,
    InlineEditSettings, KeymapBase, KeymapSettings, LanguageServerSetting, LineNumbers,
    LspSettings, MachineSetting, MenuBar, ModelEffort, ModelSettings, MultiCursorModifier,
    ProviderSetting, ProviderWire, ReducedMotion, Restore, SearchSettings, Side, SoftWrap,
    TabCloseButton, TabSettings, TabShow, TerminalBlinking, TerminalCursorShape, TerminalSettings,
    ThemeMode, ThemeSettings, UiSettings, VimSettings, Whitespace, WindowSettings,
};
pub use settings::Settings;
pub use snippets::{SnippetDefinition, parse_snippets};
pub use store::{SettingsSource, SettingsStore, parse};
pub use suggest::nearest;
pub use theme::{
    Appearance, COLOR_TOKENS, Colors, SYNTAX_NAMES, SyntaxStyle, TerminalColors, ThemeDefinition,
    parse_theme,
};
