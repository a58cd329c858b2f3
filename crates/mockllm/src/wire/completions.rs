//! Completions: vLLM's and llama.cpp's `/v1/completions`, DeepSeek's `/beta/completions`, and
//! Mistral's `/v1/fim/completions`, which takes the same requests and answers in the chat format.

use serde_json::{Value, json};

use super::{CREATED, chat, prompt};
use crate::{
    answer::ScriptedReply,
    frames::Frames,
    request::{CacheSegment, InfillGap, PromptRequest},
    script::ModelDialect,
    trouble::ApiError,
    wire::{Incoming, WireFormat},
};

/// vLLM takes no more stop texts.
const STOPS: usize = 4;

pub(super) fn read(wire: WireFormat, incoming: &Incoming) -> Result<PromptRequest, ApiError> {
    let body = incoming.body;
    let missing = "you must provide a model parameter";
    let mut asked = prompt::new_request(wire, incoming, missing)?;
    let Some(prefix) = prompt::text(body, "prompt") else {
        return Err(ApiError::invalid("you must provide a prompt parameter"));
    };
    let suffix = prompt::text(body, "suffix").unwrap_or_default();
    asked.options.max_tokens = body.get("max_tokens").and_then(Value::as_u64);
    asked.options.stop = prompt::stops(body.get("stop"));
    asked.options.usage = wire == WireFormat::Mistral
        || body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    if asked.options.stop.len() > STOPS && wire == WireFormat::Completions {
        return Err(ApiError::invalid(format!(
            "Invalid 'stop': at most {STOPS} stop sequences are supported"
        )));
    }
    gap(&mut asked, prefix, suffix);
    Ok(asked)
}

/// Reads the text around the gap.
pub(super) fn gap(asked: &mut PromptRequest, prefix: &str, suffix: &str) {
    for text in [prefix, suffix] {
        asked.segments.push(CacheSegment {
            text: text.to_owned(),
            mark: None,
        });
    }
    asked.gap = Some(InfillGap {
        prefix: prefix.to_owned(),
        suffix: suffix.to_owned(),
    });
}

pub(super) fn stream(asked: &PromptRequest, answer: &ScriptedReply, frames: &mut Frames) {
    let text = answer.text();
    for piece in frames.fragments(&text) {
        frames.data(&chunk(asked, answer, piece.text, Value::Null), piece.tokens);
    }
    let mut last = chunk(asked, answer, "", json!(chat::finish_reason(answer)));
    if asked.options.usage {
        if asked.wire == WireFormat::Mistral || answer.dialect == ModelDialect::Deepseek {
            last["usage"] = chat::usage(answer);
            frames.data(&last, 0);
        } else {
            frames.data(&last, 0);
            let mut end = chunk(asked, answer, "", Value::Null);
            end["choices"] = json!([]);
            end["usage"] = chat::usage(answer);
            frames.data(&end, 0);
        }
    } else {
        frames.data(&last, 0);
    }
    frames.raw(b"data: [DONE]\n\n".to_vec(), 0);
}

pub(super) fn full_body(asked: &PromptRequest, answer: &ScriptedReply) -> Value {
    let mut whole = envelope(asked, answer);
    let finish = chat::finish_reason(answer);
    whole["choices"] = match asked.wire {
        WireFormat::Mistral => json!([{
            "index": 0, "finish_reason": finish,
            "message": { "role": "assistant", "content": answer.text(), "tool_calls": null },
        }]),
        _ => json!([{
            "index": 0, "text": answer.text(), "logprobs": null, "finish_reason": finish,
        }]),
    };
    whole["usage"] = chat::usage(answer);
    whole
}

fn chunk(asked: &PromptRequest, answer: &ScriptedReply, text: &str, finish: Value) -> Value {
    let mut chunk = envelope(asked, answer);
    chunk["choices"] = match asked.wire {
        WireFormat::Mistral => json!([{
            "index": 0, "delta": { "role": "assistant", "content": text }, "finish_reason": finish,
        }]),
        _ => json!([{ "index": 0, "text": text, "logprobs": null, "finish_reason": finish }]),
    };
    chunk
}

fn envelope(asked: &PromptRequest, answer: &ScriptedReply) -> Value {
    let (prefix, object) = match (asked.wire, asked.stream) {
        (WireFormat::Mistral, true) => ("", "chat.completion.chunk"),
        (WireFormat::Mistral, false) => ("", "chat.completion"),
        _ => ("cmpl-", "text_completion"),
    };
    json!({
        "id": format!("{prefix}{}", answer.id),
        "object": object,
        "created": CREATED,
        "model": answer.model,
    })
}
