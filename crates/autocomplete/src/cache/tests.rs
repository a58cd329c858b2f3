//! Cached completions at their caret and after their beginning was typed.

use model::ModelId;

use super::{CaretText, CompletionCache, MAX_BYTES, MAX_COMPLETIONS};
use crate::samples::state;

fn model() -> ModelId {
    ModelId::parse("local/tab").expect("a name")
}

fn place(text: &str) -> CaretText {
    CaretText::of(&state("", text))
}

fn check(asked: &str, answer: &str, now: &str, expected: &[&str]) {
    let mut cache = CompletionCache::default();
    cache.insert(place(asked), model(), answer.to_owned());
    assert_eq!(cache.find(&place(now), &model()), expected, "{now}");
    let other = ModelId::parse("local/other").expect("a name");
    assert!(cache.find(&place(now), &other).is_empty());
}

#[test]
fn completion_matches_its_caret_and_its_typed_prefix() {
    check("let ˇ;", "größe = 1", "let ˇ;", &["größe = 1"]);
    check("let ˇ;", "größe = 1", "let größeˇ;", &[" = 1"]);
    check("let ˇ;", "größe = 1", "let größe = 1ˇ;", &[]);
    check("let ˇ;", "größe = 1", "let gräˇ;", &[]);
    check("let ˇ;", "größe = 1", "let g ˇ;", &[]);
    check("let ˇ;", "größe = 1", "letˇ;", &[]);
    check("let ˇ;", "größe = 1", "let ˇ", &[]);
    check("let ˇ;", "größe = 1", "let ˇ;x", &[]);
    check("let ˇ;", "größe = 1", "xlet ˇ;", &[]);
}

#[test]
fn inserted_closer_does_not_miss_the_cache() {
    check("fˇ;", "(a, b)", "f(ˇ);", &["a, b)"]);
    check("fˇ;", "(a, b)", "f(aˇ);", &[", b)"]);
    check("fˇ;", "(a, b)", "f(ˇx);", &[]);
}

#[test]
fn cache_compares_only_text_near_the_caret() {
    let long = "0123456789".repeat(200);
    check(
        &format!("{long}ˇ{long}"),
        "abc",
        &format!("{long}aˇ{long}"),
        &["bc"],
    );
    check(
        &format!("{long}ˇ{long}"),
        "abc",
        &format!("{long}aˇ9{long}"),
        &[],
    );
}

#[test]
fn empty_completion_matches_only_its_exact_caret() {
    check("let ˇ;", "", "let ˇ;", &[""]);
    check("let ˇ;", "", "let xˇ;", &[]);
}

#[test]
fn cache_is_bounded_and_keeps_the_latest_used() {
    let mut cache = CompletionCache::default();
    cache.insert(place("keep ˇ"), model(), "me".to_owned());
    for at in 0..MAX_COMPLETIONS * 2 {
        cache.insert(place(&format!("{at} ˇ")), model(), "x".to_owned());
        cache.find(&place("keep ˇ"), &model());
    }
    assert_eq!(cache.completions.len(), MAX_COMPLETIONS);
    assert_eq!(cache.find(&place("keep ˇ"), &model()), ["me"]);
    for at in 0..100 {
        let text = format!("{at}{}", "y".repeat(20_000));
        cache.insert(place("big ˇ"), model(), text);
    }
    assert!(cache.bytes <= MAX_BYTES);
    let bytes: usize = cache.completions.iter().map(|it| it.text.len()).sum();
    assert_eq!(cache.bytes, bytes);
}
