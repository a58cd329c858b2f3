//! The wire format of OpenAI Responses.

use serde_json::{Value, json};

use super::{
    CREATED, openai,
    prompt::{self, Unpaired},
};
use crate::{
    answer::{AnswerCall, ReplyBlock, ScriptedReply, Thought},
    api_error::{ApiError, ApiErrorKind},
    frames::Frames,
    request::{HistoryEvent, OfferedTool, PromptRequest},
    script::Stop,
    tokens::TokenFragment,
    wire::Incoming,
    wire_format::WireFormat,
};

pub(super) fn read(
    incoming: &Incoming,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<PromptRequest, ApiError> {
    let body = incoming.body;
    let missing = "Missing required parameter: 'model'.";
    let mut request = prompt::new_request(WireFormat::Responses, incoming, missing)?;
    request.options.max_tokens = body.get("max_output_tokens").and_then(Value::as_u64);
    request.options.parallel = body.get("parallel_tool_calls") != Some(&Value::Bool(false));
    request.options.thinking = body
        .pointer("/reasoning/summary")
        .is_some_and(|summary| !summary.is_null());
    request.options.sealed_thinking = prompt::items(body, "include")
        .iter()
        .any(|wanted| wanted == "reasoning.encrypted_content");
    request.options.schema = body.pointer("/text/format/schema").cloned();
    for tool in prompt::items(body, "tools") {
        request.tools.push(OfferedTool {
            name: prompt::text(tool, "name").unwrap_or_default().to_owned(),
            is_free: prompt::text(tool, "type") == Some("custom"),
        });
        request.segments.push(prompt::segment(tool));
    }
    if let Some(instructions) = body.get("instructions") {
        request.system = instructions.as_str().unwrap_or_default().to_owned();
        request.segments.push(prompt::segment(instructions));
    }
    let history = match body.get("input") {
        Some(Value::String(text)) => {
            request.segments.push(prompt::segment(&json!(text)));
            vec![HistoryEvent::User(text.clone())]
        }
        Some(Value::Array(items)) => items_of(items, &mut request, is_signed)?,
        _ => return Err(ApiError::invalid("Missing required parameter: 'input'.")),
    };
    if is_signed.is_some() {
        check_pairs(&history)?;
    }
    request.read_history(history);
    Ok(request)
}

fn items_of(
    items: &[Value],
    request: &mut PromptRequest,
    is_signed: Option<&dyn Fn(&str) -> bool>,
) -> Result<Vec<HistoryEvent>, ApiError> {
    let mut history = Vec::new();
    for (at, item) in items.iter().enumerate() {
        request.segments.push(prompt::segment(item));
        let field = |name: &str| prompt::text(item, name).unwrap_or_default().to_owned();
        let kind = prompt::text(item, "type").unwrap_or("message");
        match (kind, prompt::text(item, "role")) {
            ("message", Some("assistant")) => history.push(HistoryEvent::Assistant),
            ("message", Some("system" | "developer")) => {
                request
                    .system
                    .push_str(&prompt::content_text(item.get("content")));
            }
            ("message", _) => {
                history.push(HistoryEvent::User(prompt::content_text(
                    item.get("content"),
                )));
            }
            ("reasoning", _) => {
                let sealed = prompt::text(item, "encrypted_content");
                if let (Some(is_signed), Some(sealed)) = (is_signed, sealed)
                    && !is_signed(sealed)
                {
                    return Err(ApiError::invalid(format!(
                        "The encrypted content of input[{at}] could not be verified."
                    )));
                }
                history.push(HistoryEvent::Assistant);
            }
            ("function_call" | "custom_tool_call", _) => history.push(HistoryEvent::Call {
                id: field("call_id"),
                tool: field("name"),
            }),
            ("function_call_output" | "custom_tool_call_output", _) => {
                history.push(HistoryEvent::Result {
                    call: field("call_id"),
                    text: prompt::content_text(item.get("output")),
                    is_error: false,
                });
            }
            _ => {}
        }
    }
    Ok(history)
}

fn check_pairs(history: &[HistoryEvent]) -> Result<(), ApiError> {
    match prompt::unpaired(history) {
        Some(Unpaired::Call(id)) => Err(ApiError::invalid(format!(
            "No tool output found for function call {id}."
        ))),
        Some(Unpaired::Result(id)) => Err(ApiError::invalid(format!(
            "No tool call found for function call output with call_id {id}."
        ))),
        None => Ok(()),
    }
}

/// A stream in the making: events are numbered, items are collected for the last one.
struct ResponsesWriter<'a> {
    frames: &'a mut Frames,
    sequence: u64,
    items: Vec<Value>,
}

impl ResponsesWriter<'_> {
    fn event(&mut self, name: &str, mut data: Value, tokens: u64) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        self.frames.event(name, &data, tokens);
    }

    /// Announces an item; its index.
    fn open(&mut self, item: Value) -> usize {
        let index = self.items.len();
        let data = json!({ "output_index": index, "item": item });
        self.event("response.output_item.added", data, 0);
        self.items.push(item);
        index
    }

    fn close(&mut self, index: usize, item: Value) {
        let data = json!({ "output_index": index, "item": item });
        self.event("response.output_item.done", data, 0);
        self.items[index] = item;
    }

    fn push_reasoning(&mut self, thought: &Thought, request: &PromptRequest) {
        let id = format!("rs_{}", self.frames.random_id(24));
        let index = self.open(json!({ "id": id, "type": "reasoning", "summary": [] }));
        let is_shown = request.options.thinking && !thought.is_redacted;
        if is_shown {
            let place = json!({ "item_id": id, "output_index": index, "summary_index": 0 });
            let empty = json!({ "type": "summary_text", "text": "" });
            let name = "response.reasoning_summary_part.added";
            self.event(name, with(&place, "part", empty), 0);
            for fragment in self.frames.fragments(&thought.text) {
                let data = with(&place, "delta", json!(fragment.text));
                self.event(
                    "response.reasoning_summary_text.delta",
                    data,
                    fragment.tokens,
                );
            }
            let data = with(&place, "text", json!(thought.text));
            self.event("response.reasoning_summary_text.done", data, 0);
            let part = json!({ "type": "summary_text", "text": thought.text });
            let name = "response.reasoning_summary_part.done";
            self.event(name, with(&place, "part", part), 0);
        }
        self.close(index, reasoning_item(&id, thought, request));
    }

    fn push_message(&mut self, text: &str, is_refusal: bool, status: &str) {
        let id = format!("msg_{}", self.frames.random_id(24));
        let index = self.open(json!({
            "id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": [],
        }));
        let place = json!({ "item_id": id, "output_index": index, "content_index": 0 });
        let name = "response.content_part.added";
        self.event(name, with(&place, "part", content_part("", is_refusal)), 0);
        let (delta, done, field) = if is_refusal {
            ("response.refusal.delta", "response.refusal.done", "refusal")
        } else {
            (
                "response.output_text.delta",
                "response.output_text.done",
                "text",
            )
        };
        for fragment in self.frames.fragments(text) {
            self.event(
                delta,
                with(&place, "delta", json!(fragment.text)),
                fragment.tokens,
            );
        }
        self.event(done, with(&place, field, json!(text)), 0);
        let name = "response.content_part.done";
        self.event(
            name,
            with(&place, "part", content_part(text, is_refusal)),
            0,
        );
        self.close(index, message_item(&id, text, is_refusal, status));
    }

    fn call(&mut self, calls: &[AnswerCall], is_interleaved: bool, status: &str) {
        if !is_interleaved {
            for call in calls {
                let open = self.open_call(call);
                for fragment in self.frames.fragments(&call.arguments) {
                    self.deliver(&open, fragment);
                }
                self.close_call(open, status);
            }
            return;
        }
        let open: Vec<OpenCall> = calls.iter().map(|call| self.open_call(call)).collect();
        let mut fragments: Vec<_> = calls
            .iter()
            .map(|call| self.frames.fragments(&call.arguments).into_iter())
            .collect();
        let mut is_left = true;
        while is_left {
            is_left = false;
            for (call, fragments) in open.iter().zip(&mut fragments) {
                if let Some(fragment) = fragments.next() {
                    self.deliver(call, fragment);
                    is_left = true;
                }
            }
        }
        for call in open {
            self.close_call(call, status);
        }
    }

    fn open_call<'c>(&mut self, call: &'c AnswerCall) -> OpenCall<'c> {
        let prefix = if call.is_free { "ctc" } else { "fc" };
        let id = format!("{prefix}_{}", self.frames.random_id(24));
        let index = self.open(call_item(&id, call, "", "in_progress"));
        OpenCall { call, id, index }
    }

    fn deliver(&mut self, open: &OpenCall, fragment: TokenFragment) {
        let data =
            json!({ "item_id": open.id, "output_index": open.index, "delta": fragment.text });
        let name = if open.call.is_free {
            "response.custom_tool_call_input.delta"
        } else {
            "response.function_call_arguments.delta"
        };
        self.event(name, data, fragment.tokens);
    }

    fn close_call(&mut self, open: OpenCall, status: &str) {
        let (name, field) = if open.call.is_free {
            ("response.custom_tool_call_input.done", "input")
        } else {
            ("response.function_call_arguments.done", "arguments")
        };
        let place = json!({ "item_id": open.id, "output_index": open.index });
        self.event(name, with(&place, field, json!(open.call.arguments)), 0);
        let item = call_item(&open.id, open.call, &open.call.arguments, status);
        self.close(open.index, item);
    }
}

struct OpenCall<'a> {
    call: &'a AnswerCall,
    id: String,
    index: usize,
}

pub(super) fn stream(request: &PromptRequest, answer: &ScriptedReply, frames: &mut Frames) {
    let mut writer = ResponsesWriter {
        frames,
        sequence: 0,
        items: Vec::new(),
    };
    let begun = response(answer, "in_progress", Vec::new());
    writer.event("response.created", json!({ "response": begun }), 0);
    writer.event("response.in_progress", json!({ "response": begun }), 0);
    let status = status(answer);
    for block in &answer.blocks {
        match block {
            ReplyBlock::Thinking(thought) => writer.push_reasoning(thought, request),
            ReplyBlock::Text(text) => writer.push_message(text, false, status),
            ReplyBlock::Refusal(text) => writer.push_message(text, true, status),
            ReplyBlock::Calls {
                calls,
                is_interleaved,
            } => writer.call(calls, *is_interleaved, status),
        }
    }
    let items = std::mem::take(&mut writer.items);
    let data = json!({ "response": response(answer, status, items) });
    writer.event(&format!("response.{status}"), data, 0);
}

pub(super) fn full_body(
    request: &PromptRequest,
    answer: &ScriptedReply,
    frames: &mut Frames,
) -> Value {
    let status = status(answer);
    let mut items = Vec::new();
    for block in &answer.blocks {
        let word = frames.random_id(24);
        match block {
            ReplyBlock::Thinking(thought) => {
                items.push(reasoning_item(&format!("rs_{word}"), thought, request));
            }
            ReplyBlock::Text(text) => {
                items.push(message_item(&format!("msg_{word}"), text, false, status));
            }
            ReplyBlock::Refusal(text) => {
                items.push(message_item(&format!("msg_{word}"), text, true, status));
            }
            ReplyBlock::Calls { calls, .. } => {
                for call in calls {
                    let id = format!("fc_{}", frames.random_id(24));
                    items.push(call_item(&id, call, &call.arguments, status));
                }
            }
        }
    }
    response(answer, status, items)
}

/// Encodes the event of an answer that failed during the stream.
pub(super) fn failure(answer: &ScriptedReply) -> Vec<u8> {
    let mut failed = response(answer, "failed", Vec::new());
    let (_, body) = openai::error(&ApiError::new(ApiErrorKind::Overloaded), &answer.model);
    failed["usage"] = Value::Null;
    failed["error"] = json!({
        "code": body["error"]["code"], "message": body["error"]["message"],
    });
    // Clients identify events by name, not by number; real failures still have a number.
    let data = json!({ "type": "response.failed", "sequence_number": 9999, "response": failed });
    format!("event: response.failed\ndata: {data}\n\n").into_bytes()
}

fn status(answer: &ScriptedReply) -> &'static str {
    match answer.stop {
        Stop::MaxTokens => "incomplete",
        _ => "completed",
    }
}

fn response(answer: &ScriptedReply, status: &str, output: Vec<Value>) -> Value {
    let count = answer.usage;
    let usage = match status {
        "in_progress" => Value::Null,
        _ => json!({
            "input_tokens": count.prompt(),
            "input_tokens_details": { "cached_tokens": count.cache_read },
            "output_tokens": count.output,
            "output_tokens_details": { "reasoning_tokens": count.reasoning },
            "total_tokens": count.prompt() + count.output,
        }),
    };
    let details = match status {
        "incomplete" => json!({ "reason": "max_output_tokens" }),
        _ => Value::Null,
    };
    json!({
        "id": format!("resp_{}", answer.id),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": answer.model,
        "output": output,
        "usage": usage,
    })
}

fn reasoning_item(id: &str, thought: &Thought, request: &PromptRequest) -> Value {
    let is_shown = request.options.thinking && !thought.is_redacted;
    let summary = if is_shown {
        json!([{ "type": "summary_text", "text": thought.text }])
    } else {
        json!([])
    };
    let mut item = json!({ "id": id, "type": "reasoning", "summary": summary });
    if request.options.sealed_thinking {
        item["encrypted_content"] = json!(thought.signature);
    }
    item
}

fn message_item(id: &str, text: &str, is_refusal: bool, status: &str) -> Value {
    json!({
        "id": id, "type": "message", "status": status, "role": "assistant",
        "content": [content_part(text, is_refusal)],
    })
}

fn content_part(text: &str, is_refusal: bool) -> Value {
    if is_refusal {
        json!({ "type": "refusal", "refusal": text })
    } else {
        json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
    }
}

fn call_item(id: &str, call: &AnswerCall, arguments: &str, status: &str) -> Value {
    if call.is_free {
        json!({
            "id": id, "type": "custom_tool_call", "status": status,
            "call_id": call.id, "name": call.name, "input": arguments,
        })
    } else {
        json!({
            "id": id, "type": "function_call", "status": status,
            "call_id": call.id, "name": call.name, "arguments": arguments,
        })
    }
}

/// An object with one more field.
fn with(place: &Value, name: &str, value: Value) -> Value {
    let mut object = place.clone();
    object[name] = value;
    object
}
