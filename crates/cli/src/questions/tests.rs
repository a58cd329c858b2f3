//! The text that a user sees before a yes counts.

use base::{LineFeeds, printable};

use super::{Questions, TerminalQuestion};
use crate::tests::hostile_lines;

/// Pages through a question; returns the shown text and the number of lines typed before yes
/// counted.
fn approve(details: &str) -> (String, usize) {
    let (mut questions, mut out) = (Questions::new(), Vec::new());
    let question = TerminalQuestion::approval(details, "Allow? ".to_owned());
    questions.ask((), question, &mut out);
    let typed = (1..10_000).find(|_| questions.answer("y", &mut out).is_some());
    let shown = String::from_utf8(out).expect("text");
    (shown, typed.expect("an answer"))
}

/// Joins the foreign lines of a question.
fn told(shown: &str) -> String {
    let rows = shown.lines().filter_map(|row| row.strip_prefix("  │ "));
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_shown_equals_what_runs() {
    for line in hostile_lines() {
        let (shown, _) = approve(&line);
        let expected = printable(&line, LineFeeds::Keep);
        // A line longer than a page continues on the next one.
        assert_eq!(
            told(&shown).replace('\n', ""),
            expected.replace('\n', ""),
            "{line:?}"
        );
        let is_clean = |char: char| char == '\n' || char == '\t' || !char.is_control();
        assert!(shown.chars().all(is_clean), "{shown:?}");
        assert!(shown.ends_with("Allow? "), "{line:?}");
    }
}

#[test]
fn yes_counts_only_behind_the_end() {
    let rows = |count: usize| vec!["echo fine"; count].join("\n");
    for (details, typed) in [
        ("ls".to_owned(), 1),
        (rows(20), 1),
        (rows(21), 2),
        (rows(100), 5),
        (format!("ls{}; rm victim.txt", " ".repeat(200)), 1),
        (format!("ls{}; rm victim.txt", " ".repeat(3000)), 2),
        (format!("ls{}; rm victim.txt", "\t".repeat(400)), 3),
    ] {
        let (shown, count) = approve(&details);
        assert_eq!(count, typed, "{details:?}: {shown}");
    }
    let (shown, _) = approve(&rows(21));
    assert!(shown.contains("\n  1 more line: press Enter"), "{shown}");
}

#[test]
fn a_refusal_needs_no_reading() {
    for line in ["n", "NO"] {
        let (mut questions, mut out) = (Questions::new(), Vec::new());
        let question = TerminalQuestion::approval(&"x\n".repeat(100), String::new());
        questions.ask(7, question, &mut out);
        assert_eq!(questions.answer(line, &mut out), Some(7));
    }
}

#[test]
fn long_free_text_question_is_shown_in_full() {
    let (mut questions, mut out) = (Questions::new(), Vec::new());
    questions.ask((), TerminalQuestion::free_text("Which?: "), &mut out);
    assert_eq!(questions.answer("this", &mut out), Some(()));
    let text = format!("may `{}rm victim.txt` run?", "true\n".repeat(30));
    questions.ask((), TerminalQuestion::free_text(&text), &mut out);
    assert_eq!(questions.answer("Allow once", &mut out), None);
    assert_eq!(questions.answer("Allow once", &mut out), Some(()));
    let shown = String::from_utf8(out).expect("text");
    assert!(shown.contains("  │ rm victim.txt` run?\n"), "{shown}");
}

#[test]
fn questions_are_shown_one_after_the_other() {
    let (mut questions, mut out) = (Questions::new(), Vec::new());
    for number in [1, 2, 3] {
        let question =
            TerminalQuestion::approval(&format!("command {number}"), "Allow? ".to_owned());
        questions.ask(number, question, &mut out);
    }
    let shown = |out: &mut Vec<u8>| String::from_utf8(std::mem::take(out)).expect("text");
    assert_eq!(shown(&mut out), "\n  │ command 1\nAllow? ");
    assert_eq!(questions.answer("y", &mut out), Some(1));
    assert_eq!(shown(&mut out), "\n  │ command 2\nAllow? ");
    questions.retain(|number| *number != 2, &mut out);
    assert_eq!(shown(&mut out), "\n  │ command 3\nAllow? ");
    questions.retain(|number| *number != 2, &mut out);
    assert_eq!(shown(&mut out), "");
    assert_eq!(questions.answer("y", &mut out), Some(3));
    assert_eq!(questions.answer("y", &mut out), None);
}
