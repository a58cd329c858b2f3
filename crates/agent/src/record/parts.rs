//! The stored forms of message parts and token counts.

use serde::{Deserialize, Serialize};

/// A stored message part: the serializable form of `model::MessagePart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredPart {
    /// The content of the part.
    #[serde(flatten)]
    pub content: StoredContent,
    /// The model that produced the opaque data, and the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<(String, String)>,
}

/// The content of a stored part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum StoredContent {
    /// Plain text of a message.
    Text {
        /// The text of the part.
        text: String,
    },
    /// Reasoning of the model.
    Reasoning {
        /// The reasoning text; empty where only the opaque form is known.
        text: String,
    },
    /// An image in a message.
    Image {
        /// The media type of the image.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// A call of a tool.
    Call {
        /// The id of the call.
        id: String,
        /// The name the model used for the tool.
        name: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
}

/// Tokens used by an answer, by the kind in which providers bill them: prompt tokens outside and
/// inside the cache, tokens written to the cache, and generated ones, of which `reasoning` counts
/// the model's thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StoredUsage {
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
    pub reasoning: u64,
}
