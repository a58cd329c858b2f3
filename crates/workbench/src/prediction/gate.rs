//! Whether anything is offered in a text now, and why not.
//!
//! Pure; asked before every offer, and before anything of a text goes to a model, several times for each key: what
//! globs and names say of a text is looked up once and kept.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use project::NamedFiles;
use settings::{TabSettings, TabShow};

/// What the settings and the person's rest say.
pub(crate) struct Gate {
    rules: Arc<Rules>,
    /// Milliseconds since 1970 up to which nothing is offered.
    snoozed_until: u64,
    /// What the settings say of the text that was asked about last.
    known: RefCell<Option<Known>>,
}

/// What the settings say of texts. Reads globs: not for every key.
pub(crate) struct Rules {
    show: TabShow,
    off_languages: Vec<String>,
    off_files: NamedFiles,
}

/// What the settings say of one text.
struct Known {
    path: Option<AbsPath>,
    language: Option<String>,
    off: Option<Off>,
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
        let rules = Rules {
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

    /// Offers nothing up to a moment; 0 ends the rest.
    pub(crate) fn snooze(&mut self, until_ms: u64) {
        self.snoozed_until = until_ms;
    }

    pub(crate) fn snoozed_until(&self) -> u64 {
        self.snoozed_until
    }

    pub(crate) fn show(&self) -> TabShow {
        self.rules.show
    }

    /// The rules by themselves, for other threads.
    pub(crate) fn rules(&self) -> Arc<Rules> {
        self.rules.clone()
    }

    /// Why nothing is offered in a text; none where something may be.
    pub(crate) fn off(
        &self,
        path: Option<&AbsPath>,
        language: Option<&str>,
        now_ms: u64,
    ) -> Option<Off> {
        let left = self.snoozed_until.saturating_sub(now_ms);
        let rests = (left > 0).then_some(Off::Snoozed(left));
        self.by_settings(path, language).or(rests)
    }

    /// As `off`, whether the person wants a rest or not.
    fn by_settings(&self, path: Option<&AbsPath>, language: Option<&str>) -> Option<Off> {
        let mut known = self.known.borrow_mut();
        let is_it =
            |known: &&Known| known.path.as_ref() == path && known.language.as_deref() == language;
        if let Some(known) = known.as_ref().filter(is_it) {
            return known.off.clone();
        }
        let off = self.rules.off(path, language);
        *known = Some(Known {
            path: path.cloned(),
            language: language.map(str::to_owned),
            off: off.clone(),
        });
        off
    }
}

impl Rules {
    /// Why nothing of a text is to be offered or read, as far as the settings go.
    pub(crate) fn off(&self, path: Option<&AbsPath>, language: Option<&str>) -> Option<Off> {
        if self.show == TabShow::Off {
            return Some(Off::Everywhere);
        }
        let is_named = |name: &&String| language.is_some_and(|it| it.eq_ignore_ascii_case(name));
        if let Some(name) = self.off_languages.iter().find(is_named) {
            return Some(Off::Language(name.clone()));
        }
        let is_named = path.is_some_and(|path| self.off_files.has(path));
        is_named.then_some(Off::File)
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
        // What is known of one text is not said of the next.
        assert_eq!(off(&gate, "/p/.env", "Rust"), Some(Off::File));
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
