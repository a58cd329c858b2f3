//! The tracker: documents, the units in them, and the times at which they are measured.

mod landing;
mod measuring;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use text::{Change, Snapshot};

use crate::event::{Milestone, RetentionEvent, UnitStart};
use crate::moves::{MovedBlock, RemovedText, RemovedTexts, TokenPlace};
use crate::run::{AppliedChange, Run, RunKind};
use crate::splice::{self, TokenSplice};
use crate::token::{Token, symbols};
use crate::unit::Unit;
use crate::writer::{UnitId, Writer, WriterKind};

/// Maximum size in bytes of a text that is followed. Larger files are generated.
pub const MAX_TEXT_BYTES: usize = 4 << 20;
/// Maximum number of units that are followed; the observation of older ones is closed.
const MAX_UNITS: usize = 50_000;
/// Pause in milliseconds that ends a burst of edits. The edits of a burst are one unit: a person who
/// corrects a word while typing it has reworked nothing.
const PAUSE_MS: u64 = 2_000;
/// Maximum length of a burst in milliseconds.
const MAX_BURST_MS: u64 = 30_000;

/// Follows the units in a set of documents, such as the files of a working tree.
///
/// Times are milliseconds of one clock and do not decrease. Edits of a document are given as they happen by
/// `edit`, or as its new text by `observe`. The results are events, which the caller takes and stores.
#[derive(Debug, Default)]
pub struct RetentionTracker {
    documents: HashMap<Arc<str>, TrackedText>,
    units: BTreeMap<UnitId, Unit>,
    /// Times at which units are measured next, or dropped.
    due: BinaryHeap<Reverse<(u64, UnitId)>>,
    /// Documents with an open burst.
    bursts: BTreeSet<Arc<str>>,
    removed: RemovedTexts,
    next_unit: u64,
    events: Vec<RetentionEvent>,
}

/// A document with the runs in it.
#[derive(Debug)]
struct TrackedText {
    /// The text up to which runs were carried.
    text: Snapshot,
    /// The runs, as units and indices in them.
    runs: Vec<(UnitId, usize)>,
    /// Edits since then that are not carried yet.
    burst: Option<Burst>,
}

/// Edits of one writer in quick succession.
#[derive(Debug)]
struct Burst {
    change: Change,
    after: Snapshot,
    writer: Writer,
    since_ms: u64,
    last_ms: u64,
}

impl Burst {
    fn takes(&self, writer: &Writer, at_ms: u64) -> bool {
        self.writer == *writer
            && at_ms.saturating_sub(self.last_ms) < PAUSE_MS
            && at_ms.saturating_sub(self.since_ms) < MAX_BURST_MS
    }
}

impl TrackedText {
    fn new(text: Snapshot) -> Self {
        Self {
            text,
            runs: Vec::new(),
            burst: None,
        }
    }

    /// Returns the latest text.
    fn latest(&self) -> &Snapshot {
        self.burst.as_ref().map_or(&self.text, |burst| &burst.after)
    }
}

impl RetentionTracker {
    /// Starts following a document from its present text, which belongs to no unit. Does nothing if it is
    /// followed.
    pub fn open(&mut self, document: &str, text: Snapshot) {
        if text.len().0 <= MAX_TEXT_BYTES && !self.documents.contains_key(document) {
            self.documents
                .insert(document.into(), TrackedText::new(text));
        }
    }

    /// Returns whether a document is followed.
    pub fn is_open(&self, document: &str) -> bool {
        self.documents.contains_key(document)
    }

    /// Records an edit that led to the text `after`. Takes little time: edits are carried once the writer
    /// pauses. A document that is not followed is followed from `after` on; a change that does not start
    /// at the latest text is found by comparing texts.
    pub fn edit(
        &mut self,
        document: &str,
        (change, after): (&Change, &Snapshot),
        writer: &Writer,
        at_ms: u64,
    ) {
        self.advance(at_ms);
        let Some((name, tracked)) = self.documents.get_key_value(document) else {
            self.open(document, after.clone());
            return;
        };
        let name = name.clone();
        if tracked.latest().revision() != change.before || after.len().0 > MAX_TEXT_BYTES {
            self.observe(document, after.clone(), writer, at_ms);
            return;
        }
        let joins = tracked
            .burst
            .as_ref()
            .is_some_and(|it| it.takes(writer, at_ms));
        if !joins {
            self.flush(&name);
        }
        let Some(tracked) = self.documents.get_mut(&name) else {
            return;
        };
        match &mut tracked.burst {
            Some(burst) => {
                burst.change = burst.change.compose(change);
                burst.after = after.clone();
                burst.last_ms = at_ms;
            }
            None => {
                tracked.burst = Some(Burst {
                    change: change.clone(),
                    after: after.clone(),
                    writer: writer.clone(),
                    since_ms: at_ms,
                    last_ms: at_ms,
                });
                self.bursts.insert(name);
            }
        }
    }

    /// Records that a document has a new text, of which the writer is known but not the edits. A document
    /// that is not followed is a new one.
    pub fn observe(&mut self, document: &str, after: Snapshot, writer: &Writer, at_ms: u64) {
        self.advance(at_ms);
        let name: Arc<str> = match self.documents.get_key_value(document) {
            Some((name, _)) => name.clone(),
            None => document.into(),
        };
        self.flush(&name);
        if after.len().0 > MAX_TEXT_BYTES {
            self.close(document, at_ms);
            return;
        }
        let tracked = self
            .documents
            .entry(name.clone())
            .or_insert_with(|| TrackedText::new(Snapshot::new("")));
        let splices = splice::of_texts(&tracked.text, &after);
        self.apply(&name, &splices, after, writer, at_ms);
    }

    /// Takes the events since the last call, oldest first.
    pub fn take_events(&mut self) -> Vec<RetentionEvent> {
        std::mem::take(&mut self.events)
    }

    /// Carries the open burst of a document.
    fn flush(&mut self, document: &Arc<str>) {
        self.bursts.remove(document);
        let Some(tracked) = self.documents.get_mut(document) else {
            return;
        };
        if let Some(burst) = tracked.burst.take() {
            let splices = splice::of_edit(&tracked.text, &burst.after, &burst.change.splices);
            self.apply(
                document,
                &splices,
                burst.after,
                &burst.writer,
                burst.last_ms,
            );
        }
    }

    /// Carries all runs of a document through a change, and begins the unit of the change.
    fn apply(
        &mut self,
        document: &Arc<str>,
        splices: &[TokenSplice],
        after: Snapshot,
        writer: &Writer,
        at_ms: u64,
    ) {
        let Some(tracked) = self.documents.get_mut(document) else {
            return;
        };
        let change = AppliedChange::new(splices, &after, writer.kind, at_ms);
        let units = &mut self.units;
        let mut owners: HashMap<usize, Vec<TokenPlace>> = HashMap::new();
        let (mut returned, mut stayed) = (HashSet::new(), HashSet::new());
        tracked.runs.retain(|(id, ix)| {
            let Some(run) = units.get_mut(id).and_then(|unit| unit.runs.get_mut(*ix)) else {
                return false;
            };
            let carried = run.carry(&change);
            for (token, place) in carried.lost {
                owners.entry(place).or_default().push((*id, *ix, token));
            }
            returned.extend(carried.returned);
            stayed.extend(carried.stayed);
            true
        });
        tracked.text = after.clone();
        let removed = splices
            .iter()
            .map(|splice| without(&splice.removed, &stayed));
        let removed: Vec<Vec<Token>> = removed.collect();
        let texts = self.remember_removed(&removed, &owners, (writer.kind, at_ms));
        let mut runs: Vec<Run> = Vec::new();
        for splice in splices {
            let new = without(&splice.inserted, &returned);
            if !new.is_empty() {
                let run = Run::inserted(document.clone(), new, symbols(&splice.removed));
                runs.extend(self.without_moved(run));
            }
        }
        let mut removals = Vec::new();
        for ((splice, tokens), text) in splices.iter().zip(removed).zip(texts) {
            let place = splice.new.clone();
            let mut run = Run::removed(document.clone(), tokens, place, &after);
            if let Some(removed) = text.and_then(|ix| self.removed.get_mut(ix)) {
                let moved = removed.is_moved.iter().enumerate();
                let moved = moved.filter(|(_, is_moved)| **is_moved);
                moved.for_each(|(token, _)| run.take_away(token));
            }
            if run.count() > 0 {
                removals.extend(text.map(|ix| (ix, runs.len())));
                runs.push(run);
            }
        }
        if writer.kind.is_followed() && !runs.is_empty() {
            let id = self.begin(document, runs, writer, at_ms);
            for (text, run) in removals {
                if let Some(removed) = self.removed.get_mut(text) {
                    removed.removal = Some((id, run));
                }
            }
        }
    }

    /// Remembers the texts that the splices of a change removed, so that they are recognized elsewhere. Returns the index of each
    /// that is long enough. `owners` are the tokens of units by their places in the text before.
    fn remember_removed(
        &mut self,
        removed: &[Vec<Token>],
        owners: &HashMap<usize, Vec<TokenPlace>>,
        by: (WriterKind, u64),
    ) -> Vec<Option<usize>> {
        self.removed.forget(by.1);
        let remembered = removed.iter().map(|removed| {
            let owners = removed
                .iter()
                .map(|it| owners.get(&it.start).cloned().unwrap_or_default());
            let text = RemovedText::new(symbols(removed), owners.collect(), by)?;
            Some(self.removed.add(text))
        });
        remembered.collect()
    }

    /// Returns a newly written run without the blocks that were moved here; those stay in their units.
    fn without_moved(&mut self, run: Run) -> Option<Run> {
        let blocks = self.removed.take_moved(&run.symbols());
        if blocks.is_empty() {
            return Some(run);
        }
        let mut is_moved = vec![false; run.states.len()];
        for block in &blocks {
            is_moved[block.written.clone()].fill(true);
            self.move_block(&run, block);
        }
        run.without(&is_moved)
    }

    /// Moves the tokens of units in a block to the place where the block was written.
    fn move_block(&mut self, run: &Run, block: &MovedBlock) {
        let Some(removed) = self.removed.get_mut(block.text) else {
            return;
        };
        let tokens = block.first..block.first + block.written.len();
        if let Some((id, ix)) = removed.removal
            && let Some(unit) = self.units.get_mut(&id)
        {
            tokens
                .clone()
                .for_each(|token| unit.runs[ix].take_away(token));
        }
        let mut moved: BTreeMap<(UnitId, usize), Vec<(usize, usize)>> = BTreeMap::new();
        for (owners, written) in removed.owners[tokens].iter().zip(block.written.clone()) {
            for (id, ix, token) in owners {
                moved.entry((*id, *ix)).or_default().push((*token, written));
            }
        }
        for ((id, ix), pairs) in moved {
            let Some(unit) = self.units.get_mut(&id) else {
                continue;
            };
            let pairs = pairs
                .iter()
                .filter(|(token, _)| unit.runs[ix].is_lost(*token));
            let (old, new): (Vec<usize>, Vec<usize>) = pairs.copied().unzip();
            if new.is_empty() {
                continue;
            }
            old.iter().for_each(|token| unit.runs[ix].take_away(*token));
            unit.runs[ix].rework(removed.at_ms, removed.writer);
            if let Some(tracked) = self.documents.get_mut(&run.document) {
                tracked.runs.push((id, unit.runs.len()));
            }
            unit.runs.push(run.moved_part(&new));
        }
    }

    /// Begins a unit with these runs.
    fn begin(
        &mut self,
        document: &Arc<str>,
        runs: Vec<Run>,
        writer: &Writer,
        at_ms: u64,
    ) -> UnitId {
        let id = UnitId(self.next_unit);
        self.next_unit += 1;
        let Some(tracked) = self.documents.get_mut(document) else {
            return id;
        };
        tracked.runs.extend((0..runs.len()).map(|ix| (id, ix)));
        let count = |kind: RunKind| {
            let runs = runs.iter().filter(|run| run.kind == kind);
            runs.map(Run::count).sum()
        };
        self.events.push(RetentionEvent::Began(UnitStart {
            unit: id,
            document: document.to_string(),
            writer: writer.clone(),
            at_ms,
            inserted: count(RunKind::Insertion),
            removed: count(RunKind::Removal),
            rows: runs
                .iter()
                .map(|run| run.inserted_rows(&tracked.text))
                .sum(),
        }));
        let (_, first) = Milestone::HORIZONS[0];
        self.due.push(Reverse((at_ms + first, id)));
        self.units.insert(
            id,
            Unit {
                born_ms: at_ms,
                runs,
                next_horizon: 0,
                is_committed: false,
                is_landed: false,
            },
        );
        if self.units.len() > MAX_UNITS
            && let Some((oldest, _)) = self.units.first_key_value()
        {
            let oldest = *oldest;
            self.end(oldest, at_ms);
        }
        id
    }

    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        for tracked in self.documents.values() {
            for (id, ix) in &tracked.runs {
                if let Some(unit) = self.units.get(id) {
                    unit.runs[*ix].assert_invariants(&tracked.text);
                }
            }
        }
        for unit in self.units.values() {
            for run in &unit.runs {
                assert!(
                    self.documents.contains_key(&run.document),
                    "{}",
                    run.document
                );
            }
        }
    }
}

/// Returns the tokens without those at some places.
fn without(tokens: &[Token], places: &HashSet<usize>) -> Vec<Token> {
    let rest = tokens.iter().filter(|token| !places.contains(&token.start));
    rest.copied().collect()
}

#[cfg(test)]
mod tests;
