//! JSONC files other than settings: their values, and the position of each value.

use std::collections::HashSet;

use serde_json::Value;

use crate::document::{self, NodeValue, SpannedValue};
use crate::problem::{ConfigProblem, SourceText};

/// A parsed JSONC text with source positions, for files whose schema another crate knows.
#[derive(Clone, Debug)]
pub struct Jsonc {
    source: String,
    text: String,
    /// `None` if the text has only white space and comments.
    root: Option<SpannedValue>,
}

impl Jsonc {
    /// Parses a text. Skips a leading byte order mark.
    ///
    /// # Errors
    /// Returns the first syntax error, or a duplicate key of an object, whose value would be
    /// ambiguous.
    pub fn parse(source: &str, text: &str) -> Result<Self, ConfigProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let origin = SourceText::new(source, text);
        let root = document::parse(&origin)?;
        if let Some(root) = &root {
            names_differ(root, &origin)?;
        }
        Ok(Self {
            source: source.to_owned(),
            text: text.to_owned(),
            root,
        })
    }

    /// Returns the value as plain JSON; an empty object for an empty text.
    pub fn value(&self) -> Value {
        let empty = || Value::Object(serde_json::Map::new());
        self.root.as_ref().map_or_else(empty, SpannedValue::to_json)
    }

    /// Creates a problem with the position of the value at `path`, or of its nearest existing
    /// parent. List elements are named by index.
    pub fn problem(&self, path: &[&str], message: impl Into<String>) -> ConfigProblem {
        let mut node = self.root.as_ref();
        let mut span = 0..0;
        for name in path {
            let Some(found) = node.and_then(|node| child(node, name)) else {
                break;
            };
            span = found.span.clone();
            node = Some(found);
        }
        let origin = SourceText::new(&self.source, &self.text);
        origin.problem(&span, message)
    }
}

/// Returns the member of an object, or the element of a list by its index in decimal. Returns
/// `None` if there is none, or if the value is neither an object nor a list.
fn child<'a>(node: &'a SpannedValue, name: &str) -> Option<&'a SpannedValue> {
    match &node.value {
        NodeValue::Object(members) => {
            let member = members.iter().find(|member| member.key == name);
            member.map(|member| &member.value)
        }
        NodeValue::Array(nodes) => nodes.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Returns a problem if an object in this value contains the same key twice.
fn names_differ(node: &SpannedValue, origin: &SourceText<'_>) -> Result<(), ConfigProblem> {
    match &node.value {
        NodeValue::Object(members) => {
            let mut names = HashSet::new();
            for member in members {
                if !names.insert(member.key.as_str()) {
                    let message = format!("the name \"{}\" occurs twice here", member.key);
                    return Err(origin.problem(&member.key_span, message));
                }
                names_differ(&member.value, origin)?;
            }
            Ok(())
        }
        NodeValue::Array(nodes) => nodes.iter().try_for_each(|node| names_differ(node, origin)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
