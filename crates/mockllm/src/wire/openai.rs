//! Errors and rate-limit headers of the OpenAI wires and their imitators.

use serde_json::{Value, json};

use crate::{
    api_error::{ApiError, ApiErrorKind},
    limits::{BucketLevel, LimitHeaders},
    wire::go_duration,
};

/// Returns the default status and the body of an error.
pub(super) fn error(error: &ApiError, model: &str) -> (u16, Value) {
    let (status, kind, code, default) = match &error.kind {
        ApiErrorKind::RateLimited { what } => {
            let again = error.retry_after.unwrap_or_default();
            let default = format!(
                "Rate limit reached for {model} on {what} per min. Please try again in {}.",
                go_duration(again)
            );
            let kind = if *what == "requests" {
                "requests"
            } else {
                "tokens"
            };
            (429, kind, Some("rate_limit_exceeded"), default)
        }
        ApiErrorKind::Overloaded => {
            let default = "The server is currently overloaded. Please try again later.";
            (
                503,
                "server_error",
                Some("server_is_overloaded"),
                default.to_owned(),
            )
        }
        ApiErrorKind::Server | ApiErrorKind::Html => {
            let default =
                "The server had an error while processing your request. Sorry about that!";
            (500, "server_error", None, default.to_owned())
        }
        ApiErrorKind::Quota => {
            let default =
                "You exceeded your current quota, please check your plan and billing details.";
            let kind = "insufficient_quota";
            (429, kind, Some(kind), default.to_owned())
        }
        ApiErrorKind::Authentication => {
            let default = "Incorrect API key provided.";
            (
                401,
                "invalid_request_error",
                Some("invalid_api_key"),
                default.to_owned(),
            )
        }
        ApiErrorKind::Permission => {
            let default = "You have insufficient permissions for this operation.";
            (403, "invalid_request_error", None, default.to_owned())
        }
        ApiErrorKind::Invalid => {
            let default = "Invalid request.";
            (400, "invalid_request_error", None, default.to_owned())
        }
        ApiErrorKind::ContextOverflow { prompt, limit } => {
            let default = format!(
                "This model's maximum context length is {limit} tokens. However, your messages resulted in \
                 {prompt} tokens. Please reduce the length of the messages."
            );
            (
                400,
                "invalid_request_error",
                Some("context_length_exceeded"),
                default,
            )
        }
        ApiErrorKind::NoSuchModel => {
            let default =
                format!("The model `{model}` does not exist or you do not have access to it.");
            (
                404,
                "invalid_request_error",
                Some("model_not_found"),
                default,
            )
        }
        ApiErrorKind::NotFound => {
            let default = "Invalid URL";
            (404, "invalid_request_error", None, default.to_owned())
        }
        ApiErrorKind::TooLarge => {
            let default = "Request too large.";
            (413, "invalid_request_error", None, default.to_owned())
        }
    };
    let message = error.message.clone().unwrap_or(default);
    let error = json!({ "message": message, "type": kind, "param": null, "code": code });
    (status, json!({ "error": error }))
}

pub(super) fn limit_headers(limit_headers: LimitHeaders) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    let mut add = |level: Option<BucketLevel>, names: [&'static str; 3]| {
        let Some(level) = level else { return };
        headers.push((names[0], level.limit.to_string()));
        headers.push((names[1], level.remaining.to_string()));
        headers.push((names[2], go_duration(level.reset)));
    };
    add(
        limit_headers.requests,
        [
            "x-ratelimit-limit-requests",
            "x-ratelimit-remaining-requests",
            "x-ratelimit-reset-requests",
        ],
    );
    add(
        limit_headers.input,
        [
            "x-ratelimit-limit-tokens",
            "x-ratelimit-remaining-tokens",
            "x-ratelimit-reset-tokens",
        ],
    );
    headers
}
