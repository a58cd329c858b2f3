//! Experiments: two variants of the models' profiles, compared on the same tasks or on alternating sessions.
//!
//! A variant is a list of profile overrides, in the format of the user's own `profiles.json`. The variant of a session,
//! turn or task follows from its id and that of the experiment, so that it never changes. A comparison may be looked at
//! after every pair: `PairBet` holds its error below 5 %, and "undecided" is a result.
//!
//! Invariant: the first metric of an experiment decides; all others are exploration and decide nothing.
//! Invariant: an outcome is adjusted by earlier sessions only, so that looking often stays valid.
//! Start at `ExperimentSet::parse`; `trials` and `sessions` evaluate.

mod sessions;
mod trials;

use model::{Effort, Profiles};
use serde::Deserialize;
use serde_json::{Value, json};
use statistics::{BetOutcome, PairBet, SplitMix};

pub use sessions::{SessionOutcome, SessionResult};
pub use trials::{ExploredRatio, TrialResult};

/// Number of pairs up to which only large differences are found.
const FEW_PAIRS: u64 = 60;

/// The experiments of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperimentSet {
    experiments: Vec<Experiment>,
}

/// A comparison of two variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its id.
    pub id: String,
    /// The unit that gets one variant.
    pub unit: ExperimentUnit,
    /// The metric that decides.
    pub metric: ExperimentMetric,
    /// The usual variant and the one that is tried.
    pub variants: [Variant; 2],
}

/// The unit that gets one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentUnit {
    /// Each session gets a variant; sessions are compared in the order in which they began.
    Session,
    /// Each task is tried under both variants.
    Task,
}

/// The metric that decides an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentMetric {
    /// The reward of a task; larger is better.
    Reward,
    /// The share of tokens kept after an hour; larger is better.
    KeptHour,
    /// The share of tokens kept after a day; larger is better.
    KeptDay,
    /// The share of failed calls; smaller is better.
    ErrorShare,
}

/// A variant of the models' profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The overrides of profiles; empty for the usual variant.
    pub profiles: Profiles,
    /// The reasoning effort; `None` leaves that of the session.
    pub effort: Option<Effort>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentFile {
    experiments: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentEntry {
    id: String,
    unit: ExperimentUnit,
    metric: ExperimentMetric,
    variants: [VariantEntry; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantEntry {
    name: String,
    #[serde(default)]
    profiles: Vec<Value>,
    #[serde(default)]
    effort: Option<Effort>,
}

impl ExperimentSet {
    /// Parses the user's `experiments.json`. Experiments that cannot be used are skipped and reported as problems.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let file: ExperimentFile = match serde_json::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                return (
                    Self::default(),
                    vec![format!("the experiments cannot be read: {error}")],
                );
            }
        };
        let (mut experiments, mut problems): (Vec<Experiment>, _) = (Vec::new(), Vec::new());
        for (ix, value) in file.experiments.into_iter().enumerate() {
            let entry: ExperimentEntry = match serde_json::from_value(value) {
                Ok(entry) => entry,
                Err(error) => {
                    problems.push(format!("experiment {}: {error}", ix + 1));
                    continue;
                }
            };
            let (experiment, wrong) = Experiment::of(entry);
            let is_new = experiments.iter().all(|known| known.id != experiment.id);
            if !is_new {
                problems.push(format!("experiment {}: the id occurs twice", experiment.id));
            } else if wrong.is_empty() {
                experiments.push(experiment);
            }
            problems.extend(wrong);
        }
        (Self { experiments }, problems)
    }

    /// Returns the experiments.
    pub fn all(&self) -> &[Experiment] {
        &self.experiments
    }

    /// Returns the experiment that gives sessions their variants: the first one, since two at once would disturb
    /// each other.
    pub fn of_sessions(&self) -> Option<&Experiment> {
        let mut all = self.experiments.iter();
        all.find(|experiment| experiment.unit == ExperimentUnit::Session)
    }
}

impl Experiment {
    fn of(entry: ExperimentEntry) -> (Self, Vec<String>) {
        let ExperimentEntry {
            id,
            unit,
            metric,
            variants,
        } = entry;
        let mut problems = Vec::new();
        let of_tasks = metric == ExperimentMetric::Reward;
        if of_tasks != (unit == ExperimentUnit::Task) {
            problems.push(format!(
                "experiment {id}: the metric reward belongs to tasks, all others to sessions"
            ));
        }
        if variants[0].name == variants[1].name {
            problems.push(format!("experiment {id}: both variants have the same name"));
        }
        let variants = variants.map(|variant| {
            let file = json!({ "profiles": variant.profiles });
            let (profiles, wrong) = Profiles::parse(&file.to_string());
            let wrong = wrong
                .iter()
                .map(|problem| format!("experiment {id}, variant {}: {problem}", variant.name));
            problems.extend(wrong);
            Variant {
                name: variant.name,
                profiles,
                effort: variant.effort,
            }
        });
        let experiment = Self {
            id,
            unit,
            metric,
            variants,
        };
        (experiment, problems)
    }

    /// Returns the variant of a session or task, which follows from its id.
    pub fn variant_of(&self, subject: &str) -> &Variant {
        &self.variants[self.index_of(subject)]
    }

    fn index_of(&self, subject: &str) -> usize {
        let bytes = self.id.bytes().chain([0]).chain(subject.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        SplitMix::new(hash).next_below(2)
    }

    /// Returns the index of a variant by its name.
    fn index(&self, name: &str) -> Option<usize> {
        self.variants
            .iter()
            .position(|variant| variant.name == name)
    }

    /// Describes a comparison: the counts, the evidence and the result.
    pub fn sentence(&self, bet: &PairBet) -> String {
        let [usual, tried] = &self.variants;
        let pairs = bet.first + bet.second + bet.ties;
        let counts = format!(
            "{pairs} pairs: {} better with {}, {} with {}, {} equal; evidence {:.2} of 20",
            bet.second,
            tried.name,
            bet.first,
            usual.name,
            bet.ties,
            bet.ln_wealth().exp()
        );
        let result = match bet.outcome() {
            BetOutcome::First => format!("{} is better", usual.name),
            BetOutcome::Second => format!("{} is better", tried.name),
            BetOutcome::Undecided if pairs <= FEW_PAIRS => {
                "undecided; so few pairs show only large differences".to_owned()
            }
            BetOutcome::Undecided => "undecided".to_owned(),
        };
        format!("{counts}; {result}")
    }
}

impl ExperimentMetric {
    /// Returns 1 if larger values are better, and -1 otherwise.
    fn direction(self) -> f64 {
        match self {
            Self::Reward | Self::KeptHour | Self::KeptDay => 1.0,
            Self::ErrorShare => -1.0,
        }
    }
}

#[cfg(test)]
mod tests;
