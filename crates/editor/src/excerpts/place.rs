//! Where an excerpt stands: its rows in the source, and in the text that shows it.

use base::{Bias, ByteOffset, Span};
use text::{Change, Edit, RowSpan, Snapshot, Splice};

/// One excerpt. Neither span holds the line ending of its last row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Which source.
    pub(super) source: usize,
    /// Whole rows of the source.
    pub(super) from: Span,
    /// The same in the shown text.
    pub(super) at: Span,
}

/// The span of whole rows, clipped into the text.
pub(super) fn rows(snapshot: &Snapshot, rows: RowSpan) -> Span {
    let last = snapshot.last_row();
    let start = rows.start.min(last);
    let end = match rows.end > start {
        true => base::Row(rows.end.0 - 1).min(last),
        false => start,
    };
    Span::new(snapshot.row_start(start), snapshot.row_end(end))
}

impl Place {
    /// Follows a change of the source; whether it touched these rows.
    pub(super) fn follow_source(&mut self, change: &Change, now: &Snapshot) -> bool {
        let is_touched = change
            .splices
            .iter()
            .any(|splice| splice.old.start <= self.from.end && self.from.start <= splice.old.end);
        self.from = grown(change, self.from);
        if is_touched {
            self.clip_source(now);
        }
        is_touched
    }

    /// Makes it whole rows of the text as it is now.
    pub(super) fn clip_source(&mut self, now: &Snapshot) {
        let start = now.clip(self.from.start, Bias::Left);
        let end = now.clip(self.from.end, Bias::Right).max(start);
        let (first, last) = (now.point_at(start).row, now.point_at(end).row);
        self.from = Span::new(now.row_start(first), now.row_end(last));
    }

    /// Follows an edit of the shown text.
    pub(super) fn follow_shown(&mut self, change: &Change) {
        self.at = grown(change, self.at);
    }
}

/// Where a span lies after a change; what was inserted at its ends belongs to it.
fn grown(change: &Change, span: Span) -> Span {
    let start = change.map(span.start, Bias::Left);
    let end = change.map(span.end, Bias::Right);
    Span::new(start, end.max(start))
}

/// What an edit of the shown text means for a source.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// The same edit there.
    Within(usize, Edit),
    /// The last rows of an excerpt went together with the break behind them: in the source, the break before them goes.
    WholeRow(usize, Edit),
    /// It crosses from one excerpt to another.
    Across,
}

/// Says what a splice of the shown text, which put `text` there, means. `places` lie where they did before it.
pub(super) fn carry(
    places: &[Place],
    splice: &Splice,
    text: &str,
    snapshot: impl Fn(&Place) -> Snapshot,
) -> Carried {
    let index = places.partition_point(|place| place.at.start <= splice.old.start);
    let Some(place) = index.checked_sub(1).map(|index| &places[index]) else {
        return Carried::Across;
    };
    let there = |offset: ByteOffset| place.from.start + (offset - place.at.start);
    if splice.old.end <= place.at.end {
        let span = Span::new(there(splice.old.start), there(splice.old.end));
        return Carried::Within(place.source, Edit::new(span, text));
    }
    let snapshot = snapshot(place);
    let start = snapshot.clip(there(splice.old.start), Bias::Left);
    let row = snapshot.point_at(start).row;
    let is_row = snapshot.row_start(row) == start && start > place.from.start;
    if text.is_empty() && splice.old.end == place.at.end + 1 && is_row {
        let before = snapshot.row_end(base::Row(row.0 - 1));
        let span = Span::new(before, place.from.end);
        return Carried::WholeRow(place.source, Edit::new(span, ""));
    }
    Carried::Across
}

/// The edits that make `actual`, where excerpts lie at `before`, into `wanted`, where they lie at `after`: each excerpt
/// for itself where only excerpts differ, else all that lies between the first and the last difference.
pub(super) fn differing(
    before: &[Place],
    after: &[Place],
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
        edits.extend(trimmed(old.at.start.0, here, there));
    }
    match is_apart && next == actual.len() {
        true => edits,
        false => trimmed(0, actual, wanted).into_iter().collect(),
    }
}

/// The shortest edit at `offset` that makes one text into another.
fn trimmed(offset: usize, actual: &str, wanted: &str) -> Option<Edit> {
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

    use super::trimmed;

    #[test]
    fn the_shortest_edit_is_found() {
        let check = |actual: &str, wanted: &str, span: Option<(usize, usize, &str)>| {
            let edit = trimmed(2, actual, wanted);
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
