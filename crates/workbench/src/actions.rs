//! Every command of the window, grouped by what it acts on. The first line of each doc comment is
//! its help text.
//!
//! A key, a menu, the palette and a button all dispatch the same action. The namespaces are part of
//! the names users write in keymaps, so they must not change.
//!
//! Keymap contexts: `Workbench` is the whole window, `Pane` a pane with its tabs, `ProjectTree` the
//! tree (with the flag `editing` while a name is being typed), `ProjectSearch` the search panel
//! (with the flag `results` while its list has the keyboard focus), `TestsPanel` the list of tests; `Editor` and `Picker` nest
//! inside them.

/// Commands of the application and its windows.
pub mod app {
    use gpui_kit::Action;
    use gpui_kit::private::schemars::{self, JsonSchema};
    use serde::Deserialize;

    gpui_kit::actions!(
        app,
        [
            /// Quit Burin. Unsaved text is kept and restored at the next start.
            Quit,
            /// Open a new window.
            NewWindow,
            /// Close this window. Unsaved text is kept and restored at the next start.
            CloseWindow,
            /// Minimize the active window.
            Minimize,
            /// Maximize this window, or restore its size.
            Zoom,
            /// Hide Burin's windows. macOS only.
            Hide,
            /// Hide the windows of all other programs. macOS only.
            HideOthers,
            /// Show the windows of all hidden programs. macOS only.
            ShowAll,
            /// Show the version of Burin.
            About,
            /// Install the command `burin`, which opens files from a terminal.
            InstallCommand,
            /// Restart Burin, as after an update. Windows, tabs and unsaved text come back.
            Restart,
            /// Open your settings file.
            OpenSettings,
            /// Show the default settings with their explanations.
            OpenDefaultSettings,
            /// Open your key bindings.
            OpenKeymap,
            /// Show the default key bindings.
            OpenDefaultKeymap,
            /// Open the folder with your custom themes.
            OpenThemesFolder,
            /// Select a theme with a live preview.
            SelectTheme,
        ]
    );

    /// Open a folder, given as the text form of its path, in a window of its own.
    #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Action)]
    #[action(namespace = app)]
    #[schemars(crate = "schemars")]
    pub struct OpenRecentFolder(pub String);
}

/// Commands for files and folders.
pub mod file {
    gpui_kit::actions!(
        file,
        [
            /// Create a new untitled file.
            New,
            /// Open a file by its path.
            Open,
            /// Open a folder by its path in this window.
            OpenFolder,
            /// Open a recently used folder.
            OpenRecent,
            /// Close the folder and keep the window open.
            CloseFolder,
            /// Save the text to its file.
            Save,
            /// Save the text to another file.
            SaveAs,
            /// Save every modified file.
            SaveAll,
            /// Discard all changes since the last save. Undo restores them.
            Revert,
            /// Reopen the file with another encoding.
            ReopenWithEncoding,
            /// Save the file with another encoding.
            SaveWithEncoding,
            /// Select the language mode of this file.
            SelectLanguage,
            /// Select the line ending of this file.
            SelectLineEnding,
            /// Select tabs or spaces and their width for this file.
            SelectIndentation,
            /// Copy the absolute path of the file.
            CopyPath,
            /// Copy the path of the file relative to the folder.
            CopyRelativePath,
            /// Reveal the file in the system's file manager.
            RevealInFileManager,
            /// Reveal the file in the project tree.
            RevealInTree,
            /// Compare the text with the file on disk after both changed.
            CompareWithDisk,
            /// Compare another file with the text.
            CompareWithFile,
            /// Compare the clipboard with the text.
            CompareWithClipboard,
            /// Keep this text and overwrite the file on disk.
            KeepMine,
            /// Load the file from disk and discard this text. Undo restores it.
            TakeTheirs,
        ]
    );
}

/// Commands for navigating between locations.
pub mod go {
    gpui_kit::actions!(
        go,
        [
            /// Show all commands and run one by name.
            ShowCommands,
            /// Search files, symbols, code by meaning, and text at once.
            Search,
            /// Find a symbol in the project.
            FindProjectSymbol,
            /// Show the status of the folder's index, or pause indexing.
            ShowIndex,
            /// Find a file in the project by name.
            FindFile,
            /// Find a symbol in this file.
            FindSymbol,
            /// Go to a line and column.
            ToLine,
            /// Go back to the previous location.
            Back,
            /// Go forward to the next location.
            Forward,
        ]
    );
}

/// Commands for help: the guide, crashes, issues.
pub mod help {
    gpui_kit::actions!(
        help,
        [
            /// Search the guide and open one of its pages.
            SearchDocs,
            /// Open a text with the versions, the machine and the latest crash, for an issue.
            ReportIssue,
            /// Copy the report about the latest crash, without names, paths and texts.
            CopyCrashReport,
            /// Open the page of Burin's issues in the browser.
            OpenIssues,
        ]
    );
}

/// Commands for Tab suggestions. Accepting a suggestion belongs to `editor`.
pub mod suggestions {
    gpui_kit::actions!(
        suggestions,
        [
            /// Show the source of the suggestion or why there is none; snooze suggestions or turn
            /// them off.
            ShowStatus,
            /// Show the suggestions that validation refused, with their text and the reason.
            ShowLog,
            /// Snooze suggestions for five minutes, or resume them.
            Snooze,
            /// Turn suggestions off or on.
            Toggle,
            /// Turn suggestions off or on for the language of this file.
            ToggleLanguage,
        ]
    );
}

/// Commands for the keys of Vim. Pressing them belongs to `editor`.
pub mod vim {
    gpui_kit::actions!(
        vim,
        [
            /// Switch the keys of Vim on or off.
            ToggleVimMode,
            /// List the lines of your .vimrc that have no effect.
            ShowVimrcProblems,
        ]
    );
}

/// Commands for snippets. Moving between tab stops belongs to `editor`.
pub mod snippets {
    gpui_kit::actions!(
        snippets,
        [
            /// Insert a snippet for the language of this text.
            Insert,
            /// Open your snippets for the language of this text.
            Configure,
        ]
    );
}

/// Commands for language servers and what they report.
pub mod language {
    gpui_kit::actions!(
        language,
        [
            /// Show the problems in this folder.
            ShowProblems,
            /// Go to the next problem of this file, then to the first one of the next file.
            NextProblem,
            /// Go to the previous problem of this file, then to the last one of the file before.
            PreviousProblem,
            /// Show the language servers of this folder; restart, stop or install one.
            ShowServers,
            /// Restart all language servers of this folder.
            RestartServers,
            /// Go to the definition of the symbol at the caret; at its definition, find its references.
            GoToDefinition,
            /// Go to the declaration of the symbol at the caret.
            GoToDeclaration,
            /// Go to the type of the symbol at the caret.
            GoToTypeDefinition,
            /// Go to the implementations of the symbol at the caret.
            GoToImplementation,
            /// Find the references to the symbol at the caret and show them in one tab.
            FindReferences,
            /// Show the definition of the symbol at the caret below its row.
            PeekDefinition,
            /// Show the references to the symbol at the caret below its row.
            PeekReferences,
            /// Show the functions that call the one at the caret.
            ShowIncomingCalls,
            /// Show the functions that the one at the caret calls.
            ShowOutgoingCalls,
            /// Show the types from which the one at the caret is derived.
            ShowSupertypes,
            /// Show the types that are derived from the one at the caret.
            ShowSubtypes,
            /// Rename the symbol at the caret in all files.
            RenameSymbol,
            /// Show the fixes and refactorings for the selection.
            ShowCodeActions,
            /// Sort the imports of the text and remove those without use.
            OrganizeImports,
            /// Apply all safe fixes to the text.
            FixAll,
            /// Undo the latest rename or refactoring of several files, as a whole.
            UndoRefactoring,
            /// Format the text.
            FormatDocument,
            /// Format the selected rows.
            FormatSelection,
        ]
    );
}

/// Commands for conflicts of merges.
pub mod conflicts {
    gpui_kit::actions!(
        git,
        [
            /// Resolve the conflict at the caret with our side.
            AcceptOurs,
            /// Resolve the conflict at the caret with their side.
            AcceptTheirs,
            /// Resolve the conflict at the caret with our side, then their side.
            AcceptBoth,
            /// Resolve the conflict at the caret with their side, then our side.
            AcceptBothTheirsFirst,
            /// Resolve the conflict at the caret with the common base of both sides.
            AcceptBase,
            /// Keep the changes of both sides at the caret, if they fit together.
            AcceptProposal,
            /// Resolve all open conflicts of this text with our side.
            AcceptAllOurs,
            /// Resolve all open conflicts of this text with their side.
            AcceptAllTheirs,
            /// Go to the next open conflict of this text.
            NextConflict,
            /// Go to the previous open conflict of this text.
            PreviousConflict,
            /// Show our side of this text on its left and their side on its right.
            OpenMergeEditor,
            /// Show the common base of both sides below this text.
            ShowBase,
            /// Mark this text as resolved: save and stage it, unless it has conflict markers.
            MarkResolved,
            /// Give the file that was marked as resolved last its conflict back.
            UndoMarkResolved,
            /// Show the conflicts of the repository and resolve one.
            ShowConflicts,
        ]
    );
}

/// Commands for the tests of this folder. Keymap context of their list: `TestsPanel`.
pub mod test_runs {
    gpui_kit::actions!(
        tests,
        [
            /// Run the test or the suite at the caret.
            RunAtCaret,
            /// Run all tests of this file.
            RunFile,
            /// Run all tests of this folder.
            RunAll,
            /// Run the tests again that failed.
            RunFailed,
            /// Run the tests again that ran last.
            RunLast,
            /// Stop the tests that run.
            Stop,
            /// Show the tests of this folder with their results.
            ShowTests,
            /// Run the tests of this file after each save, or no longer.
            ToggleWatch,
            /// Select the next test of the list.
            SelectNext,
            /// Select the previous test of the list.
            SelectPrevious,
            /// Run the selected test or suite of the list.
            RunSelected,
            /// List failed tests first, or all in the order of files.
            ToggleFailedFirst,
            /// Clear the filter of the list, or return to the editor.
            Cancel,
        ]
    );
}

/// Commands for tasks.
pub mod tasks {
    gpui_kit::actions!(
        tasks,
        [
            /// Show the tasks of this folder and run one.
            RunTask,
            /// Run the task that ran last again.
            RunLastTask,
            /// Run the build task, or choose one of several.
            RunBuildTask,
            /// Run the test task, or choose one of several.
            RunTestTask,
            /// Run a task about the place of the caret.
            RunTaskAtCaret,
            /// Stop a running task.
            StopTask,
            /// Open the file with the tasks of this folder, or create it.
            OpenTaskFile,
        ]
    );
}

/// Commands of the places that are shown below a row.
pub mod peek {
    gpui_kit::actions!(
        peek,
        [
            /// Select the next place.
            SelectNext,
            /// Select the previous place.
            SelectPrevious,
            /// Scroll the text of the place down.
            ScrollDown,
            /// Scroll the text of the place up.
            ScrollUp,
            /// Open the place in a tab.
            Open,
            /// Close the places and return to the text.
            Close,
        ]
    );
}

/// Commands of inline edits.
pub mod inline_edit {
    gpui_kit::actions!(
        inline_edit,
        [
            /// Edit the selected lines, or insert at a blank line, by an instruction to a model. With several selections, the first one is edited.
            Open,
            /// Accept the change of the inline edit.
            Accept,
            /// Stop the inline edit, reject its change, or close it.
            Cancel,
        ]
    );
}

/// Commands for panes and tabs.
pub mod pane {
    use gpui_kit::Action;
    use gpui_kit::private::schemars::{self, JsonSchema};
    use serde::Deserialize;

    gpui_kit::actions!(
        pane,
        [
            /// Split the pane to the right.
            SplitRight,
            /// Split the pane to the left.
            SplitLeft,
            /// Split the pane upwards.
            SplitUp,
            /// Split the pane downwards.
            SplitDown,
            /// Focus the pane on the left.
            FocusLeft,
            /// Focus the pane on the right.
            FocusRight,
            /// Focus the pane above.
            FocusUp,
            /// Focus the pane below.
            FocusDown,
            /// Focus the next pane.
            FocusNext,
            /// Focus the previous pane.
            FocusPrevious,
            /// Give all panes the same size.
            EvenOut,
            /// Close the active tab.
            CloseTab,
            /// Close all other tabs of this pane except pinned ones.
            CloseOtherTabs,
            /// Close the tabs to the right of this one.
            CloseTabsToTheRight,
            /// Close the saved tabs of this pane.
            CloseSavedTabs,
            /// Close all tabs of this pane except pinned ones.
            CloseAllTabs,
            /// Reopen the most recently closed tab.
            ReopenClosedTab,
            /// Go to the tab on the right.
            NextTab,
            /// Go to the tab on the left.
            PreviousTab,
            /// Go to the last tab of the pane.
            LastTab,
            /// Switch between tabs, most recently used first.
            SwitchTab,
            /// Switch between tabs, least recently used first.
            SwitchTabBack,
            /// Pin or unpin this tab.
            TogglePinTab,
            /// Keep a preview tab open.
            KeepTab,
            /// Move this tab one position to the left.
            MoveTabLeft,
            /// Move this tab one position to the right.
            MoveTabRight,
            /// Move this tab to the next pane.
            MoveTabToNextPane,
        ]
    );

    /// Go to a tab by its position, counted from 1.
    #[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema, Action)]
    #[action(namespace = pane)]
    #[schemars(crate = "schemars")]
    pub struct ActivateTab(pub usize);
}

/// Commands for the layout of the window.
pub mod view {
    gpui_kit::actions!(
        view,
        [
            /// Show or hide the project tree.
            ToggleProjectTree,
            /// Focus the project tree, or return to the editor.
            FocusProjectTree,
            /// Focus the active editor.
            FocusEditor,
            /// Increase the size of the interface.
            ZoomIn,
            /// Decrease the size of the interface.
            ZoomOut,
            /// Reset the size of the interface.
            ResetZoom,
            /// Enter or leave full screen.
            ToggleFullScreen,
            /// Show the list of recent notifications.
            ShowNotifications,
            /// Dismiss the notifications on screen.
            DismissNotifications,
            /// Open the menu bar for keyboard navigation.
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
            /// Select one page up.
            SelectPageUp,
            /// Select one page down.
            SelectPageDown,
            /// Expand a folder, or move into it.
            Expand,
            /// Collapse a folder, or move to its parent.
            Collapse,
            /// Collapse all folders of the tree.
            CollapseAll,
            /// Open the file in a permanent tab.
            Open,
            /// Preview the file and keep the focus in the tree.
            Preview,
            /// Open the file in a pane on the right.
            OpenToTheSide,
            /// Choose how to open the file: as text, preview, image, table or bytes.
            OpenWith,
            /// Create a file in this folder.
            NewFile,
            /// Create a folder in this folder.
            NewFolder,
            /// Rename the file or folder.
            Rename,
            /// Duplicate the file or folder.
            Duplicate,
            /// Move the file or folder to the trash.
            Delete,
            /// Mark the file or folder to be moved.
            Cut,
            /// Mark the file or folder to be copied.
            Copy,
            /// Paste the marked file or folder into this folder.
            Paste,
            /// Copy the absolute path.
            CopyPath,
            /// Copy the path relative to the folder.
            CopyRelativePath,
            /// Reveal the item in the system's file manager.
            RevealInFileManager,
            /// Search in this folder.
            FindInFolder,
            /// Show or hide ignored files.
            ToggleIgnored,
            /// Read the folders from disk again.
            Refresh,
            /// Undo the last deletion, move or rename in the tree.
            Undo,
            /// Open the context menu of the selected file or folder.
            ShowMenu,
            /// Clear the filter, or return to the editor.
            Cancel,
        ]
    );
}

/// Commands of the project search.
pub mod project_search {
    gpui_kit::actions!(
        project_search,
        [
            /// Search in all files of the project.
            Show,
            /// Search and replace in all files of the project.
            ShowReplace,
            /// Interpret the pattern as a regular expression, or literally.
            ToggleRegex,
            /// Match case, or ignore it.
            ToggleCase,
            /// Match whole words only, or parts of words.
            ToggleWord,
            /// Show or hide the fields for files to include and exclude.
            ToggleFilters,
            /// Show or hide the replacement field.
            ToggleReplace,
            /// Run the search again.
            Run,
            /// Stop the running search.
            Stop,
            /// Go to the next result.
            SelectNext,
            /// Go to the previous result.
            SelectPrevious,
            /// Open the selected result.
            Open,
            /// Remove the result from the list.
            Dismiss,
            /// Replace the selected result.
            Replace,
            /// Replace all results in this file.
            ReplaceInFile,
            /// Replace all results of the search.
            ReplaceAll,
            /// Undo the last replacement, in open and in closed files.
            UndoReplace,
            /// Return from the results to the search field, or from the field to the editor.
            Cancel,
            /// Focus the search results.
            FocusResults,
            /// Open all results in one tab and edit them in place.
            EditResults,
        ]
    );
}

/// Commands for a view of excerpts from several files.
pub mod excerpts {
    gpui_kit::actions!(
        excerpts,
        [
            /// Open the source file of the line at the caret.
            OpenSource,
        ]
    );
}
