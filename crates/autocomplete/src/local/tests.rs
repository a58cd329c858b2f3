//! The local tier as a whole.

use base::ByteOffset;

use super::story::Story;
use super::{LocalPredictor, SuggestionOutcome, TableError};
use crate::{AcceptGranularity, SuggestionSource};

const CONTINUATION: SuggestionSource = SuggestionSource::Continuation;

#[test]
fn outcomes_of_unknown_suggestions_are_ignored() {
    let mut story = Story::new("Python", "alpha(1)\nalpha(2)\nalpha(3)\n");
    story.change(0, "alpha", 0, "beta");
    story.change(0, "alpha", 0, "beta");
    let suggestion = story
        .suggestions(0)
        .into_iter()
        .next()
        .expect("an suggestion");
    let mut other = LocalPredictor::new();
    let before = other.to_json().expect("numbers");
    other.record_outcome(suggestion.id, SuggestionOutcome::Dismissed);
    assert_eq!(other.to_json().expect("numbers"), before);
}

#[test]
fn outcomes_are_learned_and_restored() {
    let mut story = Story::new(
        "Rust",
        "fn k() {\n    remaining_bytes();\n    other();\n    rema|\n}\n",
    );
    let suggestion = story
        .suggestions(0)
        .into_iter()
        .next()
        .expect("an suggestion");
    assert_eq!(suggestion.source, SuggestionSource::Continuation);
    let first = story.local.threshold(&CONTINUATION);
    for _ in 0..200 {
        story
            .local
            .record_outcome(suggestion.id, SuggestionOutcome::TypedOver);
    }
    assert!(story.local.threshold(&CONTINUATION) > first);
    assert_eq!(story.suggestions(0), []);
    let mut next = LocalPredictor::new();
    assert!(next.restore_json(&story.local.to_json().expect("numbers")));
    assert_eq!(
        next.threshold(&CONTINUATION),
        story.local.threshold(&CONTINUATION)
    );
    for _ in 0..400 {
        story.local.record_outcome(
            suggestion.id,
            SuggestionOutcome::Accepted(AcceptGranularity::All),
        );
    }
    assert!(!story.suggestions(0).is_empty());
    assert!(!next.restore_json("no json"));
    assert_eq!(next.threshold(&CONTINUATION), first);
}

#[test]
fn without_tables_edits_are_still_propagated() {
    let mut story = Story::new("Python", "alpha(1)\nalpha(2)\nalpha(3)\n");
    story.local.set_tables(Err(TableError::Damaged));
    story.change(0, "alpha", 0, "beta");
    story.change(0, "alpha", 0, "beta");
    let suggestions = story.suggestions(0);
    assert!(!suggestions.is_empty());
    assert!(suggestions.iter().all(|it| it.source != CONTINUATION));
    assert_eq!(story.local.table_error(), Some(TableError::Damaged));
    assert_eq!(LocalPredictor::new().table_error(), None);
}

#[test]
fn a_task_is_pending_until_done_and_after_changes() {
    let mut story = Story::new("Rust", "enum E { A }\n");
    let state = story.state(0);
    assert!(
        story
            .local
            .background_task(std::slice::from_ref(&state))
            .is_some()
    );
    story.work();
    assert!(story.local.background_task(&[state]).is_none());
    story.type_behind(0, "A", 0, "b");
    assert!(story.local.background_task(&[story.state(0)]).is_some());
}

#[test]
fn results_for_an_older_text_are_not_used() {
    let mut story = Story::new("Python", "alpha(1)\nalpha(2)\nalpha(3)\n");
    story.change(0, "alpha", 0, "beta");
    story.change(0, "alpha", 0, "beta");
    let task = story
        .local
        .background_task(&[story.state(0)])
        .expect("a search");
    story.type_at(0, 0, "# ");
    story.local.finish(task.run());
    // Every suggestion is held against the text of now in `suggestions`.
    story.suggestions(0);
}

#[test]
fn random_histories_give_applicable_suggestions() {
    let text = "fn f(alpha: u8) {\n    let größe = alpha(alpha, \"alpha\");\n    g(alpha);\n}\n";
    for seed in 1..30_u64 {
        let mut story = Story::new("Rust", &text.repeat(3));
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % bound.max(1) as u64) as usize
        };
        for _ in 0..25 {
            let now = story.text(0);
            match below(6) {
                0 => story.change(0, "alpha", 0, "beta"),
                1 => {
                    let mut at = below(now.len());
                    while !now.is_char_boundary(at) {
                        at -= 1;
                    }
                    story.type_at(0, at, ["x", "(ü)", "\n", "\"", "alpha"][below(5)]);
                }
                2 => story.work(),
                3 if now.contains("g(") => story.change(0, "g(", 0, "h(1, "),
                4 => {
                    let suggestion = story.suggestions(0).into_iter().next();
                    if let Some(suggestion) = suggestion {
                        story.accept(0, &suggestion);
                    }
                }
                _ => story.undo(0),
            }
            story.suggestions(0);
            if !story.text(0).contains("alpha") {
                break;
            }
        }
        assert!(
            story.state(0).caret <= ByteOffset(story.text(0).len()),
            "seed {seed}"
        );
    }
}
