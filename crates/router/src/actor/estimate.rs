//! How large a request is, told without a tokenizer.
//!
//! The estimate leans to the large side: what is held of a limit or a budget should not fall short of what is
//! used. Each lane corrects it by what its provider counts (`policy::TokenEstimator`).

use model::{CacheMark, CacheUse, Content, Message, Request, TokenCount, ToolInput, policy};
use serde_json::Value;

use super::ask::Question;

/// Bytes that make a token at the least, in prose and in code.
const BYTES_PER_TOKEN: u64 = 3;
/// What a picture takes at the most with the providers that say so.
const IMAGE: u64 = 1_600;
/// The wrapping of a message, a tool, a block.
const WRAPPING: u64 = 8;

/// What a question asks of limits and budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) ask: policy::Ask,
    /// The prompt's bytes, pictures included at what they count for.
    pub(super) bytes: u64,
    /// The tokens before the conversation.
    pub(super) prefix: TokenCount,
    /// The caches that it asks to be written.
    pub(super) caches: CacheUse,
    /// The longest life among them.
    pub(super) mark: CacheMark,
}

impl Size {
    pub(super) fn of(question: &Question) -> Self {
        match question {
            Question::Chat(request) => {
                let mark = longest_mark(request);
                let prefix = prefix_bytes(request);
                let bytes = prefix + conversation_bytes(request);
                Self {
                    prefix: tokens(prefix),
                    bytes,
                    ask: policy::Ask {
                        input: tokens(bytes),
                        output: request.max_output,
                    },
                    caches: match mark {
                        CacheMark::None => CacheUse::None,
                        CacheMark::Short => CacheUse::Short,
                        CacheMark::Long => CacheUse::Long,
                    },
                    mark,
                }
            }
            Question::Fim(fim) => {
                let files = fim.files.iter();
                let files: usize = files.map(|file| file.path.len() + file.text.len()).sum();
                let bytes = (fim.prefix.len() + fim.suffix.len() + files) as u64;
                Self {
                    prefix: TokenCount(0),
                    bytes,
                    ask: policy::Ask {
                        input: tokens(bytes),
                        output: fim.max_output,
                    },
                    caches: CacheUse::None,
                    mark: CacheMark::None,
                }
            }
        }
    }
}

/// The tokens of so many bytes.
pub(super) fn tokens(bytes: u64) -> TokenCount {
    TokenCount(bytes.div_ceil(BYTES_PER_TOKEN))
}

fn longest_mark(request: &Request) -> CacheMark {
    let marks = request.system.iter().map(|block| block.cache);
    marks.fold(CacheMark::None, |longest, mark| match (longest, mark) {
        (CacheMark::Long, _) | (_, CacheMark::Long) => CacheMark::Long,
        (CacheMark::Short, _) | (_, CacheMark::Short) => CacheMark::Short,
        _ => CacheMark::None,
    })
}

fn conversation_bytes(request: &Request) -> u64 {
    let messages = request.messages.iter();
    let messages = messages.map(|message| message_bytes(message) + WRAPPING * BYTES_PER_TOKEN);
    let schema = request.response_schema.as_ref().map_or(0, json_bytes);
    messages.sum::<u64>() + schema
}

fn prefix_bytes(request: &Request) -> u64 {
    let wrapping = WRAPPING * BYTES_PER_TOKEN;
    let system = request.system.iter();
    let system = system.map(|block| block.text.len() as u64 + wrapping);
    let tools = request.tools.iter().map(|tool| {
        let input = match &tool.input {
            ToolInput::Json(schema) => json_bytes(schema),
            ToolInput::Text { grammar } => grammar.as_ref().map_or(0, String::len) as u64,
        };
        (tool.name.len() + tool.description.len()) as u64 + input + wrapping
    });
    system.sum::<u64>() + tools.sum::<u64>()
}

fn message_bytes(message: &Message) -> u64 {
    let parts = message.parts.iter().map(|part| {
        let opaque = part
            .opaque
            .as_ref()
            .map_or(0, |opaque| opaque.data.len() as u64);
        content_bytes(&part.content) + opaque
    });
    parts.sum()
}

fn content_bytes(content: &Content) -> u64 {
    match content {
        Content::Text(text) | Content::Reasoning(text) => text.len() as u64,
        Content::Image { .. } => IMAGE * BYTES_PER_TOKEN,
        Content::ToolCall {
            id,
            name,
            arguments,
        } => (id.len() + name.len() + arguments.len()) as u64,
        Content::ToolResult { call, content, .. } => {
            call.len() as u64 + content.iter().map(content_bytes).sum::<u64>()
        }
    }
}

/// About as many bytes as the value has when it is written.
fn json_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
        Value::String(text) => text.len() as u64 + 3,
        Value::Array(values) => values.iter().map(json_bytes).sum::<u64>() + 2,
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(key, value)| key.len() as u64 + 4 + json_bytes(value))
                .sum::<u64>()
                + 2
        }
    }
}
