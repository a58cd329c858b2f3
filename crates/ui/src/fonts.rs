//! The fonts that come with the program: Inter for the window, JetBrains Mono for text.
//!
//! Both are under the SIL Open Font License, whose texts stand beside the files in `assets/fonts`.

use std::borrow::Cow;

use base::LogErr as _;
use gpui_kit::App;

/// Family for menus, lists and buttons.
pub const UI_FONT: &str = "Inter";

/// Family for text.
pub const CODE_FONT: &str = "JetBrains Mono";

const FILES: [&[u8]; 8] = [
    include_bytes!("../../../assets/fonts/inter/Inter-Regular.otf"),
    include_bytes!("../../../assets/fonts/inter/Inter-Medium.otf"),
    include_bytes!("../../../assets/fonts/inter/Inter-SemiBold.otf"),
    include_bytes!("../../../assets/fonts/inter/Inter-Italic.otf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-Regular.ttf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-Bold.ttf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-Italic.ttf"),
    include_bytes!("../../../assets/fonts/jetbrains-mono/JetBrainsMono-BoldItalic.ttf"),
];

/// Makes the fonts known to the text system. A font that does not load leaves the system's own.
pub fn load_fonts(cx: &App) {
    cx.text_system()
        .add_fonts(FILES.iter().map(|file| Cow::Borrowed(*file)).collect())
        .log_err();
}
