//! Suggestions with several carets: which carets receive the same edit as the newest, and their
//! positions afterwards.
//!
//! A caret participates if it has the same word before it and the same text after it in its row.

use autocomplete::Suggestion;
use base::{ByteOffset, Span};
use text::{Edit, Selection, SelectionSet, Snapshot};

/// Maximum bytes compared after the caret; longer rows count as different.
const MAX_BYTES_AFTER: usize = 4_096;

/// If there are more carets, only the newest receives the edit.
const MAX_CARETS: usize = 500;

/// A further caret at which the suggestion of the newest caret applies too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtraCaret {
    /// Index of the selection.
    ix: usize,
    newest: ByteOffset,
    caret: ByteOffset,
}

impl ExtraCaret {
    /// Returns the offset relative to this caret that corresponds to `offset` at the newest.
    pub(crate) fn moved(&self, offset: ByteOffset) -> ByteOffset {
        ByteOffset(
            self.caret
                .0
                .saturating_add_signed(offset.0 as isize - self.newest.0 as isize),
        )
    }

    /// Updates the caret after the selections moved; their order is unchanged.
    pub(crate) fn follow_carets(&mut self, selections: &SelectionSet) {
        self.newest = selections.primary().head;
        let own = selections.iter().nth(self.ix);
        self.caret = own.map_or(self.caret, |own| own.head);
    }
}

/// Text around a caret in its row.
struct CaretContext {
    word: String,
    row: Span,
    behind: usize,
}

impl CaretContext {
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

/// Returns the other carets that receive the same edit as the newest caret, because the text around
/// them is the same. Returns an empty list if the edit extends beyond the row of the newest caret.
pub(crate) fn extra_carets(
    suggestion: &Suggestion,
    snapshot: &Snapshot,
    selections: &SelectionSet,
) -> Vec<ExtraCaret> {
    let newest = selections.primary().head;
    let own = CaretContext::of(newest, snapshot);
    let is_mere = |selection: &Selection| selection.is_empty();
    let reach = Span::new(ByteOffset(newest.0 - own.word.len()), own.row.end);
    let is_near = suggestion.edits.iter().all(|edit| reach.covers(edit.span));
    let is_few = (2..=MAX_CARETS).contains(&selections.len());
    if !is_few || !is_near || own.behind > MAX_BYTES_AFTER || !selections.iter().all(is_mere) {
        return Vec::new();
    }
    let behind = snapshot.text(Span::new(newest, own.row.end));
    let others = selections
        .iter()
        .enumerate()
        .filter(|(_, other)| other.head != newest);
    others
        .filter(|(_, other)| {
            let around = CaretContext::of(other.head, snapshot);
            around.behind == own.behind
                && around.word == own.word
                && snapshot.text(Span::new(other.head, around.row.end)) == behind
        })
        .map(|(ix, other)| ExtraCaret {
            ix,
            newest,
            caret: other.head,
        })
        .collect()
}

/// Returns the edits at all participating carets, sorted, and the selections after them.
pub(crate) fn accepted_edits(
    edits: Vec<Edit>,
    extra_carets: &[ExtraCaret],
    selections: &SelectionSet,
) -> (Vec<Edit>, SelectionSet) {
    let end_of = |edits: &[Edit]| edits.last().map(|edit| edit.span.end);
    let mut ends: Vec<Option<ByteOffset>> = vec![None; selections.len()];
    ends[selections.primary_ix()] = end_of(&edits);
    let mut all = edits.clone();
    for extra in extra_carets {
        let own: Vec<Edit> = edits
            .iter()
            .map(|edit| Edit {
                span: Span::new(extra.moved(edit.span.start), extra.moved(edit.span.end)),
                ..edit.clone()
            })
            .collect();
        ends[extra.ix] = end_of(&own);
        all.extend(own);
    }
    all.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let after = selections
        .iter()
        .zip(ends)
        .map(|(selection, end)| match end {
            Some(end) => Selection::caret(offset_after(end, &all)),
            None => Selection::new(
                offset_after(selection.anchor, &all),
                offset_after(selection.head, &all),
            ),
        });
    let after = SelectionSet::new(after.collect(), selections.primary_ix());
    (all, after)
}

/// Maps an offset through sorted edits; an offset within or at the end of an edit moves after its
/// inserted text.
fn offset_after(offset: ByteOffset, edits: &[Edit]) -> ByteOffset {
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
