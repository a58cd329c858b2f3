//! Lines about experiments.

use std::collections::{BTreeMap, HashMap};

use retention::Milestone;

use super::kept::ends;
use super::{ExperimentLine, ReportInput};
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
            .map(|it| (it.name.to_owned(), it.ratio, it.interval.map(ends)))
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
    let exposures = input.records.iter().filter_map(|record| match record {
        QualityRecord::Exposure(it) if it.experiment == experiment.id => Some(it),
        _ => None,
    });
    let outcomes: Vec<SessionOutcome> = exposures
        .filter_map(|exposure| outcome(exposure, input, &values))
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

/// Returns the outcome of a session; `None` if its metric is unknown.
fn outcome(
    exposure: &ExposureRecord,
    input: &ReportInput,
    values: &BTreeMap<&str, f64>,
) -> Option<SessionOutcome> {
    let value = *values.get(exposure.subject.as_str())?;
    let folder = input
        .sessions
        .get(&exposure.subject)
        .map(|it| it.1.as_str());
    let others = values
        .iter()
        .filter(|it| *it.0 != exposure.subject.as_str());
    let earlier = others.filter(|(session, _)| {
        let known = input.sessions.get(**session);
        known.is_some_and(|(started, root)| {
            *started < exposure.at_ms && Some(root.as_str()) == folder
        })
    });
    let earlier: Vec<f64> = earlier.map(|(_, value)| *value).collect();
    let before = (!earlier.is_empty()).then(|| earlier.iter().sum::<f64>() / earlier.len() as f64);
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
