//! Accepted arguments, and the errors reported for rejected ones.

use model::ToolInput;
use serde_json::{Value, json};

use super::{nearest, read};
use crate::tool::CallInput;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "limit": { "type": "integer", "minimum": 1, "maximum": 500 },
            "mode": { "enum": ["fast", "slow"] },
            "edits": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/edit" } },
            "at": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": { "edit": { "type": "object", "required": ["old"], "properties": { "old": { "type": "string" } } } },
    })
}

fn check(arguments: &str, expect: Result<Value, &str>) {
    let read = read(&ToolInput::Json(schema()), arguments);
    match (read, expect) {
        (Ok((CallInput::Json(value), _)), Ok(wanted)) => assert_eq!(value, wanted, "{arguments}"),
        (Err(error), Err(part)) => {
            let sentence = error.to_string();
            assert!(sentence.contains(part), "{arguments}: {sentence}");
        }
        (read, _) => panic!("{arguments}: {read:?}"),
    }
}

#[test]
fn valid_arguments_are_accepted() {
    check(r#"{"path":"a"}"#, Ok(json!({ "path": "a" })));
    check(r#"{"path":"a","limit":null}"#, Ok(json!({ "path": "a" })));
    check(
        r#"{"path":"a","limit":5.0,"at":"x"}"#,
        Ok(json!({ "path": "a", "limit": 5.0, "at": "x" })),
    );
    check(
        r#"{"path":"a","wait_for_previous":true}"#,
        Ok(json!({ "path": "a" })),
    );
}

#[test]
fn invalid_arguments_are_named_in_the_error() {
    check("", Err("`path` is missing"));
    check(
        r#"{"path":null}"#,
        Err("`path` must be string, and is null"),
    );
    check(
        r#"{"path":""}"#,
        Err("the length of `path` must be at least 1"),
    );
    check(
        r#"{"path":"a","limit":900}"#,
        Err("`limit` must be at most 500, and is 900"),
    );
    check(
        r#"{"path":"a","limit":1.5}"#,
        Err("`limit` must be integer"),
    );
    check(
        r#"{"path":"a","mode":"mid"}"#,
        Err(r#"`mode` must be one of "fast", "slow""#),
    );
    check(
        r#"{"path":"a","file":"b"}"#,
        Err("there is no `file`; there are path, limit"),
    );
    check(
        r#"{"path":"a","edits":[]}"#,
        Err("the number of items of `edits` must be at least 1"),
    );
    check(
        r#"{"path":"a","edits":[{"old":1}]}"#,
        Err("`edits[0].old` must be string"),
    );
    check(r#"{"path":"a","at":[]}"#, Err("`at` matches none"));
    check("[1]", Err("must be a JSON object, and are an array"));
    check(r#"{"path":"a""#, Err("not valid JSON"));
    check(r#"{"path": oops}"#, Err("near `{\"path\": oops}`"));
}

#[test]
fn wait_argument_is_removed_and_reported() {
    let waits = |text: &str| {
        read(&ToolInput::Json(schema()), text)
            .map(|(_, waits)| waits)
            .ok()
    };
    assert_eq!(
        waits(r#"{"path":"a","wait_for_previous":true}"#),
        Some(true)
    );
    assert_eq!(
        waits(r#"{"path":"a","wait_for_previous":false}"#),
        Some(false)
    );
}

#[test]
fn free_text_is_passed_unparsed() {
    let read = read(&ToolInput::Text { grammar: None }, "*** Begin");
    assert_eq!(
        read.ok(),
        Some((CallInput::Text("*** Begin".to_owned()), false))
    );
}

#[test]
fn nearest_names_are_sorted_by_distance() {
    let names = ["read", "edit", "exec_command", "grep", "list"];
    assert_eq!(nearest("red", names)[0], "read");
    assert_eq!(nearest("Exec", names)[0], "exec_command");
    assert_eq!(nearest("read_file", names)[0], "read");
}
