//! The wire format of Anthropic Messages.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::prompt::{self, Unpaired};
use crate::{
    answer::{AnswerCall, ReplyBlock, ScriptedReply, Thought, TokenUsage},
    api_error::{ApiError, ApiErrorKind},
    frames::Frames,
    limits::{BucketLevel, LimitHeaders},
    request::{CacheSegment, HistoryEvent, Lifetime, OfferedTool, PromptRequest},
    script::Stop,
    wire::Incoming,
    wire_format::WireFormat,
};

/// More breakpoints than this are refused.
const BREAKPOINTS: usize = 4;

pub(super) fn read(
    incoming: &Incoming,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<PromptRequest, ApiError> {
    let body = incoming.body;
    let mut request =
        prompt::new_request(WireFormat::Anthropic, incoming, "model: Field required")?;
    let is_count = incoming.path.ends_with("count_tokens");
    request.options.max_tokens = body.get("max_tokens").and_then(Value::as_u64);
    if request.options.max_tokens.is_none() && !is_count {
        return Err(ApiError::invalid("max_tokens: Field required"));
    }
    request.options.stop = prompt::stops(body.get("stop_sequences"));
    let thinking = body.pointer("/thinking/type").and_then(Value::as_str);
    request.options.thinking = matches!(thinking, Some("enabled" | "adaptive"));
    let choice = body.get("tool_choice").unwrap_or(&Value::Null);
    request.options.parallel = !prompt::flag(choice, "disable_parallel_tool_use");
    let formats = ["/output_config/format/schema", "/output_format/schema"];
    request.options.schema = formats.iter().find_map(|at| body.pointer(at)).cloned();
    for tool in prompt::items(body, "tools") {
        request.tools.push(OfferedTool {
            name: prompt::text(tool, "name").unwrap_or_default().to_owned(),
            is_free: false,
        });
        request.segments.push(marked(tool));
    }
    request.system = prompt::content_text(body.get("system"));
    match body.get("system") {
        Some(Value::Array(blocks)) => request.segments.extend(blocks.iter().map(marked)),
        Some(text) => request.segments.push(prompt::segment(text)),
        None => {}
    }
    let history = messages(body, &mut request.segments, is_signed)?;
    if body.get("cache_control").is_some()
        && let Some(last) = request.segments.last_mut()
    {
        last.mark = last.mark.or(lifetime(body));
    }
    check_marks(&request.segments)?;
    if is_signed.is_some() {
        check_pairs(&history)?;
    }
    request.read_history(history);
    Ok(request)
}

/// The conversation; its blocks join the prompt.
fn messages(
    body: &Value,
    segments: &mut Vec<CacheSegment>,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<Vec<HistoryEvent>, ApiError> {
    let messages = prompt::items(body, "messages");
    if messages.is_empty() {
        return Err(ApiError::invalid(
            "messages: at least one message is required",
        ));
    }
    let mut history = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = prompt::text(message, "role").unwrap_or_default();
        if !matches!(role, "user" | "assistant" | "system") {
            return Err(ApiError::invalid(format!(
                "messages.{at}.role: Input should be 'user' or 'assistant'"
            )));
        }
        if at == 0 && role != "user" {
            return Err(ApiError::invalid(
                "messages: first message must use the \"user\" role",
            ));
        }
        let content = match message.get("content") {
            Some(Value::String(text)) => vec![json!({ "type": "text", "text": text })],
            Some(Value::Array(blocks)) => blocks.clone(),
            _ => {
                let problem = format!("messages.{at}.content: Field required");
                return Err(ApiError::invalid(problem));
            }
        };
        for (ix, block) in content.iter().enumerate() {
            check_block(block, &format!("messages.{at}.content.{ix}"), is_signed)?;
            let mut segment = marked(block);
            segment.text.insert_str(0, role);
            segments.push(segment);
        }
        match role {
            "user" => read_user_message(&content, &mut history),
            "assistant" => read_assistant_message(&content, &mut history),
            _ => {}
        }
    }
    Ok(history)
}

fn read_user_message(content: &[Value], history: &mut Vec<HistoryEvent>) {
    let mut has_results = false;
    for block in content {
        if prompt::text(block, "type") == Some("tool_result") {
            has_results = true;
            history.push(HistoryEvent::Result {
                call: prompt::text(block, "tool_use_id")
                    .unwrap_or_default()
                    .to_owned(),
                text: prompt::content_text(block.get("content")),
                is_error: prompt::flag(block, "is_error"),
            });
        }
    }
    // Text beside tool results comes from the harness and is not a new user message.
    if !has_results {
        let text = prompt::content_text(Some(&Value::Array(content.to_vec())));
        history.push(HistoryEvent::User(text));
    }
}

fn read_assistant_message(content: &[Value], history: &mut Vec<HistoryEvent>) {
    for block in content {
        history.push(match prompt::text(block, "type") {
            Some("tool_use") => HistoryEvent::Call {
                id: prompt::text(block, "id").unwrap_or_default().to_owned(),
                tool: prompt::text(block, "name").unwrap_or_default().to_owned(),
            },
            _ => HistoryEvent::Assistant,
        });
    }
}

fn check_block(
    block: &Value,
    place: &str,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<(), ApiError> {
    let problem = match prompt::text(block, "type") {
        Some("text") if prompt::text(block, "text").is_none_or(str::is_empty) => {
            "text content blocks must be non-empty".to_owned()
        }
        Some("thinking") => match (is_signed, prompt::text(block, "signature")) {
            (_, None) => format!("{place}.thinking.signature: Field required"),
            (Some(is_signed), Some(signature)) if !is_signed(signature) => {
                format!("{place}: Invalid `signature` in `thinking` block")
            }
            _ => return Ok(()),
        },
        Some("redacted_thinking") => match (is_signed, prompt::text(block, "data")) {
            (_, None) => format!("{place}.redacted_thinking.data: Field required"),
            (Some(is_signed), Some(data)) if !is_signed(data) => {
                format!("{place}: Invalid `data` in `redacted_thinking` block")
            }
            _ => return Ok(()),
        },
        Some("tool_use") if !block.get("input").is_some_and(Value::is_object) => {
            format!("{place}.tool_use.input: Input should be a valid dictionary")
        }
        None => format!("{place}.type: Field required"),
        _ => return Ok(()),
    };
    Err(ApiError::invalid(problem))
}

fn check_pairs(history: &[HistoryEvent]) -> Result<(), ApiError> {
    match prompt::unpaired(history) {
        Some(Unpaired::Call(id)) => Err(ApiError::invalid(format!(
            "messages: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message."
        ))),
        Some(Unpaired::Result(id)) => Err(ApiError::invalid(format!(
            "messages: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block \
             must have a corresponding `tool_use` block in the previous message."
        ))),
        None => Ok(()),
    }
}

fn check_marks(segments: &[CacheSegment]) -> Result<(), ApiError> {
    let marks: Vec<Lifetime> = segments.iter().filter_map(|segment| segment.mark).collect();
    if marks.len() > BREAKPOINTS {
        return Err(ApiError::invalid(format!(
            "A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {}.",
            marks.len()
        )));
    }
    if marks.windows(2).any(|pair| pair[0] < pair[1]) {
        return Err(ApiError::invalid(
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
        ));
    }
    Ok(())
}

/// Returns a block as a segment of the prompt. Its cache mark is not hashed.
fn marked(block: &Value) -> CacheSegment {
    let mut text = block.clone();
    if let Value::Object(fields) = &mut text {
        fields.shift_remove("cache_control");
    }
    CacheSegment {
        text: text.to_string(),
        mark: lifetime(block),
    }
}

fn lifetime(block: &Value) -> Option<Lifetime> {
    let control = block
        .get("cache_control")
        .filter(|control| !control.is_null())?;
    match prompt::text(control, "ttl") {
        Some("1h") => Some(Lifetime::Hour),
        _ => Some(Lifetime::FiveMinutes),
    }
}

pub(super) fn stream(request: &PromptRequest, answer: &ScriptedReply, frames: &mut Frames) {
    let mut message = message(answer, Vec::new(), Value::Null);
    message["usage"]["output_tokens"] = json!(1);
    message["stop_reason"] = Value::Null;
    frames.event(
        "message_start",
        &json!({ "type": "message_start", "message": message }),
        0,
    );
    let mut index = 0;
    for block in &answer.blocks {
        match block {
            ReplyBlock::Thinking(thought) => {
                if request.options.thinking {
                    push_thinking(thought, index, frames);
                    index += 1;
                }
            }
            ReplyBlock::Text(text) | ReplyBlock::Refusal(text) => {
                start(json!({ "type": "text", "text": "" }), index, frames);
                for fragment in frames.fragments(text) {
                    let delta = json!({ "type": "text_delta", "text": fragment.text });
                    deliver(delta, index, fragment.tokens, frames);
                }
                stop(index, frames);
                index += 1;
            }
            // This wire has no interleaved blocks, so calls are sent one after the other.
            ReplyBlock::Calls { calls, .. } => {
                for tool in calls {
                    call(tool, index, frames);
                    index += 1;
                }
            }
        }
    }
    let mut usage = usage(answer.usage);
    if let Value::Object(fields) = &mut usage {
        fields.shift_remove("service_tier");
    }
    let delta = json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason(answer.stop), "stop_sequence": answer.stop_text },
        "usage": usage,
    });
    frames.event("message_delta", &delta, 0);
    frames.event("message_stop", &json!({ "type": "message_stop" }), 0);
}

fn push_thinking(thought: &Thought, index: usize, frames: &mut Frames) {
    if thought.is_redacted {
        let block = json!({ "type": "redacted_thinking", "data": thought.signature });
        start(block, index, frames);
        stop(index, frames);
        return;
    }
    start(
        json!({ "type": "thinking", "thinking": "", "signature": "" }),
        index,
        frames,
    );
    for fragment in frames.fragments(&thought.text) {
        let delta = json!({ "type": "thinking_delta", "thinking": fragment.text });
        deliver(delta, index, fragment.tokens, frames);
    }
    let delta = json!({ "type": "signature_delta", "signature": thought.signature });
    deliver(delta, index, 0, frames);
    stop(index, frames);
}

fn call(call: &AnswerCall, index: usize, frames: &mut Frames) {
    let block = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
    start(block, index, frames);
    let delta = json!({ "type": "input_json_delta", "partial_json": "" });
    deliver(delta, index, 0, frames);
    // A call without arguments has no more fragments.
    if call.arguments != "{}" {
        for fragment in frames.fragments(&call.arguments) {
            let delta = json!({ "type": "input_json_delta", "partial_json": fragment.text });
            deliver(delta, index, fragment.tokens, frames);
        }
    }
    stop(index, frames);
}

fn start(block: Value, index: usize, frames: &mut Frames) {
    let data = json!({ "type": "content_block_start", "index": index, "content_block": block });
    frames.event("content_block_start", &data, 0);
    if index == 0 {
        frames.event("ping", &json!({ "type": "ping" }), 0);
    }
}

fn deliver(delta: Value, index: usize, tokens: u64, frames: &mut Frames) {
    let data = json!({ "type": "content_block_delta", "index": index, "delta": delta });
    frames.event("content_block_delta", &data, tokens);
}

fn stop(index: usize, frames: &mut Frames) {
    let data = json!({ "type": "content_block_stop", "index": index });
    frames.event("content_block_stop", &data, 0);
}

pub(super) fn full_body(request: &PromptRequest, answer: &ScriptedReply) -> Value {
    let mut content = Vec::new();
    for block in &answer.blocks {
        match block {
            ReplyBlock::Thinking(_) if !request.options.thinking => {}
            ReplyBlock::Thinking(thought) if thought.is_redacted => {
                content.push(json!({ "type": "redacted_thinking", "data": thought.signature }));
            }
            ReplyBlock::Thinking(thought) => content.push(json!({
                "type": "thinking", "thinking": thought.text, "signature": thought.signature,
            })),
            ReplyBlock::Text(text) | ReplyBlock::Refusal(text) => {
                content.push(json!({ "type": "text", "text": text }));
            }
            ReplyBlock::Calls { calls, .. } => content.extend(calls.iter().map(|call| {
                // Outside a stream the input must be an object, so invalid JSON cannot be sent.
                let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
            })),
        }
    }
    message(answer, content, json!(answer.stop_text))
}

fn message(answer: &ScriptedReply, content: Vec<Value>, stop_text: Value) -> Value {
    json!({
        "id": format!("msg_01{}", &answer.id[..22]),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": stop_reason(answer.stop),
        "stop_sequence": stop_text,
        "usage": usage(answer.usage),
    })
}

fn usage(count: TokenUsage) -> Value {
    json!({
        "input_tokens": count.input,
        "cache_creation_input_tokens": count.cache_write_5m + count.cache_write_1h,
        "cache_read_input_tokens": count.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": count.cache_write_5m,
            "ephemeral_1h_input_tokens": count.cache_write_1h,
        },
        "output_tokens": count.output,
        "service_tier": "standard",
    })
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::EndTurn => "end_turn",
        Stop::ToolUse => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::StopText => "stop_sequence",
        Stop::Refusal => "refusal",
        Stop::Pause => "pause_turn",
    }
}

/// Returns the default status and the body of an error.
pub(super) fn error(error: &ApiError, model: &str, request_id: &str) -> (u16, Value) {
    let (status, kind, default) = match &error.kind {
        ApiErrorKind::RateLimited { what } => {
            let default = format!(
                "This request would exceed your organization's rate limit of {what} per minute"
            );
            (429, "rate_limit_error", default)
        }
        ApiErrorKind::Overloaded => (529, "overloaded_error", "Overloaded".to_owned()),
        ApiErrorKind::Server | ApiErrorKind::Html => {
            (500, "api_error", "Internal server error".to_owned())
        }
        ApiErrorKind::Quota => {
            let default = "Your credit balance is too low to access the Anthropic API. Please go to Plans & \
                         Billing to upgrade or purchase credits.";
            (400, "invalid_request_error", default.to_owned())
        }
        ApiErrorKind::Authentication => {
            (401, "authentication_error", "invalid x-api-key".to_owned())
        }
        ApiErrorKind::Permission => {
            let default = "Your API key does not have permission to use the specified resource";
            (403, "permission_error", default.to_owned())
        }
        ApiErrorKind::Invalid => (400, "invalid_request_error", "Invalid request".to_owned()),
        ApiErrorKind::ContextOverflow { prompt, limit } => {
            let default = format!("prompt is too long: {prompt} tokens > {limit} maximum");
            (400, "invalid_request_error", default)
        }
        ApiErrorKind::NoSuchModel => (404, "not_found_error", format!("model: {model}")),
        ApiErrorKind::NotFound => (404, "not_found_error", "Not found".to_owned()),
        ApiErrorKind::TooLarge => {
            let default = "Request exceeds the maximum size";
            (413, "request_too_large", default.to_owned())
        }
    };
    let message = error.message.clone().unwrap_or(default);
    let mut body = json!({ "type": "error", "error": { "type": kind, "message": message } });
    if !request_id.is_empty() {
        body["request_id"] = json!(request_id);
    }
    (status, body)
}

pub(super) fn limit_headers(
    limit_headers: LimitHeaders,
    now: SystemTime,
) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    let mut add = |level: Option<BucketLevel>, names: [&'static str; 3]| {
        let Some(level) = level else { return };
        headers.push((names[0], level.limit.to_string()));
        headers.push((names[1], level.remaining.to_string()));
        headers.push((names[2], rfc3339(now + level.reset)));
    };
    add(
        limit_headers.requests,
        [
            "anthropic-ratelimit-requests-limit",
            "anthropic-ratelimit-requests-remaining",
            "anthropic-ratelimit-requests-reset",
        ],
    );
    add(
        limit_headers.input,
        [
            "anthropic-ratelimit-input-tokens-limit",
            "anthropic-ratelimit-input-tokens-remaining",
            "anthropic-ratelimit-input-tokens-reset",
        ],
    );
    add(
        limit_headers.output,
        [
            "anthropic-ratelimit-output-tokens-limit",
            "anthropic-ratelimit-output-tokens-remaining",
            "anthropic-ratelimit-output-tokens-reset",
        ],
    );
    headers
}

/// A time as `2026-01-01T00:00:00Z`, rounded up to whole seconds: earlier would be too early.
fn rfc3339(time: SystemTime) -> String {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = since.as_secs() + u64::from(since.subsec_nanos() > 0);
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Converts days since 1970-01-01 to year, month and day. Years start in March internally, so that
/// the leap day is their last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}
