//! Calls are told apart, complete before they end, and never changed behind the reader's back.

use crate::wire::tests::{conversation, request, show};

use super::*;

fn run(steps: impl FnOnce(&mut Calls, &mut Vec<Event>)) -> String {
    let mut asked = request();
    asked.messages = conversation("{}", None);
    let mut calls = Calls::new(&asked);
    let mut out = Vec::new();
    steps(&mut calls, &mut out);
    show(&out)
}

#[test]
fn ids_are_unique_in_the_conversation() {
    let shown = run(|calls, out| {
        for id in ["call_b", "x", "x", "", ""] {
            calls.start(id, "read", Form::Json, out);
        }
    });
    let ids: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.split(' ').nth(2))
        .collect();
    assert_eq!(ids, ["call_b_2", "x", "x_2", "call_1", "call_2"]);
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    let shown = run(|calls, out| {
        let index = calls.start("x", "read", Form::Json, out);
        calls.end(index, out);
        calls.end(index, out);
        calls.fragment(index, "late", out);
    });
    assert_eq!(shown, "call 0 x read\nargs 0 \"{}\"\nend 0\n");
}

#[test]
fn the_whole_adds_what_is_missing_and_nothing_twice() {
    let shown = run(|calls, out| {
        let index = calls.start("x", "read", Form::Json, out);
        calls.fragment(index, r#"{"path":"#, out);
        assert_eq!(calls.whole(index, r#"{"path":"a"}"#, out), Ok(()));
        calls.end(index, out);
        let index = calls.start("y", "read", Form::Json, out);
        calls.fragment(index, r#"{"path":"b"#, out);
        assert_eq!(
            calls.whole(index, r#"{"path":"a"}"#, out),
            Err(Contradiction)
        );
    });
    let expected = "call 0 x read\nargs 0 \"{\\\"path\\\":\"\nargs 0 \"\\\"a\\\"}\"\nend 0\n\
                    call 1 y read\nargs 1 \"{\\\"path\\\":\\\"b\"\n";
    assert_eq!(shown, expected);
}

#[test]
fn what_the_limit_cut_does_not_end() {
    let cut = |reason, name| {
        run(|calls, out| {
            let index = calls.start("x", name, Form::Json, out);
            calls.fragment(index, r#"{"input":"half"#, out);
            calls.end(index, out);
            if calls.close(reason, out).is_err() {
                out.push(Event::TextDelta("contradiction".to_owned()));
            }
        })
    };
    assert!(!cut(StopReason::MaxTokens, "read").contains("end 0"));
    assert!(!cut(StopReason::MaxTokens, "patch").contains("end 0"));
    // JSON that is cut is seen to be wrong by its tool; text is not.
    assert!(cut(StopReason::ToolUse, "read").contains("end 0"));
    assert!(cut(StopReason::ToolUse, "patch").contains("contradiction"));
}

#[test]
fn text_comes_out_of_its_wrapping() {
    let shown = run(|calls, out| {
        let index = calls.start("x", "patch", Form::Json, out);
        calls.fragment(index, r#"{"input":"a\n"#, out);
        calls.fragment(index, r#"b"}"#, out);
        calls.end(index, out);
        let index = calls.start("y", "patch", Form::Text, out);
        calls.fragment(index, "as {it is", out);
        calls.end(index, out);
    });
    let expected = "call 0 x patch\nargs 0 \"a\\n\"\nargs 0 \"b\"\nend 0\n\
                    call 1 y patch\nargs 1 \"as {it is\"\nend 1\n";
    assert_eq!(shown, expected);
}
