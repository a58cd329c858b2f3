//! Groups edits into undo steps and stores them.
//!
//! Between `begin_step` and `end_step`, all edits of one author form one step, unless `seal_step`
//! parts them. Otherwise typing joins the previous step if it is by the same author, less than a second later, and within or at
//! the end of the text just typed, at every caret. White space after a word and every line break
//! start a new step: undo removes "␣world", then "hello". A deletion joins a deletion directly
//! before or after it. Every other edit is a separate step.

use std::borrow::Cow;

use base::Span;

use crate::edit::{EditKind, EditOrigin};
use crate::history::patch::{KeptSplice, TextPair};
use crate::history::texts::{LONG_TEXT_BYTES, TextFragment};
use crate::history::{History, NodeId, UndoNode};
use crate::storage::Storage;

/// A pause of this many milliseconds starts a new step.
const STEP_PAUSE_MS: u64 = 1000;

/// An edit that borrows its text.
#[derive(Clone, Copy)]
pub(crate) struct EditRef<'a> {
    pub(crate) span: Span,
    pub(crate) text: &'a str,
}

/// A text that an edit removes from the storage: copied if short, else a slice that shares the
/// storage's memory.
pub(crate) enum Removed<'a> {
    /// A text shorter than `LONG_TEXT_BYTES`.
    Text(Cow<'a, str>),
    Part(Storage),
}

impl History {
    /// Starts a step for these edits, or continues the newest one if the edits join it by the rules
    /// of this module. Call it before recording the splices of the edits.
    pub(crate) fn open_step(&mut self, edits: &[EditRef<'_>], origin: &EditOrigin) {
        self.jump = None;
        let pending = self.pending.take();
        if self.is_open && self.joins(edits, origin) {
            self.node_mut(self.current).ended = origin.at;
            return;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.node_mut(self.current).redo = id;
        self.nodes.push(UndoNode {
            parent: self.current,
            redo: NodeId(0),
            reverts: NodeId(0),
            author: origin.author,
            kind: origin.kind,
            started: origin.at,
            ended: origin.at,
            first_splice: self.splices.len(),
            noted: None,
        });
        self.current = id;
        self.is_open = true;
        if pending.is_some() {
            self.noted_mut(id).before = pending;
        }
    }

    /// Stores the only splice of an edit in the newest step, merged with the previous splice if
    /// both are one run of typing or deleting.
    pub(crate) fn record_single_splice(&mut self, edit: EditRef<'_>, removed: Removed<'_>) {
        if let Removed::Text(text) = &removed
            && self.merges(edit, text)
        {
            return;
        }
        self.record_splice(edit, removed, true);
    }

    /// Stores one of an edit's splices in the newest step; `is_first` marks the first of the edit.
    /// A long inserted text is left out here and follows by `keep_inserted`.
    pub(crate) fn record_splice(
        &mut self,
        edit: EditRef<'_>,
        removed: Removed<'_>,
        is_first: bool,
    ) {
        let removed = match removed {
            Removed::Text(text) => self.texts.add(&text),
            Removed::Part(part) => self.texts.add_slice(part),
        };
        let inserted = if edit.text.len() < LONG_TEXT_BYTES {
            self.texts.add(edit.text)
        } else {
            TextFragment::EMPTY
        };
        self.splices.push(KeptSplice {
            at: edit.span.start.0,
            removed,
            inserted,
            is_first,
        });
    }

    /// Stores the long inserted text of the splice `from_last` places before the newest.
    pub(crate) fn keep_inserted(&mut self, from_last: usize, part: Storage) {
        let fragment = self.texts.add_slice(part);
        let ix = self.splices.len() - 1 - from_last;
        self.splices[ix].inserted = fragment;
    }

    /// Stores the whole texts around the newest edit, which had `splices` splices.
    pub(crate) fn keep_whole(&mut self, splices: usize, before: Storage, after: Storage) {
        self.wholes.push(TextPair {
            first_splice: self.splices.len() - splices,
            before,
            after,
        });
    }

    /// Marks the current step as the one that reverted `step`, and closes it.
    pub(crate) fn mark_revert(&mut self, step: NodeId) {
        self.node_mut(self.current).reverts = step;
        self.is_open = false;
    }

    /// Returns whether edits belong to the newest step: it is by the same author, and either
    /// `begin_step` holds it open or the edits continue its typing or deleting in time.
    fn joins(&self, edits: &[EditRef<'_>], origin: &EditOrigin) -> bool {
        let node = self.node(self.current);
        if node.author != origin.author {
            return false;
        }
        if self.depth > 0 {
            return true;
        }
        node.kind == origin.kind
            && origin.kind != EditKind::Other
            && origin.at.0.saturating_sub(node.ended.0) < STEP_PAUSE_MS
            && self.continues_step(edits, origin.kind)
            && (origin.kind == EditKind::Deleting || !self.breaks(edits[0].text))
    }

    /// Returns whether every edit continues where the previous one ended, caret by caret.
    fn continues_step(&self, edits: &[EditRef<'_>], kind: EditKind) -> bool {
        let first = self.splices.iter().rposition(|kept| kept.is_first);
        let patch = &self.splices[first.unwrap_or(0)..];
        if patch.len() != edits.len() {
            return false;
        }
        let mut grown = 0isize;
        patch.iter().zip(edits).all(|(kept, edit)| {
            let start = kept.at.saturating_add_signed(grown);
            let inserted = self.texts.len(kept.inserted);
            grown += inserted as isize - self.texts.len(kept.removed) as isize;
            let (from, to) = (edit.span.start.0, edit.span.end.0);
            match kind {
                EditKind::Typing => start <= from && to <= start + inserted,
                EditKind::Deleting => {
                    edit.text.is_empty() && inserted == 0 && (from == start || to == start)
                }
                EditKind::Other => false,
            }
        })
    }

    /// Returns whether typing `text` now starts a new word or a new line.
    fn breaks(&self, text: &str) -> bool {
        let Some(newest) = self.splices.last() else {
            return true;
        };
        let opens_gap = text.starts_with(char::is_whitespace);
        text.contains('\n') || opens_gap && !self.texts.ends_with_space(newest.inserted)
    }

    /// Merges an edit into the newest splice if both together form a single splice.
    fn merges(&mut self, edit: EditRef<'_>, removed: &str) -> bool {
        let node = &self.nodes[self.current.0 as usize];
        if node.first_splice == self.splices.len() {
            return false;
        }
        let Some(newest) = self.splices.last_mut().filter(|newest| newest.is_first) else {
            return false;
        };
        // Large edits stay separate: their whole texts may be stored.
        if self.texts.is_long(newest.removed) || self.texts.is_long(newest.inserted) {
            return false;
        }
        let (from, to) = (edit.span.start.0, edit.span.end.0);
        let inserted = self.texts.len(newest.inserted);
        let end = newest.at + inserted;
        if inserted > 0 {
            // The edit lies within the inserted text.
            let fits =
                newest.at <= from && to <= end && inserted + edit.text.len() < LONG_TEXT_BYTES;
            if !fits || !self.texts.is_last(newest.inserted) {
                return false;
            }
            let range = [from - newest.at, to - newest.at];
            self.texts.rewrite(&mut newest.inserted, range, edit.text);
            return true;
        }
        let kept = self.texts.len(newest.removed);
        let fits = edit.text.is_empty() && kept + removed.len() < LONG_TEXT_BYTES;
        if !fits || !self.texts.is_last(newest.removed) {
            return false;
        }
        if from == newest.at {
            self.texts
                .rewrite(&mut newest.removed, [kept, kept], removed);
            true
        } else if to == newest.at {
            self.texts.rewrite(&mut newest.removed, [0, 0], removed);
            newest.at = from;
            true
        } else {
            false
        }
    }
}
