//! Records of every kind and in every order make conversations that every wire takes, and keep their beginnings.

use model::{Content, Message, ModelId, Request, Role, TokenCount, ToolInput, ToolSpec};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use router::wire::{Dialect, Wire, WireOptions, encode};
use serde_json::{Value, json};

use super::{INTERRUPTED, Transcript, problems};
use crate::handover::for_model;
use crate::outcome::Outcome;
use crate::parts;
use crate::record::{
    Origin, PromptPlace, Record, Stored, StoredContent, StoredPart, StoredUsage, TurnEnd,
};

fn stored(records: Vec<Record>) -> Vec<Stored> {
    (0..)
        .zip(records)
        .map(|(seq, record)| Stored {
            seq,
            at_ms: 0,
            record,
        })
        .collect()
}

fn prompted(text: &str) -> Record {
    Record::Prompted {
        turn: 1,
        parts: vec![parts::text(text)],
        is_steering: false,
    }
}

fn asked() -> Record {
    Record::Asked {
        turn: 1,
        step: 1,
        model: "a/b".to_owned(),
        prompt: String::new(),
        bytes: 0,
        same_bytes: 0,
    }
}

fn answered(model: &str, parts: Vec<StoredPart>) -> Record {
    Record::Answered {
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

fn ended(call: &str, text: &str) -> Record {
    Record::CallEnded {
        turn: 1,
        call: call.to_owned(),
        tool: "read".to_owned(),
        outcome: Outcome::Ok,
        detail: None,
        content: vec![parts::text(text)],
        shown: Vec::new(),
        millis: 1,
    }
}

fn joined(place: PromptPlace, text: &str) -> Record {
    Record::Joined {
        place,
        origin: Origin::Harness,
        text: text.to_owned(),
    }
}

/// A conversation in one line a message: role, then texts, `id(…)` for calls and `id=…` for results.
fn lines(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let parts = message.parts.iter().map(|part| match &part.content {
            Content::Text(text) => text.clone(),
            Content::Reasoning(text) => format!("<{text}>"),
            Content::ToolCall { id, .. } => format!("{id}(…)"),
            Content::ToolResult { call, content, .. } => match content.first() {
                Some(Content::Text(text)) if text == INTERRUPTED => format!("{call}=?"),
                Some(Content::Text(text)) => format!("{call}={text}"),
                _ => call.clone(),
            },
            Content::Image { .. } => "picture".to_owned(),
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

fn check(records: Vec<Record>, expect: &[&str]) {
    let transcript = Transcript::of(&stored(records));
    let messages = transcript.messages();
    assert_eq!(lines(&messages), expect);
    assert_eq!(problems(&messages), Vec::<String>::new());
}

#[test]
fn results_stand_behind_their_calls_in_call_order() {
    check(
        vec![
            joined(PromptPlace::System, "be good"),
            joined(PromptPlace::BeforePrompt, "it is monday"),
            prompted("do it"),
            asked(),
            answered("a/b", vec![parts::text("yes"), call("1"), call("2")]),
            ended("2", "two"),
            prompted("and hurry"),
            ended("1", "one"),
            asked(),
            answered("a/b", vec![parts::text("done")]),
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
fn what_broke_off_is_answered() {
    check(
        vec![
            prompted("do it"),
            asked(),
            answered("a/b", vec![call("1"), call("2")]),
            ended("2", "two"),
        ],
        &["u: do it", "a: 1(…) | 2(…)", "u: 1=? | 2=two"],
    );
    // A result that comes after the model was asked again is too late, and one that nobody asked for is nothing.
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
fn what_says_nothing_is_no_message() {
    let thought = StoredPart {
        content: StoredContent::Reasoning {
            text: "hm".to_owned(),
        },
        opaque: None,
    };
    check(
        vec![
            prompted("one"),
            answered("a/b", vec![thought, parts::text("  ")]),
            prompted(" "),
            prompted("two"),
            answered("a/b", vec![]),
        ],
        &["u: one | two"],
    );
    check(
        vec![answered("a/b", vec![parts::text("first")])],
        &[
            "u: [The beginning of this conversation is not shown.]",
            "a: first",
        ],
    );
}

fn compacted(through: u64, reduced: &[(&str, &str)], dropped: &[&str], summary: &str) -> Record {
    let own = |text: &str| text.to_owned();
    Record::Compacted {
        through,
        reduced: reduced
            .iter()
            .map(|(call, text)| (own(call), own(text)))
            .collect(),
        dropped: dropped.iter().map(|call| own(call)).collect(),
        summary: own(summary),
        bytes: (0, 0),
    }
}

#[test]
fn older_parts_give_way_in_pairs() {
    let begin = || {
        vec![
            prompted("do it"),
            asked(),
            answered("a/b", vec![parts::text("look"), call("1"), call("2")]),
            ended("1", "long long"),
            ended("2", "two"),
            asked(),
            answered("a/b", vec![call("3")]),
            ended("3", "three"),
        ]
    };
    let with = |record: Record| {
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
    // The first answer's second result lies behind the cut, so the answer stays as a whole.
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

/// Any record, in any order; ids are few, so that they meet.
fn random(rng: &mut StdRng, seq: u64) -> Record {
    let id = |rng: &mut StdRng| format!("c{}", rng.random_range(0..12));
    let model = |rng: &mut StdRng| ["a/b", "c/d"][rng.random_range(0..2)].to_owned();
    let text =
        |rng: &mut StdRng| ["", " ", "word", "längere Wörter\n"][rng.random_range(0..4)].to_owned();
    match rng.random_range(0..12) {
        0 | 1 => prompted(&text(rng)),
        2 => joined(
            [
                PromptPlace::System,
                PromptPlace::BeforePrompt,
                PromptPlace::AfterResults,
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
        _ => Record::TurnEnded {
            turn: 1,
            end: TurnEnd::Done,
        },
    }
}

fn request(messages: Vec<Message>, system: Vec<model::SystemBlock>) -> Request {
    let model = ModelId {
        provider: "a".to_owned(),
        model: "b".to_owned(),
    };
    Request {
        system,
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            input: ToolInput::Json(json!({ "type": "object" })),
        }],
        ..Request::new(model, messages, TokenCount(100))
    }
}

/// Encodes for a wire and looks at what every provider would look at.
fn check_wire(wire: Wire, request: &Request, seed: u64) {
    let encoded = encode(wire, &Dialect::default(), &WireOptions::default(), request);
    let body: Value = serde_json::from_slice(&encoded.expect("it is encoded").body).expect("JSON");
    let at = format!("{wire:?}, seed {seed}: {body}");
    match wire {
        Wire::Anthropic => {
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
        Wire::Chat => {
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
        Wire::Responses => {
            let items = body["input"].as_array().expect("input");
            let ids = |kind: &str| -> Vec<Value> {
                let all = items.iter().filter(|item| item["type"] == kind);
                all.map(|item| item["call_id"].clone()).collect()
            };
            assert_eq!(ids("function_call"), ids("function_call_output"), "{at}");
        }
        Wire::Gemini => {
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
fn random_records_cut_anywhere_are_valid_for_every_wire() {
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
            for wire in [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini] {
                check_wire(wire, &request, seed);
            }
        }
    }
}

#[test]
fn what_was_sent_stays_but_for_compaction() {
    for seed in 0..300 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut transcript = Transcript::default();
        let mut sent = super::Fingerprint::default();
        for seq in 0..80 {
            let record = random(&mut rng, seq);
            let (is_asked, is_compacted) = (
                matches!(record, Record::Asked { .. }),
                matches!(record, Record::Compacted { .. }),
            );
            transcript.apply(&Stored {
                seq,
                at_ms: 0,
                record,
            });
            let now = transcript.fingerprint(&[]);
            if is_compacted {
                sent = super::Fingerprint::default();
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
        joined(PromptPlace::System, "be good"),
        prompted("do it"),
        asked(),
        answered("a/b", vec![parts::text("yes"), call("1")]),
        ended("1", "one"),
    ]));
    let spec = request(Vec::new(), Vec::new()).tools.remove(0);
    let listing = transcript.listing(&[("read".to_owned(), spec)]);
    let origins: Vec<&Origin> = listing.iter().map(|(origin, _)| origin).collect();
    assert!(matches!(
        origins[..],
        [
            Origin::ToolSpec { .. },
            Origin::Harness,
            Origin::Person,
            Origin::Model { .. },
            Origin::Model { .. },
            Origin::Tool { .. }
        ]
    ));
    let pieces = transcript.pieces().len();
    let parts: usize = transcript
        .messages()
        .iter()
        .map(|message| message.parts.len())
        .sum();
    assert_eq!(pieces, parts + transcript.system().len());
}
