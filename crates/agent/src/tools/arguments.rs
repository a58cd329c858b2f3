//! The arguments of a call, read one by one with a sentence for each that makes no sense.
//!
//! Tolerated, since it cannot mean anything else: other programs' words for an argument, numbers and booleans
//! written as strings, null for what is left out.

use serde_json::{Map, Value};

use crate::tool::{Answer, Call, Input};

use super::invalid;

/// Our word for an argument and those of others.
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
];

/// The arguments of one call.
pub(super) struct Arguments<'a> {
    tool: &'a str,
    map: std::borrow::Cow<'a, Map<String, Value>>,
}

impl<'a> Arguments<'a> {
    /// Takes them for an object.
    pub(super) fn of(call: &'a Call) -> Result<Self, Answer> {
        let tool = call.tool.as_str();
        let map = match &call.input {
            Input::Json(Value::Object(map)) => std::borrow::Cow::Borrowed(map),
            Input::Json(Value::Null) => std::borrow::Cow::Owned(Map::new()),
            Input::Json(_) => {
                return Err(invalid(format!(
                    "{tool}: the arguments must be one JSON object"
                )));
            }
            Input::Text(text) => match serde_json::from_str(text) {
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

    /// The value of an argument, by any of its names.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        let aliases = ALIASES.iter().find(|(own, _)| *own == name);
        let aliases = aliases.map_or(&[][..], |(_, aliases)| aliases);
        let mut names = std::iter::once(&name).chain(aliases);
        names.find_map(|name| self.map.get(*name).filter(|value| !value.is_null()))
    }

    /// A text that may be left out.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Answer> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    /// A text that must be given.
    pub(super) fn needed(&self, name: &str) -> Result<&str, Answer> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    /// A whole number, not negative.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Answer> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(name, "a whole number, 0 or more", value)),
        }
    }

    /// Yes or no; no where it is left out.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Answer> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// Several texts; one alone counts as a list of one.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Answer> {
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

    /// The answer where something that is needed was left out.
    pub(super) fn missing(&self, name: &str) -> Answer {
        let mut given: Vec<&str> = self.map.keys().map(String::as_str).collect();
        given.sort_unstable();
        let given = match given.is_empty() {
            true => "nothing was given".to_owned(),
            false => format!("given was {}", given.join(", ")),
        };
        invalid(format!(
            "{}: `{name}` is missing ({given}); call it again with `{name}`",
            self.tool
        ))
    }

    /// The answer where something is of another kind.
    pub(super) fn wrong(&self, name: &str, wanted: &str, value: &Value) -> Answer {
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

fn whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..9e15).contains(&number);
    is_whole.then_some(number as u64)
}
