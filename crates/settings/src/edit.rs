//! Changing one key or list in a text that a person wrote: comments, order and spacing stay.

use std::fmt;

use jsonc_parser::cst::{CstArray, CstInputValue, CstLeafNode, CstNode, CstObject, CstRootNode};

use crate::document::strict_with_comments;

/// Why a text could not be changed. The text must be mended by hand first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// The text is not valid JSONC; the words say why.
    Syntax(String),
    /// Something on the way to the key is not an object; the words name it.
    NotAnObject(String),
    /// The value at the key is not a list; the words name it.
    NotAList(String),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(why) => write!(f, "cannot change the settings file: {why}"),
            Self::NotAnObject(what) => write!(
                f,
                "cannot change the settings file: {what} is not an object"
            ),
            Self::NotAList(what) => {
                write!(f, "cannot change the settings file: {what} is not a list")
            }
        }
    }
}

impl std::error::Error for EditError {}

/// The text with the value at `path` set, or removed when `value` is `None`.
///
/// Objects on the way are made where they are missing. An empty text becomes an object.
pub fn set_key(
    text: &str,
    path: &[&str],
    value: Option<&serde_json::Value>,
) -> Result<String, EditError> {
    let root = parsed(text)?;
    let Some((key, parents)) = path.split_last() else {
        return Ok(text.to_owned());
    };
    let Some(object) = parent_object(&root, parents, value.is_some())? else {
        return Ok(text.to_owned());
    };
    match (object.get(key), value) {
        (Some(property), Some(value)) => property.set_value(input(value)),
        (Some(property), None) => property.remove(),
        (None, Some(value)) => drop(object.append(key, input(value))),
        (None, None) => {}
    }
    Ok(written(&root))
}

/// The text with strings added to the end of the list at `path`, but for those that it has already.
///
/// The list and the objects on the way are made where they are missing. An empty text becomes an object.
pub fn add_to_list(text: &str, path: &[&str], values: &[String]) -> Result<String, EditError> {
    let root = parsed(text)?;
    let Some(list) = list(&root, path, true)? else {
        return Ok(text.to_owned());
    };
    for value in values {
        if strings(&list).all(|(_, other)| other != *value) {
            list.append(CstInputValue::String(value.clone()));
        }
    }
    Ok(written(&root))
}

/// The text without a string in the list at `path`; `None` where the list does not have it.
pub fn remove_from_list(
    text: &str,
    path: &[&str],
    value: &str,
) -> Result<Option<String>, EditError> {
    let root = parsed(text)?;
    let Some(list) = list(&root, path, false)? else {
        return Ok(None);
    };
    let found: Vec<CstNode> = strings(&list)
        .filter(|(_, other)| other == value)
        .map(|(node, _)| node)
        .collect();
    if found.is_empty() {
        return Ok(None);
    }
    found.into_iter().for_each(CstNode::remove);
    Ok(Some(written(&root)))
}

fn parsed(text: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &strict_with_comments())
        .map_err(|error| EditError::Syntax(error.to_string()))
}

fn written(root: &CstRootNode) -> String {
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The list at a path; `None` when it is missing and not to be made.
fn list(root: &CstRootNode, path: &[&str], create: bool) -> Result<Option<CstArray>, EditError> {
    let Some((key, parents)) = path.split_last() else {
        return Ok(None);
    };
    let Some(object) = parent_object(root, parents, create)? else {
        return Ok(None);
    };
    match object.get(key) {
        None if !create => Ok(None),
        None => Ok(object.array_value_or_create(key)),
        Some(_) => match object.array_value(key) {
            Some(list) => Ok(Some(list)),
            None => Err(EditError::NotAList(format!("\"{key}\""))),
        },
    }
}

/// The strings of a list with their nodes.
fn strings(list: &CstArray) -> impl Iterator<Item = (CstNode, String)> {
    list.elements().into_iter().filter_map(|node| {
        let CstNode::Leaf(CstLeafNode::StringLit(text)) = &node else {
            return None;
        };
        let text = text.decoded_value().ok()?;
        Some((node, text))
    })
}

/// The object that holds the key; `None` when it is missing and not to be made.
fn parent_object(
    root: &CstRootNode,
    parents: &[&str],
    create: bool,
) -> Result<Option<CstObject>, EditError> {
    let top = root.object_value_or_create();
    let mut object = top.ok_or_else(|| EditError::NotAnObject("the outermost value".to_owned()))?;
    for name in parents {
        object = match object.get(name) {
            Some(property) => match property.value() {
                Some(CstNode::Container(container)) if container.is_object() => container
                    .as_object()
                    .ok_or_else(|| EditError::NotAnObject(format!("\"{name}\"")))?,
                _ => return Err(EditError::NotAnObject(format!("\"{name}\""))),
            },
            None if create => object.object_value_or_set(name),
            None => return Ok(None),
        };
    }
    Ok(Some(object))
}

fn input(value: &serde_json::Value) -> CstInputValue {
    match value {
        serde_json::Value::Null => CstInputValue::Null,
        serde_json::Value::Bool(value) => CstInputValue::Bool(*value),
        serde_json::Value::Number(number) => CstInputValue::Number(number.to_string()),
        serde_json::Value::String(text) => CstInputValue::String(text.clone()),
        serde_json::Value::Array(values) => {
            CstInputValue::Array(values.iter().map(input).collect())
        }
        serde_json::Value::Object(members) => CstInputValue::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), input(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests;
