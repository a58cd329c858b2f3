//! Trials: each task under both variants, compared in pairs.

use std::collections::BTreeMap;

use statistics::{Interval, PairBet, bootstrap_interval, median};

use super::Experiment;
use crate::record::TrialRecord;

/// The comparison of tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    /// The comparison by reward.
    pub bet: PairBet,
    /// Other figures, which decide nothing.
    pub explored: Vec<ExploredRatio>,
}

/// The ratio of a figure under the tried variant to that under the usual one.
#[derive(Clone, Debug, PartialEq)]
pub struct ExploredRatio {
    /// The figure: `seconds`, `tokens` or `cost`.
    pub name: &'static str,
    /// The median ratio over tasks.
    pub ratio: f64,
    /// Its interval, by resampling tasks; `None` with few tasks.
    pub interval: Option<Interval>,
}

impl Experiment {
    /// Compares the trials of this experiment. Only attempts that were made under both variants count, in the order in
    /// which the later of both ended.
    pub fn trials(&self, records: &[TrialRecord]) -> TrialResult {
        let mut attempts: BTreeMap<(&str, u32), [Option<&TrialRecord>; 2]> = BTreeMap::new();
        for trial in records.iter().filter(|trial| trial.experiment == self.id) {
            if let Some(ix) = self.index(&trial.variant) {
                let attempt = attempts.entry((&trial.task, trial.attempt)).or_default();
                attempt[ix] = Some(trial);
            }
        }
        let pairs = attempts.into_values();
        let mut pairs: Vec<(&TrialRecord, &TrialRecord)> = pairs
            .filter_map(|[usual, tried]| usual.zip(tried))
            .collect();
        pairs.sort_by_key(|(usual, tried)| usual.at_ms.max(tried.at_ms));
        let mut bet = PairBet::default();
        for (usual, tried) in &pairs {
            bet.add(self.metric.direction() * (tried.reward - usual.reward));
        }
        type Figure = fn(&TrialRecord) -> Option<f64>;
        let figures: [(&str, Figure); 3] = [
            ("seconds", |it| Some(it.seconds)),
            ("tokens", |it| Some(it.tokens as f64)),
            ("cost", |it| it.cost_nano.map(|cost| cost as f64)),
        ];
        let explored = figures
            .into_iter()
            .filter_map(|(name, of)| explored(name, &pairs, of));
        TrialResult {
            bet,
            explored: explored.collect(),
        }
    }
}

/// Returns the median ratio of a figure over tasks; `None` if no pair has it.
fn explored(
    name: &'static str,
    pairs: &[(&TrialRecord, &TrialRecord)],
    of: fn(&TrialRecord) -> Option<f64>,
) -> Option<ExploredRatio> {
    let mut tasks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (usual, tried) in pairs {
        let (Some(one), Some(two)) = (of(usual), of(tried)) else {
            continue;
        };
        if one > 0.0 && two > 0.0 {
            tasks.entry(&usual.task).or_default().push((two / one).ln());
        }
    }
    // A task counts once, however often it was tried.
    let logs: Vec<f64> = tasks.values().filter_map(|logs| median(logs)).collect();
    let interval = bootstrap_interval(logs.len(), |sample| {
        median(&sample.iter().map(|ix| logs[*ix]).collect::<Vec<_>>())
    });
    Some(ExploredRatio {
        name,
        ratio: median(&logs)?.exp(),
        interval: interval.map(|it| Interval {
            low: it.low.exp(),
            high: it.high.exp(),
        }),
    })
}
