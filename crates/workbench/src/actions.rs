//! Every command of the window, by what it acts on. The first line of each is its help text.
//!
//! A command is one action, whoever asks for it: a key, a menu, the palette, a button. The
//! namespaces are part of the names people write in keymaps, so they stay as they are.
//!
//! Contexts for keymaps: `Workbench` is the whole window, `Pane` a pane with its tabs, `ProjectTree`
//! the tree (with the flag `editing` while a name is typed), `ProjectSearch` the search panel (with
//! the flag `results` while its list has the keyboard); inside them stand `Editor` and `Picker`.

/// Commands of the program and its windows.
pub mod app {
    gpui_kit::actions!(
        app,
        [
            /// End the program. Unsaved text is kept and shown again at the next start.
            Quit,
            /// Open a second window.
            NewWindow,
            /// Close this window. Unsaved text is kept and shown again at the next start.
            CloseWindow,
            /// Make the window small in the task bar.
            Minimize,
            /// Make the window as large as the screen, or give it its size back.
            Zoom,
            /// Show which version this is.
            About,
            /// Open your settings file.
            OpenSettings,
            /// Show the default settings with their explanations.
            OpenDefaultSettings,
            /// Open your key bindings.
            OpenKeymap,
            /// Show the default key bindings.
            OpenDefaultKeymap,
            /// Open the folder with your own themes.
            OpenThemesFolder,
            /// Choose a theme, with a live preview.
            SelectTheme,
        ]
    );
}

/// Commands on files and folders.
pub mod file {
    gpui_kit::actions!(
        file,
        [
            /// Start a new, unnamed text.
            New,
            /// Choose a file by its path and open it.
            Open,
            /// Choose a folder by its path and open it in this window.
            OpenFolder,
            /// Choose among the folders opened lately.
            OpenRecent,
            /// Close the folder and keep the window.
            CloseFolder,
            /// Write the text to its file.
            Save,
            /// Write the text to another file.
            SaveAs,
            /// Write every changed text to its file.
            SaveAll,
            /// Throw away what was changed since the last save. Undo brings it back.
            Revert,
            /// Read the file again with another encoding.
            ReopenWithEncoding,
            /// Save with another encoding.
            SaveWithEncoding,
            /// Choose the language of this text.
            SelectLanguage,
            /// Choose the line ending of this text.
            SelectLineEnding,
            /// Choose tabs or spaces and their width for this text.
            SelectIndentation,
            /// Copy the path of the file.
            CopyPath,
            /// Copy the path of the file, counted from the folder.
            CopyRelativePath,
            /// Show the file in the system's file manager.
            RevealInFileManager,
            /// Show the file in the project tree.
            RevealInTree,
            /// Compare the text with what is on disk, after both changed.
            CompareWithDisk,
            /// Keep this text and overwrite what is on disk.
            KeepMine,
            /// Take what is on disk and drop this text. Undo brings it back.
            TakeTheirs,
        ]
    );
}

/// Commands that find a place and go there.
pub mod go {
    gpui_kit::actions!(
        go,
        [
            /// Run any command by its name.
            ShowCommands,
            /// Search files, symbols, what code is about, and text, all at once.
            Search,
            /// Find a symbol of the project.
            FindProjectSymbol,
            /// Show how the index of the folder stands, and pause it.
            ShowIndex,
            /// Find a file of the project by its name.
            FindFile,
            /// Find a symbol of this file.
            FindSymbol,
            /// Go to a line and column.
            ToLine,
            /// Go to where you were before.
            Back,
            /// Go to where you were after.
            Forward,
        ]
    );
}

/// Commands on what Tab offers. Taking an offer is `editor`'s.
pub mod suggestions {
    gpui_kit::actions!(
        suggestions,
        [
            /// Show who answered and why nothing is shown; rest, or turn it off.
            ShowStatus,
            /// Offer nothing for five minutes, or again.
            Snooze,
            /// Offer nothing any more, or again.
            Toggle,
            /// Offer nothing in files of this language any more, or again.
            ToggleLanguage,
        ]
    );
}

/// Commands on panes and tabs.
pub mod pane {
    use gpui_kit::Action;
    use gpui_kit::private::schemars::{self, JsonSchema};
    use serde::Deserialize;

    gpui_kit::actions!(
        pane,
        [
            /// Show this text in a second pane on the right.
            SplitRight,
            /// Show this text in a second pane on the left.
            SplitLeft,
            /// Show this text in a second pane above.
            SplitUp,
            /// Show this text in a second pane below.
            SplitDown,
            /// Go to the pane on the left.
            FocusLeft,
            /// Go to the pane on the right.
            FocusRight,
            /// Go to the pane above.
            FocusUp,
            /// Go to the pane below.
            FocusDown,
            /// Go to the next pane.
            FocusNext,
            /// Go to the previous pane.
            FocusPrevious,
            /// Give all panes the same room.
            EvenOut,
            /// Close this tab.
            CloseTab,
            /// Close all tabs of this pane but this one and the pinned ones.
            CloseOtherTabs,
            /// Close the tabs on the right of this one.
            CloseTabsToTheRight,
            /// Close the tabs of this pane that are saved.
            CloseSavedTabs,
            /// Close the tabs of this pane, pinned ones apart.
            CloseAllTabs,
            /// Open the tab that was closed last.
            ReopenClosedTab,
            /// Go to the tab on the right.
            NextTab,
            /// Go to the tab on the left.
            PreviousTab,
            /// Go to the last tab of the pane.
            LastTab,
            /// Choose among the tabs, the one used last first.
            SwitchTab,
            /// Choose among the tabs, from the one not used for longest.
            SwitchTabBack,
            /// Pin this tab to the front, or free it.
            TogglePinTab,
            /// Make a preview tab stay.
            KeepTab,
            /// Move this tab one place to the left.
            MoveTabLeft,
            /// Move this tab one place to the right.
            MoveTabRight,
            /// Move this tab to the next pane.
            MoveTabToNextPane,
        ]
    );

    /// Go to a tab by its place, counted from 1.
    #[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema, Action)]
    #[action(namespace = pane)]
    #[schemars(crate = "schemars")]
    pub struct ActivateTab(pub usize);
}

/// Commands on what the window shows.
pub mod view {
    gpui_kit::actions!(
        view,
        [
            /// Show or hide the project tree.
            ToggleProjectTree,
            /// Go to the project tree, or back to the text.
            FocusProjectTree,
            /// Go to the text.
            FocusEditor,
            /// Make everything larger.
            ZoomIn,
            /// Make everything smaller.
            ZoomOut,
            /// Give everything its usual size.
            ResetZoom,
            /// Fill the whole screen, or stop doing so.
            ToggleFullScreen,
            /// Show what was reported lately.
            ShowNotifications,
            /// Take the reports off the screen.
            DismissNotifications,
            /// Open the menu bar, to go through it by keys.
            ShowMenu,
        ]
    );
}

/// Commands of the project tree.
pub mod project_tree {
    gpui_kit::actions!(
        project_tree,
        [
            /// Select the file or folder above.
            SelectPrevious,
            /// Select the file or folder below.
            SelectNext,
            /// Select the first file or folder.
            SelectFirst,
            /// Select the last file or folder.
            SelectLast,
            /// Go a page up.
            SelectPageUp,
            /// Go a page down.
            SelectPageDown,
            /// Open a folder, or go into it.
            Expand,
            /// Close a folder, or go to the folder it lies in.
            Collapse,
            /// Close all folders.
            CollapseAll,
            /// Open the file in a tab that stays.
            Open,
            /// Look at the file and stay in the tree.
            Preview,
            /// Open the file in a pane on the right.
            OpenToTheSide,
            /// Make a file here.
            NewFile,
            /// Make a folder here.
            NewFolder,
            /// Give it another name.
            Rename,
            /// Make a copy beside it.
            Duplicate,
            /// Move it to the trash.
            Delete,
            /// Mark it to be moved.
            Cut,
            /// Mark it to be copied.
            Copy,
            /// Put what was marked into this folder.
            Paste,
            /// Copy its path.
            CopyPath,
            /// Copy its path, counted from the folder.
            CopyRelativePath,
            /// Show it in the system's file manager.
            RevealInFileManager,
            /// Search in this folder.
            FindInFolder,
            /// Show or hide what the ignore files name.
            ToggleIgnored,
            /// Read the folders again.
            Refresh,
            /// Take back the last deletion, move or rename made here.
            Undo,
            /// Open the menu of the selected file or folder.
            ShowMenu,
            /// Leave the filter, or go back to the text.
            Cancel,
        ]
    );
}

/// Commands of the search through the project.
pub mod project_search {
    gpui_kit::actions!(
        project_search,
        [
            /// Search through all files of the project.
            Show,
            /// Search and replace through all files of the project.
            ShowReplace,
            /// Read the pattern as a regular expression, or as it stands.
            ToggleRegex,
            /// Tell capitals from small letters, or not.
            ToggleCase,
            /// Find whole words only, or parts too.
            ToggleWord,
            /// Show or hide the fields for files to search and to leave out.
            ToggleFilters,
            /// Show or hide the replacement.
            ToggleReplace,
            /// Search again.
            Run,
            /// Stop the search that is running.
            Stop,
            /// Go to the next result.
            SelectNext,
            /// Go to the previous result.
            SelectPrevious,
            /// Open the result.
            Open,
            /// Take the result off the list.
            Dismiss,
            /// Replace this result.
            Replace,
            /// Replace all results of this file.
            ReplaceInFile,
            /// Replace all results.
            ReplaceAll,
            /// Undo the last replacement, in open and in closed files.
            UndoReplace,
            /// Go from the results to the field, or from the field to the text.
            Cancel,
            /// Go to the results.
            FocusResults,
            /// Open all results in one tab, to edit them where they stand.
            EditResults,
        ]
    );
}

/// Commands on a view of excerpts of several files.
pub mod excerpts {
    gpui_kit::actions!(
        excerpts,
        [
            /// Open the file that the line at the caret comes from, at that line.
            OpenSource,
        ]
    );
}
