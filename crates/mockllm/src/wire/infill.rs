//! The wire format of llama.cpp's `/infill`.

use serde_json::{Value, json};

use super::{completions, prompt};
use crate::{
    answer::ScriptedReply,
    api_error::ApiError,
    frames::Frames,
    request::{CacheSegment, PromptRequest},
    script::Stop,
    tokens,
    wire::Incoming,
    wire_format::WireFormat,
};

/// Model name of requests that name none: the server has one model.
const DEFAULT_MODEL: &str = "default";

pub(super) fn read(incoming: &Incoming) -> Result<PromptRequest, ApiError> {
    let body = incoming.body;
    let mut request = PromptRequest::new(
        WireFormat::Infill,
        prompt::text(body, "model").unwrap_or(DEFAULT_MODEL),
    );
    request.headers = incoming.headers.to_vec();
    request.stream = prompt::flag(body, "stream");
    let (Some(prefix), Some(suffix)) = (
        prompt::text(body, "input_prefix"),
        prompt::text(body, "input_suffix"),
    ) else {
        return Err(ApiError::invalid(
            "\"input_prefix\" and \"input_suffix\" are required",
        ));
    };
    for file in prompt::items(body, "input_extra") {
        let Some(text) = prompt::text(file, "text") else {
            return Err(ApiError::invalid(
                "extra_context chunk must contain a \"text\" field with a string value",
            ));
        };
        request.segments.push(CacheSegment {
            text: text.to_owned(),
            mark: None,
        });
    }
    // Zero and negative values mean no limit.
    request.options.max_tokens = body
        .get("n_predict")
        .and_then(Value::as_u64)
        .filter(|most| *most > 0);
    request.options.stop = prompt::stops(body.get("stop"));
    let after_middle = prompt::text(body, "prompt").unwrap_or_default();
    completions::gap(&mut request, &format!("{prefix}{after_middle}"), suffix);
    Ok(request)
}

pub(super) fn stream(request: &PromptRequest, answer: &ScriptedReply, frames: &mut Frames) {
    let text = answer.text();
    let mut sent = 0;
    for fragment in frames.fragments(&text) {
        sent += fragment.tokens;
        let chunk = json!({
            "index": 0, "content": fragment.text, "tokens": [], "stop": false, "id_slot": 0,
            "tokens_predicted": sent, "tokens_evaluated": answer.usage.prompt(),
        });
        frames.data(&chunk, fragment.tokens);
    }
    frames.data(&last(request, answer, ""), 0);
}

pub(super) fn full_body(request: &PromptRequest, answer: &ScriptedReply) -> Value {
    last(request, answer, &answer.text())
}

fn last(request: &PromptRequest, answer: &ScriptedReply, content: &str) -> Value {
    let count = answer.usage;
    let stop_type = match answer.stop {
        Stop::MaxTokens => "limit",
        Stop::StopText => "word",
        _ => "eos",
    };
    json!({
        "index": 0,
        "content": content,
        "tokens": [],
        "id_slot": 0,
        "stop": true,
        "model": answer.model,
        "tokens_predicted": count.output,
        "tokens_evaluated": count.prompt(),
        "has_new_line": answer.text().contains('\n'),
        "truncated": false,
        "stop_type": stop_type,
        "stopping_word": answer.stop_text.as_deref().unwrap_or_default(),
        "tokens_cached": count.cache_read,
        "timings": {
            "cache_n": count.cache_read,
            "prompt_n": count.prompt() - count.cache_read,
            "predicted_n": tokens::of_text(&answer.text()),
        },
        "generation_settings": { "n_predict": request.options.max_tokens.map_or(-1, |most| most as i64) },
    })
}
