//! Tests for all wires: any bytes in any chunks end properly and yield the same events, and equal
//! requests yield equal bytes. Contains helpers shared by the tests of each wire.

use std::fmt::Write as _;
use std::sync::Arc;

use model::{
    CacheMark, Effort, FailureClass, Fim, Message, MessagePart, ModelId, ModelRequest, Opaque,
    PartContent, Role, Sampling, StreamEvent, SystemBlock, TokenCount, ToolChoice, ToolInput,
    ToolSpec, Usage,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::*;

pub(crate) fn target() -> RequestTarget {
    RequestTarget {
        provider: "Maker".to_owned(),
        host: "api.maker.example".to_owned(),
        model: "m-1".to_owned(),
    }
}

pub(crate) fn model_id() -> ModelId {
    ModelId::parse("maker/m-1").expect("an id")
}

/// Builds a request that uses every feature of the wires.
pub(crate) fn request() -> ModelRequest {
    let block = |text: &str, cache| SystemBlock {
        text: text.to_owned(),
        cache,
    };
    ModelRequest {
        model: model_id(),
        system: vec![
            block("You edit code.", CacheMark::Long),
            block("The repository is small.", CacheMark::Short),
        ],
        messages: vec![Message::text(Role::User, "Fix the bug.")],
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
                input: ToolInput::Text {
                    grammar: Some("start: LINE+".to_owned()),
                },
            },
        ],
        tool_choice: ToolChoice::Auto,
        parallel_tools: true,
        max_output: TokenCount(1000),
        effort: Some(Effort::High),
        sampling: Sampling {
            temperature: Some(0.2),
            top_p: None,
        },
        response_schema: None,
        stop: vec!["END".to_owned()],
        prediction: None,
        conversation: Some("conv-7".to_owned()),
        omit: Vec::new(),
    }
}

/// Builds a conversation with reasoning, parallel calls, an image, a failure and a message of the
/// harness.
pub(crate) fn conversation(thought: &str, call: Option<&str>) -> Vec<Message> {
    let opaque = |data: &str| Opaque {
        model: model_id(),
        data: data.to_owned(),
    };
    let tool_call = |id: &str, name: &str, arguments: &str| PartContent::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let result = |call: &str, content, is_error| {
        MessagePart::new(PartContent::ToolResult {
            call: call.to_owned(),
            content,
            is_error,
        })
    };
    let picture = PartContent::Image {
        media_type: "image/png".to_owned(),
        bytes: Arc::from(&b"png"[..]),
    };
    vec![
        Message::text(Role::User, "Fix the bug."),
        Message::new(
            Role::Assistant,
            [
                MessagePart {
                    content: PartContent::Reasoning("It must be here.".to_owned()),
                    opaque: Some(opaque(thought)),
                },
                MessagePart::text("I look."),
                MessagePart {
                    content: tool_call("call.a", "read", r#"{"path":"a.rs"}"#),
                    opaque: call.map(opaque),
                },
                MessagePart::new(tool_call("call_b", "patch", "*** Begin\n\"x\"")),
            ],
        ),
        Message::new(
            Role::User,
            [
                MessagePart::text("Also this:"),
                result(
                    "call.a",
                    vec![PartContent::Text("fn a() {}".to_owned()), picture],
                    false,
                ),
                result(
                    "call_b",
                    vec![PartContent::Text("no such file".to_owned())],
                    true,
                ),
            ],
        ),
        Message::text(Role::System, "The person is typing."),
    ]
}

pub(crate) fn options(members: Value) -> WireOptions {
    serde_json::from_value(members).expect("options")
}

/// Parses a request's body.
pub(crate) fn body(encoded: &EncodedRequest) -> Value {
    serde_json::from_slice(&encoded.body).expect("JSON")
}

pub(crate) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON")
}

/// Formats lines of JSON as server-sent events.
pub(crate) fn sse(lines: &str) -> String {
    let mut text = String::new();
    for line in lines.trim().lines() {
        writeln!(text, "data: {}\n", line.trim()).expect("a string");
    }
    text
}

pub(crate) fn decode(mut decoder: Decoder, body: &str) -> Vec<StreamEvent> {
    let mut events = decoder.feed(body.as_bytes());
    events.extend(decoder.finish());
    events
}

/// Formats events, one per line.
pub(crate) fn show(events: &[StreamEvent]) -> String {
    let mut shown = String::new();
    for event in events {
        let line = match event {
            StreamEvent::Start { id, model } => format!("start {id} {model}"),
            StreamEvent::Restart => "restart".to_owned(),
            StreamEvent::TextDelta(text) => format!("text {text:?}"),
            StreamEvent::ReasoningDelta(text) => format!("thought {text:?}"),
            StreamEvent::Signature {
                index: None,
                opaque,
            } => format!("signed {}", opaque.data),
            StreamEvent::Signature {
                index: Some(index),
                opaque,
            } => format!("signed call {index} {}", opaque.data),
            StreamEvent::ToolStart { index, id, name } => format!("call {index} {id} {name}"),
            StreamEvent::ToolArgsDelta { index, fragment } => format!("args {index} {fragment:?}"),
            StreamEvent::ToolEnd { index } => format!("end {index}"),
            StreamEvent::Usage(usage) => format!("usage {}", counts(usage)),
            StreamEvent::RateLimits(limits) => format!("limits {limits:?}"),
            StreamEvent::Stop { reason, raw } => format!("stop {reason:?} {raw}"),
            StreamEvent::Failed(failure) => format!("failed {:?}: {failure}", failure.class),
        };
        writeln!(shown, "{line}").expect("a string");
    }
    shown
}

fn counts(usage: &Usage) -> String {
    format!(
        "input {} read {} written {}+{} output {} reasoning {}",
        usage.input.0,
        usage.cache_read.0,
        usage.cache_write_5m.0,
        usage.cache_write_1h.0,
        usage.output.0,
        usage.reasoning.0
    )
}

type MakeDecoder = fn() -> Decoder;

/// Returns all decoders.
fn decoders() -> Vec<(&'static str, MakeDecoder)> {
    fn chat() -> Decoder {
        let dialect = ChatDialect {
            reasoning_details: true,
            ..ChatDialect::default()
        };
        decoder(WireProtocol::Chat, &dialect, &request(), target())
    }
    fn of(wire: WireProtocol) -> Decoder {
        decoder(wire, &ChatDialect::default(), &request(), target())
    }
    fn gap(wire: FimWire) -> Decoder {
        let fim = FimOptions {
            wire,
            path: EndpointPath::Root("x".to_owned()),
            template: None,
            max_output: 0,
            stop_limit: 4,
            edit: None,
        };
        fim_decoder(&fim, &gap_request(), target())
    }
    vec![
        ("anthropic", || of(WireProtocol::Anthropic)),
        ("responses", || of(WireProtocol::Responses)),
        ("chat", chat),
        ("gemini", || of(WireProtocol::Gemini)),
        ("completions", || gap(FimWire::Completions)),
        ("ollama", || gap(FimWire::Ollama)),
    ]
}

pub(crate) fn gap_request() -> Fim {
    Fim {
        files: vec![model::FimFile {
            path: "b.rs".to_owned(),
            text: "fn b() {}".to_owned(),
        }],
        stop: vec!["\n\n".to_owned()],
        ..Fim::gap(model_id(), "fn a() {", "}", TokenCount(64))
    }
}

/// Returns bodies that a wire may send, as a basis for random damage.
fn bodies() -> Vec<String> {
    let thought = "Grüße, 🦀!";
    vec![
        sse(&format!(
            r#"{{"type":"message_start","message":{{"id":"m","model":"c","usage":{{"input_tokens":3}}}}}}
            {{"type":"content_block_start","index":0,"content_block":{{"type":"thinking","thinking":""}}}}
            {{"type":"content_block_delta","index":0,"delta":{{"type":"thinking_delta","thinking":"{thought}"}}}}
            {{"type":"content_block_delta","index":0,"delta":{{"type":"signature_delta","signature":"s"}}}}
            {{"type":"content_block_stop","index":0}}
            {{"type":"content_block_start","index":1,"content_block":{{"type":"tool_use","id":"t","name":"patch","input":{{}}}}}}
            {{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":"{{\"inp"}}}}
            {{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":"ut\": \"a\\u00e9\\n\"}}"}}}}
            {{"type":"content_block_stop","index":1}}
            {{"type":"message_delta","delta":{{"stop_reason":"tool_use"}},"usage":{{"output_tokens":9}}}}
            {{"type":"message_stop"}}"#
        )),
        sse(&format!(
            r#"{{"type":"response.created","response":{{"id":"r","model":"g"}}}}
            {{"type":"response.output_item.added","output_index":0,"item":{{"type":"message"}}}}
            {{"type":"response.output_text.delta","output_index":0,"delta":"{thought}"}}
            {{"type":"response.output_item.done","output_index":0,"item":{{"type":"message","content":[{{"type":"output_text","text":"{thought}"}}]}}}}
            {{"type":"response.output_item.added","output_index":1,"item":{{"type":"function_call","call_id":"c","name":"read"}}}}
            {{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{{\"path\":"}}
            {{"type":"response.output_item.done","output_index":1,"item":{{"type":"function_call","call_id":"c","name":"read","arguments":"{{\"path\":\"x\"}}"}}}}
            {{"type":"response.completed","response":{{"status":"completed","usage":{{"input_tokens":5,"output_tokens":2}}}}}}"#
        )),
        sse(&format!(
            r#"{{"id":"c","model":"m","choices":[{{"index":0,"delta":{{"reasoning":"{thought}","reasoning_details":[{{"type":"reasoning.text","index":0,"text":"{thought}"}}]}}}}]}}
            {{"choices":[{{"index":0,"delta":{{"content":"Hi"}}}}]}}
            {{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"x","function":{{"name":"read","arguments":"{{\"pa"}}}}]}}}}]}}
            {{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"th\":\"a\"}}"}}}}]}}}}]}}
            {{"choices":[{{"index":0,"delta":{{}},"finish_reason":"tool_calls"}}]}}
            {{"choices":[],"usage":{{"prompt_tokens":4,"completion_tokens":2}}}}
            [DONE]"#
        )),
        sse(&format!(
            r#"{{"responseId":"r","modelVersion":"g","candidates":[{{"content":{{"parts":[{{"text":"{thought}","thought":true}}]}}}}]}}
            {{"candidates":[{{"content":{{"parts":[{{"text":"ab"}},{{"text":"","thoughtSignature":"s"}}]}}}}]}}
            {{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"read","args":{{"path":"a"}}}},"thoughtSignature":"t"}}]}},"finishReason":"STOP"}}],"usageMetadata":{{"promptTokenCount":3}}}}"#
        )),
        sse(r#"{"id":"c","choices":[{"text":"x + 1","finish_reason":null}]}
            {"choices":[{"text":"","finish_reason":"stop"}]}
            [DONE]"#),
        "{\"model\":\"q\",\"response\":\"x\",\"done\":false}\n{\"response\":\"é\",\"done\":true,\"done_reason\":\"stop\",\"eval_count\":2}\n".to_owned(),
    ]
}

fn in_pieces(mut decoder: Decoder, bytes: &[u8], random: &mut StdRng) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(random.random_range(1..=rest.len().min(40)));
        events.extend(decoder.feed(piece));
        rest = after;
    }
    events.extend(decoder.finish());
    assert_eq!(
        decoder.feed(b"data: {}\n\n"),
        [],
        "nothing follows the last event"
    );
    assert_eq!(decoder.finish(), []);
    events
}

fn assert_ends_properly(events: &[StreamEvent], context: &str) {
    let last = events.iter().filter(|event| event.is_last()).count();
    assert_eq!(last, 1, "{context}: {}", show(events));
    assert!(events.last().is_some_and(StreamEvent::is_last), "{context}");
    let mut open = Vec::new();
    for event in events {
        match event {
            StreamEvent::ToolStart { index, .. } => {
                assert_eq!(*index as usize, open.len(), "{context}: calls are counted");
                open.push(true);
            }
            StreamEvent::ToolArgsDelta { index, .. } => assert!(open[*index as usize], "{context}"),
            StreamEvent::ToolEnd { index } => {
                assert!(
                    std::mem::take(&mut open[*index as usize]),
                    "{context}: ended once"
                );
            }
            _ => {}
        }
    }
}

#[test]
fn random_bytes_end_once_independent_of_chunks() {
    let bodies = bodies();
    for seed in 0..1500_u64 {
        let mut random = StdRng::seed_from_u64(seed);
        let body = &bodies[random.random_range(0..bodies.len())];
        let mut bytes = body.clone().into_bytes();
        for _ in 0..random.random_range(0..4) {
            damage(&mut bytes, &mut random);
        }
        for (name, decoder) in decoders() {
            let context = format!("seed {seed}, {name}");
            let mut whole = decoder();
            let mut events = whole.feed(&bytes);
            events.extend(whole.finish());
            assert_ends_properly(&events, &context);
            let pieces = in_pieces(decoder(), &bytes, &mut random);
            assert_eq!(show(&pieces), show(&events), "{context}");
        }
    }
}

fn damage(bytes: &mut Vec<u8>, random: &mut StdRng) {
    if bytes.is_empty() {
        return;
    }
    let at = random.random_range(0..bytes.len());
    match random.random_range(0..5) {
        0 => bytes.truncate(at),
        1 => bytes[at] = random.random(),
        2 => {
            let end = random.random_range(at..bytes.len());
            bytes.drain(at..end);
        }
        3 => {
            let end = random.random_range(at..bytes.len());
            let twice = bytes[at..end].to_vec();
            bytes.splice(at..at, twice);
        }
        _ => bytes.insert(at, b"\n\r{}[]\":,\\0e\xff"[random.random_range(0..13)]),
    }
}

#[test]
fn valid_bodies_are_decoded_by_their_wire() {
    for (body, (name, decoder)) in bodies().iter().zip(decoders()) {
        let events = decode(decoder(), body);
        let last = events.last().expect("events");
        assert!(
            matches!(last, StreamEvent::Stop { .. }),
            "{name}: {}",
            show(&events)
        );
    }
}

#[test]
fn equal_requests_give_equal_bytes() {
    let mut asked = request();
    asked.messages = conversation(r#"{"signature":"s"}"#, None);
    for wire in [
        WireProtocol::Anthropic,
        WireProtocol::Responses,
        WireProtocol::Chat,
        WireProtocol::Gemini,
    ] {
        let encode = || {
            encode(
                wire,
                &ChatDialect::default(),
                &WireOptions::default(),
                &asked,
            )
        };
        assert_eq!(encode(), encode(), "{wire:?}");
    }
}

#[test]
fn growing_conversation_keeps_its_prefix() {
    let options = options(json!({ "images": true, "cache_marks": false }));
    let long = conversation(r#"{"signature":"s"}"#, None);
    for wire in [
        WireProtocol::Anthropic,
        WireProtocol::Responses,
        WireProtocol::Chat,
        WireProtocol::Gemini,
    ] {
        let member = match wire {
            WireProtocol::Anthropic | WireProtocol::Chat => "messages",
            WireProtocol::Responses => "input",
            WireProtocol::Gemini => "contents",
        };
        let items = |messages: &[Message]| {
            let asked = ModelRequest {
                messages: messages.to_vec(),
                ..request()
            };
            let encoded = encode(wire, &ChatDialect::default(), &options, &asked).expect("encodes");
            body(&encoded)[member].as_array().expect("a list").clone()
        };
        let (before, after) = (items(&long[..2]), items(&long));
        assert_eq!(before, after[..before.len()], "{wire:?}");
    }
}

#[test]
fn unsupported_schema_is_refused_before_sending() {
    let asked = ModelRequest {
        response_schema: Some(json!({ "type": "object" })),
        ..request()
    };
    for wire in [
        WireProtocol::Anthropic,
        WireProtocol::Responses,
        WireProtocol::Chat,
        WireProtocol::Gemini,
    ] {
        let refused = encode(
            wire,
            &ChatDialect::default(),
            &WireOptions::default(),
            &asked,
        );
        let failure = refused.expect_err("refused");
        assert_eq!(failure.class, FailureClass::InvalidRequest, "{wire:?}");
        let held = encode(
            wire,
            &ChatDialect::default(),
            &options(json!({ "schema": "native" })),
            &asked,
        );
        assert!(held.is_ok(), "{wire:?}");
    }
}
