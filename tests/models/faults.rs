//! Seeded faults on real sockets: an agent's task ends as without faults, or stops with a class.
//!
//! `BURIN_SCHEDULES` sets the number of schedules, a quarter for each wire; the default is a few.
//! Limits and waits are shortened from minutes to milliseconds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use mockllm::LoggedRequest;
use model::policy::route::Privacy;
use model::policy::{
    AgentId, Caller, Caps, KeyName, RequestClass, Retry, Route, RouteLimits, TurnId,
};
use model::{
    Failure, FailureClass, Message, MessagePart, ModelId, ModelRequest, Opaque, ParallelTools,
    PartContent, Profile, Role, StreamEvent, Tier, TokenCount, ToolInput, ToolSpec,
};
use router::actor::{
    NoUsageStore, RouteConfig, Router, RouterConfig, RouterEvent, RouterHandle, RouterRequest,
    StallLimits, WallClock,
};
use router::http::{HttpClient, Providers};
use router::keys::SystemSecrets;
use serde_json::json;

use super::{WIRES, server};

const WITHOUT_BEING_TOLD: u64 = 160;
const AT_ONCE: u64 = 8;

/// A task in three steps; each step depends on the results so far, so that a partly completed step
/// is finished and not repeated.
const RULES: &str = r#"[
    { "match": { "results": [{ "says": { "contains": "wrote" } }] }, "reply": [{ "text": "It is done, all of it." }] },
    { "match": { "results": [{ "says": { "contains": "saw two" } }] }, "reply": [
        { "text": "Now I write ü and ∑." }, { "call": { "tool": "write", "arguments": { "text": "ü∑" } } }
    ] },
    { "match": { "results": [{ "says": { "contains": "saw one" } }] }, "reply": [
        { "text": "Now the other." }, { "call": { "tool": "look", "arguments": { "at": "two" } } }
    ] },
    { "reply": [
        { "thinking": { "text": "First look." } }, { "text": "I'll look at both." },
        { "calls": [
            { "tool": "look", "arguments": { "at": "one" } }, { "tool": "look", "arguments": { "at": "two" } }
        ] }
    ] }
]"#;

const FAULTS: &str = r#"[
    { "status": { "code": 429, "retry_after": 1 } }, { "overloaded": {} }, { "status": { "code": 500 } },
    { "html": { "code": 502 } }, { "cut": {} }, { "end_early": {} }, { "reset": {} }, { "stall": {} },
    { "error_event": {} }, { "bad_json": {} }, { "torn_utf8": {} }, { "shredded": {} }, { "duplicate_ids": {} },
    { "slow_first_byte": { "ms": 30 } }, { "quota": {} }, { "authentication": {} }, { "context_overflow": {} }
]"#;

/// The failure classes that no wait resolves.
const FINAL: [FailureClass; 3] = [
    FailureClass::Quota,
    FailureClass::Authentication,
    FailureClass::ContextOverflow,
];

#[derive(Debug, PartialEq)]
struct Outcome {
    done: Vec<String>,
    end: Result<String, FailureClass>,
}

fn scripted(seed: u64, share: f64) -> String {
    format!(
        r#"{{ "seed": 5, "rules": {RULES},
             "schedule": {{ "seed": {seed}, "share": {share}, "at_most": 2, "faults": {FAULTS} }} }}"#
    )
}

fn router(wire: &str, url: &str) -> RouterHandle {
    let (mut providers, problems) = Providers::builtin();
    assert_eq!(problems, [] as [String; 0]);
    let wire = match wire {
        "openai" => "chat",
        other => other,
    };
    let own = json!({ "mock": {
        "wire": wire, "base_url": url, "needs_key": false,
        "limits": { "connect_s": 5.0, "first_byte_s": 1.0, "idle_s": 1.0 },
    } });
    let problems = providers.add(own.as_object().expect("an object"));
    assert_eq!(problems, [] as [String; 0]);
    let profile = Profile {
        tier: Tier::Standard,
        tools: Some(true),
        parallel: ParallelTools::Allowed,
        context: TokenCount(100_000),
        ..Profile::harmless()
    };
    let own = profile.clone();
    let profiles = Arc::new(move |_: &ModelId| Some(own.clone()));
    let client = HttpClient::new(
        providers,
        profiles,
        Arc::new(SystemSecrets {
            variable: |name| std::env::var(name).ok(),
            environment: Vec::new(),
        }),
    );
    let retry = Retry {
        per_route: 8,
        in_all: 8,
        first_wait: Duration::from_millis(4),
        max_wait: Duration::from_millis(20),
        max_total_wait: Duration::from_secs(30),
    };
    Router::start(RouterConfig {
        routes: vec![RouteConfig {
            route: Route {
                model: model(),
                key: KeyName::default(),
            },
            client: Arc::new(client),
            price: None,
            profile,
            same_as: None,
            privacy: Privacy::Any,
            auto: true,
            limits: RouteLimits::default(),
            max_concurrency: 8,
            stall: StallLimits::default(),
        }],
        auto: Vec::new(),
        caps: Caps::default(),
        retry,
        retry_alone: retry,
        usage_store: Arc::new(NoUsageStore),
        clock: WallClock::new(|| 1_790_000_000_000),
        seed: 1,
    })
}

fn model() -> ModelId {
    ModelId {
        provider: "mock".to_owned(),
        model: "m".to_owned(),
    }
}

fn request() -> ModelRequest {
    let message = Message::text(Role::User, "please do the task");
    let mut request = ModelRequest::new(model(), vec![message], TokenCount(1_000));
    request.conversation = Some("task".to_owned());
    request.parallel_tools = true;
    for name in ["look", "write"] {
        request.tools.push(ToolSpec {
            name: name.to_owned(),
            description: "does it".to_owned(),
            input: ToolInput::Json(json!({ "type": "object", "properties": {} })),
        });
    }
    request
}

/// One answer as it builds up.
#[derive(Default)]
struct Building {
    parts: Vec<MessagePart>,
    open: BTreeMap<u32, (String, String, String)>,
    complete: usize,
}

impl Building {
    fn text(&mut self, text: &str, is_thought: bool) {
        let last = self.parts.last_mut().filter(|part| part.opaque.is_none());
        match last.map(|part| &mut part.content) {
            Some(PartContent::Text(said)) if !is_thought => said.push_str(text),
            Some(PartContent::Reasoning(thought)) if is_thought => thought.push_str(text),
            _ if is_thought => self
                .parts
                .push(MessagePart::new(PartContent::Reasoning(text.to_owned()))),
            _ => self.parts.push(MessagePart::text(text)),
        }
    }

    fn sign(&mut self, opaque: Opaque) {
        match self.parts.last_mut() {
            Some(part)
                if part.opaque.is_none()
                    && !matches!(part.content, PartContent::ToolCall { .. }) =>
            {
                part.opaque = Some(opaque);
            }
            _ => self.parts.push(MessagePart {
                content: PartContent::Reasoning(String::new()),
                opaque: Some(opaque),
            }),
        }
    }
}

/// A turn that starts each call once it is complete, so that a repeated call runs twice.
async fn run(router: &RouterHandle) -> Outcome {
    let mut request = request();
    let mut done = Vec::new();
    for _ in 0..12 {
        let caller = Caller {
            class: RequestClass::Turn,
            agent: AgentId(1),
            turn: TurnId(1),
        };
        let mut told = router.submit(RouterRequest::chat(request.clone(), caller));
        let mut building = Building::default();
        let end = loop {
            let event = match told.next().await.expect("a last event comes first") {
                RouterEvent::Event(event) => event,
                RouterEvent::Waiting { failure, pause } => {
                    assert_wait(&failure, pause);
                    continue;
                }
                RouterEvent::Decided(_) => continue,
            };
            match event {
                StreamEvent::Restart => {
                    assert_eq!(building.complete, 0, "a complete call is running");
                    building = Building::default();
                }
                StreamEvent::TextDelta(text) => building.text(&text, false),
                StreamEvent::ReasoningDelta(text) => building.text(&text, true),
                StreamEvent::Signature {
                    index: None,
                    opaque,
                } => building.sign(opaque),
                StreamEvent::Signature {
                    index: Some(index), ..
                } => assert!(index < 8, "signatures of calls are not used by this script"),
                StreamEvent::ToolStart { index, id, name } => {
                    building.open.insert(index, (id, name, String::new()));
                }
                StreamEvent::ToolArgsDelta { index, fragment } => {
                    building
                        .open
                        .get_mut(&index)
                        .expect("begun")
                        .2
                        .push_str(&fragment);
                }
                StreamEvent::ToolEnd { index } => {
                    let (id, name, arguments) = building.open.remove(&index).expect("begun");
                    done.push(format!("{name} {arguments}"));
                    building.complete += 1;
                    building.parts.push(MessagePart::new(PartContent::ToolCall {
                        id,
                        name,
                        arguments,
                    }));
                }
                StreamEvent::Stop { .. } => break Ok(()),
                StreamEvent::Failed(failure) => break Err(failure.class),
                _ => {}
            }
        };
        match (end, building.complete) {
            (Ok(()), 0) => {
                let end = Ok(words(&building.parts));
                return Outcome { done, end };
            }
            (Err(class), 0) => {
                let end = Err(class);
                return Outcome { done, end };
            }
            _ => go_on(&mut request, building.parts),
        }
    }
    panic!("the task does not end");
}

/// Asserts that a retry waits as long as the provider asks, and hardly longer.
fn assert_wait(failure: &Failure, pause: Duration) {
    assert!(!FINAL.contains(&failure.class), "{failure} is tried again");
    if let Some(wish) = failure.retry_after {
        assert!((wish..=wish.mul_f64(1.1)).contains(&pause), "{pause:?}");
    }
}

fn words(parts: &[MessagePart]) -> String {
    let texts = parts.iter().map(|part| match &part.content {
        PartContent::Text(text) => text.as_str(),
        _ => "",
    });
    texts.collect()
}

fn go_on(request: &mut ModelRequest, parts: Vec<MessagePart>) {
    let results = parts.iter().filter_map(|part| match &part.content {
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => Some(MessagePart::new(PartContent::ToolResult {
            call: id.clone(),
            content: vec![PartContent::Text(result(name, arguments).to_owned())],
            is_error: false,
        })),
        _ => None,
    });
    let results: Vec<MessagePart> = results.collect();
    request.messages.push(Message::new(Role::Assistant, parts));
    request.messages.push(Message::new(Role::User, results));
}

fn result(name: &str, arguments: &str) -> &'static str {
    match name {
        "write" => "wrote it",
        _ if arguments.contains("one") => "saw one",
        _ => "saw two",
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

#[test]
fn seeded_faults_recover_or_end_with_a_class() {
    let count = std::env::var("BURIN_SCHEDULES").ok();
    let count = count
        .and_then(|count| count.parse().ok())
        .unwrap_or(WITHOUT_BEING_TOLD);
    let runtime = runtime();
    for (wire, path) in WIRES {
        let clean = server(&scripted(0, 0.0));
        let whole = runtime.block_on(async {
            let router = router(wire, &format!("{}{path}", clean.url()));
            run(&router).await
        });
        assert_eq!(whole.done.len(), 3, "{wire}: {whole:?}");
        assert_eq!(whole.end.as_deref(), Ok("It is done, all of it."), "{wire}");
        let whole = Arc::new(whole);
        let ends = runtime.block_on(async {
            let seeds = futures::stream::iter(1..=count / 4);
            let runs = seeds.map(|seed| tokio::spawn(one(wire, path, seed, whole.clone())));
            let ended = runs.buffer_unordered(AT_ONCE as usize);
            ended
                .map(|ended| ended.expect("no panic"))
                .collect::<Vec<_>>()
                .await
        });
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for class in ends.iter().filter_map(|end| end.stop) {
            *counts.entry(format!("{class:?}")).or_default() += 1;
        }
        let sum = |part: fn(&Ended) -> usize| ends.iter().map(part).sum::<usize>();
        let waits = ends.iter().flat_map(|end| &end.waits);
        eprintln!(
            "{wire}: {} schedules, stopped: {counts:?}; {} requests, {} of them tries after the first; \
             {} waits of a second that was asked for, the longest {:.3} s",
            ends.len(),
            sum(|end| end.requests),
            sum(|end| end.retries),
            sum(|end| end.waits.len()),
            waits.copied().fold(0.0, f64::max),
        );
    }
}

/// The outcome of one schedule.
struct Ended {
    /// The class of its stop, if it did not finish.
    stop: Option<FailureClass>,
    requests: usize,
    retries: usize,
    /// Seconds from each answer that requested a wait of one second to the next try.
    waits: Vec<f64>,
}

async fn one(wire: &str, path: &str, seed: u64, whole: Arc<Outcome>) -> Ended {
    let server = server(&scripted(seed, 0.5));
    let router = router(wire, &format!("{}{path}", server.url()));
    let outcome = run(&router).await;
    router.idle().await;
    assert_in_flight(&router).await;
    let seen = server.requests();
    let waits = assert_waits(wire, seed, &seen);
    let retries = assert_tries(wire, seed, &seen);
    let stop = match &outcome.end {
        Ok(_) => {
            assert_eq!(outcome, *whole, "{wire}, seed {seed}");
            None
        }
        Err(class) => {
            let done = whole.done.get(..outcome.done.len());
            assert_eq!(done, Some(outcome.done.as_slice()), "{wire}, seed {seed}");
            assert!(
                FINAL.contains(class),
                "{wire}, seed {seed}: {class:?} passes when it is tried again"
            );
            Some(*class)
        }
    };
    Ended {
        stop,
        requests: seen.len(),
        retries,
        waits,
    }
}

async fn assert_in_flight(router: &RouterHandle) {
    let health = router.health().await;
    assert_eq!(health[0].in_flight, 0);
}

/// Asserts that requests after a requested wait of one second are not early. [`assert_wait`] asserts
/// that the router's own pause is hardly longer; a busy machine can send the request later than that.
/// Returns the length of each wait, in seconds.
fn assert_waits(wire: &str, seed: u64, seen: &[LoggedRequest]) -> Vec<f64> {
    let asked = seen.windows(2).filter(|pair| pair[0].status == 429);
    let waits: Vec<f64> = asked
        .map(|pair| (pair[1].at - pair[0].at).as_secs_f64())
        .collect();
    for took in &waits {
        assert!(
            *took >= 1.0,
            "{wire}, seed {seed}: asked again after {took} s"
        );
    }
    waits
}

/// Asserts that every request names its attempt: one key per body, and a count that rises. The
/// server misses an attempt that the client ended before the server had read it, which happens on a
/// busy machine. Returns the number of retries.
fn assert_tries(wire: &str, seed: u64, seen: &[LoggedRequest]) -> usize {
    let mut keys: Vec<&str> = Vec::new();
    let mut last: Option<(&LoggedRequest, u32)> = None;
    for seen in seen {
        let key = seen.header("idempotency-key").expect("a key");
        let count = seen.header("x-retry-count").expect("a count");
        let count: u32 = count.parse().expect("a number");
        let same = last.filter(|(last, _)| last.header("idempotency-key") == Some(key));
        if let Some((last, earlier)) = same {
            assert_eq!(seen.body, last.body, "{wire}, seed {seed}: {key}");
            assert!(
                count > earlier,
                "{wire}, seed {seed}: {key}: {count} after {earlier}"
            );
        } else {
            assert!(!keys.contains(&key), "{wire}, seed {seed}: {key} again");
            keys.push(key);
        }
        last = Some((seen, count));
    }
    seen.len() - keys.len()
}
