//! Continuations that are used, and ones that are not.

use super::{ContinuationUse, MAX_SKIPPED};
use crate::cache::CaretText;
use crate::samples::state;

/// Requests worthwhile continuations among `count` opportunities; each is used or none is.
fn requested(count: u32, is_used: bool) -> u32 {
    let mut continuations = ContinuationUse::default();
    let position = || CaretText::of(&state("", "let x = 1;ˇ"));
    let mut requested = 0;
    for _ in 0..count {
        if continuations.is_worthwhile() {
            requested += 1;
            continuations.requested(position());
            if is_used {
                continuations.suggestion_used(0, position);
            }
        }
    }
    requested
}

#[test]
fn unused_continuations_are_only_tried_from_time_to_time() {
    assert_eq!(requested(200, true), 200);
    let tried = requested(200, false);
    assert!((200 / MAX_SKIPPED..30).contains(&tried), "{tried}");
}

#[test]
fn only_text_at_the_position_counts_as_used() {
    let mut continuations = ContinuationUse::default();
    continuations.requested(CaretText::of(&state("", "let x = 1;ˇ")));
    let rate = continuations.rate;
    for text in ["elsewhere ˇ", "let x = 1; let y = 2ˇ"] {
        continuations.suggestion_used(1, || CaretText::of(&state("", text)));
        assert!(continuations.rate <= rate, "{text}");
    }
    continuations.suggestion_used(1, || CaretText::of(&state("", "let x = 1; ˇ")));
    assert!(continuations.rate > rate);
}
