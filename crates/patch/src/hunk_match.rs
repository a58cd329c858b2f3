//! A match of a hunk: the mapping between lines of the block and lines of the file.

use std::ops::Range;
use std::rc::Rc;

use crate::block::LineBlock;
use crate::outcome::{Ambiguity, HunkDifference, MatchStrategy};

/// A position where a hunk may apply, and how it was found.
#[derive(Clone, Debug)]
pub(crate) struct HunkMatch {
    pub(crate) strategy: MatchStrategy,
    /// Differences between block and file that are known from finding it.
    pub(crate) differences: Vec<HunkDifference>,
    /// Rows that the match covers.
    pub(crate) rows: Range<usize>,
    pub(crate) body: MatchBody,
}

/// The matched part of the file and its replacement, as text or as aligned lines.
#[derive(Clone, Debug)]
pub(crate) enum MatchBody {
    /// Arbitrary text: a byte span of the normalized text, and its replacement.
    Span { span: Range<usize>, text: String },
    /// Arbitrary text with line endings: a byte span of the file, and its replacement.
    Raw { span: Range<usize>, text: String },
    /// A block of whole lines.
    Lines(BlockAlignment),
    /// Several blocks with unchanged lines left out between them.
    Pieces(Vec<BlockAlignment>),
}

/// A block of lines aligned with lines of the file: for each old line, the row that it matches.
#[derive(Clone, Debug)]
pub(crate) struct BlockAlignment {
    pub(crate) block: Rc<LineBlock>,
    pub(crate) rows: Range<usize>,
    /// Row of each old line of the block; rows increase.
    pub(crate) map: Vec<Option<usize>>,
    /// Indices of misspelt old lines, sorted.
    pub(crate) typos: Vec<usize>,
}

impl BlockAlignment {
    /// Aligns a block line by line, starting at `row`. The lines of the block and of the file may
    /// differ.
    pub(crate) fn contiguous(block: &Rc<LineBlock>, row: usize) -> Self {
        let count = block.old.len();
        Self {
            block: block.clone(),
            rows: row..row + count,
            map: (row..row + count).map(Some).collect(),
            typos: Vec::new(),
        }
    }
}

impl HunkMatch {
    /// Returns a match that makes others ambiguous but to which the block cannot be applied itself.
    pub(crate) fn unclear(
        strategy: MatchStrategy,
        aligned: BlockAlignment,
        doubt: Ambiguity,
    ) -> Self {
        let block = LineBlock {
            doubt: Some(doubt),
            ..LineBlock::clone(&aligned.block)
        };
        let block = Rc::new(block);
        Self::from_alignment(strategy, BlockAlignment { block, ..aligned })
    }

    /// Creates a match of whole lines, which starts with the differences of the block.
    pub(crate) fn from_alignment(strategy: MatchStrategy, aligned: BlockAlignment) -> Self {
        Self {
            strategy,
            differences: aligned.block.differences.clone(),
            rows: aligned.rows.clone(),
            body: MatchBody::Lines(aligned),
        }
    }
}
