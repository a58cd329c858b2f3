//! Commits, landings and renames: the text stays, and its place changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use text::Snapshot;

use crate::event::{Measurement, Milestone, RetentionEvent};
use crate::run::{AppliedChange, Run, RunKind};
use crate::splice;
use crate::tracker::{RetentionTracker, TrackedText};
use crate::unit::remainder;
use crate::writer::{UnitId, WriterKind};

impl RetentionTracker {
    /// Records that a document was committed for the first time since its latest change, and measures its
    /// units that were not committed before. `committed` is the text of the commit, which may lack changes
    /// of the document.
    pub fn commit(&mut self, document: &str, committed: &Snapshot, at_ms: u64) {
        self.advance(at_ms);
        let Some((name, _)) = self.documents.get_key_value(document) else {
            return;
        };
        let name = name.clone();
        self.flush(&name);
        let Some(tracked) = self.documents.get(&name) else {
            return;
        };
        let splices = splice::of_texts(&tracked.text, committed);
        let change = AppliedChange::new(&splices, committed, WriterKind::Person, at_ms);
        let ids: BTreeSet<UnitId> = tracked.runs.iter().map(|(id, _)| *id).collect();
        for id in ids {
            let Some(unit) = self.units.get_mut(&id).filter(|unit| !unit.is_committed) else {
                continue;
            };
            unit.is_committed = true;
            let committed: Vec<Run> = unit
                .runs
                .iter()
                .cloned()
                .map(|mut run| {
                    if run.document == name {
                        run.carry(&change);
                    }
                    run
                })
                .collect();
            let of = |kind: RunKind| {
                remainder(
                    committed.iter().filter(|run| run.kind == kind),
                    unit.born_ms,
                )
            };
            self.events.push(RetentionEvent::Measured(Measurement {
                unit: id,
                milestone: Milestone::Commit,
                after_ms: at_ms.saturating_sub(unit.born_ms),
                inserted: of(RunKind::Insertion),
                removed: of(RunKind::Removal),
            }));
        }
    }

    /// Records that the changes of a document landed in another one, such as the same file of the user's
    /// branch, whose text is now `landed`. The units go on there.
    pub fn land(&mut self, from: &str, to: &str, landed: &Snapshot, at_ms: u64) {
        self.advance(at_ms);
        let Some((from, _)) = self.documents.get_key_value(from) else {
            return;
        };
        let (from, to): (Arc<str>, Arc<str>) = (from.clone(), to.into());
        self.flush(&from);
        self.flush(&to);
        let Some(source) = self.documents.get_mut(&from) else {
            return;
        };
        let runs = std::mem::take(&mut source.runs);
        let accepted = splice::of_texts(&source.text, landed);
        // The user chose what lands, and resolved its conflicts.
        let accepted = AppliedChange::new(&accepted, landed, WriterKind::Person, at_ms);
        let target = self.documents.entry(to.clone());
        let target = target.or_insert_with(|| TrackedText::new(landed.clone()));
        let present = target.text.clone();
        let since = splice::of_texts(landed, &present);
        let since = AppliedChange::new(&since, &present, WriterKind::Git, at_ms);
        let mut ids = BTreeSet::new();
        for (id, ix) in &runs {
            if let Some(run) = self
                .units
                .get_mut(id)
                .and_then(|unit| unit.runs.get_mut(*ix))
            {
                run.carry(&accepted);
                run.document = to.clone();
                ids.insert(*id);
            }
        }
        for id in ids {
            if let Some(unit) = self.units.get_mut(&id).filter(|unit| !unit.is_landed) {
                unit.is_landed = true;
                let after_ms = at_ms.saturating_sub(unit.born_ms);
                self.measure(id, Milestone::Landing, after_ms);
            }
        }
        for (id, ix) in &runs {
            if let Some(run) = self
                .units
                .get_mut(id)
                .and_then(|unit| unit.runs.get_mut(*ix))
            {
                run.carry(&since);
            }
        }
        if let Some(target) = self.documents.get_mut(&to) {
            target.runs.extend(runs);
        }
    }

    /// Records that a document has another name. An existing document of that name is closed.
    pub fn rename(&mut self, from: &str, to: &str, at_ms: u64) {
        self.advance(at_ms);
        let Some((from, _)) = self.documents.get_key_value(from) else {
            return;
        };
        let (from, to): (Arc<str>, Arc<str>) = (from.clone(), to.into());
        self.flush(&from);
        self.close(&to, at_ms);
        let Some(tracked) = self.documents.remove(&from) else {
            return;
        };
        for (id, ix) in &tracked.runs {
            if let Some(run) = self
                .units
                .get_mut(id)
                .and_then(|unit| unit.runs.get_mut(*ix))
            {
                run.document = to.clone();
            }
        }
        self.documents.insert(to, tracked);
    }
}
