//! Places and values of a JSONC tree.

use super::{NodeValue, SourceText, parse};

fn origin(text: &str) -> SourceText<'_> {
    SourceText::new("test.json", text)
}

#[test]
fn members_know_their_place() {
    let text = "// head\n{\n  \"a\": [1, 2.5, null], // tail\n  \"é\": \"x\",\n}\n";
    let node = parse(&origin(text)).unwrap().unwrap();
    let members = node.as_object().unwrap();
    assert_eq!(members[0].key, "a");
    assert_eq!(&text[members[0].key_span.clone()], "\"a\"");
    assert_eq!(&text[members[0].value.span.clone()], "[1, 2.5, null]");
    assert_eq!(&text[members[1].value.span.clone()], "\"x\"");
    assert_eq!(
        members[0].value.to_json(),
        serde_json::json!([1, 2.5, null])
    );
    assert!(matches!(members[1].value.value, NodeValue::String(_)));
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(parse(&origin("")).unwrap(), None);
    assert_eq!(parse(&origin(" // only words\n")).unwrap(), None);
}

#[test]
fn syntax_errors_have_a_place() {
    for (text, line, column) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9),
        ("{ \"a\" 1 }", 1, 7),
        ("{\n  \"a\": tru\n}", 2, 8),
        ("{\n  'a': 1\n}", 2, 3),
        ("{} {}", 1, 4),
    ] {
        let problem = parse(&origin(text)).unwrap_err();
        assert_eq!(
            (problem.line, problem.column),
            (line, column),
            "{text:?} gave {problem}"
        );
        assert!(!problem.message.is_empty());
    }
}

#[test]
fn deep_nesting_is_a_problem_and_not_a_crash() {
    let text = "[".repeat(100_000);
    assert!(parse(&origin(&text)).is_err());
}
