//! Settings of the window, colours, keys and the fonts around the text.

use crate::section::{choices, section};

section! {
    /// The window around the text.
    WindowSettings {
        /// Size of everything, as a factor.
        zoom: f32 = 1.0, 0.5..=3.0;
        /// Where the menus are (a Mac always has its menu bar).
        menu: MenuBar = MenuBar::Button;
        /// Shows the row of tabs.
        tabs: bool = true;
        /// Looking at a file from the tree opens it in a tab that the next look reuses.
        preview_tabs: bool = true;
        /// Shows the path of the file and where in it the caret is, above the text.
        breadcrumbs: bool = true;
        /// Where a tab has its close button.
        tab_close_button: TabCloseButton = TabCloseButton::Right;
        /// Shows a picture for the kind of file in tabs and in the tree.
        file_icons: bool = true;
        /// Shows the status bar.
        status_bar: bool = true;
        /// Side of the file tree.
        file_tree_side: Side = Side::Left;
        /// Selects the open file in the tree.
        file_tree_follows: bool = true;
    }
}

section! {
    /// Colours.
    ThemeSettings {
        /// Light, dark, or what the system says.
        mode: ThemeMode = ThemeMode::System;
        /// Name of the theme used when light.
        light: String = "Burin Light".to_owned();
        /// Name of the theme used when dark.
        dark: String = "Burin Dark".to_owned();
    }
}

section! {
    /// Keys.
    KeymapSettings {
        /// The keys to start from; your own keymap comes on top.
        base: KeymapBase = KeymapBase::VsCode;
    }
}

section! {
    /// Everything around the text.
    UiSettings {
        /// Family of the font for menus, lists and buttons.
        font_family: String = "Inter".to_owned();
        /// Its size in pixels at zoom 1; other sizes follow it.
        font_size: f32 = 13.0, 9.0..=28.0;
        /// Leaves out movement.
        reduced_motion: ReducedMotion = ReducedMotion::System;
    }
}

choices! {
    /// Where the menus are.
    MenuBar {
        /// Behind a button in the title bar.
        Button = "button",
        /// In a bar.
        Bar = "bar",
        /// Nowhere; the command palette has everything.
        Hidden = "hidden",
    }
}

choices! {
    /// Where a tab has its close button.
    TabCloseButton {
        /// After the title.
        Right = "right",
        /// Before the title.
        Left = "left",
        /// Nowhere; a middle click closes.
        Hidden = "hidden",
    }
}

choices! {
    /// A side of the window.
    Side {
        /// Left.
        Left = "left",
        /// Right.
        Right = "right",
    }
}

choices! {
    /// Light or dark.
    ThemeMode {
        /// As the system says.
        System = "system",
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
    }
}

choices! {
    /// The keys to start from.
    KeymapBase {
        /// Visual Studio Code's.
        VsCode = "vscode",
        /// Zed's.
        Zed = "zed",
    }
}

choices! {
    /// Whether movement is left out.
    ReducedMotion {
        /// As the system says.
        System = "system",
        /// Yes.
        On = "on",
        /// No.
        Off = "off",
    }
}
