//! Forms from schemas, and validation of their values.

use serde_json::json;

use super::*;

fn form() -> ElicitationForm {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Your name", "default": "Ada", "minLength": 2 },
            "age": { "type": "integer", "minimum": 18, "default": 30 },
            "score": { "type": "number", "maximum": 1 },
            "agree": { "type": "boolean", "default": true },
            "color": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] },
            "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }], "default": "s" },
            "tags": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "default": ["a"] },
            "who": { "type": "string" }
        },
        "required": ["name", "who"]
    });
    ElicitationForm::new("Please".to_owned(), &schema)
}

fn values(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

#[test]
fn a_schema_becomes_fields_in_their_order() {
    let form = form();
    let names: Vec<_> = form
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "name", "age", "score", "agree", "color", "size", "tags", "who"
        ]
    );
    let FieldKind::One(colors) = &form.fields[4].kind else {
        panic!("{:?}", form.fields[4]);
    };
    assert_eq!(
        (colors[1].value.as_str(), colors[1].title.as_str()),
        ("g", "Green")
    );
    assert!(form.fields[0].is_required && !form.fields[1].is_required);
}

#[test]
fn missing_fields_get_defaults_and_given_values_stay() {
    let all = form().complete(values(json!({ "age": 44, "who": "me" })));
    let expected = json!({
        "age": 44, "who": "me", "name": "Ada", "agree": true, "size": "s", "tags": ["a"]
    });
    assert_eq!(Value::Object(all), expected);
}

#[test]
fn invalid_form_values_are_reported() {
    let check = |entry: Value, expected: Option<&str>| {
        let mut all = form().complete(values(json!({ "who": "me" })));
        all.extend(values(entry));
        assert_eq!(form().complaint(&all).as_deref(), expected);
    };
    check(json!({}), None);
    check(
        json!({ "name": "A" }),
        Some("Your name is too short or too long"),
    );
    check(json!({ "age": 17 }), Some("age is not a number that fits"));
    check(
        json!({ "age": 20.5 }),
        Some("age is not a number that fits"),
    );
    check(json!({ "score": "x" }), Some("score is not a number"));
    check(
        json!({ "agree": 1 }),
        Some("agree is neither true nor false"),
    );
    check(
        json!({ "color": "b" }),
        Some("color is not one of the choices"),
    );
    check(
        json!({ "tags": ["c"] }),
        Some("tags has a value that is not a choice"),
    );
    check(json!({ "who": null }), Some("who is missing"));
}

#[test]
fn any_schema_is_a_form() {
    for schema in [
        json!(null),
        json!({ "properties": 3 }),
        json!({ "properties": { "a": 1 } }),
    ] {
        let form = ElicitationForm::new(String::new(), &schema);
        assert!(
            form.fields
                .iter()
                .all(|field| matches!(field.kind, FieldKind::Text { .. }))
        );
    }
}
