//! Seeded faults on real sockets: an agent's task ends as without faults, or stops with a class.
//!
//! `BURIN_SCHEDULES` says how many schedules are run, a quarter over each wire; without it a few. Limits and waits
//! are short here: what takes minutes at a provider takes milliseconds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use mockllm::Seen;
use model::policy::route::Privacy;
use model::policy::{AgentId, Caller, Caps, Class, KeyName, Lane, LaneLimits, Retry, TurnId};
use model::{
    Content, Event, Failure, FailureClass, Message, ModelId, Opaque, ParallelTools, Part, Profile,
    Request, Role, Tier, TokenCount, ToolInput, ToolSpec,
};
use router::actor::{
    Ask, LaneConfig, NoBook, Router, RouterConfig, RouterHandle, StallLimits, Told, Wall,
};
use router::http::{HttpClient, Providers};
use router::keys::SystemVault;
use serde_json::json;

use super::{WIRES, server};

const WITHOUT_BEING_TOLD: u64 = 160;
const AT_ONCE: u64 = 8;

/// A task in three steps; what is said at each follows from what was done, so that a step which was done in part
/// is completed and not begun anew.
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

/// What passes by no wait.
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
        "limits": { "connect_s": 2.0, "first_byte_s": 0.4, "idle_s": 0.4 },
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
        Arc::new(SystemVault {
            environment: Vec::new(),
        }),
    );
    let retry = Retry {
        per_lane: 8,
        in_all: 8,
        first_wait: Duration::from_millis(4),
        longest_wait: Duration::from_millis(20),
        patience: Duration::from_secs(30),
    };
    Router::start(RouterConfig {
        lanes: vec![LaneConfig {
            lane: Lane {
                model: model(),
                key: KeyName::default(),
            },
            client: Arc::new(client),
            price: None,
            profile,
            same_as: None,
            privacy: Privacy::Any,
            auto: true,
            limits: LaneLimits::default(),
            most_at_once: 8,
            stall: StallLimits::default(),
        }],
        auto: Vec::new(),
        caps: Caps::default(),
        retry,
        retry_alone: retry,
        book: Arc::new(NoBook),
        wall: Wall::new(|| 1_790_000_000_000),
        seed: 1,
    })
}

fn model() -> ModelId {
    ModelId {
        provider: "mock".to_owned(),
        model: "m".to_owned(),
    }
}

fn request() -> Request {
    let message = Message::text(Role::User, "please do the task");
    let mut request = Request::new(model(), vec![message], TokenCount(1_000));
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
    parts: Vec<Part>,
    open: BTreeMap<u32, (String, String, String)>,
    complete: usize,
}

impl Building {
    fn text(&mut self, text: &str, is_thought: bool) {
        let last = self.parts.last_mut().filter(|part| part.opaque.is_none());
        match last.map(|part| &mut part.content) {
            Some(Content::Text(said)) if !is_thought => said.push_str(text),
            Some(Content::Reasoning(thought)) if is_thought => thought.push_str(text),
            _ if is_thought => self
                .parts
                .push(Part::new(Content::Reasoning(text.to_owned()))),
            _ => self.parts.push(Part::text(text)),
        }
    }

    fn sign(&mut self, opaque: Opaque) {
        match self.parts.last_mut() {
            Some(part)
                if part.opaque.is_none() && !matches!(part.content, Content::ToolCall { .. }) =>
            {
                part.opaque = Some(opaque);
            }
            _ => self.parts.push(Part {
                content: Content::Reasoning(String::new()),
                opaque: Some(opaque),
            }),
        }
    }
}

/// A turn that starts each call the moment it is complete, so that what is told twice is done twice.
async fn run(router: &RouterHandle) -> Outcome {
    let mut request = request();
    let mut done = Vec::new();
    for _ in 0..12 {
        let caller = Caller {
            class: Class::Turn,
            agent: AgentId(1),
            turn: TurnId(1),
        };
        let mut told = router.submit(Ask::chat(request.clone(), caller));
        let mut building = Building::default();
        let end = loop {
            let event = match told.next().await.expect("a last event comes first") {
                Told::Event(event) => event,
                Told::Waiting { failure, pause } => {
                    assert_wait(&failure, pause);
                    continue;
                }
                Told::Decided(_) => continue,
            };
            match event {
                Event::Restart => {
                    assert_eq!(building.complete, 0, "a complete call is running");
                    building = Building::default();
                }
                Event::TextDelta(text) => building.text(&text, false),
                Event::ReasoningDelta(text) => building.text(&text, true),
                Event::Signature {
                    index: None,
                    opaque,
                } => building.sign(opaque),
                Event::Signature {
                    index: Some(index), ..
                } => assert!(index < 8, "signatures of calls are not used by this script"),
                Event::ToolStart { index, id, name } => {
                    building.open.insert(index, (id, name, String::new()));
                }
                Event::ToolArgsDelta { index, fragment } => {
                    building
                        .open
                        .get_mut(&index)
                        .expect("begun")
                        .2
                        .push_str(&fragment);
                }
                Event::ToolEnd { index } => {
                    let (id, name, arguments) = building.open.remove(&index).expect("begun");
                    done.push(format!("{name} {arguments}"));
                    building.complete += 1;
                    building.parts.push(Part::new(Content::ToolCall {
                        id,
                        name,
                        arguments,
                    }));
                }
                Event::Stop { .. } => break Ok(()),
                Event::Failed(failure) => break Err(failure.class),
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

/// What is tried again may pass, and it is tried when the provider wants it: not before, and hardly later.
fn assert_wait(failure: &Failure, pause: Duration) {
    assert!(!FINAL.contains(&failure.class), "{failure} is tried again");
    if let Some(wish) = failure.retry_after {
        assert!((wish..=wish.mul_f64(1.1)).contains(&pause), "{pause:?}");
    }
}

fn words(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match &part.content {
        Content::Text(text) => text.as_str(),
        _ => "",
    });
    texts.collect()
}

fn go_on(request: &mut Request, parts: Vec<Part>) {
    let results = parts.iter().filter_map(|part| match &part.content {
        Content::ToolCall {
            id,
            name,
            arguments,
        } => Some(Part::new(Content::ToolResult {
            call: id.clone(),
            content: vec![Content::Text(result(name, arguments).to_owned())],
            is_error: false,
        })),
        _ => None,
    });
    let results: Vec<Part> = results.collect();
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
fn seeded_faults_on_the_wire_end_as_without_or_with_a_class() {
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

/// What became of one schedule.
struct Ended {
    /// The class of its stop, if it did not come to its end.
    stop: Option<FailureClass>,
    requests: usize,
    retries: usize,
    /// Seconds from each answer that asked for a second to the next try.
    waits: Vec<f64>,
}

async fn one(wire: &str, path: &str, seed: u64, whole: Arc<Outcome>) -> Ended {
    let server = server(&scripted(seed, 0.5));
    let router = router(wire, &format!("{}{path}", server.url()));
    let outcome = run(&router).await;
    router.idle().await;
    assert_in_flight(&router).await;
    let seen = server.seen();
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

/// A provider that asked to wait for a second was not asked again before, and hardly later. Answers how long each
/// of these waits was, in seconds.
fn assert_waits(wire: &str, seed: u64, seen: &[Seen]) -> Vec<f64> {
    let asked = seen.windows(2).filter(|pair| pair[0].status == 429);
    let waits: Vec<f64> = asked
        .map(|pair| (pair[1].at - pair[0].at).as_secs_f64())
        .collect();
    for took in &waits {
        // A tenth, and what a busy machine takes to get to it.
        assert!(
            (1.0..=1.1 + 0.9).contains(took),
            "{wire}, seed {seed}: asked again after {took} s"
        );
    }
    waits
}

/// Every request says which try of what it is: one key for one body, and a count from nothing. Answers how many
/// tries were not the first.
fn assert_tries(wire: &str, seed: u64, seen: &[Seen]) -> usize {
    let mut keys: Vec<&str> = Vec::new();
    let mut retries = 0;
    let mut last: Option<&Seen> = None;
    for seen in seen {
        let key = seen.header("idempotency-key").expect("a key");
        let count = seen.header("x-retry-count").expect("a count");
        let same = last.filter(|last| last.header("idempotency-key") == Some(key));
        retries = match same {
            Some(last) => {
                assert_eq!(seen.body, last.body, "{wire}, seed {seed}: {key}");
                retries + 1
            }
            None => {
                assert!(!keys.contains(&key), "{wire}, seed {seed}: {key} again");
                keys.push(key);
                0
            }
        };
        assert_eq!(count, retries.to_string(), "{wire}, seed {seed}: {key}");
        last = Some(seen);
    }
    seen.len() - keys.len()
}
