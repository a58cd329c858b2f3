//! Conversion of message parts between the stored form and the models' form.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{MessagePart, ModelId, Opaque, PartContent};

use crate::record::{StoredContent, StoredPart};

/// Converts a part to its stored form. Returns `None` for a tool result, which is stored with the
/// end of its call.
pub fn to_stored(part: &MessagePart) -> Option<StoredPart> {
    let opaque = part.opaque.as_ref();
    Some(StoredPart {
        content: stored_content(&part.content)?,
        opaque: opaque.map(|opaque| (opaque.model.to_string(), opaque.data.clone())),
    })
}

/// Converts the content of a part to its stored form, images in base64. Returns `None` for a tool
/// result, which is stored with the end of its call.
pub fn stored_content(content: &PartContent) -> Option<StoredContent> {
    Some(match content {
        PartContent::Text(text) => StoredContent::Text { text: text.clone() },
        PartContent::Reasoning(text) => StoredContent::Reasoning { text: text.clone() },
        PartContent::Image { media_type, bytes } => StoredContent::Image {
            media_type: media_type.clone(),
            data: STANDARD.encode(bytes),
        },
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => StoredContent::Call {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        },
        PartContent::ToolResult { .. } => return None,
    })
}

/// Converts the content of a tool result to its stored form, without opaque data. Nested tool
/// results are left out.
pub fn stored_answer(content: &[PartContent]) -> Vec<StoredPart> {
    let kept = content.iter().filter_map(stored_content);
    kept.map(to_text_part).collect()
}

/// Returns a stored text part.
pub fn text(text: impl Into<String>) -> StoredPart {
    to_text_part(StoredContent::Text { text: text.into() })
}

fn to_text_part(content: StoredContent) -> StoredPart {
    StoredPart {
        content,
        opaque: None,
    }
}

/// Converts a stored part to the models' form. An image that cannot be decoded becomes a text that
/// says so.
pub fn to_part(stored: &StoredPart) -> MessagePart {
    let opaque = stored.opaque.as_ref().and_then(|(model, data)| {
        Some(Opaque {
            model: ModelId::parse(model)?,
            data: data.clone(),
        })
    });
    MessagePart {
        content: content(&stored.content),
        opaque,
    }
}

/// Converts stored content to the models' form.
pub fn content(stored: &StoredContent) -> PartContent {
    match stored {
        StoredContent::Text { text } => PartContent::Text(text.clone()),
        StoredContent::Reasoning { text } => PartContent::Reasoning(text.clone()),
        StoredContent::Image { media_type, data } => match STANDARD.decode(data) {
            Ok(bytes) => PartContent::Image {
                media_type: media_type.clone(),
                bytes: bytes.into(),
            },
            Err(_) => {
                PartContent::Text("[A picture was here; it cannot be read any more.]".to_owned())
            }
        },
        StoredContent::Call {
            id,
            name,
            arguments,
        } => PartContent::ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        },
    }
}

/// Joins the texts of stored parts with line feeds; images, reasoning and calls are left out.
pub fn texts(parts: &[StoredPart]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.content {
        StoredContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
/// Serializes contents of parts in their stored form. Tool results are left out.
pub mod contents {
    use model::PartContent;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::{StoredContent, content, stored_content};

    /// Serializes `contents`.
    pub fn serialize<S: Serializer>(contents: &[PartContent], to: S) -> Result<S::Ok, S::Error> {
        let stored: Vec<StoredContent> = contents.iter().filter_map(stored_content).collect();
        stored.serialize(to)
    }

    /// Deserializes contents.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PartContent>, D::Error> {
        let stored = Vec::<StoredContent>::deserialize(from)?;
        Ok(stored.iter().map(content).collect())
    }
}
