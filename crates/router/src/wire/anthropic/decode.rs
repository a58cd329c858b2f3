//! Decodes the stream of Anthropic Messages.

use std::collections::HashMap;

use model::{Failure, ModelRequest, StopReason, TokenCount, Usage};
use serde_json::{Value, json};

use super::super::calls::ArgumentForm;
use super::super::decoder::{Decoder, FrameReader};
use super::super::failure::{RequestTarget, interrupted};
use super::super::json::{number, text, tokens};
use super::super::response::ResponseBuilder;

/// Creates the decoder for the answer to `request`.
pub(crate) fn decoder(request: &ModelRequest, target: RequestTarget) -> Decoder {
    Decoder::new(AnthropicReader::default(), request, target)
}

#[derive(Default)]
struct AnthropicReader {
    blocks: HashMap<u64, OpenBlock>,
    usage: Usage,
    stop: Option<(StopReason, String)>,
}

/// An open content block.
enum OpenBlock {
    Text,
    Thinking { signature: String },
    Call(u32),
}

impl FrameReader for AnthropicReader {
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
        match kind {
            "message_start" => {
                answer.start(text(value, "/message/id"), text(value, "/message/model"));
                self.add_usage(value.pointer("/message/usage"), answer);
            }
            "content_block_start" => self.open(value, answer),
            "content_block_delta" => self.delta(value, answer),
            "content_block_stop" => self.close(value, answer),
            "message_delta" => {
                self.add_usage(value.get("usage"), answer);
                self.message_delta(value, answer);
            }
            "message_stop" => return self.stop(answer),
            "error" => return Err(interrupted(&answer.target, value)),
            _ => {}
        }
        Ok(())
    }
}

impl AnthropicReader {
    fn open(&mut self, value: &Value, answer: &mut ResponseBuilder) {
        let at = number(value, "/index").unwrap_or_default();
        let block = value.get("content_block").unwrap_or(&Value::Null);
        let opened = match text(block, "/type") {
            "text" => {
                answer.text(text(block, "/text"));
                OpenBlock::Text
            }
            "thinking" => {
                answer.open_thought();
                answer.reasoning(text(block, "/thinking"));
                OpenBlock::Thinking {
                    signature: text(block, "/signature").to_owned(),
                }
            }
            "redacted_thinking" => {
                answer.open_thought();
                answer.sign(&json!({ "redacted": text(block, "/data") }));
                return;
            }
            "tool_use" => {
                let index =
                    answer.start_call(text(block, "/id"), text(block, "/name"), ArgumentForm::Json);
                // Usually an empty object, which the deltas fill.
                match block.get("input") {
                    Some(Value::Object(input)) if !input.is_empty() => {
                        answer.arguments(index, &Value::Object(input.clone()).to_string());
                    }
                    _ => {}
                }
                OpenBlock::Call(index)
            }
            _ => return,
        };
        self.blocks.insert(at, opened);
    }

    fn delta(&mut self, value: &Value, answer: &mut ResponseBuilder) {
        let at = number(value, "/index").unwrap_or_default();
        let delta = value.get("delta").unwrap_or(&Value::Null);
        let Some(block) = self.blocks.get_mut(&at) else {
            return;
        };
        match (block, text(delta, "/type")) {
            (OpenBlock::Text, "text_delta") => answer.text(text(delta, "/text")),
            (OpenBlock::Thinking { .. }, "thinking_delta") => {
                answer.reasoning(text(delta, "/thinking"));
            }
            (OpenBlock::Thinking { signature }, "signature_delta") => {
                signature.push_str(text(delta, "/signature"));
            }
            (OpenBlock::Call(index), "input_json_delta") => {
                answer.arguments(*index, text(delta, "/partial_json"));
            }
            _ => {}
        }
    }

    fn close(&mut self, value: &Value, answer: &mut ResponseBuilder) {
        let at = number(value, "/index").unwrap_or_default();
        match self.blocks.remove(&at) {
            Some(OpenBlock::Thinking { signature }) if !signature.is_empty() => {
                answer.sign(&json!({ "signature": signature }));
            }
            Some(OpenBlock::Call(index)) => answer.end_call(index),
            _ => {}
        }
    }

    fn message_delta(&mut self, value: &Value, answer: &mut ResponseBuilder) {
        let raw = text(value, "/delta/stop_reason");
        let reason = match raw {
            "" => return,
            "tool_use" => StopReason::ToolUse,
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "stop_sequence" => StopReason::StopText,
            "refusal" => StopReason::Refusal,
            "pause_turn" => StopReason::Pause,
            _ => StopReason::EndTurn,
        };
        if reason == StopReason::Refusal {
            answer.text(text(value, "/delta/stop_details/explanation"));
        }
        self.stop = Some((reason, raw.to_owned()));
    }

    /// Ends the answer with the stop reason received before. Fails if there was none.
    fn stop(&mut self, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        match self.stop.take() {
            Some((reason, raw)) => answer.stop(reason, &raw),
            None => return Err(answer.malformed("the answer has no stop reason")),
        }
        Ok(())
    }

    /// Updates usage from running totals; a missing member is unchanged.
    fn add_usage(&mut self, usage: Option<&Value>, answer: &mut ResponseBuilder) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let set = |pointer: &str, into: &mut TokenCount| {
            if let Some(count) = number(usage, pointer) {
                *into = TokenCount(count);
            }
        };
        set("/input_tokens", &mut self.usage.input);
        set("/cache_read_input_tokens", &mut self.usage.cache_read);
        set("/output_tokens", &mut self.usage.output);
        set(
            "/output_tokens_details/thinking_tokens",
            &mut self.usage.reasoning,
        );
        if usage.get("cache_creation").is_some_and(Value::is_object) {
            self.usage.cache_write_5m = tokens(usage, "/cache_creation/ephemeral_5m_input_tokens");
            self.usage.cache_write_1h = tokens(usage, "/cache_creation/ephemeral_1h_input_tokens");
        } else if let Some(written) = number(usage, "/cache_creation_input_tokens") {
            // Tokens without a stated lifetime count as five-minute cache writes.
            let hour = self.usage.cache_write_1h.0;
            self.usage.cache_write_5m = TokenCount(written.saturating_sub(hour));
        }
        answer.usage(self.usage);
    }
}
