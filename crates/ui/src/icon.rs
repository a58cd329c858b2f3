//! Icons under Burin's own names, drawn from Lucide, and icons for file types.

mod file;

use gpui_kit::{App, Hsla, IntoElement, RenderOnce, SharedString, Styled as _, Window, svg};

use crate::theme::dp;

pub use file::{file_icon, folder_icon};

macro_rules! icons {
    ($($name:ident = $file:literal,)+) => {
        /// An icon of one colour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoElement)]
        pub enum Icon { $(
            #[doc = concat!("`", $file, "`")]
            $name,
        )+ }

        impl Icon {
            /// All icons, in order of declaration.
            pub const ALL: &'static [Self] = &[ $(Self::$name,)+ ];

            /// Returns the path of the icon among the assets.
            pub fn path(self) -> SharedString {
                match self { $( Self::$name => SharedString::new_static(concat!("icons/", $file, ".svg")), )+ }
            }
        }
    };
}

icons! {
    Archive = "file-archive",
    ArrowDown = "arrow-down",
    ArrowLeft = "arrow-left",
    ArrowRight = "arrow-right",
    ArrowUp = "arrow-up",
    Bell = "bell",
    Binary = "binary",
    Book = "book-text",
    Bot = "bot",
    Box = "box",
    Braces = "braces",
    CaseSensitive = "case-sensitive",
    CaseUpper = "case-upper",
    Check = "check",
    ChevronDown = "chevron-down",
    ChevronLeft = "chevron-left",
    ChevronRight = "chevron-right",
    ChevronUp = "chevron-up",
    ChevronsUpDown = "chevrons-up-down",
    Circle = "circle",
    CircleAlert = "circle-alert",
    CircleCheck = "circle-check",
    CircleDot = "circle-dot",
    CircleX = "circle-x",
    Clock = "clock",
    Close = "x",
    CollapseAll = "chevrons-down-up",
    Columns = "columns-2",
    Command = "command",
    Copy = "copy",
    Cut = "scissors",
    Database = "database",
    Diff = "diff",
    Edit = "pencil",
    Ellipsis = "ellipsis",
    Enter = "corner-down-left",
    ExternalLink = "external-link",
    Eye = "eye",
    EyeOff = "eye-off",
    File = "file",
    FileCode = "file-code",
    FileCog = "file-cog",
    FileDiff = "file-diff",
    FileImage = "file-image",
    FileKey = "file-key",
    FileLock = "file-lock",
    FileMusic = "file-music",
    FilePlus = "file-plus",
    FileQuestion = "file-question-mark",
    FileSheet = "file-spreadsheet",
    FileSymlink = "file-symlink",
    FileTerminal = "file-terminal",
    FileText = "file-text",
    FileType = "file-type",
    FileVideo = "file-video-camera",
    Filter = "funnel",
    Folder = "folder",
    FolderGit = "folder-git-2",
    FolderOpen = "folder-open",
    FolderPlus = "folder-plus",
    FolderSymlink = "folder-symlink",
    GitBranch = "git-branch",
    GitMerge = "git-merge",
    Globe = "globe",
    Hash = "hash",
    Info = "info",
    Json = "file-braces",
    Keyboard = "keyboard",
    Layers = "layers",
    Lightbulb = "lightbulb",
    Link = "link",
    List = "list",
    ListTree = "list-tree",
    Menu = "menu",
    Message = "message-square",
    Minus = "minus",
    Moon = "moon",
    Package = "package",
    Palette = "palette",
    PanelBottom = "panel-bottom",
    PanelLeft = "panel-left",
    PanelRight = "panel-right",
    Paste = "clipboard-paste",
    Pin = "pin",
    Play = "play",
    Plus = "plus",
    Question = "circle-question-mark",
    Redo = "redo",
    Refresh = "refresh-cw",
    Regex = "regex",
    Replace = "replace",
    ReplaceAll = "replace-all",
    Rows = "rows-2",
    Save = "save",
    SaveAll = "save-all",
    Search = "search",
    Settings = "settings",
    Stop = "square",
    Sun = "sun",
    SymbolFunction = "square-function",
    Terminal = "square-terminal",
    TextCursor = "text-cursor",
    Trash = "trash",
    Undo = "undo",
    Unpin = "pin-off",
    Warning = "triangle-alert",
    WholeWord = "whole-word",
    Wrench = "wrench",
    WindowClose = "window-close",
    WindowMaximize = "window-maximize",
    WindowMinimize = "window-minimize",
    WindowRestore = "window-restore",
    Wrap = "text-wrap",
}

/// Size of an icon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IconSize {
    /// 12 design pixels, beside small text.
    Small,
    /// 14 design pixels, beside text.
    #[default]
    Medium,
    /// 16 design pixels, for icon buttons.
    Large,
    /// 32 design pixels, in an empty view.
    Huge,
}

impl IconSize {
    /// Returns the side of the icon in design pixels.
    fn pixels(self) -> f32 {
        match self {
            Self::Small => 12.0,
            Self::Medium => 14.0,
            Self::Large => 16.0,
            Self::Huge => 32.0,
        }
    }
}

impl Icon {
    /// Returns the icon in a size.
    pub fn size(self, size: IconSize) -> IconElement {
        IconElement {
            icon: self,
            size,
            color: None,
        }
    }

    /// Returns the icon in a colour.
    pub fn color(self, color: Hsla) -> IconElement {
        IconElement {
            icon: self,
            size: IconSize::default(),
            color: Some(color),
        }
    }
}

impl RenderOnce for Icon {
    fn render(self, _: &mut Window, _: &mut App) -> impl IntoElement {
        self.size(IconSize::default())
    }
}

/// An icon with size and colour. It has no accessible name: its container provides one.
#[derive(IntoElement)]
pub struct IconElement {
    icon: Icon,
    size: IconSize,
    color: Option<Hsla>,
}

impl IconElement {
    /// Sets a colour other than that of the surrounding text.
    pub fn color(mut self, color: Hsla) -> Self {
        self.color = Some(color);
        self
    }

    /// Sets the size of the icon.
    pub fn size(mut self, size: IconSize) -> Self {
        self.size = size;
        self
    }
}

impl RenderOnce for IconElement {
    fn render(self, window: &mut Window, _: &mut App) -> impl IntoElement {
        let color = self.color.unwrap_or_else(|| window.text_style().color);
        svg()
            .path(self.icon.path())
            .flex_none()
            .size(dp(self.size.pixels()))
            .text_color(color)
    }
}

#[cfg(test)]
mod tests;
