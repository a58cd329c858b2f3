//! A place where a hunk may land: which line of the block stands on which line of the file.

use std::ops::Range;
use std::rc::Rc;

use crate::block::Block;
use crate::outcome::{Difference, Doubt, Rung};

/// A place, and how it was found.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) rung: Rung,
    /// In what block and place differ, as far as finding it told.
    pub(crate) differences: Vec<Difference>,
    /// The rows that the place takes up.
    pub(crate) rows: Range<usize>,
    pub(crate) body: Body,
}

/// What stands at the place.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Any text: these bytes of the normal text are replaced by that.
    Span { span: Range<usize>, text: String },
    /// Any text with its endings: these bytes of the file are replaced by that.
    Raw { span: Range<usize>, text: String },
    /// Whole lines.
    Lines(Aligned),
    /// Several groups of lines with lines between them that are left out.
    Pieces(Vec<Aligned>),
}

/// A block beside lines of the file.
#[derive(Clone, Debug)]
pub(crate) struct Aligned {
    pub(crate) block: Rc<Block>,
    pub(crate) rows: Range<usize>,
    /// Per old line of the block, the row it stands on; rows rise.
    pub(crate) map: Vec<Option<usize>>,
    /// Old lines that are misspelt, sorted.
    pub(crate) typos: Vec<usize>,
}

impl Aligned {
    /// Line by line, from `row` on.
    pub(crate) fn contiguous(block: &Rc<Block>, row: usize) -> Self {
        let count = block.old.len();
        Self {
            block: block.clone(),
            rows: row..row + count,
            map: (row..row + count).map(Some).collect(),
            typos: Vec::new(),
        }
    }
}

impl Match {
    /// A place that counts, but at which the block cannot land: another one is not the only one.
    pub(crate) fn unclear(rung: Rung, aligned: Aligned, doubt: Doubt) -> Self {
        let block = Block {
            doubt: Some(doubt),
            ..Block::clone(&aligned.block)
        };
        let block = Rc::new(block);
        Self::lines(rung, Aligned { block, ..aligned })
    }

    pub(crate) fn lines(rung: Rung, aligned: Aligned) -> Self {
        Self {
            rung,
            differences: aligned.block.differences.clone(),
            rows: aligned.rows.clone(),
            body: Body::Lines(aligned),
        }
    }
}
