//! Tests every wire against a server that implements it: the same conversation yields the same
//! events, faults are distinguished, and recordings replay to the same result.

mod predictions;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use mockllm::{MockServer, Script};
use model::{
    CacheMark, CacheStyle, Effort, EffortSetting, FailureClass, Fim, FimFile, FimForm, FimFormat,
    Message, MessagePart, ModelClient, ModelId, ModelRequest, PartContent, Profile, Role, Sampling,
    StopReason, StreamEvent, SystemBlock, TokenCount, ToolChoice, ToolInput, ToolSpec, Usage,
};
use serde_json::{Value, json};

use crate::error::Error;
use crate::http::{HttpClient, NetworkTransport, Providers, Transport};
use crate::keys::{ProgramOutput, SecretSource};
use crate::record::{Recorder, Recording, ReplayPace, ReplayTransport};
use crate::wire::tests::show;

const KEY: &str = "sk-canary-for-the-mock";

/// The provider for each wire; the chat one exposes its reasoning.
const WIRES: [&str; 4] = ["anthropic", "openai", "openrouter", "gemini"];

struct OneKey;

impl SecretSource for OneKey {
    fn environment(&self, name: &str) -> Option<String> {
        name.ends_with("_API_KEY").then(|| KEY.to_owned())
    }

    fn run<'a>(
        &'a self,
        _: &'a [String],
        _: Duration,
    ) -> BoxFuture<'a, Result<ProgramOutput, Error>> {
        let error = Error::Program("no programs here".to_owned());
        std::future::ready(Err(error)).boxed()
    }
}

fn serve(script: &Value) -> MockServer {
    let script =
        Script::parse("test", &script.to_string()).unwrap_or_else(|error| panic!("{error}"));
    MockServer::start(script).expect("loopback has a free port")
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
    HttpClient::with_transport(
        providers(url),
        Arc::new(profile),
        Arc::new(OneKey),
        transport,
    )
}

fn client(server: &MockServer) -> HttpClient {
    client_over(&server.url(), |_| Arc::new(NetworkTransport::default()))
}

fn ask(provider: &str, messages: Vec<Message>) -> ModelRequest {
    let model = ModelId {
        provider: provider.to_owned(),
        model: format!("{provider}-1"),
    };
    ModelRequest {
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
        prediction: None,
        conversation: Some("conv-1".to_owned()),
        omit: Vec::new(),
    }
}

fn user(text: &str) -> Vec<Message> {
    vec![Message::text(Role::User, text)]
}

async fn send(client: &HttpClient, request: ModelRequest) -> Vec<StreamEvent> {
    client.send(request).collect().await
}

/// Assembles the answer to a message, as `StreamEvent` specifies.
fn parts(events: &[StreamEvent]) -> Vec<MessagePart> {
    let mut parts: Vec<MessagePart> = Vec::new();
    let mut calls: Vec<usize> = Vec::new();
    let mut is_open = false;
    for event in events {
        match event {
            StreamEvent::TextDelta(delta) => match parts.last_mut() {
                Some(MessagePart {
                    content: PartContent::Text(text),
                    ..
                }) if is_open => text.push_str(delta),
                _ => {
                    parts.push(MessagePart::text(delta.as_str()));
                    is_open = true;
                }
            },
            StreamEvent::ReasoningDelta(delta) => match parts.last_mut() {
                Some(MessagePart {
                    content: PartContent::Reasoning(text),
                    ..
                }) if is_open => text.push_str(delta),
                _ => {
                    parts.push(MessagePart::new(PartContent::Reasoning(delta.clone())));
                    is_open = true;
                }
            },
            StreamEvent::Signature {
                index: Some(index),
                opaque,
            } => {
                parts[calls[*index as usize]].opaque = Some(opaque.clone());
            }
            StreamEvent::Signature {
                index: None,
                opaque,
            } => {
                if !is_open {
                    parts.push(MessagePart::new(PartContent::Reasoning(String::new())));
                }
                parts.last_mut().expect("a part").opaque = Some(opaque.clone());
                is_open = false;
            }
            StreamEvent::ToolStart { id, name, .. } => {
                is_open = false;
                calls.push(parts.len());
                parts.push(MessagePart::new(PartContent::ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                }));
            }
            StreamEvent::ToolArgsDelta { index, fragment } => {
                if let PartContent::ToolCall { arguments, .. } =
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

/// Describes the answer independently of its wire.
fn summary(events: &[StreamEvent]) -> Vec<String> {
    let mut lines: Vec<String> = parts(events)
        .iter()
        .filter_map(|part| match &part.content {
            PartContent::Text(text) => Some(format!("text {text}")),
            PartContent::Reasoning(text) if text.is_empty() => None,
            PartContent::Reasoning(text) => Some(format!("thought {text}")),
            PartContent::ToolCall {
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
        .filter(|event| matches!(event, StreamEvent::ToolEnd { .. }));
    lines.push(format!("{} calls ended", ends.count()));
    match events.last() {
        Some(StreamEvent::Stop { reason, .. }) => lines.push(format!("stop {reason:?}")),
        other => lines.push(format!("{other:?}")),
    }
    lines
}

fn usage(events: &[StreamEvent]) -> Usage {
    let mut usages = events.iter().rev().filter_map(|event| match event {
        StreamEvent::Usage(usage) => Some(*usage),
        _ => None,
    });
    usages.next().unwrap_or_default()
}

/// Appends the answer and its tool results to the conversation.
fn answered(mut messages: Vec<Message>, events: &[StreamEvent]) -> Vec<Message> {
    let parts = parts(events);
    let results = parts.iter().filter_map(|part| match &part.content {
        PartContent::ToolCall { id, name, .. } => Some(MessagePart::new(PartContent::ToolResult {
            call: id.clone(),
            content: vec![PartContent::Text(format!("{name} is done"))],
            is_error: false,
        })),
        _ => None,
    });
    let results: Vec<MessagePart> = results.collect();
    messages.push(Message::new(Role::Assistant, parts));
    messages.push(Message::new(Role::User, results));
    messages
}

const PATCH: &str = "*** Begin Patch\n*** Update File: ä.rs\n-\"old\"\n+\"new\"\n*** End Patch\n";

/// Reasoning, text and parallel calls, then a closing word. The free-text tool's input depends on
/// the wire.
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
async fn conversation_yields_equal_events_on_every_wire() {
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
        assert_eq!(summary(&first), expected, "{provider}: {}", show(&first));
        assert!(
            matches!(
                &first[0],
                StreamEvent::Start { .. } | StreamEvent::RateLimits(_)
            ),
            "{provider}"
        );
        let signed = parts(&first)
            .iter()
            .filter(|part| part.opaque.is_some())
            .count();
        assert!(signed > 0, "{provider}: {}", show(&first));

        // The server enforces its rules: results next to their calls, signatures unchanged.
        let messages = answered(messages, &first);
        let second = send(&client, ask(provider, messages.clone())).await;
        assert_eq!(
            summary(&second),
            ["text Done.", "0 calls ended", "stop EndTurn"],
            "{provider}"
        );

        let refusal = send(&client, ask(provider, user("refuse"))).await;
        let said = summary(&refusal);
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

/// Returns the last events of an answer with an injected fault.
async fn with_fault(provider: &str, fault: &Value) -> Vec<StreamEvent> {
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
async fn faults_are_distinguished_on_every_wire() {
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
        // Half a character is lost: the rest must not pass for text.
        (json!({ "torn_utf8": {} }), FailureClass::Malformed),
    ];
    for provider in WIRES {
        for (fault, expected) in &cases {
            let events = with_fault(provider, fault).await;
            let Some(StreamEvent::Failed(failure)) = events.last() else {
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
async fn chunk_boundaries_do_not_matter() {
    for provider in WIRES {
        let plain = with_fault(provider, &json!({ "slow_first_byte": { "ms": 1 } })).await;
        assert!(matches!(
            plain.last(),
            Some(StreamEvent::Stop {
                reason: StopReason::ToolUse,
                ..
            })
        ));
        let events = with_fault(provider, &json!({ "shredded": {} })).await;
        assert_eq!(summary(&events), summary(&plain), "{provider}");
    }
}

#[tokio::test]
async fn calls_with_equal_ids_are_distinguished() {
    for provider in WIRES {
        let events = with_fault(provider, &json!({ "duplicate_ids": {} })).await;
        let mut ids: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::ToolStart { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ids.len(), 2, "{provider}: {}", show(&events));
        ids.dedup();
        assert_eq!(ids.len(), 2, "{provider}: {}", show(&events));
    }
}

#[tokio::test]
async fn stream_error_is_a_transient_failure() {
    for provider in WIRES {
        let events = with_fault(provider, &json!({ "error_event": { "at": 2 } })).await;
        let Some(StreamEvent::Failed(failure)) = events.last() else {
            panic!("{provider}: {}", show(&events));
        };
        assert!(
            matches!(
                failure.class,
                FailureClass::RateLimited
                    | FailureClass::Overloaded
                    | FailureClass::Offline
                    | FailureClass::ServerError
                    | FailureClass::Stalled
                    | FailureClass::Torn
                    | FailureClass::Malformed
            ),
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
            Arc::new(Recorder::new(Arc::new(NetworkTransport::default()), sink))
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
            Arc::new(ReplayTransport::new(
                vec![read.clone()],
                ReplayPace::Instant,
            ))
        });
        let replayed = send(&replay, ask(provider, user("fix it"))).await;
        let without_limits = |events: &[StreamEvent]| {
            let kept = events
                .iter()
                .filter(|event| !matches!(event, StreamEvent::RateLimits(_)));
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
async fn raw_prompts_and_edits_use_their_endpoints() {
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
        let events: Vec<StreamEvent> = client.complete(request).collect().await;
        let summary = summary(&events);
        assert_eq!(
            summary[0],
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
    // A raw prompt has no gap that the server could detect.
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
        let events: Vec<StreamEvent> = client.complete(request).collect().await;
        assert_eq!(
            summary(&events)[0],
            "text println!(\"hello\");",
            "{provider}: {}",
            show(&events)
        );
        assert!(
            matches!(events.last(), Some(StreamEvent::Stop { .. })),
            "{provider}: {}",
            show(&events)
        );
    }
}
