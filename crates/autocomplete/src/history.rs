//! The edits of all open texts: the only code that joins keystrokes into edits.
//!
//! Must not know: its readers, the clock; every change carries its time.
//! A change is joined at three levels. An `OpenEdit` holds the keystrokes at one place with short
//! pauses; the local tier compares edits. A `Passage` holds the edits within a few rows; prompts
//! show passages as diffs. A `DeletionRun` holds characters deleted one after the other within a
//! passage; validation keeps them from returning.
//! Invariant: a change that continues an edit continues its passage, so a passage consists of whole
//! edits.
//! Invariant: the work per change depends on the edit, never on the file.
//! Start at `EditHistory::record`.

mod keystrokes;
mod passage;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use base::{AbsPath, Bias, ByteOffset, Span};
use text::{Change, Snapshot};

use crate::{ChangeCause, EditorState};

pub(crate) use keystrokes::{MAX_EDIT_BYTES, MAX_GAP_BYTES, OpenEdit, SpanChange};
pub(crate) use passage::Passage;

/// Maximum number of passages kept.
const MAX_PASSAGES: usize = 16;
/// Maximum bytes kept of the text of a deletion run; the rest is cut at its end.
const MAX_DELETED_BYTES: usize = 4_096;

/// A change of an open text: the text before, the editor state after, the change and its cause.
#[derive(Clone)]
pub struct DocumentEdit {
    /// Text before the change.
    pub before: Snapshot,
    /// Editor state after the change.
    pub state: EditorState,
    /// Change between the two.
    pub change: Change,
    /// Origin of the change.
    pub cause: ChangeCause,
}

/// The recent changes of all open texts, grouped into edits, passages and deletions. The history is
/// bounded and drops the oldest passages.
#[derive(Default)]
pub struct EditHistory {
    /// Edit that the next keystroke may continue.
    open: Option<OpenEdit>,
    /// Sorted from the oldest; the next change may continue the last one.
    passages: VecDeque<Passage>,
    /// Deletions up to the last change; `None` if that was no deletion.
    deletion: Option<DeletionRun>,
    /// Number of edits and deletion runs so far, which numbers the next one.
    count: u64,
}

/// Text that was deleted by successive changes at one offset.
pub(crate) struct DeletionRun {
    /// Number of the run in its history.
    pub(crate) number: u64,
    /// Deleted text; in the order of the text unless a deletion surrounded earlier ones.
    pub(crate) text: String,
    /// Offset of the deleted text, in the current text.
    at: ByteOffset,
}

impl EditHistory {
    /// Records a change, which joins the open edit, passage and deletion or starts new ones. `now`
    /// is the time since an arbitrary origin that is the same for all calls.
    pub fn record(&mut self, edit: &DocumentEdit, now: Duration) {
        let is_same_edit = self.open.as_mut().is_some_and(|it| it.join(edit, now));
        if !is_same_edit {
            self.count += 1;
            self.open = OpenEdit::begin(edit, self.count, now);
        }
        let is_same_passage = self.record_passage(edit, is_same_edit, now);
        self.record_deletion(edit, is_same_passage);
    }

    /// Returns the edit that the next keystroke may continue. Returns `None` if the last change
    /// cannot be continued.
    pub(crate) fn open_edit(&self) -> Option<&OpenEdit> {
        self.open.as_ref()
    }

    /// Returns the passages, sorted from the oldest.
    pub(crate) fn passages(&self) -> impl DoubleEndedIterator<Item = &Passage> {
        self.passages.iter()
    }

    /// Returns the deletions up to the last change; `None` if that was no deletion.
    pub(crate) fn deletion(&self) -> Option<&DeletionRun> {
        self.deletion.as_ref()
    }

    /// Adds a change to the passages. Returns whether it continues the last one.
    fn record_passage(&mut self, edit: &DocumentEdit, is_same_edit: bool, now: Duration) -> bool {
        // A foreign change is left out. It breaks the chain of revisions, so the next change begins
        // a passage.
        if edit.change.is_empty() || edit.cause == ChangeCause::Other {
            return false;
        }
        let continues = |last: &&mut Passage| is_same_edit || last.is_continued_by(edit, now);
        if let Some(last) = self.passages.back_mut().filter(continues) {
            last.join(edit, now);
            return true;
        }
        if self.passages.len() == MAX_PASSAGES {
            self.passages.pop_front();
        }
        self.passages.push_back(Passage::begin(edit, now));
        false
    }

    fn record_deletion(&mut self, edit: &DocumentEdit, is_same_passage: bool) {
        let last = self.deletion.take().filter(|_| is_same_passage);
        let [splice] = edit.change.splices.as_slice() else {
            return;
        };
        if edit.cause != ChangeCause::Typed || !splice.new.is_empty() {
            return;
        }
        let text = start_of(&edit.before, splice.old, MAX_DELETED_BYTES);
        let is_adjacent =
            |run: &DeletionRun| splice.old.start <= run.at && run.at <= splice.old.end;
        let run = match last.filter(is_adjacent) {
            Some(run) => {
                // A deletion on both sides of the run keeps its text in one piece, because that
                // piece must not return either.
                let text = if run.at == splice.old.start {
                    format!("{}{text}", run.text)
                } else {
                    format!("{text}{}", run.text)
                };
                DeletionRun { text, ..run }
            }
            None => {
                self.count += 1;
                DeletionRun {
                    number: self.count,
                    text: text.into_owned(),
                    at: splice.new.start,
                }
            }
        };
        self.deletion = Some(run.at(splice.new.start));
    }
}

/// Returns at most the first `max` bytes of a span, cut at a char boundary, so that a key that
/// deletes a large selection does not copy it.
pub(crate) fn start_of(text: &Snapshot, span: Span, max: usize) -> Cow<'_, str> {
    if span.len() <= max {
        return text.text(span);
    }
    text.text(Span::new(
        span.start,
        text.clip(span.start + max, Bias::Left),
    ))
}

impl DeletionRun {
    fn at(mut self, at: ByteOffset) -> Self {
        let end = self.text.floor_char_boundary(MAX_DELETED_BYTES);
        self.text.truncate(end);
        Self { at, ..self }
    }
}

impl DocumentEdit {
    /// Returns the path of the changed file; `None` for an unsaved text.
    pub(crate) fn path(&self) -> Option<&AbsPath> {
        self.state.path.as_ref()
    }

    /// Returns the text after the change.
    pub(crate) fn after(&self) -> &Snapshot {
        &self.state.snapshot
    }
}

#[cfg(test)]
mod tests;
