//! The fill of the model's context. One function feeds the meter of views and the decision to
//! compact, so that they never disagree.

use super::session::SessionTask;
use crate::fill::ContextFill;
use crate::record::SessionRecord;
use crate::session::AgentEvent;

/// The last count of a provider, and the size of the conversation that it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountedContext {
    /// Tokens of the request and its answer.
    tokens: u64,
    /// Bytes of the request, with the answer as it is sent from now on.
    bytes: u64,
}

impl SessionTask {
    /// Returns the fill of the context of the model that answers next: the last count of a provider
    /// and an estimate of the texts since; without a count an estimate of everything.
    pub(super) fn context_fill(&self) -> ContextFill {
        let sizes = self.transcript.part_sizes(&self.offered.specs);
        let bytes = sizes.total();
        let window = self.context_size().0;
        let tokens = match self.counted {
            Some(counted) => {
                let added = bytes.saturating_sub(counted.bytes);
                counted
                    .tokens
                    .saturating_add(self.estimator.estimate(added).0)
            }
            None => self.estimator.estimate(bytes).0,
        };
        ContextFill {
            tokens,
            is_estimate: self.counted.is_none(),
            window,
            compact_at: (window as f64 * self.harness().parts.limits.compact_at) as u64,
            parts: sizes.shares(tokens),
        }
    }

    /// Notes that a provider counted `tokens` for the last request and its answer, which is recorded.
    pub(super) fn note_count(&mut self, tokens: u64) {
        let bytes = self.transcript.part_sizes(&self.offered.specs).total();
        self.counted = Some(CountedContext { tokens, bytes });
    }

    /// Drops the last count if a record changes what was counted.
    pub(super) fn drop_count(&mut self, record: &SessionRecord) {
        if matches!(
            record,
            SessionRecord::Compacted { .. }
                | SessionRecord::SummaryEdited { .. }
                | SessionRecord::Omitted { .. }
                | SessionRecord::Switched { .. }
        ) {
            self.counted = None;
        }
    }

    /// Reports the fill and the cost to views.
    pub(super) fn report_fill(&self) {
        self.events.send_lossy(AgentEvent::Fill {
            fill: self.context_fill(),
            cost_nano: self.budget.spent().map(|cost| cost.0),
        });
    }
}
