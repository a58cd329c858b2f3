//! Remainders of accepted text.

use std::time::Duration;

use base::Span;
use text::{Buffer, EditOrigin, Timestamp};

use super::KeepTracker;
use crate::engine::TabEvent;
use crate::{SuggestionId, SuggestionSource};

/// Takes `taken` at the end of `text`, makes the edits, and tells what is kept ten seconds later.
fn check(taken: &str, edits: &[(std::ops::Range<usize>, &str)], expected: usize) {
    let mut buffer = Buffer::new("one ");
    let mut keeping = KeepTracker::default();
    let origin = EditOrigin::user(Timestamp(0));
    let change = buffer.replace(Span::from(4..4), taken, &origin);
    let what = (SuggestionId(1), &SuggestionSource::Continuation);
    keeping.record_accepted(what, None, &change, Duration::ZERO);
    assert_eq!(keeping.next(), Some(Duration::from_secs(10)));
    for (span, new) in edits {
        let change = buffer.replace(Span::from(span.clone()), new, &origin);
        keeping.edited(None, &change);
    }
    assert!(keeping.due(Duration::from_secs(9)).is_empty());
    let told = keeping.due(Duration::from_secs(10));
    let [TabEvent::Kept { bytes, kept, .. }] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!((*bytes, *kept), (taken.len(), expected));
    assert_eq!(keeping.due(Duration::from_secs(30)).len(), 1);
    assert_eq!(keeping.next(), None);
}

#[test]
fn edited_spans_are_not_kept() {
    check("two three", &[], 9);
    check("two three", &[(0..0, "zero ")], 9);
    check("two three", &[(13..13, " four")], 9);
    check("two three", &[(4..8, "")], 5);
    check("two three", &[(6..9, "xyz")], 6);
    check("two three", &[(7..7, "!")], 9);
    check("two three", &[(7..7, "!"), (4..9, "")], 5);
    check("two three", &[(0..13, "")], 0);
}
