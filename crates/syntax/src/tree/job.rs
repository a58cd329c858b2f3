//! The part of a parse that runs on another thread.

use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Revision;
use text::Snapshot;
use tree_sitter::{ParseState, Parser, Tree};

use super::is_settled;
use crate::cursors::{give_parser, take_parser};
use crate::equality::are_equal;
use crate::headway::Halt;
use crate::language::Language;
use crate::layers::{Before, LayerParse, Progress, Trees, parse_text, set_up};

/// A parse to be run on another thread. Dropping it gives it up.
#[must_use]
pub struct ParseJob {
    pub(super) text: Snapshot,
    pub(super) language: Language,
    /// In step with `text`.
    pub(super) old: Option<Trees>,
    /// Whether `old` equalled a fresh parse before the edits since.
    pub(super) was_settled: bool,
    pub(super) dirty: Vec<Range<usize>>,
    pub(super) stage: Stage,
    pub(super) purpose: Purpose,
    pub(super) token: Arc<()>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) retired: Vec<Trees>,
}

/// The result of a job, for `SyntaxTree::accept`.
pub struct ParsedTree {
    pub(super) revision: Revision,
    pub(super) found: Found,
    pub(super) token: Arc<()>,
}

/// What a job found.
pub(super) enum Found {
    /// Trees of its revision.
    Trees {
        trees: Trees,
        /// Whether they equal a fresh parse.
        is_settled: bool,
    },
    /// A fresh parse is what was already there.
    Same,
    /// The grammar gets nowhere with this text.
    Nothing,
}

/// Where the caller's thread stopped.
pub(super) enum Stage {
    /// At the very start.
    Start,
    /// In the middle of the root; the parser remembers where.
    Root(Parser),
    /// The root is done; the layers are not.
    Layers(Tree),
}

/// Why a job is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To bring the tree up to the text.
    Parse,
    /// To make sure that it equals a fresh parse.
    Settle,
}

impl ParseJob {
    /// The revision it parses.
    pub fn revision(&self) -> Revision {
        self.text.revision()
    }

    /// Runs it to its end. `None` when `cancel` was set or newer edits overtook it.
    pub fn run(mut self, cancel: &AtomicBool) -> Option<ParsedTree> {
        // Large trees take a while to drop; here that delays nobody.
        self.retired.clear();
        self.language.prepare();
        let stop = self.stop.clone();
        let mut progress =
            |_: &ParseState| match cancel.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
        match self.purpose {
            Purpose::Parse => self.parse(&mut progress),
            Purpose::Settle => self.settle(&mut progress),
        }
    }

    fn parse(mut self, progress: Progress<'_>) -> Option<ParsedTree> {
        let old = self.old.take();
        let root = match std::mem::replace(&mut self.stage, Stage::Start) {
            Stage::Start => self.root(None, old.as_ref(), progress),
            Stage::Root(parser) => self.root(Some(parser), old.as_ref(), progress),
            Stage::Layers(root) => Ok(root),
        };
        let found = match root {
            Ok(root) => {
                let trees = self.layers(root, old.as_ref(), progress)?;
                let is_settled = is_settled(old.as_ref().map(|_| self.was_settled), &trees);
                Found::Trees { trees, is_settled }
            }
            Err(Halt::Stuck) => Found::Nothing,
            Err(Halt::Stopped) => return None,
        };
        Some(self.parsed(found))
    }

    fn settle(self, progress: Progress<'_>) -> Option<ParsedTree> {
        let found = match self.root(None, None, progress) {
            Ok(root) => {
                let fresh = self.layers(root, None, progress)?;
                match self.old.as_ref().is_some_and(|old| are_equal(old, &fresh)) {
                    true => Found::Same,
                    false => Found::Trees {
                        trees: fresh,
                        is_settled: true,
                    },
                }
            }
            Err(Halt::Stuck) => Found::Nothing,
            Err(Halt::Stopped) => return None,
        };
        Some(self.parsed(found))
    }

    fn parsed(self, found: Found) -> ParsedTree {
        ParsedTree {
            revision: self.text.revision(),
            found,
            token: self.token,
        }
    }

    fn root(
        &self,
        started: Option<Parser>,
        old: Option<&Trees>,
        progress: Progress<'_>,
    ) -> Result<Tree, Halt> {
        let mut parser = started.unwrap_or_else(|| {
            let mut parser = take_parser();
            set_up(&mut parser, self.language, &[]);
            parser
        });
        let root = parse_text(&mut parser, &self.text, old.map(|it| &it.root), progress)?;
        give_parser(parser);
        Ok(root)
    }

    fn layers(&self, root: Tree, old: Option<&Trees>, progress: Progress<'_>) -> Option<Trees> {
        let mut parser = take_parser();
        let before = old.map(|trees| Before {
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
        give_parser(parser);
        Some(Trees {
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
