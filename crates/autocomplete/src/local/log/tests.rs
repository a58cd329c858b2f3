//! Keystrokes that become logged edits, reduced to the tokens that differ.

use super::EditLog;
use crate::local::story::Story;

/// The logged edits as `old -> new`, and their pieces.
fn logged(log: &EditLog) -> Vec<(String, Vec<String>)> {
    let bare = |tokens: &[super::LoggedToken]| -> String {
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_ref()).collect();
        texts.join(" ")
    };
    log.edits()
        .iter()
        .map(|edit| {
            let pieces = edit.pieces.iter().filter_map(|piece| piece.frames.first());
            let pieces =
                pieces.map(|frame| format!("{} -> {}", bare(&frame.old), bare(&frame.new)));
            (format!("{} -> {}", edit.old, edit.new), pieces.collect())
        })
        .collect()
}

fn check(story: &Story, expected: &[(&str, &[&str])]) {
    let logged = logged(story.local.log());
    let logged: Vec<(&str, Vec<&str>)> = logged
        .iter()
        .map(|(edit, pieces)| (edit.as_str(), pieces.iter().map(String::as_str).collect()))
        .collect();
    let expected: Vec<(&str, Vec<&str>)> = expected
        .iter()
        .map(|(edit, pieces)| (*edit, pieces.to_vec()))
        .collect();
    assert_eq!(logged, expected);
}

#[test]
fn keystrokes_at_one_place_form_one_word_edit() {
    let mut story = Story::new("Rust", "fn main() { let foo = 1; }");
    story.type_behind(0, "let fo", 0, "xo");
    check(&story, &[("foo -> foxoo", &["foo -> foxoo"])]);
}

#[test]
fn an_edit_elsewhere_or_after_a_pause_is_another_one() {
    let mut story = Story::new("Rust", "fn main() { a(b); }\n\nfn other() { c(d); }");
    story.change(0, "b", 0, "x");
    story.change(0, "d", 0, "y");
    check(&story, &[("b -> x", &["b -> x"]), ("d -> y", &["d -> y"])]);
}

#[test]
fn wrapping_a_call_or_repeating_changes_is_one_edit() {
    let mut story = Story::new("Rust", "fn main() { a(b); }\n\nfn other() { c(d, d); }");
    story.type_behind(0, "a(", 0, "Some(");
    let behind = story.text(0).find("b)").expect("b") + 1;
    story.type_at(0, behind, ")");
    check(&story, &[("b -> Some(b)", &["b -> Some ( b )"])]);
    story.change(0, "d", 0, "e");
    let second = story.text(0).find("d)").expect("d");
    story.type_at(0, second + 1, "e");
    story.type_at(0, second + 2, "x");
    assert_eq!(
        story.text(0).lines().last(),
        Some("fn other() { c(e, dex); }")
    );
}

#[test]
fn typed_and_deleted_text_is_no_edit() {
    let mut story = Story::new("Rust", "fn main() {}");
    story.type_behind(0, "main() {", 0, "x");
    story.erase(0, "x");
    assert!(story.local.log().open_edit().is_none());
}

#[test]
fn edits_follow_the_text_and_record_their_undo() {
    let mut story = Story::new("Rust", "fn main() { a(b); }\n\nfn other() { c(d); }");
    story.change(0, "d", 0, "y");
    story.change(0, "a", 1, "before");
    let logged = story.local.log().edits();
    assert_eq!(logged.len(), 2);
    let text = story.text(0);
    for edit in &logged {
        assert_eq!(&text[edit.span.range()], &*edit.new);
    }
    for _ in 0.."before".len() + 1 {
        story.undo(0);
    }
    let undone: Vec<bool> = story
        .local
        .log()
        .edits()
        .iter()
        .map(|it| it.is_undone)
        .collect();
    assert_eq!(undone, [false, true]);
}

#[test]
fn the_log_forgets_the_oldest_edits() {
    let mut story = Story::new("Rust", &"x\n".repeat(200));
    for row in 0..100 {
        story.change(0, "x\n", row, "yy\n");
    }
    assert_eq!(story.local.log().closed().count(), super::MAX_EDITS);
}
