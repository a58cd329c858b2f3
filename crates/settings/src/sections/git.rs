//! Settings of Git in the window.

use crate::section::section;

section! {
    /// Git in the window: commits, authors of lines, history.
    GitSettings {
        /// Runs the checks of landings, if the repository has any, on the staged files before each commit; a failed check refuses the commit.
        checks_on_commit: bool = false;
        /// Shows the author of the line with the caret behind it, once the caret rests.
        inline_blame: bool = true;
        /// Shows both texts of a diff side by side, where the view is wide enough.
        side_by_side_diffs: bool = false;
    }
}
