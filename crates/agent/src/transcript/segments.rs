//! The segments of a prompt in order, each with its origin; and the length of the prefix that a
//! prompt shares with the previous one.

use std::sync::Arc;

use host::ContentHash;
use model::{MessagePart, PartContent, ToolInput, ToolSpec};

use super::{AssistantMessage, INTERRUPTED, Transcript, TranscriptItem};
use crate::record::PromptOrigin;

/// The role of a segment in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentRole {
    /// Tools and the system prompt.
    System,
    /// Messages to the model, including results.
    User,
    /// Messages of the model.
    Assistant,
}

/// A segment of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptSegment {
    /// The role of the segment.
    pub role: SegmentRole,
    /// The source of its text.
    pub origin: PromptOrigin,
    /// The content of the segment.
    pub part: Arc<MessagePart>,
    /// A hash of role and part.
    pub hash: u64,
}

/// A borrowed segment during a traversal, which happens for every request and must not copy.
pub(super) struct SegmentRef<'a> {
    pub(super) role: SegmentRole,
    pub(super) part: Arc<MessagePart>,
    hash: u64,
    pub(super) source: SegmentSource<'a>,
}

/// The borrowed origin of a segment.
pub(super) enum SegmentSource<'a> {
    Said(&'a PromptOrigin),
    Model(&'a str),
    Tool { call: &'a str, tool: &'a str },
    Harness,
}

/// The hashes of a prompt's segments, which show how much of the next prompt is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFingerprint {
    /// A hash and a length in bytes for each segment.
    pieces: Vec<(u64, u64)>,
}

/// Size that an image counts as, in bytes: a model reads about 1,600 tokens per image, independent
/// of its file size.
const PICTURE: usize = 4_800;

/// The first message of a truncated conversation; every wire format requires the user to speak
/// first.
const MISSING: &str = "[The beginning of this conversation is not shown.]";

impl Transcript {
    /// Returns the segments of the prompt in order, without tools.
    pub fn segments(&self) -> Vec<PromptSegment> {
        let mut pieces = Vec::new();
        self.walk(&mut |piece| {
            pieces.push(PromptSegment {
                role: piece.role,
                origin: piece.source.origin(),
                part: piece.part,
                hash: piece.hash,
            });
        });
        pieces
    }

    /// Returns the segments of the prompt with their origins, tools first, as `--show-prompt` lists
    /// them.
    pub fn listing(&self, tools: &[(String, ToolSpec)]) -> Vec<(PromptOrigin, String)> {
        let offered = tools.iter().map(|(tool, spec)| {
            let origin = PromptOrigin::ToolSpec { tool: tool.clone() };
            (origin, spec_text(spec))
        });
        let said = self.segments().into_iter();
        offered
            .chain(said.map(|piece| (piece.origin.clone(), piece.text())))
            .collect()
    }

    /// Returns the fingerprint of the prompt.
    pub fn fingerprint(&self, tools: &[(String, ToolSpec)]) -> PromptFingerprint {
        let mut pieces: Vec<(u64, u64)> = Vec::with_capacity(tools.len() + self.items.len());
        for (_, spec) in tools {
            let text = spec_text(spec);
            pieces.push((short(ContentHash::of(text.as_bytes())), text.len() as u64));
        }
        self.walk(&mut |piece| pieces.push((piece.hash, bytes(&piece.part.content))));
        PromptFingerprint { pieces }
    }

    /// Passes every segment to `take`, in order.
    pub(super) fn walk<'a>(&'a self, take: &mut dyn FnMut(SegmentRef<'a>)) {
        for said in &self.system {
            take(SegmentRef {
                role: SegmentRole::System,
                source: SegmentSource::Said(&said.origin),
                part: said.part.clone(),
                hash: said.hash,
            });
        }
        if let Some(TranscriptItem::Answer(_)) = self.items.first() {
            take(harness(MessagePart::text(MISSING)));
        }
        for item in &self.items {
            match item {
                TranscriptItem::Said(said) => take(SegmentRef {
                    role: SegmentRole::User,
                    source: SegmentSource::Said(&said.origin),
                    part: said.part.clone(),
                    hash: said.hash,
                }),
                TranscriptItem::Answer(answer) => answer.walk(take),
            }
        }
    }
}

impl AssistantMessage {
    fn walk<'a>(&'a self, take: &mut dyn FnMut(SegmentRef<'a>)) {
        for (part, hash) in self.parts.iter().zip(&self.hashes) {
            if let PartContent::ToolCall { id, .. } = &part.content
                && !self.is_sent(id)
            {
                continue;
            }
            take(SegmentRef {
                role: SegmentRole::Assistant,
                source: SegmentSource::Model(&self.model),
                part: part.clone(),
                hash: *hash,
            });
        }
        for slot in self.calls.iter().filter(|slot| !slot.is_dropped) {
            take(match &slot.result {
                Some(result) => SegmentRef {
                    role: SegmentRole::User,
                    source: SegmentSource::Tool {
                        call: &slot.id,
                        tool: &result.tool,
                    },
                    part: result.part.clone(),
                    hash: result.hash,
                },
                None => harness(MessagePart::new(PartContent::ToolResult {
                    call: slot.id.clone(),
                    content: vec![PartContent::Text(INTERRUPTED.to_owned())],
                    is_error: true,
                })),
            });
        }
    }
}

impl SegmentSource<'_> {
    fn origin(&self) -> PromptOrigin {
        match *self {
            Self::Said(origin) => origin.clone(),
            Self::Model(model) => PromptOrigin::Model {
                model: model.to_owned(),
            },
            Self::Tool { call, tool } => PromptOrigin::Tool {
                call: call.to_owned(),
                tool: tool.to_owned(),
            },
            Self::Harness => PromptOrigin::Harness,
        }
    }
}

impl PromptSegment {
    /// Returns its text; images and hidden reasoning are described by their size.
    pub fn text(&self) -> String {
        match &self.part.content {
            PartContent::Text(text) => text.clone(),
            PartContent::Reasoning(text) => {
                let hidden = self.part.opaque.as_ref();
                match hidden.map(|opaque| opaque.data.len()) {
                    Some(length) if text.is_empty() => {
                        format!("[{length} bytes of hidden thought]")
                    }
                    _ => text.clone(),
                }
            }
            PartContent::Image { media_type, bytes } => {
                format!("[{media_type}, {} bytes]", bytes.len())
            }
            PartContent::ToolCall {
                name, arguments, ..
            } => format!("{name} {arguments}"),
            PartContent::ToolResult { content, .. } => {
                let texts = content.iter().map(|content| match content {
                    PartContent::Text(text) => text.clone(),
                    PartContent::Image { media_type, bytes } => {
                        format!("[{media_type}, {} bytes]", bytes.len())
                    }
                    _ => String::new(),
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Returns its size in bytes, without the wire format's overhead.
    pub fn bytes(&self) -> u64 {
        bytes(&self.part.content)
    }
}

impl PromptFingerprint {
    /// Returns the size of the prompt, in bytes.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Returns the length of the prefix shared with the previous prompt, in bytes, counted in whole
    /// segments: the part that a provider's cache can serve.
    pub fn same_bytes(&self, before: &Self) -> u64 {
        let pairs = self.pieces.iter().zip(&before.pieces);
        pairs
            .take_while(|(one, other)| one == other)
            .map(|((_, bytes), _)| bytes)
            .sum()
    }

    /// Returns a hash of the whole prompt, in hexadecimal.
    pub fn hash(&self) -> String {
        let mut all = Vec::with_capacity(self.pieces.len() * 8);
        for (hash, _) in &self.pieces {
            all.extend_from_slice(&hash.to_le_bytes());
        }
        format!("{:032x}", ContentHash::of(&all).0)
    }
}

fn harness(part: MessagePart) -> SegmentRef<'static> {
    SegmentRef {
        role: SegmentRole::User,
        source: SegmentSource::Harness,
        hash: hash_of(SegmentRole::User, &part),
        part: part.into(),
    }
}

/// Formats a tool's specification as text.
pub(super) fn spec_text(spec: &ToolSpec) -> String {
    let input = match &spec.input {
        ToolInput::Json(schema) => schema.to_string(),
        ToolInput::Text { grammar } => grammar.clone().unwrap_or_default(),
    };
    format!("{}\n{}\n{input}", spec.name, spec.description)
}

/// Returns a hash of role and content, for comparing prompts.
pub(super) fn hash_of(role: SegmentRole, part: &MessagePart) -> u64 {
    let mut all = Vec::new();
    all.push(match role {
        SegmentRole::System => b's',
        SegmentRole::User => b'u',
        SegmentRole::Assistant => b'a',
    });
    write(&part.content, &mut all);
    if let Some(opaque) = &part.opaque {
        write_text(&opaque.data, &mut all);
    }
    short(ContentHash::of(&all))
}

fn write(content: &PartContent, all: &mut Vec<u8>) {
    match content {
        PartContent::Text(text) => {
            all.push(b't');
            write_text(text, all);
        }
        PartContent::Reasoning(text) => {
            all.push(b'r');
            write_text(text, all);
        }
        PartContent::Image { media_type, bytes } => {
            all.push(b'i');
            write_text(media_type, all);
            all.extend_from_slice(bytes);
        }
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => {
            all.push(b'c');
            for text in [id, name, arguments] {
                write_text(text, all);
            }
        }
        PartContent::ToolResult {
            call,
            content,
            is_error,
        } => {
            all.push(if *is_error { b'e' } else { b'o' });
            write_text(call, all);
            for content in content {
                write(content, all);
            }
        }
    }
}

fn write_text(text: &str, all: &mut Vec<u8>) {
    all.extend_from_slice(&(text.len() as u64).to_le_bytes());
    all.extend_from_slice(text.as_bytes());
}

/// Returns the lower 64 bits of a hash.
fn short(hash: ContentHash) -> u64 {
    hash.0 as u64
}

/// Returns the size of a part in bytes, as `PromptSegment::bytes` counts.
pub(super) fn part_bytes(part: &MessagePart) -> u64 {
    bytes(&part.content)
}

/// Returns the bytes that content counts for: the lengths of its texts, and `PICTURE` for an image.
fn bytes(content: &PartContent) -> u64 {
    let count = match content {
        PartContent::Text(text) | PartContent::Reasoning(text) => text.len(),
        PartContent::Image { .. } => PICTURE,
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => id.len() + name.len() + arguments.len(),
        PartContent::ToolResult { call, content, .. } => {
            let inner: u64 = content.iter().map(bytes).sum();
            return call.len() as u64 + inner;
        }
    };
    count as u64
}
