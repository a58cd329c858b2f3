//! Several carets: those that get what the newest one gets, and where all of them stand afterwards.
//!
//! A caret goes along where the same word stands before it and the same text of its row behind it.

use autocomplete::Suggestion;
use base::{ByteOffset, Span};
use text::{Edit, Selection, SelectionSet, Snapshot};

/// Rows are compared up to so many bytes behind the caret; longer ones count as different.
const MOST_BEHIND: usize = 4_096;

/// More carets than this are left alone.
const MOST_CARETS: usize = 500;

/// A caret that goes along with the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fellow {
    /// Which of the selections it is.
    ix: usize,
    newest: ByteOffset,
    caret: ByteOffset,
}

impl Fellow {
    /// The place that lies to this caret as `offset` lies to the newest.
    pub(crate) fn moved(&self, offset: ByteOffset) -> ByteOffset {
        ByteOffset(
            self.caret
                .0
                .saturating_add_signed(offset.0 as isize - self.newest.0 as isize),
        )
    }

    /// The carets are elsewhere now, in the order they were in.
    pub(crate) fn go_along(&mut self, selections: &SelectionSet) {
        self.newest = selections.primary().head;
        let own = selections.iter().nth(self.ix);
        self.caret = own.map_or(self.caret, |own| own.head);
    }
}

/// What stands around a caret in its row.
struct Around {
    word: String,
    row: Span,
    behind: usize,
}

impl Around {
    fn of(caret: ByteOffset, snapshot: &Snapshot) -> Self {
        let row = snapshot.row_span(snapshot.point_at(caret).row);
        let is_word = |char: &char| char.is_alphanumeric() || *char == '_';
        let word = snapshot.chars_before(caret).take(200).take_while(is_word);
        Self {
            word: word.collect(),
            behind: row.end - caret,
            row,
        }
    }
}

/// The carets that get the same as the newest. None for what lies outside of the newest one's row.
pub(crate) fn fellows(
    suggestion: &Suggestion,
    snapshot: &Snapshot,
    selections: &SelectionSet,
) -> Vec<Fellow> {
    let newest = selections.primary().head;
    let own = Around::of(newest, snapshot);
    let is_mere = |selection: &Selection| selection.is_empty();
    let reach = Span::new(ByteOffset(newest.0 - own.word.len()), own.row.end);
    let is_near = suggestion.edits.iter().all(|edit| reach.covers(edit.span));
    let is_few = (2..=MOST_CARETS).contains(&selections.len());
    if !is_few || !is_near || own.behind > MOST_BEHIND || !selections.iter().all(is_mere) {
        return Vec::new();
    }
    let behind = snapshot.text(Span::new(newest, own.row.end));
    let others = selections
        .iter()
        .enumerate()
        .filter(|(_, other)| other.head != newest);
    others
        .filter(|(_, other)| {
            let around = Around::of(other.head, snapshot);
            around.behind == own.behind
                && around.word == own.word
                && snapshot.text(Span::new(other.head, around.row.end)) == behind
        })
        .map(|(ix, other)| Fellow {
            ix,
            newest,
            caret: other.head,
        })
        .collect()
}

/// The edits at every caret that goes along, sorted, and the selections behind them.
pub(crate) fn taken(
    edits: Vec<Edit>,
    fellows: &[Fellow],
    selections: &SelectionSet,
) -> (Vec<Edit>, SelectionSet) {
    let end_of = |edits: &[Edit]| edits.last().map(|edit| edit.span.end);
    let mut ends: Vec<Option<ByteOffset>> = vec![None; selections.len()];
    ends[selections.primary_ix()] = end_of(&edits);
    let mut all = edits.clone();
    for fellow in fellows {
        let own: Vec<Edit> = edits
            .iter()
            .map(|edit| Edit {
                span: Span::new(fellow.moved(edit.span.start), fellow.moved(edit.span.end)),
                ..edit.clone()
            })
            .collect();
        ends[fellow.ix] = end_of(&own);
        all.extend(own);
    }
    all.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let after = selections
        .iter()
        .zip(ends)
        .map(|(selection, end)| match end {
            Some(end) => Selection::caret(behind(end, &all)),
            None => Selection::new(behind(selection.anchor, &all), behind(selection.head, &all)),
        });
    let after = SelectionSet::new(after.collect(), selections.primary_ix());
    (all, after)
}

/// Where a place lies after sorted edits; within and at the end of one, behind what it brought.
fn behind(offset: ByteOffset, edits: &[Edit]) -> ByteOffset {
    let mut shift = 0_isize;
    for edit in edits.iter().take_while(|edit| edit.span.start <= offset) {
        let is_inside = offset < edit.span.end;
        if is_inside {
            let start = edit.span.start.0.saturating_add_signed(shift);
            return ByteOffset(start + edit.text.len());
        }
        shift += edit.text.len() as isize - edit.span.len() as isize;
    }
    ByteOffset(offset.0.saturating_add_signed(shift))
}
