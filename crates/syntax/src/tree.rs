//! A text's trees while it is edited: kept in step, parsed a little here and the rest elsewhere.
//!
//! The owner calls `edit` for every change and then `parse` with a budget. When the budget does
//! not suffice, the parse goes on where it stopped in a `ParseJob` on another thread, and its
//! result comes back through `accept`, however much was typed in the meantime.
//! Invariant: the trees are in step with `revision`: their offsets are those of its text, even
//! while their structure is older.
//! Invariant: while a job is out, every edit since its revision is remembered for its result.

mod job;
mod status;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use base::{Revision, never};
use text::{Change, Snapshot};
use tree_sitter::{InputEdit, ParseState};

use crate::cursors::{give_parser, take_parser};
use crate::headway::Halt;
use crate::language::Language;
use crate::layers::small::SmallLayers;
use crate::layers::{Before, LayerParse, Trees, parse_text, set_up};
use crate::snapshot::SyntaxSnapshot;
use crate::source::input_edits;

use job::{Found, Purpose, Stage};
pub use job::{ParseJob, ParsedTree};
pub use status::{Budget, ParseStatus};

/// Larger texts get no tree: it would take some ten times their memory.
pub const MAX_PARSED_BYTES: usize = 64 * 1024 * 1024;

/// Larger texts are not even begun within a budget: it would not suffice, and the one token that a
/// long string or an embedded script is cannot be interrupted.
const MOST_BYTES_HERE: usize = 1024 * 1024;

/// More edited places than this are taken together.
const MOST_DIRTY: usize = 64;

/// The trees of a text that is edited. Belongs to whoever owns the buffer.
pub struct SyntaxTree {
    language: Language,
    trees: Option<Trees>,
    /// The revision whose offsets the trees have.
    revision: Revision,
    /// The revision whose structure the trees have.
    parsed: Option<Revision>,
    /// Whether the trees equal a fresh parse of `parsed`.
    is_settled: bool,
    /// A revision that no parse comes to the end of; the trees have an older structure than `parsed` says.
    stuck: Option<Revision>,
    /// Where the text was edited since `parsed`, in offsets of `revision`.
    dirty: Vec<Range<usize>>,
    running: Option<Running>,
    small: Arc<SmallLayers>,
    /// Trees of another shape than today's, to be dropped on a background thread.
    retired: Vec<Trees>,
}

/// A job that was handed out.
struct Running {
    /// Dead when the job was dropped without a result.
    token: Weak<()>,
    stop: Arc<AtomicBool>,
    purpose: Purpose,
    /// The edits since the job's revision.
    edits: Vec<InputEdit>,
    /// Where they are.
    dirty: Vec<Range<usize>>,
}

impl SyntaxTree {
    /// No tree yet, for a text in `language`.
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
            small: Arc::default(),
            retired: Vec::new(),
        }
    }

    /// The language of the text.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The revision whose structure the tree shows; `None` before the first parse.
    pub fn parsed_revision(&self) -> Option<Revision> {
        self.parsed
    }

    /// Whether the tree equals a fresh parse of the newest text it was told of.
    pub fn is_settled(&self) -> bool {
        self.is_settled && self.parsed == Some(self.revision)
    }

    /// Keeps the tree in step with a change from `before` to `after`. Takes time in proportion to
    /// the splices, not to the text.
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
        for edit in input_edits(before, after, &change.splices) {
            if let Some(trees) = &mut self.trees {
                trees.edit(&edit);
            }
            note_edit(&mut self.dirty, &edit);
            if let Some(running) = &mut self.running {
                note_edit(&mut running.dirty, &edit);
                running.edits.push(edit);
            }
        }
        self.revision = after.revision();
    }

    /// Brings the tree up to `text`, the newest revision it was told of, within the budget.
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
            Some(running) if self.is_running() && running.purpose == Purpose::Parse => {
                return ParseStatus::Running;
            }
            _ => self.stop(),
        }
        let is_slow = text.len().0 > MOST_BYTES_HERE || !self.language.is_prepared();
        // A budget that is spent before it begins sends the parse away without setting the parser up for nothing.
        if budget.is_limited() && (is_slow || budget.is_spent()) {
            return ParseStatus::Pending(self.job(text, Purpose::Parse, Stage::Start));
        }
        self.parse_now(text, budget)
    }

    /// A job that parses the newest text afresh, for trees that may differ from that: tree-sitter
    /// recovers from errors differently when it goes on from an older tree.
    ///
    /// Call it when the user pauses, after `parse` said `Unsettled`. `None` when there is nothing
    /// to settle. Further edits overtake the job.
    pub fn settle(&mut self, text: &Snapshot) -> Option<ParseJob> {
        let is_current = self.parsed == Some(self.revision) && text.revision() == self.revision;
        let is_vain = self.stuck == Some(self.revision);
        if !is_current || is_vain || self.is_settled || self.is_running() {
            return None;
        }
        Some(self.job(text, Purpose::Settle, Stage::Start))
    }

    /// Takes the result of a job. Says whether the tree changed; a result that was overtaken does
    /// nothing. When the text has moved on, `parse` brings the tree up to it.
    pub fn accept(&mut self, parsed: ParsedTree) -> bool {
        let token = Arc::downgrade(&parsed.token);
        let Some(mut running) = self.running.take_if(|it| it.token.ptr_eq(&token)) else {
            return false;
        };
        let (mut trees, is_settled) = match parsed.found {
            Found::Trees { trees, is_settled } => (trees, is_settled),
            Found::Same => {
                self.is_settled = self.parsed == Some(parsed.revision);
                return false;
            }
            Found::Nothing => {
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

    /// The trees as they are now, to ask questions of on any thread.
    pub fn snapshot(&self) -> SyntaxSnapshot {
        SyntaxSnapshot::new(
            self.language,
            self.trees.clone(),
            self.revision,
            self.parsed,
            self.small.clone(),
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
        let mut progress = |_: &ParseState| match budget.is_spent() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let old = self.trees.as_ref();
        let old_root = old.map(|trees| &trees.root);
        let root = match parse_text(&mut parser, text, old_root, &mut progress) {
            Ok(root) => root,
            Err(Halt::Stopped) => {
                return ParseStatus::Pending(self.job(text, Purpose::Parse, Stage::Root(parser)));
            }
            Err(Halt::Stuck) => {
                self.give_up(self.revision);
                return self.status();
            }
        };
        let before = old.map(|trees| Before {
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
            return ParseStatus::Pending(self.job(text, Purpose::Parse, Stage::Layers(root)));
        };
        let trees = Trees {
            root,
            layers: Arc::new(layers),
        };
        let is_settled = is_settled(old.map(|_| self.is_settled), &trees);
        self.install(trees, is_settled);
        give_parser(parser);
        self.status()
    }

    /// Stays with the older structure, as no parse of this revision ends. What is dirty stays so.
    fn give_up(&mut self, revision: Revision) {
        self.parsed = Some(revision);
        self.stuck = Some(revision);
        self.is_settled = false;
    }

    fn install(&mut self, trees: Trees, is_settled: bool) {
        self.trees = Some(trees);
        self.parsed = Some(self.revision);
        self.is_settled = is_settled;
        self.dirty.clear();
    }

    fn job(&mut self, text: &Snapshot, purpose: Purpose, stage: Stage) -> ParseJob {
        let token = Arc::new(());
        let stop = Arc::new(AtomicBool::new(false));
        self.running = Some(Running {
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

    #[cfg(test)]
    pub(crate) fn trees_for_test(&self) -> &Trees {
        self.trees.as_ref().expect("a parsed text has trees")
    }

    fn status(&self) -> ParseStatus {
        match self.is_settled {
            true => ParseStatus::Done,
            false => ParseStatus::Unsettled,
        }
    }

    fn is_running(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.token.strong_count() > 0)
    }

    fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop.store(true, Ordering::Relaxed);
        }
    }

    fn forget(&mut self) {
        self.stop();
        self.retired.extend(self.trees.take());
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

/// Whether trees equal a fresh parse; `was_settled` says it of those they were parsed from, and is
/// `None` when there were none.
///
/// Error recovery depends on what was there before: trees with errors may differ, and so may trees
/// without, whose parts were reused from trees with errors (Ruby's do). Without errors on either
/// side they have never been seen to; the random tests hold that up.
fn is_settled(was_settled: Option<bool>, trees: &Trees) -> bool {
    was_settled.is_none_or(|was_settled| was_settled && !trees.has_error())
}

/// Moves the edited places along with an edit and adds its own.
fn note_edit(dirty: &mut Vec<Range<usize>>, edit: &InputEdit) {
    let moved = |offset: usize| match offset {
        offset if offset >= edit.old_end_byte => edit.new_end_byte + (offset - edit.old_end_byte),
        offset => offset.min(edit.start_byte),
    };
    for range in dirty.iter_mut() {
        *range = moved(range.start)..moved(range.end).max(moved(range.start));
    }
    dirty.push(edit.start_byte..edit.new_end_byte);
    if dirty.len() > MOST_DIRTY {
        let start = dirty.iter().map(|range| range.start).min().unwrap_or(0);
        let end = dirty.iter().map(|range| range.end).max().unwrap_or(0);
        dirty.clear();
        dirty.push(start..end);
    }
}

#[cfg(test)]
mod tests;
