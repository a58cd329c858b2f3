//! Decodes fill-in-the-middle streams of each server.

use model::{Failure, Fim, StopReason, TokenCount, Usage};
use serde_json::Value;

use super::super::calls::ToolCalls;
use super::super::chat::usage;
use super::super::decoder::{Decoder, FrameReader};
use super::super::failure::{RequestTarget, interrupted};
use super::super::frames::Framing;
use super::super::json::{number, text};
use super::super::response::ResponseBuilder;
use super::{FimOptions, FimWire};

/// Creates the decoder for the answer to `request`.
pub(crate) fn decoder(fim: &FimOptions, request: &Fim, target: RequestTarget) -> Decoder {
    let framing = match fim.wire {
        FimWire::Ollama => Framing::Lines,
        _ => Framing::Events,
    };
    let answer = ResponseBuilder::new(request.model.clone(), ToolCalls::default(), target);
    Decoder::with(framing, FimReader { finish: None }, answer)
}

/// Recognizes the format by its members: llama.cpp's `content`, Ollama's `response`, otherwise
/// `choices`.
struct FimReader {
    finish: Option<(StopReason, String)>,
}

impl FrameReader for FimReader {
    fn on_frame(
        &mut self,
        _event: &str,
        value: &Value,
        answer: &mut ResponseBuilder,
    ) -> Result<(), Failure> {
        if value.get("error").is_some_and(|error| !error.is_null())
            || text(value, "/object") == "error"
        {
            return Err(interrupted(&answer.target, value));
        }
        answer.start(text(value, "/id"), text(value, "/model"));
        if value.get("response").is_some_and(Value::is_string) {
            self.ollama(value, answer);
        } else if value.get("content").is_some_and(Value::is_string) {
            self.llama(value, answer);
        } else {
            self.choice(value, answer);
        }
        Ok(())
    }

    fn on_done(&mut self, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        if self.finish.is_none() && answer.has_started() {
            self.finish = Some((StopReason::EndTurn, String::new()));
        }
        self.on_end(answer)
    }

    fn on_end(&mut self, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        match self.finish.take() {
            Some((reason, raw)) => {
                answer.stop(reason, &raw);
                Ok(())
            }
            None => Err(answer.truncated()),
        }
    }
}

impl FimReader {
    fn choice(&mut self, value: &Value, answer: &mut ResponseBuilder) {
        for place in [
            "/choices/0/text",
            "/choices/0/delta/content",
            "/choices/0/message/content",
        ] {
            answer.text(text(value, place));
        }
        let raw = text(value, "/choices/0/finish_reason");
        if !raw.is_empty() {
            let by_text = value
                .pointer("/choices/0/stop_reason")
                .is_some_and(Value::is_string);
            self.finish = Some((reason(raw, by_text), raw.to_owned()));
        }
        if let Some(counts) = value.get("usage").filter(|it| it.is_object()) {
            let pointer = "/prompt_tokens_details/cached_tokens".to_owned();
            answer.usage(usage(counts, &[pointer]));
        }
    }

    fn llama(&mut self, value: &Value, answer: &mut ResponseBuilder) {
        answer.text(text(value, "/content"));
        if value.get("stop") != Some(&Value::Bool(true)) {
            return;
        }
        let raw = text(value, "/stop_type");
        let count = |pointer| number(value, pointer).unwrap_or_default();
        let read = count("/timings/cache_n").max(count("/tokens_cached_prompt"));
        answer.usage(Usage {
            input: TokenCount(count("/tokens_evaluated").saturating_sub(read)),
            cache_read: TokenCount(read),
            output: TokenCount(count("/tokens_predicted")),
            ..Usage::default()
        });
        answer.stop(reason(raw, raw == "word"), raw);
    }

    fn ollama(&mut self, value: &Value, answer: &mut ResponseBuilder) {
        answer.text(text(value, "/response"));
        if value.get("done") != Some(&Value::Bool(true)) {
            return;
        }
        let count = |pointer| TokenCount(number(value, pointer).unwrap_or_default());
        answer.usage(Usage {
            input: count("/prompt_eval_count"),
            output: count("/eval_count"),
            ..Usage::default()
        });
        let raw = text(value, "/done_reason");
        answer.stop(reason(raw, false), raw);
    }
}

fn reason(raw: &str, by_text: bool) -> StopReason {
    match raw {
        "length" | "limit" | "model_length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        _ if by_text => StopReason::StopText,
        _ => StopReason::EndTurn,
    }
}
