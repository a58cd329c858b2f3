//! A validator for the part of JSON Schema that the protocol's schema uses.

use agent_client_protocol::v1::schema as v1;
use rmcp::schemars::{JsonSchema, schema_for};
use serde_json::Value;

use crate::error::Error;

/// Validates a message of an agent against the schema of its method. `asked` maps the id of a
/// request to its method.
///
/// # Errors
///
/// `Error::Invalid` with the first violation.
pub fn check_message(
    message: &Value,
    asked: &dyn Fn(&Value) -> Option<String>,
) -> Result<(), Error> {
    if message["jsonrpc"] != "2.0" {
        return invalid(format!("{message} does not say that it is JSON-RPC 2.0"));
    }
    match message.get("method").and_then(Value::as_str) {
        Some("session/update") => check::<v1::SessionNotification>(&message["params"]),
        Some("session/request_permission") => {
            check::<v1::RequestPermissionRequest>(&message["params"])
        }
        Some("fs/read_text_file") => check::<v1::ReadTextFileRequest>(&message["params"]),
        Some("fs/write_text_file") => check::<v1::WriteTextFileRequest>(&message["params"]),
        Some(other) => invalid(format!("{other} is not expected")),
        None if message.get("error").is_some() => check::<v1::Error>(&message["error"]),
        None => {
            let result = &message["result"];
            match asked(&message["id"]).as_deref() {
                Some("initialize") => check::<v1::InitializeResponse>(result),
                Some("session/new") => check::<v1::NewSessionResponse>(result),
                Some("session/load") => check::<v1::LoadSessionResponse>(result),
                Some("session/resume") => check::<v1::ResumeSessionResponse>(result),
                Some("session/list") => check::<v1::ListSessionsResponse>(result),
                Some("session/close") => check::<v1::CloseSessionResponse>(result),
                Some("session/prompt") => check::<v1::PromptResponse>(result),
                Some("session/set_mode") => check::<v1::SetSessionModeResponse>(result),
                Some("session/set_config_option") => {
                    check::<v1::SetSessionConfigOptionResponse>(result)
                }
                other => invalid(format!("an answer to {other:?} is not expected: {message}")),
            }
        }
    }
}

/// Checks a value against the schema of `T`; fails with the reason if it does not fit.
fn check<T: JsonSchema>(value: &Value) -> Result<(), Error> {
    let schema = serde_json::to_value(schema_for!(T));
    let schema = schema.map_err(|error| Error::Invalid(error.to_string()))?;
    fits(value, &schema, &schema).map_err(|why| {
        Error::Invalid(format!(
            "{value:#} is not a valid {}: {why}",
            T::schema_name()
        ))
    })
}

/// Checks a value against a schema, whose references lead into `whole`. Fails with the first rule
/// that it breaks; ignores unknown rules.
fn fits(value: &Value, schema: &Value, whole: &Value) -> Result<(), Error> {
    let Value::Object(rules) = schema else {
        return match schema {
            Value::Bool(false) => invalid("no value is allowed here"),
            _ => Ok(()),
        };
    };
    for (rule, required) in rules {
        match rule.as_str() {
            "$ref" => {
                let pointer = required.as_str().and_then(|it| it.strip_prefix('#'));
                let target = pointer.and_then(|it| whole.pointer(it));
                let target =
                    target.ok_or_else(|| Error::Invalid(format!("the schema lacks {required}")))?;
                fits(value, target, whole)?;
            }
            "type" => is_of(value, required)?,
            "const" if value != required => return invalid(format!("{value} is not {required}")),
            "enum" if !list(required).contains(value) => {
                return invalid(format!("{value} is not one of {required}"));
            }
            "allOf" => list(required)
                .iter()
                .try_for_each(|it| fits(value, it, whole))?,
            "anyOf" | "oneOf" => {
                let tried: Vec<_> = list(required)
                    .iter()
                    .map(|it| fits(value, it, whole))
                    .collect();
                let taken = tried.iter().filter(|it| it.is_ok()).count();
                if taken == 0 || (rule == "oneOf" && taken > 1) {
                    return invalid(format!("{taken} of {rule} accept {value}: {tried:?}"));
                }
            }
            "required" => {
                let missing = |it: &&Value| value.get(it.as_str().unwrap_or("")).is_none();
                if let (Value::Object(_), Some(name)) = (value, list(required).iter().find(missing))
                {
                    return invalid(format!("{name} is missing"));
                }
            }
            "properties" => {
                for (name, rule) in required.as_object().into_iter().flatten() {
                    if let Some(inner) = value.get(name) {
                        fits(inner, rule, whole)
                            .map_err(|why| Error::Invalid(format!("{name}: {why}")))?;
                    }
                }
            }
            "items" => {
                for inner in value.as_array().into_iter().flatten() {
                    fits(inner, required, whole)?;
                }
            }
            "minimum" if value.as_f64() < required.as_f64() && value.is_number() => {
                return invalid(format!("{value} is below {required}"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn invalid(text: impl Into<String>) -> Result<(), Error> {
    Err(Error::Invalid(text.into()))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Checks the type of a value against a type name or a list of them.
fn is_of(value: &Value, required: &Value) -> Result<(), Error> {
    let is = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => false,
    };
    let found = match required {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    found
        .then_some(())
        .ok_or_else(|| Error::Invalid(format!("{value} is not of type {required}")))
}

#[test]
fn validator_detects_violations() {
    use serde_json::json;
    let schema = json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "$ref": "#/$defs/A" }, "b": { "oneOf": [{ "const": 1 }, { "type": "string" }] } },
        "$defs": { "A": { "type": ["integer", "null"], "minimum": 2 } }
    });
    let is_taken = |value: Value| fits(&value, &schema, &schema).is_ok();
    assert!(is_taken(json!({ "a": 2, "b": "x" })));
    assert!(is_taken(json!({ "a": null, "b": 1, "c": [] })));
    for wrong in [
        json!([]),
        json!({}),
        json!({ "a": 1 }),
        json!({ "a": "x" }),
        json!({ "a": 2, "b": 2 }),
    ] {
        assert!(!is_taken(wrong.clone()), "{wrong} was taken");
    }
}
