//! What fills a gap, as each server streams it.

use model::{Failure, Fim, StopReason, TokenCount, Usage};
use serde_json::Value;

use super::super::answer::Answer;
use super::super::calls::Calls;
use super::super::chat::usage;
use super::super::decoder::{Decoder, Reader};
use super::super::failure::{Site, interrupted};
use super::super::frames::Framing;
use super::super::json::{number, text};
use super::{FimOptions, FimWire};

pub(crate) fn decoder(fim: &FimOptions, request: &Fim, site: Site) -> Decoder {
    let framing = match fim.wire {
        FimWire::Ollama => Framing::Lines,
        _ => Framing::Events,
    };
    let answer = Answer::new(request.model.clone(), Calls::default(), site);
    Decoder::with(framing, Gap { finish: None }, answer)
}

/// The shapes are told apart by their members: llama.cpp's `content`, Ollama's `response`, else `choices`.
struct Gap {
    finish: Option<(StopReason, String)>,
}

impl Reader for Gap {
    fn frame(&mut self, _event: &str, value: &Value, answer: &mut Answer) -> Result<(), Failure> {
        if value.get("error").is_some_and(|error| !error.is_null())
            || text(value, "/object") == "error"
        {
            return Err(interrupted(&answer.site, value));
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

    fn done(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        if self.finish.is_none() && answer.has_started() {
            self.finish = Some((StopReason::EndTurn, String::new()));
        }
        self.end(answer)
    }

    fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        match self.finish.take() {
            Some((reason, raw)) => {
                answer.stop(reason, &raw);
                Ok(())
            }
            None => Err(answer.torn()),
        }
    }
}

impl Gap {
    fn choice(&mut self, value: &Value, answer: &mut Answer) {
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

    fn llama(&mut self, value: &Value, answer: &mut Answer) {
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

    fn ollama(&mut self, value: &Value, answer: &mut Answer) {
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
