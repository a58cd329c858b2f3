//! Completions: vLLM's and llama.cpp's `/v1/completions`, DeepSeek's `/beta/completions`, and
//! Mistral's `/v1/fim/completions`, which takes the same requests and answers in the chat format.

use serde_json::{Value, json};

use super::{CREATED, chat, prompt};
use crate::{
    answer::ScriptedReply,
    api_error::ApiError,
    frames::Frames,
    request::{CacheSegment, InfillGap, PromptRequest},
    script::ModelDialect,
    wire::Incoming,
    wire_format::WireFormat,
};

/// Maximum number of stop texts, as at vLLM.
const MAX_STOPS: usize = 4;

pub(super) fn read(wire: WireFormat, incoming: &Incoming) -> Result<PromptRequest, ApiError> {
    let body = incoming.body;
    let missing = "you must provide a model parameter";
    let mut request = prompt::new_request(wire, incoming, missing)?;
    let Some(prefix) = prompt::text(body, "prompt") else {
        return Err(ApiError::invalid("you must provide a prompt parameter"));
    };
    let suffix = prompt::text(body, "suffix").unwrap_or_default();
    request.options.max_tokens = body.get("max_tokens").and_then(Value::as_u64);
    request.options.stop = prompt::stops(body.get("stop"));
    request.options.usage = wire == WireFormat::Mistral
        || body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    if request.options.stop.len() > MAX_STOPS && wire == WireFormat::Completions {
        return Err(ApiError::invalid(format!(
            "Invalid 'stop': at most {MAX_STOPS} stop sequences are supported"
        )));
    }
    gap(&mut request, prefix, suffix);
    Ok(request)
}

/// Adds the text around the gap to the request.
pub(super) fn gap(request: &mut PromptRequest, prefix: &str, suffix: &str) {
    for text in [prefix, suffix] {
        request.segments.push(CacheSegment {
            text: text.to_owned(),
            mark: None,
        });
    }
    request.gap = Some(InfillGap {
        prefix: prefix.to_owned(),
        suffix: suffix.to_owned(),
    });
}

pub(super) fn stream(request: &PromptRequest, answer: &ScriptedReply, frames: &mut Frames) {
    let text = answer.text();
    for fragment in frames.fragments(&text) {
        frames.data(
            &chunk(request, answer, fragment.text, Value::Null),
            fragment.tokens,
        );
    }
    let mut last = chunk(request, answer, "", json!(chat::finish_reason(answer)));
    if request.options.usage {
        if request.wire == WireFormat::Mistral || answer.dialect == ModelDialect::Deepseek {
            last["usage"] = chat::usage(answer);
            frames.data(&last, 0);
        } else {
            frames.data(&last, 0);
            let mut end = chunk(request, answer, "", Value::Null);
            end["choices"] = json!([]);
            end["usage"] = chat::usage(answer);
            frames.data(&end, 0);
        }
    } else {
        frames.data(&last, 0);
    }
    frames.raw(b"data: [DONE]\n\n".to_vec(), 0);
}

pub(super) fn full_body(request: &PromptRequest, answer: &ScriptedReply) -> Value {
    let mut whole = envelope(request, answer);
    let finish = chat::finish_reason(answer);
    whole["choices"] = match request.wire {
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

fn chunk(request: &PromptRequest, answer: &ScriptedReply, text: &str, finish: Value) -> Value {
    let mut chunk = envelope(request, answer);
    chunk["choices"] = match request.wire {
        WireFormat::Mistral => json!([{
            "index": 0, "delta": { "role": "assistant", "content": text }, "finish_reason": finish,
        }]),
        _ => json!([{ "index": 0, "text": text, "logprobs": null, "finish_reason": finish }]),
    };
    chunk
}

fn envelope(request: &PromptRequest, answer: &ScriptedReply) -> Value {
    let (prefix, object) = match (request.wire, request.stream) {
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
