//! Position of an excerpt in its source and in the combined text.

use base::{Bias, ByteOffset, Span};
use text::{Change, Edit, RowSpan, Snapshot, Splice};

/// Placement of one excerpt. Neither span contains the line ending of the last row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExcerptPlacement {
    /// Index of the source.
    pub(super) source: usize,
    /// Whole rows of the source.
    pub(super) from: Span,
    /// The corresponding span of the combined text.
    pub(super) at: Span,
}

/// Returns the span of whole rows, clipped to the text.
pub(super) fn rows(snapshot: &Snapshot, rows: RowSpan) -> Span {
    let last = snapshot.last_row();
    let start = rows.start.min(last);
    let end = if rows.end > start {
        base::Row(rows.end.0 - 1).min(last)
    } else {
        start
    };
    Span::new(snapshot.row_start(start), snapshot.row_end(end))
}

impl ExcerptPlacement {
    /// Maps the placement through a change of the source. Returns whether its rows were touched.
    pub(super) fn follow_source(&mut self, change: &Change, now: &Snapshot) -> bool {
        let is_touched = change
            .splices
            .iter()
            .any(|splice| splice.old.start <= self.from.end && self.from.start <= splice.old.end);
        self.from = mapped_span(change, self.from);
        if is_touched {
            self.clip_source(now);
        }
        is_touched
    }

    /// Extends the placement to whole rows of the current text.
    pub(super) fn clip_source(&mut self, now: &Snapshot) {
        let start = now.clip(self.from.start, Bias::Left);
        let end = now.clip(self.from.end, Bias::Right).max(start);
        let (first, last) = (now.point_at(start).row, now.point_at(end).row);
        self.from = Span::new(now.row_start(first), now.row_end(last));
    }

    /// Maps the placement through an edit of the combined text.
    pub(super) fn follow_shown(&mut self, change: &Change) {
        self.at = mapped_span(change, self.at);
    }
}

/// Maps a span through a change; insertions at its ends are included.
fn mapped_span(change: &Change, span: Span) -> Span {
    let start = change.map(span.start, Bias::Left);
    let end = change.map(span.end, Bias::Right);
    Span::new(start, end.max(start))
}

/// Effect of an edit of the combined text on a source.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MappedEdit {
    /// The same edit in one source.
    Within(usize, Edit),
    /// The last rows of an excerpt were deleted with the following line break: the source loses the
    /// preceding line break instead.
    WholeRow(usize, Edit),
    /// The edit spans several excerpts.
    Across,
}

/// Maps a splice of the combined text, which inserted `text`, to a source. `places` are the
/// placements before it.
pub(super) fn carry(
    places: &[ExcerptPlacement],
    splice: &Splice,
    text: &str,
    snapshot: impl Fn(&ExcerptPlacement) -> Snapshot,
) -> MappedEdit {
    let index = places.partition_point(|place| place.at.start <= splice.old.start);
    let Some(place) = index.checked_sub(1).map(|index| &places[index]) else {
        return MappedEdit::Across;
    };
    let there = |offset: ByteOffset| place.from.start + (offset - place.at.start);
    if splice.old.end <= place.at.end {
        let span = Span::new(there(splice.old.start), there(splice.old.end));
        return MappedEdit::Within(place.source, Edit::new(span, text));
    }
    let snapshot = snapshot(place);
    let start = snapshot.clip(there(splice.old.start), Bias::Left);
    let row = snapshot.point_at(start).row;
    let is_row = snapshot.row_start(row) == start && start > place.from.start;
    if text.is_empty() && splice.old.end == place.at.end + 1 && is_row {
        let before = snapshot.row_end(base::Row(row.0 - 1));
        let span = Span::new(before, place.from.end);
        return MappedEdit::WholeRow(place.source, Edit::new(span, ""));
    }
    MappedEdit::Across
}

/// Returns the edits that turn `actual`, with excerpts at `before`, into `wanted`, with excerpts at
/// `after`: per excerpt if only excerpts differ, else everything between the first and the last
/// difference.
pub(super) fn differing(
    before: &[ExcerptPlacement],
    after: &[ExcerptPlacement],
    actual: &str,
    wanted: &str,
) -> Vec<Edit> {
    if actual == wanted {
        return Vec::new();
    }
    let mut next = 0;
    let mut is_apart = before.len() == after.len();
    let mut edits = Vec::new();
    for (ix, (old, new)) in before.iter().zip(after).enumerate() {
        let expected = next + usize::from(ix > 0);
        let (Some(here), Some(there)) = (
            actual.get(old.at.start.0..old.at.end.0),
            wanted.get(new.at.start.0..new.at.end.0),
        ) else {
            is_apart = false;
            break;
        };
        is_apart &= old.at.start.0 == expected;
        is_apart &= ix == 0 || actual.get(next..expected) == Some("\n");
        next = old.at.end.0;
        edits.extend(minimal_edit(old.at.start.0, here, there));
    }
    if is_apart && next == actual.len() {
        edits
    } else {
        minimal_edit(0, actual, wanted).into_iter().collect()
    }
}

/// Returns the smallest edit at `offset` that turns one text into another.
fn minimal_edit(offset: usize, actual: &str, wanted: &str) -> Option<Edit> {
    if actual == wanted {
        return None;
    }
    let same = actual
        .char_indices()
        .zip(wanted.chars())
        .find(|((_, here), there)| here != there);
    let start = same.map_or(actual.len().min(wanted.len()), |((at, _), _)| at);
    let (here, there) = (&actual[start..], &wanted[start..]);
    let tail: usize = here
        .chars()
        .rev()
        .zip(there.chars().rev())
        .take_while(|(here, there)| here == there)
        .map(|(char, _)| char.len_utf8())
        .sum();
    let span = Span::new(
        ByteOffset(offset + start),
        ByteOffset(offset + actual.len() - tail),
    );
    Some(Edit::new(span, &there[..there.len() - tail]))
}

#[cfg(test)]
mod tests {
    use base::{ByteOffset, Span};

    use super::minimal_edit;

    #[test]
    fn the_shortest_edit_is_found() {
        let check = |actual: &str, wanted: &str, span: Option<(usize, usize, &str)>| {
            let edit = minimal_edit(2, actual, wanted);
            let found = edit.map(|edit| (edit.span, edit.text.to_string()));
            let expected = span.map(|(start, end, text)| {
                (
                    Span::new(ByteOffset(start), ByteOffset(end)),
                    text.to_owned(),
                )
            });
            assert_eq!(found, expected, "{actual:?} {wanted:?}");
        };
        check("abc", "abc", None);
        check("abc", "abXc", Some((4, 4, "X")));
        check("aäc", "aöc", Some((3, 5, "ö")));
        check("aa", "aaa", Some((4, 4, "a")));
        check("", "x", Some((2, 2, "x")));
        check("x", "", Some((2, 3, "")));
    }
}
