//! Old colours over an edit: a guess that is right for most keys, painted until the new ones come.

use smallvec::SmallVec;

use super::{RowHighlight, RowHighlights};

/// Where an edit cut its rows, in bytes from the start of a row.
pub(super) struct Cut {
    /// Where it begins in the first old row.
    pub(super) start: u32,
    /// Where it ends in the last old row.
    pub(super) end: u32,
    /// Where what follows it stands in the last new row.
    pub(super) tail: u32,
}

/// The colours of the first new row and, unless there `is_one` only, of the last. `head` are those of the
/// first old row, `tail` those of the last.
pub(super) fn over(
    head: &RowHighlights,
    tail: &RowHighlights,
    cut: &Cut,
    is_one: bool,
) -> (RowHighlights, Option<RowHighlights>) {
    let kept = head.iter().filter(|it| it.start < cut.start);
    let mut first: SmallVec<[RowHighlight; 16]> = kept
        .map(|it| RowHighlight {
            end: match is_one && it.end >= cut.start {
                // A word that is typed on keeps its colour.
                true => cut.tail,
                false => it.end.min(cut.start),
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
