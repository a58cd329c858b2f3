//! Validation of a conversation against the rules of all wire formats.

use std::collections::HashSet;

use model::{Message, PartContent, Role};

/// Returns the defects of a conversation, as sentences; empty if every wire format accepts it.
///
/// The user speaks first; roles alternate; no message and no text is empty; every call has exactly
/// one result, in the next message, before anything else in it and in the order of the calls; no
/// two calls share an id.
pub fn problems(messages: &[Message]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut before = None;
    for (ix, message) in messages.iter().enumerate() {
        if message.parts.is_empty() {
            problems.push(format!("message {ix} is empty"));
        }
        match (before, message.role) {
            (None, Role::User) => {}
            (None, role) => problems.push(format!("message {ix} is the first and {role:?}'s")),
            (Some(before), role) if before == role => {
                problems.push(format!("message {ix} is {role:?}'s like the one before"));
            }
            _ => {}
        }
        before = Some(message.role);
        check_parts(ix, message, &mut open, &mut ids, &mut problems);
    }
    for call in open {
        problems.push(format!("call {call} at the end has no result"));
    }
    problems
}

fn check_parts<'a>(
    ix: usize,
    message: &'a Message,
    open: &mut Vec<&'a str>,
    ids: &mut HashSet<&'a str>,
    problems: &mut Vec<String>,
) {
    let answered: Vec<&str> = results(message).collect();
    if message.role == Role::Assistant && !open.is_empty() {
        problems.push(format!("message {ix} comes before the results of {open:?}"));
    }
    if message.role == Role::User && answered != *open {
        problems.push(format!(
            "message {ix} answers {answered:?}, and the calls were {open:?}"
        ));
    }
    open.clear();
    let mut is_past_results = false;
    for part in &message.parts {
        match (&part.content, message.role) {
            (PartContent::Text(text), _) if text.trim().is_empty() && part.opaque.is_none() => {
                problems.push(format!("message {ix} holds an empty text"));
            }
            (PartContent::ToolCall { id, name, .. }, Role::Assistant) => {
                if !ids.insert(id) {
                    problems.push(format!("the id {id} was used before"));
                }
                if name.is_empty() {
                    problems.push(format!("call {id} names no tool"));
                }
                open.push(id);
            }
            (PartContent::ToolResult { call, content, .. }, Role::User) => {
                if is_past_results {
                    problems.push(format!("the result of {call} comes after something else"));
                }
                if content.is_empty() {
                    problems.push(format!("the result of {call} is empty"));
                }
            }
            (PartContent::ToolCall { .. } | PartContent::ToolResult { .. }, role) => {
                problems.push(format!(
                    "message {ix} is {role:?}'s and holds a call or result"
                ));
            }
            (PartContent::Reasoning(_), Role::User) => {
                problems.push(format!("message {ix} is the user's and holds a thought"));
            }
            _ => {}
        }
        is_past_results |= !matches!(part.content, PartContent::ToolResult { .. });
    }
}

fn results(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match &part.content {
        PartContent::ToolResult { call, .. } => Some(call.as_str()),
        _ => None,
    })
}
