//! Measurements and small work from before the services are open.
//!
//! Invariant: at most `MAX_KEPT` of each are kept, the latest ones.
//! Start at `KeptMetrics`.

use std::collections::VecDeque;

use runtime::agent_services::AgentServices;

use super::Metric;

/// Maximum number of measurements.
const MAX_KEPT: usize = 1_000;

/// Work that waits for the services.
pub(super) type WaitingWork = Box<dyn FnOnce(&AgentServices) + Send>;

/// Measurements and work from before the services are open, the latest last.
pub(super) struct KeptMetrics {
    metrics: VecDeque<Metric>,
    waiting: VecDeque<WaitingWork>,
    may_open: bool,
}

impl Default for KeptMetrics {
    fn default() -> Self {
        Self {
            metrics: VecDeque::new(),
            waiting: VecDeque::new(),
            may_open: true,
        }
    }
}

impl KeptMetrics {
    /// Keeps a measurement. Drops the oldest beyond the maximum.
    pub(super) fn keep(&mut self, metric: Metric) {
        self.metrics.push_back(metric);
        let surplus = self.metrics.len().saturating_sub(MAX_KEPT);
        self.metrics.drain(..surplus);
    }

    /// Keeps work. Drops the oldest beyond the maximum.
    pub(super) fn keep_work(&mut self, work: WaitingWork) {
        self.waiting.push_back(work);
        let surplus = self.waiting.len().saturating_sub(MAX_KEPT);
        self.waiting.drain(..surplus);
    }

    /// Removes and returns the work, the oldest first.
    pub(super) fn take_work(&mut self) -> VecDeque<WaitingWork> {
        std::mem::take(&mut self.waiting)
    }

    /// Returns whether to open the services for the measurements: once, and not after `opening_failed`.
    pub(super) fn begin_opening(&mut self) -> bool {
        std::mem::replace(&mut self.may_open, false)
    }

    /// Notes that the services did not open. Later measurements wait until something else opens them.
    pub(super) fn opening_failed(&mut self) {
        self.may_open = false;
    }

    /// Removes and returns the measurements, the oldest first.
    pub(super) fn take(&mut self) -> VecDeque<Metric> {
        std::mem::take(&mut self.metrics)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.metrics.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(value: f64) -> Metric {
        Metric {
            name: "tab.measured",
            value,
            tags: "{}".to_owned(),
        }
    }

    #[test]
    fn the_latest_measurements_are_kept() {
        let mut kept = KeptMetrics::default();
        let count = u32::try_from(MAX_KEPT).expect("small") + 2;
        (0..count).for_each(|ix| kept.keep(metric(ix.into())));
        let metrics = kept.take();
        assert_eq!(metrics.len(), MAX_KEPT);
        assert_eq!(metrics.front().map(|it| it.value), Some(2.0));
        assert!(kept.take().is_empty());
    }

    #[test]
    fn the_latest_work_is_kept() {
        let mut kept = KeptMetrics::default();
        (0..MAX_KEPT + 2).for_each(|_| kept.keep_work(Box::new(|_| {})));
        assert_eq!(kept.take_work().len(), MAX_KEPT);
        assert!(kept.take_work().is_empty());
    }

    #[test]
    fn measurements_open_the_services_at_most_once() {
        let mut kept = KeptMetrics::default();
        assert!(kept.begin_opening());
        assert!(!kept.begin_opening());
        let mut kept = KeptMetrics::default();
        kept.opening_failed();
        assert!(!kept.begin_opening());
    }
}
