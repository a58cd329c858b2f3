//! Adapts tool schemas to the limits of a provider.

use model::SchemaQuirk;
use serde_json::{Map, Value, json};

/// Maximum depth of inlined references; a recursive schema stops there.
const MAX_DEPTH: usize = 8;

/// Keywords that only restrict a value. Where they are rejected, they move to the description.
const NARROWING: [&str; 12] = [
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
];

/// Returns the schema with every construct that the provider does not accept removed or rewritten.
/// Without quirks, the schema stays unchanged.
pub(crate) fn adapted(schema: &Value, quirks: &[SchemaQuirk]) -> Value {
    if quirks.is_empty() {
        return schema.clone();
    }
    let adapter = SchemaAdapter {
        root: schema,
        quirks,
    };
    let mut adapted = adapter.schema(schema, 0);
    if adapter.has(SchemaQuirk::InlineRefs)
        && let Value::Object(members) = &mut adapted
    {
        members.remove("$defs");
        members.remove("definitions");
    }
    adapted
}

/// Returns whether strict mode is possible: every object lists its properties and requires them
/// all.
pub(crate) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let is_object = members.get("type") == Some(&json!("object"));
            let is_closed = members.get("additionalProperties") == Some(&Value::Bool(false))
                && members.get("properties").is_some_and(Value::is_object);
            (!is_object || is_closed) && children(members).all(is_strict)
        }
        _ => true,
    }
}

/// Returns the schemas nested in a schema.
fn children(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    members.iter().flat_map(|(name, value)| -> Vec<&Value> {
        match (name.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values().collect()
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                items.iter().collect()
            }
            ("items" | "not", schema) => vec![schema],
            _ => Vec::new(),
        }
    })
}

struct SchemaAdapter<'a> {
    root: &'a Value,
    quirks: &'a [SchemaQuirk],
}

impl SchemaAdapter<'_> {
    fn has(&self, quirk: SchemaQuirk) -> bool {
        self.quirks.contains(&quirk)
    }

    fn schema(&self, schema: &Value, depth: usize) -> Value {
        let Value::Object(members) = schema else {
            return schema.clone();
        };
        if self.has(SchemaQuirk::InlineRefs)
            && let Some(target) = self.target(members)
        {
            return if depth < MAX_DEPTH {
                self.schema(target, depth + 1)
            } else {
                json!({ "type": "object" })
            };
        }
        let mut adapted = Map::new();
        let mut said = Vec::new();
        for (name, value) in members {
            match name.as_str() {
                "anyOf" | "oneOf" if self.has(SchemaQuirk::NoAnyOf) => {
                    let first = value
                        .as_array()
                        .and_then(|alternatives| alternatives.first());
                    if let Some(Value::Object(first)) = first.map(|first| self.schema(first, depth))
                    {
                        adapted.extend(first);
                    }
                }
                "default" if self.has(SchemaQuirk::NoDefault) => {}
                "additionalProperties" if self.has(SchemaQuirk::NoAdditionalProperties) => {}
                name if self.has(SchemaQuirk::NoFormat) && NARROWING.contains(&name) => {
                    said.push(format!("{name}: {value}"));
                }
                _ => {
                    adapted.insert(name.clone(), self.member(name, value, depth));
                }
            }
        }
        if !said.is_empty() {
            let before = adapted
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let description = format!("{before} ({})", said.join(", "));
            adapted.insert("description".to_owned(), json!(description.trim_start()));
        }
        if self.has(SchemaQuirk::Strict) {
            close(&mut adapted);
        }
        Value::Object(adapted)
    }

    fn member(&self, name: &str, value: &Value, depth: usize) -> Value {
        match (name, value) {
            // The names in there are the tool's own.
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                let named = named.iter();
                let named = named.map(|(name, value)| (name.clone(), self.schema(value, depth)));
                Value::Object(named.collect())
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                Value::Array(items.iter().map(|item| self.schema(item, depth)).collect())
            }
            ("items" | "not" | "additionalProperties", value) => self.schema(value, depth),
            (_, value) => value.clone(),
        }
    }

    /// Returns the schema within the root that the member `$ref` points to; `None` without such a
    /// member, or if it does not start with `#` or leads nowhere.
    fn target(&self, members: &Map<String, Value>) -> Option<&Value> {
        let pointer = members.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }
}

/// Requires every property; an optional one becomes nullable, where null means absent.
fn close(members: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return;
    };
    let names: Vec<String> = properties.keys().cloned().collect();
    let required: Vec<String> = match members.get("required") {
        Some(Value::Array(required)) => {
            let names = required.iter().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !required.contains(name) {
                make_nullable(property);
            }
        }
    }
    members.insert("required".to_owned(), json!(names));
    members.insert("additionalProperties".to_owned(), json!(false));
}

fn make_nullable(property: &mut Value) {
    let Value::Object(members) = property else {
        return;
    };
    match members.get_mut("type") {
        Some(Value::Array(kinds)) if kinds.contains(&json!("null")) => {}
        Some(Value::Array(kinds)) => kinds.push(json!("null")),
        Some(kind) => *kind = json!([kind.clone(), "null"]),
        None => {
            let alternatives = json!([members.clone(), { "type": "null" }]);
            *members = Map::new();
            members.insert("anyOf".to_owned(), alternatives);
            return;
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests;
