//! What a tool of a server answers, in plain types.

use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;

/// What a tool of a server answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignAnswer {
    /// Its pieces, in order.
    pub content: Vec<ForeignContent>,
    /// The same in a form for programs, where the tool has one.
    pub structured: Option<Value>,
    /// The tool says that it failed. The model is told, and may do better.
    pub is_error: bool,
}

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ForeignContent {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// Its media type.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A sound.
    Audio {
        /// Its media type.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A resource with what it holds.
    Resource {
        /// Its address.
        uri: String,
        /// Its media type.
        media_type: Option<String>,
        /// Its text, or its bytes in base64.
        body: Body,
    },
    /// A resource that can be read.
    Link {
        /// Its address.
        uri: String,
        /// Its name.
        name: String,
        /// What it is.
        description: Option<String>,
        /// Its media type.
        media_type: Option<String>,
    },
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Bytes(String),
}

impl ForeignAnswer {
    pub(crate) fn new(result: CallToolResult) -> Self {
        Self {
            content: result
                .content
                .into_iter()
                .filter_map(ForeignContent::new)
                .collect(),
            structured: result.structured_content,
            is_error: result.is_error == Some(true),
        }
    }

    pub(crate) fn empty() -> Self {
        Self {
            content: Vec::new(),
            structured: None,
            is_error: false,
        }
    }

    /// What a model without eyes reads of it. Never empty: an answer without content says so.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().map(ForeignContent::text).collect();
        match (texts.is_empty(), &self.structured) {
            (false, _) => texts.join("\n"),
            (true, Some(structured)) => structured.to_string(),
            (true, None) => "(the tool answered without content)".to_owned(),
        }
    }
}

impl ForeignContent {
    /// `None` for a kind that came into the protocol later.
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

    pub(crate) fn resource(contents: ResourceContents) -> Option<Self> {
        let (uri, media_type, body) = match contents {
            ResourceContents::TextResourceContents {
                uri,
                mime_type,
                text,
                ..
            } => (uri, mime_type, Body::Text(text)),
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => (uri, mime_type, Body::Bytes(blob)),
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

    /// What a model without eyes and ears reads of it.
    pub fn text(&self) -> String {
        // Four letters of base64 are three bytes.
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
                body: Body::Text(text),
                ..
            } => format!("{uri}:\n{text}"),
            Self::Resource {
                uri,
                body: Body::Bytes(data),
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

    fn answer(value: Value) -> ForeignAnswer {
        ForeignAnswer::new(serde_json::from_value(value).expect("a result"))
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
    fn an_empty_answer_is_not_silence() {
        assert_eq!(
            answer(json!({ "content": [] })).text(),
            "(the tool answered without content)"
        );
        let structured = answer(json!({ "structuredContent": [1] }));
        assert_eq!(structured.text(), "[1]");
    }
}
