//! Follows the texts that agents write in working trees, and hands rows about them to the ledger.
//!
//! The change logs of the trees name the author of every change of a file. All logs of a program share one recorder, so
//! that a text is followed from a worktree into the user's checkout when it lands. A log that is opened again repeats
//! the changes of the last day; the rows have the same keys then, and the ledger drops them.
//!
//! Knows: `retention`, `quality`. Must not know: logs, the ledger, sessions beyond their ids.
//! Invariant: rows are about changes that an agent's call made or caused. Changes of others end up as fates only.
//! Invariant: a text is followed only while its log is open, so that unseen changes never count as kept.
//! Limitations: changes between two observations have the time of the later one. A log that stays closed for more than
//! a day leaves the measurements since then out.
//! Start at `RetentionRecorder::observe`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::AbsPath;
use quality::{KeptRecord, QualityRecord, UnitRecord};
use retention::{MAX_TEXT_BYTES, Milestone, RetentionEvent, RetentionTracker, UnitId, Writer};
use text::Snapshot;

/// Age in milliseconds of the changes that a log repeats when it is opened again.
pub(crate) const REPEATED_MS: u64 = 24 * 3_600_000;
/// Maximum number of changes whose rows are continued; older ones are measured no more.
const MAX_CONTINUED: usize = 100_000;

/// Receives rows, each with the time that it is about, in milliseconds since 1970.
type QualitySink = dyn Fn(Vec<(u64, QualityRecord)>) + Send + Sync;

/// The recorder of a program. Clones share it.
#[derive(Clone)]
pub struct RetentionRecorder {
    state: Arc<Mutex<RecorderState>>,
    sink: Arc<QualitySink>,
}

#[derive(Default)]
struct RecorderState {
    tracker: RetentionTracker,
    /// Followed documents by name, with the root of their tree.
    roots: HashMap<String, AbsPath>,
    /// The latest time of a change or an advance.
    last_ms: u64,
    /// The changes with rows.
    units: BTreeMap<UnitId, RecordedUnit>,
}

/// A change with a row.
struct RecordedUnit {
    id: String,
    at_ms: u64,
}

/// The content of a file, as far as it can be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FollowedText {
    /// There is no file.
    Missing,
    /// A text.
    Text(String),
    /// A link, a file that is no text, or one too large to follow.
    Other,
}

impl FollowedText {
    /// Reads a content; `None` is no file.
    pub(crate) fn of(content: Option<Vec<u8>>) -> Self {
        match content.map(String::from_utf8) {
            None => Self::Missing,
            Some(Ok(text)) if text.len() <= MAX_TEXT_BYTES => Self::Text(text),
            Some(_) => Self::Other,
        }
    }

    /// Returns the text, which is empty without a file.
    fn snapshot(&self) -> Option<Snapshot> {
        match self {
            Self::Missing => Some(Snapshot::new("")),
            Self::Text(text) => Some(Snapshot::new(text)),
            Self::Other => None,
        }
    }
}

/// A change in the log of a tree.
#[derive(Clone, Copy)]
pub(crate) struct FollowedChange<'a> {
    /// Root of the tree.
    pub(crate) root: &'a AbsPath,
    /// Path of the file from the root.
    pub(crate) path: &'a str,
    /// Id of the change, the same whenever the log is read.
    pub(crate) id: &'a str,
    /// The writer. A change gets rows if a call made or caused it.
    pub(crate) writer: &'a Writer,
    /// Time of the change, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

impl RetentionRecorder {
    /// Creates a recorder that hands its rows to `sink`, which must not wait.
    pub fn new(sink: impl Fn(Vec<(u64, QualityRecord)>) + Send + Sync + 'static) -> Self {
        Self {
            state: Arc::default(),
            sink: Arc::new(sink),
        }
    }

    // A panic while the lock was held leaves at most a change unmeasured.
    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures the changes whose times have come. To be called now and then, since times pass without changes as well.
    pub fn advance(&self, now_ms: u64) {
        let mut state = self.state();
        state.last_ms = state.last_ms.max(now_ms);
        state.tracker.advance(now_ms);
        state.tracker.close_unused();
        let RecorderState { tracker, roots, .. } = &mut *state;
        roots.retain(|name, _| tracker.is_open(name));
        (self.sink)(state.take_rows(None));
    }

    /// Returns whether a file is followed.
    pub(crate) fn is_followed(&self, root: &AbsPath, path: &str) -> bool {
        self.state().tracker.is_open(&document(root, path))
    }

    /// Returns the followed files of a tree, as paths from its root.
    pub(crate) fn followed(&self, root: &AbsPath) -> Vec<String> {
        let state = self.state();
        let of_tree = state.roots.iter().filter(|(_, of)| *of == root);
        let paths = of_tree.map(|(name, _)| path_of(root, name).to_owned());
        paths.collect()
    }

    /// Follows a change from the content before it to the one after it.
    pub(crate) fn observe(
        &self,
        followed: FollowedChange<'_>,
        before: &FollowedText,
        after: &FollowedText,
    ) {
        let FollowedChange {
            root,
            path,
            writer,
            at_ms,
            ..
        } = followed;
        let name = document(root, path);
        let mut state = self.state();
        state.last_ms = state.last_ms.max(at_ms);
        let Some(after) = after.snapshot() else {
            state.tracker.close(&name, at_ms);
            return (self.sink)(state.take_rows(None));
        };
        if !state.tracker.is_open(&name) {
            let Some(before) = before.snapshot() else {
                return;
            };
            state.tracker.open(&name, before);
        }
        state.roots.insert(name.clone(), root.clone());
        state.tracker.observe(&name, after, writer, at_ms);
        (self.sink)(state.take_rows(Some(&followed)));
    }

    /// Records that a file of a tree has another name.
    pub(crate) fn rename(&self, root: &AbsPath, (from, to): (&str, &str), at_ms: u64) {
        let (from, to) = (document(root, from), document(root, to));
        let mut state = self.state();
        state.last_ms = state.last_ms.max(at_ms);
        if state.tracker.is_open(&from) {
            state.tracker.rename(&from, &to, at_ms);
            state.roots.remove(&from);
            state.roots.insert(to, root.clone());
        }
        (self.sink)(state.take_rows(None));
    }

    /// Records that files of a tree were committed with these contents.
    pub(crate) fn commit(&self, root: &AbsPath, committed: &[(String, FollowedText)], at_ms: u64) {
        let mut state = self.state();
        for (path, text) in committed {
            if let Some(text) = text.snapshot() {
                state.tracker.commit(&document(root, path), &text, at_ms);
            }
        }
        (self.sink)(state.take_rows(None));
    }

    /// Records that the changes of a tree landed in the user's checkout with these contents. The texts are followed
    /// there if `is_observed`, because a change that is not seen must not count as kept.
    pub(crate) fn land(
        &self,
        (from, to): (&AbsPath, &AbsPath),
        landed: &[(String, FollowedText)],
        is_observed: bool,
        at_ms: u64,
    ) {
        let mut state = self.state();
        for (path, text) in landed {
            let Some(text) = text.snapshot() else {
                continue;
            };
            let target = document(to, path);
            let is_new = !state.tracker.is_open(&target);
            state
                .tracker
                .land(&document(from, path), &target, &text, at_ms);
            state.roots.insert(target.clone(), to.clone());
            if is_new && !is_observed {
                state.tracker.close(&target, at_ms);
                state.roots.remove(&target);
            }
        }
        (self.sink)(state.take_rows(None));
    }

    /// Ends the observation of a tree, whose log is closed. Its changes are measured as closed at the last time that the
    /// recorder knows.
    pub(crate) fn close(&self, root: &AbsPath) {
        let mut state = self.state();
        let at_ms = state.last_ms;
        let of_tree = state.roots.iter().filter(|(_, of)| *of == root);
        let names: Vec<String> = of_tree.map(|(name, _)| name.clone()).collect();
        for name in names {
            state.tracker.close(&name, at_ms);
            state.roots.remove(&name);
        }
        (self.sink)(state.take_rows(None));
    }
}

impl RecorderState {
    /// Takes the rows of the tracker's events; `followed` is the change that was just observed.
    fn take_rows(&mut self, followed: Option<&FollowedChange<'_>>) -> Vec<(u64, QualityRecord)> {
        let mut rows = Vec::new();
        let mut ended = HashSet::new();
        for event in self.tracker.take_events() {
            match event {
                RetentionEvent::Began(start) => {
                    let Some(followed) = followed.filter(|it| it.writer.call.is_some()) else {
                        continue;
                    };
                    let id = followed.id.to_owned();
                    let mut row = UnitRecord::of(&start, id.clone());
                    followed.path.clone_into(&mut row.path);
                    let at_ms = start.at_ms;
                    self.units.insert(start.unit, RecordedUnit { id, at_ms });
                    rows.push((at_ms, QualityRecord::Unit(row)));
                }
                RetentionEvent::Measured(measured) => {
                    let Some(unit) = self.units.get(&measured.unit) else {
                        continue;
                    };
                    let at_ms = unit.at_ms.saturating_add(measured.after_ms);
                    if measured.milestone == Milestone::Closed {
                        ended.insert(measured.unit);
                    }
                    let row = KeptRecord::of(&measured, unit.id.clone());
                    rows.push((at_ms, QualityRecord::Kept(row)));
                }
            }
        }
        self.units.retain(|unit, _| !ended.contains(unit));
        while self.units.len() > MAX_CONTINUED {
            self.units.pop_first();
        }
        rows
    }
}

/// Returns the name of a file among those of all trees.
fn document(root: &AbsPath, path: &str) -> String {
    format!("{root}/{path}")
}

/// Returns the path of a document from the root of its tree.
fn path_of<'a>(root: &AbsPath, document: &'a str) -> &'a str {
    let root = root.to_string();
    let rest = document.strip_prefix(root.as_str());
    rest.map_or(document, |rest| rest.trim_start_matches('/'))
}

#[cfg(test)]
mod tests;
