//! Sequences of calls that count as loops.

use super::{CallFingerprint, LoopDetector, LoopVerdict};

/// Runs a sequence of calls. Each word is a call: a letter for tool and arguments, a digit for the
/// result, `!` for a failure. Returns the calls, from 1, at which the model was warned and the turn
/// ended.
fn check(calls: &str, warned_at: Option<usize>, ended_at: Option<usize>) {
    let mut loops = LoopDetector::default();
    let (mut warned, mut ended) = (None, None);
    for (ix, word) in calls.split_whitespace().enumerate() {
        let (call, rest) = word.split_at(1);
        let is_error = rest.ends_with('!');
        match loops.push(CallFingerprint::new("edit", call, rest, is_error)) {
            Some(LoopVerdict::Warn(_)) => warned = warned.or(Some(ix + 1)),
            Some(LoopVerdict::End(_)) => ended = ended.or(Some(ix + 1)),
            None => {}
        }
    }
    assert_eq!((warned, ended), (warned_at, ended_at), "{calls}");
}

#[test]
fn the_same_call_with_the_same_result() {
    check("a1 a1 a1", None, None);
    check("a1 a1 a1 a1", Some(4), None);
    check("a1 a1 a1 a1 a1 a1 a1 a1", Some(4), Some(8));
    // Polling with changing answers makes progress.
    check("a1 a2 a3 a4 a5 a6 a7 a8 a9", None, None);
}

#[test]
fn pairs_and_longer_rounds() {
    check("a1 b1 a1 b1 a1 b1 a1 b1", Some(8), None);
    check(&"a1 b1 ".repeat(8), Some(8), Some(16));
    check(&"a1 b1 c1 ".repeat(4), Some(12), None);
    check("a1 b1 a1 b1 a1 b1 a1 c1", None, None);
}

#[test]
fn the_same_failing_edit_with_looks_in_between() {
    check("e1! r1 e1! r2 e1!", Some(5), None);
    check("e1! r1 e1! r2 e1! r3 e1! r4 e1! r5 e1!", Some(5), Some(11));
    // A different failure each time is a new attempt.
    check("e1! r1 e2! r2 e3!", None, None);
}

#[test]
fn nothing_but_failures() {
    let calls: Vec<String> = (0..20)
        .map(|ix| format!("{}{ix}!", char::from(b'a' + ix)))
        .collect();
    check(&calls.join(" "), Some(10), Some(20));
    let calls = calls.join(" ").replace("j9!", "j9");
    check(&calls, Some(20), None);
}
