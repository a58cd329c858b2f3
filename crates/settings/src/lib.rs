//! Settings, keymaps and themes: JSONC text in; plain values and problems out.
//!
//! Knows: `base`. Must not know: files, time, windows, what a setting does.
//! Invariant: reading never fails; whatever the text says, there is a value, and a `Problem` with a place
//! for everything that was not understood.
//! Invariant: `assets/settings/default.json` names every key with its default, and nothing else.
//! Start at `Store` (what the program holds), `Settings` (the values) and `Theme`.

mod color;
mod document;
mod edit;
mod jsonc;
mod keymap;
mod places;
mod schema;
mod section;
mod sections;
mod settings;
mod store;
mod suggest;
mod theme;

pub mod builtin;

pub use color::{Rgba, contrast};
pub use edit::{EditError, add_to_list, remove_from_list, set_key};
pub use jsonc::Jsonc;
pub use keymap::{BoundAction, Keymap, KeymapBinding, KeymapBlock, parse_keymap};
pub use places::Problem;
pub use schema::{keymap_schema, settings_schema, theme_schema};
pub use section::{KeyInfo, KeyPath};
pub use sections::{
    Autosave, CurrentLine, CursorStyle, EditorSettings, FileSettings, KeymapBase, KeymapSettings,
    LineNumbers, MenuBar, ModelEffort, ModelSettings, MultiCursorModifier, ProviderSetting,
    ProviderWire, ReducedMotion, Restore, SearchSettings, Side, SoftWrap, TabCloseButton,
    TabSettings, TabShow, ThemeMode, ThemeSettings, UiSettings, Whitespace, WindowSettings,
};
pub use settings::Settings;
pub use store::{Source, Store, parse};
pub use suggest::nearest;
pub use theme::{Appearance, COLOR_TOKENS, Colors, SYNTAX_NAMES, SyntaxStyle, Theme, parse_theme};
