//! The part of a parse that runs on another thread.

use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Revision;
use text::Snapshot;
use tree_sitter::{ParseState, Parser, Tree};

use super::is_settled;
use crate::cursors::{return_parser, take_parser};
use crate::equality::are_equal;
use crate::language::Language;
use crate::layers::{LayerParse, LayeredTrees, PreviousTree, parse_text, set_up};
use crate::stall_guard::{ParseHalt, Progress};

/// A parse to run on another thread, when the budget on the owner's thread is exhausted. Dropping
/// the job cancels the parse.
#[must_use]
pub struct ParseJob {
    pub(super) text: Snapshot,
    pub(super) language: Language,
    /// In step with `text`.
    pub(super) old: Option<LayeredTrees>,
    /// Whether `old` equalled a fresh parse before the edits since.
    pub(super) was_settled: bool,
    pub(super) dirty: Vec<Range<usize>>,
    pub(super) stage: ParseStage,
    pub(super) purpose: ParsePurpose,
    pub(super) token: Arc<()>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) retired: Vec<LayeredTrees>,
}

/// The result of a parse job, for `SyntaxTree::accept`.
pub struct ParsedTree {
    pub(super) revision: Revision,
    pub(super) found: ParseOutcome,
    pub(super) token: Arc<()>,
    update_checks: Option<usize>,
}

/// Result of a job.
pub(super) enum ParseOutcome {
    /// Trees of its revision.
    Trees {
        trees: LayeredTrees,
        /// Whether they equal a fresh parse.
        is_settled: bool,
    },
    /// A fresh parse equals the existing trees.
    Same,
    /// The grammar makes no progress on this text.
    Nothing,
}

/// Stage at which the caller's thread stopped.
pub(super) enum ParseStage {
    /// At the very start.
    Start,
    /// In the middle of the root; the parser remembers where.
    Root(Parser),
    /// The root is parsed; the layers are not.
    Layers(Tree),
}

/// Purpose of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParsePurpose {
    /// Update the tree to the text.
    Parse,
    /// Ensure that it equals a fresh parse.
    Settle,
}

impl ParsedTree {
    /// Returns the cost of bringing a tree up to date, in progress checks, one per hundred steps of
    /// the parser; those before the job are left out. Returns `None` for a parse from scratch.
    pub fn update_checks(&self) -> Option<usize> {
        self.update_checks
    }
}

impl ParseJob {
    /// Returns the revision of the text that the job parses.
    pub fn revision(&self) -> Revision {
        self.text.revision()
    }

    /// Parses the text. Takes time proportional to its length. Returns `None` if `cancel` was set
    /// or newer edits superseded the job.
    pub fn run(mut self, cancel: &AtomicBool) -> Option<ParsedTree> {
        // Dropping large trees takes a while; on this thread it delays nothing else.
        self.retired.clear();
        self.language.prepare();
        let stop = self.stop.clone();
        let is_update = self.purpose == ParsePurpose::Parse && self.old.is_some();
        let mut checks = 0;
        let mut progress = |_: &ParseState| {
            checks += 1;
            if cancel.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let parsed = match self.purpose {
            ParsePurpose::Parse => self.parse(&mut progress),
            ParsePurpose::Settle => self.run_repair(&mut progress),
        };
        parsed.map(|parsed| ParsedTree {
            update_checks: is_update.then_some(checks),
            ..parsed
        })
    }

    /// Parses from the stage at which the caller stopped. Returns `None` if `progress` stopped the
    /// parse.
    fn parse(mut self, progress: Progress<'_>) -> Option<ParsedTree> {
        let old = self.old.take();
        let root = match std::mem::replace(&mut self.stage, ParseStage::Start) {
            ParseStage::Start => self.root(None, old.as_ref(), progress),
            ParseStage::Root(parser) => self.root(Some(parser), old.as_ref(), progress),
            ParseStage::Layers(root) => Ok(root),
        };
        let found = match root {
            Ok(root) => {
                let trees = self.layers(root, old.as_ref(), progress)?;
                let is_settled = is_settled(old.as_ref().map(|_| self.was_settled), &trees);
                ParseOutcome::Trees { trees, is_settled }
            }
            Err(ParseHalt::Stuck) => ParseOutcome::Nothing,
            Err(ParseHalt::Stopped) => return None,
        };
        Some(self.parsed(found))
    }

    /// Parses from scratch and compares the result with the existing trees. Returns `None` if
    /// `progress` stopped the parse.
    fn run_repair(self, progress: Progress<'_>) -> Option<ParsedTree> {
        let found = match self.root(None, None, progress) {
            Ok(root) => {
                let fresh = self.layers(root, None, progress)?;
                if self.old.as_ref().is_some_and(|old| are_equal(old, &fresh)) {
                    ParseOutcome::Same
                } else {
                    ParseOutcome::Trees {
                        trees: fresh,
                        is_settled: true,
                    }
                }
            }
            Err(ParseHalt::Stuck) => ParseOutcome::Nothing,
            Err(ParseHalt::Stopped) => return None,
        };
        Some(self.parsed(found))
    }

    fn parsed(self, found: ParseOutcome) -> ParsedTree {
        ParsedTree {
            revision: self.text.revision(),
            found,
            token: self.token,
            update_checks: None,
        }
    }

    /// Parses the root, with a parser that was stopped midway or a new one. Returns `Stopped` if
    /// `progress` stopped the parse, and `Stuck` if the parser makes no progress.
    fn root(
        &self,
        started: Option<Parser>,
        old: Option<&LayeredTrees>,
        progress: Progress<'_>,
    ) -> Result<Tree, ParseHalt> {
        let mut parser = started.unwrap_or_else(|| {
            let mut parser = take_parser();
            set_up(&mut parser, self.language, &[]);
            parser
        });
        let root = parse_text(&mut parser, &self.text, old.map(|it| &it.root), progress)?;
        return_parser(parser);
        Ok(root)
    }

    /// Parses the layers of a root. Returns `None` if `progress` stopped the parse.
    fn layers(
        &self,
        root: Tree,
        old: Option<&LayeredTrees>,
        progress: Progress<'_>,
    ) -> Option<LayeredTrees> {
        let mut parser = take_parser();
        let before = old.map(|trees| PreviousTree {
            tree: &trees.root,
            layers: &trees.layers,
            dirty: &self.dirty,
        });
        let mut layers = LayerParse {
            text: &self.text,
            parser: &mut parser,
            prepare_all: true,
        };
        let layers = layers.layers(&root, self.language, before, 0, progress)?;
        return_parser(parser);
        Some(LayeredTrees {
            root,
            layers: Arc::new(layers),
        })
    }
}

impl fmt::Debug for ParseJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParseJob")
            .field("language", &self.language)
            .field("revision", &self.text.revision())
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}
