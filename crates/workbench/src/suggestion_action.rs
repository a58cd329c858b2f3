//! The actions of the menu of Tab suggestions.

use settings::TabShow;

/// An action of the menu of Tab suggestions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SuggestionAction {
    /// Snoozes suggestions for this many minutes.
    Snooze(u64),
    /// Ends the snooze early.
    Wake,
    /// Changes when suggestions are shown.
    Show(TabShow),
    /// Disables or enables suggestions for a language.
    Language {
        /// Name of the language.
        name: String,
        /// Whether suggestions are currently disabled.
        is_off: bool,
    },
}
