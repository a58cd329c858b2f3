//! Settings of Git in the window.

use crate::section::section;

section! {
    /// Git in the window: commits, authors of lines, history.
    GitSettings {
        /// Runs the checks of landings, if the repository has any, on the staged files before each commit; a failed check refuses the commit.
        checks_on_commit: bool = false;
        /// Shows the author of the line with the caret behind it, once the caret rests.
        inline_blame: bool = true;
    }
}
