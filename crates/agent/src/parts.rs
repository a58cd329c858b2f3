//! Pieces of messages between the form in which they are kept and the form in which models take them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Content, ModelId, Opaque, Part};

use crate::record::{StoredContent, StoredPart};

/// The kept form of a piece. `None` for a tool's result, which is kept as the end of its call.
pub fn stored(part: &Part) -> Option<StoredPart> {
    let opaque = part.opaque.as_ref();
    Some(StoredPart {
        content: stored_content(&part.content)?,
        opaque: opaque.map(|opaque| (opaque.model.to_string(), opaque.data.clone())),
    })
}

/// The kept form of what a piece says.
pub fn stored_content(content: &Content) -> Option<StoredContent> {
    Some(match content {
        Content::Text(text) => StoredContent::Text { text: text.clone() },
        Content::Reasoning(text) => StoredContent::Reasoning { text: text.clone() },
        Content::Image { media_type, bytes } => StoredContent::Image {
            media_type: media_type.clone(),
            data: STANDARD.encode(bytes),
        },
        Content::ToolCall {
            id,
            name,
            arguments,
        } => StoredContent::Call {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        },
        Content::ToolResult { .. } => return None,
    })
}

/// The kept form of what a tool answered.
pub fn stored_answer(content: &[Content]) -> Vec<StoredPart> {
    let kept = content.iter().filter_map(stored_content);
    kept.map(plain).collect()
}

/// A kept text.
pub fn text(text: impl Into<String>) -> StoredPart {
    plain(StoredContent::Text { text: text.into() })
}

fn plain(content: StoredContent) -> StoredPart {
    StoredPart {
        content,
        opaque: None,
    }
}

/// A kept piece as models take it. A picture that cannot be read is a text that says so.
pub fn part(stored: &StoredPart) -> Part {
    let opaque = stored.opaque.as_ref().and_then(|(model, data)| {
        Some(Opaque {
            model: ModelId::parse(model)?,
            data: data.clone(),
        })
    });
    Part {
        content: content(&stored.content),
        opaque,
    }
}

/// What a kept piece says.
pub fn content(stored: &StoredContent) -> Content {
    match stored {
        StoredContent::Text { text } => Content::Text(text.clone()),
        StoredContent::Reasoning { text } => Content::Reasoning(text.clone()),
        StoredContent::Image { media_type, data } => match STANDARD.decode(data) {
            Ok(bytes) => Content::Image {
                media_type: media_type.clone(),
                bytes: bytes.into(),
            },
            Err(_) => Content::Text("[A picture was here; it cannot be read any more.]".to_owned()),
        },
        StoredContent::Call {
            id,
            name,
            arguments,
        } => Content::ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        },
    }
}

/// The texts of kept pieces, one after the other.
pub fn texts(parts: &[StoredPart]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.content {
        StoredContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
