//! An answer as OpenAI Responses streams it. A finished item is the authority; deltas come before it.

use std::collections::HashMap;

use model::{Failure, Request, StopReason, TokenCount, Usage};
use serde_json::{Value, json};

use super::super::answer::Answer;
use super::super::calls::Form;
use super::super::decoder::{Decoder, Reader};
use super::super::failure::{Site, interrupted};
use super::super::json::{items, number, text};

pub(crate) fn decoder(request: &Request, site: Site) -> Decoder {
    Decoder::new(Responses::default(), request, site)
}

#[derive(Default)]
struct Responses {
    items: HashMap<u64, Item>,
    has_refused: bool,
    has_finished_items: bool,
}

/// What came of an output item.
#[derive(Default)]
struct Item {
    call: Option<u32>,
    text: String,
    reasoning: usize,
}

impl Reader for Responses {
    fn frame(&mut self, event: &str, value: &Value, answer: &mut Answer) -> Result<(), Failure> {
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
            "response.output_item.added" => self.added(at, item, answer),
            "response.output_item.done" => self.done(at, item, answer)?,
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
            "response.failed" | "error" => return Err(interrupted(&answer.site, value)),
            _ => {}
        }
        Ok(())
    }
}

impl Responses {
    fn text(&mut self, at: u64, delta: &str, answer: &mut Answer) {
        self.items.entry(at).or_default().text.push_str(delta);
        answer.text(delta);
    }

    fn reasoning(&mut self, at: u64, delta: &str, answer: &mut Answer) {
        self.items.entry(at).or_default().reasoning += delta.len();
        answer.reasoning(delta);
    }

    fn added(&mut self, at: u64, item: &Value, answer: &mut Answer) {
        let form = match text(item, "/type") {
            "function_call" => Form::Json,
            "custom_tool_call" => Form::Text,
            "reasoning" => return answer.open_thought(),
            _ => return,
        };
        let index = answer.start_call(text(item, "/call_id"), text(item, "/name"), form);
        self.items.entry(at).or_default().call = Some(index);
    }

    fn done(&mut self, at: u64, item: &Value, answer: &mut Answer) -> Result<(), Failure> {
        match text(item, "/type") {
            "message" => self.message(at, item, answer),
            "reasoning" => self.thought(at, item, answer),
            kind @ ("function_call" | "custom_tool_call") => {
                if self.items.get(&at).and_then(|item| item.call).is_none() {
                    self.added(at, item, answer);
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

    fn message(&mut self, at: u64, item: &Value, answer: &mut Answer) {
        let mut whole = String::new();
        for part in items(item, "/content") {
            whole.push_str(text(part, "/text"));
            let refusal = text(part, "/refusal");
            self.has_refused |= !refusal.is_empty();
            whole.push_str(refusal);
        }
        let shown = self.items.get(&at).map_or("", |item| item.text.as_str());
        // What was shown stays shown; only what is missing is added.
        if let Some(rest) = whole.strip_prefix(shown) {
            answer.text(rest);
        }
        if let Some(phase) = item.get("phase").filter(|phase| phase.is_string())
            && answer.open_text().is_some()
        {
            answer.sign(&json!({ "phase": phase }));
        }
    }

    fn thought(&mut self, at: u64, item: &Value, answer: &mut Answer) {
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

    fn stop(&mut self, response: &Value, answer: &mut Answer) -> Result<(), Failure> {
        answer.start(text(response, "/id"), text(response, "/model"));
        if !self.has_finished_items {
            // A server that streams no items sends them at the end.
            for (at, item) in items(response, "/output").iter().enumerate() {
                self.done(at as u64, item, answer)?;
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

/// The prompt's count includes what was cached, and the output's the reasoning.
fn usage_of(usage: &Value) -> Usage {
    let count = |pointer| number(usage, pointer).unwrap_or_default();
    let read = count("/input_tokens_details/cached_tokens");
    let written = count("/input_tokens_details/cache_write_tokens");
    Usage {
        input: TokenCount(count("/input_tokens").saturating_sub(read + written)),
        cache_read: TokenCount(read),
        // The lifetimes there differ from ours; what is written is counted with the shorter one.
        cache_write_5m: TokenCount(written),
        cache_write_1h: TokenCount(0),
        output: TokenCount(count("/output_tokens")),
        reasoning: TokenCount(count("/output_tokens_details/reasoning_tokens")),
    }
}
