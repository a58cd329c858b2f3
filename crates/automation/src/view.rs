//! Automations as views and command lines show them.

use base::AbsPath;
use host::Files;
use ledger::Ledger;
use serde::{Deserialize, Serialize};

use crate::consent::{Consent, ConsentStore};
use crate::definition::AutomationTrigger;
use crate::file::AutomationFile;
use crate::occurrence::{Occurrence, OccurrenceLog, OccurrenceState, RunLink};
use crate::scheduler::has_failed_often;
use crate::{Automation, Error};

/// Maximum number of occurrences that are shown of an automation.
const MAX_SHOWN: usize = 50;

/// An automation of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutomationEntry {
    /// Its name.
    pub name: String,
    /// The path of its file.
    pub path: AbsPath,
    /// The text that the user consents to: the file with all that it includes.
    pub text: String,
    /// The hash of the text.
    pub mark: String,
    /// Its state.
    pub state: AutomationState,
    /// The condition under which it runs, in a few words.
    pub trigger: String,
    /// The next planned time, in milliseconds since 1970.
    pub next_ms: Option<u64>,
    /// The latest occurrences, latest first.
    pub history: Vec<OccurrenceEntry>,
    /// The problems of its file, as sentences with their lines.
    pub problems: Vec<String>,
}

/// The state of an automation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AutomationState {
    /// The user has not trusted it, or turned it off.
    Off,
    /// It changed since the user trusted it, and is off.
    Changed,
    /// It runs when its condition is met.
    On,
    /// Its time is over (`until`).
    Over,
    /// It failed several times in a row, and is off.
    Failing,
    /// Its file has problems.
    Invalid,
}

/// An occurrence of an automation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OccurrenceEntry {
    /// Its number.
    pub number: u64,
    /// The event, in a few words.
    pub trigger: String,
    /// The planned time, in milliseconds since 1970.
    pub planned_ms: u64,
    /// Its state.
    pub state: OccurrenceState,
    /// The session or job that worked on it.
    pub link: RunLink,
    /// Its cost in billionths of a US dollar once it ended, or the most that it may cost.
    pub cost_nano: Option<u64>,
}

/// A change of an automation that the user asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AutomationChange {
    /// Turns it on, as far as its text has the hash `mark`.
    Trust {
        /// Its name.
        name: String,
        /// The hash of the text that the user saw.
        mark: String,
    },
    /// Turns it off.
    TurnOff(String),
    /// Runs it now.
    Run(String),
}

impl AutomationState {
    /// Describes the state in a few words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Changed => "changed since you trusted it, off",
            Self::On => "on",
            Self::Over => "over",
            Self::Failing => "failed three times, off",
            Self::Invalid => "invalid",
        }
    }

    /// Returns whether it runs when its condition is met.
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

impl OccurrenceState {
    /// Describes the state in a few words, with the reason if there is one.
    pub fn label(&self) -> String {
        match self {
            Self::NotStarted => "not started".to_owned(),
            Self::Skipped(why) => format!("left out: {why}"),
            Self::Running => "works".to_owned(),
            Self::Done => "done".to_owned(),
            Self::Failed(why) => format!("failed: {why}"),
        }
    }
}

impl AutomationEntry {
    /// Lists the automations of a folder, by name. Blocks on the disk.
    pub fn list(
        files: &dyn Files,
        consents: &ConsentStore,
        ledger: Ledger,
        root: &AbsPath,
        now_ms: u64,
    ) -> Result<Vec<Self>, Error> {
        let log = OccurrenceLog::new(ledger);
        let found = AutomationFile::list(files, root).into_iter();
        let entries = found.map(|file| {
            let consent = consents.of(files, root, &file.name);
            let mut history = log.read(Some(&file.path.to_string()), 0)?;
            let state = state(&file, consent.as_ref(), &history, now_ms);
            history.reverse();
            history.truncate(MAX_SHOWN);
            Ok::<_, Error>(Self::of(file, state, history, now_ms))
        });
        entries.collect()
    }

    fn of(
        file: AutomationFile,
        state: AutomationState,
        history: Vec<Occurrence>,
        now_ms: u64,
    ) -> Self {
        let next = |it: &Automation| match &it.trigger {
            AutomationTrigger::Schedule(schedule) => schedule.next_after(now_ms),
            _ => None,
        };
        let (trigger, next_ms, problems) = match &file.automation {
            Ok(automation) => (automation.trigger.describe(), next(automation), Vec::new()),
            Err(problems) => {
                let sentences = problems.iter().map(ToString::to_string).collect();
                (String::new(), None, sentences)
            }
        };
        let occurrence = |it: Occurrence| OccurrenceEntry {
            number: it.number,
            trigger: it.trigger,
            planned_ms: it.planned_ms,
            state: it.state,
            link: it.link,
            cost_nano: it.cost_nano,
        };
        Self {
            name: file.name,
            path: file.path,
            text: file.text,
            mark: file.mark,
            state,
            trigger,
            next_ms: next_ms.filter(|_| state.is_on()),
            history: history.into_iter().map(occurrence).collect(),
            problems,
        }
    }
}

impl ConsentStore {
    /// Turns an automation on, as the user saw it. Fails with `Changed` if its text has another hash
    /// by now, and for a file with problems. Blocks on the disk.
    pub fn trust(
        &self,
        files: &dyn Files,
        root: &AbsPath,
        name: &str,
        mark: &str,
        now_ms: u64,
    ) -> Result<(), Error> {
        let file = AutomationFile::read(files, root, name)?;
        if file.mark != mark {
            return Err(Error::Changed(file.path));
        }
        if let Err(problems) = file.automation {
            let problem = problems.first().map(ToString::to_string);
            return Err(Error::Invalid {
                name: name.to_owned(),
                problem: problem.unwrap_or_default(),
            });
        }
        self.give(
            files,
            Consent {
                root: root.to_string(),
                name: name.to_owned(),
                mark: mark.to_owned(),
                at_ms: now_ms,
            },
        )
    }
}

fn state(
    file: &AutomationFile,
    consent: Option<&Consent>,
    history: &[Occurrence],
    now_ms: u64,
) -> AutomationState {
    let Ok(automation) = &file.automation else {
        return AutomationState::Invalid;
    };
    match consent {
        None => AutomationState::Off,
        Some(consent) if consent.mark != file.mark => AutomationState::Changed,
        Some(consent) if has_failed_often(history, consent.at_ms) => AutomationState::Failing,
        Some(_) if automation.until_ms.is_some_and(|until| now_ms > until) => AutomationState::Over,
        Some(_) => AutomationState::On,
    }
}
