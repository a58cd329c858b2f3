//! A text that is edited: its store, its anchors, its change log and its undo tree.

use base::{Bias, ByteOffset, Revision, Span};
use smallvec::SmallVec;

use crate::anchors::{AnchorId, Anchors};
use crate::change::{Change, Splice};
use crate::edit::{Author, Edit, Origin, Timestamp};
use crate::history::{CheckpointId, History, Node, NodeId, Step};
use crate::line_ending::{EndingCount, LineEnding};
use crate::operation::Operation;
use crate::selection::SelectionSet;
use crate::snapshot::Snapshot;

/// What an undo, a redo or a move in the tree did.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// What became of the text.
    pub change: Change,
    /// The selections that were noted for the state the text is in now.
    pub selections: Option<SelectionSet>,
}

/// An edited text.
pub struct Buffer {
    snapshot: Snapshot,
    log: Vec<Change>,
    anchors: Anchors,
    history: History,
    line_ending: LineEnding,
    recording: Option<Vec<Operation>>,
    pending: Option<SelectionSet>,
}

impl Buffer {
    /// A buffer with a text of its own, at revision 0.
    pub fn new(text: &str) -> Self {
        Self::from_snapshot(Snapshot::new(text))
    }

    /// A buffer that goes on from a snapshot, with an empty history.
    pub fn from_snapshot(snapshot: Snapshot) -> Self {
        let text = snapshot.to_string();
        Self {
            line_ending: EndingCount::of(text.as_bytes()).dominant(),
            snapshot,
            log: Vec::new(),
            anchors: Anchors::default(),
            history: History::default(),
            recording: None,
            pending: None,
        }
    }

    /// The text as it is now. Takes constant time.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.clone()
    }

    /// Grows with every change.
    pub fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// Its length in bytes.
    pub fn len(&self) -> ByteOffset {
        self.snapshot.len()
    }

    /// Whether it holds no text.
    pub fn is_empty(&self) -> bool {
        self.snapshot.is_empty()
    }

    /// The offset that has so many chars before it; beyond the end it is the end.
    pub fn offset_at_char(&self, index: usize) -> ByteOffset {
        self.snapshot.offset_at_char(index)
    }

    /// Applies edits, which must be disjoint and mean the current revision, as one change.
    pub fn edit(&mut self, edits: &[Edit], origin: &Origin) -> Change {
        let mut edits = edits.to_vec();
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let before = self.snapshot.clone();
        let mut storage = before.storage().clone();
        let mut splices: SmallVec<[Splice; 1]> = SmallVec::new();
        let mut grown = 0isize;
        for edit in &edits {
            let start = ByteOffset(edit.span.start.0.saturating_add_signed(grown));
            splices.push(Splice {
                old: edit.span,
                new: Span::new(start, start + edit.text.len()),
            });
            grown += edit.text.len() as isize - edit.span.len() as isize;
        }
        for edit in edits.iter().rev() {
            storage.remove(edit.span.range());
            storage.insert(edit.span.start.0, &edit.text);
        }
        let change = Change {
            before: before.revision(),
            after: before.revision().next(),
            author: origin.author,
            splices,
        };
        if let Some(operations) = &mut self.recording {
            operations.push(Operation::Edit {
                edits,
                origin: *origin,
            });
        }
        self.take(Snapshot::from_storage(storage, change.after), &change);
        let id = NodeId(self.history.nodes.len() as u32 + 1);
        let parent = self.history.current;
        match self
            .history
            .nodes
            .get_mut((parent.0 as usize).wrapping_sub(1))
        {
            Some(node) => node.redo = Some(id),
            None => self.history.root_redo = Some(id),
        }
        self.history.nodes.push(Node {
            step: Step {
                id,
                parent,
                author: origin.author,
                kind: origin.kind,
                started: origin.at,
                ended: origin.at,
                reverts: None,
            },
            before,
            after: self.snapshot.clone(),
            change: change.clone(),
            selections_before: self.pending.take(),
            selections_after: None,
            redo: None,
        });
        self.history.current = id;
        change
    }

    fn take(&mut self, snapshot: Snapshot, change: &Change) {
        self.snapshot = snapshot;
        self.anchors.apply(change);
        self.log.push(change.clone());
    }

    /// Puts `text` in place of `span`: `edit` for a single one.
    pub fn replace(&mut self, span: Span, text: &str, origin: &Origin) -> Change {
        self.edit(&[Edit::new(span, text)], origin)
    }

    /// Turns the whole text into `text` by small edits, so that anchors stay where they can.
    pub fn replace_all_minimal(&mut self, text: &str, origin: &Origin) -> Change {
        let span = self.snapshot.full_span();
        self.replace(span, text, origin)
    }

    /// Until the matching `end_step` all edits belong to one undo step. May be nested.
    pub fn begin_step(&mut self) {}

    /// Ends what `begin_step` began.
    pub fn end_step(&mut self) {}

    /// The next edit starts a step of its own.
    pub fn seal_step(&mut self) {}

    /// Goes back one step.
    pub fn undo(&mut self) -> Option<Restored> {
        let current = self.history.current;
        let node = self.history.node(current)?;
        let parent = node.step.parent;
        let (storage, mut change) = (node.before.storage().clone(), node.change.inverse());
        let selections = node.selections_before.clone();
        match self
            .history
            .nodes
            .get_mut((parent.0 as usize).wrapping_sub(1))
        {
            Some(node) => node.redo = Some(current),
            None => self.history.root_redo = Some(current),
        }
        change.before = self.revision();
        change.after = change.before.next();
        self.take(Snapshot::from_storage(storage, change.after), &change);
        self.history.current = parent;
        Some(Restored { change, selections })
    }

    /// Goes forward one step, into the branch that was left last.
    pub fn redo(&mut self) -> Option<Restored> {
        let target = self.history.redo_target()?;
        let node = self.history.node(target)?;
        let (storage, mut change) = (node.after.storage().clone(), node.change.clone());
        let selections = node.selections_after.clone();
        change.before = self.revision();
        change.after = change.before.next();
        self.take(Snapshot::from_storage(storage, change.after), &change);
        self.history.current = target;
        Some(Restored { change, selections })
    }

    /// Takes back the newest step of one author and keeps the later work of others.
    ///
    /// `None` when there is no such step or later work overlaps it.
    pub fn undo_by(&mut self, _author: &Author, _at: Timestamp) -> Option<Restored> {
        None
    }

    /// The undo tree.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Goes to any state of the undo tree.
    pub fn go_to(&mut self, _node: NodeId) -> Option<Restored> {
        None
    }

    /// Names the current state, to come back to it with `restore`.
    pub fn checkpoint(&mut self, name: &str) -> CheckpointId {
        let node = self.history.current;
        self.history.checkpoints.push((name.to_owned(), node));
        CheckpointId(self.history.checkpoints.len() as u32 - 1)
    }

    /// Goes to the state of a checkpoint; the next undo comes back from there.
    pub fn restore(&mut self, checkpoint: CheckpointId) -> Option<Restored> {
        let (_, node) = self.history.checkpoints.get(checkpoint.0 as usize)?;
        self.go_to(*node)
    }

    /// The selections before the next edit; undoing its step gives them back.
    pub fn note_selections_before(&mut self, selections: &SelectionSet) {
        self.pending = Some(selections.clone());
    }

    /// The selections after the last edit; redoing its step gives them back.
    pub fn note_selections_after(&mut self, selections: &SelectionSet) {
        if let Some(node) = self.history.nodes.last_mut() {
            node.selections_after = Some(selections.clone());
        }
    }

    /// A position that stays with the text around it until it is released.
    pub fn create_anchor(&mut self, offset: ByteOffset, bias: Bias) -> AnchorId {
        self.anchors.create(self.snapshot.clip(offset, bias), bias)
    }

    /// Where an anchor is now.
    pub fn resolve(&self, anchor: AnchorId) -> ByteOffset {
        self.anchors.resolve(anchor).unwrap_or_default()
    }

    /// Forgets an anchor.
    pub fn release_anchor(&mut self, anchor: AnchorId) {
        self.anchors.release(anchor);
    }

    /// What happened since a revision; `None` when that is longer ago than the log reaches.
    pub fn changes_since(&self, revision: Revision) -> Option<Change> {
        if revision == self.revision() {
            return Some(Change::none(revision));
        }
        let first = self
            .log
            .iter()
            .position(|change| change.before == revision)?;
        let (head, rest) = self.log[first..].split_first()?;
        Some(
            rest.iter()
                .fold(head.clone(), |all, next| all.compose(next)),
        )
    }

    /// Whether operations are recorded from now on.
    pub fn set_recording(&mut self, recording: bool) {
        self.recording = recording.then(Vec::new);
    }

    /// The operations recorded since the last call.
    pub fn take_operations(&mut self) -> Vec<Operation> {
        self.recording
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Does again what a recorded operation did.
    pub fn apply_operation(&mut self, operation: &Operation) -> Change {
        match operation {
            Operation::Edit { edits, origin } => self.edit(edits, origin),
            _ => Change::none(self.revision()),
        }
    }

    /// What ends a line that is typed: what most lines of the text end with.
    pub fn line_ending(&self) -> LineEnding {
        self.line_ending
    }

    /// Chooses what ends lines typed from now on. Does not touch the text.
    pub fn set_line_ending(&mut self, ending: LineEnding) {
        self.line_ending = ending;
    }
}
