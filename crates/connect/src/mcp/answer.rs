//! Results of MCP tools, in plain types.

use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;

/// The result of an MCP tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct McpToolResult {
    /// The content parts, in order.
    pub content: Vec<McpContent>,
    /// The structured content, if the tool returns any.
    pub structured: Option<Value>,
    /// Whether the tool reports a failure. The model sees it and may correct the call.
    pub is_error: bool,
}

/// A content part of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum McpContent {
    /// Plain text for the model.
    Text(String),
    /// An image with its data.
    Image {
        /// The media type of the image.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// Audio with its data.
    Audio {
        /// The media type of the audio.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// An embedded resource with its contents.
    Resource {
        /// The URI of the resource.
        uri: String,
        /// The media type of the resource.
        media_type: Option<String>,
        /// Its text, or its bytes in base64.
        body: ResourceBody,
    },
    /// A link to a resource that can be read.
    Link {
        /// The URI of the resource.
        uri: String,
        /// The name of the resource.
        name: String,
        /// The description of the resource.
        description: Option<String>,
        /// The media type of the resource.
        media_type: Option<String>,
    },
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// The text of the resource.
    Text(String),
    /// The bytes of the resource in base64.
    Bytes(String),
}

impl McpToolResult {
    /// Converts a result. Leaves out content of unknown kinds.
    pub(crate) fn new(result: CallToolResult) -> Self {
        Self {
            content: result
                .content
                .into_iter()
                .filter_map(McpContent::new)
                .collect(),
            structured: result.structured_content,
            is_error: result.is_error == Some(true),
        }
    }

    /// Returns a successful result without content.
    pub(crate) fn empty() -> Self {
        Self {
            content: Vec::new(),
            structured: None,
            is_error: false,
        }
    }

    /// Returns the result as text. Never empty: a result without content says so.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().map(McpContent::text).collect();
        match (texts.is_empty(), &self.structured) {
            (false, _) => texts.join("\n"),
            (true, Some(structured)) => structured.to_string(),
            (true, None) => "(the tool answered without content)".to_owned(),
        }
    }
}

impl McpContent {
    /// Converts a content part. Returns `None` for a kind that was added to the protocol later.
    pub(crate) fn new(block: ContentBlock) -> Option<Self> {
        Some(match block {
            ContentBlock::Text(text) => Self::Text(text.text),
            ContentBlock::Image(image) => Self::Image {
                media_type: image.mime_type,
                data: image.data,
            },
            ContentBlock::Audio(audio) => Self::Audio {
                media_type: audio.mime_type,
                data: audio.data,
            },
            ContentBlock::Resource(resource) => Self::resource(resource.resource)?,
            ContentBlock::ResourceLink(link) => Self::link(link),
            _ => return None,
        })
    }

    /// Converts the contents of a resource. Returns `None` for a kind that was added to the
    /// protocol later.
    pub(crate) fn resource(contents: ResourceContents) -> Option<Self> {
        let (uri, media_type, body) = match contents {
            ResourceContents::TextResourceContents {
                uri,
                mime_type,
                text,
                ..
            } => (uri, mime_type, ResourceBody::Text(text)),
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => (uri, mime_type, ResourceBody::Bytes(blob)),
            _ => return None,
        };
        Some(Self::Resource {
            uri,
            media_type,
            body,
        })
    }

    fn link(link: Resource) -> Self {
        Self::Link {
            uri: link.uri,
            name: link.title.unwrap_or(link.name),
            description: link.description,
            media_type: link.mime_type,
        }
    }

    /// Returns the part as text; images and audio are described.
    pub fn text(&self) -> String {
        // Four characters of base64 are three bytes.
        let size = |data: &str| data.len() / 4 * 3;
        match self {
            Self::Text(text) => text.clone(),
            Self::Image { media_type, data } => {
                format!("[a picture, {media_type}, {} bytes]", size(data))
            }
            Self::Audio { media_type, data } => {
                format!("[a sound, {media_type}, {} bytes]", size(data))
            }
            Self::Resource {
                uri,
                body: ResourceBody::Text(text),
                ..
            } => format!("{uri}:\n{text}"),
            Self::Resource {
                uri,
                body: ResourceBody::Bytes(data),
                ..
            } => format!("[{uri}, {} bytes]", size(data)),
            Self::Link {
                uri,
                name,
                description,
                ..
            } => match description {
                Some(description) => format!("[{name}: {uri}] {description}"),
                None => format!("[{name}: {uri}]"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(value: Value) -> McpToolResult {
        McpToolResult::new(serde_json::from_value(value).expect("a result"))
    }

    #[test]
    fn every_kind_of_content_is_kept_and_can_be_read() {
        let found = answer(json!({ "content": [
            { "type": "text", "text": "hello" },
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "a://1", "mimeType": "text/plain", "text": "one" } },
            { "type": "resource", "resource": { "uri": "a://2", "blob": "AAAA" } },
            { "type": "resource_link", "uri": "a://3", "name": "three", "description": "The third." }
        ], "structuredContent": { "n": 1 }, "isError": true }));
        assert!(found.is_error);
        assert_eq!(found.structured, Some(json!({ "n": 1 })));
        let text = "hello\n[a picture, image/png, 3 bytes]\n[a sound, audio/wav, 3 bytes]\na://1:\none\n\
                    [a://2, 3 bytes]\n[three: a://3] The third.";
        assert_eq!(found.text(), text);
    }

    #[test]
    fn empty_result_has_a_text() {
        assert_eq!(
            answer(json!({ "content": [] })).text(),
            "(the tool answered without content)"
        );
        let structured = answer(json!({ "structuredContent": [1] }));
        assert_eq!(structured.text(), "[1]");
    }
}
