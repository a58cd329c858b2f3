//! Edits one key or list in a file written by the user, keeping comments, order and spacing.

use jsonc_parser::cst::{CstArray, CstInputValue, CstLeafNode, CstNode, CstObject, CstRootNode};

use crate::document::strict_with_comments;

/// Reason why a settings text could not be edited. The user must fix the text first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is not valid JSONC; the string is the parser's message.
    #[error("cannot change the settings file: {0}")]
    Syntax(String),
    /// A parent of the key is not an object; the string is its path.
    #[error("cannot change the settings file: {0} is not an object")]
    NotAnObject(String),
    /// The value at the key is not a list; the string is its path.
    #[error("cannot change the settings file: {0} is not a list")]
    NotAList(String),
}

/// Returns the text with the value at `path` set, or removed if `value` is `None`; comments and
/// layout stay.
///
/// Missing parent objects are created. An empty text becomes an object. An empty path changes
/// nothing.
///
/// # Errors
///
/// Fails if the text is not valid JSONC, or a parent is not an object.
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

/// Returns the text with strings appended to the list at `path`, skipping those already present.
///
/// The list and missing parent objects are created. An empty text becomes an object.
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

/// Returns the text without the string `value` in the list at `path`; `None` if the list is missing
/// or does not contain it.
///
/// # Errors
///
/// Fails if the text is not valid JSONC, or the value at `path` is not a list.
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

/// Parses a file for editing. Returns an error at the first syntax error.
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

/// Returns the list at a path; `None` if it is missing and `create` is false.
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

/// Iterates over the strings of a list with their nodes.
fn strings(list: &CstArray) -> impl Iterator<Item = (CstNode, String)> {
    list.elements().into_iter().filter_map(|node| {
        let CstNode::Leaf(CstLeafNode::StringLit(text)) = &node else {
            return None;
        };
        let text = text.decoded_value().ok()?;
        Some((node, text))
    })
}

/// Returns the object at the path `parents` in the file, in which a key is read or written. Missing
/// objects are created if `create` is true; otherwise they give `None`.
///
/// # Errors
/// If a value on the path is not an object.
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
