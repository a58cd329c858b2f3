//! Settings of Tab: what is offered while typing, and where not.

use crate::section::{choices, section};

section! {
    /// Completions and edit predictions, accepted with Tab.
    TabSettings {
        /// Condition for showing suggestions.
        show: TabShow = TabShow::Always;
        /// Model for suggestions in addition to the local tier: `auto`, `off`, or a model written `provider/model`.
        model: String = "auto".to_owned();
        /// Languages without suggestions, by name, such as `Markdown`.
        off_languages: Vec<String> = Vec::new();
        /// Globs of files without suggestions. Their text is not sent to a model either.
        off_files: Vec<String> = strings(&["**/.env*", "**/*.pem", "**/*.key", "**/id_rsa*", "**/secrets/**"]);
        /// Minimum probability of being kept, in percent, for a suggestion to be shown; 0 learns it from your choices.
        least_likely: u32 = 0, 0..=95;
    }
}

choices! {
    /// Condition for showing suggestions.
    TabShow {
        /// While you are typing.
        Always = "always",
        /// While Alt is held down.
        Subtle = "subtle",
        /// Only when requested with a key.
        Asked = "asked",
        /// Suggestions are never shown.
        Off = "off",
    }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}
