//! Generates values that satisfy a JSON schema, for requests that require one.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

/// The maximum depth of generated values, because schemas may refer to themselves.
const MAX_DEPTH: usize = 12;

/// Returns a JSON value that satisfies the schema. `text` is the value of unconstrained strings.
pub(crate) fn satisfy(schema: &Value, text: &str) -> Value {
    value(schema, schema, text, 0)
}

fn value(schema: &Value, root: &Value, text: &str, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|options| options.get(0)) {
        return first.clone();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = target.trim_start_matches('#');
        return root
            .pointer(pointer)
            .map_or(Value::Null, |schema| value(schema, root, text, depth + 1));
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(first) = schema.get(choice).and_then(|options| options.get(0)) {
            return value(first, root, text, depth + 1);
        }
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        return merged(parts, root, text, depth);
    }
    match kind(schema).as_str() {
        "object" => object(schema, root, text, depth),
        "array" => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let least = number(schema, "minItems").unwrap_or(0.0) as usize;
            (0..least)
                .map(|_| value(items, root, text, depth + 1))
                .collect()
        }
        "integer" => json!(within(schema).ceil() as i64),
        "number" => json!(within(schema)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => string(schema, text),
    }
}

/// Returns the schema's type in lower case: Gemini's schemas write it in upper case.
fn kind(schema: &Value) -> String {
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null"),
        _ => None,
    };
    match named {
        Some(name) => name.to_lowercase(),
        None if schema.get("properties").is_some() => "object".to_owned(),
        None if schema.get("items").is_some() => "array".to_owned(),
        None => "string".to_owned(),
    }
}

fn object(schema: &Value, root: &Value, text: &str, depth: usize) -> Value {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Value::Object(Map::new());
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| {
        required.is_none_or(|required| required.iter().any(|other| other == name.as_str()))
    };
    properties
        .iter()
        .filter(|(name, _)| is_required(name))
        .map(|(name, schema)| (name.clone(), value(schema, root, text, depth + 1)))
        .collect()
}

fn merged(parts: &[Value], root: &Value, text: &str, depth: usize) -> Value {
    let mut fields = Map::new();
    for part in parts {
        match value(part, root, text, depth + 1) {
            Value::Object(more) => fields.extend(more),
            other if fields.is_empty() => return other,
            _ => {}
        }
    }
    Value::Object(fields)
}

fn string(schema: &Value, text: &str) -> Value {
    let least = number(schema, "minLength").unwrap_or(0.0) as usize;
    let most = number(schema, "maxLength").map_or(usize::MAX, |most| most as usize);
    let mut letters: Vec<char> = text.chars().take(most).collect();
    letters.resize(letters.len().max(least), '-');
    Value::String(letters.into_iter().collect())
}

/// Returns 0, or the number closest to it within the schema's bounds.
fn within(schema: &Value) -> f64 {
    let least = number(schema, "minimum")
        .or(number(schema, "exclusiveMinimum").map(|bound| bound + 1.0))
        .unwrap_or(0.0);
    let most = number(schema, "maximum").unwrap_or(f64::MAX);
    least.max(0.0_f64.min(most)).min(most)
}

fn number(schema: &Value, name: &str) -> Option<f64> {
    schema.get(name).and_then(Value::as_f64)
}
