//! Settings of the window, colours, keys and the fonts around the text.

use crate::section::{choices, section};

section! {
    /// Parts of the window.
    WindowSettings {
        /// Zoom factor of the whole window.
        zoom: f32 = 1.0, 0.5..=3.0;
        /// Position of the menus (macOS always has its menu bar).
        menu: MenuBar = MenuBar::Button;
        /// Shows the tab bar.
        tabs: bool = true;
        /// Opens previews from the tree in a tab that the next preview reuses.
        preview_tabs: bool = true;
        /// Shows breadcrumbs above the text: the file's path and the symbols at the caret.
        breadcrumbs: bool = true;
        /// Position of a tab's close button.
        tab_close_button: TabCloseButton = TabCloseButton::Right;
        /// Shows icons for file types in tabs and in the tree.
        file_icons: bool = true;
        /// Shows the status bar.
        status_bar: bool = true;
        /// Side of the project tree.
        file_tree_side: Side = Side::Left;
        /// Selects the active file in the tree.
        file_tree_follows: bool = true;
    }
}

section! {
    /// Colour theme for light and dark mode.
    ThemeSettings {
        /// Light, dark, or following the system.
        mode: ThemeMode = ThemeMode::System;
        /// Name of the theme used when light.
        light: String = "Burin Light".to_owned();
        /// Name of the theme used when dark.
        dark: String = "Burin Dark".to_owned();
    }
}

section! {
    /// Base keymap to start from.
    KeymapSettings {
        /// Base keymap; your own bindings take precedence.
        base: KeymapBase = KeymapBase::VsCode;
    }
}

section! {
    /// Fonts and animations of the interface.
    UiSettings {
        /// Font family for menus, lists and buttons.
        font_family: String = "Inter".to_owned();
        /// Font size in pixels at zoom 1; other sizes are derived from it.
        font_size: f32 = 13.0, 9.0..=28.0;
        /// Disables animations of the interface.
        reduced_motion: ReducedMotion = ReducedMotion::System;
    }
}

choices! {
    /// Position of the menus.
    MenuBar {
        /// Behind a button in the title bar.
        Button = "button",
        /// In a menu bar.
        Bar = "bar",
        /// Nowhere; the command palette lists all commands.
        Hidden = "hidden",
    }
}

choices! {
    /// Position of a tab's close button.
    TabCloseButton {
        /// After the tab's title.
        Right = "right",
        /// Before the tab's title.
        Left = "left",
        /// Nowhere; a middle click closes.
        Hidden = "hidden",
    }
}

choices! {
    /// One side of the window.
    Side {
        /// On the left side.
        Left = "left",
        /// On the right side.
        Right = "right",
    }
}

choices! {
    /// Mode of the colour theme.
    ThemeMode {
        /// Follows the system's setting.
        System = "system",
        /// Always the light theme.
        Light = "light",
        /// Always the dark theme.
        Dark = "dark",
    }
}

choices! {
    /// Base keymap to start from.
    KeymapBase {
        /// Key bindings of VS Code.
        VsCode = "vscode",
        /// Key bindings of Zed.
        Zed = "zed",
    }
}

choices! {
    /// Whether animations are disabled.
    ReducedMotion {
        /// Follows the system's setting.
        System = "system",
        /// All animations are disabled.
        On = "on",
        /// All animations are enabled.
        Off = "off",
    }
}
