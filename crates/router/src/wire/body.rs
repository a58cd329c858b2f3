//! A request's body while it is written. The conversation is by far the longest of it and grows with every request,
//! so each of its items becomes bytes as soon as it is made: there is never a tree of all of them.

use std::io::Write as _;

use model::{Content, Request};
use serde_json::{Map, Value};

use super::options::WireOptions;

/// Bytes that a part may take beside its texts.
const PART: usize = 512;
/// Bytes that may be left for the rest of a body: tools, the system prompt.
const REST: usize = 256 << 10;

/// The list that makes most of a body, as it is written.
pub(crate) struct Items {
    /// The list, without its brackets.
    bytes: Vec<u8>,
}

impl Items {
    /// With room for a request's whole body: pages that stay untouched cost nothing, while a buffer that grows leaves
    /// holes behind that the next, longer one does not fit into.
    pub(crate) fn with_room(request: &Request) -> Self {
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let bytes: usize = parts.map(|part| PART + 2 * length(&part.content)).sum();
        Self {
            bytes: Vec::with_capacity(bytes + REST),
        }
    }

    pub(crate) fn push(&mut self, item: &Value) {
        if !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        write(&mut self.bytes, item);
    }

    /// The body: the members `before`, the list as `name`, the members `after`; and those of the options, which win
    /// over ours.
    pub(crate) fn finish(
        self,
        mut before: Map<String, Value>,
        name: &str,
        mut after: Map<String, Value>,
        options: &WireOptions,
    ) -> Vec<u8> {
        let mut other_list = None;
        for (member, value) in &options.extra {
            if member == name {
                other_list = Some(value);
                continue;
            }
            let ours = match before.contains_key(member) {
                true => &mut before,
                false => &mut after,
            };
            set(ours, member, value);
        }
        let mut body = self.bytes;
        if let Some(value) = other_list {
            body.clear();
            write(&mut body, value);
        } else {
            body.push(b']');
        }
        let mut head = vec![b'{'];
        for (member, value) in &before {
            add(&mut head, member, value);
        }
        write(&mut head, &Value::from(name));
        head.push(b':');
        if other_list.is_none() {
            head.push(b'[');
        }
        body.splice(0..0, head);
        body.push(b',');
        for (member, value) in &after {
            add(&mut body, member, value);
        }
        // Behind the last member stands a comma.
        body.pop();
        body.push(b'}');
        body
    }
}

/// A short body's bytes, with the further members of the options.
pub(crate) fn finish(mut body: Map<String, Value>, options: &WireOptions) -> Vec<u8> {
    for (name, value) in &options.extra {
        set(&mut body, name, value);
    }
    Value::Object(body).to_string().into_bytes()
}

fn set(body: &mut Map<String, Value>, name: &str, value: &Value) {
    match (body.get_mut(name), value) {
        (Some(Value::Object(ours)), Value::Object(theirs)) => ours.extend(theirs.clone()),
        _ => {
            body.insert(name.to_owned(), value.clone());
        }
    }
}

/// Adds a member and a comma.
fn add(bytes: &mut Vec<u8>, member: &str, value: &Value) {
    write(bytes, &Value::from(member));
    bytes.push(b':');
    write(bytes, value);
    bytes.push(b',');
}

fn write(bytes: &mut Vec<u8>, value: &Value) {
    if let Err(error) = write!(bytes, "{value}") {
        base::never!("memory takes what is written to it: {error}");
    }
}

/// Bytes of a part's texts, and of its pictures as letters.
fn length(content: &Content) -> usize {
    match content {
        Content::Text(text) | Content::Reasoning(text) => text.len(),
        Content::Image { bytes, .. } => bytes.len(),
        Content::ToolCall { arguments, .. } => arguments.len(),
        Content::ToolResult { content, .. } => {
            content.iter().map(|content| PART + length(content)).sum()
        }
    }
}

#[cfg(test)]
mod tests;
