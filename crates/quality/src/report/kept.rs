//! Lines about kept text, by writer and model.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use statistics::Interval;

use super::{KeptLine, ReportInput};
use crate::keep::{KeepChange, KeepFigures, UnitHistory, WorkCounts};
use crate::record::{fate_name, milestone_name};

const DAY_MS: u64 = 86_400_000;

/// Returns a line for each model of agents, most tokens first, then for the other writers.
pub(super) fn lines(input: &ReportInput, histories: &[UnitHistory]) -> Vec<KeptLine> {
    let models = CallModels::of(input);
    let mut groups: BTreeMap<String, Vec<&UnitHistory>> = BTreeMap::new();
    for history in histories {
        let name = match history.unit.writer.as_str() {
            "agent" => models.of_unit(history).to_owned(),
            writer => writer.to_owned(),
        };
        groups.entry(name).or_default().push(history);
    }
    let middle = input
        .now_ms
        .saturating_sub(input.days.saturating_mul(DAY_MS) / 2);
    let lines = groups.into_iter().map(|(name, of_group)| {
        let figures = figures_of(input, &of_group);
        let is_early = |it: &&UnitHistory| it.unit.at_ms < middle;
        let (before, after): (Vec<_>, Vec<_>) = of_group.into_iter().partition(is_early);
        let (before, after) = (figures_of(input, &before), figures_of(input, &after));
        line(name, &figures, &before.compare(&after))
    });
    let mut lines: Vec<KeptLine> = lines.collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.tokens));
    lines
}

/// Computes the figures of changes with the work of their sessions.
fn figures_of(input: &ReportInput, histories: &[&UnitHistory]) -> KeepFigures {
    let sessions: BTreeSet<&str> = histories
        .iter()
        .map(|it| it.unit.session.as_str())
        .collect();
    let mut work = WorkCounts::default();
    let of_sessions = sessions.into_iter().filter(|id| !id.is_empty());
    for counts in of_sessions.filter_map(|session| input.work.get(session)) {
        work.turns += counts.turns;
        work.calls += counts.calls;
        work.failed_calls += counts.failed_calls;
        work.questions += counts.questions;
        work.output_tokens += counts.output_tokens;
    }
    KeepFigures::of(histories, &work)
}

fn line(name: String, figures: &KeepFigures, change: &KeepChange) -> KeptLine {
    let kept = figures.kept.iter();
    let lost = figures.lost.iter();
    KeptLine {
        name,
        units: figures.units,
        tokens: figures.tokens,
        kept: kept
            .map(|(milestone, share)| (milestone_name(*milestone).to_owned(), *share))
            .collect(),
        interval: figures.interval.map(ends),
        at_commit: figures.at_commit,
        at_landing: figures.at_landing,
        lost: lost
            .map(|(fate, share)| (fate_name(*fate).to_owned(), *share))
            .collect(),
        edits_per_turn: figures.edits_per_turn,
        tokens_per_turn: figures.tokens_per_turn,
        questions_per_turn: figures.questions_per_turn,
        calls: figures.calls,
        error_share: figures.error_share,
        output_per_kept_row: figures.output_per_kept_row,
        change: sentence(change),
    }
}

/// Returns both ends of an interval.
pub(super) fn ends(interval: Interval) -> (f64, f64) {
    (interval.low, interval.high)
}

fn sentence(change: &KeepChange) -> String {
    match change {
        KeepChange::Unknown => {
            "too little is known to compare both halves of the period".to_owned()
        }
        KeepChange::Undecided => {
            "no difference to the earlier half of the period is certain".to_owned()
        }
        KeepChange::Better => "more is kept than in the earlier half of the period".to_owned(),
        KeepChange::Worse => "less is kept than in the earlier half of the period".to_owned(),
        KeepChange::NotComparable(reason) => {
            format!("more is kept than in the earlier half of the period, but {reason}")
        }
    }
}

/// The models of calls.
struct CallModels<'a> {
    /// By session and call.
    calls: HashMap<(&'a str, &'a str), &'a str>,
    /// The latest model of each session.
    sessions: HashMap<&'a str, &'a str>,
}

impl<'a> CallModels<'a> {
    fn of(input: &'a ReportInput) -> Self {
        let mut models = Self {
            calls: HashMap::new(),
            sessions: HashMap::new(),
        };
        for call in input.calls.iter().filter(|call| !call.session.is_empty()) {
            let key = (call.session.as_str(), call.call.as_str());
            models.calls.insert(key, &call.model);
            models.sessions.insert(&call.session, &call.model);
        }
        models
    }

    /// Returns the model that made a change. Measurements of calls may be lost.
    fn of_unit(&self, history: &UnitHistory) -> &'a str {
        let unit = &history.unit;
        let call = self.calls.get(&(unit.session.as_str(), unit.call.as_str()));
        let known = call.or_else(|| self.sessions.get(unit.session.as_str()));
        known.copied().unwrap_or("agent")
    }
}
