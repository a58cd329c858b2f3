//! The authors of the lines of a text, such as those that a blame finds. They follow edits; an edited line has none.
//!
//! Invariant: an edit costs the same however many lines have authors.
//! Invariant: a row has an author only while it has the text for which that author was found.

use std::sync::Arc;

use base::{Bias, Row, Span};
use gpui_kit::{Context, SharedString};
use text::{Change, PlacedMark, RowSpan, Snapshot, SpanMark, SpanSet};

use super::{DocumentModel, ModelEvent};

/// The author of lines, as a view shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct LineAuthor {
    /// The author's name.
    pub name: SharedString,
    /// The time since the change, in words.
    pub age: SharedString,
    /// The text behind the line with the caret.
    pub inline: SharedString,
    /// The whole description, on several lines.
    pub description: SharedString,
    /// The age as a part of all ages, from 0, now, to 1.
    pub share: f32,
    /// The number with which a click is reported.
    pub key: usize,
}

/// The authors of a document's lines.
#[derive(Default)]
pub(super) struct LineAuthors {
    lines: SpanSet<AuthoredLine>,
    next_rank: usize,
    is_complete: bool,
}

/// The author of one row; its span is the row without the line ending.
#[derive(Clone, Debug)]
struct AuthoredLine {
    rank: usize,
    author: Arc<LineAuthor>,
}

impl SpanMark for AuthoredLine {
    type Rank = usize;
    const STAYS_EMPTY: bool = true;

    fn rank(&self) -> usize {
        self.rank
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

impl LineAuthors {
    /// Moves the lines with a change that leads to `after`, and drops those that it edits.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot) {
        follow(&mut self.lines, change, after);
    }
}

fn follow(lines: &mut SpanSet<AuthoredLine>, change: &Change, after: &Snapshot) {
    if lines.is_empty() || change.is_empty() {
        return;
    }
    let mut edited = Vec::new();
    for splice in &change.splices {
        let touched = lines.touching(splice.old).into_iter();
        edited.extend(touched.filter(|line| is_edited(line.span, splice.old)));
    }
    remove(lines, edited);
    lines.map(change);
    let mut broken = Vec::new();
    for splice in &change.splices {
        let touched = lines.touching(splice.new).into_iter();
        broken.extend(touched.filter(|line| !is_whole_row(line.span, after)));
    }
    remove(lines, broken);
}

/// Removes marks, which may occur several times.
fn remove(lines: &mut SpanSet<AuthoredLine>, mut marks: Vec<PlacedMark<AuthoredLine>>) {
    marks.sort_by_key(|placed| placed.mark.rank);
    marks.dedup_by_key(|placed| placed.mark.rank);
    lines.remove(&marks);
}

/// Returns whether replacing `old` changes the text inside of a line. Text beside it is judged after the change.
fn is_edited(line: Span, old: Span) -> bool {
    if old.is_empty() {
        line.start < old.start && old.start < line.end
    } else {
        old.start < line.end && line.start < old.end
    }
}

fn is_whole_row(span: Span, snapshot: &Snapshot) -> bool {
    let row = snapshot.point_at(span.start).row;
    snapshot.row_span(row) == span
}

impl DocumentModel {
    /// Adds the authors of rows of `snapshot`, an earlier text of this document. Rows that were edited since then get
    /// none; nothing changes if the edits since then are no longer known.
    pub fn add_line_authors(
        &mut self,
        snapshot: &Snapshot,
        rows: &[(RowSpan, Arc<LineAuthor>)],
        cx: &mut Context<Self>,
    ) {
        let Some(since) = self.document.buffer().changes_since(snapshot.revision()) else {
            return;
        };
        let mut added = SpanSet::new();
        let mut marks = Vec::new();
        for (span, author) in rows {
            let end = span.end.0.min(snapshot.row_count());
            for row in span.start.0..end {
                let rank = self.line_authors.next_rank;
                self.line_authors.next_rank += 1;
                let author = author.clone();
                marks.push(PlacedMark {
                    span: snapshot.row_span(Row(row)),
                    mark: AuthoredLine { rank, author },
                });
            }
        }
        added.insert(marks);
        follow(&mut added, &since, &self.document.snapshot());
        self.line_authors.lines.insert(added.all());
        cx.emit(ModelEvent::GutterMarksUpdated);
        cx.notify();
    }

    /// Removes all authors, before others are added.
    pub fn clear_line_authors(&mut self, cx: &mut Context<Self>) {
        if self.line_authors.lines.is_empty() && !self.line_authors.is_complete {
            return;
        }
        let next_rank = self.line_authors.next_rank;
        self.line_authors = LineAuthors {
            next_rank,
            ..LineAuthors::default()
        };
        cx.emit(ModelEvent::GutterMarksUpdated);
        cx.notify();
    }

    /// Notes that every line whose author is known has one: the others are not committed.
    pub fn complete_line_authors(&mut self, cx: &mut Context<Self>) {
        self.line_authors.is_complete = true;
        cx.emit(ModelEvent::GutterMarksUpdated);
        cx.notify();
    }

    /// Returns the author of a row; `None` if the row was edited, is not committed, or its author is not known yet.
    pub fn line_author(&self, row: Row) -> Option<Arc<LineAuthor>> {
        let span = self.document.snapshot().row_span(row);
        let found = self.line_authors.lines.touching(span).into_iter();
        let mut found = found.filter(|placed| placed.span == span);
        found.next().map(|placed| placed.mark.author)
    }

    /// Returns whether lines have authors, so that the gutter has a column for them.
    pub(crate) fn has_line_authors(&self) -> bool {
        !self.line_authors.lines.is_empty()
    }

    /// Returns whether rows without an author are not committed.
    pub(crate) fn has_all_line_authors(&self) -> bool {
        self.line_authors.is_complete
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::{ByteOffset, Row, Span};
    use text::{Buffer, Edit, EditOrigin, PlacedMark, Snapshot, SpanSet, Timestamp};

    use super::{AuthoredLine, LineAuthor, follow};

    /// Gives each row an author whose key is the row.
    fn authored(snapshot: &Snapshot) -> SpanSet<AuthoredLine> {
        let author = |key: usize| {
            Arc::new(LineAuthor {
                name: "Ann".into(),
                age: "now".into(),
                inline: "Ann".into(),
                description: "Ann".into(),
                share: 0.0,
                key,
            })
        };
        let marks = (0..snapshot.row_count()).map(|row| PlacedMark {
            span: snapshot.row_span(Row(row)),
            mark: AuthoredLine {
                rank: row as usize,
                author: author(row as usize),
            },
        });
        let mut lines = SpanSet::new();
        lines.insert(marks.collect());
        lines
    }

    /// Edits a text, and returns the key of each row afterwards.
    fn carried(text: &str, edits: &[(usize, usize, &str)]) -> Vec<Option<usize>> {
        let mut buffer = Buffer::new(text);
        let mut lines = authored(&buffer.snapshot());
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(start, end, text)| {
                Edit::new(Span::new(ByteOffset(*start), ByteOffset(*end)), *text)
            })
            .collect();
        let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        let after = buffer.snapshot();
        follow(&mut lines, &change, &after);
        let key = |row: u32| {
            let span = after.row_span(Row(row));
            let found = lines.touching(span).into_iter();
            let mut found = found.filter(|line| line.span == span);
            found.next().map(|line| line.mark.author.key)
        };
        (0..after.row_count()).map(key).collect()
    }

    #[test]
    fn an_edited_line_loses_its_author() {
        let text = "one\ntwo\nthree";
        // Inside, at the end and at the start of the second line.
        for edit in [
            (5, 5, "x"),
            (7, 7, "x"),
            (4, 4, "x"),
            (5, 6, ""),
            (6, 7, ""),
        ] {
            let expected = [Some(0), None, Some(2)];
            assert_eq!(carried(text, &[edit]), expected, "{edit:?}");
        }
    }

    #[test]
    fn new_lines_have_none_and_the_others_keep_theirs() {
        let text = "one\ntwo\nthree";
        let below = [Some(0), None, Some(1), Some(2)];
        assert_eq!(carried(text, &[(3, 3, "\nnew")]), below);
        assert_eq!(carried(text, &[(4, 4, "new\n")]), below);
        let both = [None, Some(0), Some(1), None, Some(2)];
        assert_eq!(carried(text, &[(0, 0, "a\n"), (7, 7, "\nb")]), both);
    }

    #[test]
    fn removed_lines_take_their_authors_away() {
        let text = "one\ntwo\nthree";
        assert_eq!(carried(text, &[(4, 8, "")]), [Some(0), Some(2)]);
        // Two lines are joined.
        assert_eq!(carried(text, &[(3, 4, "")]), [None, Some(2)]);
        assert_eq!(carried(text, &[(0, 13, "")]), [None]);
    }
}
