//! Carries old highlights over an edit: a guess that is right for most keystrokes, painted until
//! the new ones arrive.

use smallvec::SmallVec;

use super::{RowHighlight, RowHighlights};

/// Position of an edit within its rows, in bytes from the start of a row.
pub(super) struct EditCut {
    /// Start of the edit in the first old row.
    pub(super) start: u32,
    /// End of the edit in the last old row.
    pub(super) end: u32,
    /// End of the inserted text in the last new row.
    pub(super) tail: u32,
}

/// Returns the highlights of the first new row and, unless `is_one`, of the last. `head` contains
/// the highlights of the first old row, `tail` those of the last.
pub(super) fn carry_over(
    head: &RowHighlights,
    tail: &RowHighlights,
    cut: &EditCut,
    is_one: bool,
) -> (RowHighlights, Option<RowHighlights>) {
    let kept = head.iter().filter(|it| it.start < cut.start);
    let mut first: SmallVec<[RowHighlight; 16]> = kept
        .map(|it| RowHighlight {
            end: if is_one && it.end >= cut.start {
                // A word extended by typing keeps its highlight.
                cut.tail
            } else {
                it.end.min(cut.start)
            },
            ..*it
        })
        .collect();
    let moved = tail
        .iter()
        .filter(|it| it.end > cut.end)
        .map(|it| RowHighlight {
            start: it.start.max(cut.end) - cut.end + cut.tail,
            end: it.end - cut.end + cut.tail,
            kind: it.kind,
        });
    if !is_one {
        return (first.into_iter().collect(), Some(moved.collect()));
    }
    for next in moved {
        match first.last_mut() {
            Some(last) if last.end == next.start && last.kind == next.kind => last.end = next.end,
            _ => first.push(next),
        }
    }
    (first.into_iter().collect(), None)
}
