//! The map itself: keeps the layers in step with the buffer.

use base::{ByteOffset, Span};
use text::{Change, Snapshot};

use crate::block::{BlockId, BlockSpec};
use crate::inlay::{Inlay, InlayId};
use crate::job::{WrapDone, WrapJob};
use crate::position::{DisplayOptions, DisplayRow};
use crate::snapshot::DisplaySnapshot;

/// The layers between one buffer and one view of it.
pub struct DisplayMap {
    snapshot: DisplaySnapshot,
}

impl DisplayMap {
    /// A map without folds, inlays or blocks. Cheap at any length of text.
    pub fn new(buffer: Snapshot, options: DisplayOptions) -> Self {
        Self {
            snapshot: DisplaySnapshot::new(buffer, options),
        }
    }

    /// The state of now; cheap, and of use on any thread.
    pub fn snapshot(&self) -> DisplaySnapshot {
        self.snapshot.clone()
    }

    /// The options in force.
    pub fn options(&self) -> DisplayOptions {
        self.snapshot.options()
    }

    /// Takes over an edit: `buffer` is the text after `change`.
    pub fn sync(&mut self, buffer: &Snapshot, _change: &Change) {
        self.snapshot = DisplaySnapshot::new(buffer.clone(), self.options());
    }

    /// Changes tab width or wrapping.
    pub fn set_options(&mut self, options: DisplayOptions) {
        self.snapshot = DisplaySnapshot::new(self.snapshot.buffer().clone(), options);
    }

    /// The next lines to wrap in the background, if any; a job handed out before becomes void.
    pub fn wrap_job(&mut self) -> Option<WrapJob> {
        None
    }

    /// Takes in wrapped lines. `false` when they were of no use any more. Ask for the next job either way.
    pub fn accept(&mut self, _done: WrapDone) -> bool {
        false
    }

    /// Wraps lines at once that are about to be shown, within a bound. `true` when rows moved.
    pub fn wrap_rows(&mut self, _first: DisplayRow, _count: u32) -> bool {
        false
    }

    /// Folds spans away; empty ones are ignored, equal ones are kept once.
    pub fn fold(&mut self, _spans: &[Span]) {}

    /// Removes every fold that overlaps the span, or holds its place when it is empty.
    pub fn unfold(&mut self, _span: Span) {}

    /// Removes every fold.
    pub fn unfold_all(&mut self) {}

    /// All folds, by start, outer ones first.
    pub fn folds(&self) -> Vec<Span> {
        Vec::new()
    }

    /// Replaces all inlays.
    pub fn set_inlays(&mut self, _inlays: Vec<Inlay>) {}

    /// Removes some inlays and adds others.
    pub fn splice_inlays(&mut self, _remove: &[InlayId], _add: Vec<Inlay>) {}

    /// Makes room between two rows.
    pub fn insert_block(&mut self, _spec: BlockSpec) -> BlockId {
        BlockId(0)
    }

    /// Takes a block away; an unknown one is ignored.
    pub fn remove_block(&mut self, _id: BlockId) {}

    /// Gives a block another height, in line heights.
    pub fn resize_block(&mut self, _id: BlockId, _height: f32) {}

    /// The fold that hides the byte at `offset`; the outermost one.
    pub fn fold_containing(&self, _offset: ByteOffset) -> Option<Span> {
        None
    }
}
