//! Schemas as servers write them, and their normalized forms.

use super::*;

fn check(written: &Value, expected: &Value) {
    assert_eq!(normalized(written).as_ref(), Ok(expected), "{written}");
}

fn check_bad(written: &Value, why: &str) {
    let refused = normalized(written).expect_err("it is refused");
    assert!(refused.to_string().contains(why), "{written}: {refused}");
}

#[test]
fn a_plain_schema_stays_as_it_is() {
    let plain = json!({
        "type": "object",
        "properties": { "a": { "type": ["string", "null"], "description": "A." } },
        "required": ["a"],
        "additionalProperties": false,
    });
    check(&plain, &plain);
}

#[test]
fn what_is_missing_is_added() {
    let empty = json!({ "type": "object", "properties": {} });
    check(&json!({}), &empty);
    check(&Value::Null, &empty);
    check(&json!(true), &empty);
    check(
        &json!({ "$schema": "x", "type": ["object", "null"] }),
        &empty,
    );
    check(
        &json!({ "properties": { "a": true, "b": { "type": "array" } }, "required": ["a", "a", "c", 1] }),
        &json!({
            "properties": { "a": {}, "b": { "type": "array", "items": {} } },
            "required": ["a"],
            "type": "object",
        }),
    );
}

#[test]
fn combinations_at_the_top_become_one_object() {
    let one = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a", "c"] });
    let two = json!({ "properties": { "b": { "type": "number" }, "c": {} }, "required": ["c"] });
    for name in ["anyOf", "oneOf"] {
        let found =
            normalized(&json!({ name: [one, two, { "type": "string" }] })).expect("an object");
        assert_eq!(found["type"], "object");
        assert_eq!(found.get(name), None);
        let names: Vec<&String> = found["properties"]
            .as_object()
            .expect("names")
            .keys()
            .collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(found["required"], json!(["c"]));
    }
    let all = normalized(&json!({ "type": "object", "allOf": [one, two] })).expect("an object");
    assert_eq!(all["required"], json!(["a", "c"]));
    assert_eq!(all.get("allOf"), None);
    let other = json!({ "anyOf": [
        { "properties": { "a": { "type": "string" } } },
        { "properties": { "a": { "type": "number" } } },
    ] });
    let found = normalized(&other).expect("an object");
    let both = json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] });
    assert_eq!(found["properties"]["a"], both);
}

#[test]
fn references_at_the_top_are_followed() {
    let defined = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/B" } }, "required": ["a"] });
    let found = normalized(&json!({
        "$ref": "#/$defs/A",
        "$defs": { "A": defined, "B": { "type": "string" } },
    }))
    .expect("an object");
    assert_eq!(found["required"], json!(["a"]));
    assert_eq!(found["properties"]["a"], json!({ "$ref": "#/$defs/B" }));
    assert_eq!(found["$defs"]["B"], json!({ "type": "string" }));
    // Nested dangling references accept anything.
    let lost =
        json!({ "properties": { "a": { "$ref": "#/$defs/C" }, "b": { "$ref": "http://x/y" } } });
    let found = normalized(&lost).expect("an object");
    assert_eq!(found["properties"], json!({ "a": {}, "b": {} }));
}

#[test]
fn unknown_types_accept_anything() {
    let found = normalized(
        &json!({ "properties": { "a": { "type": "str" }, "b": { "type": ["int", "null"] } } }),
    );
    let properties = found.expect("an object")["properties"].clone();
    assert_eq!(properties, json!({ "a": {}, "b": { "type": ["null"] } }));
}

#[test]
fn non_object_schema_is_refused_with_its_reason() {
    check_bad(&json!("x"), "is a text, not an object");
    check_bad(&json!([1]), "is a list, not an object");
    check_bad(
        &json!({ "type": "string" }),
        "describes \"string\", not an object",
    );
    check_bad(
        &json!({ "type": "object", "properties": [1] }),
        "`properties` that are not an object",
    );
    check_bad(
        &json!({ "properties": { "a": "string" } }),
        "contains a text where a schema is expected",
    );
    check_bad(
        &json!({ "$ref": "#/$defs/A" }),
        "refers to #/$defs/A, which does not exist",
    );
    check_bad(
        &json!({ "$ref": "#/$defs/A", "$defs": { "A": { "$ref": "#/$defs/A" } } }),
        "refers to itself",
    );
    check_bad(
        &json!({ "anyOf": [{ "type": "string" }] }),
        "no alternative that is an object",
    );
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "properties": { "a": deep } });
    }
    check_bad(&deep, "nested too deep");
}
