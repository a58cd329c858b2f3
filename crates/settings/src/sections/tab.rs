//! Settings of Tab: what is offered while typing, and where not.

use crate::section::{choices, section};

section! {
    /// Completions and predicted edits, taken with Tab.
    TabSettings {
        /// When something is offered by itself.
        show: TabShow = TabShow::Always;
        /// Which model is asked beside what this machine finds by itself: `auto`, `off`, or one written `provider/model`.
        model: String = "auto".to_owned();
        /// Languages in which nothing is offered, by name, such as `Markdown`.
        off_languages: Vec<String> = Vec::new();
        /// Globs of files in which nothing is offered. Nothing of them goes to a model either.
        off_files: Vec<String> = strings(&["**/.env*", "**/*.pem", "**/*.key", "**/id_rsa*", "**/secrets/**"]);
        /// How likely an offer must be to be kept, in percent, before it is shown; 0 learns it from what you keep.
        least_likely: u32 = 0, 0..=95;
    }
}

choices! {
    /// When something is offered by itself.
    TabShow {
        /// While typing.
        Always = "always",
        /// While Alt is held down.
        Subtle = "subtle",
        /// Only when asked for by key.
        Asked = "asked",
        /// Never.
        Off = "off",
    }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}
