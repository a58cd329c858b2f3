//! Settings of files, saving and search.

use crate::section::{choices, section};

section! {
    /// Which files are shown, and when they are written.
    FileSettings {
        /// Globs that the file tree and the file finder leave out.
        exclude: Vec<String> = strings(&["**/.git", "**/.svn", "**/.hg", "**/.DS_Store"]);
        /// Saves without being asked.
        autosave: Autosave = Autosave::Off;
        /// Milliseconds without typing before `"autosave": "after_delay"` saves.
        autosave_delay: u32 = 1000, 100..=600_000;
        /// What a start without arguments brings back.
        restore: Restore = Restore::LastSession;
        /// Asks before a file goes to the trash.
        confirm_delete: bool = true;
    }
}

section! {
    /// Search through the project.
    SearchSettings {
        /// Globs that are never searched.
        exclude: Vec<String> = strings(&["**/node_modules", "**/target", "**/.git"]);
        /// Leaves out what `.gitignore`, `.ignore` and their like name.
        use_ignore_files: bool = true;
        /// Searches in files and folders whose name starts with a dot.
        hidden: bool = false;
        /// Upper and lower case differ only when the query has upper case.
        smart_case: bool = true;
        /// Lines shown before and after each match.
        context_lines: u32 = 1, 0..=20;
        /// Matches after which a search stops.
        max_results: u32 = 20_000, 100..=1_000_000;
        /// Starts with the word at the caret.
        seed_from_cursor: bool = true;
        /// Keeps an index of the folder on this machine, so that code is found by what it is about. Counts from the next
        /// time a folder is opened.
        index: bool = true;
        /// What looks again at the best places for a question in plain words: `auto`, the model MiniLM if its files lie in `models/minilm` beside your settings; `off`; or a model for embeddings, written `provider/model`, which is sent the question and these places.
        second_look: String = "auto".to_owned();
    }
}

choices! {
    /// When files are saved without being asked.
    Autosave {
        /// Never.
        Off = "off",
        /// After a pause in typing.
        AfterDelay = "after_delay",
        /// When another tab or window takes the focus.
        OnFocusChange = "on_focus_change",
    }
}

choices! {
    /// What a start without arguments brings back. Unsaved text always comes back.
    Restore {
        /// All windows, with their tabs.
        LastSession = "last_session",
        /// The window used last.
        LastWindow = "last_window",
        /// Nothing but unsaved text.
        Nothing = "nothing",
    }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}
