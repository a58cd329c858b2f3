//! Measurements: at fixed times after a change, and when an observation ends early.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::event::{Measurement, Milestone, RetentionEvent};
use crate::run::RunKind;
use crate::tracker::{PAUSE_MS, RetentionTracker};
use crate::writer::UnitId;

/// Time in milliseconds for which a unit is followed that was neither committed nor landed.
const MAX_FOLLOWED_MS: u64 = 7 * 86_400_000;

impl RetentionTracker {
    /// Measures all units whose times have come. To be called before each look at the results; `edit` and
    /// `observe` call it.
    pub fn advance(&mut self, now_ms: u64) {
        let is_over = |tracker: &Self, name: &Arc<str>| {
            let burst = tracker.documents.get(name).and_then(|it| it.burst.as_ref());
            burst.is_none_or(|it| now_ms.saturating_sub(it.last_ms) >= PAUSE_MS)
        };
        let bursts: Vec<Arc<str>> = self.bursts.iter().cloned().collect();
        for name in bursts
            .iter()
            .filter(|name| is_over(self, name))
            .cloned()
            .collect::<Vec<_>>()
        {
            self.flush(&name);
        }
        while self
            .due
            .peek()
            .is_some_and(|Reverse((due, _))| *due <= now_ms)
        {
            // The edits of open bursts are older than this time, since later ones were not accepted yet.
            while let Some(name) = self.bursts.first().cloned() {
                self.flush(&name);
            }
            let Some(Reverse((_, id))) = self.due.pop() else {
                return;
            };
            self.reach_horizon(id);
        }
    }

    /// Measures a unit at its next horizon; at the last one, drops it if nothing more is awaited.
    fn reach_horizon(&mut self, id: UnitId) {
        let Some(unit) = self.units.get_mut(&id) else {
            return;
        };
        let Some((milestone, after_ms)) = Milestone::HORIZONS.get(unit.next_horizon).copied()
        else {
            self.units.remove(&id);
            return;
        };
        unit.next_horizon += 1;
        let is_done = unit.is_committed || unit.is_landed;
        let next = Milestone::HORIZONS.get(unit.next_horizon);
        let next = match next {
            Some((_, after_ms)) => Some(*after_ms),
            None if is_done => None,
            None => Some(MAX_FOLLOWED_MS),
        };
        let born_ms = unit.born_ms;
        self.measure(id, milestone, after_ms);
        match next {
            Some(after_ms) => self.due.push(Reverse((born_ms + after_ms, id))),
            None => drop(self.units.remove(&id)),
        }
    }

    /// Ends the observation of a document, because it cannot be seen any more. Its units are measured as
    /// closed.
    pub fn close(&mut self, document: &str, at_ms: u64) {
        self.advance(at_ms);
        let Some((name, _)) = self.documents.get_key_value(document) else {
            return;
        };
        let name = name.clone();
        self.flush(&name);
        let Some(tracked) = self.documents.remove(&name) else {
            return;
        };
        for (id, _) in tracked.runs {
            self.end(id, at_ms);
        }
    }

    /// Stops following documents in which no change is measured any more. Such a document must be opened again before
    /// its next edit.
    pub fn close_unused(&mut self) {
        let units = &self.units;
        self.documents.retain(|_, tracked| {
            tracked.runs.retain(|(id, _)| units.contains_key(id));
            tracked.burst.is_some() || !tracked.runs.is_empty()
        });
    }

    /// Ends the observation of all documents.
    pub fn close_all(&mut self, at_ms: u64) {
        let names: Vec<Arc<str>> = self.documents.keys().cloned().collect();
        for name in names {
            self.close(&name, at_ms);
        }
    }

    /// Drops a unit, measured as closed unless all its horizons were reached.
    pub(super) fn end(&mut self, id: UnitId, at_ms: u64) {
        let Some(unit) = self.units.get(&id) else {
            return;
        };
        if unit.next_horizon < Milestone::HORIZONS.len() {
            let after_ms = at_ms.saturating_sub(unit.born_ms);
            self.measure(id, Milestone::Closed, after_ms);
        }
        self.units.remove(&id);
    }

    pub(super) fn measure(&mut self, id: UnitId, milestone: Milestone, after_ms: u64) {
        let Some(unit) = self.units.get(&id) else {
            return;
        };
        self.events.push(RetentionEvent::Measured(Measurement {
            unit: id,
            milestone,
            after_ms,
            inserted: unit.remainder(RunKind::Insertion),
            removed: unit.remainder(RunKind::Removal),
        }));
    }
}
