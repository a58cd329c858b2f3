//! The report on quality in a period, as values that can be shown and sent.
//!
//! Invariant: the report depends on its inputs only, and names the calls or changes behind its alarms.
//! Start at `QualityReport::of`.

mod experiments;
mod kept;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::experiment::ExperimentSet;
use crate::keep::{self, WorkCounts};
use crate::outcomes::{self, MeasuredCall};
use crate::record::{AlarmRecord, QualityRecord};
use crate::satisfaction::{SatisfactionCounts, TurnActions};

/// The inputs of a report.
#[derive(Clone, Debug, Default)]
pub struct ReportInput {
    /// The rows of the period, oldest first.
    pub records: Vec<QualityRecord>,
    /// Number of rows that cannot be read.
    pub unreadable: usize,
    /// The calls of tools in the period.
    pub calls: Vec<MeasuredCall>,
    /// The work of each session.
    pub work: BTreeMap<String, WorkCounts>,
    /// The start of each session, in milliseconds since 1970, and its folder.
    pub sessions: HashMap<String, (u64, String)>,
    /// The end of the period, in milliseconds since 1970.
    pub now_ms: u64,
    /// Length of the period in days.
    pub days: u64,
}

/// The quality of agents and suggestions in a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QualityReport {
    /// Length of the period in days.
    pub days: u64,
    /// The shares of text that are kept, by writer.
    pub kept: Vec<KeptLine>,
    /// The outcomes of calls, by tool and model.
    pub outcomes: Vec<OutcomeLine>,
    /// Outcomes that are more frequent than usual within the last day.
    pub alerts: Vec<AlertLine>,
    /// The alarms of the period, latest first.
    pub alarms: Vec<AlarmRecord>,
    /// The experiments.
    pub experiments: Vec<ExperimentLine>,
    /// The judgements of turns.
    pub satisfaction: SatisfactionLine,
    /// Number of rows that cannot be read.
    pub unreadable: usize,
}

/// The shares of the texts of a group that are kept, with the figures that rise or fall when the share is gamed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptLine {
    /// The group: an agent's model, `tab`, `formatter` or `person`.
    pub name: String,
    /// Number of changes.
    pub units: u64,
    /// Number of tokens inserted and removed.
    pub tokens: u64,
    /// Kept share at each moment, such as `10m`; `None` where it is unknown.
    pub kept: Vec<(String, Option<f64>)>,
    /// Interval of the share at the last known time.
    pub interval: Option<(f64, f64)>,
    /// Share of the tokens that were in the first commit.
    pub at_commit: Option<f64>,
    /// Share of the tokens that landed.
    pub at_landing: Option<f64>,
    /// Share of the tokens lost until the last known time, by reason.
    pub lost: Vec<(String, f64)>,
    /// Number of changes in a turn.
    pub edits_per_turn: Option<f64>,
    /// Number of tokens changed in a turn.
    pub tokens_per_turn: Option<f64>,
    /// Number of questions in a turn.
    pub questions_per_turn: Option<f64>,
    /// Number of calls.
    pub calls: u64,
    /// Share of calls that failed.
    pub error_share: Option<f64>,
    /// Number of tokens that models wrote for each row that is kept.
    pub output_per_kept_row: Option<f64>,
    /// The comparison of the later half of the period with the earlier one, as a sentence.
    pub change: String,
}

/// The outcomes of a tool that is called by a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OutcomeLine {
    /// The tool's own name.
    pub tool: String,
    /// The model that made the calls.
    pub model: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Median of the durations in milliseconds.
    pub median_ms: f64,
    /// 95th percentile of the durations in milliseconds.
    pub p95_ms: f64,
    /// The usual share of each failure.
    pub usual: BTreeMap<String, f64>,
}

/// An outcome that is more frequent than usual within the last day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertLine {
    /// The tool's own name.
    pub tool: String,
    /// The model that made the calls.
    pub model: String,
    /// The outcome.
    pub outcome: String,
    /// The counts as a clause.
    pub sentence: String,
}

/// An experiment so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExperimentLine {
    /// Its id.
    pub id: String,
    /// The result as a sentence.
    pub sentence: String,
    /// Number of pairs of which the tried variant was better, the usual one was better, and neither.
    pub pairs: (u64, u64, u64),
    /// The evidence against equality; the result is decided at 20.
    pub evidence: f64,
    /// Mean difference of the tried variant to the usual one, for experiments of sessions.
    pub difference: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// Numbers of sessions with the usual and with the tried variant.
    pub sessions: Option<(usize, usize)>,
    /// Other figures, which decide nothing.
    pub explored: Vec<ExploredLine>,
}

/// The ratio of a figure with the tried variant of an experiment to the figure with the usual one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExploredLine {
    /// The figure: `seconds`, `tokens` or `cost`.
    pub name: String,
    /// The ratio.
    pub ratio: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

/// The judgements of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SatisfactionLine {
    /// Number of satisfied turns.
    pub satisfied: u64,
    /// Number of dissatisfied turns.
    pub dissatisfied: u64,
    /// Number of turns about which nothing is known.
    pub unknown: u64,
    /// Share of satisfied turns among the known ones; `None` without any.
    pub share: Option<f64>,
}

impl QualityReport {
    /// Computes the report.
    pub fn of(input: &ReportInput, experiments: &ExperimentSet) -> Self {
        let histories = keep::histories(input.records.iter().cloned());
        let (tools, alerts) = outcomes::calls(&input.calls, input.now_ms);
        let outcomes = tools.into_iter().map(|line| OutcomeLine {
            tool: line.tool,
            model: line.model,
            calls: line.calls,
            outcomes: line.outcomes,
            median_ms: line.latency.0,
            p95_ms: line.latency.1,
            usual: line.baselines,
        });
        let alerts = alerts.into_iter().map(|alert| AlertLine {
            tool: alert.tool,
            model: alert.model,
            outcome: alert.outcome,
            sentence: alert.sentence,
        });
        let mut alarms: Vec<AlarmRecord> = alarm_records(&input.records).cloned().collect();
        alarms.sort_by_key(|alarm| std::cmp::Reverse(alarm.at_ms));
        Self {
            days: input.days,
            kept: kept::lines(input, &histories),
            outcomes: outcomes.collect(),
            alerts: alerts.collect(),
            alarms,
            experiments: experiments::lines(input, &histories, experiments),
            satisfaction: satisfaction(input, &histories),
            unreadable: input.unreadable,
        }
    }
}

impl QualityReport {
    /// Computes the lines about experiments alone.
    pub fn experiments(input: &ReportInput, experiments: &ExperimentSet) -> Vec<ExperimentLine> {
        let histories = keep::histories(input.records.iter().cloned());
        experiments::lines(input, &histories, experiments)
    }
}

fn alarm_records(records: &[QualityRecord]) -> impl Iterator<Item = &AlarmRecord> {
    records.iter().filter_map(|record| match record {
        QualityRecord::Alarm(alarm) => Some(alarm),
        _ => None,
    })
}

/// Counts the judgements of turns, each with what became of its changes.
fn satisfaction(input: &ReportInput, histories: &[keep::UnitHistory]) -> SatisfactionLine {
    let mut actions: HashMap<(&str, u64), TurnActions> = HashMap::new();
    for history in histories.iter().filter(|it| !it.unit.session.is_empty()) {
        let unit = &history.unit;
        let actions = actions
            .entry((unit.session.as_str(), unit.turn))
            .or_default();
        let reworked = history.first_loss("reworked_by_person");
        actions.edited_ms = [actions.edited_ms, reworked].into_iter().flatten().min();
        actions.is_undone |= history.is_taken_back();
    }
    let mut counts = SatisfactionCounts::default();
    for record in &input.records {
        if let QualityRecord::Judgement(it) = record {
            let actions = actions.get(&(it.session.as_str(), it.turn));
            let actions = actions.copied().unwrap_or_default();
            counts.add(it.satisfaction().with_actions(&actions));
        }
    }
    SatisfactionLine {
        satisfied: counts.satisfied,
        dissatisfied: counts.dissatisfied,
        unknown: counts.unknown,
        share: counts.share(),
    }
}

#[cfg(test)]
mod tests;
