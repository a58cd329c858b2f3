//! An edited text with its storage, anchors, change log and undo tree.
//!
//! Invariant: a call that changes the text creates one revision and one log entry, and moves every
//! anchor according to `Change::map`. `travel` moves in the undo tree, `replay` records and repeats
//! operations.

mod replay;
mod rewrite;
mod travel;

use std::borrow::Cow;

use base::{Bias, ByteOffset, Revision, Span};
use smallvec::smallvec;

use crate::anchors::{AnchorId, AnchorSet};
use crate::change::{Change, Splice};
use crate::change_log::ChangeLog;
use crate::edit::{Author, Edit, EditOrigin};
use crate::history::{EditRef, History, LONG_TEXT_BYTES, Removed, Splices};
use crate::line_ending::{EndingCount, LineEnding};
use crate::operation::BufferOperation;
use crate::snapshot::Snapshot;
use crate::storage::StorageDraft;

pub use crate::buffer::travel::UndoOutcome;

/// Edits of at least this many bytes store whole texts for undo and redo.
const LARGE_EDIT_BYTES: usize = 64 * 1024;

/// An editable text with its undo tree, anchors and log of changes. Every change of the text makes
/// a new revision. It knows neither its file nor its views.
pub struct Buffer {
    text: StorageDraft,
    revision: Revision,
    log: ChangeLog,
    anchors: AnchorSet,
    history: History,
    line_ending: LineEnding,
    /// Operations recorded since the last `take_operations`; `None` while recording is off.
    operations: Option<Vec<BufferOperation>>,
}

impl Buffer {
    /// Creates a buffer with its own text, at revision 0.
    pub fn new(text: &str) -> Self {
        Self::from_snapshot(Snapshot::new(text))
    }

    /// Creates a buffer that continues from a snapshot, with an empty history. Takes constant time.
    pub fn from_snapshot(snapshot: Snapshot) -> Self {
        Self {
            line_ending: dominant_ending(&snapshot),
            text: StorageDraft::new(snapshot.storage().clone()),
            revision: snapshot.revision(),
            log: ChangeLog::default(),
            anchors: AnchorSet::default(),
            history: History::new(),
            operations: None,
        }
    }

    /// Returns a snapshot of the current text. Takes constant time.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::from_storage(self.text.storage().clone(), self.revision)
    }

    /// Returns the current revision, which increases with every change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> ByteOffset {
        ByteOffset(self.text.len())
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.text.len() == 0
    }

    /// Returns the byte offset of the char with the number `index`, counted from 0, or the end of
    /// the text if there are fewer.
    pub fn offset_at_char(&self, index: usize) -> ByteOffset {
        ByteOffset(self.text.offset_at_char(index))
    }

    /// Replaces `span` by `text` and returns the change: like `edit` for a single edit, but faster.
    /// A span that does not fit the text is clamped to it. An empty replacement of an empty span
    /// changes nothing and makes no revision.
    pub fn replace(&mut self, span: Span, text: &str, origin: &EditOrigin) -> Change {
        if span.is_empty() && text.is_empty() {
            return Change::none(self.revision);
        }
        let span = self.checked(span);
        if let Some(operations) = &mut self.operations {
            operations.push(BufferOperation::Edit {
                edits: vec![Edit::new(span, text)],
                origin: *origin,
            });
        }
        self.apply(&[EditRef { span, text }], origin)
    }

    /// Applies edits as one change. They refer to the current revision and must not overlap; of two
    /// that touch, the one listed first comes first. They need not be sorted. Edits that do not fit
    /// are clamped, and of overlapping ones only the first applies. Edits that change nothing make
    /// no revision.
    pub fn edit(&mut self, edits: &[Edit], origin: &EditOrigin) -> Change {
        if let [edit] = edits {
            return self.replace(edit.span, &edit.text, origin);
        }
        let edits = self.normalized(edits);
        let refs: Vec<EditRef<'_>> = edits.iter().map(CheckedEdit::as_ref).collect();
        if refs.is_empty() {
            return Change::none(self.revision);
        }
        if let Some(operations) = &mut self.operations {
            operations.push(BufferOperation::Edit {
                edits: edits
                    .iter()
                    .map(|edit| Edit::new(edit.span, &*edit.text))
                    .collect(),
                origin: *origin,
            });
        }
        self.apply(&refs, origin)
    }

    /// Returns the undo tree, to read it. `undo`, `redo`, `go_to` and `restore` move in it.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Creates a position that stays with the surrounding text until it is released. `bias` decides
    /// whether it moves with text inserted at its offset. An offset outside the text or within a
    /// char is clamped. Anchors that are not released cost memory and time at each edit.
    pub fn create_anchor(&mut self, offset: ByteOffset, bias: Bias) -> AnchorId {
        let offset = self.clipped(offset);
        self.anchors.create(offset, bias)
    }

    /// Returns the current offset of an anchor of this buffer. For a released one, returns 0 and
    /// fails in debug builds.
    pub fn resolve(&self, anchor: AnchorId) -> ByteOffset {
        self.anchors.resolve(anchor).unwrap_or_else(|| {
            base::never!("an anchor was asked for after its release");
            ByteOffset(0)
        })
    }

    /// Releases an anchor of this buffer, so that edits no longer move it. A second release has no
    /// effect and fails in debug builds.
    pub fn release_anchor(&mut self, anchor: AnchorId) {
        if !self.anchors.release(anchor) {
            base::never!("an anchor was released twice");
        }
    }

    /// Returns the number of anchors.
    pub fn anchor_count(&self) -> usize {
        self.anchors.count()
    }

    /// Returns all changes from `revision` to now as one change; empty for the current revision.
    /// `None` if the log does not reach back that far (at least the newest change, at most 1024):
    /// the caller has to read the whole text again.
    pub fn changes_since(&self, revision: Revision) -> Option<Change> {
        if revision == self.revision {
            return Some(Change::none(revision));
        }
        self.log.since(revision)
    }

    /// Keeps all changes in the log until `end_batch`, however many they are.
    pub fn begin_batch(&mut self) {
        self.log.begin_batch();
    }

    /// Ends a batch that began at `since`: the log has its changes as one.
    pub fn end_batch(&mut self, since: Revision) {
        self.log.end_batch(since);
    }

    /// Returns the line ending for typed lines: initially the most frequent one in the first 64
    /// KiB, later the one that was set.
    pub fn line_ending(&self) -> LineEnding {
        self.line_ending
    }

    /// Sets the line ending that `line_ending` returns, for typed lines. Does not change the text.
    pub fn set_line_ending(&mut self, ending: LineEnding) {
        self.record(|| BufferOperation::SetLineEnding(ending));
        self.line_ending = ending;
    }

    /// Applies edits that are sorted, disjoint and on char boundaries.
    fn apply(&mut self, edits: &[EditRef<'_>], origin: &EditOrigin) -> Change {
        self.history.open_step(edits, origin);
        let is_large =
            |edit: &EditRef<'_>| edit.span.len().max(edit.text.len()) >= LARGE_EDIT_BYTES;
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
        let removed = if span.len() < LONG_TEXT_BYTES {
            Removed::Text(self.text.text(span.range()))
        } else {
            Removed::Part(self.text.flush().slice(span.range()))
        };
        self.history.record_single_splice(edit, removed);
        self.text.replace(span.range(), text);
        let new = Span {
            start: span.start,
            end: span.start + text.len(),
        };
        if text.len() >= LONG_TEXT_BYTES {
            let part = self.text.flush().slice(new.range());
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
            let removed = if range.len() < LONG_TEXT_BYTES {
                Removed::Text(storage.text(range))
            } else {
                Removed::Part(storage.slice(range))
            };
            self.history.record_splice(edit, removed, ix == 0);
            let start = ByteOffset(edit.span.start.0.saturating_add_signed(grown));
            grown += edit.text.len() as isize - edit.span.len() as isize;
            splices.push(Splice {
                old: edit.span,
                new: Span::new(start, start + edit.text.len()),
            });
        }
        // From last to first, so that the offsets of the remaining edits stay valid.
        for &edit in edits.iter().rev() {
            storage.replace(edit.span.range(), edit.text);
        }
        for (ix, splice) in splices.iter().enumerate() {
            if splice.new.len() >= LONG_TEXT_BYTES {
                let part = storage.slice(splice.new.range());
                self.history.keep_inserted(edits.len() - 1 - ix, part);
            }
        }
        splices
    }

    /// Creates a revision from the splices applied to the storage.
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

    /// Returns the span itself if it fits the text, else the nearest one that does.
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

    /// Returns whether a span lies within the text, in order, with both ends on char boundaries.
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

    /// Returns sorted edits, with touching ones merged. Of overlapping edits, the first one wins.
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

    fn record(&mut self, operation: impl FnOnce() -> BufferOperation) {
        if let Some(operations) = &mut self.operations {
            operations.push(operation());
        }
    }

    /// Panics if the storage, the anchors or the undo tree is inconsistent. Only tests call it.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        self.text.storage().assert_invariants();
        self.anchors.assert_invariants();
        self.history.assert_invariants();
    }
}

/// Returns the most frequent line ending at the start of a text.
fn dominant_ending(snapshot: &Snapshot) -> LineEnding {
    const ENOUGH: usize = 64 * 1024;
    let end = snapshot.len().min(ByteOffset(ENOUGH));
    let mut count = EndingCount::default();
    for chunk in snapshot.chunks(Span::new(ByteOffset(0), end)) {
        count.add(chunk.as_bytes());
    }
    count.dominant()
}

/// An edit that fits the text and touches no other edit.
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
