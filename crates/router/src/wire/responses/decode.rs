//! Decodes the stream of OpenAI Responses. A finished item is authoritative; deltas precede it.

use std::collections::HashMap;

use model::{Failure, ModelRequest, StopReason, TokenCount, Usage};
use serde_json::{Value, json};

use super::super::calls::ArgumentForm;
use super::super::decoder::{Decoder, FrameReader};
use super::super::failure::{RequestTarget, interrupted};
use super::super::json::{items, number, text};
use super::super::response::ResponseBuilder;

/// Creates the decoder for the answer to `request`.
pub(crate) fn decoder(request: &ModelRequest, target: RequestTarget) -> Decoder {
    Decoder::new(ResponsesReader::default(), request, target)
}

#[derive(Default)]
struct ResponsesReader {
    items: HashMap<u64, OutputItem>,
    has_refused: bool,
    has_finished_items: bool,
}

/// State of an output item.
#[derive(Default)]
struct OutputItem {
    call: Option<u32>,
    text: String,
    reasoning: usize,
}

impl FrameReader for ResponsesReader {
    fn on_frame(
        &mut self,
        event: &str,
        value: &Value,
        answer: &mut ResponseBuilder,
    ) -> Result<(), Failure> {
        let kind = match text(value, "/type") {
            "" => event,
            kind => kind,
        };
        let at = number(value, "/output_index").unwrap_or_default();
        let item = value.get("item").unwrap_or(&Value::Null);
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                answer.start(text(value, "/response/id"), text(value, "/response/model"));
            }
            "response.output_item.added" => self.on_item_added(at, item, answer),
            "response.output_item.done" => self.on_item_done(at, item, answer)?,
            "response.output_text.delta" => self.text(at, text(value, "/delta"), answer),
            "response.refusal.delta" => {
                self.has_refused = true;
                self.text(at, text(value, "/delta"), answer);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reasoning(at, text(value, "/delta"), answer);
            }
            "response.reasoning_summary_part.added" => {
                let before = self.items.get(&at).map_or(0, |item| item.reasoning);
                if before > 0 {
                    self.reasoning(at, "\n\n", answer);
                }
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                if let Some(index) = self.items.get(&at).and_then(|item| item.call) {
                    answer.arguments(index, text(value, "/delta"));
                }
            }
            "response.completed" | "response.incomplete" => {
                self.stop(&value["response"], answer)?;
            }
            "response.failed" | "error" => return Err(interrupted(&answer.target, value)),
            _ => {}
        }
        Ok(())
    }
}

impl ResponsesReader {
    fn text(&mut self, at: u64, delta: &str, answer: &mut ResponseBuilder) {
        self.items.entry(at).or_default().text.push_str(delta);
        answer.text(delta);
    }

    fn reasoning(&mut self, at: u64, delta: &str, answer: &mut ResponseBuilder) {
        self.items.entry(at).or_default().reasoning += delta.len();
        answer.reasoning(delta);
    }

    fn on_item_added(&mut self, at: u64, item: &Value, answer: &mut ResponseBuilder) {
        let form = match text(item, "/type") {
            "function_call" => ArgumentForm::Json,
            "custom_tool_call" => ArgumentForm::Text,
            "reasoning" => return answer.open_thought(),
            _ => return,
        };
        let index = answer.start_call(text(item, "/call_id"), text(item, "/name"), form);
        self.items.entry(at).or_default().call = Some(index);
    }

    /// Adds to the answer what the deltas of the finished item `at` did not contain, and ends its
    /// tool call. Ignores items of unknown types. Fails if the arguments of a call contradict the
    /// streamed ones.
    fn on_item_done(
        &mut self,
        at: u64,
        item: &Value,
        answer: &mut ResponseBuilder,
    ) -> Result<(), Failure> {
        match text(item, "/type") {
            "message" => self.message(at, item, answer),
            "reasoning" => self.thought(at, item, answer),
            kind @ ("function_call" | "custom_tool_call") => {
                if self.items.get(&at).and_then(|item| item.call).is_none() {
                    self.on_item_added(at, item, answer);
                }
                let arguments = match kind {
                    "function_call" => text(item, "/arguments"),
                    _ => text(item, "/input"),
                };
                if let Some(index) = self.items.get(&at).and_then(|item| item.call) {
                    answer.whole_arguments(index, arguments)?;
                    answer.end_call(index);
                }
            }
            _ => {}
        }
        self.items.remove(&at);
        self.has_finished_items = true;
        Ok(())
    }

    fn message(&mut self, at: u64, item: &Value, answer: &mut ResponseBuilder) {
        let mut whole = String::new();
        for part in items(item, "/content") {
            whole.push_str(text(part, "/text"));
            let refusal = text(part, "/refusal");
            self.has_refused |= !refusal.is_empty();
            whole.push_str(refusal);
        }
        let shown = self.items.get(&at).map_or("", |item| item.text.as_str());
        // Emitted text stays; only the missing rest is added.
        if let Some(rest) = whole.strip_prefix(shown) {
            answer.text(rest);
        }
        if let Some(phase) = item.get("phase").filter(|phase| phase.is_string())
            && answer.open_text().is_some()
        {
            answer.sign(&json!({ "phase": phase }));
        }
    }

    fn thought(&mut self, at: u64, item: &Value, answer: &mut ResponseBuilder) {
        if self.items.get(&at).map_or(0, |item| item.reasoning) == 0 {
            answer.open_thought();
            let mut texts = Vec::new();
            for part in items(item, "/summary")
                .iter()
                .chain(items(item, "/content"))
            {
                texts.push(text(part, "/text"));
            }
            answer.reasoning(&texts.join("\n\n"));
        }
        if !text(item, "/encrypted_content").is_empty() {
            answer.sign(&json!({ "item": item }));
        }
    }

    /// Ends the answer with the usage and stop reason of the final response. Adds the response's
    /// items if none was streamed; fails if their calls contradict streamed arguments.
    fn stop(&mut self, response: &Value, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        answer.start(text(response, "/id"), text(response, "/model"));
        if !self.has_finished_items {
            // A server that streams no items sends them at the end.
            for (at, item) in items(response, "/output").iter().enumerate() {
                self.on_item_done(at as u64, item, answer)?;
            }
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            answer.usage(usage_of(usage));
        }
        let raw = match text(response, "/incomplete_details/reason") {
            "" => text(response, "/status"),
            reason => reason,
        };
        let reason = match raw {
            "max_output_tokens" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            _ if self.has_refused => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        answer.stop(reason, raw);
        Ok(())
    }
}

/// Converts usage. The prompt count includes cached tokens, and the output count includes
/// reasoning.
fn usage_of(usage: &Value) -> Usage {
    let count = |pointer| number(usage, pointer).unwrap_or_default();
    let read = count("/input_tokens_details/cached_tokens");
    let written = count("/input_tokens_details/cache_write_tokens");
    Usage {
        input: TokenCount(count("/input_tokens").saturating_sub(read + written)),
        cache_read: TokenCount(read),
        // Its cache lifetimes differ from ours; writes count as the shorter one.
        cache_write_5m: TokenCount(written),
        cache_write_1h: TokenCount(0),
        output: TokenCount(count("/output_tokens")),
        reasoning: TokenCount(count("/output_tokens_details/reasoning_tokens")),
        ..Usage::default()
    }
}
