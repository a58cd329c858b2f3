//! Tests of reported usage, caches and limits, and of many concurrent clients.

use std::thread;

use serde_json::{Value, json};

use super::{
    question,
    raw::{RawEnd, post, post_with, receive, send},
    saying, serve,
};
use crate::{MockServer, ResponseEnd, Script};

/// Creates a request with a marked system prompt of `tokens` tokens.
fn cached_question(tokens: usize, text: &str) -> Value {
    let mut body = question(text);
    body["stream"] = json!(false);
    body["system"] = json!([{
        "type": "text", "text": "word".repeat(tokens), "cache_control": { "type": "ephemeral" },
    }]);
    body
}

fn usage(server: &MockServer, body: &Value) -> Value {
    post(server, "/v1/messages", body).json()["usage"].clone()
}

#[test]
fn anthropic_caches_marked_prefixes() {
    let server = saying(json!([{ "text": "ok" }]));
    let first = usage(&server, &cached_question(2000, "one"));
    let written = first["cache_creation_input_tokens"]
        .as_u64()
        .expect("a number");
    assert!(written > 2000, "{first}");
    assert_eq!(first["cache_read_input_tokens"], 0);
    let second = usage(&server, &cached_question(2000, "two"));
    assert_eq!(second["cache_read_input_tokens"], written);
    assert_eq!(second["cache_creation_input_tokens"], 0);
    let short = usage(&server, &cached_question(1000, "one"));
    assert_eq!(
        short["cache_creation_input_tokens"], 0,
        "shorter than the minimum"
    );
    let headers = "x-api-key: another\r\n";
    let other = post_with(
        &server,
        "/v1/messages",
        headers,
        &cached_question(2000, "one"),
    )
    .json();
    assert_eq!(
        other["usage"]["cache_read_input_tokens"], 0,
        "another account's cache is another"
    );
}

#[test]
fn anthropic_refuses_invalid_cache_marks() {
    let server = saying(json!([{ "text": "ok" }]));
    let mut body = question("go");
    let block = |ttl: &str| json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral", "ttl": ttl } });
    body["system"] = json!(vec![block("5m"); 5]);
    let raw = post(&server, "/v1/messages", &body);
    assert!(
        raw.text().contains("A maximum of 4 blocks"),
        "{}",
        raw.text()
    );
    body["system"] = json!([block("5m"), block("1h")]);
    let raw = post(&server, "/v1/messages", &body);
    assert!(raw.text().contains("must not come after"), "{}", raw.text());
}

#[test]
fn other_wires_cache_automatically() {
    let server = saying(json!([{ "text": "ok" }]));
    let long = "word".repeat(3000);
    let chat = |text: &str| {
        let messages = json!([
            { "role": "system", "content": long }, { "role": "user", "content": text },
        ]);
        let body = json!({ "model": "m", "messages": messages });
        post(&server, "/v1/chat/completions", &body).json()["usage"]["prompt_tokens_details"]["cached_tokens"].clone()
    };
    assert_eq!(chat("one"), 0);
    assert_eq!(chat("two"), 2944, "the common prefix in steps of 128");
    let gemini = || {
        let body = json!({
            "systemInstruction": { "parts": [{ "text": long }] },
            "contents": [{ "role": "user", "parts": [{ "text": "one" }] }],
        });
        post(&server, "/v1beta/models/g:generateContent", &body).json()["usageMetadata"].clone()
    };
    assert_eq!(gemini().get("cachedContentTokenCount"), None);
    assert_eq!(gemini()["cachedContentTokenCount"], 2944);
}

#[test]
fn requests_sent_together_all_miss() {
    let script = json!({
        "pace": { "first_byte_ms": 300 }, "rules": [{ "reply": [{ "text": "ok" }] }],
    });
    let server = serve(&script);
    let reads: Vec<Value> = thread::scope(|scope| {
        let ask = |_| {
            scope.spawn(|| {
                usage(&server, &cached_question(2000, "go"))["cache_read_input_tokens"].clone()
            })
        };
        let asked: Vec<_> = (0..3).map(ask).collect();
        asked
            .into_iter()
            .map(|asked| asked.join().expect("an answer"))
            .collect()
    });
    assert_eq!(reads, [0, 0, 0]);
    assert!(
        usage(&server, &cached_question(2000, "go"))["cache_read_input_tokens"].as_u64()
            > Some(2000)
    );
}

#[test]
fn limits_are_reported_and_enforced() {
    let server = serve(&json!({
        "models": { "m": { "limits": { "requests": 2, "input_tokens": 10000, "output_tokens": 100, "per_seconds": 100 } } },
        "rules": [{ "reply": [{ "text": "x".repeat(40) }] }],
    }));
    let first = post(&server, "/v1/messages", &question("go"));
    assert_eq!(
        first.header("anthropic-ratelimit-requests-limit"),
        Some("2")
    );
    assert_eq!(
        first.header("anthropic-ratelimit-requests-remaining"),
        Some("1")
    );
    assert_eq!(
        first.header("anthropic-ratelimit-output-tokens-remaining"),
        Some("90")
    );
    let reset = first
        .header("anthropic-ratelimit-requests-reset")
        .expect("a time");
    assert!(reset.len() == 20 && reset.ends_with('Z'), "{reset}");
    assert_eq!(post(&server, "/v1/messages", &question("go")).status, 200);
    let third = post(&server, "/v1/messages", &question("go"));
    assert_eq!(third.status, 429);
    let wait: u64 = third
        .header("retry-after")
        .and_then(|wait| wait.parse().ok())
        .expect("a wait");
    assert!(
        (49..=50).contains(&wait),
        "half the window for one of two: {wait}"
    );
    let chat = json!({ "model": "m", "messages": [{ "role": "user", "content": "go" }] });
    let other = post_with(
        &server,
        "/v1/chat/completions",
        "authorization: Bearer b\r\n",
        &chat,
    );
    assert_eq!(other.header("x-ratelimit-remaining-requests"), Some("1"));
    assert_eq!(other.header("x-ratelimit-limit-tokens"), Some("10000"));
    assert!(
        other
            .header("x-ratelimit-reset-requests")
            .is_some_and(|reset| reset.ends_with('s'))
    );
}

#[test]
fn a_prompt_beyond_the_context_is_refused() {
    let server = serve(&json!({
        "models": { "m": { "context": 50 } }, "rules": [{ "reply": [{ "text": "ok" }] }],
    }));
    assert_eq!(post(&server, "/v1/messages", &question("go")).status, 200);
    let raw = post(&server, "/v1/messages", &question(&"long ".repeat(100)));
    assert_eq!(raw.status, 400);
    assert!(raw.text().contains("> 50 maximum"), "{}", raw.text());
}

#[test]
fn scripts_can_be_exchanged() {
    let server = saying(json!([{ "text": "old" }]));
    // Not streamed, since fragments may divide a word.
    let mut body = question("go");
    body["stream"] = json!(false);
    assert!(post(&server, "/v1/messages", &body).text().contains("old"));
    let script = r#"{ "rules": [{ "name": "fresh", "reply": [{ "text": "new" }] }] }"#;
    server.replace(Script::parse("new", script).expect("a script"));
    assert!(post(&server, "/v1/messages", &body).text().contains("new"));
    assert_eq!(server.requests()[1].rule.as_deref(), Some("fresh"));
    server.forget();
    assert!(server.requests().is_empty());
}

#[test]
fn unmatched_request_is_reported() {
    let server = serve(&json!({ "rules": [
        { "match": { "user": { "equals": "yes" } }, "reply": [{ "text": "ok" }] },
    ] }));
    let raw = post(&server, "/v1/messages", &question("no"));
    assert_eq!(raw.status, 400);
    assert!(
        raw.text().contains("no rule of the script fits"),
        "{}",
        raw.text()
    );
}

#[test]
fn log_contains_the_requests() {
    let server = saying(json!([{ "text": "ok" }]));
    let body = question("go");
    post_with(
        &server,
        "/v1/messages?beta=true",
        "X-Api-Key: secret\r\n",
        &body,
    );
    let seen = server.requests().remove(0);
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str()),
        ("POST", "/v1/messages?beta=true")
    );
    assert_eq!(seen.header("x-api-key"), Some("secret"));
    assert_eq!((seen.json(), seen.status), (body, 200));
    assert_eq!(seen.end.expect("an end").0, ResponseEnd::Finished);
}

#[tokio::test]
async fn disconnected_client_is_detected_at_once() {
    let server = serve(&json!({
        "pace": { "tokens_per_second": 2 },
        "rules": [{ "reply": [{ "repeat": { "text": "word ", "times": 1000 } }] }],
    }));
    let stream = send(
        &server,
        "POST",
        "/v1/messages",
        "",
        question("go").to_string().as_bytes(),
    );
    server
        .wait_until(|seen| seen.first().is_some_and(|seen| seen.status == 200))
        .await;
    drop(stream);
    server.wait_until(|seen| seen[0].end.is_some()).await;
    let seen = server.requests().remove(0);
    let (end, at) = seen.end.expect("an end");
    assert_eq!(end, ResponseEnd::ClientDisconnected);
    assert!(
        (at - seen.at).as_millis() < 1000,
        "the answer would take 25 s"
    );
}

#[test]
fn dropping_the_server_closes_its_connections() {
    let server = always_faulty();
    let stream = send(
        &server,
        "POST",
        "/v1/messages",
        "",
        question("go").to_string().as_bytes(),
    );
    while server
        .requests()
        .first()
        .is_none_or(|seen| seen.status == 0)
    {
        thread::yield_now();
    }
    let address = server.address();
    drop(server);
    assert_ne!(receive(stream).end, RawEnd::Silent);
    assert!(std::net::TcpStream::connect(address).is_err());
}

fn always_faulty() -> MockServer {
    serve(
        &json!({ "rules": [{ "reply": [{ "text": "x" }], "faults": [{ "fault": { "stall": { "at": 1 } } }] }] }),
    )
}

#[test]
fn many_clients_are_served_concurrently() {
    let server = serve(&json!({
        "pace": { "tokens_per_second": 250 },
        "rules": [{
            "match": { "user": { "regex": "agent (?<number>\\d+)" } },
            "reply": [{ "text": "I am {{number}}. " }, { "repeat": { "text": "word", "times": 60 } }],
        }],
    }));
    thread::scope(|scope| {
        for number in 0..64 {
            let server = &server;
            scope.spawn(move || {
                let raw = post(
                    server,
                    "/v1/messages",
                    &question(&format!("agent {number}")),
                );
                assert_eq!(raw.end, RawEnd::Complete);
                let text: String = raw
                    .events()
                    .iter()
                    .filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned))
                    .collect();
                assert!(text.starts_with(&format!("I am {number}. ")), "{text}");
            });
        }
    });
    let seen = server.requests();
    assert_eq!(seen.len(), 64);
    // 60 tokens at 250 a second are 240 ms for each; one after the other they would take 15 s.
    let last = seen
        .iter()
        .filter_map(|seen| seen.end)
        .map(|(_, at)| at)
        .max()
        .expect("ends");
    assert!((last - seen[0].at).as_millis() < 8000, "{last:?}");
}
