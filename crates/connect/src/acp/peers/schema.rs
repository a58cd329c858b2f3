//! A validator for the part of JSON Schema that the protocol's schema uses.

use agent_client_protocol::v1::schema as v1;
use rmcp::schemars::{JsonSchema, schema_for};
use serde_json::Value;

/// Validates a message of an agent against the schema of its method. `asked` maps the id of a
/// request to its method.
///
/// # Errors
///
/// The first violation, as a sentence.
pub fn check_message(
    message: &Value,
    asked: &dyn Fn(&Value) -> Option<String>,
) -> Result<(), String> {
    if message["jsonrpc"] != "2.0" {
        return Err(format!("{message} does not say that it is JSON-RPC 2.0"));
    }
    match message.get("method").and_then(Value::as_str) {
        Some("session/update") => check::<v1::SessionNotification>(&message["params"]),
        Some("session/request_permission") => {
            check::<v1::RequestPermissionRequest>(&message["params"])
        }
        Some("fs/read_text_file") => check::<v1::ReadTextFileRequest>(&message["params"]),
        Some("fs/write_text_file") => check::<v1::WriteTextFileRequest>(&message["params"]),
        Some(other) => Err(format!("{other} is not expected")),
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
                other => Err(format!("an answer to {other:?} is not expected: {message}")),
            }
        }
    }
}

fn check<T: JsonSchema>(value: &Value) -> Result<(), String> {
    let schema = serde_json::to_value(schema_for!(T)).map_err(|error| error.to_string())?;
    fits(value, &schema, &schema)
        .map_err(|why| format!("{value:#} is no {}: {why}", T::schema_name()))
}

fn fits(value: &Value, schema: &Value, whole: &Value) -> Result<(), String> {
    let Value::Object(rules) = schema else {
        return match schema {
            Value::Bool(false) => Err("nothing is taken here".to_owned()),
            _ => Ok(()),
        };
    };
    for (rule, wanted) in rules {
        match rule.as_str() {
            "$ref" => {
                let pointer = wanted.as_str().and_then(|it| it.strip_prefix('#'));
                let target = pointer.and_then(|it| whole.pointer(it));
                let target = target.ok_or_else(|| format!("the schema lacks {wanted}"))?;
                fits(value, target, whole)?;
            }
            "type" => is_of(value, wanted)?,
            "const" if value != wanted => return Err(format!("{value} is not {wanted}")),
            "enum" if !list(wanted).contains(value) => {
                return Err(format!("{value} is none of {wanted}"));
            }
            "allOf" => list(wanted)
                .iter()
                .try_for_each(|it| fits(value, it, whole))?,
            "anyOf" | "oneOf" => {
                let tried: Vec<_> = list(wanted)
                    .iter()
                    .map(|it| fits(value, it, whole))
                    .collect();
                let taken = tried.iter().filter(|it| it.is_ok()).count();
                if taken == 0 || (rule == "oneOf" && taken > 1) {
                    return Err(format!("{taken} of {rule} take {value}: {tried:?}"));
                }
            }
            "required" => {
                let missing = |it: &&Value| value.get(it.as_str().unwrap_or("")).is_none();
                if let (Value::Object(_), Some(name)) = (value, list(wanted).iter().find(missing)) {
                    return Err(format!("{name} is missing"));
                }
            }
            "properties" => {
                for (name, rule) in wanted.as_object().into_iter().flatten() {
                    if let Some(inner) = value.get(name) {
                        fits(inner, rule, whole).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
            }
            "items" => {
                for inner in value.as_array().into_iter().flatten() {
                    fits(inner, wanted, whole)?;
                }
            }
            "minimum" if value.as_f64() < wanted.as_f64() && value.is_number() => {
                return Err(format!("{value} is below {wanted}"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_of(value: &Value, wanted: &Value) -> Result<(), String> {
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
    let found = match wanted {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    found
        .then_some(())
        .ok_or_else(|| format!("{value} is no {wanted}"))
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
