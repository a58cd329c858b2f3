//! Keeps the outline of a document, with the tree that it was derived from.
//!
//! The tree of the document records every edit here; an outline that is asked for is brought up to
//! date by the edits since the last one. Must not know: what an outline contains.
//! Invariant: recording an edit never waits for an outline.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::Revision;
use text::Change;
use tree_sitter::{InputEdit, Tree};

use super::{Outline, OutlineSource};
use crate::dirty::note_edit;
use crate::layers::{PreviousTree, stale_ranges};

/// Maximum number of recorded changes. After more, the outline is built again.
const MAX_CHANGES: usize = 1024;

/// The outline that was asked for last, and the changes since. Shared by a tree and its snapshots.
#[derive(Default)]
pub(crate) struct OutlineCache {
    known: Mutex<Option<KnownOutline>>,
    changes: Mutex<VecDeque<RecordedChange>>,
}

/// An outline with the tree of its revision.
struct KnownOutline {
    outline: Outline,
    tree: Tree,
}

/// A change of the text, and the same for trees.
struct RecordedChange {
    change: Change,
    edits: Vec<InputEdit>,
}

/// Consecutive changes as one.
struct ComposedChange {
    change: Change,
    edits: Vec<InputEdit>,
}

impl OutlineCache {
    /// Records a change of the text.
    pub(crate) fn record(&self, change: &Change, edits: Vec<InputEdit>) {
        let mut changes = lock(&self.changes);
        if changes.len() == MAX_CHANGES {
            changes.pop_front();
        }
        changes.push_back(RecordedChange {
            change: change.clone(),
            edits,
        });
    }

    /// Returns the outline of a text: the known one, brought up to date by the recorded changes, or
    /// a new one if they do not lead to the revision of the text.
    pub(crate) fn outline(&self, source: &OutlineSource<'_>) -> Outline {
        let revision = source.revision;
        let is_parsed = source.parsed == Some(revision) && source.text.revision() == revision;
        let mut known = lock(&self.known);
        let updated = known
            .as_ref()
            .and_then(|known| self.updated(known, source, is_parsed));
        let outline = updated.unwrap_or_else(|| Outline::build(source));
        let is_newer = known
            .as_ref()
            .is_none_or(|known| known.outline.revision() <= revision);
        if is_parsed && is_newer {
            *known = Some(KnownOutline {
                outline: outline.clone(),
                tree: source.tree.clone(),
            });
            lock(&self.changes).retain(|recorded| recorded.change.after > revision);
        }
        outline
    }

    /// Returns the known outline at the revision of `source`. Returns `None` if it is better built
    /// again. Unless `is_parsed`, the items are only moved.
    fn updated(
        &self,
        known: &KnownOutline,
        source: &OutlineSource<'_>,
        is_parsed: bool,
    ) -> Option<Outline> {
        let since = self.since(known.outline.revision(), source.revision)?;
        let mut outline = known.outline.clone();
        outline.follow(&since.change);
        if !is_parsed || is_same(&known.tree, source.tree) {
            return Some(outline);
        }
        let mut tree = known.tree.clone();
        let mut dirty: Vec<Range<usize>> = Vec::new();
        for edit in &since.edits {
            tree.edit(edit);
            note_edit(&mut dirty, edit);
        }
        let before = PreviousTree {
            tree: &tree,
            layers: &[],
            dirty: &dirty,
        };
        let changed = stale_ranges(source.tree, Some(&before));
        let bytes: usize = changed.iter().map(ExactSizeIterator::len).sum();
        if bytes > source.text.len().0 / 2 {
            return None;
        }
        outline.replace(&changed, source);
        Some(outline)
    }

    /// Returns the changes between two revisions; `None` if they were not all recorded.
    fn since(&self, before: Revision, after: Revision) -> Option<ComposedChange> {
        let mut composed = ComposedChange {
            change: Change::none(before),
            edits: Vec::new(),
        };
        for recorded in lock(&self.changes).iter() {
            let is_next = recorded.change.before == composed.change.after;
            if is_next && composed.change.after < after {
                composed.change = composed.change.compose(&recorded.change);
                composed.edits.extend_from_slice(&recorded.edits);
            }
        }
        (composed.change.after == after).then_some(composed)
    }
}

/// Whether two trees are certainly the same, edits included.
fn is_same(a: &Tree, b: &Tree) -> bool {
    a.root_node().id() == b.root_node().id()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
