//! Decodes the stream of OpenAI Chat.

use model::{Failure, FailureClass, ModelRequest, StopReason, TokenCount, Usage};
use serde_json::{Map, Value, json};

use super::super::decoder::{Decoder, FrameReader};
use super::super::dialect::ChatDialect;
use super::super::failure::{RequestTarget, interrupted};
use super::super::json::{items, number, text};
use super::super::response::ResponseBuilder;
use super::slots::StreamedCalls;

/// Creates the decoder for the answer to `request` of a server with this dialect.
pub(crate) fn decoder(
    dialect: &ChatDialect,
    request: &ModelRequest,
    target: RequestTarget,
) -> Decoder {
    let reader = ChatReader {
        reasoning_fields: dialect.reasoning_fields.clone(),
        cached_tokens: dialect.cached_tokens.clone(),
        keeps_details: dialect.reasoning_details,
        slots: StreamedCalls::default(),
        details: Vec::new(),
        finish: None,
        has_refused: false,
    };
    Decoder::new(reader, request, target)
}

struct ChatReader {
    reasoning_fields: Vec<String>,
    cached_tokens: Vec<String>,
    keeps_details: bool,
    slots: StreamedCalls,
    /// Pieces of `reasoning_details` that are not signed yet.
    details: Vec<Value>,
    finish: Option<(StopReason, String)>,
    has_refused: bool,
}

impl FrameReader for ChatReader {
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
        let choices = items(value, "/choices").iter();
        let mut choices = choices.filter(|choice| number(choice, "/index").unwrap_or(0) == 0);
        if let Some(choice) = choices.next() {
            self.choice(choice, answer)?;
        }
        let places = ["/usage", "/choices/0/usage", "/x_groq/usage"];
        let mut counts = places.iter().filter_map(|place| value.pointer(place));
        if let Some(counts) = counts.find(|counts| counts.is_object()) {
            answer.usage(usage(counts, &self.cached_tokens));
        }
        Ok(())
    }

    fn on_done(&mut self, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        if self.finish.is_none() {
            if !answer.has_started() {
                return Err(answer.malformed("the answer ended before it started"));
            }
            // Some servers give no reason; their `[DONE]` suffices.
            self.finish = Some((StopReason::EndTurn, String::new()));
        }
        self.on_end(answer)
    }

    fn on_end(&mut self, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        let Some((reason, raw)) = self.finish.take() else {
            return Err(answer.truncated());
        };
        if self.slots.has_nameless() {
            return Err(answer.malformed("a tool call has no name"));
        }
        self.sign(answer);
        let reason = match reason {
            StopReason::EndTurn if self.has_refused => StopReason::Refusal,
            reason => reason,
        };
        answer.stop(reason, &raw);
        Ok(())
    }
}

impl ChatReader {
    /// Adds the delta of a choice to the answer and remembers its finish reason. Fails if the
    /// reason says that the server aborted the answer.
    fn choice(&mut self, choice: &Value, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        let delta = match choice.get("delta").filter(|delta| delta.is_object()) {
            Some(delta) => delta,
            None => choice.get("message").unwrap_or(&Value::Null),
        };
        self.reasoning(delta, answer);
        self.content(delta, answer);
        let refusal = text(delta, "/refusal");
        if !refusal.is_empty() {
            self.has_refused = true;
            answer.text(refusal);
        }
        let calls = items(delta, "/tool_calls");
        if !calls.is_empty() {
            self.sign(answer);
        }
        for call in calls {
            self.slots.take(call, answer);
        }
        let raw = text(choice, "/finish_reason");
        if !raw.is_empty() {
            self.finish = Some((reason(raw, choice, answer)?, raw.to_owned()));
        }
        Ok(())
    }

    fn content(&mut self, delta: &Value, answer: &mut ResponseBuilder) {
        match delta.get("content") {
            Some(Value::String(content)) if !content.is_empty() => {
                self.sign(answer);
                answer.text(content);
            }
            Some(Value::Array(parts)) => {
                for part in parts {
                    for thought in items(part, "/thinking") {
                        answer.reasoning(text(thought, "/text"));
                    }
                    let shown = text(part, "/text");
                    if !shown.is_empty() {
                        self.sign(answer);
                        answer.text(shown);
                    }
                }
            }
            _ => {}
        }
    }

    fn reasoning(&mut self, delta: &Value, answer: &mut ResponseBuilder) {
        let mut fields = self.reasoning_fields.iter();
        let thought = fields.find_map(|field| {
            let thought = delta.get(field).and_then(Value::as_str)?;
            (!thought.is_empty()).then_some(thought)
        });
        let pieces = items(delta, "/reasoning_details");
        match thought {
            Some(thought) => answer.reasoning(thought),
            None => {
                for piece in pieces {
                    answer.reasoning(text(piece, "/text"));
                    answer.reasoning(text(piece, "/summary"));
                }
            }
        }
        if self.keeps_details {
            for piece in pieces {
                add_detail(&mut self.details, piece);
            }
        }
    }

    /// Ends the reasoning part: keeps the accompanying details with it.
    fn sign(&mut self, answer: &mut ResponseBuilder) {
        if !self.details.is_empty() {
            answer.open_thought();
            let details = std::mem::take(&mut self.details);
            answer.sign(&json!({ "reasoning_details": details }));
        }
    }
}

/// Appends a piece to the detail that it continues.
fn add_detail(details: &mut Vec<Value>, piece: &Value) {
    let Value::Object(piece) = piece else { return };
    let goes_on = |have: &&mut Value| {
        have.get("type") == piece.get("type") && have.get("index") == piece.get("index")
    };
    match details.last_mut().filter(goes_on) {
        Some(Value::Object(have)) => join(have, piece),
        _ => details.push(Value::Object(piece.clone())),
    }
}

fn join(have: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (name, value) in piece {
        match (have.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary" | "data") =>
            {
                text.push_str(more);
            }
            (_, Value::Null) => {}
            _ => {
                have.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Converts a finish reason; an unknown one means the end of the turn. Fails if the server aborted
/// the answer.
fn reason(raw: &str, choice: &Value, answer: &ResponseBuilder) -> Result<StopReason, Failure> {
    let by_text = choice.get("stop_reason").is_some_and(Value::is_string);
    Ok(match raw {
        "stop" if by_text => StopReason::StopText,
        "length" | "model_length" | "max_tokens" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "content_filter" | "safety" => StopReason::Refusal,
        "error" | "insufficient_system_resource" | "abort" => {
            let message = format!(
                "{} aborted the answer ({raw}). Sending the request again may help.",
                answer.target.name()
            );
            let class = match raw {
                "insufficient_system_resource" => FailureClass::Overloaded,
                _ => FailureClass::ServerError,
            };
            return Err(Failure::new(class, message));
        }
        _ => StopReason::EndTurn,
    })
}

/// Converts the usage object of a response. `cached_tokens` are the JSON pointers at which servers
/// report cached prompt tokens. Prompt counts include cached tokens. Output counts of most servers
/// include reasoning and rejected predictions; if the total is larger, the missing tokens are added.
pub(crate) fn usage(counts: &Value, cached_tokens: &[String]) -> Usage {
    let count = |pointer| number(counts, pointer).unwrap_or_default();
    let prompt = count("/prompt_tokens");
    let read = cached_tokens
        .iter()
        .find_map(|pointer| number(counts, pointer));
    let read = read.unwrap_or_default().min(prompt);
    let written = count("/prompt_tokens_details/cache_write_tokens").min(prompt - read);
    let reasoning = count("/completion_tokens_details/reasoning_tokens");
    let accepted = count("/completion_tokens_details/accepted_prediction_tokens");
    let rejected = count("/completion_tokens_details/rejected_prediction_tokens");
    let completion = count("/completion_tokens");
    let missing = count("/total_tokens").saturating_sub(prompt + completion);
    let is_apart = [reasoning, rejected, reasoning + rejected].contains(&missing);
    let output = if is_apart {
        completion + missing
    } else {
        completion
    };
    Usage {
        input: TokenCount(prompt - read - written),
        cache_read: TokenCount(read),
        cache_write_5m: TokenCount(written),
        cache_write_1h: TokenCount(0),
        output: TokenCount(output),
        reasoning: TokenCount(reasoning),
        accepted_prediction: TokenCount(accepted),
        rejected_prediction: TokenCount(rejected),
    }
}
