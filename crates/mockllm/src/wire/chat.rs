//! The wire format of OpenAI Chat Completions, and the dialects of its imitators.

use serde_json::{Map, Value, json};

use super::{
    CREATED,
    prompt::{self, Unpaired},
};
use crate::{
    answer::{AnswerCall, ReplyBlock, ScriptedReply, Thought},
    api_error::ApiError,
    frames::Frames,
    request::{HistoryEvent, OfferedTool, PromptRequest},
    script::{ModelDialect, Stop},
    wire::Incoming,
    wire_format::WireFormat,
};

pub(super) fn read(incoming: &Incoming, is_strict: bool) -> Result<PromptRequest, ApiError> {
    let body = incoming.body;
    let missing = "you must provide a model parameter";
    let mut request = prompt::new_request(WireFormat::Chat, incoming, missing)?;
    let most = body
        .get("max_completion_tokens")
        .or_else(|| body.get("max_tokens"));
    request.options.max_tokens = most.and_then(Value::as_u64);
    request.options.stop = prompt::stops(body.get("stop"));
    request.options.parallel = body.get("parallel_tool_calls") != Some(&Value::Bool(false));
    request.options.usage =
        body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    request.options.thinking = true;
    request.options.schema = body.pointer("/response_format/json_schema/schema").cloned();
    request.options.prediction = body
        .pointer("/prediction/content")
        .map(|content| prompt::content_text(Some(content)));
    if is_strict {
        check_prediction(body)?;
    }
    for tool in prompt::items(body, "tools") {
        let name = tool
            .pointer("/function/name")
            .or(tool.pointer("/custom/name"));
        request.tools.push(OfferedTool {
            name: name.and_then(Value::as_str).unwrap_or_default().to_owned(),
            is_free: prompt::text(tool, "type") == Some("custom"),
        });
        request.segments.push(prompt::segment(tool));
    }
    let messages = prompt::items(body, "messages");
    if messages.is_empty() {
        return Err(ApiError::invalid(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
        ));
    }
    let mut history = Vec::new();
    for message in messages {
        request.segments.push(prompt::segment(message));
        let text = prompt::content_text(message.get("content"));
        match prompt::text(message, "role") {
            Some("system" | "developer") => request.system.push_str(&text),
            Some("user") => history.push(HistoryEvent::User(text)),
            Some("assistant") => read_assistant_message(message, &mut history),
            Some("tool") => history.push(HistoryEvent::Result {
                call: prompt::text(message, "tool_call_id")
                    .unwrap_or_default()
                    .to_owned(),
                text,
                is_error: false,
            }),
            role => {
                return Err(ApiError::invalid(format!(
                    "Invalid value: {role:?}. Supported values are: 'system', 'developer', 'user', \
                     'assistant', 'tool'."
                )));
            }
        }
    }
    if is_strict {
        check_pairs(&history)?;
    }
    request.read_history(history);
    Ok(request)
}

/// Fails if the request combines a prediction with a member that OpenAI rejects next to it.
fn check_prediction(body: &Value) -> Result<(), ApiError> {
    if body.get("prediction").is_none() {
        return Ok(());
    }
    let rejected = ["tools", "max_completion_tokens", "logprobs"];
    match rejected.iter().find(|member| body.get(**member).is_some()) {
        Some(member) => Err(ApiError::invalid(format!(
            "Unsupported parameter: '{member}' is not supported with 'prediction'."
        ))),
        None => Ok(()),
    }
}

fn read_assistant_message(message: &Value, history: &mut Vec<HistoryEvent>) {
    history.push(HistoryEvent::Assistant);
    for call in prompt::items(message, "tool_calls") {
        let name = call
            .pointer("/function/name")
            .or(call.pointer("/custom/name"));
        history.push(HistoryEvent::Call {
            id: prompt::text(call, "id").unwrap_or_default().to_owned(),
            tool: name.and_then(Value::as_str).unwrap_or_default().to_owned(),
        });
    }
}

fn check_pairs(history: &[HistoryEvent]) -> Result<(), ApiError> {
    match prompt::unpaired(history) {
        Some(Unpaired::Call(id)) => Err(ApiError::invalid(format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
        ))),
        Some(Unpaired::Result(id)) => Err(ApiError::invalid(format!(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
             'tool_calls' (tool_call_id {id})."
        ))),
        None => Ok(()),
    }
}

pub(super) fn stream(request: &PromptRequest, answer: &ScriptedReply, frames: &mut Frames) {
    if answer.dialect == ModelDialect::Openrouter {
        frames.raw(b": OPENROUTER PROCESSING\n\n".to_vec(), 0);
    }
    deliver(
        answer,
        json!({ "role": "assistant", "content": "" }),
        0,
        frames,
    );
    let mut index = 0;
    let mut sent = 0;
    for block in &answer.blocks {
        match block {
            ReplyBlock::Thinking(thought) => push_thinking(answer, thought, frames),
            ReplyBlock::Text(text) => {
                for fragment in frames.fragments(text) {
                    let span = sent..sent + fragment.text.len();
                    sent = span.end;
                    let tokens = answer.generated_tokens(span, fragment.tokens);
                    deliver(answer, json!({ "content": fragment.text }), tokens, frames);
                }
            }
            ReplyBlock::Refusal(text) => {
                sent += text.len();
                let field = refusal_field(answer.dialect);
                for fragment in frames.fragments(text) {
                    deliver(
                        answer,
                        json!({ field: fragment.text }),
                        fragment.tokens,
                        frames,
                    );
                }
            }
            ReplyBlock::Calls {
                calls,
                is_interleaved,
            } => {
                call(answer, calls, *is_interleaved, index, frames);
                index += calls.len();
            }
        }
    }
    let mut last = chunk(answer, json!({}), json!(finish_reason(answer)));
    if request.options.usage {
        if answer.dialect == ModelDialect::Openrouter {
            last["usage"] = usage(answer);
            frames.data(&last, 0);
        } else {
            frames.data(&last, 0);
            let mut end = chunk(answer, Value::Null, Value::Null);
            end["choices"] = json!([]);
            end["usage"] = usage(answer);
            frames.data(&end, 0);
        }
    } else {
        frames.data(&last, 0);
    }
    frames.raw(b"data: [DONE]\n\n".to_vec(), 0);
}

fn push_thinking(answer: &ScriptedReply, thought: &Thought, frames: &mut Frames) {
    let Some(field) = thought_field(answer.dialect) else {
        return;
    };
    let has_details = answer.dialect == ModelDialect::Openrouter;
    if !thought.is_redacted {
        for fragment in frames.fragments(&thought.text) {
            let mut delta = json!({ field: fragment.text });
            if has_details {
                delta["reasoning_details"] = json!([{
                    "type": "reasoning.text", "text": fragment.text, "format": "unknown", "index": 0,
                }]);
            }
            deliver(answer, delta, fragment.tokens, frames);
        }
    }
    if has_details {
        let detail = if thought.is_redacted {
            json!({ "type": "reasoning.encrypted", "data": thought.signature, "format": "unknown", "index": 0 })
        } else {
            json!({
                "type": "reasoning.text", "signature": thought.signature, "format": "unknown", "index": 0,
            })
        };
        deliver(answer, json!({ "reasoning_details": [detail] }), 0, frames);
    }
}

fn call(
    answer: &ScriptedReply,
    calls: &[AnswerCall],
    is_interleaved: bool,
    first: usize,
    frames: &mut Frames,
) {
    let mut fragments: Vec<_> = calls
        .iter()
        .map(|call| frames.fragments(&call.arguments).into_iter())
        .collect();
    let open = |ix: usize, frames: &mut Frames| {
        let (kind, input) = shape(&calls[ix]);
        let body = json!({ "name": calls[ix].name, input: "" });
        let call = json!({ "index": first + ix, "id": calls[ix].id, "type": kind, kind: body });
        deliver(answer, json!({ "tool_calls": [call] }), 0, frames);
    };
    let more = |ix: usize, text: &str, tokens: u64, frames: &mut Frames| {
        let (kind, input) = shape(&calls[ix]);
        let call = json!({ "index": first + ix, kind: { input: text } });
        deliver(answer, json!({ "tool_calls": [call] }), tokens, frames);
    };
    if !is_interleaved {
        for (ix, fragments) in fragments.into_iter().enumerate() {
            open(ix, frames);
            for fragment in fragments {
                more(ix, fragment.text, fragment.tokens, frames);
            }
        }
        return;
    }
    (0..calls.len()).for_each(|ix| open(ix, frames));
    let mut is_left = true;
    while is_left {
        is_left = false;
        for (ix, fragments) in fragments.iter_mut().enumerate() {
            if let Some(fragment) = fragments.next() {
                more(ix, fragment.text, fragment.tokens, frames);
                is_left = true;
            }
        }
    }
}

/// The name of a call's own object, and of its input in there.
fn shape(call: &AnswerCall) -> (&'static str, &'static str) {
    if call.is_free {
        ("custom", "input")
    } else {
        ("function", "arguments")
    }
}

fn deliver(answer: &ScriptedReply, delta: Value, tokens: u64, frames: &mut Frames) {
    frames.data(&chunk(answer, delta, Value::Null), tokens);
}

fn chunk(answer: &ScriptedReply, delta: Value, finish_reason: Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", answer.id),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": answer.model,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }],
    })
}

pub(super) fn full_body(answer: &ScriptedReply) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let (mut text, mut refusal, mut thought) = (String::new(), String::new(), String::new());
    let mut calls = Vec::new();
    for block in &answer.blocks {
        match block {
            ReplyBlock::Thinking(more) if more.is_redacted => {}
            ReplyBlock::Thinking(more) => thought.push_str(&more.text),
            ReplyBlock::Text(more) => text.push_str(more),
            ReplyBlock::Refusal(more) if refusal_field(answer.dialect) == "content" => {
                text.push_str(more);
            }
            ReplyBlock::Refusal(more) => refusal.push_str(more),
            ReplyBlock::Calls { calls: more, .. } => calls.extend(more.iter().map(|call| {
                let (kind, input) = shape(call);
                let body = json!({ "name": call.name, input: call.arguments });
                json!({ "id": call.id, "type": kind, kind: body })
            })),
        }
    }
    let or_null = |text: String| {
        if text.is_empty() {
            Value::Null
        } else {
            json!(text)
        }
    };
    message.insert("content".to_owned(), or_null(text));
    message.insert("refusal".to_owned(), or_null(refusal));
    if let Some(field) = thought_field(answer.dialect)
        && !thought.is_empty()
    {
        message.insert(field.to_owned(), json!(thought));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), json!(calls));
    }
    json!({
        "id": format!("chatcmpl-{}", answer.id),
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer),
        }],
        "usage": usage(answer),
    })
}

fn thought_field(dialect: ModelDialect) -> Option<&'static str> {
    match dialect {
        ModelDialect::Openai => None,
        ModelDialect::Openrouter | ModelDialect::Ollama => Some("reasoning"),
        ModelDialect::Deepseek
        | ModelDialect::Llamacpp
        | ModelDialect::Vllm
        | ModelDialect::Lmstudio
        | ModelDialect::Mistral => Some("reasoning_content"),
    }
}

/// OpenAI's models refuse in a field of its own; elsewhere it is content that the filter ended.
fn refusal_field(dialect: ModelDialect) -> &'static str {
    match dialect {
        ModelDialect::Openai => "refusal",
        _ => "content",
    }
}

pub(super) fn finish_reason(answer: &ScriptedReply) -> &'static str {
    match answer.stop {
        Stop::Refusal if answer.dialect == ModelDialect::Openai => "stop",
        Stop::EndTurn | Stop::StopText | Stop::Pause => "stop",
        Stop::ToolUse => "tool_calls",
        Stop::MaxTokens => "length",
        Stop::Refusal => "content_filter",
    }
}

pub(super) fn usage(answer: &ScriptedReply) -> Value {
    let count = answer.usage;
    let mut usage = json!({
        "prompt_tokens": count.prompt(),
        "completion_tokens": count.output,
        "total_tokens": count.prompt() + count.output,
    });
    match answer.dialect {
        ModelDialect::Deepseek => {
            usage["prompt_cache_hit_tokens"] = json!(count.cache_read);
            usage["prompt_cache_miss_tokens"] = json!(count.prompt() - count.cache_read);
        }
        ModelDialect::Ollama | ModelDialect::Lmstudio => {}
        _ => usage["prompt_tokens_details"] = json!({ "cached_tokens": count.cache_read }),
    }
    if matches!(
        answer.dialect,
        ModelDialect::Openai | ModelDialect::Openrouter | ModelDialect::Deepseek
    ) {
        usage["completion_tokens_details"] = json!({ "reasoning_tokens": count.reasoning });
    }
    if answer.prediction.is_some() {
        let details = &mut usage["completion_tokens_details"];
        details["accepted_prediction_tokens"] = json!(count.accepted_prediction);
        details["rejected_prediction_tokens"] = json!(count.rejected_prediction);
    }
    usage
}
