//! Classifies errors by codes, words and status.

use model::FailureClass;

use super::body::ErrorBody;

/// Codes that determine the class, searched for within each code of a body.
const CODES: &[(&str, FailureClass)] = &[
    ("context_length_exceeded", FailureClass::ContextOverflow),
    ("exceed_context_size", FailureClass::ContextOverflow),
    ("request_too_large", FailureClass::ContextOverflow),
    ("insufficient_quota", FailureClass::Quota),
    ("insufficient_balance", FailureClass::Quota),
    ("billing", FailureClass::Quota),
    ("spend_limit", FailureClass::Quota),
    ("perday", FailureClass::Quota),
    ("authentication_error", FailureClass::Authentication),
    ("permission_error", FailureClass::Authentication),
    ("invalid_api_key", FailureClass::Authentication),
    ("api_key_invalid", FailureClass::Authentication),
    ("unauthenticated", FailureClass::Authentication),
    ("permission_denied", FailureClass::Authentication),
    ("model_not_found", FailureClass::NoSuchModel),
    ("overloaded", FailureClass::Overloaded),
    ("unavailable", FailureClass::Overloaded),
    ("slow_down", FailureClass::Overloaded),
    ("insufficient_system_resource", FailureClass::Overloaded),
    ("rate_limit", FailureClass::RateLimited),
    ("resource_exhausted", FailureClass::RateLimited),
];

/// Phrases by which providers without codes report that the conversation is too long.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "context length",
    "context size",
    "context window",
    "context limit",
    "context the overflows",
    "context overflow",
    "maximum prompt length",
    "input is too long",
    "input token count",
    "too many tokens",
    "reduce the length of",
    "too large for model",
];

const NO_CREDIT: &[&str] = &[
    "credit balance",
    "insufficient balance",
    "insufficient credit",
    "insufficient funds",
    "requires more credits",
    "exceeded your current quota",
    "spend limit",
    "billing hard limit",
];

const NO_KEY: &[&str] = &[
    "api key not valid",
    "invalid api key",
    "incorrect api key",
    "no auth credentials",
];

/// Returns the class of an error; `status` is `None` for an error within a stream.
pub(super) fn class(status: Option<u16>, body: &ErrorBody) -> FailureClass {
    let status = match status {
        // A success that contains an error: the error's own status counts.
        Some(200) | None => body.status,
        some => some,
    };
    by_code(status, body)
        .or_else(|| by_words(status, body))
        .unwrap_or_else(|| by_status(status, body))
}

/// Returns the class of the first entry of `CODES` that is part of one of the error's codes; `None`
/// if none is. A limit per minute is never a quota, and with status 429 an overlong context becomes
/// a rate limit.
fn by_code(status: Option<u16>, body: &ErrorBody) -> Option<FailureClass> {
    let says = |code: &str| body.codes.iter().any(|have| have.contains(code));
    // A quota that resets within the hour is a rate limit.
    let is_minute = says("perminute") && !says("perday");
    let (_, class) = CODES
        .iter()
        .find(|(code, class)| says(code) && !(is_minute && *class == FailureClass::Quota))?;
    match (class, status) {
        // Too much for the minute, not for the model.
        (FailureClass::ContextOverflow, Some(429)) => Some(FailureClass::RateLimited),
        // A permission error may concern a model, as its message says; the key is still the cause.
        _ => Some(*class),
    }
}

/// Returns the class that the words of the message indicate; `None` if they indicate none. Some
/// words only count with certain statuses.
fn by_words(status: Option<u16>, body: &ErrorBody) -> Option<FailureClass> {
    let message = body.message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is_rate = matches!(status, Some(429));
    if says(NO_CREDIT) {
        return Some(FailureClass::Quota);
    }
    if !is_rate && says(TOO_LONG) {
        return Some(FailureClass::ContextOverflow);
    }
    if says(NO_KEY) {
        return Some(FailureClass::Authentication);
    }
    let is_about_model = message.contains("model");
    let is_missing = says(&[
        "not found",
        "not exist",
        "no such",
        "unknown model",
        "not a valid model",
        "no endpoints found",
    ]);
    if matches!(status, Some(400 | 404 | 422) | None) && is_missing && is_about_model {
        return Some(FailureClass::NoSuchModel);
    }
    if body.codes.iter().any(|code| code == "not_found_error") && message.starts_with("model") {
        return Some(FailureClass::NoSuchModel);
    }
    if status != Some(400) && says(&["overloaded", "loading model", "at capacity"]) {
        return Some(FailureClass::Overloaded);
    }
    None
}

fn by_status(status: Option<u16>, body: &ErrorBody) -> FailureClass {
    let is_invalid = |code: &String| {
        code.contains("invalid") || code.contains("bad_request") || code.contains("badrequest")
    };
    match status {
        Some(402) => FailureClass::Quota,
        Some(401 | 403) => FailureClass::Authentication,
        Some(407) => FailureClass::Offline,
        Some(413) => FailureClass::ContextOverflow,
        Some(429) => FailureClass::RateLimited,
        Some(503 | 529) => FailureClass::Overloaded,
        Some(408 | 425 | 500..=599) => FailureClass::ServerError,
        Some(300..=499) => FailureClass::InvalidRequest,
        _ if body.codes.iter().any(is_invalid) => FailureClass::InvalidRequest,
        _ if body.is_json && !(body.codes.is_empty() && body.message.is_empty()) => {
            FailureClass::ServerError
        }
        _ => FailureClass::Malformed,
    }
}
