//! Tests of limit headers in all formats in use.

use super::*;

/// Returns the time 2026-11-21T17:30:00Z.
fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_282_200)
}

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn check(text: &str, seconds: Option<f64>) {
    let found = retry_after(&headers(&[("retry-after", text)]), now());
    assert_eq!(found.map(|wait| wait.as_secs_f64()), seconds, "{text}");
}

#[test]
fn waits() {
    check("12", Some(12.0));
    check("0.5", Some(0.5));
    check("-3", Some(0.0));
    check("6m0s", Some(360.0));
    check("1h2m3.5s", Some(3723.5));
    check("120ms", Some(0.12));
    check("Sat, 21 Nov 2026 17:30:30 GMT", Some(30.0));
    check("Sat, 21 Nov 2026 17:29:00 GMT", Some(0.0));
    check("2026-11-21T17:31:00Z", Some(60.0));
    check("2026-11-21T18:31:00.25+01:00", Some(60.25));
    check("1795282210", Some(10.0));
    check("1795282210000", Some(10.0));
    check("soon", None);
    check("", None);
    check("1x", None);
    check("2026-13-41T99:99:99Z", None);
}

#[test]
fn milliseconds_take_precedence() {
    let both = headers(&[("retry-after", "2"), ("retry-after-ms", "1500")]);
    assert_eq!(retry_after(&both, now()), Some(Duration::from_millis(1500)));
}

#[test]
fn each_provider() {
    let anthropic = headers(&[
        ("anthropic-ratelimit-requests-limit", "50"),
        ("anthropic-ratelimit-requests-remaining", "49"),
        ("anthropic-ratelimit-requests-reset", "2026-11-21T17:30:01Z"),
        ("anthropic-ratelimit-input-tokens-limit", "40000"),
        ("anthropic-ratelimit-output-tokens-remaining", "-5"),
    ]);
    let limits = rate_limits(&anthropic, now()).expect("limits");
    let expected = RateLimit {
        limit: Some(TokenCount(50)),
        remaining: Some(TokenCount(49)),
        reset: Some(Duration::from_secs(1)),
    };
    assert_eq!(limits.requests, expected);
    assert_eq!(limits.input_tokens.limit, Some(TokenCount(40_000)));
    assert_eq!(limits.output_tokens.remaining, Some(TokenCount(0)));

    let openai = headers(&[
        ("x-ratelimit-limit-requests", "500"),
        ("x-ratelimit-remaining-tokens", "149984"),
        ("x-ratelimit-limit-tokens", "150000"),
        ("x-ratelimit-reset-tokens", "6m0s"),
    ]);
    let limits = rate_limits(&openai, now()).expect("limits");
    assert_eq!(limits.requests.limit, Some(TokenCount(500)));
    assert_eq!(limits.input_tokens.reset, Some(Duration::from_secs(360)));

    assert_eq!(rate_limits(&headers(&[("server", "x")]), now()), None);
}
