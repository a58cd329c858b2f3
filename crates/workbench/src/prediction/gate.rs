//! Whether anything is offered in a text now, and why not.
//!
//! Pure; asked before every offer, and before anything of a text goes to a model.

use std::fmt;

use base::AbsPath;
use project::NamedFiles;
use settings::{TabSettings, TabShow};

/// What the settings and the person's rest say.
pub(crate) struct Gate {
    show: TabShow,
    off_languages: Vec<String>,
    off_files: NamedFiles,
    /// Milliseconds since 1970 up to which nothing is offered.
    snoozed_until: u64,
}

/// Why nothing is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Off {
    /// Everywhere, by the settings.
    Everywhere,
    /// In this language, by the settings.
    Language(String),
    /// In this file, by a glob of the settings.
    File,
    /// For a while: so many milliseconds are left.
    Snoozed(u64),
}

impl Gate {
    pub(crate) fn new(settings: &TabSettings, folder: Option<&AbsPath>) -> Self {
        // Bad globs are told with the settings.
        let (off_files, _) = NamedFiles::new(folder, &settings.off_files);
        Self {
            show: settings.show,
            off_languages: settings.off_languages.clone(),
            off_files,
            snoozed_until: 0,
        }
    }

    /// Offers nothing up to a moment; 0 ends the rest.
    pub(crate) fn snooze(&mut self, until_ms: u64) {
        self.snoozed_until = until_ms;
    }

    pub(crate) fn snoozed_until(&self) -> u64 {
        self.snoozed_until
    }

    pub(crate) fn show(&self) -> TabShow {
        self.show
    }

    /// Why nothing is offered in a text; none where something may be.
    pub(crate) fn off(
        &self,
        path: Option<&AbsPath>,
        language: Option<&str>,
        now_ms: u64,
    ) -> Option<Off> {
        if self.show == TabShow::Off {
            return Some(Off::Everywhere);
        }
        let is_named = |name: &&String| language.is_some_and(|it| it.eq_ignore_ascii_case(name));
        if let Some(name) = self.off_languages.iter().find(is_named) {
            return Some(Off::Language(name.clone()));
        }
        if path.is_some_and(|path| self.off_files.has(path)) {
            return Some(Off::File);
        }
        let left = self.snoozed_until.saturating_sub(now_ms);
        (left > 0).then_some(Off::Snoozed(left))
    }
}

impl fmt::Display for Off {
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

    use super::{Gate, Off};

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    #[test]
    fn each_reason_is_told_and_the_broadest_first() {
        let settings = TabSettings {
            off_languages: vec!["markdown".to_owned()],
            ..TabSettings::default()
        };
        let mut gate = Gate::new(&settings, Some(&path("/p")));
        let off = |gate: &Gate, file: &str, language: &str| {
            gate.off(Some(&path(file)), Some(language), 1_000)
        };
        assert_eq!(off(&gate, "/p/a.rs", "Rust"), None);
        assert_eq!(off(&gate, "/p/.env.local", "Bash"), Some(Off::File));
        assert_eq!(
            off(&gate, "/p/.env", "Markdown"),
            Some(Off::Language("markdown".to_owned()))
        );
        gate.snooze(61_500);
        assert_eq!(off(&gate, "/p/a.rs", "Rust"), Some(Off::Snoozed(60_500)));
        assert_eq!(Off::Snoozed(60_500).to_string(), "snoozed for 2 min");
        assert_eq!(gate.off(None, None, 61_500), None);
        let never = TabSettings {
            show: TabShow::Off,
            ..settings
        };
        let gate = Gate::new(&never, None);
        assert_eq!(gate.off(None, None, 0), Some(Off::Everywhere));
    }
}
