//! Which edits share an undo step, and how they are kept.
//!
//! Between `begin_step` and `end_step` all edits of one author share a step. Otherwise typing joins
//! the step before when it is by the same author, less than a second later, and within or at the
//! end of what was typed just before, at every caret. A new step starts with white space behind a
//! word, and with every line break: undo takes back "␣world", then "hello". Deleting joins deleting
//! right before or behind it. Every other edit is a step of its own.

use std::borrow::Cow;

use base::Span;

use crate::edit::{EditKind, Origin};
use crate::history::patch::{KeptSplice, Whole};
use crate::history::texts::{Fragment, LONG};
use crate::history::{History, Node, NodeId};
use crate::storage::Storage;

/// A pause of so many milliseconds starts a new step.
const PAUSE: u64 = 1000;

/// An edit that borrows its text.
#[derive(Clone, Copy)]
pub(crate) struct EditRef<'a> {
    pub(crate) span: Span,
    pub(crate) text: &'a str,
}

/// A text on its way out of the store.
pub(crate) enum Removed<'a> {
    /// Shorter than `LONG`.
    Text(Cow<'a, str>),
    Part(Storage),
}

impl History {
    /// Starts a step for these edits, or goes on with the newest.
    pub(crate) fn open_step(&mut self, edits: &[EditRef<'_>], origin: &Origin) {
        self.jump = None;
        let pending = self.pending.take();
        if self.is_open && self.joins(edits, origin) {
            self.node_mut(self.current).ended = origin.at;
            return;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.node_mut(self.current).redo = id;
        self.nodes.push(Node {
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

    /// Keeps the only splice of an edit, within the splice before it where the two are one.
    pub(crate) fn keep_single(&mut self, edit: EditRef<'_>, removed: Removed<'_>) {
        if let Removed::Text(text) = &removed
            && self.merges(edit, text)
        {
            return;
        }
        self.keep(edit, removed, true);
    }

    /// Keeps one of the splices of an edit. A long inserted text is handed in afterwards, by
    /// `keep_inserted`.
    pub(crate) fn keep(&mut self, edit: EditRef<'_>, removed: Removed<'_>, is_first: bool) {
        let removed = match removed {
            Removed::Text(text) => self.texts.keep(&text),
            Removed::Part(part) => self.texts.keep_part(part),
        };
        let inserted = if edit.text.len() < LONG {
            self.texts.keep(edit.text)
        } else {
            Fragment::EMPTY
        };
        self.splices.push(KeptSplice {
            at: edit.span.start.0,
            removed,
            inserted,
            is_first,
        });
    }

    /// The long text that the splice `from_last` places before the newest inserted.
    pub(crate) fn keep_inserted(&mut self, from_last: usize, part: Storage) {
        let fragment = self.texts.keep_part(part);
        let ix = self.splices.len() - 1 - from_last;
        self.splices[ix].inserted = fragment;
    }

    /// The whole texts around the newest edit, which had `splices` splices.
    pub(crate) fn keep_whole(&mut self, splices: usize, before: Storage, after: Storage) {
        self.wholes.push(Whole {
            first_splice: self.splices.len() - splices,
            before,
            after,
        });
    }

    /// Marks the current step as the one that took `step` back.
    pub(crate) fn mark_revert(&mut self, step: NodeId) {
        self.node_mut(self.current).reverts = step;
        self.is_open = false;
    }

    fn joins(&self, edits: &[EditRef<'_>], origin: &Origin) -> bool {
        let node = self.node(self.current);
        if node.author != origin.author {
            return false;
        }
        if self.depth > 0 {
            return true;
        }
        node.kind == origin.kind
            && origin.kind != EditKind::Other
            && origin.at.0.saturating_sub(node.ended.0) < PAUSE
            && self.goes_on(edits, origin.kind)
            && (origin.kind == EditKind::Deleting || !self.breaks(edits[0].text))
    }

    /// Whether every edit takes up where the one before left off, caret by caret.
    fn goes_on(&self, edits: &[EditRef<'_>], kind: EditKind) -> bool {
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

    /// Whether typing `text` now starts a new word or a new line.
    fn breaks(&self, text: &str) -> bool {
        let Some(newest) = self.splices.last() else {
            return true;
        };
        let opens_gap = text.starts_with(char::is_whitespace);
        text.contains('\n') || opens_gap && !self.texts.ends_with_space(newest.inserted)
    }

    /// Makes an edit part of the newest splice, where the two together are but one splice.
    fn merges(&mut self, edit: EditRef<'_>, removed: &str) -> bool {
        let node = &self.nodes[self.current.0 as usize];
        if node.first_splice == self.splices.len() {
            return false;
        }
        let Some(newest) = self.splices.last_mut().filter(|newest| newest.is_first) else {
            return false;
        };
        // Large edits stay as they are: their whole texts may be kept.
        if self.texts.is_long(newest.removed) || self.texts.is_long(newest.inserted) {
            return false;
        }
        let (from, to) = (edit.span.start.0, edit.span.end.0);
        let inserted = self.texts.len(newest.inserted);
        let end = newest.at + inserted;
        if inserted > 0 {
            // Within what was inserted.
            let fits = newest.at <= from && to <= end && inserted + edit.text.len() < LONG;
            if !fits || !self.texts.is_last(newest.inserted) {
                return false;
            }
            let range = [from - newest.at, to - newest.at];
            self.texts.rewrite(&mut newest.inserted, range, edit.text);
            return true;
        }
        let kept = self.texts.len(newest.removed);
        let fits = edit.text.is_empty() && kept + removed.len() < LONG;
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
