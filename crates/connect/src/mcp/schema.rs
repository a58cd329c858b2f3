//! Normalizes a tool's input schema to the form that every provider accepts: one object with its
//! properties.
//!
//! Pure. Servers' schemas are untrusted: a schema that cannot be normalized gives a reason, and
//! only its tool is omitted. Start at `normalized`.

use serde_json::{Map, Value, json};

use crate::error::Error;

/// Maximum nesting of a schema.
const MAX_DEPTH: usize = 48;
/// Maximum length of a chain of references.
const MAX_REFERENCES: usize = 8;

/// The types of JSON Schema.
const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];
/// Keywords that combine schemas.
const COMBINED: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Members that providers reject at the top level, and that a model can do without.
const REFUSED_AT_TOP: [&str; 10] = [
    "$schema", "$id", "$ref", "not", "if", "then", "else", "enum", "const", "nullable",
];

/// Returns the schema as an object with properties. The error completes a sentence that begins with
/// "its inputSchema".
pub(super) fn normalized(written: &Value) -> Result<Value, Error> {
    let members = match written {
        Value::Null | Value::Bool(true) => Map::new(),
        Value::Object(members) => members.clone(),
        other => return invalid(format!("is {}, not an object", kind(other))),
    };
    let mut schema = merged(&members, &members, 0)?;
    for name in REFUSED_AT_TOP.iter().chain(&COMBINED) {
        schema.shift_remove(*name);
    }
    for name in ["$defs", "definitions"] {
        if let Some(defined) = members.get(name) {
            schema.insert(name.to_owned(), defined.clone());
        }
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    let known = schema.get("properties").and_then(Value::as_object).cloned();
    let known = known
        .ok_or_else(|| Error::Invalid("has `properties` that are not an object".to_owned()))?;
    if let Some(required) = schema.get_mut("required") {
        *required = json!(names(Some(required), &known));
    }
    let root = Value::Object(schema.clone());
    let mut schema = Value::Object(schema);
    tidy(&mut schema, &root, 0)?;
    Ok(schema)
}

/// Merges a schema with all schemas that it refers to or combines.
fn merged(
    schema: &Map<String, Value>,
    root: &Map<String, Value>,
    depth: usize,
) -> Result<Map<String, Value>, Error> {
    if depth > MAX_REFERENCES {
        return invalid("refers to itself");
    }
    let mut whole = schema.clone();
    if let Some(Value::String(target)) = schema.get("$ref") {
        let found = target.strip_prefix('#').and_then(|at| pointer(root, at));
        let found = found
            .ok_or_else(|| Error::Invalid(format!("refers to {target}, which does not exist")))?;
        let found = merged(found, root, depth + 1)?;
        whole.shift_remove("$ref");
        add(&mut whole, &found, true);
    }
    check_type(&whole)?;
    for name in COMBINED {
        let Some(Value::Array(parts)) = schema.get(name) else {
            continue;
        };
        let parts = parts.iter().filter_map(Value::as_object);
        let mut objects = Vec::new();
        for part in parts {
            match merged(part, root, depth + 1) {
                Ok(part) => objects.push(part),
                // Alternatives that are not objects are dropped, since tools take objects.
                Err(_) if name != "allOf" => {}
                Err(why) => return Err(why),
            }
        }
        if objects.is_empty() && name != "allOf" && !whole.contains_key("properties") {
            return invalid("has no alternative that is an object");
        }
        combine(&mut whole, &objects, name == "allOf");
    }
    Ok(whole)
}

/// Returns the schema at a JSON pointer, which is the part of a reference after `#`; `None` if it
/// leads to none. The pointer to the root, an empty one, gives `None` as well.
fn pointer<'a>(root: &'a Map<String, Value>, at: &str) -> Option<&'a Map<String, Value>> {
    let mut steps = at.split('/').skip(1);
    let plain = |step: &str| step.replace("~1", "/").replace("~0", "~");
    let mut found = root.get(&plain(steps.next()?))?;
    for step in steps {
        found = match found {
            Value::Object(members) => members.get(&plain(step))?,
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    found.as_object()
}

/// Fails if a schema describes a known type other than an object. A missing or unknown type passes.
fn check_type(schema: &Map<String, Value>) -> Result<(), Error> {
    let is_object = match schema.get("type") {
        None | Some(Value::Null) => true,
        Some(Value::String(one)) => one == "object" || !TYPES.contains(&one.as_str()),
        Some(Value::Array(several)) => several.is_empty() || several.contains(&json!("object")),
        Some(_) => true,
    };
    match (is_object, schema.get("type")) {
        (false, Some(described)) => invalid(format!("describes {described}, not an object")),
        _ => Ok(()),
    }
}

/// Adds combined schemas: all of the parts, or one of them.
fn combine(whole: &mut Map<String, Value>, parts: &[Map<String, Value>], is_all: bool) {
    for part in parts {
        add(whole, part, is_all);
    }
    let Some((first, rest)) = parts.split_first().filter(|_| !is_all) else {
        return;
    };
    // A property is required only if every alternative requires it.
    let required = |part: &Map<String, Value>| match part.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let mut common = required(first);
    common.retain(|name| rest.iter().all(|part| required(part).contains(name)));
    require(whole, common);
}

fn add(whole: &mut Map<String, Value>, part: &Map<String, Value>, is_required: bool) {
    if let Some(Value::Object(more)) = part.get("properties") {
        let properties = whole.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            for (name, schema) in more {
                match properties.get_mut(name) {
                    None => {
                        properties.insert(name.clone(), schema.clone());
                    }
                    Some(other) if other == schema => {}
                    Some(other) => *other = either(other, schema),
                }
            }
        }
    }
    if is_required && let Some(Value::Array(names)) = part.get("required") {
        require(whole, names.clone());
    }
    for name in ["description", "title", "additionalProperties"] {
        if let Some(value) = part.get(name) {
            whole.entry(name).or_insert_with(|| value.clone());
        }
    }
}

fn require(whole: &mut Map<String, Value>, names: Vec<Value>) {
    if names.is_empty() {
        return;
    }
    let required = whole.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        for name in names {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
}

fn either(one: &Value, other: &Value) -> Value {
    match one.get("anyOf") {
        Some(Value::Array(several)) if several.contains(other) => one.clone(),
        Some(Value::Array(several)) => {
            let mut several = several.clone();
            several.push(other.clone());
            json!({ "anyOf": several })
        }
        _ => json!({ "anyOf": [one, other] }),
    }
}

/// Returns the required names that exist as properties, without duplicates.
fn names(required: Option<&mut Value>, known: &Map<String, Value>) -> Vec<String> {
    let Some(Value::Array(listed)) = required else {
        return Vec::new();
    };
    let mut names: Vec<String> = Vec::new();
    for name in listed.iter().filter_map(Value::as_str) {
        if known.contains_key(name) && !names.iter().any(|it| it == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Removes invalid parts of a schema: unknown types, dangling references, arrays without an item
/// schema.
fn tidy(schema: &mut Value, root: &Value, depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return invalid("is nested too deep");
    }
    let members = match schema {
        Value::Object(members) => members,
        Value::Bool(_) => {
            *schema = json!({});
            return Ok(());
        }
        other => {
            return invalid(format!(
                "contains {} where a schema is expected",
                kind(other)
            ));
        }
    };
    tidy_type(members);
    if let Some(target) = members.get("$ref") {
        let target = target.as_str().and_then(|it| it.strip_prefix('#'));
        let is_there = target.is_some_and(|at| root.pointer(at).is_some());
        if !is_there {
            members.shift_remove("$ref");
        }
    }
    let is_list = members.get("type") == Some(&json!("array"));
    if is_list && !members.contains_key("items") && !members.contains_key("prefixItems") {
        members.insert("items".to_owned(), json!({}));
    }
    for (name, value) in members.iter_mut() {
        match (name.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties",
                Value::Object(named),
            ) => {
                for schema in named.values_mut() {
                    tidy(schema, root, depth + 1)?;
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                for schema in items {
                    tidy(schema, root, depth + 1)?;
                }
            }
            ("items", Value::Array(items)) => {
                for schema in items {
                    tidy(schema, root, depth + 1)?;
                }
            }
            ("items" | "not", schema) => tidy(schema, root, depth + 1)?,
            ("additionalProperties", schema @ Value::Object(_)) => tidy(schema, root, depth + 1)?,
            _ => {}
        }
    }
    Ok(())
}

fn tidy_type(members: &mut Map<String, Value>) {
    let is_type = |it: &Value| it.as_str().is_some_and(|it| TYPES.contains(&it));
    let is_good = match members.get_mut("type") {
        None => return,
        Some(Value::Array(several)) => {
            several.retain(is_type);
            !several.is_empty()
        }
        Some(one) => is_type(one),
    };
    if !is_good {
        members.shift_remove("type");
    }
}

fn invalid<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error::Invalid(text.into()))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
