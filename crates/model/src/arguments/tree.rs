//! Whole arguments from what the reader tells.

use serde_json::{Map, Value};

use super::{ArgumentEvent, ArgumentProblem, ArgumentReader, ArgumentStep, Container, ProblemKind};

/// A call's arguments, as far as they can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// What was read; what did not end is as long as it came.
    pub value: Value,
    /// What was wrong, in the order of the text. Empty for valid JSON.
    pub problems: Vec<ArgumentProblem>,
}

/// Containers that are open, the outermost first, and the string that is.
#[derive(Default)]
pub(super) struct Tree {
    open: Vec<(Option<ArgumentStep>, Value)>,
    text: Option<(Option<ArgumentStep>, String)>,
    whole: Option<Value>,
}

impl Arguments {
    /// Reads arguments that are complete or should be. Nothing at all stands for an object without fields, as
    /// providers send it for calls without arguments.
    pub fn read(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self {
                value: Value::Object(Map::new()),
                problems: Vec::new(),
            };
        }
        let mut tree = Tree::default();
        let mut reader = ArgumentReader::default();
        reader.push(text, &mut |path, event| tree.take(path, event));
        let problems = reader.finish(&mut |path, event| tree.take(path, event));
        Self {
            value: tree.finish(),
            problems,
        }
    }

    /// Whether a tool may run on them: nothing was wrong that could change their meaning.
    pub fn are_whole(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.kind.is_harmless())
    }

    /// What to tell the model where a tool may not run.
    pub fn complaint(&self) -> Option<String> {
        let worst = self
            .problems
            .iter()
            .find(|problem| !problem.kind.is_harmless())?;
        let hint = match worst.kind {
            ProblemKind::Ends => "; the call was cut off, so send it again in smaller pieces",
            _ => "; send the call again as valid JSON",
        };
        Some(format!("the arguments cannot be read: {worst}{hint}"))
    }
}

impl Tree {
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
                self.put(step, Value::String(text));
            }
            ArgumentEvent::Value(value) => self.put(step, value),
            ArgumentEvent::Close(_) => self.close(),
        }
    }

    fn close(&mut self) {
        if let Some((step, value)) = self.open.pop() {
            self.put(step, value);
        }
    }

    fn put(&mut self, step: Option<ArgumentStep>, value: Value) {
        match (self.open.last_mut(), step) {
            (Some((_, Value::Object(fields))), Some(ArgumentStep::Key(key))) => {
                fields.insert(key, value);
            }
            (Some((_, Value::Array(items))), _) => items.push(value),
            _ => self.whole = Some(value),
        }
    }

    pub(super) fn finish(mut self) -> Value {
        if let Some((step, text)) = self.text.take() {
            self.put(step, Value::String(text));
        }
        while !self.open.is_empty() {
            self.close();
        }
        self.whole.unwrap_or_default()
    }
}
