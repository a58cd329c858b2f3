//! Tests undoing of caret moves.

use base::{ByteOffset, Span};
use text::{Buffer, EditOrigin, Selection, SelectionSet, Timestamp};

use super::{CaretHistory, LIMIT};

fn caret(at: usize) -> SelectionSet {
    SelectionSet::single(Selection::caret(ByteOffset(at)))
}

#[test]
fn back_and_forth() {
    let mut buffer = Buffer::new("abcdef");
    let mut history = CaretHistory::new();
    history.record(buffer.revision(), &caret(1));
    history.record(buffer.revision(), &caret(1));
    history.record(buffer.revision(), &caret(3));
    buffer.replace(
        Span::at(ByteOffset(0)),
        "xx",
        &EditOrigin::user(Timestamp(0)),
    );
    let revision = buffer.revision();
    let since = |from| buffer.changes_since(from);
    assert_eq!(history.undo(revision, &caret(6), since), Some(caret(5)));
    assert_eq!(history.undo(revision, &caret(5), since), Some(caret(3)));
    assert_eq!(history.undo(revision, &caret(3), since), None);
    assert_eq!(history.redo(revision, &caret(3), since), Some(caret(5)));
    assert_eq!(history.redo(revision, &caret(5), since), Some(caret(6)));
    assert_eq!(history.redo(revision, &caret(6), since), None);
    assert_eq!(history.undo(revision, &caret(6), |_| None), Some(caret(5)));
    history.record(revision, &caret(0));
    assert_eq!(history.redo(revision, &caret(0), since), None);
}

#[test]
fn forgotten_revisions_are_passed_over() {
    let mut buffer = Buffer::new("abc");
    let mut history = CaretHistory::new();
    history.record(buffer.revision(), &caret(1));
    buffer.replace(
        Span::at(ByteOffset(0)),
        "x",
        &EditOrigin::user(Timestamp(0)),
    );
    assert_eq!(history.undo(buffer.revision(), &caret(0), |_| None), None);
    for at in 0..LIMIT + 50 {
        history.record(buffer.revision(), &caret(at % 2));
    }
    assert_eq!(history.past.len(), LIMIT);
}
