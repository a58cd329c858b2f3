//! Messages and their parts, independent of any wire format.

use std::sync::Arc;

use crate::ModelId;

/// Author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user, or the harness on the user's behalf; also carries tool results.
    User,
    /// The model, including its tool calls.
    Assistant,
    /// The harness, within a conversation; a wire without this role sends a user message.
    System,
}

/// One message: parts in the order in which they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Author of the message.
    pub role: Role,
    /// Parts in order. Shared, so that the many requests of a conversation don't copy them.
    pub parts: Vec<Arc<MessagePart>>,
}

/// A part of a message (text, image, reasoning, tool call or tool result), with the opaque data
/// that the provider wants back.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagePart {
    /// Content that can be read.
    pub content: PartContent,
    /// A signature, or an encrypted form of `content`.
    pub opaque: Option<Opaque>,
}

/// Content of a message part: text, an image, reasoning, a tool call, or the result of one.
#[derive(Clone, Debug, PartialEq)]
pub enum PartContent {
    /// Plain text of any length.
    Text(String),
    /// An image, encoded as a file.
    Image {
        /// Media type, such as `image/png`.
        media_type: String,
        /// Bytes of the image file.
        bytes: Arc<[u8]>,
    },
    /// The model's reasoning. Empty if the provider exposes only the opaque form.
    Reasoning(String),
    /// A tool call by the model.
    ToolCall {
        /// Id of the call in this conversation; its result refers to it.
        id: String,
        /// Name of the tool.
        name: String,
        /// JSON for `ToolInput::Json`, plain text for `ToolInput::Text`; verbatim, so possibly
        /// invalid.
        arguments: String,
    },
    /// The result of a tool call.
    ToolResult {
        /// Id of the call that it answers.
        call: String,
        /// Text and images only.
        content: Vec<PartContent>,
        /// Whether the tool failed.
        is_error: bool,
    },
}

/// Provider data that only the same model can read: a signature or encrypted reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// The model that created the data; other models never receive it.
    pub model: ModelId,
    /// Verbatim JSON in a format known only to the wire's adapter.
    pub data: String,
}

impl Message {
    /// Creates a message from parts.
    pub fn new(role: Role, parts: impl IntoIterator<Item = impl Into<Arc<MessagePart>>>) -> Self {
        Self {
            role,
            parts: parts.into_iter().map(Into::into).collect(),
        }
    }

    /// Creates a message with a single text part.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, [MessagePart::text(text)])
    }
}

impl MessagePart {
    /// Creates a part without opaque data.
    pub fn new(content: PartContent) -> Self {
        Self {
            content,
            opaque: None,
        }
    }

    /// Creates a part of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()))
    }
}
