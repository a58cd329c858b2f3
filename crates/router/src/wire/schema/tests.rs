//! Tests of schema quirks.

use serde_json::json;

use super::*;

fn check(quirk: SchemaQuirk, schema: Value, expected: Value) {
    assert_eq!(adapted(&schema, &[quirk]), expected);
}

#[test]
fn each_quirk() {
    check(
        SchemaQuirk::InlineRefs,
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": "string" } } }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
    );
    check(
        SchemaQuirk::NoAnyOf,
        json!({ "description": "d", "anyOf": [{ "type": "string" }, { "type": "null" }] }),
        json!({ "description": "d", "type": "string" }),
    );
    check(
        SchemaQuirk::NoFormat,
        json!({ "type": "string", "description": "A day", "format": "date", "maxLength": 10 }),
        json!({ "type": "string", "description": "A day (format: \"date\", maxLength: 10)" }),
    );
    // A property may have the name of a schema keyword.
    check(
        SchemaQuirk::NoDefault,
        json!({ "type": "object", "properties": { "default": { "type": "string", "default": "x" } } }),
        json!({ "type": "object", "properties": { "default": { "type": "string" } } }),
    );
    check(
        SchemaQuirk::NoAdditionalProperties,
        json!({ "type": "array", "items": { "type": "object", "additionalProperties": false } }),
        json!({ "type": "array", "items": { "type": "object" } }),
    );
}

#[test]
fn strict_schemas_require_everything() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": "integer" },
            "kind": { "enum": ["a"], "type": "string" },
        },
        "required": ["path"],
    });
    let strict = adapted(&schema, &[SchemaQuirk::Strict]);
    let expected = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": ["integer", "null"] },
            "kind": { "enum": ["a", null], "type": ["string", "null"] },
        },
        "required": ["path", "line", "kind"],
        "additionalProperties": false,
    });
    assert_eq!(strict, expected);
    assert!(is_strict(&strict));
    assert!(!is_strict(&schema));
    // Strict mode is impossible with a free-form object.
    let free = json!({ "type": "object", "properties": { "any": { "type": "object" } }, "required": ["any"] });
    assert!(!is_strict(&adapted(&free, &[SchemaQuirk::Strict])));
}

#[test]
fn recursive_schema_terminates() {
    let schema = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } } } } });
    let text = adapted(&schema, &[SchemaQuirk::InlineRefs]).to_string();
    assert!(!text.contains("$ref"));
    assert!(text.len() < 2000);
}
