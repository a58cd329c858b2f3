//! Decodes the stream of Gemini: complete responses, each with a piece of the candidate.

use model::{Failure, FailureClass, ModelRequest, StopReason, TokenCount, Usage};
use serde_json::{Value, json};

use super::super::calls::ArgumentForm;
use super::super::decoder::{Decoder, FrameReader};
use super::super::failure::{RequestTarget, interrupted};
use super::super::json::{items, number, text};
use super::super::response::ResponseBuilder;

/// Prefix of ids that we assign where Gemini gives none; they are not sent back to it.
pub(crate) const OWN_ID: &str = "own-call-";

/// Creates the decoder for the answer to `request`.
pub(crate) fn decoder(request: &ModelRequest, target: RequestTarget) -> Decoder {
    Decoder::new(GeminiReader::default(), request, target)
}

#[derive(Default)]
struct GeminiReader {
    finish: Option<(StopReason, String)>,
}

impl FrameReader for GeminiReader {
    fn on_frame(
        &mut self,
        _event: &str,
        value: &Value,
        answer: &mut ResponseBuilder,
    ) -> Result<(), Failure> {
        if value.get("error").is_some() {
            return Err(interrupted(&answer.target, value));
        }
        answer.start(text(value, "/responseId"), text(value, "/modelVersion"));
        if let Some(candidate) = items(value, "/candidates").first() {
            for part in items(candidate, "/content/parts") {
                self.read_part(part, answer);
            }
            let raw = text(candidate, "/finishReason");
            if !raw.is_empty() && raw != "FINISH_REASON_UNSPECIFIED" {
                let message = text(candidate, "/finishMessage");
                self.finish = Some((reason(raw, message, answer)?, raw.to_owned()));
            }
        }
        let blocked = text(value, "/promptFeedback/blockReason");
        if !blocked.is_empty() {
            answer.text(text(value, "/promptFeedback/blockReasonMessage"));
            self.finish = Some((StopReason::Refusal, blocked.to_owned()));
        }
        if let Some(counts) = value.get("usageMetadata").filter(|it| it.is_object()) {
            answer.usage(usage(counts));
        }
        Ok(())
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

impl GeminiReader {
    fn read_part(&mut self, part: &Value, answer: &mut ResponseBuilder) {
        let signature = text(part, "/thoughtSignature");
        if let Some(call) = part.get("functionCall") {
            let own = format!("{OWN_ID}{}", answer.calls() + 1);
            let id = match text(call, "/id") {
                "" => own.as_str(),
                id => id,
            };
            let index = answer.start_call(id, text(call, "/name"), ArgumentForm::Json);
            if let Some(arguments @ Value::Object(_)) = call.get("args") {
                answer.arguments(index, &arguments.to_string());
            }
            if !signature.is_empty() {
                answer.sign_call(index, &json!({ "thoughtSignature": signature }));
            }
            answer.end_call(index);
            return;
        }
        let shown = text(part, "/text");
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        let before = if is_thought {
            answer.reasoning(shown);
            answer.open_reasoning()
        } else {
            answer.text(shown);
            answer.open_text()
        };
        if signature.is_empty() {
            return;
        }
        // Start of the signed part in the text, since the preceding pieces were separate parts.
        let from = before.unwrap_or_default().saturating_sub(shown.len());
        match from {
            // A separate empty part, outside of any open part.
            0 if before.is_none() && !is_thought => {
                answer.sign(&json!({ "thoughtSignature": signature, "plain": true }));
            }
            0 => answer.sign(&json!({ "thoughtSignature": signature })),
            from => answer.sign(&json!({ "thoughtSignature": signature, "from": from })),
        }
    }
}

/// Converts a finish reason; an unknown one means the end of the turn. Fails if the model's tool
/// call was malformed, or if Gemini rejects the request; the latter failure quotes `message`.
fn reason(raw: &str, message: &str, answer: &ResponseBuilder) -> Result<StopReason, Failure> {
    Ok(match raw {
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "CONTINUATION" => StopReason::Pause,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "MODEL_ARMOR"
        | "ESCALATION"
        | "PUP_LIMITED_DISABLED" => StopReason::Refusal,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
            return Err(answer.malformed(&format!("the model's tool call was malformed ({raw})")));
        }
        "MISSING_THOUGHT_SIGNATURE" | "TOO_MANY_TOOL_CALLS" => {
            let message = format!(
                "{} stopped the answer ({raw}). {message}",
                answer.target.name()
            );
            return Err(Failure::new(FailureClass::InvalidRequest, message.trim()));
        }
        _ => StopReason::EndTurn,
    })
}

/// Converts usage. The prompt count includes cached tokens; the candidates' count excludes
/// reasoning.
fn usage(counts: &Value) -> Usage {
    let count = |pointer| number(counts, pointer).unwrap_or_default();
    let read = count("/cachedContentTokenCount");
    let thoughts = count("/thoughtsTokenCount");
    let prompt = count("/promptTokenCount").saturating_sub(read);
    Usage {
        input: TokenCount(prompt + count("/toolUsePromptTokenCount")),
        cache_read: TokenCount(read),
        cache_write_5m: TokenCount(0),
        cache_write_1h: TokenCount(0),
        output: TokenCount(count("/candidatesTokenCount") + thoughts),
        reasoning: TokenCount(thoughts),
        ..Usage::default()
    }
}
