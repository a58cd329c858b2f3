//! Settings of files, saving and search.

use crate::section::{choices, section};

section! {
    /// Visibility and saving of files.
    FileSettings {
        /// Globs of files hidden in the project tree and the file finder.
        exclude: Vec<String> = strings(&["**/.git", "**/.svn", "**/.hg", "**/.DS_Store"]);
        /// Saves modified files automatically.
        autosave: Autosave = Autosave::Off;
        /// Milliseconds without typing before `"autosave": "after_delay"` saves.
        autosave_delay: u32 = 1000, 100..=600_000;
        /// Saves the files that a rename or another edit of several files changes, except those with unsaved edits.
        save_refactored: bool = true;
        /// State restored by a start without arguments.
        restore: Restore = Restore::LastSession;
        /// Asks for confirmation before moving a file to the trash.
        confirm_delete: bool = true;
    }
}

section! {
    /// Search in the project.
    SearchSettings {
        /// Globs that are never searched.
        exclude: Vec<String> = strings(&["**/node_modules", "**/target", "**/.git"]);
        /// Skips files ignored by `.gitignore`, `.ignore` and similar files.
        use_ignore_files: bool = true;
        /// Searches in files and folders whose name starts with a dot.
        hidden: bool = false;
        /// Matches case only if the query contains upper-case letters.
        smart_case: bool = true;
        /// Lines shown before and after each match.
        context_lines: u32 = 1, 0..=20;
        /// Number of matches after which a search stops.
        max_results: u32 = 20_000, 100..=1_000_000;
        /// Fills the query with the word at the caret.
        seed_from_cursor: bool = true;
        /// Keeps an index of the folder on this machine, for finding code by meaning. Takes effect
        /// when a folder is opened.
        index: bool = true;
        /// Reranker for results by meaning: `auto` uses the model MiniLM if its files are in `models/minilm` beside your settings; `off` disables it; `provider/model` names an embedding model, which receives the query and the top results.
        second_look: String = "auto".to_owned();
    }
}

choices! {
    /// Trigger of automatic saving.
    Autosave {
        /// Files are never saved automatically.
        Off = "off",
        /// After a pause in typing.
        AfterDelay = "after_delay",
        /// When another tab or window takes the focus.
        OnFocusChange = "on_focus_change",
    }
}

choices! {
    /// State restored by a start without arguments. Unsaved text is always restored.
    Restore {
        /// All windows, with their tabs.
        LastSession = "last_session",
        /// The most recently used window.
        LastWindow = "last_window",
        /// Nothing but unsaved text.
        Nothing = "nothing",
    }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}
