//! Incremental construction of a request body. The conversation makes up most of it and grows with
//! every request, so each item is serialized as soon as it is built, without a tree of the whole.

use std::io::Write as _;

use model::{ModelRequest, PartContent};
use serde_json::{Map, Value};

use super::options::WireOptions;

/// Maximum overhead of a part besides its texts, in bytes.
const PART_OVERHEAD: usize = 512;
/// Capacity reserved for the body besides the list, in bytes: tools, the system prompt.
const ENVELOPE_CAPACITY: usize = 256 << 10;

/// The list that makes up most of a body, serialized incrementally.
pub(crate) struct BodyItems {
    /// The serialized list, without its brackets.
    bytes: Vec<u8>,
}

impl BodyItems {
    /// Allocates capacity for the whole body: untouched pages cost nothing, while a growing buffer
    /// leaves holes in the heap that the next, longer one does not fit into.
    pub(crate) fn with_room(request: &ModelRequest) -> Self {
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let bytes: usize = parts
            .map(|part| PART_OVERHEAD + 2 * length(&part.content))
            .sum();
        Self {
            bytes: Vec::with_capacity(bytes + ENVELOPE_CAPACITY),
        }
    }

    /// Serializes an item and appends it to the list.
    pub(crate) fn push(&mut self, item: &Value) {
        if !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        write(&mut self.bytes, item);
    }

    /// Builds the body: the members `before`, the list as `name`, the members `after`, and the
    /// extra members of the options, which override ours.
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
            let ours = if before.contains_key(member) {
                &mut before
            } else {
                &mut after
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
        // Remove the comma after the last member.
        body.pop();
        body.push(b'}');
        body
    }
}

/// Serializes a short body, with the extra members of the options.
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

/// Appends a member and a comma.
fn add(bytes: &mut Vec<u8>, member: &str, value: &Value) {
    write(bytes, &Value::from(member));
    bytes.push(b':');
    write(bytes, value);
    bytes.push(b',');
}

fn write(bytes: &mut Vec<u8>, value: &Value) {
    if let Err(error) = write!(bytes, "{value}") {
        base::never!("writing to memory cannot fail: {error}");
    }
}

/// Returns the bytes of a part's texts, and of its images in base64.
fn length(content: &PartContent) -> usize {
    match content {
        PartContent::Text(text) | PartContent::Reasoning(text) => text.len(),
        PartContent::Image { bytes, .. } => bytes.len(),
        PartContent::ToolCall { arguments, .. } => arguments.len(),
        PartContent::ToolResult { content, .. } => content
            .iter()
            .map(|content| PART_OVERHEAD + length(content))
            .sum(),
    }
}

#[cfg(test)]
mod tests;
