//! Messages and their parts, in the form every wire is made from.

use std::sync::Arc;

use crate::ModelId;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person, or the harness in their name; carries tool results too.
    User,
    /// The model.
    Assistant,
    /// The harness, in the middle of a conversation; a wire without it sends a user message.
    System,
}

/// One message: parts in the order in which they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// What it holds, in order. Shared, so that each of a conversation's many requests costs no copy of it.
    pub parts: Vec<Arc<Part>>,
}

/// A piece of a message, with what the provider wants back beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it says.
    pub content: Content,
    /// A signature or an encrypted twin of `content`.
    pub opaque: Option<Opaque>,
}

/// What a part says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A picture.
    Image {
        /// Its media type, such as `image/png`.
        media_type: String,
        /// The file's bytes.
        bytes: Arc<[u8]>,
    },
    /// What the model thought. Empty where the provider shows only the opaque form.
    Reasoning(String),
    /// The model calls a tool.
    ToolCall {
        /// The call's name in this conversation; its result refers to it.
        id: String,
        /// Which tool.
        name: String,
        /// JSON for `ToolInput::Json`, the text itself for `ToolInput::Text`; kept as it was written,
        /// which may be invalid.
        arguments: String,
    },
    /// What a tool answered.
    ToolResult {
        /// The call it answers.
        call: String,
        /// Text and images only.
        content: Vec<Content>,
        /// Whether the tool failed.
        is_error: bool,
    },
}

/// Bytes of a provider that only the same model can read: a signature, encrypted reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// The model that made it; another model never sees it.
    pub model: ModelId,
    /// JSON, verbatim, in a shape that only the wire's adapter knows.
    pub data: String,
}

impl Message {
    /// A message of these parts.
    pub fn new(role: Role, parts: impl IntoIterator<Item = impl Into<Arc<Part>>>) -> Self {
        Self {
            role,
            parts: parts.into_iter().map(Into::into).collect(),
        }
    }

    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, [Part::text(text)])
    }
}

impl Part {
    /// A part without anything opaque.
    pub fn new(content: Content) -> Self {
        Self {
            content,
            opaque: None,
        }
    }

    /// A part of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }
}
