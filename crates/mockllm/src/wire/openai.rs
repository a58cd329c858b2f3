//! Errors and rate-limit headers of the OpenAI wires and their imitators.

use serde_json::{Value, json};

use crate::{
    limits::{BucketLevel, LimitHeaders},
    trouble::{ApiError, ApiErrorKind},
    wire::go_duration,
};

/// The usual status and the body of an error.
pub(super) fn error(trouble: &ApiError, model: &str) -> (u16, Value) {
    let (status, kind, code, usual) = match &trouble.kind {
        ApiErrorKind::RateLimited { what } => {
            let again = trouble.retry_after.unwrap_or_default();
            let usual = format!(
                "Rate limit reached for {model} on {what} per min. Please try again in {}.",
                go_duration(again)
            );
            let kind = if *what == "requests" {
                "requests"
            } else {
                "tokens"
            };
            (429, kind, Some("rate_limit_exceeded"), usual)
        }
        ApiErrorKind::Overloaded => {
            let usual = "The server is currently overloaded. Please try again later.";
            (
                503,
                "server_error",
                Some("server_is_overloaded"),
                usual.to_owned(),
            )
        }
        ApiErrorKind::Server | ApiErrorKind::Html => {
            let usual = "The server had an error while processing your request. Sorry about that!";
            (500, "server_error", None, usual.to_owned())
        }
        ApiErrorKind::Quota => {
            let usual =
                "You exceeded your current quota, please check your plan and billing details.";
            let kind = "insufficient_quota";
            (429, kind, Some(kind), usual.to_owned())
        }
        ApiErrorKind::Authentication => {
            let usual = "Incorrect API key provided.";
            (
                401,
                "invalid_request_error",
                Some("invalid_api_key"),
                usual.to_owned(),
            )
        }
        ApiErrorKind::Permission => {
            let usual = "You have insufficient permissions for this operation.";
            (403, "invalid_request_error", None, usual.to_owned())
        }
        ApiErrorKind::Invalid => {
            let usual = "Invalid request.";
            (400, "invalid_request_error", None, usual.to_owned())
        }
        ApiErrorKind::ContextOverflow { prompt, limit } => {
            let usual = format!(
                "This model's maximum context length is {limit} tokens. However, your messages resulted in \
                 {prompt} tokens. Please reduce the length of the messages."
            );
            (
                400,
                "invalid_request_error",
                Some("context_length_exceeded"),
                usual,
            )
        }
        ApiErrorKind::NoSuchModel => {
            let usual =
                format!("The model `{model}` does not exist or you do not have access to it.");
            (404, "invalid_request_error", Some("model_not_found"), usual)
        }
        ApiErrorKind::NotFound => {
            let usual = "Invalid URL";
            (404, "invalid_request_error", None, usual.to_owned())
        }
        ApiErrorKind::TooLarge => {
            let usual = "Request too large.";
            (413, "invalid_request_error", None, usual.to_owned())
        }
    };
    let message = trouble.message.clone().unwrap_or(usual);
    let error = json!({ "message": message, "type": kind, "param": null, "code": code });
    (status, json!({ "error": error }))
}

pub(super) fn limit_headers(standing: LimitHeaders) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    let mut add = |level: Option<BucketLevel>, names: [&'static str; 3]| {
        let Some(level) = level else { return };
        headers.push((names[0], level.limit.to_string()));
        headers.push((names[1], level.remaining.to_string()));
        headers.push((names[2], go_duration(level.reset)));
    };
    add(
        standing.requests,
        [
            "x-ratelimit-limit-requests",
            "x-ratelimit-remaining-requests",
            "x-ratelimit-reset-requests",
        ],
    );
    add(
        standing.input,
        [
            "x-ratelimit-limit-tokens",
            "x-ratelimit-remaining-tokens",
            "x-ratelimit-reset-tokens",
        ],
    );
    headers
}
