//! Values for schemas.

use serde_json::{Value, json};

use super::satisfy;

fn check(schema: Value, expected: Value) {
    assert_eq!(satisfy(&schema, "text"), expected);
}

#[test]
fn values_satisfy_their_schemas() {
    check(json!({ "type": "string" }), json!("text"));
    check(json!({ "type": "STRING", "maxLength": 2 }), json!("te"));
    check(json!({ "type": "string", "minLength": 6 }), json!("text--"));
    check(
        json!({ "type": ["null", "integer"], "minimum": 3 }),
        json!(3),
    );
    check(json!({ "type": "number", "maximum": -2 }), json!(-2.0));
    check(
        json!({ "type": "integer", "exclusiveMinimum": 4 }),
        json!(5),
    );
    check(json!({ "enum": ["a", "b"] }), json!("a"));
    check(json!({ "const": 7 }), json!(7));
    check(json!({ "type": "boolean" }), json!(false));
    check(
        json!({ "type": "array", "items": { "type": "boolean" }, "minItems": 2 }),
        json!([false, false]),
    );
    check(
        json!({ "anyOf": [{ "type": "null" }, { "type": "string" }] }),
        Value::Null,
    );
}

#[test]
fn objects_contain_required_members() {
    check(
        json!({
            "properties": { "a": { "$ref": "#/$defs/b" }, "c": { "type": "string" } },
            "required": ["a"],
            "$defs": { "b": { "allOf": [
                { "properties": { "x": { "type": "integer" } } }, { "properties": { "y": { "type": "null" } } },
            ] } },
        }),
        json!({ "a": { "x": 0, "y": null } }),
    );
}

#[test]
fn recursive_schema_terminates() {
    let schema = json!({ "properties": { "next": { "$ref": "#" } }, "required": ["next"] });
    assert!(satisfy(&schema, "").is_object());
}
