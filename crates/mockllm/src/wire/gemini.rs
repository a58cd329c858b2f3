//! The wire format of Gemini's generateContent.

use serde_json::{Value, json};

use super::prompt;
use crate::{
    answer::{ReplyBlock, ScriptedReply},
    api_error::{ApiError, ApiErrorKind},
    frames::Frames,
    request::{CacheSegment, HistoryEvent, OfferedTool, PromptRequest},
    script::Stop,
    wire::Incoming,
    wire_format::WireFormat,
};

pub(super) fn read(
    incoming: &Incoming,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<PromptRequest, ApiError> {
    let (model, method) = incoming
        .path
        .rsplit('/')
        .next()
        .and_then(|name| name.split_once(':'))
        .unwrap_or_default();
    let mut request = PromptRequest::new(WireFormat::Gemini, model);
    request.headers = incoming.headers.to_vec();
    request.stream = method == "streamGenerateContent";
    request.options.is_events = incoming.query.split('&').any(|pair| pair == "alt=sse");
    // A request to count tokens may hold the request that is meant.
    let body = incoming
        .body
        .get("generateContentRequest")
        .unwrap_or(incoming.body);
    let config = body.get("generationConfig").unwrap_or(&Value::Null);
    request.options.max_tokens = config.get("maxOutputTokens").and_then(Value::as_u64);
    request.options.stop = prompt::stops(config.get("stopSequences"));
    request.options.thinking =
        config.pointer("/thinkingConfig/includeThoughts") == Some(&Value::Bool(true));
    request.options.schema = config
        .get("responseJsonSchema")
        .or_else(|| config.get("responseSchema"))
        .cloned();
    for tool in prompt::items(body, "tools") {
        request.segments.push(prompt::segment(tool));
        let declared = prompt::items(tool, "functionDeclarations").iter();
        request.tools.extend(declared.map(|function| {
            OfferedTool {
                name: prompt::text(function, "name")
                    .unwrap_or_default()
                    .to_owned(),
                is_free: false,
            }
        }));
    }
    if let Some(instruction) = body.get("systemInstruction") {
        request.system = prompt::content_text(instruction.get("parts"));
        request.segments.push(prompt::segment(instruction));
    }
    let contents = prompt::items(body, "contents");
    if contents.is_empty() {
        return Err(ApiError::invalid(
            "* GenerateContentRequest.contents: contents is not specified",
        ));
    }
    let history = contents_of(contents, &mut request.segments, is_signed)?;
    request.read_history(history);
    Ok(request)
}

fn contents_of(
    contents: &[Value],
    segments: &mut Vec<CacheSegment>,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<Vec<HistoryEvent>, ApiError> {
    let mut history = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        segments.push(prompt::segment(content));
        let parts = prompt::items(content, "parts");
        if prompt::text(content, "role") == Some("model") {
            for (ix, part) in parts.iter().enumerate() {
                check_signature(part, &format!("contents[{at}].parts[{ix}]"), is_signed)?;
                history.push(match part.get("functionCall") {
                    Some(call) => HistoryEvent::Call {
                        id: name_of(call),
                        tool: prompt::text(call, "name").unwrap_or_default().to_owned(),
                    },
                    None => HistoryEvent::Assistant,
                });
            }
            continue;
        }
        let results: Vec<&Value> = parts
            .iter()
            .filter_map(|part| part.get("functionResponse"))
            .collect();
        if results.is_empty() {
            let text = prompt::content_text(content.get("parts"));
            history.push(HistoryEvent::User(text));
        }
        for result in results {
            let (text, is_error) = outcome(result.get("response").unwrap_or(&Value::Null));
            history.push(HistoryEvent::Result {
                call: name_of(result),
                text,
                is_error,
            });
        }
    }
    if is_signed.is_some() {
        check_counts(&history)?;
    }
    Ok(history)
}

/// Returns the key that pairs a call with its response: the id if there is one, else the function's
/// name.
fn name_of(call: &Value) -> String {
    let name = prompt::text(call, "id").or(prompt::text(call, "name"));
    name.unwrap_or_default().to_owned()
}

/// A response is any object; `output` and `error` are the default fields.
fn outcome(response: &Value) -> (String, bool) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (response.get("error"), response.get("output")) {
        (Some(error), _) => (text(error), true),
        (None, Some(output)) => (text(output), false),
        (None, None) => (text(response), false),
    }
}

fn check_signature(
    part: &Value,
    place: &str,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<(), ApiError> {
    match (is_signed, prompt::text(part, "thoughtSignature")) {
        (Some(is_signed), Some(signature)) if !is_signed(signature) => Err(ApiError::invalid(
            format!("Thought signature is not valid in {place}."),
        )),
        _ => Ok(()),
    }
}

/// Every run of calls must be answered by as many responses.
fn check_counts(history: &[HistoryEvent]) -> Result<(), ApiError> {
    match prompt::unpaired(history) {
        Some(_) => Err(ApiError::invalid(
            "Please ensure that the number of function response parts is equal to the number of function call \
             parts of the function call turn.",
        )),
        None => Ok(()),
    }
}

pub(super) fn stream(request: &PromptRequest, answer: &ScriptedReply, frames: &mut Frames) {
    let is_array = !request.options.is_events;
    let mut chunks = GeminiStream {
        answer,
        is_array,
        is_first: true,
        frames,
    };
    let mut parts = signed_parts(request, answer);
    let last = parts.pop();
    for part in &parts {
        chunks.push_part(part);
    }
    if let Some(part) = &last {
        chunks.last(part);
    } else {
        let empty = json!({ "text": "" });
        chunks.last(&empty);
    }
    if is_array {
        chunks.frames.raw(b"\n]".to_vec(), 0);
    }
}

struct GeminiStream<'a> {
    answer: &'a ScriptedReply,
    is_array: bool,
    is_first: bool,
    frames: &'a mut Frames,
}

impl GeminiStream<'_> {
    /// Pushes a part, its text in fragments. A call is sent whole.
    fn push_part(&mut self, part: &Value) {
        let signature = part.get("thoughtSignature");
        match part.get("text").and_then(Value::as_str) {
            Some(text) => {
                let fragments = self.frames.fragments(text);
                for fragment in &fragments {
                    let mut more = json!({ "text": fragment.text });
                    if prompt::flag(part, "thought") {
                        more["thought"] = json!(true);
                    }
                    self.send(json!([more]), fragment.tokens, None);
                }
                // A text's signature is sent as a separate part at the end.
                if let Some(signature) = signature {
                    let end = json!({ "text": "", "thoughtSignature": signature });
                    self.send(json!([end]), 0, None);
                }
            }
            None => {
                let tokens = crate::tokens::of_text(&part.to_string());
                self.send(json!([part]), tokens, None);
            }
        }
    }

    fn last(&mut self, part: &Value) {
        let finish = finish_reason(self.answer.stop);
        if part.get("functionCall").is_some() {
            let tokens = crate::tokens::of_text(&part.to_string());
            self.send(json!([part]), tokens, Some(finish));
            return;
        }
        self.push_part(part);
        self.send(json!([{ "text": "" }]), 0, Some(finish));
    }

    fn send(&mut self, parts: Value, tokens: u64, finish: Option<&str>) {
        let chunk = response(self.answer, parts, finish);
        let bytes = match (self.is_array, self.is_first) {
            (false, _) => format!("data: {chunk}\r\n\r\n"),
            (true, true) => format!("[{chunk}"),
            (true, false) => format!(",\r\n{chunk}"),
        };
        self.is_first = false;
        self.frames.raw(bytes.into_bytes(), tokens);
    }
}

pub(super) fn full_body(request: &PromptRequest, answer: &ScriptedReply) -> Value {
    let parts = signed_parts(request, answer);
    response(answer, json!(parts), Some(finish_reason(answer.stop)))
}

/// Returns the answer's parts. A signature goes onto the first call after the reasoning, or else
/// onto the text.
fn signed_parts(request: &PromptRequest, answer: &ScriptedReply) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut signature: Option<&str> = None;
    let sign = |part: &mut Value, signature: &mut Option<&str>| {
        if let Some(signature) = signature.take() {
            part["thoughtSignature"] = json!(signature);
        }
    };
    for (ix, block) in answer.blocks.iter().enumerate() {
        let is_call = |block: &ReplyBlock| matches!(block, ReplyBlock::Calls { .. });
        match block {
            ReplyBlock::Thinking(thought) => {
                signature = Some(&thought.signature);
                if request.options.thinking && !thought.is_redacted {
                    parts.push(json!({ "text": thought.text, "thought": true }));
                }
            }
            ReplyBlock::Text(text) => {
                let mut part = json!({ "text": text });
                if !answer.blocks[ix..].iter().any(is_call) {
                    sign(&mut part, &mut signature);
                }
                parts.push(part);
            }
            // A filtered answer has no text.
            ReplyBlock::Refusal(_) => {}
            ReplyBlock::Calls { calls, .. } => {
                for call in calls {
                    let arguments: Value = serde_json::from_str(&call.arguments)
                        .unwrap_or_else(|_| json!({ "input": call.arguments }));
                    let function = json!({ "id": call.id, "name": call.name, "args": arguments });
                    let mut part = json!({ "functionCall": function });
                    sign(&mut part, &mut signature);
                    parts.push(part);
                }
            }
        }
    }
    parts
}

fn response(answer: &ScriptedReply, parts: Value, finish: Option<&str>) -> Value {
    let count = answer.usage;
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let mut usage = json!({
        "promptTokenCount": count.prompt(),
        "totalTokenCount": count.prompt() + count.output,
    });
    if finish.is_some() {
        usage["candidatesTokenCount"] = json!(count.output - count.reasoning.min(count.output));
    }
    if count.cache_read > 0 {
        usage["cachedContentTokenCount"] = json!(count.cache_read);
    }
    if count.reasoning > 0 {
        usage["thoughtsTokenCount"] = json!(count.reasoning);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": answer.model,
        "responseId": answer.id,
    })
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::EndTurn | Stop::ToolUse | Stop::StopText | Stop::Pause => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    }
}

/// Returns the default status and the body of an error.
pub(super) fn error(error: &ApiError, model: &str) -> (u16, Value) {
    const USED_UP: &str =
        "You exceeded your current quota, please check your plan and billing details.";
    let (code, status, default) = match &error.kind {
        ApiErrorKind::RateLimited { .. } | ApiErrorKind::Quota => {
            (429, "RESOURCE_EXHAUSTED", USED_UP.to_owned())
        }
        ApiErrorKind::Overloaded => {
            let default = "The model is overloaded. Please try again later.";
            (503, "UNAVAILABLE", default.to_owned())
        }
        ApiErrorKind::Server | ApiErrorKind::Html => (
            500,
            "INTERNAL",
            "An internal error has occurred.".to_owned(),
        ),
        ApiErrorKind::Authentication => {
            let default = "API key not valid. Please pass a valid API key.";
            (400, "INVALID_ARGUMENT", default.to_owned())
        }
        ApiErrorKind::Permission => (403, "PERMISSION_DENIED", "Permission denied.".to_owned()),
        ApiErrorKind::Invalid => (400, "INVALID_ARGUMENT", "Invalid argument.".to_owned()),
        ApiErrorKind::ContextOverflow { prompt, limit } => {
            let default = format!(
                "The input token count ({prompt}) exceeds the maximum number of tokens allowed ({limit})."
            );
            (400, "INVALID_ARGUMENT", default)
        }
        ApiErrorKind::NoSuchModel => {
            let default = format!(
                "models/{model} is not found for API version v1beta, or is not supported for generateContent."
            );
            (404, "NOT_FOUND", default)
        }
        ApiErrorKind::NotFound => (404, "NOT_FOUND", "Not found.".to_owned()),
        ApiErrorKind::TooLarge => {
            let default = "Request payload size exceeds the limit.";
            (400, "INVALID_ARGUMENT", default.to_owned())
        }
    };
    let message = error.message.clone().unwrap_or(default);
    let mut body = json!({
        "code": error.status.unwrap_or(code), "message": message, "status": status,
    });
    let details = details(error);
    if !details.is_empty() {
        body["details"] = json!(details);
    }
    (code, json!({ "error": body }))
}

/// Returns the exhausted quota and the wait: this provider sends them in the body, not in headers.
fn details(error: &ApiError) -> Vec<Value> {
    let mut details = Vec::new();
    let window = match &error.kind {
        ApiErrorKind::RateLimited { .. } => "PerMinute",
        ApiErrorKind::Quota => "PerDay",
        ApiErrorKind::Authentication => {
            return vec![json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID", "domain": "googleapis.com",
            })];
        }
        _ => return details,
    };
    details.push(json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
            "quotaId": format!("GenerateRequests{window}PerProjectPerModel"),
        }],
    }));
    if let Some(wait) = error.retry_after {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{}s", wait.as_secs_f64()),
        }));
    }
    details
}
