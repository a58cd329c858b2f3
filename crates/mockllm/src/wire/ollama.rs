//! The wire format of Ollama's `/api/generate`.

use serde_json::{Value, json};

use super::{completions, prompt};
use crate::{
    answer::ScriptedReply,
    api_error::{ApiError, ApiErrorKind},
    frames::Frames,
    request::PromptRequest,
    script::Stop,
    wire::Incoming,
    wire_format::WireFormat,
};

/// The creation time of answers, in this provider's format.
const CREATED: &str = "2026-01-01T00:00:00.000000Z";

pub(super) fn read(incoming: &Incoming) -> Result<PromptRequest, ApiError> {
    let body = incoming.body;
    let mut request = prompt::new_request(WireFormat::Ollama, incoming, "model is required")?;
    // Streaming is Ollama's default.
    request.stream = body.get("stream") != Some(&Value::Bool(false));
    let options = body.get("options").unwrap_or(&Value::Null);
    request.options.max_tokens = options
        .get("num_predict")
        .and_then(Value::as_u64)
        .filter(|most| *most > 0);
    request.options.stop = prompt::stops(options.get("stop"));
    request.options.schema = body
        .get("format")
        .filter(|format| format.is_object())
        .cloned();
    if let Some(system) = prompt::text(body, "system") {
        request.system = system.to_owned();
        request.segments.push(prompt::segment(&json!(system)));
    }
    let text = prompt::text(body, "prompt").unwrap_or_default();
    let suffix = prompt::text(body, "suffix");
    completions::gap(&mut request, text, suffix.unwrap_or_default());
    if suffix.is_none() {
        request.user = text.to_owned();
        request.turn = 1;
    }
    Ok(request)
}

pub(super) fn stream(answer: &ScriptedReply, frames: &mut Frames) {
    let text = answer.text();
    for fragment in frames.fragments(&text) {
        let line = json!({
            "model": answer.model, "created_at": CREATED, "response": fragment.text, "done": false,
        });
        frames.raw(format!("{line}\n").into_bytes(), fragment.tokens);
    }
    frames.raw(format!("{}\n", last(answer, "")).into_bytes(), 0);
}

pub(super) fn full_body(answer: &ScriptedReply) -> Value {
    last(answer, &answer.text())
}

fn last(answer: &ScriptedReply, text: &str) -> Value {
    let done = match answer.stop {
        Stop::MaxTokens => "length",
        _ => "stop",
    };
    json!({
        "model": answer.model,
        "created_at": CREATED,
        "response": text,
        "done": true,
        "done_reason": done,
        "prompt_eval_count": answer.usage.prompt(),
        "eval_count": answer.usage.output,
    })
}

/// Returns the default status and the body of an error.
pub(super) fn error(error: &ApiError, model: &str) -> (u16, Value) {
    let (status, default) = match &error.kind {
        ApiErrorKind::RateLimited { .. } | ApiErrorKind::Quota => {
            (429, "too many requests".to_owned())
        }
        ApiErrorKind::Overloaded => {
            let default = "server busy, please try again.  maximum pending requests exceeded";
            (503, default.to_owned())
        }
        ApiErrorKind::Server | ApiErrorKind::Html => (500, "an error was encountered".to_owned()),
        ApiErrorKind::Authentication => (401, "unauthorized".to_owned()),
        ApiErrorKind::Permission => (403, "forbidden".to_owned()),
        ApiErrorKind::Invalid => (400, "invalid request".to_owned()),
        ApiErrorKind::ContextOverflow { .. } => (
            400,
            "input length exceeds maximum context length".to_owned(),
        ),
        ApiErrorKind::NoSuchModel => (404, format!("model '{model}' not found")),
        ApiErrorKind::NotFound => (404, "not found".to_owned()),
        ApiErrorKind::TooLarge => (413, "request too large".to_owned()),
    };
    let message = error.message.clone().unwrap_or(default);
    (status, json!({ "error": message }))
}
