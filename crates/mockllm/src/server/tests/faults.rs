//! Tests of the received bytes for every fault.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    question,
    raw::{Raw, RawEnd, post, receive, send},
    saying, serve,
};
use crate::{MockServer, ResponseEnd};

const TEXT: &str = "Grüße aus dem Süden: überall dröhnt fröhliche Musik.";

/// Starts a server that injects this fault.
fn faulty(fault: Value) -> MockServer {
    serve(&json!({ "rules": [{
        "reply": [{ "text": TEXT }, { "calls": [{ "tool": "a" }, { "tool": "b", "arguments": { "x": 1 } }] }],
        "faults": [{ "fault": fault }],
    }] }))
}

fn ask(server: &MockServer) -> Raw {
    post(server, "/v1/messages", &question("go"))
}

fn with_fault(fault: Value) -> Raw {
    ask(&faulty(fault))
}

/// Returns the response body without a fault.
fn whole() -> Vec<u8> {
    ask(&saying(json!([
        { "text": TEXT }, { "calls": [{ "tool": "a" }, { "tool": "b", "arguments": { "x": 1 } }] },
    ])))
    .body
}

#[test]
fn error_statuses_use_the_providers_format() {
    let cases = [
        (json!({ "status": { "code": 500 } }), 500, "api_error"),
        (
            json!({ "status": { "code": 403 } }),
            403,
            "permission_error",
        ),
        (json!({ "overloaded": {} }), 529, "overloaded_error"),
        (json!({ "quota": {} }), 400, "invalid_request_error"),
        (json!({ "authentication": {} }), 401, "authentication_error"),
        (
            json!({ "context_overflow": {} }),
            400,
            "invalid_request_error",
        ),
        (json!({ "no_such_model": {} }), 404, "not_found_error"),
    ];
    for (fault, status, kind) in cases {
        let raw = with_fault(fault);
        assert_eq!(raw.status, status);
        assert_eq!(raw.json()["error"]["type"], kind);
        assert!(raw.json()["request_id"].is_string());
    }
    let raw = with_fault(json!({ "context_overflow": {} }));
    assert!(raw.text().contains("prompt is too long: "));
}

#[test]
fn the_same_fault_differs_by_wire() {
    let limited = faulty(json!({ "status": { "code": 429, "retry_after": 1.5 } }));
    let chat =
        json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": "go" }] });
    let raw = post(&limited, "/v1/chat/completions", &chat);
    assert_eq!(raw.json()["error"]["code"], "rate_limit_exceeded");
    assert_eq!(
        (raw.header("retry-after"), raw.header("retry-after-ms")),
        (Some("2"), Some("1500"))
    );
    let gemini = json!({ "contents": [{ "role": "user", "parts": [{ "text": "go" }] }] });
    let raw = post(&limited, "/v1beta/models/g:generateContent", &gemini);
    assert_eq!(raw.header("retry-after"), None);
    assert_eq!(raw.json()["error"]["details"][1]["retryDelay"], "1.5s");
    assert_eq!(raw.json()["error"]["status"], "RESOURCE_EXHAUSTED");
    let quota = faulty(json!({ "quota": {} }));
    let raw = post(
        &quota,
        "/v1/responses",
        &json!({ "model": "m", "input": "go" }),
    );
    assert_eq!(
        (raw.status, &raw.json()["error"]["code"]),
        (429, &json!("insufficient_quota"))
    );
    let raw = post(&quota, "/v1beta/models/g:generateContent", &gemini);
    assert!(raw.text().contains("PerDay"));
    let raw = post(
        &quota,
        "/api/generate",
        &json!({ "model": "m", "prompt": "go" }),
    );
    assert!(raw.json()["error"].is_string());
}

#[test]
fn a_status_carries_the_scripts_headers() {
    let raw = with_fault(json!({ "status": {
        "code": 429, "retry_after": 7, "headers": { "X-Should-Retry": "true" }, "message": "slow down",
    } }));
    assert_eq!(raw.header("retry-after"), Some("7"));
    assert_eq!(raw.header("x-should-retry"), Some("true"));
    assert_eq!(raw.json()["error"]["message"], "slow down");
    assert_eq!(raw.json()["error"]["type"], "rate_limit_error");
}

#[test]
fn an_error_page_is_html() {
    let raw = with_fault(json!({ "html": { "code": 502 } }));
    assert_eq!(
        (raw.status, raw.header("content-type")),
        (502, Some("text/html"))
    );
    assert!(raw.text().starts_with("<html>"));
}

#[test]
fn cut_stream_has_no_last_event() {
    let server = faulty(json!({ "cut": { "at": 5 } }));
    let raw = ask(&server);
    assert_eq!((raw.status, &raw.end), (200, &RawEnd::Closed));
    assert_eq!(raw.events().len(), 5);
    assert!(whole().starts_with(&raw.body));
    assert_eq!(
        server.requests()[0].end.expect("an end").0,
        ResponseEnd::Broken
    );
}

#[test]
fn stream_may_end_early_without_a_transport_error() {
    let raw = with_fault(json!({ "end_early": { "at": 5 } }));
    assert_eq!(raw.end, RawEnd::Complete);
    assert_eq!(raw.events().len(), 5);
}

#[test]
fn reset_closes_the_connection_with_rst() {
    for at in [0, 5] {
        let raw = with_fault(json!({ "reset": { "at": at } }));
        assert_eq!(raw.end, RawEnd::Reset, "at {at}");
    }
}

#[test]
fn stall_lasts_for_the_configured_time() {
    let server = faulty(json!({ "stall": { "at": 5, "ms": 300 } }));
    let raw = ask(&server);
    assert_eq!((raw.end, raw.body), (RawEnd::Complete, whole()));
    let seen = &server.requests()[0];
    let lasted = seen.end.expect("an end").1 - seen.at;
    assert!((290..600).contains(&lasted.as_millis()), "{lasted:?}");
}

#[tokio::test]
async fn endless_stall_ends_when_the_client_disconnects() {
    let server = faulty(json!({ "stall": { "at": 5 } }));
    let raw = ask(&server);
    assert_eq!((&raw.end, raw.events().len()), (&RawEnd::Silent, 5));
    server.wait_until(|seen| seen[0].end.is_some()).await;
    assert_eq!(
        server.requests()[0].end.expect("an end").0,
        ResponseEnd::ClientDisconnected
    );
}

#[test]
fn late_first_byte_delays_the_headers() {
    let server = faulty(json!({ "slow_first_byte": { "ms": 250 } }));
    assert_eq!(ask(&server).end, RawEnd::Complete);
    let seen = &server.requests()[0];
    assert!((seen.end.expect("an end").1 - seen.at).as_millis() >= 250);
}

#[test]
fn error_may_occur_within_the_stream() {
    let raw = with_fault(json!({ "error_event": { "at": 4 } }));
    let events = raw.events();
    assert_eq!((events.len(), raw.status), (5, 200));
    assert_eq!(events[4]["error"]["type"], "overloaded_error");
    let server = faulty(json!({ "error_event": { "at": 3 } }));
    let raw = post(
        &server,
        "/v1/responses",
        &json!({ "model": "m", "stream": true, "input": "go" }),
    );
    let last = raw.events().pop().expect("events");
    assert_eq!(last["response"]["status"], "failed");
    assert_eq!(last["response"]["error"]["code"], "server_is_overloaded");
}

#[test]
fn an_event_may_be_broken_json() {
    let raw = with_fault(json!({ "bad_json": { "at": 3 } }));
    let text = raw.text();
    let broken: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| serde_json::from_str::<Value>(data).is_err())
        .collect();
    assert_eq!(broken.len(), 1, "{text}");
    assert_eq!(raw.body.len() + 1, whole().len());
}

#[test]
fn character_may_be_truncated() {
    let raw = with_fault(json!({ "torn_utf8": { "at": 2 } }));
    assert!(String::from_utf8(raw.body.clone()).is_err());
    assert_eq!(raw.body.len() + 1, whole().len());
    let plain = serve(&json!({ "rules": [{
        "reply": [{ "text": "plain" }], "faults": [{ "fault": { "torn_utf8": {} } }],
    }] }));
    assert!(String::from_utf8(ask(&plain).body).is_err());
}

#[test]
fn a_shredded_stream_loses_nothing() {
    let server = faulty(json!({ "shredded": {} }));
    let body = question("go").to_string();
    let raw = receive(send(&server, "POST", "/v1/messages", "", body.as_bytes()));
    assert_eq!(raw.body, whole());
}

#[test]
fn arguments_may_be_broken() {
    let raw = with_fault(json!({ "bad_arguments": {} }));
    let arguments: String = raw
        .events()
        .iter()
        .filter(|event| event["index"] == 2)
        .filter_map(|event| event["delta"]["partial_json"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(arguments, r#"{"x":1,""#);
}

#[test]
fn ids_may_be_duplicates() {
    let raw = with_fault(json!({ "duplicate_ids": {} }));
    let ids: Vec<Value> = raw
        .events()
        .iter()
        .filter(|event| event["content_block"]["type"] == "tool_use")
        .map(|event| event["content_block"]["id"].clone())
        .collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn fault_may_be_limited_to_some_requests() {
    let server = serve(&json!({ "rules": [{
        "reply": [{ "text": "well" }], "faults": [{ "first": 2, "fault": { "overloaded": {} } }],
    }] }));
    let statuses: Vec<u16> = (0..3).map(|_| ask(&server).status).collect();
    assert_eq!(statuses, [529, 529, 200]);
    let other = post(&server, "/v1/messages", &question("another"));
    assert_eq!(other.status, 529, "attempts are counted for each request");
}

#[test]
fn schedules_follow_from_seed_and_request() {
    let script = |seed: u64| {
        json!({
            "schedule": { "seed": seed, "share": 0.6, "at_most": 3, "faults": [
                { "status": { "code": 500 } }, { "overloaded": {} }, { "cut": {} }, { "end_early": {} },
                { "html": { "code": 502 } }, { "error_event": {} },
            ] },
            "rules": [{ "reply": [{ "text": TEXT }] }],
        })
    };
    // A reset may overtake bytes, so its bytes are not compared.
    let run = |seed: u64, order: &[u32]| -> BTreeMap<(u32, u32), (u16, Vec<u8>)> {
        let server = serve(&script(seed));
        let mut outcomes = BTreeMap::new();
        for attempt in 1..=4 {
            for request in order {
                let raw = post(
                    &server,
                    "/v1/messages",
                    &question(&format!("request {request}")),
                );
                outcomes.insert((*request, attempt), (raw.status, raw.body));
            }
        }
        outcomes
    };
    let first = run(7, &[1, 2, 3, 4, 5, 6]);
    assert!(
        first == run(7, &[6, 4, 2, 1, 3, 5]),
        "the order does not matter"
    );
    assert!(first != run(8, &[1, 2, 3, 4, 5, 6]), "the seed does");
    let good = |attempt: u32| {
        let fine = first.iter().filter(|((_, at), (_, body))| {
            *at == attempt && String::from_utf8_lossy(body).contains("message_stop")
        });
        fine.count()
    };
    assert_eq!(good(4), 6, "after the most faults comes the answer");
    assert!(
        (1..6).contains(&good(1)),
        "some fail and some do not: {}",
        good(1)
    );
}

#[test]
fn seeded_faults_occur_within_the_stream() {
    for kind in [
        "cut",
        "end_early",
        "reset",
        "error_event",
        "bad_json",
        "torn_utf8",
    ] {
        let server = serve(&json!({
            "schedule": { "seed": 1, "share": 1.0, "at_most": 1, "faults": [{ kind: {} }] },
            "rules": [{ "reply": [{ "text": TEXT }] }],
        }));
        let faulted = ask(&server);
        let fine = ask(&server);
        assert_ne!(faulted.body, fine.body, "{kind}");
        assert_eq!(fine.end, RawEnd::Complete, "{kind}");
    }
}
