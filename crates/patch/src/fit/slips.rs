//! Handles misspelt lines of a block, which the new text may repeat.

use std::rc::Rc;

use crate::block::LineBlock;
use crate::diff::DiffRun;
use crate::file::FileText;
use crate::find::Typo;
use crate::fold;
use crate::hunk_match::BlockAlignment;

/// Corrects the misspelt lines of a block to the file's spelling wherever the new text repeats
/// them; `None` if none is misspelt.
pub(super) fn mended(file: &FileText, aligned: &BlockAlignment) -> Option<BlockAlignment> {
    if aligned.typos.is_empty() {
        return None;
    }
    let mut block = LineBlock::clone(&aligned.block);
    for ix in &aligned.typos {
        let wrong = &aligned.block.old[*ix];
        let right = Typo::of(wrong, file.content(aligned.map[*ix]?))?.mended();
        for line in std::iter::once(&mut block.old[*ix]).chain(&mut block.new) {
            if line.trim() == wrong.trim() {
                *line = format!("{}{right}{}", fold::indent(line), fold::tail(line));
            }
        }
    }
    Some(BlockAlignment {
        block: Rc::new(block),
        ..aligned.clone()
    })
}

/// Whether an added line resembles a misspelt one: it may be the same line, misspelt differently.
pub(super) fn appear(aligned: &BlockAlignment, mended: &BlockAlignment, run: &DiffRun) -> bool {
    let new = &mended.block.new[run.new.clone()];
    aligned.typos.iter().any(|ix| {
        let (wrong, right) = (&aligned.block.old[*ix], &mended.block.old[*ix]);
        let is_like =
            |line: &String| !fold::is_same(line, right) && Typo::of(line, wrong).is_some();
        new.iter().any(is_like)
    })
}
