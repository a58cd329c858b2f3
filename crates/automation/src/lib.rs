//! Automations: prompts that run by themselves, on a schedule or after an event.
//!
//! Knows: files, the clock, the ledger. Must not know: how a session runs, how anything is shown.
//! Invariant: an automation runs only while its file and all that the file includes are what the user
//! trusted.
//! Invariant: one occurrence is one row of the ledger, written before its start; of several
//! schedulers one starts it, once.
//! Invariant: texts of events reach the prompt as quoted data of bounded size.
//! Start at `AutomationScheduler::tick`; `Automation::parse` reads a file.

#![warn(missing_docs)]

mod consent;
mod cron;
mod definition;
mod error;
mod event;
mod file;
mod occurrence;
mod scheduler;
mod view;

pub use consent::{Consent, ConsentStore};
pub use cron::{CronSchedule, local_time};
pub use definition::{Automation, AutomationTrigger, DefinitionProblem, MissedPolicy, RunBudget};
pub use error::Error;
pub use event::{CommandResult, CommitFact, GitFacts};
pub use file::{AutomationFile, FOLDER};
pub use occurrence::{Occurrence, OccurrenceState, RunLink};
pub use scheduler::{
    AutomationHost, AutomationRun, AutomationScheduler, Claim, DailyLimits, RunState, RunSummary,
    SchedulerParts, Tick,
};
pub use view::{AutomationChange, AutomationEntry, AutomationState, OccurrenceEntry};
