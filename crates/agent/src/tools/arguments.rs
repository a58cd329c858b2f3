//! Parsing of a call's arguments, with a sentence for each invalid one.
//!
//! Accepted because they are unambiguous: the argument names of other programs, numbers and
//! booleans written as strings, and null for an omitted argument.

use serde_json::{Map, Value};

use crate::tool::{CallInput, ToolCall, ToolResult};

use super::invalid;

/// Names of an argument: ours, and those of other programs.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "path",
        &[
            "file_path",
            "filePath",
            "filename",
            "target_file",
            "file",
            "dir_path",
            "directory",
            "folder",
            "relative_workspace_path",
        ],
    ),
    (
        "old_string",
        &["oldString", "old_str", "old_text", "search"],
    ),
    (
        "new_string",
        &["newString", "new_str", "new_text", "replace"],
    ),
    ("replace_all", &["replaceAll", "allow_multiple"]),
    ("content", &["contents", "text", "file_text", "code_edit"]),
    ("command", &["cmd", "script"]),
    ("workdir", &["cwd", "working_directory", "dir_path"]),
    ("timeout_ms", &["timeout", "timeoutMs"]),
    ("background", &["run_in_background", "is_background"]),
    ("pattern", &["query", "regex", "glob_pattern"]),
    ("include", &["glob", "include_pattern", "file_pattern"]),
    ("offset", &["start_line", "startLine"]),
    (
        "terminal",
        &[
            "session_id",
            "terminal_id",
            "task_id",
            "bash_id",
            "shell_id",
        ],
    ),
    ("chars", &["input", "text"]),
    ("input", &["patch", "diff"]),
    ("from", &["source", "source_path", "old_path"]),
    ("to", &["destination", "destination_path", "new_path"]),
    ("question", &["query"]),
    ("query", &["question", "pattern", "search_term"]),
    ("todos", &["plan", "items", "steps"]),
    ("line", &["line_number", "start_line"]),
    ("symbol", &["symbol_name", "identifier"]),
    ("new_name", &["newName"]),
];

/// The arguments of one call.
pub(super) struct CallArguments<'a> {
    tool: &'a str,
    map: std::borrow::Cow<'a, Map<String, Value>>,
}

impl<'a> CallArguments<'a> {
    /// Interprets the input as an object; null counts as an empty one. Fails with the result of the
    /// call for other input.
    pub(super) fn of(call: &'a ToolCall) -> Result<Self, ToolResult> {
        let tool = call.tool.as_str();
        let map = match &call.input {
            CallInput::Json(Value::Object(map)) => std::borrow::Cow::Borrowed(map),
            CallInput::Json(Value::Null) => std::borrow::Cow::Owned(Map::new()),
            CallInput::Json(_) => {
                return Err(invalid(format!(
                    "{tool}: the arguments must be one JSON object"
                )));
            }
            CallInput::Text(text) => match serde_json::from_str(text) {
                Ok(map) => std::borrow::Cow::Owned(map),
                Err(error) => {
                    let text = format!(
                        "{tool}: the arguments must be one JSON object, and cannot be read: {error}"
                    );
                    return Err(invalid(text));
                }
            },
        };
        Ok(Self { tool, map })
    }

    /// Returns the value of an argument, under its own name or one that other programs use for it.
    /// `None` if it is absent or null.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        let aliases = ALIASES.iter().find(|(own, _)| *own == name);
        let aliases = aliases.map_or(&[][..], |(_, aliases)| aliases);
        let mut names = std::iter::once(&name).chain(aliases);
        names.find_map(|name| self.map.get(*name).filter(|value| !value.is_null()))
    }

    /// Returns an optional string, unchanged. Fails if the argument has another type.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, ToolResult> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    /// Returns a required string.
    pub(super) fn needed(&self, name: &str) -> Result<&str, ToolResult> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    /// Returns an optional non-negative integer; accepts a string or a whole floating-point number
    /// too. Fails for other values.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, ToolResult> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| to_integer(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(name, "a whole number, 0 or more", value)),
        }
    }

    /// Returns a boolean; false if omitted.
    pub(super) fn flag(&self, name: &str) -> Result<bool, ToolResult> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// Returns a list of strings; a single string counts as a list, and an absent argument as an
    /// empty one.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, ToolResult> {
        let value = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => return Ok(vec![text.clone()]),
            Some(value) => value,
        };
        let Value::Array(items) = value else {
            return Err(self.wrong(name, "a list of strings", value));
        };
        let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
        let texts: Option<Vec<String>> = texts.collect();
        texts.ok_or_else(|| self.wrong(name, "a list of strings", value))
    }

    /// Returns the result for a missing argument.
    pub(super) fn missing(&self, name: &str) -> ToolResult {
        let mut given: Vec<&str> = self.map.keys().map(String::as_str).collect();
        given.sort_unstable();
        let given = if given.is_empty() {
            "nothing was given".to_owned()
        } else {
            format!("given was {}", given.join(", "))
        };
        invalid(format!(
            "{}: `{name}` is missing ({given}); call it again with `{name}`",
            self.tool
        ))
    }

    /// Returns the result for an argument of the wrong type.
    pub(super) fn wrong(&self, name: &str, wanted: &str, value: &Value) -> ToolResult {
        let mut shown = value.to_string();
        if shown.len() > 60 {
            let end = (0..=60).rev().find(|at| shown.is_char_boundary(*at));
            shown.truncate(end.unwrap_or(0));
            shown.push('…');
        }
        invalid(format!(
            "{}: `{name}` must be {wanted}, not {shown}",
            self.tool
        ))
    }
}

/// Converts a number without a fraction from 0 up to, and without, 9e15; `None` for others.
fn to_integer(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..9e15).contains(&number);
    is_whole.then_some(number as u64)
}
