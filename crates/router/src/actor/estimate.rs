//! Estimates the size of a request without a tokenizer.
//!
//! The estimate errs on the high side: reservations on limits and budgets should not fall short of
//! the usage. Each route calibrates it by the provider's counts (`policy::TokenEstimator`).

use model::{
    CacheMark, CacheUse, Message, ModelRequest, PartContent, TokenCount, ToolInput, policy,
};
use serde_json::Value;

use super::request::RequestPayload;

/// Minimum number of bytes per token in prose and code.
const BYTES_PER_TOKEN: u64 = 3;
/// Maximum tokens per image among providers that document it.
const TOKENS_PER_IMAGE: u64 = 1_600;
/// Overhead of a message, a tool or a block, in tokens.
const BLOCK_OVERHEAD: u64 = 8;

/// Size of a request, as input to limits and budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestSize {
    pub(super) demand: policy::TokenDemand,
    /// Bytes of the prompt, with an equivalent for images.
    pub(super) bytes: u64,
    /// Tokens before the conversation.
    pub(super) prefix: TokenCount,
    /// The caches that it writes.
    pub(super) caches: CacheUse,
    /// The longest lifetime among them.
    pub(super) mark: CacheMark,
}

impl RequestSize {
    /// Estimates the size of a request from its bytes.
    pub(super) fn of(payload: &RequestPayload) -> Self {
        match payload {
            RequestPayload::Chat(request) => {
                let mark = longest_mark(request);
                let prefix = prefix_bytes(request);
                let bytes = prefix + conversation_bytes(request);
                Self {
                    prefix: tokens(prefix),
                    bytes,
                    demand: policy::TokenDemand {
                        input: tokens(bytes),
                        output: request.max_output.plus(rejected_tokens(request)),
                    },
                    caches: match mark {
                        CacheMark::None => CacheUse::None,
                        CacheMark::Short => CacheUse::Short,
                        CacheMark::Long => CacheUse::Long,
                    },
                    mark,
                }
            }
            RequestPayload::Fim(fim) => {
                let files = fim.files.iter();
                let files: usize = files.map(|file| file.path.len() + file.text.len()).sum();
                let bytes = (fim.prefix.len() + fim.suffix.len() + files) as u64;
                Self {
                    prefix: TokenCount(0),
                    bytes,
                    demand: policy::TokenDemand {
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

/// Converts bytes to tokens.
pub(super) fn tokens(bytes: u64) -> TokenCount {
    TokenCount(bytes.div_ceil(BYTES_PER_TOKEN))
}

/// Estimates the tokens that are billed if the model rejects the whole prediction.
fn rejected_tokens(request: &ModelRequest) -> TokenCount {
    let prediction = request.usable_prediction().unwrap_or_default();
    tokens(prediction.len() as u64)
}

fn longest_mark(request: &ModelRequest) -> CacheMark {
    let marks = request.system.iter().map(|block| block.cache);
    marks.fold(CacheMark::None, |longest, mark| match (longest, mark) {
        (CacheMark::Long, _) | (_, CacheMark::Long) => CacheMark::Long,
        (CacheMark::Short, _) | (_, CacheMark::Short) => CacheMark::Short,
        _ => CacheMark::None,
    })
}

/// Returns the bytes of the messages and of the response schema, with an overhead per message.
fn conversation_bytes(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter();
    let messages =
        messages.map(|message| message_bytes(message) + BLOCK_OVERHEAD * BYTES_PER_TOKEN);
    let schema = request.response_schema.as_ref().map_or(0, json_bytes);
    messages.sum::<u64>() + schema
}

/// Returns the bytes of the system blocks and tools, which precede the conversation, with an
/// overhead for each.
fn prefix_bytes(request: &ModelRequest) -> u64 {
    let overhead = BLOCK_OVERHEAD * BYTES_PER_TOKEN;
    let system = request.system.iter();
    let system = system.map(|block| block.text.len() as u64 + overhead);
    let tools = request.tools.iter().map(|tool| {
        let input = match &tool.input {
            ToolInput::Json(schema) => json_bytes(schema),
            ToolInput::Text { grammar } => grammar.as_ref().map_or(0, String::len) as u64,
        };
        (tool.name.len() + tool.description.len()) as u64 + input + overhead
    });
    system.sum::<u64>() + tools.sum::<u64>()
}

/// Returns the bytes of a message's parts and of their opaque data.
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

/// Returns the bytes of a part's content. An image counts as the bytes of `TOKENS_PER_IMAGE`
/// tokens, whatever its size.
fn content_bytes(content: &PartContent) -> u64 {
    match content {
        PartContent::Text(text) | PartContent::Reasoning(text) => text.len() as u64,
        PartContent::Image { .. } => TOKENS_PER_IMAGE * BYTES_PER_TOKEN,
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => (id.len() + name.len() + arguments.len()) as u64,
        PartContent::ToolResult { call, content, .. } => {
            call.len() as u64 + content.iter().map(content_bytes).sum::<u64>()
        }
    }
}

/// Estimates the bytes of the serialized value.
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

#[cfg(test)]
mod tests;
