//! Tests of timeouts under a paused clock, and of responses that are not answers.

use std::sync::Mutex;

use model::{FailureClass, StopReason};
use tokio::time::sleep;

use super::super::{HttpRequest, KeyHeader, Method};
use super::*;
use crate::wire::tests::{request, show, sse, target};
use crate::wire::{ChatDialect, WireProtocol, decoder};

/// A step of a scripted transport.
#[derive(Clone)]
enum Step {
    Wait(f32),
    Send(String),
    Break,
}

/// A transport with one scripted response.
struct Scripted {
    before_headers: f32,
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    steps: Mutex<Vec<Step>>,
}

impl Transport for Scripted {
    fn call(
        &self,
        _call: HttpRequest,
        _connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        let before = Duration::from_secs_f32(self.before_headers);
        let status = self.status;
        let headers = self.headers.iter();
        let headers = headers
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let steps = std::mem::take(&mut *self.steps.lock().expect("lock"));
        async move {
            sleep(before).await;
            let body = stream::iter(steps).filter_map(|step| async move {
                match step {
                    Step::Wait(seconds) => {
                        sleep(Duration::from_secs_f32(seconds)).await;
                        None
                    }
                    Step::Send(text) => Some(Ok(Bytes::from(text))),
                    Step::Break => Some(Err(ConnectionBroken("connection reset".to_owned()))),
                }
            });
            Ok(HttpResponse {
                status,
                headers,
                body: body.boxed(),
            })
        }
        .boxed()
    }
}

const LIMITS: HttpTimeouts = HttpTimeouts {
    connect: Duration::from_secs(1),
    first_byte: Duration::from_secs(60),
    idle: Duration::from_secs(20),
};

async fn run(scripted: Scripted) -> (Vec<StreamEvent>, Duration) {
    let transport: Arc<dyn Transport> = Arc::new(scripted);
    let call = HttpRequest {
        method: Method::Post,
        url: "https://api.maker.example/".to_owned(),
        headers: Vec::new(),
        key: Some(KeyHeader {
            name: "x-api-key".to_owned(),
            before: "",
            secret: Secret::new("sk-canary"),
        }),
        body: Bytes::new(),
    };
    let decoder = decoder(
        WireProtocol::Chat,
        &ChatDialect::default(),
        &request(),
        target(),
    );
    let started = Instant::now();
    let events = exchange(
        &transport,
        call,
        LIMITS,
        decoder,
        target(),
        SystemTime::UNIX_EPOCH,
    );
    (events.collect().await, started.elapsed())
}

fn answer(before_headers: f32, steps: Vec<Step>) -> Scripted {
    Scripted {
        before_headers,
        status: 200,
        headers: Vec::new(),
        steps: Mutex::new(steps),
    }
}

fn refusal(status: u16, headers: Vec<(&'static str, &'static str)>, body: &str) -> Scripted {
    let steps = Mutex::new(vec![Step::Send(body.to_owned())]);
    Scripted {
        before_headers: 0.0,
        status,
        headers,
        steps,
    }
}

fn piece(text: &str) -> Step {
    Step::Send(sse(&format!(
        r#"{{"id":"c","model":"m","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#
    )))
}

fn end() -> Step {
    Step::Send(sse(
        "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n[DONE]",
    ))
}

fn class(events: &[StreamEvent]) -> FailureClass {
    match events.last() {
        Some(StreamEvent::Failed(failure)) => failure.class,
        other => panic!("no failure: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn slow_answer_is_not_a_stall() {
    let mut steps = vec![Step::Wait(25.0)];
    for _ in 0..200 {
        steps.extend([piece("a"), Step::Wait(19.0)]);
    }
    steps.push(end());
    let (events, took) = run(answer(30.0, steps)).await;
    assert!(
        matches!(
            events.last(),
            Some(StreamEvent::Stop {
                reason: StopReason::EndTurn,
                ..
            })
        ),
        "{}",
        show(&events)
    );
    assert!(
        took > Duration::from_secs(3600),
        "there is no limit on the whole: {took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn first_byte_timeout_covers_headers_and_body() {
    for scripted in [
        answer(100.0, Vec::new()),
        answer(40.0, vec![Step::Wait(40.0), piece("a")]),
    ] {
        let (events, took) = run(scripted).await;
        assert_eq!(class(&events), FailureClass::Stalled);
        assert_eq!(took.as_secs(), 60);
        assert!(
            show(&events).contains("sent nothing for 60 s"),
            "{}",
            show(&events)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn stall_in_the_middle() {
    let (events, took) = run(answer(0.0, vec![piece("a"), Step::Wait(30.0), end()])).await;
    assert_eq!(class(&events), FailureClass::Stalled);
    assert_eq!(took.as_secs(), 20);
    assert!(show(&events).contains("text \"a\""), "what came stays");
}

#[tokio::test(start_paused = true)]
async fn broken_connection_fails_unless_the_answer_was_complete() {
    let (events, _) = run(answer(0.0, vec![piece("a"), Step::Break])).await;
    assert_eq!(class(&events), FailureClass::Torn);
    assert!(
        show(&events).contains("connection reset"),
        "{}",
        show(&events)
    );
    let (events, _) = run(answer(0.0, vec![piece("a"), end(), Step::Break])).await;
    assert!(matches!(events.last(), Some(StreamEvent::Stop { .. })));
}

#[tokio::test(start_paused = true)]
async fn refusals_report_limits_but_never_the_key() {
    let headers = vec![
        ("retry-after", "7"),
        ("x-ratelimit-remaining-requests", "0"),
    ];
    let body = r#"{"error":{"type":"rate_limit_error","message":"sk-canary did too much"}}"#;
    let (events, _) = run(refusal(429, headers, body)).await;
    assert!(
        matches!(&events[0], StreamEvent::RateLimits(limits) if limits.retry_after == Some(Duration::from_secs(7)))
    );
    let Some(StreamEvent::Failed(failure)) = events.last() else {
        panic!("{}", show(&events))
    };
    assert_eq!(
        (failure.class, failure.status),
        (FailureClass::RateLimited, Some(429))
    );
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    assert!(failure.message.contains("<key> did too much"), "{failure}");
    // An endless page is read only as far as needed.
    let (events, _) = run(refusal(502, Vec::new(), &"x".repeat(1 << 20))).await;
    assert_eq!(class(&events), FailureClass::ServerError);
    // A key quoted in the middle of a stream.
    let (events, _) = run(answer(
        0.0,
        vec![Step::Send(sse(
            r#"{"error":{"message":"key sk-canary expired"}}"#,
        ))],
    ))
    .await;
    assert!(!show(&events).contains("sk-canary"), "{}", show(&events));
}

#[tokio::test(start_paused = true)]
async fn stalled_refusal_is_still_reported() {
    let mut scripted = refusal(529, Vec::new(), r#"{"error":"#);
    scripted
        .steps
        .get_mut()
        .expect("lock")
        .push(Step::Wait(1000.0));
    let (events, took) = run(scripted).await;
    assert_eq!(class(&events), FailureClass::Overloaded);
    assert_eq!(took.as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn redirect_error_names_the_target() {
    let (events, _) = run(refusal(
        308,
        vec![("location", "https://other.example/v1/chat?key=1")],
        "",
    ))
    .await;
    assert_eq!(class(&events), FailureClass::InvalidRequest);
    let shown = show(&events);
    assert!(
        shown.contains("other.example") && !shown.contains("key=1"),
        "{shown}"
    );
}

#[tokio::test(start_paused = true)]
async fn rate_limits_precede_the_answer() {
    let mut scripted = answer(0.0, vec![piece("a"), end()]);
    scripted.headers = vec![
        ("x-ratelimit-limit-requests", "100"),
        ("x-ratelimit-remaining-requests", "99"),
    ];
    let (events, _) = run(scripted).await;
    assert!(
        matches!(&events[0], StreamEvent::RateLimits(_)),
        "{}",
        show(&events)
    );
    assert!(matches!(&events[1], StreamEvent::Start { .. }));
}
