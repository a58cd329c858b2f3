//! The calls since a sum left zero.

use crate::outcomes::MeasuredCall;
use crate::record::AlarmExample;

/// Maximum number of examples.
const EXAMPLES: usize = 3;

/// The calls since the evidence of a change began.
#[derive(Clone, Debug, Default)]
pub(super) struct Climb {
    pub(super) since_ms: u64,
    pub(super) calls: u64,
    pub(super) failed: u64,
    /// The latest calls that show the change, oldest first.
    pub(super) examples: Vec<AlarmExample>,
}

impl Climb {
    pub(super) fn add(&mut self, call: &MeasuredCall, is_example: bool) {
        if self.calls == 0 {
            self.since_ms = call.at_ms;
        }
        self.calls += 1;
        if is_example {
            self.failed += 1;
            if self.examples.len() == EXAMPLES {
                self.examples.remove(0);
            }
            self.examples.push(AlarmExample {
                session: call.session.clone(),
                call: call.call.clone(),
                at_ms: call.at_ms,
            });
        }
    }
}
