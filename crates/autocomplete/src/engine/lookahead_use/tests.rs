//! Text that is used, and text that is not.

use super::{LookaheadUse, MAX_SKIPPED};
use crate::cache::CaretText;
use crate::samples::state;

/// Returns the number of requests at `count` opportunities, whose texts are all used or all unused.
fn requested(count: u32, is_used: bool) -> u32 {
    let mut lookahead = LookaheadUse::default();
    let position = || CaretText::of(&state("", "let x = 1;ˇ"));
    let mut requested = 0;
    for _ in 0..count {
        if lookahead.is_worthwhile() {
            requested += 1;
            lookahead.requested(position());
            if is_used {
                lookahead.suggestion_used(0, position);
            }
        }
    }
    requested
}

#[test]
fn unused_text_is_only_requested_from_time_to_time() {
    assert_eq!(requested(200, true), 200);
    let tried = requested(200, false);
    assert!((200 / MAX_SKIPPED..30).contains(&tried), "{tried}");
}

#[test]
fn only_text_at_the_position_counts_as_used() {
    let mut lookahead = LookaheadUse::default();
    lookahead.requested(CaretText::of(&state("", "let x = 1;ˇ")));
    let rate = lookahead.rate;
    for text in ["elsewhere ˇ", "let x = 1; let y = 2ˇ"] {
        lookahead.suggestion_used(1, || CaretText::of(&state("", text)));
        assert!(lookahead.rate <= rate, "{text}");
    }
    lookahead.suggestion_used(1, || CaretText::of(&state("", "let x = 1; ˇ")));
    assert!(lookahead.rate > rate);
}
