//! Removes optional members that a provider rejected from a request's body.

use serde_json::{Map, Value};

/// Members that are essential to a request and never omitted.
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

/// Members with content from tools or models: names in there are not the provider's.
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

/// Returns whether a request keeps its meaning without the member of this name, ignoring case.
pub(crate) fn is_optional(member: &str) -> bool {
    !NEEDED.contains(&member.to_lowercase().as_str())
}

/// Returns the names of the members of a body that can be omitted, including members of nested
/// objects and tools. The names are sorted and unique.
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

/// Returns a body without the members of these names. A body that is not JSON stays unchanged.
pub(crate) fn without(body: &[u8], names: &[String]) -> Vec<u8> {
    match serde_json::from_slice::<Value>(body) {
        Ok(mut value) => {
            strip(&mut value, names);
            value.to_string().into_bytes()
        }
        Err(error) => {
            base::never!("our own request body is not JSON: {error}");
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
        // An object with no other content would be rejected as well.
        was_empty || !is_empty(value)
    });
}

/// Returns whether a member contains content from tools or models, so that the names in it are not
/// the provider's.
fn is_foreign(name: &str, value: &Value) -> bool {
    // `input` is the list of items on one wire, and a tool's input on another.
    FOREIGN.contains(&name) || (name == "input" && value.is_object())
}

/// Returns whether a value is an object without members; `false` for any other kind of value.
fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests;
