//! The trees of a text during editing: updated with edits, parsed partly here and partly on another
//! thread.
//!
//! The owner calls `edit` for every change and then `parse` with a budget. If the budget is
//! exhausted, a `ParseJob` continues the parse on another thread, and `accept` takes its result,
//! whatever was typed in the meantime.
//! Invariant: the offsets of the trees are those of `revision`, even while their structure is
//! older.
//! Invariant: while a job runs, every edit since its revision is recorded for its result.

mod job;
mod status;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use base::{Revision, never};
use text::{Change, Snapshot};
use tree_sitter::{InputEdit, ParseState};

use crate::cursors::{return_parser, take_parser};
use crate::dirty::note_edit;
use crate::language::Language;
use crate::layers::{LayerParse, LayeredTrees, PreviousTree, parse_text, set_up};
use crate::snapshot::{SnapshotCaches, SyntaxSnapshot};
use crate::source::input_edits;
use crate::stall_guard::ParseHalt;

pub use job::{ParseJob, ParsedTree};
use job::{ParseOutcome, ParsePurpose, ParseStage};
pub use status::{Budget, ParseStatus};

/// Maximum size of a text with a tree, in bytes: a tree takes about ten times the memory.
pub const MAX_PARSED_BYTES: usize = 64 * 1024 * 1024;

/// Maximum size of a text parsed within a budget: it would not suffice, and the single token of a
/// long string or an embedded script cannot be interrupted.
const MAX_INLINE_BYTES: usize = 1024 * 1024;

/// The syntax trees of a text being edited, updated by `edit`, `parse` and `accept`. The owner of
/// the buffer also owns the tree, on the same thread.
pub struct SyntaxTree {
    language: Language,
    trees: Option<LayeredTrees>,
    /// The revision whose offsets the trees have.
    revision: Revision,
    /// The revision whose structure the trees have.
    parsed: Option<Revision>,
    /// Whether the trees equal a fresh parse of `parsed`.
    is_settled: bool,
    /// A revision whose parse never ends; the trees have an older structure than `parsed` says.
    stuck: Option<Revision>,
    /// Ranges edited since `parsed`, in offsets of `revision`.
    dirty: Vec<Range<usize>>,
    running: Option<RunningParse>,
    caches: SnapshotCaches,
    /// Trees of another shape than today's, to be dropped on a background thread.
    retired: Vec<LayeredTrees>,
}

/// A job that is running.
struct RunningParse {
    /// Dead when the job was dropped without a result.
    token: Weak<()>,
    stop: Arc<AtomicBool>,
    purpose: ParsePurpose,
    /// The edits since the job's revision.
    edits: Vec<InputEdit>,
    /// Ranges of these edits.
    dirty: Vec<Range<usize>>,
}

impl SyntaxTree {
    /// Creates a tree for a text in `language`, without parsing the text.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            trees: None,
            revision: Revision::default(),
            parsed: None,
            is_settled: false,
            stuck: None,
            dirty: Vec::new(),
            running: None,
            caches: SnapshotCaches::default(),
            retired: Vec::new(),
        }
    }

    /// Returns the language of the text, without regard to injections.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the revision whose structure the tree shows. Returns `None` before the first parse.
    pub fn parsed_revision(&self) -> Option<Revision> {
        self.parsed
    }

    /// Returns whether the tree equals a fresh parse of the latest text.
    pub fn is_settled(&self) -> bool {
        self.is_settled && self.parsed == Some(self.revision)
    }

    /// Shifts the tree for a change from `before` to `after`, without parsing. Call this for every
    /// change of the text. Takes time proportional to the number of splices, regardless of the size
    /// of the text.
    pub fn edit(&mut self, before: &Snapshot, after: &Snapshot, change: &Change) {
        if self.trees.is_none() && !self.is_running() {
            self.revision = after.revision();
            self.parsed = None;
            return;
        }
        if change.before != self.revision {
            never!(
                "a tree at {:?} missed edits up to {:?}",
                self.revision,
                change.before
            );
            self.forget();
        }
        let edits: Vec<InputEdit> = input_edits(before, after, &change.splices).collect();
        for edit in &edits {
            if let Some(trees) = &mut self.trees {
                trees.edit(edit);
            }
            note_edit(&mut self.dirty, edit);
            if let Some(running) = &mut self.running {
                note_edit(&mut running.dirty, edit);
                running.edits.push(*edit);
            }
        }
        self.caches.outlines.record(change, edits);
        self.revision = after.revision();
    }

    /// Parses `text`, the latest revision passed to `edit`, within the budget.
    ///
    /// Call it after every `edit`, and again after every `accept`.
    pub fn parse(&mut self, text: &Snapshot, budget: &mut Budget<'_>) -> ParseStatus {
        if text.len().0 > MAX_PARSED_BYTES {
            self.forget();
            self.revision = text.revision();
            self.parsed = Some(self.revision);
            self.is_settled = true;
            return ParseStatus::Done;
        }
        if text.revision() != self.revision {
            if self.trees.is_some() || self.is_running() {
                never!(
                    "a tree at {:?} is asked for {:?}",
                    self.revision,
                    text.revision()
                );
            }
            self.forget();
            self.revision = text.revision();
        }
        if self.parsed == Some(self.revision) {
            return self.status();
        }
        match &self.running {
            Some(running) if self.is_running() && running.purpose == ParsePurpose::Parse => {
                return ParseStatus::Running;
            }
            _ => self.stop(),
        }
        let is_slow = text.len().0 > MAX_INLINE_BYTES || !self.language.is_prepared();
        // A budget that is spent before it begins sends the parse away without setting the parser up for nothing.
        if budget.is_limited() && (is_slow || budget.is_spent()) {
            return ParseStatus::Pending(self.job(text, ParsePurpose::Parse, ParseStage::Start));
        }
        self.parse_now(text, budget)
    }

    /// Returns a job that parses the latest text from scratch, for trees that may differ from that:
    /// tree-sitter recovers from errors differently when it starts from an older tree.
    ///
    /// Call it when the user pauses, after `parse` returned `Unsettled`. `None` if there is nothing
    /// to settle. Further edits supersede the job.
    pub fn repair_job(&mut self, text: &Snapshot) -> Option<ParseJob> {
        let is_current = self.parsed == Some(self.revision) && text.revision() == self.revision;
        let is_vain = self.stuck == Some(self.revision);
        if !is_current || is_vain || self.is_settled || self.is_running() {
            return None;
        }
        Some(self.job(text, ParsePurpose::Settle, ParseStage::Start))
    }

    /// Applies the result of a job. Returns whether the tree changed; an outdated result has no
    /// effect. If the text has changed since, call `parse`.
    pub fn accept(&mut self, parsed: ParsedTree) -> bool {
        let token = Arc::downgrade(&parsed.token);
        let Some(mut running) = self.running.take_if(|it| it.token.ptr_eq(&token)) else {
            return false;
        };
        let (mut trees, is_settled) = match parsed.found {
            ParseOutcome::Trees { trees, is_settled } => (trees, is_settled),
            ParseOutcome::Same => {
                self.is_settled = self.parsed == Some(parsed.revision);
                return false;
            }
            ParseOutcome::Nothing => {
                self.give_up(parsed.revision);
                return false;
            }
        };
        for edit in &running.edits {
            trees.edit(edit);
        }
        self.retired.extend(self.trees.replace(trees));
        self.dirty = std::mem::take(&mut running.dirty);
        self.parsed = Some(parsed.revision);
        self.is_settled = is_settled;
        true
    }

    /// Returns a snapshot of the trees, for queries on any thread.
    pub fn snapshot(&self) -> SyntaxSnapshot {
        SyntaxSnapshot::new(
            self.language,
            self.trees.clone(),
            self.revision,
            self.parsed,
            self.caches.clone(),
        )
    }

    fn parse_now(&mut self, text: &Snapshot, budget: &mut Budget<'_>) -> ParseStatus {
        let mut parser = take_parser();
        if !set_up(&mut parser, self.language, &[]) {
            never!(
                "the grammar of {} does not fit tree-sitter",
                self.language.name()
            );
            return ParseStatus::Done;
        }
        let mut progress = |_: &ParseState| {
            if budget.is_spent() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let old = self.trees.as_ref();
        let old_root = old.map(|trees| &trees.root);
        let root = match parse_text(&mut parser, text, old_root, &mut progress) {
            Ok(root) => root,
            Err(ParseHalt::Stopped) => {
                return ParseStatus::Pending(self.job(
                    text,
                    ParsePurpose::Parse,
                    ParseStage::Root(parser),
                ));
            }
            Err(ParseHalt::Stuck) => {
                self.give_up(self.revision);
                return self.status();
            }
        };
        let before = old.map(|trees| PreviousTree {
            tree: &trees.root,
            layers: &trees.layers,
            dirty: &self.dirty,
        });
        let mut layers = LayerParse {
            text,
            parser: &mut parser,
            prepare_all: false,
        };
        let found = layers.layers(&root, self.language, before, 0, &mut progress);
        let Some(layers) = found else {
            return ParseStatus::Pending(self.job(
                text,
                ParsePurpose::Parse,
                ParseStage::Layers(root),
            ));
        };
        let trees = LayeredTrees {
            root,
            layers: Arc::new(layers),
        };
        let is_settled = is_settled(old.map(|_| self.is_settled), &trees);
        self.install(trees, is_settled);
        return_parser(parser);
        self.status()
    }

    /// Keeps the older structure, because no parse of this revision ends. Dirty ranges stay dirty.
    fn give_up(&mut self, revision: Revision) {
        self.parsed = Some(revision);
        self.stuck = Some(revision);
        self.is_settled = false;
    }

    fn install(&mut self, trees: LayeredTrees, is_settled: bool) {
        self.trees = Some(trees);
        self.parsed = Some(self.revision);
        self.is_settled = is_settled;
        self.dirty.clear();
    }

    fn job(&mut self, text: &Snapshot, purpose: ParsePurpose, stage: ParseStage) -> ParseJob {
        let token = Arc::new(());
        let stop = Arc::new(AtomicBool::new(false));
        self.running = Some(RunningParse {
            token: Arc::downgrade(&token),
            stop: stop.clone(),
            purpose,
            edits: Vec::new(),
            dirty: Vec::new(),
        });
        ParseJob {
            text: text.clone(),
            language: self.language,
            old: self.trees.clone(),
            was_settled: self.is_settled,
            dirty: self.dirty.clone(),
            stage,
            purpose,
            token,
            stop,
            retired: std::mem::take(&mut self.retired),
        }
    }

    /// Returns the trees, for tests. Panics before the first parse.
    #[cfg(test)]
    pub(crate) fn trees_for_test(&self) -> &LayeredTrees {
        self.trees.as_ref().expect("a parsed text has trees")
    }

    fn status(&self) -> ParseStatus {
        if self.is_settled {
            ParseStatus::Done
        } else {
            ParseStatus::Unsettled
        }
    }

    /// Whether the last job still runs, or its result was not accepted yet.
    fn is_running(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.token.strong_count() > 0)
    }

    /// Stops a running job. For edits after which `parse` is put off.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop.store(true, Ordering::Relaxed);
        }
    }

    fn forget(&mut self) {
        self.stop();
        self.retired.extend(self.trees.take());
        self.caches.outlines = Arc::default();
        self.parsed = None;
        self.is_settled = false;
        self.dirty.clear();
    }
}

impl Drop for SyntaxTree {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns whether trees equal a fresh parse; `was_settled` says so for the trees they were parsed
/// from, and is `None` if there were none.
///
/// Error recovery depends on the previous tree: trees with errors may differ, and so may trees
/// without errors whose parts were reused from trees with errors (as in Ruby). Without errors on
/// either side, no difference has been observed; the random tests check this.
fn is_settled(was_settled: Option<bool>, trees: &LayeredTrees) -> bool {
    was_settled.is_none_or(|was_settled| was_settled && !trees.has_error())
}

#[cfg(test)]
mod tests;
