//! Settings of the keys of Vim.

use crate::section::section;

section! {
    /// Keys of Vim in texts.
    VimSettings {
        /// Edits texts with the keys of Vim; see docs/vim.md.
        enabled: bool = false;
        /// Uses the clipboard of the system as the unnamed register.
        clipboard: bool = false;
        /// Ignores case in searches.
        ignore_case: bool = false;
        /// Respects case in a search with a capital letter, where `ignore_case` is on.
        smart_case: bool = false;
        /// Yanks to the end of the line with `Y`, as Neovim does, instead of the whole line.
        yank_to_end: bool = true;
        /// Replaces a text by a register with `gr`, instead of showing references and language commands.
        replace_with_register: bool = false;
        /// Time to wait for the rest of a mapping, in milliseconds.
        timeout: u32 = 1000, 100..=10000;
        /// Time after which the keys that can follow are shown, in milliseconds; 0 shows them at once.
        hints_after: u32 = 350, 0..=10000;
        /// Shows the keys that can follow those of an unfinished command.
        hints: bool = true;
        /// Path of a `.vimrc` or `.ideavimrc` whose mappings and options are used; empty for none. `~` is your home folder.
        vimrc: String = String::new();
    }
}
