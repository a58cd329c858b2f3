//! The sections of the settings, key by key.

mod agents;
mod completions;
mod editor;
mod files;
mod git;
mod inline_edit;
mod lsp;
mod models;
mod tab;
mod terminal;
mod vim;
mod window;

pub use agents::{AgentSettings, ExternalAgentSetting, MachineSetting};
pub use completions::CompletionSettings;
pub use editor::{
    CurrentLine, CursorStyle, EditorSettings, InlineDiagnostics, LineNumbers, MultiCursorModifier,
    SoftWrap, Whitespace,
};
pub use files::{Autosave, FileSettings, Restore, SearchSettings};
pub use git::GitSettings;
pub use inline_edit::InlineEditSettings;
pub use lsp::{LanguageServerSetting, LspSettings};
pub use models::{ModelEffort, ModelSettings, ProviderSetting, ProviderWire};
pub use tab::{TabSettings, TabShow};
pub use terminal::{EnvironmentVariables, TerminalBlinking, TerminalCursorShape, TerminalSettings};
pub use vim::VimSettings;
pub use window::{
    KeymapBase, KeymapSettings, MenuBar, ReducedMotion, Side, TabCloseButton, ThemeMode,
    ThemeSettings, UiSettings, WindowSettings,
};
