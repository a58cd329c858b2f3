//! Decides whether suggestions are enabled for a text, and the reason if not.
//!
//! Pure. Queried several times per keystroke, before every suggestion and before text is sent to a
//! model; results of globs and names are therefore cached per text.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use project::NamedFiles;
use settings::{TabSettings, TabShow};

/// Suggestion settings and the current snooze.
pub(crate) struct SuggestionSettings {
    rules: Arc<SuggestionRules>,
    /// End of the snooze, in milliseconds since 1970.
    snoozed_until: u64,
    /// Cached rules for the last queried text.
    known: RefCell<Option<FileRules>>,
}

/// Rules compiled from the settings. Compiling globs is too slow for every keystroke.
pub(crate) struct SuggestionRules {
    show: TabShow,
    off_languages: Vec<String>,
    off_files: NamedFiles,
}

/// Result of the rules for one text.
struct FileRules {
    path: Option<AbsPath>,
    language: Option<String>,
    off: Option<DisabledReason>,
}

/// Reason suggestions are disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DisabledReason {
    /// Disabled everywhere by the settings.
    Everywhere,
    /// Disabled for this language by the settings.
    Language(String),
    /// Disabled for this file by a glob in the settings.
    File,
    /// Snoozed; the value is the remaining time in milliseconds.
    Snoozed(u64),
}

impl SuggestionSettings {
    /// Compiles the settings. `folder` is the open folder, to which globs are relative.
    pub(crate) fn new(settings: &TabSettings, folder: Option<&AbsPath>) -> Self {
        // The settings report invalid globs.
        let (off_files, _) = NamedFiles::new(folder, &settings.off_files);
        let rules = SuggestionRules {
            show: settings.show,
            off_languages: settings.off_languages.clone(),
            off_files,
        };
        Self {
            rules: Arc::new(rules),
            snoozed_until: 0,
            known: RefCell::default(),
        }
    }

    /// Snoozes suggestions until the given time; 0 ends the snooze.
    pub(crate) fn snooze(&mut self, until_ms: u64) {
        self.snoozed_until = until_ms;
    }

    /// Returns the end of the snooze, in milliseconds since 1970. The end may be in the past.
    pub(crate) fn snoozed_until(&self) -> u64 {
        self.snoozed_until
    }

    /// Returns the condition under which the settings show suggestions.
    pub(crate) fn show(&self) -> TabShow {
        self.rules.show
    }

    /// Returns the rules, for use on other threads.
    pub(crate) fn rules(&self) -> Arc<SuggestionRules> {
        self.rules.clone()
    }

    /// Returns the reason why suggestions are disabled for a text, or `None` if suggestions are
    /// enabled. `language` is the name of its language, and `now_ms` the time in milliseconds since
    /// 1970.
    pub(crate) fn disabled_reason(
        &self,
        path: Option<&AbsPath>,
        language: Option<&str>,
        now_ms: u64,
    ) -> Option<DisabledReason> {
        let left = self.snoozed_until.saturating_sub(now_ms);
        let rests = (left > 0).then_some(DisabledReason::Snoozed(left));
        self.disabled_by_settings(path, language).or(rests)
    }

    /// Like `disabled_reason`, but ignores the snooze.
    fn disabled_by_settings(
        &self,
        path: Option<&AbsPath>,
        language: Option<&str>,
    ) -> Option<DisabledReason> {
        let mut known = self.known.borrow_mut();
        let is_it = |known: &&FileRules| {
            known.path.as_ref() == path && known.language.as_deref() == language
        };
        if let Some(known) = known.as_ref().filter(is_it) {
            return known.off.clone();
        }
        let off = self.rules.disabled_reason(path, language);
        *known = Some(FileRules {
            path: path.cloned(),
            language: language.map(str::to_owned),
            off: off.clone(),
        });
        off
    }
}

impl SuggestionRules {
    /// Returns the reason why the settings forbid suggestions in a text and reading it as context,
    /// or `None` if they permit both. Ignores the snooze.
    pub(crate) fn disabled_reason(
        &self,
        path: Option<&AbsPath>,
        language: Option<&str>,
    ) -> Option<DisabledReason> {
        if self.show == TabShow::Off {
            return Some(DisabledReason::Everywhere);
        }
        let is_named = |name: &&String| language.is_some_and(|it| it.eq_ignore_ascii_case(name));
        if let Some(name) = self.off_languages.iter().find(is_named) {
            return Some(DisabledReason::Language(name.clone()));
        }
        let is_named = path.is_some_and(|path| self.off_files.matches(path));
        is_named.then_some(DisabledReason::File)
    }
}

impl fmt::Display for DisabledReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everywhere => write!(f, "off in the settings (tab.show)"),
            Self::Language(name) => {
                write!(f, "off for {name} in the settings (tab.off_languages)")
            }
            Self::File => write!(f, "off for this file in the settings (tab.off_files)"),
            Self::Snoozed(left) => write!(f, "snoozed for {} min", left.div_ceil(60_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use settings::{TabSettings, TabShow};

    use super::{DisabledReason, SuggestionSettings};

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    #[test]
    fn the_broadest_reason_is_reported_first() {
        let settings = TabSettings {
            off_languages: vec!["markdown".to_owned()],
            ..TabSettings::default()
        };
        let mut suggestions = SuggestionSettings::new(&settings, Some(&path("/p")));
        let off = |suggestions: &SuggestionSettings, file: &str, language: &str| {
            suggestions.disabled_reason(Some(&path(file)), Some(language), 1_000)
        };
        assert_eq!(off(&suggestions, "/p/a.rs", "Rust"), None);
        assert_eq!(
            off(&suggestions, "/p/.env.local", "Bash"),
            Some(DisabledReason::File)
        );
        assert_eq!(
            off(&suggestions, "/p/.env", "Markdown"),
            Some(DisabledReason::Language("markdown".to_owned()))
        );
        suggestions.snooze(61_500);
        assert_eq!(
            off(&suggestions, "/p/a.rs", "Rust"),
            Some(DisabledReason::Snoozed(60_500))
        );
        // The cached result of one text does not apply to the next.
        assert_eq!(
            off(&suggestions, "/p/.env", "Rust"),
            Some(DisabledReason::File)
        );
        assert_eq!(
            off(&suggestions, "/p/a.rs", "Rust"),
            Some(DisabledReason::Snoozed(60_500))
        );
        assert_eq!(
            DisabledReason::Snoozed(60_500).to_string(),
            "snoozed for 2 min"
        );
        assert_eq!(suggestions.disabled_reason(None, None, 61_500), None);
        let never = TabSettings {
            show: TabShow::Off,
            ..settings
        };
        let suggestions = SuggestionSettings::new(&never, None);
        assert_eq!(
            suggestions.disabled_reason(None, None, 0),
            Some(DisabledReason::Everywhere)
        );
    }
}
