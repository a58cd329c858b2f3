//! Lines about experiments.

use std::collections::{BTreeMap, HashMap};

use retention::Milestone;

use super::kept::ends;
use super::{ExperimentLine, ExploredLine, ReportInput};
use crate::experiment::{
    Experiment, ExperimentMetric, ExperimentSet, ExperimentUnit, SessionOutcome,
};
use crate::keep::UnitHistory;
use crate::record::{ExposureRecord, QualityRecord, TrialRecord};

/// Returns a line for each experiment of the user.
pub(super) fn lines(
    input: &ReportInput,
    histories: &[UnitHistory],
    experiments: &ExperimentSet,
) -> Vec<ExperimentLine> {
    let trials: Vec<TrialRecord> = input
        .records
        .iter()
        .filter_map(|record| match record {
            QualityRecord::Trial(trial) => Some(trial.clone()),
            _ => None,
        })
        .collect();
    let experiments = experiments.all().iter();
    experiments
        .map(|experiment| match experiment.unit {
            ExperimentUnit::Task => of_tasks(experiment, &trials),
            ExperimentUnit::Session => of_sessions(experiment, input, histories),
        })
        .collect()
}

fn of_tasks(experiment: &Experiment, trials: &[TrialRecord]) -> ExperimentLine {
    let result = experiment.trials(trials);
    let explored = result.explored.iter();
    ExperimentLine {
        id: experiment.id.clone(),
        sentence: experiment.sentence(&result.bet),
        pairs: (result.bet.second, result.bet.first, result.bet.ties),
        evidence: result.bet.ln_wealth().exp(),
        explored: explored
            .map(|it| ExploredLine {
                name: it.name.to_owned(),
                ratio: it.ratio,
                interval: it.interval.map(ends),
            })
            .collect(),
        ..ExperimentLine::default()
    }
}

fn of_sessions(
    experiment: &Experiment,
    input: &ReportInput,
    histories: &[UnitHistory],
) -> ExperimentLine {
    let values = values(experiment.metric, input, histories);
    let folders = folder_sums(input, &values);
    let exposures = input.records.iter().filter_map(|record| match record {
        QualityRecord::Exposure(it) if it.experiment == experiment.id => Some(it),
        _ => None,
    });
    let outcomes: Vec<SessionOutcome> = exposures
        .filter_map(|exposure| outcome(exposure, input, (&values, &folders)))
        .collect();
    let result = experiment.sessions(&outcomes);
    let [usual, tried] = result.sessions;
    ExperimentLine {
        id: experiment.id.clone(),
        sentence: experiment.sentence(&result.bet),
        pairs: (result.bet.second, result.bet.first, result.bet.ties),
        evidence: result.bet.ln_wealth().exp(),
        difference: result.difference,
        interval: result.interval.map(ends),
        sessions: Some((usual, tried)),
        ..ExperimentLine::default()
    }
}

/// The starts of the sessions of each folder, ascending, with the sums of the values up to each.
type FolderSums<'a> = HashMap<&'a str, Vec<(u64, f64)>>;

fn folder_sums<'a>(input: &'a ReportInput, values: &BTreeMap<&str, f64>) -> FolderSums<'a> {
    let mut folders: FolderSums<'a> = HashMap::new();
    for (session, value) in values {
        if let Some((started, root)) = input.sessions.get(*session) {
            let sums = folders.entry(root.as_str()).or_default();
            sums.push((*started, *value));
        }
    }
    for sums in folders.values_mut() {
        sums.sort_by_key(|it| it.0);
        let mut sum = 0.0;
        for it in sums {
            sum += it.1;
            it.1 = sum;
        }
    }
    folders
}

/// Returns the outcome of a session; `None` if its metric is unknown.
fn outcome(
    exposure: &ExposureRecord,
    input: &ReportInput,
    (values, folders): (&BTreeMap<&str, f64>, &FolderSums<'_>),
) -> Option<SessionOutcome> {
    let value = *values.get(exposure.subject.as_str())?;
    let own = input.sessions.get(&exposure.subject);
    let before = own.and_then(|(started, root)| {
        let sums = folders.get(root.as_str())?;
        let count = sums.partition_point(|it| it.0 < exposure.at_ms);
        let is_own = *started < exposure.at_ms;
        let others = count - usize::from(is_own);
        let sum = sums[..count].last()?.1 - if is_own { value } else { 0.0 };
        (others > 0).then(|| sum / others as f64)
    });
    Some(SessionOutcome {
        variant: exposure.variant.clone(),
        started_ms: exposure.at_ms,
        value,
        before,
    })
}

/// Returns the metric of each session in which it is known.
fn values<'a>(
    metric: ExperimentMetric,
    input: &'a ReportInput,
    histories: &'a [UnitHistory],
) -> BTreeMap<&'a str, f64> {
    match metric {
        ExperimentMetric::Reward => BTreeMap::new(),
        ExperimentMetric::KeptHour => kept_shares(histories, Milestone::Hour),
        ExperimentMetric::KeptDay => kept_shares(histories, Milestone::Day),
        ExperimentMetric::ErrorShare => {
            let work = input.work.iter().filter(|(_, work)| work.calls > 0);
            work.map(|(session, work)| {
                (
                    session.as_str(),
                    work.failed_calls as f64 / work.calls as f64,
                )
            })
            .collect()
        }
    }
}

/// Returns the share of tokens that is kept at a time, for each session whose changes were observed that long.
fn kept_shares(histories: &[UnitHistory], milestone: Milestone) -> BTreeMap<&str, f64> {
    let mut sums: HashMap<&str, (f64, f64)> = HashMap::new();
    for history in histories.iter().filter(|it| !it.unit.session.is_empty()) {
        if let Some(share) = history.kept_share_at(milestone) {
            let tokens = f64::from(history.unit.inserted + history.unit.removed);
            let sum = sums.entry(&history.unit.session).or_default();
            sum.0 += share * tokens;
            sum.1 += tokens;
        }
    }
    let known = sums.into_iter().filter(|(_, (_, tokens))| *tokens > 0.0);
    known
        .map(|(session, (kept, tokens))| (session, kept / tokens))
        .collect()
}
