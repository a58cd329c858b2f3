//! Parses the arguments of a tool call, validates them against the tool's schema, and explains
//! errors to the model.
//!
//! Pure. Supports the subset of JSON Schema that tools use; unknown keywords are accepted, since
//! the tool itself checks what matters to it.

use model::ToolInput;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::tool::CallInput;

/// Argument by which a model asks that the preceding calls finish first.
const WAIT_ARGUMENT: &str = "wait_for_previous";
/// Maximum number of wrong members that one error message names.
const MAX_PROBLEMS: usize = 5;

/// Parses `arguments`, the model's text, against the tool's input `offered`. Returns the tool's
/// input and whether the call waits for the preceding ones, which the argument `WAIT_ARGUMENT`
/// requests; it is removed unless the schema defines it. A tool of free text gets the text
/// unchanged.
///
/// # Errors
///
/// For the model: the error names the wrong member.
pub fn read(offered: &ToolInput, arguments: &str) -> Result<(CallInput, bool), Error> {
    let schema = match offered {
        ToolInput::Text { .. } => return Ok((CallInput::Text(arguments.to_owned()), false)),
        ToolInput::Json(schema) => schema,
    };
    let mut value = parse(arguments)?;
    let mut waits = false;
    if let Value::Object(members) = &mut value {
        let is_own = schema
            .pointer(&format!("/properties/{WAIT_ARGUMENT}"))
            .is_some();
        waits = members.get(WAIT_ARGUMENT) == Some(&Value::Bool(true));
        if !is_own {
            members.shift_remove(WAIT_ARGUMENT);
        }
        drop_nulls(members, schema);
    }
    let mut problems = Vec::new();
    check(schema, schema, &value, "", &mut problems);
    if problems.is_empty() {
        Ok((CallInput::Json(value), waits))
    } else {
        problems.truncate(MAX_PROBLEMS);
        Err(Error::ArgumentsMismatch(problems))
    }
}

/// Parses `arguments` as a JSON object; blank text counts as an empty one. Fails with
/// `Error::ArgumentsNotAnObject` for other JSON and with `Error::ArgumentsNotJson` for other text.
fn parse(arguments: &str) -> Result<Value, Error> {
    if arguments.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(other) => Err(Error::ArgumentsNotAnObject(kind(&other))),
        Err(source) => Err(Error::ArgumentsNotJson {
            near: excerpt(arguments, &source),
            source,
        }),
    }
}

/// Returns the text around the position of a JSON error.
fn excerpt(arguments: &str, error: &serde_json::Error) -> String {
    let line = arguments.lines().nth(error.line().saturating_sub(1));
    let line: Vec<char> = line.unwrap_or_default().chars().collect();
    let at = error.column().min(line.len());
    line[at.saturating_sub(20)..(at + 10).min(line.len())]
        .iter()
        .collect()
}

/// Removes null members that the schema does not allow: models whose schemas make every member
/// required write null for absent ones.
fn drop_nulls(members: &mut Map<String, Value>, schema: &Value) {
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    members.retain(|name, value| !value.is_null() || required(name));
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    let schema = resolve(root, schema);
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            let fits = |choice: &Value| {
                let mut inner = Vec::new();
                check(root, choice, value, at, &mut inner);
                inner.is_empty()
            };
            if !choices.iter().any(fits) {
                problems.push(format!("`{}` matches none of its allowed forms", path(at)));
            }
            return;
        }
    }
    if !check_type(schema, value, at, problems) || !check_choice(schema, value, at, problems) {
        return;
    }
    match value {
        Value::Object(members) => check_object(root, schema, members, at, problems),
        Value::Array(items) => check_array(root, schema, items, at, problems),
        Value::Number(number) => {
            check_bounds(
                schema,
                number.as_f64(),
                ["minimum", "maximum"],
                at,
                problems,
            );
        }
        Value::String(text) => {
            let length = text.chars().count() as f64;
            check_bounds(
                schema,
                Some(length),
                ["minLength", "maxLength"],
                at,
                problems,
            );
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Resolves a `$ref` into the schema's own definitions.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str);
    let target = target.and_then(|target| target.strip_prefix('#'));
    target
        .and_then(|pointer| root.pointer(pointer))
        .unwrap_or(schema)
}

/// Returns whether `value` has a type that the schema's `type`, a name or a list of names, allows;
/// true if the schema has none. A whole float counts as `integer`. If false, adds a sentence about
/// the member at the path `at` to `problems`.
fn check_type(schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) -> bool {
    let wanted: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return true,
    };
    let fits = wanted.iter().any(|wanted| match (*wanted, value) {
        ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("null", Value::Null)
        | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => {
            number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        _ => false,
    });
    if !fits {
        let wanted = wanted.join(" or ");
        let kind = kind(value);
        problems.push(format!("`{}` must be {wanted}, and is {kind}", path(at)));
    }
    fits
}

/// Returns whether `value` is one of the schema's `enum` or, without one, its `const`; true if the
/// schema has neither. If false, adds a sentence about the member at the path `at` to `problems`.
fn check_choice(schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) -> bool {
    let choices = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(choices)), _) => choices.clone(),
        (_, Some(only)) => vec![only.clone()],
        _ => return true,
    };
    let fits = choices.contains(value);
    if !fits {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        let choices = choices.join(", ");
        problems.push(format!(
            "`{}` must be one of {choices}, and is {value}",
            path(at)
        ));
    }
    fits
}

fn check_object(
    root: &Value,
    schema: &Value,
    members: &Map<String, Value>,
    at: &str,
    problems: &mut Vec<String>,
) {
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            problems.push(format!("`{}` is missing", path(&format!("{at}.{name}"))));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let additional = schema.get("additionalProperties");
    for (name, value) in members {
        let at = format!("{at}.{name}");
        match (
            properties.and_then(|properties| properties.get(name)),
            additional,
        ) {
            (Some(schema), _) => check(root, schema, value, &at, problems),
            (None, Some(Value::Bool(false))) => {
                let known: Vec<&str> = properties
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name.as_str())
                    .collect();
                let at = path(&at);
                problems.push(format!(
                    "there is no `{at}`; there are {}",
                    known.join(", ")
                ));
            }
            (None, Some(schema @ Value::Object(_))) => check(root, schema, value, &at, problems),
            (None, _) => {}
        }
    }
}

fn check_array(
    root: &Value,
    schema: &Value,
    items: &[Value],
    at: &str,
    problems: &mut Vec<String>,
) {
    let count = items.len() as f64;
    check_bounds(schema, Some(count), ["minItems", "maxItems"], at, problems);
    if let Some(schema) = schema.get("items") {
        for (ix, item) in items.iter().enumerate() {
            check(root, schema, item, &format!("{at}[{ix}]"), problems);
        }
    }
}

fn check_bounds(
    schema: &Value,
    number: Option<f64>,
    [least, most]: [&str; 2],
    at: &str,
    problems: &mut Vec<String>,
) {
    let Some(number) = number else {
        return;
    };
    let bound = |name| schema.get(name).and_then(Value::as_f64);
    let of = match least {
        "minLength" => "the length of ",
        "minItems" => "the number of items of ",
        _ => "",
    };
    if let Some(least) = bound(least).filter(|least| number < *least) {
        problems.push(format!(
            "{of}`{}` must be at least {least}, and is {number}",
            path(at)
        ));
    }
    if let Some(most) = bound(most).filter(|most| number > *most) {
        problems.push(format!(
            "{of}`{}` must be at most {most}, and is {number}",
            path(at)
        ));
    }
}

fn path(at: &str) -> &str {
    match at.strip_prefix('.').unwrap_or(at) {
        "" => "the whole",
        path => path,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns the names most similar to a wrong one by edit distance, ignoring case, best match first:
/// at most three, even if none is close.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wrong = wrong.to_lowercase();
    let mut scored: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| {
            let lower = name.to_lowercase();
            let is_within = lower.contains(&wrong) || wrong.contains(&lower);
            (
                distance(&wrong, &lower) / (1 + 3 * usize::from(is_within)),
                name,
            )
        })
        .collect();
    scored.sort();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Returns the edit distance between two names: substitutions, insertions and deletions.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (ix, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = ix + 1;
        for (at, it) in other.iter().enumerate() {
            let change = diagonal + usize::from(letter != *it);
            diagonal = row[at + 1];
            row[at + 1] = change.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests;
