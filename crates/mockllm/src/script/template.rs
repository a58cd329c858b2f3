//! Texts of a reply with `{{name}}` for values taken from the request.

use serde::Deserialize;
use serde_json::Value;

use super::pattern::Captures;

/// A text of a reply that may contain placeholders `{{name}}` for captured values.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Template(String);

impl From<String> for Template {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Template {
    /// Returns the text with the values filled in. A name without a value stays as written: scripts
    /// are checked when they are parsed, and a group may not take part in a match.
    pub(crate) fn fill(&self, captures: &Captures) -> String {
        let mut filled = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some((before, name, after)) = next_placeholder(rest) {
            filled.push_str(before);
            match captures.get(name) {
                Some(value) => filled.push_str(value),
                None => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    /// Returns the names of the placeholders in the template, in order and with repetitions.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut rest = self.0.as_str();
        while let Some((_, name, after)) = next_placeholder(rest) {
            names.push(name.to_owned());
            rest = after;
        }
        names
    }
}

/// Returns the text before the next `{{name}}`, the name, and the text after it. A name consists of
/// letters, digits and `_`; anything else between braces is text.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find("{{")?;
        let name = &text[open + 2..];
        let length = name
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(name.len());
        if length > 0 && name[length..].starts_with("}}") {
            return Some((&text[..open], &name[..length], &name[length + 2..]));
        }
        from = open + 1;
    }
}

/// Returns a JSON value with the templates in its strings filled.
pub(crate) fn fill_value(value: &Value, captures: &Captures) -> Value {
    match value {
        Value::String(text) => Value::String(Template(text.clone()).fill(captures)),
        Value::Array(items) => items
            .iter()
            .map(|item| fill_value(item, captures))
            .collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), fill_value(field, captures)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns the names of the placeholders in all strings of a JSON value.
pub(crate) fn value_names(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => Template(text.clone()).names(),
        Value::Array(items) => items.iter().flat_map(value_names).collect(),
        Value::Object(fields) => fields.values().flat_map(value_names).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
