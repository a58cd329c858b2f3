//! The design system: theme tokens, fonts, icons, keys, controls and the picker.
//!
//! Knows: `settings` for values, gpui-kit for everything drawn. Must not know: documents, projects,
//! panes; no term of the editor's domain, no disk.
//! Invariant: no colour is written in code; every one comes from `cx.theme()` by its meaning.
//! Invariant: sizes are given in design pixels through `dp`, so that one zoom scales everything.
//! Invariant: every control has a role and a name; `a11y::unnamed` finds those without.
//! Invariant: every text in a control is printable, whatever its origin (`foreign`).
//! Start at `init`, `theme` (colours and sizes), `picker` (choosing from a list by typing) and the
//! controls.

mod active_settings;
mod apply_settings;
mod assets;
mod badge;
mod banner;
mod button;
mod divider;
mod empty_state;
mod fonts;
mod icon;
mod key_hint;
mod keys;
mod label;
mod library;
mod menu;
mod modal;
mod motion;
mod platform;
mod rest_timer;
mod row;
mod tab;
mod text_field;
mod theme;
mod toast;
mod toggle;
mod tooltip;

pub mod a11y;
pub mod foreign;
pub mod picker;
pub mod primary;

use base::Platform;
use gpui_kit::App;

pub use active_settings::ActiveSettings;
pub use apply_settings::set_settings;
pub use assets::Assets;
pub use badge::{Badge, Tone};
pub use banner::Banner;
pub use button::{Button, ButtonStyle, IconButton};
pub use divider::Divider;
pub use empty_state::EmptyState;
pub use fonts::{CODE_FONT, UI_FONT, font_files, load_fonts};
pub use icon::{Icon, IconSize, file_icon, folder_icon};
pub use key_hint::{KeyHint, keys_anywhere, keys_here, keys_text, keystroke_text};
pub use keys::{install_keymaps, remember_kit_keys};
pub use label::{Elide, Label, elide_middle};
pub use library::ThemeLibrary;
pub use menu::{AdjacentMenu, ContextMenu, Menu, MenuAnchor, MenuExt, PopupMenu, open_menu_at};
pub use modal::ModalLayer;
pub use motion::follow_system_motion;
pub use platform::ActivePlatform;
pub use rest_timer::RestTimer;
pub use row::{ListRow, TreeRow};
pub use tab::{Tab, TabMark};
pub use text_field::TextField;
pub use theme::{ActiveTheme, FontChoice, Theme, dp, row_height, set_fonts, set_theme, space};
pub use toast::{Corner, Toast, dismiss_toasts, show_toast};
pub use toggle::{Checkbox, Toggle};
pub use tooltip::Tooltip;

/// Initialises fonts, Burin's dark theme and the default settings; keys and menus are shown as
/// `platform` has them. Call once, after `gpui_kit::init`.
pub fn init(platform: Platform, cx: &mut App) {
    platform::init(platform, cx);
    fonts::load_fonts(cx);
    active_settings::init(cx);
    theme::init(cx);
    motion::init(cx);
    keys::remember_kit_keys(cx);
}
