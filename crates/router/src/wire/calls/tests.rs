//! Tests that calls are distinguished, complete before they end, and never changed after they were
//! emitted.

use crate::wire::tests::{conversation, request, show};

use super::*;

fn run(steps: impl FnOnce(&mut ToolCalls, &mut Vec<StreamEvent>)) -> String {
    let mut asked = request();
    asked.messages = conversation("{}", None);
    let mut calls = ToolCalls::new(&asked);
    let mut out = Vec::new();
    steps(&mut calls, &mut out);
    show(&out)
}

#[test]
fn ids_are_unique_in_the_conversation() {
    let shown = run(|calls, out| {
        for id in ["call_b", "x", "x", "", ""] {
            calls.start(id, "read", ArgumentForm::Json, out);
        }
    });
    let ids: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.split(' ').nth(2))
        .collect();
    assert_eq!(ids, ["call_b_2", "x", "x_2", "call_1", "call_2"]);
}

#[test]
fn call_without_arguments_gets_an_empty_object() {
    let shown = run(|calls, out| {
        let index = calls.start("x", "read", ArgumentForm::Json, out);
        calls.finish_call(index, out);
        calls.finish_call(index, out);
        calls.fragment(index, "late", out);
    });
    assert_eq!(shown, "call 0 x read\nargs 0 \"{}\"\nend 0\n");
}

#[test]
fn complete_arguments_add_only_the_missing_rest() {
    let shown = run(|calls, out| {
        let index = calls.start("x", "read", ArgumentForm::Json, out);
        calls.fragment(index, r#"{"path":"#, out);
        assert_eq!(calls.set_arguments(index, r#"{"path":"a"}"#, out), Ok(()));
        calls.finish_call(index, out);
        let index = calls.start("y", "read", ArgumentForm::Json, out);
        calls.fragment(index, r#"{"path":"b"#, out);
        assert_eq!(
            calls.set_arguments(index, r#"{"path":"a"}"#, out),
            Err(Contradiction)
        );
    });
    let expected = "call 0 x read\nargs 0 \"{\\\"path\\\":\"\nargs 0 \"\\\"a\\\"}\"\nend 0\n\
                    call 1 y read\nargs 1 \"{\\\"path\\\":\\\"b\"\n";
    assert_eq!(shown, expected);
}

#[test]
fn truncated_call_does_not_end() {
    let cut = |reason, name| {
        run(|calls, out| {
            let index = calls.start("x", name, ArgumentForm::Json, out);
            calls.fragment(index, r#"{"input":"half"#, out);
            calls.finish_call(index, out);
            if calls.close(reason, out).is_err() {
                out.push(StreamEvent::TextDelta("contradiction".to_owned()));
            }
        })
    };
    assert!(!cut(StopReason::MaxTokens, "read").contains("end 0"));
    assert!(!cut(StopReason::MaxTokens, "patch").contains("end 0"));
    // A tool detects truncated JSON, but not truncated text.
    assert!(cut(StopReason::ToolUse, "read").contains("end 0"));
    assert!(cut(StopReason::ToolUse, "patch").contains("contradiction"));
}

#[test]
fn text_is_unwrapped() {
    let shown = run(|calls, out| {
        let index = calls.start("x", "patch", ArgumentForm::Json, out);
        calls.fragment(index, r#"{"input":"a\n"#, out);
        calls.fragment(index, r#"b"}"#, out);
        calls.finish_call(index, out);
        let index = calls.start("y", "patch", ArgumentForm::Text, out);
        calls.fragment(index, "as {it is", out);
        calls.finish_call(index, out);
    });
    let expected = "call 0 x patch\nargs 0 \"a\\n\"\nargs 0 \"b\"\nend 0\n\
                    call 1 y patch\nargs 1 \"as {it is\"\nend 1\n";
    assert_eq!(shown, expected);
}
