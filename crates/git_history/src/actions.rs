//! All actions of the history. The first line of each is its help text.
//!
//! Those of the namespace `git` belong to the window. Key contexts of the others: `GitHistory` is the whole view, with
//! the flag `files` while the files of a commit have the keyboard; `GitHistoryList` are its lists, where single letters
//! are commands.

/// Commands of the window.
pub mod git {
    gpui_kit::actions!(
        git,
        [
            /// Show the history of this repository.
            ShowHistory,
            /// Show the history of this file.
            ShowFileHistory,
            /// Show the history of the selected lines.
            ShowLineHistory,
            /// Show or hide the authors of the lines beside the text.
            ToggleBlame,
            /// Show the commit that last changed the line of the caret.
            ShowCommitOfLine,
            /// Open the commit that last changed the line of the caret in the history.
            OpenCommitOfLine,
            /// Copy the id of the commit that last changed the line of the caret.
            CopyCommitOfLine,
            /// Undo the last action of Git, such as a commit or a switch. Shows the way first.
            UndoLastAction,
            /// Show the version of the file before the one that is shown, from the history of the file.
            OlderVersion,
            /// Show the version of the file after the one that is shown, from the history of the file.
            NewerVersion,
            /// Choose a former state from the reflog, and return to it. Shows what is gained and lost first.
            ShowReflog,
        ]
    );
}

gpui_kit::actions!(
    git_history,
    [
        /// Select the next commit or file.
        SelectNext,
        /// Select the previous commit or file.
        SelectPrevious,
        /// Select the commit a page below.
        SelectPageDown,
        /// Select the commit a page above.
        SelectPageUp,
        /// Select the first commit.
        SelectFirst,
        /// Select the last commit that is loaded.
        SelectLast,
        /// Go to the files of the commit, or open the change of the selected file.
        OpenSelected,
        /// Return from the files to the commits, from there to the editor, or clear the filter.
        Cancel,
        /// Edit the filter.
        FocusFilter,
        /// Show the commits of all branches, or those of the current one.
        ToggleAllBranches,
        /// Read the history again.
        Refresh,
        /// Check out the selected commit without a branch.
        CheckOut,
        /// Create a branch at the selected commit.
        CreateBranch,
        /// Create a tag at the selected commit.
        CreateTag,
        /// Apply the selected commit onto the current branch.
        CherryPick,
        /// Revert the selected commit with a new one.
        Revert,
        /// Edit the list of the commits from the selected one on, then replay them.
        RebaseFrom,
        /// Mark the selected commit for a comparison with another one, or take the mark away.
        MarkForComparison,
        /// Show the changes between the marked commit and the selected one.
        CompareWithMarked,
        /// Show the changes from the selected commit to the files as they are now.
        CompareWithWorkingTree,
        /// Move the current branch to the selected commit; its later changes stay staged.
        ResetSoft,
        /// Move the current branch to the selected commit; its later changes stay in the files.
        ResetMixed,
        /// Move the current branch to the selected commit and discard all later changes.
        ResetHard,
        /// Copy the id of the selected commit.
        CopyId,
        /// Open the selected commit on the web page of the repository.
        OpenOnHost,
    ]
);
