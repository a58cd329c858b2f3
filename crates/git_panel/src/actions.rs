//! All actions of Git. The first line of each is its help text.
//!
//! Key contexts: `GitPanel` is the whole panel, `GitChanges` its list, `GitPrompt` a question of Git or of the panel;
//! the message is an `Editor` inside `GitPanel`. The window handles those of the namespace `git`, so that they work
//! everywhere; the panel handles both. `GitRebase` is the list of a rebase, `GitRebaseList` its commits, where single
//! letters are commands.

gpui_kit::actions!(
    git,
    [
        /// Show the changes of this folder, or return to the editor.
        ShowChanges,
        /// Stage the changes of this file.
        StageFile,
        /// Take the changes of this file out of the next commit.
        UnstageFile,
        /// Stage all changes of this repository.
        StageAll,
        /// Take all changes of this repository out of the next commit.
        UnstageAll,
        /// Stage the change at the caret.
        StageHunk,
        /// Take the staged change at the caret out of the next commit.
        UnstageHunk,
        /// Discard the unstaged change at the caret. Undo restores it.
        DiscardHunk,
        /// Stage the selected lines of the diff, or the line of the caret.
        StageLines,
        /// Take the selected lines of the diff, or the line of the caret, out of the next commit.
        UnstageLines,
        /// Discard the selected lines of the diff, or the line of the caret. Undo restores them.
        DiscardLines,
        /// Leave changes of white space alone out of the diffs, or show them again. Staging still takes whole changes.
        ToggleWhitespaceInDiffs,
        /// Show both texts of a diff side by side, or one below the other. In a narrow view they are one below the other.
        ToggleSideBySideDiffs,
        /// Go to the other place of the moved lines at the caret.
        GoToMovedLines,
        /// Show the changes from a branch, a stash or a commit to the files as they are now.
        CompareWorkingTree,
        /// Show the changes from a branch, a stash or a commit to what is staged.
        CompareIndex,
        /// Show the changes between two branches, stashes or commits.
        CompareVersions,
        /// Go to the next change among all changed files.
        NextChange,
        /// Go to the previous change among all changed files.
        PreviousChange,
        /// Commit the staged changes.
        Commit,
        /// Commit the staged changes and push the branch.
        CommitAndPush,
        /// Replace the last commit by one with the staged changes as well.
        Amend,
        /// Commit the staged changes with a line that signs them off.
        CommitSignedOff,
        /// Commit the staged changes without running hooks.
        CommitWithoutHooks,
        /// Replace the message by that of the last commit.
        UseLastMessage,
        /// Ask the small model for a message for the staged changes. Their diff leaves this computer if the model does not run on it.
        SuggestMessage,
        /// Switch to another branch.
        SwitchBranch,
        /// Create a branch at this commit and switch to it.
        CreateBranch,
        /// Fetch from all remotes.
        Fetch,
        /// Fetch and join the upstream branch.
        Pull,
        /// Push the branch to its upstream.
        Push,
        /// Push the branch, and replace the upstream if it is as it was last fetched.
        PushWithLease,
        /// Put all changes of tracked files into the stash.
        Stash,
        /// Apply the latest entry of the stash and drop it.
        StashPop,
        /// Continue the merge, rebase, cherry-pick or revert in progress.
        ContinueOperation,
        /// Leave out the commit at which the operation stopped.
        SkipCommit,
        /// Return to the state before the operation in progress.
        AbortOperation,
        /// Create a repository in this folder.
        InitializeRepository,
        /// Set the name and the e-mail address of your commits.
        SetIdentity,
        /// Choose an open pull request and check out its branch. Needs the program gh, or glab for GitLab.
        CheckOutPullRequest,
        /// Search the commit that brought an error: choose a commit with it and one without it, then test those between.
        StartBisect,
        /// Tell the bisection that this commit has no error.
        BisectGood,
        /// Tell the bisection that this commit has the error.
        BisectBad,
        /// Tell the bisection that this commit cannot be tested.
        BisectSkip,
        /// End the bisection, and return to the branch before it.
        BisectReset,
        /// Show the first commit with the error, which the bisection found, in the history.
        ShowFirstBadCommit,
        /// Edit the list of the commits after the upstream branch, then replay them.
        RebaseCommits,
        /// Choose a commit, edit the list of the commits from it on, then replay them.
        RebaseFromCommit,
    ]
);

gpui_kit::actions!(
    git_panel,
    [
        /// Select the next change of the list.
        SelectNext,
        /// Select the previous change of the list.
        SelectPrevious,
        /// Extend the selection of changes down.
        ExtendDown,
        /// Extend the selection of changes up.
        ExtendUp,
        /// Select the first change of the list.
        SelectFirst,
        /// Select the last change of the list.
        SelectLast,
        /// Unfold the selected group or folder.
        Expand,
        /// Fold the selected group or folder, or select the one around.
        Collapse,
        /// Stage the selected changes, or take them out of the next commit.
        ToggleStaged,
        /// Open the diff of the selected file at its first change.
        OpenDiff,
        /// Open the selected file.
        OpenFile,
        /// Discard the selected unstaged changes. Undo restores them.
        Discard,
        /// Undo the latest staging, unstaging or discarding.
        Undo,
        /// Show the changed files in their folders, or as a list.
        ToggleTree,
        /// Focus the message of the commit.
        FocusMessage,
        /// Focus the list of changes.
        FocusList,
        /// Read the repositories again.
        Refresh,
        /// Show the whole output of the hook that failed, or hide it.
        ToggleLog,
        /// Store your name and address for all repositories of yours.
        SaveIdentityForAll,
        /// End the call of Git in progress.
        CancelCall,
        /// Answer the question with yes.
        ConfirmQuestion,
        /// Close the question or the message, or return to the editor.
        Cancel,
    ]
);

/// Commands of the list of a rebase.
pub mod rebase {
    gpui_kit::actions!(
        git_rebase,
        [
            /// Select the next commit of the rebase.
            SelectNext,
            /// Select the previous commit of the rebase.
            SelectPrevious,
            /// Select the first commit of the rebase.
            SelectFirst,
            /// Select the last commit of the rebase.
            SelectLast,
            /// Replay the selected commit earlier.
            MoveUp,
            /// Replay the selected commit later.
            MoveDown,
            /// Replay the selected commit as it is.
            Pick,
            /// Replay the selected commit with another message; of a squash, edit the message of both commits.
            Reword,
            /// Stop after the selected commit, so that you can change it.
            StopAtCommit,
            /// Join the selected commit with the one before it, and keep both messages.
            Squash,
            /// Join the selected commit with the one before it, and drop its message.
            Fixup,
            /// Leave the selected commit out.
            DropCommit,
            /// Take the edited message, and return to the list of commits.
            EndMessage,
            /// Start the rebase.
            Start,
            /// Close the list without a rebase.
            Cancel,
        ]
    );
}
