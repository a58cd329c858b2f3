//! The built-in fonts: Inter for the interface, JetBrains Mono for code.
//!
//! Both are under the SIL Open Font License; its texts are next to the files in `assets/fonts`.

use std::borrow::Cow;

use base::LogErr as _;
use gpui_kit::App;

/// Font family for menus, lists and buttons.
pub const UI_FONT: &str = "Inter";

/// Font family for code.
pub const CODE_FONT: &str = "JetBrains Mono";

static FILES: [&[u8]; 8] = [
    include_bytes!("../../../assets/fonts/inter/Inter-Regular.otf"),
    include_bytes!("../../../assets/fonts/inter/Inter-Medium.otf"),
    include_bytes!("../../../assets/fonts/inter/Inter-SemiBold.otf"),
    include_bytes!("../../../assets/fonts/inter/Inter-Italic.otf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-Regular.ttf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-Bold.ttf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-Italic.ttf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-BoldItalic.ttf"),
];

/// Returns the files of the built-in fonts, for text that is drawn other than by the toolkit.
pub fn font_files() -> &'static [&'static [u8]] {
    &FILES
}

/// Registers the fonts with the text system. If a font fails to load, the system's font is used.
pub fn load_fonts(cx: &App) {
    cx.text_system()
        .add_fonts(FILES.iter().map(|file| Cow::Borrowed(*file)).collect())
        .log_err();
}
