//! Optional members of a request's body that a provider refused, and the body without them.

use serde_json::{Map, Value};

/// Members without which a request says something else, or nothing: they are never left out.
const NEEDED: &[&str] = &[
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "instructions",
    "systeminstruction",
    "tools",
    "functiondeclarations",
    "function",
    "stream",
    "role",
    "content",
    "parts",
    "type",
    "text",
    "name",
    "id",
    "description",
    "data",
    "source",
    "parameters",
    "parametersjsonschema",
    "input_schema",
];

/// Members that hold what a tool or a model wrote: names in there are not the provider's.
const FOREIGN: &[&str] = &[
    "input_schema",
    "parameters",
    "parametersJsonSchema",
    "schema",
    "arguments",
    "args",
    "response",
    "responseJsonSchema",
];

/// Whether a request is still the same one without this member.
pub(crate) fn is_optional(member: &str) -> bool {
    !NEEDED.contains(&member.to_lowercase().as_str())
}

/// The names of the optional members of a body, of the objects in it and of its tools.
pub(crate) fn members(body: &Value) -> Vec<String> {
    let mut names = Vec::new();
    collect(body, &mut names);
    names.sort_unstable();
    names.dedup();
    names
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                names.extend(is_optional(name).then(|| name.clone()));
                if !is_foreign(name, value) {
                    collect(value, names);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// A body without the members of these names. A body that is no JSON stays as it is.
pub(crate) fn without(body: &[u8], names: &[String]) -> Vec<u8> {
    match serde_json::from_slice::<Value>(body) {
        Ok(mut value) => {
            strip(&mut value, names);
            value.to_string().into_bytes()
        }
        Err(error) => {
            base::never!("a body that we wrote is JSON: {error}");
            body.to_vec()
        }
    }
}

fn strip(value: &mut Value, names: &[String]) {
    match value {
        Value::Object(object) => strip_object(object, names),
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, names)),
        _ => {}
    }
}

fn strip_object(object: &mut Map<String, Value>, names: &[String]) {
    object.retain(|name, value| {
        if is_optional(name) && names.contains(name) {
            return false;
        }
        if is_foreign(name, value) || !(value.is_object() || value.is_array()) {
            return true;
        }
        let was_empty = is_empty(value);
        strip(value, names);
        // An object that held nothing else is refused as well.
        was_empty || !is_empty(value)
    });
}

fn is_foreign(name: &str, value: &Value) -> bool {
    // `input` is the list of items on one wire, and what a tool was given on another.
    FOREIGN.contains(&name) || (name == "input" && value.is_object())
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests;
