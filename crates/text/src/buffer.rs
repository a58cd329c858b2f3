//! A text that is edited: its store, its anchors, its change log and its undo tree.
//!
//! Invariant: one call that changes the text makes one revision, one entry in the log, and moves
//! every anchor as `Change::map` says.
//! `travel` moves in the undo tree, `replay` records and repeats operations.

mod replay;
mod rewrite;
mod travel;

use std::borrow::Cow;

use base::{Bias, ByteOffset, Revision, Span};
use smallvec::smallvec;

use crate::anchors::{AnchorId, Anchors};
use crate::change::{Change, Splice};
use crate::change_log::ChangeLog;
use crate::edit::{Author, Edit, Origin};
use crate::history::{EditRef, History, LONG, Removed, Splices};
use crate::line_ending::{EndingCount, LineEnding};
use crate::operation::Operation;
use crate::snapshot::Snapshot;
use crate::storage::Draft;

pub use crate::buffer::travel::Restored;

/// From this length in bytes on, undo and redo of an edit exchange whole texts.
const LARGE: usize = 64 * 1024;

/// An edited text.
pub struct Buffer {
    text: Draft,
    revision: Revision,
    log: ChangeLog,
    anchors: Anchors,
    history: History,
    line_ending: LineEnding,
    /// What was done since it was last taken; `None` while nothing is recorded.
    operations: Option<Vec<Operation>>,
}

impl Buffer {
    /// A buffer with a text of its own, at revision 0.
    pub fn new(text: &str) -> Self {
        Self::from_snapshot(Snapshot::new(text))
    }

    /// A buffer that goes on from a snapshot, with an empty history. Takes constant time.
    pub fn from_snapshot(snapshot: Snapshot) -> Self {
        Self {
            line_ending: dominant_ending(&snapshot),
            text: Draft::new(snapshot.storage().clone()),
            revision: snapshot.revision(),
            log: ChangeLog::default(),
            anchors: Anchors::default(),
            history: History::new(),
            operations: None,
        }
    }

    /// The text as it is now. Takes constant time.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::from_storage(self.text.storage().clone(), self.revision)
    }

    /// Grows by one with every change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Its length in bytes.
    pub fn len(&self) -> ByteOffset {
        ByteOffset(self.text.len())
    }

    /// Whether it holds no text.
    pub fn is_empty(&self) -> bool {
        self.text.len() == 0
    }

    /// The offset that has so many chars before it; beyond the end it is the end.
    pub fn offset_at_char(&self, index: usize) -> ByteOffset {
        ByteOffset(self.text.offset_at_char(index))
    }

    /// Puts `text` in place of `span`: `edit` for a single one, and faster.
    pub fn replace(&mut self, span: Span, text: &str, origin: &Origin) -> Change {
        if span.is_empty() && text.is_empty() {
            return Change::none(self.revision);
        }
        let span = self.checked(span);
        if let Some(operations) = &mut self.operations {
            operations.push(Operation::Edit {
                edits: vec![Edit::new(span, text)],
                origin: *origin,
            });
        }
        self.apply(&[EditRef { span, text }], origin)
    }

    /// Applies edits as one change. They mean the current revision and must not overlap; of two
    /// that touch the one listed first comes first. Sorted or not.
    pub fn edit(&mut self, edits: &[Edit], origin: &Origin) -> Change {
        if let [edit] = edits {
            return self.replace(edit.span, &edit.text, origin);
        }
        let edits = self.normalized(edits);
        let refs: Vec<EditRef<'_>> = edits.iter().map(CheckedEdit::as_ref).collect();
        if refs.is_empty() {
            return Change::none(self.revision);
        }
        if let Some(operations) = &mut self.operations {
            operations.push(Operation::Edit {
                edits: edits
                    .iter()
                    .map(|edit| Edit::new(edit.span, &*edit.text))
                    .collect(),
                origin: *origin,
            });
        }
        self.apply(&refs, origin)
    }

    /// The undo tree.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// A position that stays with the text around it until it is released. `bias` says whether it
    /// goes along with text inserted right there.
    pub fn create_anchor(&mut self, offset: ByteOffset, bias: Bias) -> AnchorId {
        let offset = self.clipped(offset);
        self.anchors.create(offset, bias)
    }

    /// Where an anchor is now.
    pub fn resolve(&self, anchor: AnchorId) -> ByteOffset {
        self.anchors.resolve(anchor).unwrap_or_else(|| {
            base::never!("an anchor was asked for after its release");
            ByteOffset(0)
        })
    }

    /// Forgets an anchor.
    pub fn release_anchor(&mut self, anchor: AnchorId) {
        if !self.anchors.release(anchor) {
            base::never!("an anchor was released twice");
        }
    }

    /// How many anchors there are.
    pub fn anchor_count(&self) -> usize {
        self.anchors.count()
    }

    /// What happened since a revision; `None` when that is longer ago than the log reaches.
    pub fn changes_since(&self, revision: Revision) -> Option<Change> {
        if revision == self.revision {
            return Some(Change::none(revision));
        }
        self.log.since(revision)
    }

    /// What ends a line that is typed: what most lines at the start of the text ended with.
    pub fn line_ending(&self) -> LineEnding {
        self.line_ending
    }

    /// Chooses what ends lines typed from now on. Does not touch the text.
    pub fn set_line_ending(&mut self, ending: LineEnding) {
        self.record(|| Operation::SetLineEnding(ending));
        self.line_ending = ending;
    }

    /// Applies edits that are sorted, apart and on char boundaries.
    fn apply(&mut self, edits: &[EditRef<'_>], origin: &Origin) -> Change {
        self.history.open_step(edits, origin);
        let is_large = |edit: &EditRef<'_>| edit.span.len().max(edit.text.len()) >= LARGE;
        let before = edits
            .iter()
            .any(is_large)
            .then(|| self.text.flush().clone());
        let splices = match edits {
            [edit] => self.apply_single(*edit),
            _ => self.apply_several(edits),
        };
        if let Some(before) = before {
            let after = self.text.flush().clone();
            self.history.keep_whole(edits.len(), before, after);
        }
        self.finish(splices, origin.author)
    }

    fn apply_single(&mut self, edit: EditRef<'_>) -> Splices {
        let EditRef { span, text } = edit;
        let removed = if span.len() < LONG {
            Removed::Text(self.text.text(span.range()))
        } else {
            Removed::Part(self.text.flush().part(span.range()))
        };
        self.history.keep_single(edit, removed);
        self.text.replace(span.range(), text);
        let new = Span {
            start: span.start,
            end: span.start + text.len(),
        };
        if text.len() >= LONG {
            let part = self.text.flush().part(new.range());
            self.history.keep_inserted(0, part);
        }
        smallvec![Splice { old: span, new }]
    }

    fn apply_several(&mut self, edits: &[EditRef<'_>]) -> Splices {
        let storage = self.text.flush();
        let mut splices = Splices::with_capacity(edits.len());
        let mut grown = 0isize;
        for (ix, &edit) in edits.iter().enumerate() {
            let range = edit.span.range();
            let removed = if range.len() < LONG {
                Removed::Text(storage.text(range))
            } else {
                Removed::Part(storage.part(range))
            };
            self.history.keep(edit, removed, ix == 0);
            let start = ByteOffset(edit.span.start.0.saturating_add_signed(grown));
            grown += edit.text.len() as isize - edit.span.len() as isize;
            splices.push(Splice {
                old: edit.span,
                new: Span::new(start, start + edit.text.len()),
            });
        }
        // From the last to the first, so that the offsets of those before still hold.
        for &edit in edits.iter().rev() {
            storage.replace(edit.span.range(), edit.text);
        }
        for (ix, splice) in splices.iter().enumerate() {
            if splice.new.len() >= LONG {
                let part = storage.part(splice.new.range());
                self.history.keep_inserted(edits.len() - 1 - ix, part);
            }
        }
        splices
    }

    /// Makes a revision of what the store has been through.
    fn finish(&mut self, splices: Splices, author: Author) -> Change {
        let before = self.revision;
        self.revision = before.next();
        self.anchors.apply(&splices);
        let change = Change {
            before,
            after: self.revision,
            author,
            splices,
        };
        self.log.push(&change);
        change
    }

    /// The span itself when it fits the text, else the nearest that does.
    fn checked(&self, span: Span) -> Span {
        if self.fits(span) {
            return span;
        }
        base::never!(
            "an edit of {span:?} does not fit a text of {} bytes",
            self.text.len()
        );
        Span::new(self.clipped(span.start), self.clipped(span.end))
    }

    fn fits(&self, span: Span) -> bool {
        span.start <= span.end
            && self.text.is_char_boundary(span.start.0)
            && (span.is_empty() || self.text.is_char_boundary(span.end.0))
    }

    fn clipped(&self, offset: ByteOffset) -> ByteOffset {
        let mut offset = offset.0.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        ByteOffset(offset)
    }

    /// Sorted edits, those that touch made one. An overlap gives way to the edit before it.
    fn normalized<'a>(&self, edits: &'a [Edit]) -> Vec<CheckedEdit<'a>> {
        let mut sorted: Vec<(Span, &str)> = edits
            .iter()
            .map(|edit| (self.checked(edit.span), edit.text.as_str()))
            .filter(|(span, text)| !span.is_empty() || !text.is_empty())
            .collect();
        sorted.sort_by_key(|(span, _)| (span.start, span.end));
        let mut result: Vec<CheckedEdit<'a>> = Vec::with_capacity(sorted.len());
        for (span, text) in sorted {
            let Some(last) = result.last_mut().filter(|last| span.start <= last.span.end) else {
                result.push(CheckedEdit {
                    span,
                    text: Cow::Borrowed(text),
                });
                continue;
            };
            if span.start < last.span.end {
                base::never!("edits of {:?} and {span:?} overlap", last.span);
            }
            last.span = last.span.union(span);
            last.text.to_mut().push_str(text);
        }
        result
    }

    fn record(&mut self, operation: impl FnOnce() -> Operation) {
        if let Some(operations) = &mut self.operations {
            operations.push(operation());
        }
    }

    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        self.text.storage().assert_invariants();
        self.anchors.assert_invariants();
        self.history.assert_invariants();
    }
}

/// What most lines at the start of a text end with.
fn dominant_ending(snapshot: &Snapshot) -> LineEnding {
    const ENOUGH: usize = 64 * 1024;
    let end = snapshot.len().min(ByteOffset(ENOUGH));
    let mut count = EndingCount::default();
    for chunk in snapshot.chunks(Span::new(ByteOffset(0), end)) {
        count.add(chunk.as_bytes());
    }
    count.dominant()
}

/// An edit that fits the text and touches no other.
struct CheckedEdit<'a> {
    span: Span,
    text: Cow<'a, str>,
}

impl CheckedEdit<'_> {
    fn as_ref(&self) -> EditRef<'_> {
        EditRef {
            span: self.span,
            text: &self.text,
        }
    }
}

#[cfg(test)]
mod tests;
