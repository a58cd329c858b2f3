//! Tests of bodies without their rejected members.

use serde_json::json;

use super::*;

fn check(body: &Value, omit: &[&str], expected: &Value) {
    let omit: Vec<String> = omit.iter().map(|name| (*name).to_owned()).collect();
    let left = without(body.to_string().as_bytes(), &omit);
    let left: Value = serde_json::from_slice(&left).expect("JSON");
    assert_eq!(left, *expected, "{omit:?}");
}

#[test]
fn rejected_members_are_removed_everywhere() {
    let body = json!({
        "model": "m", "temperature": 0.2,
        "output_config": { "effort": "high" },
        "system": [{ "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } }],
        "tools": [{ "name": "t", "eager_input_streaming": true, "input_schema": { "type": "object" } }],
    });
    check(
        &body,
        &[
            "effort",
            "temperature",
            "cache_control",
            "eager_input_streaming",
        ],
        &json!({
            "model": "m",
            "system": [{ "type": "text", "text": "a" }],
            "tools": [{ "name": "t", "input_schema": { "type": "object" } }],
        }),
    );
}

#[test]
fn names_inside_schemas_and_arguments_remain() {
    let body = json!({
        "tools": [{ "name": "t", "input_schema": { "properties": { "temperature": {} } } }],
        "messages": [{ "content": [{ "type": "tool_use", "input": { "temperature": 1 } }] }],
        "input": [{ "type": "function_call", "arguments": "{\"temperature\":1}" }],
    });
    check(&body, &["temperature"], &body);
}

#[test]
fn essential_members_are_never_removed() {
    let body = json!({ "model": "m", "messages": [], "stream": true });
    check(&body, &["model", "messages", "stream"], &body);
}
