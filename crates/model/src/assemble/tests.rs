//! Tests part order, signature placement and tolerance of irregular streams.

use super::*;
use crate::FailureClass;
use crate::random::TestRng;

fn model(name: &str) -> ModelId {
    ModelId::parse(name).expect("provider/model")
}

fn opaque(data: &str) -> Opaque {
    Opaque {
        model: model("p/m"),
        data: data.to_owned(),
    }
}

fn text(text: &str) -> StreamEvent {
    StreamEvent::TextDelta(text.to_owned())
}

fn thought(text: &str) -> StreamEvent {
    StreamEvent::ReasoningDelta(text.to_owned())
}

fn signature(index: Option<u32>, data: &str) -> StreamEvent {
    StreamEvent::Signature {
        index,
        opaque: opaque(data),
    }
}

fn start(index: u32, id: &str) -> StreamEvent {
    StreamEvent::ToolStart {
        index,
        id: id.to_owned(),
        name: "edit".to_owned(),
    }
}

fn fragment(index: u32, fragment: &str) -> StreamEvent {
    StreamEvent::ToolArgsDelta {
        index,
        fragment: fragment.to_owned(),
    }
}

fn end(index: u32) -> StreamEvent {
    StreamEvent::ToolEnd { index }
}

fn stop(reason: StopReason) -> StreamEvent {
    StreamEvent::Stop {
        reason,
        raw: String::new(),
    }
}

fn answer(events: &[StreamEvent]) -> ModelResponse {
    let mut assembler = Assembler::new(&[]);
    for event in events {
        assembler.push(event);
    }
    assembler.finish()
}

/// Formats a message in short: `t`ext, `r`easoning, `c`all, with the signature after `#`.
fn short(message: &Message) -> String {
    let parts = message.parts.iter().map(|part| {
        let content = match &part.content {
            PartContent::Text(text) => format!("t:{text}"),
            PartContent::Reasoning(text) => format!("r:{text}"),
            PartContent::ToolCall { id, arguments, .. } => format!("c:{id}={arguments}"),
            other => panic!("{other:?}"),
        };
        match &part.opaque {
            Some(opaque) => format!("{content}#{}", opaque.data),
            None => content,
        }
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn check(events: &[StreamEvent], expected: &str) {
    assert_eq!(short(&answer(events).message), expected, "{events:?}");
}

#[test]
fn parts_in_the_order_in_which_they_began() {
    check(
        &[text("a"), text("b"), thought("c"), text("d")],
        "t:ab r:c t:d",
    );
    check(&[text(""), text("a"), text("")], "t:a");
    check(
        &[
            start(0, "x"),
            start(1, "y"),
            fragment(1, "{}"),
            fragment(0, "{"),
            fragment(0, "}"),
            end(1),
            end(0),
        ],
        "c:x={} c:y={}",
    );
    check(
        &[text("a"), start(0, "x"), end(0), text("b")],
        "t:a c:x= t:b",
    );
}

#[test]
fn a_signature_ends_the_part_it_belongs_to() {
    check(
        &[thought("a"), signature(None, "s"), thought("b")],
        "r:a#s r:b",
    );
    check(
        &[thought("a"), text("b"), signature(None, "s")],
        "r:a t:b#s",
    );
    check(&[signature(None, "s"), text("a")], "r:#s t:a");
    check(
        &[thought("a"), signature(None, "s"), signature(None, "t")],
        "r:a#s r:#t",
    );
    check(
        &[
            start(0, "x"),
            start(1, "y"),
            signature(Some(0), "s"),
            fragment(0, "1"),
            signature(None, "t"),
        ],
        "c:x=1#s c:y= r:#t",
    );
}

#[test]
fn reused_call_id_is_replaced() {
    let earlier = Message::new(
        Role::Assistant,
        [MessagePart::new(PartContent::ToolCall {
            id: "x".to_owned(),
            name: "edit".to_owned(),
            arguments: String::new(),
        })],
    );
    let mut assembler = Assembler::new(&[earlier]);
    assert_eq!(assembler.push(&start(0, "x")), Some("x-2"));
    assert_eq!(assembler.push(&start(1, "x")), Some("x-3"));
    assert_eq!(assembler.push(&start(2, "")), Some("call-1"));
    assert_eq!(assembler.push(&start(3, "")), Some("call-2"));
    assert_eq!(assembler.push(&fragment(1, "{}")), Some("x-3"));
    assert_eq!(assembler.push(&end(1)), Some("x-3"));
    let answer = assembler.finish();
    assert_eq!(answer.problems.len(), 2);
    assert_eq!(answer.incomplete, ["x-2", "call-1", "call-2"]);
    assert_eq!(answer.calls().collect::<Vec<_>>(), [("x-3", "edit", "{}")]);
}

#[test]
fn unfinished_call_is_removed_from_the_history() {
    let torn = Failure::new(FailureClass::Torn, "the stream ended early");
    let events = [
        text("a"),
        start(0, "x"),
        fragment(0, "{}"),
        end(0),
        start(1, "y"),
        fragment(1, "{\"a"),
        StreamEvent::Failed(torn.clone()),
    ];
    let answer = answer(&events);
    assert_eq!((answer.failure.as_ref(), answer.stop), (Some(&torn), None));
    assert_eq!(answer.incomplete, ["y"]);
    assert_eq!(short(&answer.into_history()), "t:a c:x={}");
}

#[test]
fn unexpected_event_orders_are_tolerated_and_recorded() {
    let odd = |events: &[StreamEvent], expected: &str| {
        let answer = answer(events);
        assert_eq!(short(&answer.message), expected);
        assert!(!answer.problems.is_empty(), "{events:?}");
    };
    odd(&[fragment(5, "{}")], "c:call-1={}");
    odd(&[end(5)], "");
    odd(&[start(0, "x"), end(0), fragment(0, "late")], "c:x=");
    odd(
        &[
            start(0, "x"),
            fragment(0, "1"),
            start(0, "y"),
            fragment(0, "2"),
            end(0),
        ],
        "c:x=1 c:y=2",
    );
}

#[test]
fn events_after_the_end_are_ignored() {
    let answer = answer(&[
        text("a"),
        stop(StopReason::EndTurn),
        text("b"),
        stop(StopReason::Refusal),
    ]);
    assert_eq!(
        (answer.text().as_str(), answer.stop),
        ("a", Some(StopReason::EndTurn))
    );
}

#[test]
fn restart_discards_the_answer_so_far() {
    let begin = StreamEvent::Start {
        id: "2".to_owned(),
        model: "m".to_owned(),
    };
    let events = [
        text("half"),
        start(0, "x"),
        fragment(0, "{"),
        StreamEvent::Restart,
        begin,
        start(0, "x"),
        end(0),
    ];
    let answer = answer(&events);
    assert_eq!(short(&answer.message), "c:x=");
    assert_eq!((answer.incomplete.len(), answer.problems.len()), (0, 0));
    assert_eq!(answer.id.as_deref(), Some("2"));
}

#[test]
fn opaque_parts_of_other_models_are_removed() {
    let mine = answer(&[
        thought("a"),
        signature(None, "s"),
        text("b"),
        signature(None, "t"),
        start(0, "x"),
        signature(Some(0), "u"),
        end(0),
    ]);
    let hidden = answer(&[signature(None, "v")]);
    let mut messages = vec![
        Message::text(Role::User, "hi"),
        mine.message.clone(),
        hidden.message,
    ];
    let mut same = messages.clone();
    assert_eq!(
        strip_foreign_parts(&mut same, &model("p/m")),
        RemovedParts::default()
    );
    assert_eq!(same, messages);

    let removed = strip_foreign_parts(&mut messages, &model("q/n"));
    assert_eq!(
        (removed.parts, &removed.models[..]),
        (4, &[model("p/m")][..])
    );
    assert_eq!(messages.len(), 2);
    assert_eq!(short(&messages[1]), "t:b c:x=");
}

/// Random events never panic, call ids stay unique, and complete calls stay complete.
#[test]
fn call_ids_are_unique_for_random_events() {
    for seed in 0..2000 {
        let mut random = TestRng::new(seed);
        let mut assembler = Assembler::new(&[]);
        for _ in 0..random.next_below(60) {
            let index = random.next_below(4) as u32;
            let event = match random.next_below(9) {
                0 => text("a"),
                1 => thought("b"),
                2 => signature(None, "s"),
                3 => signature(Some(index), "s"),
                4 | 5 => start(index, ["x", "y", ""][random.next_below(3) as usize]),
                6 => fragment(index, "{}"),
                7 => end(index),
                _ => {
                    if random.one_in(20) {
                        StreamEvent::Restart
                    } else {
                        StreamEvent::Usage(Usage::default())
                    }
                }
            };
            assembler.push(&event);
        }
        let answer = assembler.finish();
        let mut ids = HashSet::new();
        for part in &answer.message.parts {
            if let PartContent::ToolCall { id, .. } = &part.content {
                assert!(
                    !id.is_empty() && ids.insert(id.clone()),
                    "seed {seed}: {id}"
                );
            }
        }
        assert!(
            answer.incomplete.iter().all(|id| ids.contains(id)),
            "seed {seed}"
        );
        assert_eq!(
            answer.calls().count() + answer.incomplete.len(),
            ids.len(),
            "seed {seed}"
        );
    }
}
