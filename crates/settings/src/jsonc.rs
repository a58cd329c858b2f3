//! Files beside the settings that are written as JSONC: their values, and the place of each value.

use std::collections::HashSet;

use serde_json::Value;

use crate::document::{self, Node, NodeValue};
use crate::places::{Origin, Problem};

/// A text with comments and trailing commas, as a value whose parts know their places.
#[derive(Clone, Debug)]
pub struct Jsonc {
    source: String,
    text: String,
    /// `None` for a text with nothing but space and comments.
    root: Option<Node>,
}

impl Jsonc {
    /// Reads a text. A byte order mark at its beginning is passed over.
    ///
    /// # Errors
    /// The first syntax error, or a name that one object has twice: a reader could believe either.
    pub fn parse(source: &str, text: &str) -> Result<Self, Problem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let origin = Origin { source, text };
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

    /// The value; an empty object for an empty text.
    pub fn value(&self) -> Value {
        let empty = || Value::Object(serde_json::Map::new());
        self.root.as_ref().map_or_else(empty, Node::to_json)
    }

    /// A problem with the value at `path`, or with the nearest value above it that exists. Elements of lists are named
    /// by their index.
    pub fn problem(&self, path: &[&str], message: impl Into<String>) -> Problem {
        let mut node = self.root.as_ref();
        let mut span = 0..0;
        for name in path {
            let Some(found) = node.and_then(|node| child(node, name)) else {
                break;
            };
            span = found.span.clone();
            node = Some(found);
        }
        let origin = Origin {
            source: &self.source,
            text: &self.text,
        };
        origin.problem(&span, message)
    }
}

fn child<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    match &node.value {
        NodeValue::Object(members) => {
            let member = members.iter().find(|member| member.key == name);
            member.map(|member| &member.value)
        }
        NodeValue::Array(nodes) => nodes.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn names_differ(node: &Node, origin: &Origin<'_>) -> Result<(), Problem> {
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
