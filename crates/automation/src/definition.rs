//! The definition of an automation, as its file says it.
//!
//! Start at `Automation::parse`.

mod front_matter;

use std::time::Duration;

use model::Effort;
use serde::{Deserialize, Serialize};

use crate::cron::{CronSchedule, end_of_day};
use front_matter::Field;

/// The role of an automation that names none.
const DEFAULT_ROLE: &str = "builder";
/// The interval of commands and checks that name none.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(3600);
/// The shortest interval of a command.
const MIN_INTERVAL: Duration = Duration::from_secs(60);

/// An automation: a prompt with the condition under which it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Automation {
    /// Its name: that of its file.
    pub name: String,
    /// The condition under which it runs.
    pub trigger: AutomationTrigger,
    /// The role of the agent.
    pub role: String,
    /// The model, `provider/model`, `auto` or `demo`; `None` is the one of the settings.
    pub model: Option<String>,
    /// The reasoning effort; `None` leaves it to the role and the settings.
    pub effort: Option<Effort>,
    /// The most that one run may use.
    pub budget: RunBudget,
    /// Whether the agent works in its own worktree.
    pub has_lease: bool,
    /// The treatment of a time at which the program did not run.
    pub missed: MissedPolicy,
    /// The last millisecond in which it fires, since 1970.
    pub until_ms: Option<u64>,
    /// The maximum number of runs in a day.
    pub max_per_day: Option<u32>,
    /// The prompt.
    pub prompt: String,
}

/// The condition under which an automation runs.
#[derive(Clone, Debug, PartialEq)]
pub enum AutomationTrigger {
    /// At the times of a schedule.
    Schedule(CronSchedule),
    /// A branch of a remote got a new commit.
    Push {
        /// The name of the branch, without the remote.
        branch: String,
    },
    /// The checked-out branch got a new commit.
    Commit,
    /// A check of the project fails that did not fail before.
    FailingChecks {
        /// Time between two runs of the checks.
        every: Duration,
    },
    /// A command fails that did not fail before.
    Command {
        /// The command, for a shell.
        command: String,
        /// Time between two runs of it.
        every: Duration,
    },
}

/// The treatment of an occurrence at which the program did not run, or whose start a crash prevented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedPolicy {
    /// It is left out.
    #[default]
    Skip,
    /// The latest one runs once.
    Once,
}

/// The most that one run may use; `None` sets no limit of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunBudget {
    /// Cost, in billionths of a US dollar.
    pub cost_nano: Option<u64>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// Time from its start to its last request.
    pub time: Option<Duration>,
}

/// A problem of a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct DefinitionProblem {
    /// Number of the line, from 1.
    pub line: usize,
    /// The problem, as a clause.
    pub message: String,
}

impl DefinitionProblem {
    pub(crate) fn at(line: usize, message: &str) -> Self {
        Self {
            line,
            message: message.to_owned(),
        }
    }
}

impl Automation {
    /// Parses the text of a file. Returns all problems if there are any, such as an unknown key.
    pub fn parse(name: &str, text: &str) -> Result<Self, Vec<DefinitionProblem>> {
        let head = front_matter::read(text)?;
        let mut reader = FieldReader {
            fields: head.fields,
            problems: Vec::new(),
        };
        let prompt = head.body.trim().to_owned();
        if prompt.is_empty() {
            reader.refuse(1, "the prompt below the head is empty".to_owned());
        }
        let zone = reader.text("on.zone");
        let until = reader.parse("until", "a date such as 2027-01-31", |text| {
            end_of_day(text, zone.as_ref().map(|(_, zone)| zone.as_str()))
        });
        let automation = Self {
            name: name.to_owned(),
            trigger: reader.trigger(zone).unwrap_or(AutomationTrigger::Commit),
            role: reader.text("role").map_or(DEFAULT_ROLE.to_owned(), value),
            model: reader.text("model").map(value),
            effort: reader.parse("effort", "minimal, low, medium, high or max", effort),
            budget: reader.budget(),
            has_lease: reader
                .parse("lease", "true or false", boolean)
                .unwrap_or(false),
            missed: reader
                .parse("missed", "skip or once", missed)
                .unwrap_or_default(),
            until_ms: until,
            max_per_day: reader.parse("max-per-day", "a number from 1", positive),
            prompt,
        };
        // Results never land by themselves, so that there is one word for them.
        reader.parse("result", "review", |text| (text == "review").then_some(()));
        reader.finish(automation)
    }
}

impl AutomationTrigger {
    /// Describes the trigger in a few words.
    pub fn describe(&self) -> String {
        match self {
            Self::Schedule(schedule) => match schedule.zone_name() {
                Some(zone) => format!("schedule {} ({zone})", schedule.text()),
                None => format!("schedule {}", schedule.text()),
            },
            Self::Push { branch } => format!("push to {branch}"),
            Self::Commit => "commit".to_owned(),
            Self::FailingChecks { every } => format!("failing check, every {}", interval(*every)),
            Self::Command { command, every } => {
                format!("failing `{command}`, every {}", interval(*every))
            }
        }
    }
}

/// Takes the fields by their keys; those that nothing took are unknown.
struct FieldReader {
    fields: Vec<Field>,
    problems: Vec<DefinitionProblem>,
}

impl FieldReader {
    fn refuse(&mut self, line: usize, message: String) {
        self.problems.push(DefinitionProblem { line, message });
    }

    fn text(&mut self, key: &str) -> Option<(usize, String)> {
        let at = self.fields.iter().position(|field| field.key == key)?;
        let Field { line, value, .. } = self.fields.remove(at);
        if value.is_empty() {
            self.refuse(line, format!("\"{key}\" has no value"));
            return None;
        }
        Some((line, value))
    }

    fn parse<T>(
        &mut self,
        key: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (line, text) = self.text(key)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            self.refuse(line, format!("\"{key}\" is {expected}, not \"{text}\""));
        }
        parsed
    }

    fn trigger(&mut self, zone: Option<(usize, String)>) -> Option<AutomationTrigger> {
        let schedule = self.text("on.schedule");
        let git = self.text("on.git");
        let check = self.text("on.check");
        let command = self.text("on.command");
        let interval = self.fields.iter().find(|field| field.key == "on.every");
        let interval_line = interval.map(|field| field.line);
        let every = self.parse("on.every", "a time such as 30m, 2h or 1d", duration);
        let given = [&schedule, &git, &check, &command];
        let lines: Vec<usize> = given.into_iter().flatten().map(|(line, _)| *line).collect();
        if lines.len() != 1 {
            let line = lines.get(1).copied().unwrap_or(1);
            let why = "\"on\" names one of schedule, git, check and command";
            self.refuse(line, why.to_owned());
            return None;
        }
        if let (Some((line, _)), None) = (&zone, &schedule) {
            self.refuse(*line, "only a schedule has a zone".to_owned());
        }
        if let (Some(line), true) = (interval_line, schedule.is_some() || git.is_some()) {
            self.refuse(
                line,
                "only a check and a command have an interval".to_owned(),
            );
        }
        let every = every.unwrap_or(DEFAULT_INTERVAL);
        if let Some((line, text)) = schedule {
            let zone = zone.map(value);
            let parsed = CronSchedule::parse(&text, zone.as_deref());
            let parsed = parsed.map_err(|error| self.refuse(line, error.to_string()));
            return parsed.ok().map(AutomationTrigger::Schedule);
        }
        if let Some((line, text)) = git {
            return self.git_trigger(line, &text);
        }
        if let Some((line, text)) = check {
            if text != "failing" {
                self.refuse(line, format!("\"on.check\" is failing, not \"{text}\""));
            }
            return Some(AutomationTrigger::FailingChecks { every });
        }
        command.map(|(_, command)| AutomationTrigger::Command { command, every })
    }

    fn git_trigger(&mut self, line: usize, text: &str) -> Option<AutomationTrigger> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["commit"] => Some(AutomationTrigger::Commit),
            ["push", branch] => Some(AutomationTrigger::Push {
                branch: (*branch).to_owned(),
            }),
            _ => {
                let why = format!("\"on.git\" is commit or push BRANCH, not \"{text}\"");
                self.refuse(line, why);
                None
            }
        }
    }

    fn budget(&mut self) -> RunBudget {
        RunBudget {
            cost_nano: self.parse("budget.usd", "an amount above 0, such as 1.50", dollars),
            tokens: self
                .parse("budget.tokens", "a number from 1", positive)
                .map(u64::from),
            time: self
                .parse("budget.minutes", "a number from 1", positive)
                .map(|minutes| Duration::from_secs(u64::from(minutes) * 60)),
        }
    }

    fn finish(mut self, automation: Automation) -> Result<Automation, Vec<DefinitionProblem>> {
        for field in std::mem::take(&mut self.fields) {
            let key = field.key;
            let is_group = matches!(key.as_str(), "on" | "budget");
            let problem = if is_group && field.value.is_empty() {
                format!("\"{key}\" has no value")
            } else {
                format!("unknown key \"{key}\"")
            };
            self.refuse(field.line, problem);
        }
        if self.problems.is_empty() {
            return Ok(automation);
        }
        self.problems.sort_by_key(|problem| problem.line);
        Err(self.problems)
    }
}

fn value((_, value): (usize, String)) -> String {
    value
}

fn effort(text: &str) -> Option<Effort> {
    match text {
        "minimal" => Some(Effort::Minimal),
        "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" => Some(Effort::High),
        "max" => Some(Effort::Max),
        _ => None,
    }
}

fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

fn missed(text: &str) -> Option<MissedPolicy> {
    match text {
        "skip" => Some(MissedPolicy::Skip),
        "once" => Some(MissedPolicy::Once),
        _ => None,
    }
}

fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| *number > 0)
}

/// Parses US dollars to billionths.
fn dollars(text: &str) -> Option<u64> {
    let dollars: f64 = text.trim_start_matches('$').parse().ok()?;
    let nano = (dollars * 1e9).round();
    (1.0..=1e18).contains(&nano).then_some(nano as u64)
}

/// Parses a time such as `30m`, at least a minute.
fn duration(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let number: u64 = text[..text.len() - unit.len_utf8()].trim().parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let duration = Duration::from_secs(number.checked_mul(seconds)?);
    (duration >= MIN_INTERVAL).then_some(duration)
}

fn interval(every: Duration) -> String {
    let minutes = every.as_secs() / 60;
    match (minutes % 1440, minutes % 60) {
        (0, _) => format!("{} d", minutes / 1440),
        (_, 0) => format!("{} h", minutes / 60),
        _ => format!("{minutes} min"),
    }
}

#[cfg(test)]
mod tests;
