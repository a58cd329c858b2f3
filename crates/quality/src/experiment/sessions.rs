//! Sessions: each under one variant, compared in pairs in the order in which they began.

use statistics::{Covariate, Interval, PairBet, bootstrap_interval};

use super::Experiment;

/// The outcome of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOutcome {
    /// Name of the variant that the session had.
    pub variant: String,
    /// Time of its beginning, in milliseconds since 1970.
    pub started_ms: u64,
    /// The value of the metric.
    pub value: f64,
    /// The mean value of the sessions in the same folder before this one; `None` for the first.
    pub before: Option<f64>,
}

/// The comparison of sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionResult {
    /// The comparison by the metric.
    pub bet: PairBet,
    /// Numbers of sessions with the usual and with the tried variant.
    pub sessions: [usize; 2],
    /// Mean difference of the tried variant to the usual one; `None` without sessions of both.
    pub difference: Option<f64>,
    /// Its interval, by resampling sessions; `None` with few sessions.
    pub interval: Option<Interval>,
}

impl Experiment {
    /// Compares sessions. Each outcome is adjusted by what sessions in its folder achieved before; the relation is taken
    /// from the sessions before it.
    pub fn sessions(&self, outcomes: &[SessionOutcome]) -> SessionResult {
        let mut ordered: Vec<&SessionOutcome> = outcomes.iter().collect();
        ordered.sort_by_key(|outcome| outcome.started_ms);
        let mut covariate = Covariate::default();
        let mut values: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        let mut bet = PairBet::default();
        for outcome in ordered {
            let Some(ix) = self.index(&outcome.variant) else {
                continue;
            };
            let adjusted = outcome.before.map_or(outcome.value, |before| {
                covariate.adjusted(outcome.value, before)
            });
            values[ix].push(self.metric.direction() * adjusted);
            if let Some(before) = outcome.before {
                covariate.add(outcome.value, before);
            }
            // The pair of sessions with the same number is complete with the later of both.
            let count = values[ix].len();
            if values[1 - ix].len() >= count {
                bet.add(values[1][count - 1] - values[0][count - 1]);
            }
        }
        let [usual, tried] = &values;
        let difference = mean(usual)
            .zip(mean(tried))
            .map(|(usual, tried)| tried - usual);
        let all: Vec<(bool, f64)> = usual
            .iter()
            .map(|value| (false, *value))
            .chain(tried.iter().map(|value| (true, *value)))
            .collect();
        let interval = bootstrap_interval(all.len(), |sample| {
            let of = |is_tried: bool| {
                let values = sample
                    .iter()
                    .map(|ix| all[*ix])
                    .filter(|it| it.0 == is_tried);
                mean(&values.map(|it| it.1).collect::<Vec<_>>())
            };
            Some(of(true)? - of(false)?)
        });
        SessionResult {
            bet,
            sessions: [usual.len(), tried.len()],
            difference,
            interval,
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
