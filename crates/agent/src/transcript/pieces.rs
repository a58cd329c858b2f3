//! The pieces of a prompt in their order, each with where it comes from; and how much of a prompt is the same as
//! that of the one before.

use std::sync::Arc;

use host::ContentHash;
use model::{Content, Part, ToolInput, ToolSpec};

use super::{Answer, INTERRUPTED, Item, Transcript};
use crate::record::Origin;

/// Where in a prompt a piece stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceRole {
    /// Tools and the system prompt.
    System,
    /// What is said to the model, results included.
    User,
    /// What a model said.
    Assistant,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Where it stands.
    pub role: PieceRole,
    /// Where it comes from.
    pub origin: Origin,
    /// What it says.
    pub part: Arc<Part>,
    /// A hash of role and part.
    pub hash: u64,
}

/// A piece while the prompt is gone through, which happens for every request: nothing is copied.
pub(super) struct Passing<'a> {
    pub(super) role: PieceRole,
    pub(super) part: Arc<Part>,
    hash: u64,
    source: Source<'a>,
}

/// Where a piece comes from.
enum Source<'a> {
    Said(&'a Origin),
    Model(&'a str),
    Tool { call: &'a str, tool: &'a str },
    Harness,
}

/// The pieces of a prompt as hashes: tells how much of the next prompt begins alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// A hash and a length in bytes for each piece.
    pieces: Vec<(u64, u64)>,
}

/// Bytes that a picture counts as: a model reads about 1,600 tokens of one, however many bytes its file has.
const PICTURE: usize = 4_800;

/// What begins a conversation of which the beginning is missing; every wire wants the person to speak first.
const MISSING: &str = "[The beginning of this conversation is not shown.]";

impl Transcript {
    /// Every piece of the prompt in its order, tools apart.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.walk(&mut |piece| {
            pieces.push(Piece {
                role: piece.role,
                origin: piece.source.origin(),
                part: piece.part,
                hash: piece.hash,
            });
        });
        pieces
    }

    /// Every piece of the prompt with its origin, tools first, as `--show-prompt` lists them: origin and text.
    pub fn listing(&self, tools: &[(String, ToolSpec)]) -> Vec<(Origin, String)> {
        let offered = tools.iter().map(|(tool, spec)| {
            let origin = Origin::ToolSpec { tool: tool.clone() };
            (origin, spec_text(spec))
        });
        let said = self.pieces().into_iter();
        offered
            .chain(said.map(|piece| (piece.origin.clone(), piece.text())))
            .collect()
    }

    /// The prompt's fingerprint.
    pub fn fingerprint(&self, tools: &[(String, ToolSpec)]) -> Fingerprint {
        let mut pieces: Vec<(u64, u64)> = Vec::with_capacity(tools.len() + self.items.len());
        for (_, spec) in tools {
            let text = spec_text(spec);
            pieces.push((short(ContentHash::of(text.as_bytes())), text.len() as u64));
        }
        self.walk(&mut |piece| pieces.push((piece.hash, bytes(&piece.part.content))));
        Fingerprint { pieces }
    }

    /// Hands over every piece in order.
    pub(super) fn walk<'a>(&'a self, take: &mut dyn FnMut(Passing<'a>)) {
        for said in &self.system {
            take(Passing {
                role: PieceRole::System,
                source: Source::Said(&said.origin),
                part: said.part.clone(),
                hash: said.hash,
            });
        }
        if let Some(Item::Answer(_)) = self.items.first() {
            take(harness(Part::text(MISSING)));
        }
        for item in &self.items {
            match item {
                Item::Said(said) => take(Passing {
                    role: PieceRole::User,
                    source: Source::Said(&said.origin),
                    part: said.part.clone(),
                    hash: said.hash,
                }),
                Item::Answer(answer) => answer.walk(take),
            }
        }
    }
}

impl Answer {
    fn walk<'a>(&'a self, take: &mut dyn FnMut(Passing<'a>)) {
        for (part, hash) in self.parts.iter().zip(&self.hashes) {
            if let Content::ToolCall { id, .. } = &part.content
                && !self.is_sent(id)
            {
                continue;
            }
            take(Passing {
                role: PieceRole::Assistant,
                source: Source::Model(&self.model),
                part: part.clone(),
                hash: *hash,
            });
        }
        for slot in self.calls.iter().filter(|slot| !slot.is_dropped) {
            take(match &slot.result {
                Some(result) => Passing {
                    role: PieceRole::User,
                    source: Source::Tool {
                        call: &slot.id,
                        tool: &result.tool,
                    },
                    part: result.part.clone(),
                    hash: result.hash,
                },
                None => harness(Part::new(Content::ToolResult {
                    call: slot.id.clone(),
                    content: vec![Content::Text(INTERRUPTED.to_owned())],
                    is_error: true,
                })),
            });
        }
    }
}

impl Source<'_> {
    fn origin(&self) -> Origin {
        match *self {
            Self::Said(origin) => origin.clone(),
            Self::Model(model) => Origin::Model {
                model: model.to_owned(),
            },
            Self::Tool { call, tool } => Origin::Tool {
                call: call.to_owned(),
                tool: tool.to_owned(),
            },
            Self::Harness => Origin::Harness,
        }
    }
}

impl Piece {
    /// What it says, in letters; pictures and hidden thoughts by their size.
    pub fn text(&self) -> String {
        match &self.part.content {
            Content::Text(text) => text.clone(),
            Content::Reasoning(text) => {
                let hidden = self.part.opaque.as_ref();
                match hidden.map(|opaque| opaque.data.len()) {
                    Some(length) if text.is_empty() => {
                        format!("[{length} bytes of hidden thought]")
                    }
                    _ => text.clone(),
                }
            }
            Content::Image { media_type, bytes } => {
                format!("[{media_type}, {} bytes]", bytes.len())
            }
            Content::ToolCall {
                name, arguments, ..
            } => format!("{name} {arguments}"),
            Content::ToolResult { content, .. } => {
                let texts = content.iter().map(|content| match content {
                    Content::Text(text) => text.clone(),
                    Content::Image { media_type, bytes } => {
                        format!("[{media_type}, {} bytes]", bytes.len())
                    }
                    _ => String::new(),
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Its bytes, without what a wire writes around them.
    pub fn bytes(&self) -> u64 {
        bytes(&self.part.content)
    }
}

impl Fingerprint {
    /// All bytes of the prompt.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes at its beginning that are the same as those of the prompt before, counted in whole pieces.
    pub fn same_bytes(&self, before: &Self) -> u64 {
        let pairs = self.pieces.iter().zip(&before.pieces);
        pairs
            .take_while(|(one, other)| one == other)
            .map(|((_, bytes), _)| bytes)
            .sum()
    }

    /// A hash of all of it, in letters.
    pub fn hash(&self) -> String {
        let mut all = Vec::with_capacity(self.pieces.len() * 8);
        for (hash, _) in &self.pieces {
            all.extend_from_slice(&hash.to_le_bytes());
        }
        format!("{:032x}", ContentHash::of(&all).0)
    }
}

fn harness(part: Part) -> Passing<'static> {
    Passing {
        role: PieceRole::User,
        source: Source::Harness,
        hash: hash_of(PieceRole::User, &part),
        part: part.into(),
    }
}

/// What a model reads of a tool, in letters.
fn spec_text(spec: &ToolSpec) -> String {
    let input = match &spec.input {
        ToolInput::Json(schema) => schema.to_string(),
        ToolInput::Text { grammar } => grammar.clone().unwrap_or_default(),
    };
    format!("{}\n{}\n{input}", spec.name, spec.description)
}

pub(super) fn hash_of(role: PieceRole, part: &Part) -> u64 {
    let mut all = Vec::new();
    all.push(match role {
        PieceRole::System => b's',
        PieceRole::User => b'u',
        PieceRole::Assistant => b'a',
    });
    write(&part.content, &mut all);
    if let Some(opaque) = &part.opaque {
        write_text(&opaque.data, &mut all);
    }
    short(ContentHash::of(&all))
}

fn write(content: &Content, all: &mut Vec<u8>) {
    match content {
        Content::Text(text) => {
            all.push(b't');
            write_text(text, all);
        }
        Content::Reasoning(text) => {
            all.push(b'r');
            write_text(text, all);
        }
        Content::Image { media_type, bytes } => {
            all.push(b'i');
            write_text(media_type, all);
            all.extend_from_slice(bytes);
        }
        Content::ToolCall {
            id,
            name,
            arguments,
        } => {
            all.push(b'c');
            for text in [id, name, arguments] {
                write_text(text, all);
            }
        }
        Content::ToolResult {
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

fn short(hash: ContentHash) -> u64 {
    hash.0 as u64
}

pub(super) fn part_bytes(part: &Part) -> u64 {
    bytes(&part.content)
}

fn bytes(content: &Content) -> u64 {
    let count = match content {
        Content::Text(text) | Content::Reasoning(text) => text.len(),
        Content::Image { .. } => PICTURE,
        Content::ToolCall {
            id,
            name,
            arguments,
        } => id.len() + name.len() + arguments.len(),
        Content::ToolResult { call, content, .. } => {
            let inner: u64 = content.iter().map(bytes).sum();
            return call.len() as u64 + inner;
        }
    };
    count as u64
}
