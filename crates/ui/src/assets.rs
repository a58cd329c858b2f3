//! Built-in images: the kit's, and additional icons.

use std::borrow::Cow;

use gpui_kit::{AssetSource, Result, SharedString};

gpui_kit::assets::icon_assets!(
    Extra,
    [
        ArrowDownUp,
        Binary,
        BookText,
        Box,
        Braces,
        CaseUpper,
        ChevronsDownUp,
        Circle,
        CircleDot,
        CircleQuestionMark,
        ClipboardPaste,
        Clock,
        Columns2,
        Command,
        CornerDownLeft,
        Database,
        Diff,
        FileArchive,
        FileBraces,
        FileCode,
        FileCog,
        FileDiff,
        FileImage,
        FileKey,
        FileLock,
        FileMusic,
        FilePlus,
        FileQuestionMark,
        FileSpreadsheet,
        FileSymlink,
        FileTerminal,
        FileType,
        FileVideoCamera,
        FolderGit2,
        FolderPlus,
        FolderSymlink,
        FolderTree,
        Funnel,
        GitBranch,
        GitCompare,
        GitMerge,
        Hash,
        Image,
        Keyboard,
        Layers,
        Lightbulb,
        Link,
        List,
        ListCollapse,
        ListFilter,
        ListTree,
        MessageSquare,
        Package,
        Pencil,
        Pin,
        PinOff,
        Play,
        Regex,
        ReplaceAll,
        Rows2,
        Save,
        SaveAll,
        Scissors,
        Square,
        SquareFunction,
        TextCursor,
        TextWrap,
        Trash,
        WholeWord,
        Wrench,
        X
    ]
);

/// Asset source for `with_assets`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assets;

impl AssetSource for Assets {
    fn load(&self, path: &str) -> Result<Option<Cow<'static, [u8]>>> {
        match Extra.load(path)? {
            Some(found) => Ok(Some(found)),
            None => gpui_kit::assets::Assets.load(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<SharedString>> {
        let mut names = Extra.list(path)?;
        names.extend(gpui_kit::assets::Assets.list(path)?);
        Ok(names)
    }
}
