//! Records of every kind and order make conversations that every wire format accepts, with stable
//! prefixes.

use model::{Message, ModelId, ModelRequest, PartContent, Role, TokenCount, ToolInput, ToolSpec};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use router::wire::{ChatDialect, WireOptions, WireProtocol, encode};
use serde_json::{Value, json};

use super::{INTERRUPTED, Transcript, problems};
use crate::handover::for_model;
use crate::outcome::CallOutcome;
use crate::record::{
    PromptOrigin, PromptPosition, SessionRecord, Stored, StoredContent, StoredPart, StoredUsage,
    TurnEnd,
};
use crate::stored_parts;

fn stored(records: Vec<SessionRecord>) -> Vec<Stored> {
    (0..)
        .zip(records)
        .map(|(seq, record)| Stored {
            seq,
            at_ms: 0,
            record,
        })
        .collect()
}

fn prompted(text: &str) -> SessionRecord {
    SessionRecord::Prompted {
        turn: 1,
        parts: vec![stored_parts::text(text)],
        is_steering: false,
    }
}

fn asked() -> SessionRecord {
    SessionRecord::Asked {
        turn: 1,
        step: 1,
        model: "a/b".to_owned(),
        prompt: String::new(),
        bytes: 0,
        same_bytes: 0,
    }
}

fn answered(model: &str, parts: Vec<StoredPart>) -> SessionRecord {
    SessionRecord::Answered {
        turn: 1,
        step: 1,
        model: model.to_owned(),
        parts,
        usage: StoredUsage::default(),
        cost_nano: None,
        stop: "end_turn".to_owned(),
    }
}

fn call(id: &str) -> StoredPart {
    StoredPart {
        content: StoredContent::Call {
            id: id.to_owned(),
            name: "read".to_owned(),
            arguments: r#"{"path":"a"}"#.to_owned(),
        },
        opaque: None,
    }
}

fn ended(call: &str, text: &str) -> SessionRecord {
    SessionRecord::CallEnded {
        turn: 1,
        call: call.to_owned(),
        tool: "read".to_owned(),
        outcome: CallOutcome::Ok,
        detail: None,
        content: vec![stored_parts::text(text)],
        shown: Vec::new(),
        millis: 1,
    }
}

fn joined(place: PromptPosition, text: &str) -> SessionRecord {
    SessionRecord::Joined {
        place,
        origin: PromptOrigin::Harness,
        text: text.to_owned(),
    }
}

/// Formats a conversation with one line per message: role, then texts, `id(…)` for calls and `id=…`
/// for results.
fn lines(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let parts = message.parts.iter().map(|part| match &part.content {
            PartContent::Text(text) => text.clone(),
            PartContent::Reasoning(text) => format!("<{text}>"),
            PartContent::ToolCall { id, .. } => format!("{id}(…)"),
            PartContent::ToolResult { call, content, .. } => match content.first() {
                Some(PartContent::Text(text)) if text == INTERRUPTED => format!("{call}=?"),
                Some(PartContent::Text(text)) => format!("{call}={text}"),
                _ => call.clone(),
            },
            PartContent::Image { .. } => "picture".to_owned(),
        });
        let role = match message.role {
            Role::User => "u",
            Role::Assistant => "a",
            Role::System => "s",
        };
        format!("{role}: {}", parts.collect::<Vec<_>>().join(" | "))
    };
    messages.iter().map(line).collect()
}

fn check(records: Vec<SessionRecord>, expect: &[&str]) {
    let transcript = Transcript::of(&stored(records));
    let messages = transcript.messages();
    assert_eq!(lines(&messages), expect);
    assert_eq!(problems(&messages), Vec::<String>::new());
}

#[test]
fn results_follow_their_calls_in_call_order() {
    check(
        vec![
            joined(PromptPosition::System, "be good"),
            joined(PromptPosition::BeforePrompt, "it is monday"),
            prompted("do it"),
            asked(),
            answered("a/b", vec![stored_parts::text("yes"), call("1"), call("2")]),
            ended("2", "two"),
            prompted("and hurry"),
            ended("1", "one"),
            asked(),
            answered("a/b", vec![stored_parts::text("done")]),
        ],
        &[
            "u: it is monday | do it",
            "a: yes | 1(…) | 2(…)",
            "u: 1=one | 2=two | and hurry",
            "a: done",
        ],
    );
}

#[test]
fn interrupted_calls_get_a_result() {
    check(
        vec![
            prompted("do it"),
            asked(),
            answered("a/b", vec![call("1"), call("2")]),
            ended("2", "two"),
        ],
        &["u: do it", "a: 1(…) | 2(…)", "u: 1=? | 2=two"],
    );
    // A result after the next request is ignored, and so is one without a call.
    check(
        vec![
            prompted("do it"),
            answered("a/b", vec![call("1")]),
            ended("9", "nine"),
            asked(),
            ended("1", "late"),
        ],
        &["u: do it", "a: 1(…)", "u: 1=?"],
    );
}

#[test]
fn empty_parts_are_not_messages() {
    let thought = StoredPart {
        content: StoredContent::Reasoning {
            text: "hm".to_owned(),
        },
        opaque: None,
    };
    check(
        vec![
            prompted("one"),
            answered("a/b", vec![thought, stored_parts::text("  ")]),
            prompted(" "),
            prompted("two"),
            answered("a/b", vec![]),
        ],
        &["u: one | two"],
    );
    check(
        vec![answered("a/b", vec![stored_parts::text("first")])],
        &[
            "u: [The beginning of this conversation is not shown.]",
            "a: first",
        ],
    );
}

fn compacted(
    through: u64,
    reduced: &[(&str, &str)],
    dropped: &[&str],
    summary: &str,
) -> SessionRecord {
    let own = |text: &str| text.to_owned();
    SessionRecord::Compacted {
        through,
        reduced: reduced
            .iter()
            .map(|(call, text)| (own(call), own(text)))
            .collect(),
        dropped: dropped.iter().map(|call| own(call)).collect(),
        summary: own(summary),
        bytes: (0, 0),
        tokens: None,
        why: String::new(),
    }
}

#[test]
fn compaction_removes_calls_with_their_results() {
    let begin = || {
        vec![
            prompted("do it"),
            asked(),
            answered(
                "a/b",
                vec![stored_parts::text("look"), call("1"), call("2")],
            ),
            ended("1", "long long"),
            ended("2", "two"),
            asked(),
            answered("a/b", vec![call("3")]),
            ended("3", "three"),
        ]
    };
    let with = |record: SessionRecord| {
        let mut records = begin();
        records.push(record);
        records
    };
    check(
        with(compacted(0, &[("1", "short")], &["2", "3"], "")),
        &["u: do it", "a: look | 1(…)", "u: 1=short"],
    );
    check(
        with(compacted(5, &[], &[], "so far")),
        &["u: so far", "a: 3(…)", "u: 3=three"],
    );
    // The first answer's second result is after the cut, so the answer stays complete.
    check(
        with(compacted(3, &[], &[], "so far")),
        &[
            "u: so far",
            "a: look | 1(…) | 2(…)",
            "u: 1=long long | 2=two",
            "a: 3(…)",
            "u: 3=three",
        ],
    );
}

/// Returns a random record; few ids are used, so that they collide.
fn random(rng: &mut StdRng, seq: u64) -> SessionRecord {
    let id = |rng: &mut StdRng| format!("c{}", rng.random_range(0..12));
    let model = |rng: &mut StdRng| ["a/b", "c/d"][rng.random_range(0..2)].to_owned();
    let text =
        |rng: &mut StdRng| ["", " ", "word", "längere Wörter\n"][rng.random_range(0..4)].to_owned();
    match rng.random_range(0..12) {
        0 | 1 => prompted(&text(rng)),
        2 => joined(
            [
                PromptPosition::System,
                PromptPosition::BeforePrompt,
                PromptPosition::AfterResults,
            ][rng.random_range(0..3)],
            &text(rng),
        ),
        3 | 4 => asked(),
        5..=7 => {
            let model = model(rng);
            let mut parts = Vec::new();
            for _ in 0..rng.random_range(0..4) {
                let opaque = rng
                    .random_bool(0.3)
                    .then(|| (model.clone(), r#"{"signature":"x"}"#.to_owned()));
                let content = match rng.random_range(0..4) {
                    0 => StoredContent::Reasoning { text: text(rng) },
                    1 => StoredContent::Text { text: text(rng) },
                    _ => call(&id(rng)).content,
                };
                parts.push(StoredPart { content, opaque });
            }
            answered(&model, parts)
        }
        8 | 9 => ended(&id(rng), &text(rng)),
        10 if rng.random_bool(0.3) => {
            let (reduced, dropped) = (id(rng), id(rng));
            let summary = ["", "so far"][rng.random_range(0..2)];
            let through = rng.random_range(0..=seq);
            compacted(through, &[(&reduced, "short")], &[&dropped], summary)
        }
        _ => SessionRecord::TurnEnded {
            turn: 1,
            end: TurnEnd::Done,
        },
    }
}

fn request(messages: Vec<Message>, system: Vec<model::SystemBlock>) -> ModelRequest {
    let model = ModelId {
        provider: "a".to_owned(),
        model: "b".to_owned(),
    };
    ModelRequest {
        system,
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            input: ToolInput::Json(json!({ "type": "object" })),
        }],
        ..ModelRequest::new(model, messages, TokenCount(100))
    }
}

/// Encodes for a wire format and checks the rules of all providers.
fn check_wire(wire: WireProtocol, request: &ModelRequest, seed: u64) {
    let encoded = encode(
        wire,
        &ChatDialect::default(),
        &WireOptions::default(),
        request,
    );
    let body: Value = serde_json::from_slice(&encoded.expect("it is encoded").body).expect("JSON");
    let at = format!("{wire:?}, seed {seed}: {body}");
    match wire {
        WireProtocol::Anthropic => {
            let messages = body["messages"].as_array().expect("messages");
            let mut open: Vec<Value> = Vec::new();
            let mut role = "assistant";
            for message in messages {
                assert_ne!(message["role"], role, "{at}");
                role = if role == "user" { "assistant" } else { "user" };
                let blocks = message["content"].as_array().cloned().unwrap_or_default();
                assert!(!blocks.is_empty(), "{at}");
                let of = |kind: &str, id: &str| -> Vec<Value> {
                    let all = blocks.iter().filter(|block| block["type"] == kind);
                    all.map(|block| block[id].clone()).collect()
                };
                assert_eq!(of("tool_result", "tool_use_id"), open, "{at}");
                open = of("tool_use", "id");
            }
            assert!(open.is_empty(), "{at}");
        }
        WireProtocol::Chat => {
            let messages = body["messages"].as_array().expect("messages");
            let mut open: Vec<Value> = Vec::new();
            for message in messages {
                if message["role"] == "tool" {
                    assert_eq!(open.first(), Some(&message["tool_call_id"]), "{at}");
                    open.remove(0);
                } else {
                    assert!(open.is_empty(), "{at}");
                }
                let calls = message["tool_calls"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                open.extend(calls.iter().map(|call| call["id"].clone()));
            }
            assert!(open.is_empty(), "{at}");
        }
        WireProtocol::Responses => {
            let items = body["input"].as_array().expect("input");
            let ids = |kind: &str| -> Vec<Value> {
                let all = items.iter().filter(|item| item["type"] == kind);
                all.map(|item| item["call_id"].clone()).collect()
            };
            assert_eq!(ids("function_call"), ids("function_call_output"), "{at}");
        }
        WireProtocol::Gemini => {
            let contents = body["contents"].as_array().expect("contents");
            let mut open = 0;
            let mut role = "model";
            for content in contents {
                assert_ne!(content["role"], role, "{at}");
                role = if role == "user" { "model" } else { "user" };
                let parts = content["parts"].as_array().cloned().unwrap_or_default();
                assert!(!parts.is_empty(), "{at}");
                let count =
                    |name: &str| parts.iter().filter(|part| part.get(name).is_some()).count();
                assert_eq!(count("functionResponse"), open, "{at}");
                open = count("functionCall");
            }
            assert_eq!(open, 0, "{at}");
        }
    }
}

#[test]
fn random_truncated_records_are_valid_for_every_wire() {
    for seed in 0..300 {
        let mut rng = StdRng::seed_from_u64(seed);
        let length = rng.random_range(1..60);
        let records = stored((0..length).map(|seq| random(&mut rng, seq)).collect());
        let mut growing = Transcript::default();
        for (ix, record) in records.iter().enumerate() {
            growing.apply(record);
            let messages = growing.messages();
            assert_eq!(
                problems(&messages),
                Vec::<String>::new(),
                "seed {seed}, {ix}"
            );
            if ix % 7 != 0 && ix + 1 != records.len() {
                continue;
            }
            let again = Transcript::of(&records[..=ix]);
            assert_eq!(messages, again.messages(), "seed {seed}");
            let own = ModelId::parse("a/b").expect("a model");
            let mine = for_model(messages.clone(), &own);
            assert_eq!(
                problems(&mine),
                Vec::<String>::new(),
                "seed {seed}, {ix}, one model"
            );
            if messages.is_empty() {
                continue;
            }
            let request = request(mine, growing.system());
            if request.messages.is_empty() {
                continue;
            }
            for wire in [
                WireProtocol::Anthropic,
                WireProtocol::Chat,
                WireProtocol::Responses,
                WireProtocol::Gemini,
            ] {
                check_wire(wire, &request, seed);
            }
        }
    }
}

#[test]
fn sent_prefix_changes_only_by_compaction() {
    for seed in 0..300 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut transcript = Transcript::default();
        let mut sent = super::PromptFingerprint::default();
        for seq in 0..80 {
            let record = random(&mut rng, seq);
            let (is_asked, is_compacted) = (
                matches!(record, SessionRecord::Asked { .. }),
                matches!(record, SessionRecord::Compacted { .. }),
            );
            transcript.apply(&Stored {
                seq,
                at_ms: 0,
                record,
            });
            let now = transcript.fingerprint(&[]);
            if is_compacted {
                sent = super::PromptFingerprint::default();
            }
            if is_asked {
                sent = now;
                continue;
            }
            assert_eq!(
                now.same_bytes(&sent),
                sent.bytes(),
                "seed {seed}, record {seq}"
            );
        }
    }
}

#[test]
fn every_byte_of_the_prompt_has_an_origin() {
    let transcript = Transcript::of(&stored(vec![
        joined(PromptPosition::System, "be good"),
        prompted("do it"),
        asked(),
        answered("a/b", vec![stored_parts::text("yes"), call("1")]),
        ended("1", "one"),
    ]));
    let spec = request(Vec::new(), Vec::new()).tools.remove(0);
    let listing = transcript.listing(&[("read".to_owned(), spec)]);
    let origins: Vec<&PromptOrigin> = listing.iter().map(|(origin, _)| origin).collect();
    assert!(matches!(
        origins[..],
        [
            PromptOrigin::ToolSpec { .. },
            PromptOrigin::Harness,
            PromptOrigin::Person,
            PromptOrigin::Model { .. },
            PromptOrigin::Model { .. },
            PromptOrigin::Tool { .. }
        ]
    ));
    let pieces = transcript.segments().len();
    let parts: usize = transcript
        .messages()
        .iter()
        .map(|message| message.parts.len())
        .sum();
    assert_eq!(pieces, parts + transcript.system().len());
}
