//! What becomes of the misspelt lines of a block: the new text may have them too.

use std::rc::Rc;

use crate::block::Block;
use crate::diff::Run;
use crate::file::FileText;
use crate::find::Slip;
use crate::fold;
use crate::found::Aligned;

/// The block with its misspelt lines as the file spells them, wherever the new text has them;
/// `None` where none is misspelt.
pub(super) fn mended(file: &FileText, aligned: &Aligned) -> Option<Aligned> {
    if aligned.typos.is_empty() {
        return None;
    }
    let mut block = Block::clone(&aligned.block);
    for ix in &aligned.typos {
        let wrong = &aligned.block.old[*ix];
        let right = Slip::of(wrong, file.content(aligned.map[*ix]?))?.mended();
        for line in std::iter::once(&mut block.old[*ix]).chain(&mut block.new) {
            if line.trim() == wrong.trim() {
                *line = format!("{}{right}{}", fold::indent(line), fold::tail(line));
            }
        }
    }
    Some(Aligned {
        block: Rc::new(block),
        ..aligned.clone()
    })
}

/// Whether a line that appears looks like a misspelt one: it may be the same, misspelt otherwise.
pub(super) fn appear(aligned: &Aligned, mended: &Aligned, run: &Run) -> bool {
    let new = &mended.block.new[run.new.clone()];
    aligned.typos.iter().any(|ix| {
        let (wrong, right) = (&aligned.block.old[*ix], &mended.block.old[*ix]);
        let is_like =
            |line: &String| !fold::is_same(line, right) && Slip::of(line, wrong).is_some();
        new.iter().any(is_like)
    })
}
