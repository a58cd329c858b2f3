//! Tests the classification of refusals. The bodies are written by hand.

use model::FailureClass::*;

use crate::wire::tests::target;

use super::*;

fn failure(status: u16, body: &str) -> Failure {
    refused(
        &target(),
        status,
        &[],
        body.as_bytes(),
        &[],
        SystemTime::UNIX_EPOCH,
    )
}

fn check(status: u16, body: &str, class: FailureClass) {
    let failure = failure(status, body);
    assert_eq!(failure.class, class, "{status} {body}: {failure}");
    assert!(failure.message.contains("Maker"), "{failure}");
    assert!(failure.message.ends_with(['.', '!', '?']), "{failure}");
}

#[test]
fn anthropic() {
    let error = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"r"}}"#
        )
    };
    check(
        429,
        &error(
            "rate_limit_error",
            "This request would exceed your rate limit",
        ),
        RateLimited,
    );
    check(529, &error("overloaded_error", "Overloaded"), Overloaded);
    check(
        401,
        &error("authentication_error", "invalid x-api-key"),
        Authentication,
    );
    check(
        403,
        &error("permission_error", "not allowed"),
        Authentication,
    );
    check(404, &error("not_found_error", "model: m-1"), NoSuchModel);
    check(404, &error("not_found_error", "Not found"), InvalidRequest);
    check(
        413,
        &error("request_too_large", "Request exceeds the maximum size"),
        ContextOverflow,
    );
    check(
        400,
        &error(
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
        ContextOverflow,
    );
    check(
        400,
        &error(
            "invalid_request_error",
            "Your credit balance is too low to access the API",
        ),
        Quota,
    );
    check(
        400,
        &error(
            "invalid_request_error",
            "messages: at least one message is required",
        ),
        InvalidRequest,
    );
    check(
        500,
        &error("api_error", "Internal server error"),
        ServerError,
    );
    check(402, &error("billing_error", "Payment required"), Quota);
}

#[test]
fn openai_compatible() {
    let error = |kind: &str, code: &str, message: &str| {
        format!(
            r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":{code}}}}}"#
        )
    };
    check(
        429,
        &error("requests", r#""rate_limit_exceeded""#, "Rate limit reached"),
        RateLimited,
    );
    check(
        429,
        &error(
            "tokens",
            r#""rate_limit_exceeded""#,
            "Request too large for m-1 on tokens per min",
        ),
        RateLimited,
    );
    check(
        429,
        &error(
            "insufficient_quota",
            r#""insufficient_quota""#,
            "You exceeded your current quota",
        ),
        Quota,
    );
    check(
        401,
        &error(
            "invalid_request_error",
            r#""invalid_api_key""#,
            "Incorrect API key provided",
        ),
        Authentication,
    );
    check(
        404,
        &error(
            "invalid_request_error",
            r#""model_not_found""#,
            "The model does not exist",
        ),
        NoSuchModel,
    );
    check(
        400,
        &error(
            "invalid_request_error",
            r#""context_length_exceeded""#,
            "Your input exceeds the context window",
        ),
        ContextOverflow,
    );
    check(
        400,
        &error("invalid_request_error", "null", "Unsupported parameter"),
        InvalidRequest,
    );
    check(
        503,
        &error("server_error", r#""slow_down""#, "Slow down"),
        Overloaded,
    );
    // OpenRouter.
    check(
        402,
        r#"{"error":{"code":402,"message":"Insufficient credits"}}"#,
        Quota,
    );
    check(
        400,
        r#"{"error":{"code":400,"message":"x/y is not a valid model ID"}}"#,
        NoSuchModel,
    );
    check(
        404,
        r#"{"error":{"code":404,"message":"No endpoints found for x/y, a model"}}"#,
        NoSuchModel,
    );
    check(
        200,
        r#"{"error":{"code":502,"message":"Provider returned error"}}"#,
        ServerError,
    );
    // DeepSeek.
    check(
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#,
        Quota,
    );
    check(
        400,
        r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}"#,
        NoSuchModel,
    );
    // vLLM, Mistral.
    check(
        400,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","code":400}"#,
        ContextOverflow,
    );
    check(
        404,
        r#"{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","code":404}"#,
        NoSuchModel,
    );
    check(
        422,
        r#"{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}"#,
        InvalidRequest,
    );
    check(401, r#"{"detail":"Unauthorized"}"#, Authentication);
    // llama.cpp.
    check(
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}"#,
        ContextOverflow,
    );
    check(
        503,
        r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
        Overloaded,
    );
    // Ollama, LM Studio.
    check(404, r#"{"error":"model 'x' not found"}"#, NoSuchModel);
    check(
        400,
        r#"{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
        ContextOverflow,
    );
    // xAI.
    check(
        400,
        r#"{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 200000 tokens."}"#,
        ContextOverflow,
    );
}

#[test]
fn gemini() {
    let error = |code: u16, status: &str, message: &str, details: &str| {
        format!(
            r#"[{{"error":{{"code":{code},"message":"{message}","status":"{status}","details":[{details}]}}}}]"#
        )
    };
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let violation =
        |id: &str| format!(r#"{{"@type":"QuotaFailure","violations":[{{"quotaId":"{id}"}}]}}"#);
    let minute = violation("GenerateRequestsPerMinutePerProjectPerModel")
        + r#",{"@type":"RetryInfo","retryDelay":"37s"}"#;
    check(
        429,
        &error(429, "RESOURCE_EXHAUSTED", words, &minute),
        RateLimited,
    );
    let wait = failure(429, &error(429, "RESOURCE_EXHAUSTED", words, &minute)).retry_after;
    assert_eq!(wait, Some(Duration::from_secs(37)));
    let day = violation("GenerateRequestsPerDayPerProjectPerModel");
    check(429, &error(429, "RESOURCE_EXHAUSTED", words, &day), Quota);
    check(
        429,
        &error(429, "RESOURCE_EXHAUSTED", words, ""),
        RateLimited,
    );
    let reason = r#"{"@type":"ErrorInfo","reason":"API_KEY_INVALID"}"#;
    check(
        400,
        &error(400, "INVALID_ARGUMENT", "API key not valid.", reason),
        Authentication,
    );
    check(
        400,
        &error(
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            "",
        ),
        ContextOverflow,
    );
    check(
        404,
        &error(
            404,
            "NOT_FOUND",
            "models/x is not found for API version v1beta",
            "",
        ),
        NoSuchModel,
    );
    check(
        503,
        &error(503, "UNAVAILABLE", "The model is overloaded.", ""),
        Overloaded,
    );
    check(
        500,
        &error(500, "INTERNAL", "An internal error", ""),
        ServerError,
    );
}

#[test]
fn bodies_without_a_provider_error() {
    check(
        502,
        "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
        ServerError,
    );
    check(
        403,
        "<!DOCTYPE html><title>Attention\nRequired!</title>",
        Authentication,
    );
    check(407, "", Offline);
    check(404, "404 page not found", InvalidRequest);
    check(429, "", RateLimited);
    check(500, "\u{fffd}\u{0}", ServerError);
    check(200, "<html><title>Sign in</title>", Malformed);
    check(200, "{}", Malformed);
    check(200, "hello", Malformed);
}

#[test]
fn sentences() {
    let wait = [("retry-after".to_owned(), "12".to_owned())];
    let body = br#"{"error":{"type":"rate_limit_error","message":"Too many\n  requests"}}"#;
    let failure = refused(&target(), 429, &wait, body, &[], SystemTime::UNIX_EPOCH);
    assert_eq!(
        failure.message,
        "Maker (api.maker.example) is rate limiting requests (HTTP 429): Too many requests. It \
         requests a wait of 12 s."
    );
    assert_eq!(failure.retry_after, Some(Duration::from_secs(12)));
    let page = "<html><title>Blocked</title><body>".to_owned() + &"x".repeat(9000);
    let failure = refused(
        &target(),
        403,
        &[],
        page.as_bytes(),
        &[],
        SystemTime::UNIX_EPOCH,
    );
    assert_eq!(
        failure.message,
        "Maker (api.maker.example) rejected the key (HTTP 403): Blocked. A firewall or a proxy may \
         be interfering."
    );
    let long = format!(r#"{{"error":"{}"}}"#, "word ".repeat(2000));
    let failure = refused(
        &target(),
        400,
        &[],
        long.as_bytes(),
        &[],
        SystemTime::UNIX_EPOCH,
    );
    assert!(failure.message.len() < 600);
}
