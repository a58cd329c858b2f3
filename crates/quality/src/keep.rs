//! Kept text: the shares that are left after fixed times, the reasons of losses, and the figures that rise when a share
//! is gamed.
//!
//! A share counts tokens. A change whose observation ended early counts as long as it was seen, and says nothing about
//! later: the estimator is that of Aalen and Johansen. Intervals come from resampling sessions, because the changes of
//! one session depend on each other.
//!
//! Invariant: `KeepFigures` has no share without the counts of edits, questions and errors beside it.
//! Start at `KeepFigures::of`.

use std::collections::{BTreeMap, HashMap};

use retention::{Fate, Milestone};
use statistics::{IncidenceCurve, Interval, SurvivalExit, bootstrap_interval};

use crate::record::{KeptRecord, QualityRecord, SideRecord, UnitRecord, fate_name, milestone_name};

/// Factor by which a figure beside a share may change before two shares cannot be compared.
const MAX_CHANGE: f64 = 1.5;
/// Number of steps of time in resamples, end of the first one in milliseconds, and logarithm of the ratio of two
/// neighbours: a day is in the last but one.
const STEPS: usize = 64;
const FIRST_STEP: u64 = 10_000;
const STEP_GROWTH: f64 = 0.147;
/// Maximum number of blocks of sessions that are resampled.
const MAX_BLOCKS: usize = 64;

/// A change with its measurements so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitHistory {
    /// The change.
    pub unit: UnitRecord,
    /// Its measurements, in any order.
    pub measured: Vec<KeptRecord>,
}

/// Counts of the work in which changes were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// Number of turns.
    pub turns: u64,
    /// Number of tool calls, and of those that failed.
    pub calls: u64,
    /// Number of failed calls.
    pub failed_calls: u64,
    /// Number of questions to the user.
    pub questions: u64,
    /// Number of tokens that models wrote.
    pub output_tokens: u64,
}

/// The kept share of a group of changes, with the figures that rise or fall when the share is gamed.
#[derive(Clone, Debug, PartialEq)]
pub struct KeepFigures {
    /// Number of changes, and of their tokens.
    pub units: u64,
    /// Number of tokens inserted and removed.
    pub tokens: u64,
    /// Kept share at each fixed time; `None` where no change was observed that long.
    pub kept: Vec<(Milestone, Option<f64>)>,
    /// Interval of the share at the last known time; `None` with few sessions.
    pub interval: Option<Interval>,
    /// Share of the tokens that were in the first commit; `None` if nothing was committed.
    pub at_commit: Option<f64>,
    /// Share of the tokens that landed; `None` if nothing landed.
    pub at_landing: Option<f64>,
    /// Share of tokens lost until the last known time, by reason.
    pub lost: Vec<(Fate, f64)>,
    /// Number of changes in a turn.
    pub edits_per_turn: Option<f64>,
    /// Number of tokens changed in a turn.
    pub tokens_per_turn: Option<f64>,
    /// Number of questions in a turn.
    pub questions_per_turn: Option<f64>,
    /// Number of calls, without which the share of failed ones says nothing.
    pub calls: u64,
    /// Share of calls that failed.
    pub error_share: Option<f64>,
    /// Number of tokens that models wrote for each row that is kept.
    pub output_per_kept_row: Option<f64>,
}

/// The result of a comparison of two periods or groups.
#[derive(Clone, Debug, PartialEq)]
pub enum KeepChange {
    /// The data do not determine both intervals.
    Unknown,
    /// The intervals overlap.
    Undecided,
    /// More is kept, and no other figure became worse.
    Better,
    /// Less is kept.
    Worse,
    /// More is kept, but another figure changed so much that the work is not the same.
    NotComparable(String),
}

/// Joins rows to changes with their measurements, in the order of the changes. Measurements without their change are
/// dropped.
pub fn histories(records: impl IntoIterator<Item = QualityRecord>) -> Vec<UnitHistory> {
    let mut units: Vec<UnitHistory> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut measured = Vec::new();
    for record in records {
        match record {
            QualityRecord::Unit(unit) => {
                places.entry(unit.unit.clone()).or_insert_with(|| {
                    let history = UnitHistory {
                        unit,
                        measured: Vec::new(),
                    };
                    units.push(history);
                    units.len() - 1
                });
            }
            QualityRecord::Kept(kept) => measured.push(kept),
            QualityRecord::Alarm(_)
            | QualityRecord::Exposure(_)
            | QualityRecord::Trial(_)
            | QualityRecord::Judgement(_) => {}
        }
    }
    for kept in measured {
        if let Some(place) = places.get(&kept.unit) {
            units[*place].measured.push(kept);
        }
    }
    units
}

impl UnitHistory {
    /// Returns whether at least half of the tokens were taken back.
    pub(crate) fn is_taken_back(&self) -> bool {
        let measured = self.measured.iter().filter(|it| !is_of_text(it));
        let Some(last) = measured.max_by_key(|it| it.after_ms) else {
            return false;
        };
        let sides = [&last.inserted, &last.removed];
        let all: u32 = sides.iter().map(|side| side.tokens).sum();
        let lost = sides.iter().flat_map(|side| &side.losses);
        let back = lost.filter(|loss| loss.fate == "reverted");
        let back: u32 = back.map(|loss| loss.tokens).sum();
        all > 0 && u64::from(back) * 2 >= u64::from(all)
    }

    /// Returns the ends of observation of the tokens; empty before the first measurement.
    fn exits(&self) -> Vec<SurvivalExit> {
        let at_fixed_time = self.measured.iter().filter(|it| !is_of_text(it));
        let Some(last) = at_fixed_time.max_by_key(|it| it.after_ms) else {
            return Vec::new();
        };
        let sides = [&last.inserted, &last.removed];
        let lost = sides.into_iter().flat_map(|side| &side.losses);
        let lost = lost.map(|loss| SurvivalExit {
            after: loss.after_ms,
            weight: f64::from(loss.tokens),
            cause: cause(&loss.fate),
        });
        let kept = SurvivalExit {
            after: last.after_ms,
            weight: f64::from(last.inserted.kept + last.removed.kept),
            cause: None,
        };
        lost.chain([kept]).collect()
    }

    /// Returns the kept and all tokens at a commit or a landing.
    fn at(&self, milestone: Milestone) -> Option<(f64, f64)> {
        let name = milestone_name(milestone);
        let measured = self.measured.iter().find(|it| it.milestone == name)?;
        let sum =
            |of: fn(&SideRecord) -> u32| f64::from(of(&measured.inserted) + of(&measured.removed));
        Some((sum(|side| side.kept), sum(|side| side.tokens)))
    }

    /// Returns the share of tokens that are kept at a fixed time; `None` if the change was not observed that long, and
    /// for other moments. Tokens that Git took out of sight before count in no share.
    pub fn kept_share_at(&self, milestone: Milestone) -> Option<f64> {
        let (_, at) = Milestone::HORIZONS.iter().find(|it| it.0 == milestone)?;
        let observed = self.measured.iter().filter(|it| !is_of_text(it));
        if observed.map(|it| it.after_ms).max()? < *at {
            return None;
        }
        let exits = self.exits();
        let seen = exits
            .iter()
            .filter(|it| it.cause.is_some() || it.after >= *at);
        let seen: f64 = seen.map(|it| it.weight).sum();
        let lost = exits
            .iter()
            .filter(|it| it.cause.is_some() && it.after <= *at);
        let lost: f64 = lost.map(|it| it.weight).sum();
        (seen > 0.0).then(|| (seen - lost) / seen)
    }

    /// Returns the time since the change at which the first token was lost for a reason, in milliseconds; `None` if none
    /// was.
    pub(crate) fn first_loss(&self, fate: &str) -> Option<u64> {
        let measured = self.measured.iter().filter(|it| !is_of_text(it));
        let sides = measured.flat_map(|it| [&it.inserted, &it.removed]);
        let lost = sides.flat_map(|side| &side.losses);
        let lost = lost.filter(|loss| loss.fate == fate && loss.tokens > 0);
        lost.map(|loss| loss.after_ms).min()
    }

    /// Returns the group of changes that depend on each other: those of a session, or of a file without one.
    fn cluster(&self) -> &str {
        if self.unit.session.is_empty() {
            &self.unit.path
        } else {
            &self.unit.session
        }
    }
}

/// Returns whether a measurement is about the text of a commit or a landing.
fn is_of_text(measured: &KeptRecord) -> bool {
    [Milestone::Commit, Milestone::Landing]
        .iter()
        .any(|milestone| milestone_name(*milestone) == measured.milestone)
}

/// Returns the index of a reason in `Fate::ALL`; `None` if nothing is known from then on. Reasons of newer programs
/// count as those of others.
fn cause(fate: &str) -> Option<usize> {
    let found = Fate::ALL.iter().position(|it| fate_name(*it) == fate);
    let others = Fate::ALL.iter().position(|it| *it == Fate::ChangedByOthers);
    match found {
        Some(ix) if Fate::ALL[ix] == Fate::CheckedOut => None,
        Some(ix) => Some(ix),
        None => others,
    }
}

impl KeepFigures {
    /// Computes the figures of changes that were made in this work.
    pub fn of(histories: &[&UnitHistory], work: &WorkCounts) -> Self {
        let exits: Vec<SurvivalExit> = histories.iter().flat_map(|it| it.exits()).collect();
        let curve = IncidenceCurve::of(&exits, Fate::ALL.len());
        let kept =
            Milestone::HORIZONS.map(|(milestone, after)| (milestone, curve.survival_at(after)));
        let last = Milestone::HORIZONS
            .iter()
            .rfind(|(_, after)| curve.survival_at(*after).is_some());
        let lost = last
            .map(|(_, after)| losses(&curve, *after))
            .unwrap_or_default();
        let interval = last.and_then(|(_, after)| interval(histories, *after));
        let units = histories.len() as u64;
        let tokens = histories
            .iter()
            .map(|it| u64::from(it.unit.inserted + it.unit.removed))
            .sum();
        let ratio = |part: f64, whole: u64| (whole > 0).then(|| part / whole as f64);
        let last_share = last.and_then(|(_, after)| curve.survival_at(*after));
        let rows: u64 = histories.iter().map(|it| u64::from(it.unit.rows)).sum();
        let kept_rows = last_share.map(|share| share * rows as f64);
        Self {
            units,
            tokens,
            kept: kept.to_vec(),
            interval,
            at_commit: share_at(histories, Milestone::Commit),
            at_landing: share_at(histories, Milestone::Landing),
            lost,
            edits_per_turn: ratio(units as f64, work.turns),
            tokens_per_turn: ratio(tokens as f64, work.turns),
            questions_per_turn: ratio(work.questions as f64, work.turns),
            calls: work.calls,
            error_share: ratio(work.failed_calls as f64, work.calls),
            output_per_kept_row: kept_rows
                .filter(|rows| *rows >= 1.0)
                .map(|rows| work.output_tokens as f64 / rows),
        }
    }

    /// Returns the last fixed time for which the share is known, and the share.
    pub fn last_known(&self) -> Option<(Milestone, f64)> {
        let known = self.kept.iter().rev();
        known
            .copied()
            .find_map(|(milestone, share)| Some((milestone, share?)))
    }

    /// Compares these figures with later ones.
    pub fn compare(&self, after: &Self) -> KeepChange {
        let milestone = |figures: &Self| figures.last_known().map(|(milestone, _)| milestone);
        let (Some(old), Some(new)) = (self.interval, after.interval) else {
            return KeepChange::Unknown;
        };
        if milestone(self) != milestone(after) {
            return KeepChange::Unknown;
        }
        if new.high < old.low {
            return KeepChange::Worse;
        }
        if new.low <= old.high {
            return KeepChange::Undecided;
        }
        match self.games(after) {
            Some(reason) => KeepChange::NotComparable(reason),
            None => KeepChange::Better,
        }
    }

    /// Returns the figure that changed so much that a higher share may come from different work.
    fn games(&self, after: &Self) -> Option<String> {
        let fell = |old: Option<f64>, new: Option<f64>| {
            old.zip(new)
                .is_some_and(|(old, new)| new * MAX_CHANGE < old)
        };
        let rose = |old: Option<f64>, new: Option<f64>| {
            old.zip(new)
                .is_some_and(|(old, new)| new > old * MAX_CHANGE)
        };
        let text = |what: &str, old: Option<f64>, new: Option<f64>| {
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            Some(format!("{what} changed from {old:.2} to {new:.2}"))
        };
        if fell(self.tokens_per_turn, after.tokens_per_turn) {
            return text(
                "tokens in a turn",
                self.tokens_per_turn,
                after.tokens_per_turn,
            );
        }
        if fell(self.edits_per_turn, after.edits_per_turn) {
            return text("edits in a turn", self.edits_per_turn, after.edits_per_turn);
        }
        if rose(self.questions_per_turn, after.questions_per_turn) {
            return text(
                "questions in a turn",
                self.questions_per_turn,
                after.questions_per_turn,
            );
        }
        if rose(self.error_share, after.error_share) {
            return text(
                "the share of failed calls",
                self.error_share,
                after.error_share,
            );
        }
        if rose(self.output_per_kept_row, after.output_per_kept_row) {
            let (old, new) = (self.output_per_kept_row, after.output_per_kept_row);
            return text("tokens written for a kept row", old, new);
        }
        None
    }
}

/// Returns the shares lost by reason, without reasons that did not occur.
fn losses(curve: &IncidenceCurve, after: u64) -> Vec<(Fate, f64)> {
    let shares = Fate::ALL.iter().enumerate();
    let shares = shares.filter_map(|(ix, fate)| Some((*fate, curve.incidence_at(ix, after)?)));
    shares.filter(|(_, share)| *share > 0.0).collect()
}

/// Returns the share of kept tokens at a commit or landing, over the changes that reached it.
fn share_at(histories: &[&UnitHistory], milestone: Milestone) -> Option<f64> {
    let at = histories.iter().filter_map(|it| it.at(milestone));
    let (kept, all) = at.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    (all > 0.0).then(|| kept / all)
}

/// Returns the interval of the share at a time, by resampling sessions.
fn interval(histories: &[&UnitHistory], after: u64) -> Option<Interval> {
    let mut clusters: BTreeMap<&str, RiskTable> = BTreeMap::new();
    for history in histories {
        let table = clusters.entry(history.cluster()).or_default();
        history
            .exits()
            .iter()
            .for_each(|exit| table.add(exit, after));
    }
    // Blocks of sessions are as independent as sessions, and cheaper.
    let mut blocks = vec![RiskTable::default(); clusters.len().min(MAX_BLOCKS)];
    for (ix, table) in clusters.values().enumerate() {
        let block = ix % blocks.len();
        blocks[block].join(table);
    }
    bootstrap_interval(blocks.len(), |sample| {
        let mut all = RiskTable::default();
        sample.iter().for_each(|ix| all.join(&blocks[*ix]));
        all.survival()
    })
}

/// The tokens that were lost and that went out of sight, by steps of time.
#[derive(Clone, Debug)]
struct RiskTable {
    lost: [f64; STEPS],
    gone: [f64; STEPS],
}

impl Default for RiskTable {
    fn default() -> Self {
        Self {
            lost: [0.0; STEPS],
            gone: [0.0; STEPS],
        }
    }
}

impl RiskTable {
    /// Adds the end of an observation, as far as it is known at a time.
    fn add(&mut self, exit: &SurvivalExit, until: u64) {
        if exit.after > until {
            self.gone[STEPS - 1] += exit.weight;
        } else if exit.cause.is_some() {
            self.lost[step(exit.after)] += exit.weight;
        } else {
            self.gone[step(exit.after)] += exit.weight;
        }
    }

    fn join(&mut self, other: &Self) {
        let lost = self.lost.iter_mut().zip(&other.lost);
        let gone = self.gone.iter_mut().zip(&other.gone);
        lost.chain(gone).for_each(|(sum, more)| *sum += more);
    }

    /// Returns the share that is left at the end; `None` without tokens.
    fn survival(&self) -> Option<f64> {
        let mut at_risk: f64 = self.lost.iter().chain(&self.gone).sum();
        if at_risk <= 0.0 {
            return None;
        }
        let mut survival = 1.0;
        for (lost, gone) in self.lost.iter().zip(&self.gone) {
            if *lost > 0.0 {
                survival *= (1.0 - lost / at_risk).max(0.0);
            }
            at_risk -= lost + gone;
        }
        Some(survival)
    }
}

/// Returns the step of a time since the change, in milliseconds. Steps grow with the time, by about 15 %.
fn step(after: u64) -> usize {
    let steps = (after.max(FIRST_STEP) as f64 / FIRST_STEP as f64).ln() / STEP_GROWTH;
    (steps as usize).min(STEPS - 1)
}

#[cfg(test)]
mod tests;
