//! Builds complete arguments from the reader's events.

use serde_json::{Map, Value};

use super::{ArgumentEvent, ArgumentProblem, ArgumentReader, ArgumentStep, Container};

/// Arguments of a tool call, parsed as far as possible, with the problems found. The arguments are
/// not checked against the tool's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedArguments {
    /// The parsed value; an unterminated string or container keeps what has arrived.
    pub value: Value,
    /// Problems in text order. Empty for valid JSON.
    pub problems: Vec<ArgumentProblem>,
}

/// Builds a JSON value from the reader's events: the open containers, outermost first, and the open
/// string.
#[derive(Default)]
pub(super) struct ValueBuilder {
    open: Vec<(Option<ArgumentStep>, Value)>,
    text: Option<(Option<ArgumentStep>, String)>,
    whole: Option<Value>,
}

impl ParsedArguments {
    /// Parses arguments that should be complete. An empty text yields an empty object, as providers
    /// send it for calls without arguments.
    pub fn read(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self {
                value: Value::Object(Map::new()),
                problems: Vec::new(),
            };
        }
        let mut builder = ValueBuilder::default();
        let mut reader = ArgumentReader::default();
        reader.push(text, &mut |path, event| builder.take(path, event));
        let problems = reader.finish(&mut |path, event| builder.take(path, event));
        Self {
            value: builder.finish(),
            problems,
        }
    }

    /// Returns whether a tool may run on the arguments: no problem could change their meaning.
    pub fn is_complete(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.kind.is_harmless())
    }
}

impl ValueBuilder {
    /// Adds an event about the value at `path`.
    pub(super) fn take(&mut self, path: &[ArgumentStep], event: ArgumentEvent<'_>) {
        let step = path.last().cloned();
        match event {
            ArgumentEvent::Open(Container::Object) => {
                self.open.push((step, Value::Object(Map::new())))
            }
            ArgumentEvent::Open(Container::Array) => {
                self.open.push((step, Value::Array(Vec::new())))
            }
            ArgumentEvent::Text(text) => {
                let (_, grown) = self.text.get_or_insert_with(|| (step, String::new()));
                grown.push_str(text);
            }
            ArgumentEvent::TextEnd => {
                let text = self.text.take().map(|(_, text)| text).unwrap_or_default();
                self.insert_value(step, Value::String(text));
            }
            ArgumentEvent::Value(value) => self.insert_value(step, value),
            ArgumentEvent::Close(_) => self.close(),
        }
    }

    fn close(&mut self) {
        if let Some((step, value)) = self.open.pop() {
            self.insert_value(step, value);
        }
    }

    fn insert_value(&mut self, step: Option<ArgumentStep>, value: Value) {
        match (self.open.last_mut(), step) {
            (Some((_, Value::Object(fields))), Some(ArgumentStep::Key(key))) => {
                fields.insert(key, value);
            }
            (Some((_, Value::Array(items))), _) => items.push(value),
            _ => self.whole = Some(value),
        }
    }

    /// Returns the value so far. Open strings and containers are closed as they are. Returns `null`
    /// if there was no event.
    pub(super) fn finish(mut self) -> Value {
        if let Some((step, text)) = self.text.take() {
            self.insert_value(step, Value::String(text));
        }
        while !self.open.is_empty() {
            self.close();
        }
        self.whole.unwrap_or_default()
    }
}
