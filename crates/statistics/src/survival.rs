//! Survival with competing risks: the estimator of Aalen and Johansen.
//!
//! An item is under observation until it fails of one of several causes, or until its observation ends,
//! which is called censored. A censored item counts as present until then and says nothing about later.
//! Without causes but one, the survival is the estimate of Kaplan and Meier.

/// The end of the observation of one item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurvivalExit {
    /// Time from the start of the item to the end of its observation, in any unit.
    pub after: u64,
    /// The number of equal items that this one represents.
    pub weight: f64,
    /// Index of the cause of failure; `None` if the item was present at the end.
    pub cause: Option<usize>,
}

/// The shares of items present and failed by cause, over the time since their start.
#[derive(Clone, Debug, PartialEq)]
pub struct IncidenceCurve {
    /// Ascending in time; one for each time at which something failed.
    steps: Vec<IncidenceStep>,
    /// The last time at which an item was under observation; `None` without items.
    last: Option<u64>,
    causes: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct IncidenceStep {
    after: u64,
    survival: f64,
    /// Share of items that failed until then, by cause. All of them and `survival` add up to 1.
    incidence: Vec<f64>,
}

impl IncidenceCurve {
    /// Estimates the curve from the ends of observations, in any order. Causes are below `causes`.
    pub fn of(exits: &[SurvivalExit], causes: usize) -> Self {
        let mut sorted: Vec<&SurvivalExit> =
            exits.iter().filter(|exit| exit.weight > 0.0).collect();
        sorted.sort_by_key(|exit| exit.after);
        let mut at_risk: f64 = sorted.iter().map(|exit| exit.weight).sum();
        let mut survival = 1.0;
        let mut incidence = vec![0.0; causes];
        let mut steps = Vec::new();
        for group in sorted.chunk_by(|one, two| one.after == two.after) {
            // Failures at a time come before the ends of observations at the same time.
            let mut failed = vec![0.0; causes];
            for exit in group {
                if let Some(count) = exit.cause.and_then(|cause| failed.get_mut(cause)) {
                    *count += exit.weight;
                }
            }
            let all: f64 = failed.iter().sum();
            if all > 0.0 {
                for (share, count) in incidence.iter_mut().zip(&failed) {
                    *share += survival * count / at_risk;
                }
                survival *= (1.0 - all / at_risk).max(0.0);
                steps.push(IncidenceStep {
                    after: group[0].after,
                    survival,
                    incidence: incidence.clone(),
                });
            }
            at_risk -= group.iter().map(|exit| exit.weight).sum::<f64>();
        }
        Self {
            steps,
            last: sorted.last().map(|exit| exit.after),
            causes,
        }
    }

    /// Returns the share of items present at a time after their start; `None` where no item was observed
    /// that long.
    pub fn survival_at(&self, after: u64) -> Option<f64> {
        self.known(after)
            .map(|step| step.map_or(1.0, |step| step.survival))
    }

    /// Returns the share of items that failed of a cause up to a time after their start; `None` where no
    /// item was observed that long, and for an unknown cause.
    pub fn incidence_at(&self, cause: usize, after: u64) -> Option<f64> {
        let step = self.known(after).filter(|_| cause < self.causes)?;
        Some(step.map_or(0.0, |step| step.incidence[cause]))
    }

    /// Returns the last step up to a time, which is missing before the first failure; `None` where the
    /// data say nothing.
    fn known(&self, after: u64) -> Option<Option<&IncidenceStep>> {
        let count = self.steps.partition_point(|step| step.after <= after);
        let step = count.checked_sub(1).map(|ix| &self.steps[ix]);
        // Once everything has failed, nothing can change.
        let is_over = step.is_some_and(|step| step.survival <= f64::EPSILON);
        let is_observed = self.last.is_some_and(|last| after <= last);
        (is_observed || is_over).then_some(step)
    }
}

#[cfg(test)]
mod tests;
