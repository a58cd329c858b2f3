//! Every wire against a server that speaks it: the same conversation gives the same events, faults are told
//! apart, and what was recorded replays to the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use mockllm::{Script, Server};
use model::{
    CacheMark, CacheStyle, Client, Content, Effort, EffortSetting, Event, FailureClass, Fim,
    FimFile, FimForm, FimFormat, Message, ModelId, Part, Profile, Request, Role, Sampling,
    StopReason, SystemBlock, TokenCount, ToolChoice, ToolInput, ToolSpec, Usage,
};
use serde_json::{Value, json};

use crate::http::{HttpClient, Providers, Socket, Transport};
use crate::keys::{Output, Secret, Vault};
use crate::record::{Pace, Recorder, Recording, Replay};
use crate::wire::tests::show;

const KEY: &str = "sk-canary-for-the-mock";

/// The provider of each wire; the chat one shows its thoughts.
const WIRES: [&str; 4] = ["anthropic", "openai", "openrouter", "gemini"];

struct OneKey;

impl Vault for OneKey {
    fn environment(&self, name: &str) -> Option<String> {
        name.ends_with("_API_KEY").then(|| KEY.to_owned())
    }

    fn run<'a>(
        &'a self,
        _words: &'a [String],
        _input: Option<Secret>,
        _patience: Duration,
    ) -> BoxFuture<'a, Result<Output, String>> {
        std::future::ready(Err("no programs here".to_owned())).boxed()
    }
}

fn serve(script: &Value) -> Server {
    let script =
        Script::parse("test", &script.to_string()).unwrap_or_else(|error| panic!("{error}"));
    Server::start(script).expect("loopback has a free port")
}

fn providers(url: &str) -> Providers {
    let (mut providers, problems) = Providers::builtin();
    assert_eq!(problems, Vec::<String>::new());
    for config in providers.all.values_mut() {
        let version = config
            .base_url
            .find("/v1")
            .or(config.base_url.find("/api/v1"));
        config.base_url = match version {
            Some(at) => format!("{url}{}", &config.base_url[at..]),
            None => url.to_owned(),
        };
    }
    providers
}

fn profile(model: &ModelId) -> Option<Profile> {
    let effort = EffortSetting::Word("high".to_owned());
    Some(Profile {
        vision: Some(true),
        adaptive_thinking: true,
        forced_tool: true,
        parallel: model::ParallelTools::Allowed,
        efforts: BTreeMap::from([(Effort::High, effort)]),
        cache: match model.provider.as_str() {
            "anthropic" => CacheStyle::Breakpoints,
            _ => CacheStyle::Automatic,
        },
        replay: model::ReasoningReplay::Always,
        fim: Some(FimFormat::Qwen),
        ..Profile::harmless()
    })
}

fn client_over(url: &str, transport: impl Fn(&str) -> Arc<dyn Transport>) -> HttpClient {
    HttpClient::over(
        providers(url),
        Arc::new(profile),
        Arc::new(OneKey),
        transport,
    )
}

fn client(server: &Server) -> HttpClient {
    client_over(&server.url(), |_| Arc::new(Socket::default()))
}

fn ask(provider: &str, messages: Vec<Message>) -> Request {
    let model = ModelId {
        provider: provider.to_owned(),
        model: format!("{provider}-1"),
    };
    Request {
        model,
        system: vec![SystemBlock {
            text: "You edit code with great care. ".repeat(400),
            cache: CacheMark::Short,
        }],
        messages,
        tools: vec![
            ToolSpec {
                name: "read".to_owned(),
                description: "Reads a file.".to_owned(),
                input: ToolInput::Json(json!({
                    "type": "object",
                    "properties": { "path": { "type": "string" } },
                    "required": ["path"],
                })),
            },
            ToolSpec {
                name: "patch".to_owned(),
                description: "Changes files.".to_owned(),
                input: ToolInput::Text { grammar: None },
            },
        ],
        tool_choice: ToolChoice::Auto,
        parallel_tools: true,
        max_output: TokenCount(4000),
        effort: Some(Effort::High),
        sampling: Sampling::default(),
        response_schema: None,
        stop: Vec::new(),
        conversation: Some("conv-1".to_owned()),
        omit: Vec::new(),
    }
}

fn user(text: &str) -> Vec<Message> {
    vec![Message::text(Role::User, text)]
}

async fn send(client: &HttpClient, request: Request) -> Vec<Event> {
    client.send(request).collect().await
}

/// The answer as a message, put together as `Event` says.
fn parts(events: &[Event]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut calls: Vec<usize> = Vec::new();
    let mut is_open = false;
    for event in events {
        match event {
            Event::TextDelta(delta) => match parts.last_mut() {
                Some(Part {
                    content: Content::Text(text),
                    ..
                }) if is_open => text.push_str(delta),
                _ => {
                    parts.push(Part::text(delta.as_str()));
                    is_open = true;
                }
            },
            Event::ReasoningDelta(delta) => match parts.last_mut() {
                Some(Part {
                    content: Content::Reasoning(text),
                    ..
                }) if is_open => text.push_str(delta),
                _ => {
                    parts.push(Part::new(Content::Reasoning(delta.clone())));
                    is_open = true;
                }
            },
            Event::Signature {
                index: Some(index),
                opaque,
            } => {
                parts[calls[*index as usize]].opaque = Some(opaque.clone());
            }
            Event::Signature {
                index: None,
                opaque,
            } => {
                if !is_open {
                    parts.push(Part::new(Content::Reasoning(String::new())));
                }
                parts.last_mut().expect("a part").opaque = Some(opaque.clone());
                is_open = false;
            }
            Event::ToolStart { id, name, .. } => {
                is_open = false;
                calls.push(parts.len());
                parts.push(Part::new(Content::ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                }));
            }
            Event::ToolArgsDelta { index, fragment } => {
                if let Content::ToolCall { arguments, .. } =
                    &mut parts[calls[*index as usize]].content
                {
                    arguments.push_str(fragment);
                }
            }
            _ => {}
        }
    }
    parts
}

/// What the answer says, the same for every wire.
fn told(events: &[Event]) -> Vec<String> {
    let mut told: Vec<String> = parts(events)
        .iter()
        .filter_map(|part| match &part.content {
            Content::Text(text) => Some(format!("text {text}")),
            Content::Reasoning(text) if text.is_empty() => None,
            Content::Reasoning(text) => Some(format!("thought {text}")),
            Content::ToolCall {
                name, arguments, ..
            } => {
                let value = serde_json::from_str::<Value>(arguments);
                let shown = value.map_or(arguments.clone(), |value| value.to_string());
                Some(format!("call {name} {shown}"))
            }
            _ => None,
        })
        .collect();
    let ends = events
        .iter()
        .filter(|event| matches!(event, Event::ToolEnd { .. }));
    told.push(format!("{} calls ended", ends.count()));
    match events.last() {
        Some(Event::Stop { reason, .. }) => told.push(format!("stop {reason:?}")),
        other => told.push(format!("{other:?}")),
    }
    told
}

fn usage(events: &[Event]) -> Usage {
    let mut usages = events.iter().rev().filter_map(|event| match event {
        Event::Usage(usage) => Some(*usage),
        _ => None,
    });
    usages.next().unwrap_or_default()
}

/// The answer and what its tools said.
fn answered(mut messages: Vec<Message>, events: &[Event]) -> Vec<Message> {
    let parts = parts(events);
    let results = parts.iter().filter_map(|part| match &part.content {
        Content::ToolCall { id, name, .. } => Some(Part::new(Content::ToolResult {
            call: id.clone(),
            content: vec![Content::Text(format!("{name} is done"))],
            is_error: false,
        })),
        _ => None,
    });
    let results: Vec<Part> = results.collect();
    messages.push(Message::new(Role::Assistant, parts));
    messages.push(Message::new(Role::User, results));
    messages
}

const PATCH: &str = "*** Begin Patch\n*** Update File: ä.rs\n-\"old\"\n+\"new\"\n*** End Patch\n";

/// Thought, text and parallel calls, then a closing word. The free tool's text is as the wire has it.
fn task(provider: &str) -> Value {
    let patch = match provider {
        "openai" => json!({ "tool": "patch", "raw": PATCH }),
        _ => json!({ "tool": "patch", "arguments": { "input": PATCH } }),
    };
    json!({ "seed": 3, "models": { "openrouter-1": { "dialect": "openrouter" } }, "rules": [
        { "match": { "user": { "contains": "fix" }, "step": 1 }, "reply": [
            { "thinking": { "text": "Two files, I think. Über 🦀." } },
            { "text": "I read two files and change one." },
            { "calls": [
                { "tool": "read", "arguments": { "path": "a.rs" } },
                { "tool": "read", "arguments": { "path": "b.rs" } },
                patch,
            ] },
        ] },
        { "match": { "user": { "contains": "fix" }, "step": 2 }, "reply": [{ "text": "Done." }] },
        { "match": { "user": { "contains": "refuse" } }, "reply": [{ "refusal": "I would rather not." }] },
    ] })
}

#[tokio::test]
async fn the_same_conversation_gives_the_same_events_on_every_wire() {
    for provider in WIRES {
        let server = serve(&task(provider));
        let client = client(&server);
        let messages = user("fix it");
        let first = send(&client, ask(provider, messages.clone())).await;
        let expected = [
            "thought Two files, I think. Über 🦀.",
            "text I read two files and change one.",
            r#"call read {"path":"a.rs"}"#,
            r#"call read {"path":"b.rs"}"#,
            &format!("call patch {PATCH}"),
            "3 calls ended",
            "stop ToolUse",
        ];
        assert_eq!(told(&first), expected, "{provider}: {}", show(&first));
        assert!(
            matches!(&first[0], Event::Start { .. } | Event::RateLimits(_)),
            "{provider}"
        );
        let signed = parts(&first)
            .iter()
            .filter(|part| part.opaque.is_some())
            .count();
        assert!(signed > 0, "{provider}: {}", show(&first));

        // The server holds us to its rules: results beside their calls, signatures unchanged.
        let messages = answered(messages, &first);
        let second = send(&client, ask(provider, messages.clone())).await;
        assert_eq!(
            told(&second),
            ["text Done.", "0 calls ended", "stop EndTurn"],
            "{provider}"
        );

        let refusal = send(&client, ask(provider, user("refuse"))).await;
        let said = told(&refusal);
        assert_eq!(
            said.last().map(String::as_str),
            Some("stop Refusal"),
            "{provider}: {said:?}"
        );
    }
}

#[tokio::test]
async fn usage_counts_every_token_once() {
    for provider in WIRES {
        let server = serve(&task(provider));
        let client = client(&server);
        let messages = user("fix it");
        let first = send(&client, ask(provider, messages.clone())).await;
        let second = send(&client, ask(provider, answered(messages, &first))).await;
        let (first, second) = (usage(&first), usage(&second));
        let prompt = |usage: Usage| {
            usage.input.0 + usage.cache_read.0 + usage.cache_write_5m.0 + usage.cache_write_1h.0
        };
        assert_eq!(first.cache_read.0, 0, "{provider}: {first:?}");
        assert!(second.cache_read.0 >= 1024, "{provider}: {second:?}");
        assert!(
            prompt(second) > prompt(first),
            "{provider}: {first:?} {second:?}"
        );
        assert!(
            prompt(second) < prompt(first) * 2,
            "{provider}: nothing is counted twice: {first:?} {second:?}"
        );
        assert!(first.output.0 > first.reasoning.0, "{provider}: {first:?}");
        match provider {
            "anthropic" => assert!(first.cache_write_5m.0 >= 1024, "{first:?}"),
            _ => assert!(first.reasoning.0 > 0, "{provider}: {first:?}"),
        }
    }
}

/// How an answer with a fault ends.
async fn with_fault(provider: &str, fault: &Value) -> Vec<Event> {
    let server = serve(&json!({ "rules": [{
        "reply": [
            { "text": "Grüße aus dem Süden." },
            { "calls": [{ "tool": "read", "arguments": { "path": "a" } }, { "tool": "read", "arguments": { "path": "b" } }] },
        ],
        "faults": [{ "fault": fault }],
    }] }));
    send(&client(&server), ask(provider, user("go"))).await
}

#[tokio::test]
async fn faults_are_told_apart_on_every_wire() {
    let cases = [
        (
            json!({ "status": { "code": 429, "retry_after": 7 } }),
            FailureClass::RateLimited,
        ),
        (json!({ "overloaded": {} }), FailureClass::Overloaded),
        (json!({ "quota": {} }), FailureClass::Quota),
        (
            json!({ "authentication": {} }),
            FailureClass::Authentication,
        ),
        (
            json!({ "context_overflow": {} }),
            FailureClass::ContextOverflow,
        ),
        (json!({ "no_such_model": {} }), FailureClass::NoSuchModel),
        (
            json!({ "status": { "code": 500 } }),
            FailureClass::ServerError,
        ),
        (
            json!({ "html": { "code": 502 } }),
            FailureClass::ServerError,
        ),
        (json!({ "cut": { "at": 2 } }), FailureClass::Torn),
        (json!({ "end_early": { "at": 2 } }), FailureClass::Torn),
        (json!({ "reset": { "at": 1 } }), FailureClass::Torn),
        (json!({ "bad_json": { "at": 1 } }), FailureClass::Malformed),
        // Half a letter is lost: what is left must not pass for text.
        (json!({ "torn_utf8": {} }), FailureClass::Malformed),
    ];
    for provider in WIRES {
        for (fault, expected) in &cases {
            let events = with_fault(provider, fault).await;
            let Some(Event::Failed(failure)) = events.last() else {
                panic!("{provider} {fault}: {}", show(&events));
            };
            assert_eq!(failure.class, *expected, "{provider} {fault}: {failure}");
            assert!(!failure.message.contains(KEY), "{failure}");
            if *expected == FailureClass::RateLimited {
                let wait = failure.retry_after.expect("a wait").as_secs_f64();
                assert!((6.3..=7.7).contains(&wait), "{provider}: {wait}");
            }
        }
    }
}

#[tokio::test]
async fn bytes_in_odd_pieces_change_nothing() {
    for provider in WIRES {
        let plain = with_fault(provider, &json!({ "slow_first_byte": { "ms": 1 } })).await;
        assert!(matches!(
            plain.last(),
            Some(Event::Stop {
                reason: StopReason::ToolUse,
                ..
            })
        ));
        let events = with_fault(provider, &json!({ "shredded": {} })).await;
        assert_eq!(told(&events), told(&plain), "{provider}");
    }
}

#[tokio::test]
async fn calls_with_one_id_are_kept_apart() {
    for provider in WIRES {
        let events = with_fault(provider, &json!({ "duplicate_ids": {} })).await;
        let mut ids: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                Event::ToolStart { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ids.len(), 2, "{provider}: {}", show(&events));
        ids.dedup();
        assert_eq!(ids.len(), 2, "{provider}: {}", show(&events));
    }
}

#[tokio::test]
async fn an_error_in_the_stream_is_a_failure_that_can_be_tried_again() {
    for provider in WIRES {
        let events = with_fault(provider, &json!({ "error_event": { "at": 2 } })).await;
        let Some(Event::Failed(failure)) = events.last() else {
            panic!("{provider}: {}", show(&events));
        };
        assert!(
            failure.class.is_retryable(),
            "{provider}: {:?} {failure}",
            failure.class
        );
    }
}

#[tokio::test]
async fn recordings_replay_to_the_same_events_without_a_key() {
    for provider in WIRES {
        let server = serve(&task(provider));
        let kept: Arc<Mutex<Vec<Recording>>> = Arc::default();
        let recording = client_over(&server.url(), |_| {
            let kept = kept.clone();
            let sink = move |recording| kept.lock().expect("lock").push(recording);
            Arc::new(Recorder::new(Arc::new(Socket::default()), sink))
        });
        let live = send(&recording, ask(provider, user("fix it"))).await;
        let tape = kept.lock().expect("lock").pop().expect("a recording");
        let text = tape.to_json();
        assert!(!text.contains(KEY), "{provider}");
        let read = Recording::from_json(&text).expect("reads");
        assert_eq!(read.to_json(), text, "{provider}");
        assert_eq!(read.body(), tape.body(), "{provider}");
        drop(server);
        let replay = client_over("http://127.0.0.1:1", |_| {
            Arc::new(Replay::new(vec![read.clone()], Pace::Instant))
        });
        let replayed = send(&replay, ask(provider, user("fix it"))).await;
        let without_limits = |events: &[Event]| {
            let kept = events
                .iter()
                .filter(|event| !matches!(event, Event::RateLimits(_)));
            kept.cloned().collect::<Vec<_>>()
        };
        assert_eq!(
            without_limits(&replayed),
            without_limits(&live),
            "{provider}"
        );
    }
}

#[tokio::test]
async fn whole_prompts_and_edits_go_where_they_belong() {
    let server = serve(&json!({ "rules": [
        { "match": { "prefix": { "contains": "<|file_sep|>updated/a.rs" } }, "reply": [{ "text": "raw" }] },
        { "match": { "user": { "contains": "<|code_to_edit|>" } }, "reply": [{ "text": "edit" }] },
    ] }));
    let client = client(&server);
    let raw = "<|file_sep|>updated/a.rs\n";
    let asked = [
        ("llama.cpp", FimForm::Raw, raw, "raw"),
        ("vllm", FimForm::Raw, raw, "raw"),
        ("ollama", FimForm::Raw, raw, "raw"),
        ("inception", FimForm::Edit, "<|code_to_edit|>\n", "edit"),
    ];
    for (provider, form, prompt, answer) in asked {
        let model = ModelId {
            provider: provider.to_owned(),
            model: "next-edit".to_owned(),
        };
        let request = Fim {
            form,
            ..Fim::gap(model, prompt, "", TokenCount(64))
        };
        let events: Vec<Event> = client.complete(request).collect().await;
        let told = told(&events);
        assert_eq!(
            told[0],
            format!("text {answer}"),
            "{provider}: {}",
            show(&events)
        );
    }
}

#[tokio::test]
async fn gaps_on_every_endpoint() {
    let server = serve(&json!({ "rules": [{
        "match": { "prefix": { "regex": "fn (?<name>\\w+)\\(\\) \\{\\s*$" }, "suffix": { "contains": "}" } },
        "reply": [{ "text": "println!(\"{{name}}\");" }],
    },
    // A raw prompt has no gap that the server could see.
    { "reply": [{ "text": "println!(\"hello\");" }] }] }));
    let client = client(&server);
    for provider in [
        "llama.cpp",
        "vllm",
        "lmstudio",
        "mistral",
        "deepseek",
        "ollama",
    ] {
        let model = ModelId {
            provider: provider.to_owned(),
            model: "qwen-coder".to_owned(),
        };
        let request = Fim {
            files: vec![FimFile {
                path: "lib.rs".to_owned(),
                text: "pub fn other() {}".to_owned(),
            }],
            ..Fim::gap(model, "fn hello() {\n    ", "\n}\n", TokenCount(64))
        };
        let events: Vec<Event> = client.complete(request).collect().await;
        assert_eq!(
            told(&events)[0],
            "text println!(\"hello\");",
            "{provider}: {}",
            show(&events)
        );
        assert!(
            matches!(events.last(), Some(Event::Stop { .. })),
            "{provider}: {}",
            show(&events)
        );
    }
}
