//! A transcript while it streams and after it is read again.

use std::sync::Arc;

use agent::record::{Mode, StoredUsage};

use super::*;

fn recorded(record: Record) -> Event {
    Event::Recorded(Arc::new(Stored {
        seq: 0,
        at_ms: 0,
        record,
    }))
}

fn text(text: &str) -> StoredPart {
    StoredPart {
        content: StoredContent::Text {
            text: text.to_owned(),
        },
        opaque: None,
    }
}

fn call(id: &str, name: &str) -> StoredPart {
    StoredPart {
        content: StoredContent::Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: "{}".to_owned(),
        },
        opaque: None,
    }
}

fn asked() -> Event {
    recorded(Record::Asked {
        turn: 1,
        step: 1,
        model: "demo".to_owned(),
        prompt: String::new(),
        bytes: 0,
        same_bytes: 0,
    })
}

fn answered(parts: Vec<StoredPart>) -> Event {
    recorded(Record::Answered {
        turn: 1,
        step: 1,
        model: "demo/demo".to_owned(),
        parts,
        usage: StoredUsage::default(),
        cost_nano: Some(5),
        stop: "tool_use".to_owned(),
    })
}

fn began(id: &str) -> Event {
    recorded(Record::CallBegan {
        turn: 1,
        call: id.to_owned(),
        tool: "read".to_owned(),
        name: "Read".to_owned(),
        class: ToolClass::Read,
        title: "read a.rs".to_owned(),
        input: serde_json::json!({}),
    })
}

fn ended(id: &str, outcome: Outcome) -> Event {
    recorded(Record::CallEnded {
        turn: 1,
        call: id.to_owned(),
        tool: "read".to_owned(),
        outcome,
        detail: None,
        content: vec![text("the file")],
        shown: Vec::new(),
        millis: 12,
    })
}

/// What the items say, one line each.
fn lines(transcript: &Transcript) -> Vec<String> {
    let line = |item: &Item| match item {
        Item::Person { text, .. } => format!("you: {text}"),
        Item::Context(entries) => format!("context: {}", entries.len()),
        Item::Text { text, is_live } => format!("text{}: {text}", if *is_live { "…" } else { "" }),
        Item::Thought { text, .. } => format!("thought: {text}"),
        Item::Call(call) => format!("{} {:?}", call.title, call.state),
        Item::Note { text, .. } => format!("note: {text}"),
        Item::End(end) => format!("end: {end:?}"),
    };
    transcript.items().iter().map(line).collect()
}

/// Follows what changed as a list on the screen does, and compares.
fn follow(transcript: &mut Transcript, seen: &mut Vec<Item>, event: &Event) {
    for touched in transcript.apply(event) {
        match touched {
            Touched::Replaced(old, new) => {
                let fresh = transcript.items()[old.start..old.start + new].to_vec();
                seen.splice(old, fresh);
            }
            Touched::Changed(at) => seen[at] = transcript.items()[at].clone(),
        }
    }
    assert_eq!(seen.as_slice(), transcript.items());
}

fn check(events: &[Event], expected: &[&str]) {
    let mut transcript = Transcript::default();
    let mut seen = Vec::new();
    for event in events {
        follow(&mut transcript, &mut seen, event);
    }
    assert_eq!(lines(&transcript), expected);
}

#[test]
fn pieces_become_the_answer_that_is_kept() {
    let piece = |text: &str| Event::Text(text.to_owned());
    let delta = |fragment: &str| Event::CallDelta {
        call: "c1".to_owned(),
        name: "Read".to_owned(),
        fragment: fragment.to_owned(),
    };
    let streamed = [asked(), piece("I "), piece("look."), delta("{"), delta("}")];
    check(&streamed, &["text…: I look.", "Read Writing(2)"]);
    let kept = [
        &streamed[..],
        &[answered(vec![text("I look."), call("c1", "Read")])],
    ]
    .concat();
    check(&kept, &["text: I look.", "Read Waiting"]);
    // Records alone give the same.
    check(
        &[asked(), answered(vec![text("I look."), call("c1", "Read")])],
        &["text: I look.", "Read Waiting"],
    );
}

#[test]
fn a_call_goes_from_waiting_to_its_end() {
    let start = [
        asked(),
        answered(vec![call("c1", "Read"), call("c2", "Read")]),
    ];
    let with = |events: &[Event]| [&start[..], events].concat();
    check(
        &with(&[began("c2")]),
        &["Read Waiting", "read a.rs Running"],
    );
    let ends = with(&[began("c1"), ended("c1", Outcome::Ok)]);
    check(
        &ends,
        &[
            "read a.rs Ended { outcome: Ok, detail: None }",
            "Read Waiting",
        ],
    );
    let asks = with(&[recorded(Record::LeaveAsked {
        call: "c1".to_owned(),
        title: "cargo test".to_owned(),
        details: "cargo test".to_owned(),
        reason: "it runs a program".to_owned(),
        rules: vec!["Bash(cargo test:*)".to_owned()],
    })]);
    check(
        &asks,
        &["cargo test Asking(\"it runs a program\")", "Read Waiting"],
    );
    let mut transcript = Transcript::default();
    for event in &asks {
        transcript.apply(event);
    }
    assert_eq!(
        transcript.asking().map(|it| it.call.id.as_str()),
        Some("c1")
    );
}

#[test]
fn a_question_of_a_stopped_agent_goes_away_with_the_turn() {
    let asks = Event::Child {
        session: "child".into(),
        event: Box::new(recorded(Record::LeaveAsked {
            call: "c1".to_owned(),
            title: "cargo test".to_owned(),
            details: "cargo test".to_owned(),
            reason: "it runs a program".to_owned(),
            rules: Vec::new(),
        })),
    };
    let called = Event::Child {
        session: "child".into(),
        event: Box::new(answered(vec![call("c1", "Bash")])),
    };
    let mut transcript = Transcript::default();
    for event in [asked(), called, asks] {
        transcript.apply(&event);
    }
    assert!(
        transcript
            .asking()
            .is_some_and(|it| it.child == Some("child"))
    );
    transcript.apply(&Event::Idle(TurnEnd::Stopped));
    assert!(transcript.asking().is_none());
}

#[test]
fn an_answer_that_begins_again_leaves_nothing_of_its_pieces() {
    let events = [
        asked(),
        Event::Thought("hm".to_owned()),
        Event::Text("half".to_owned()),
        Event::Restarted,
        Event::Text("whole".to_owned()),
    ];
    check(&events, &["text…: whole"]);
    let stopped = [
        &events[..],
        &[recorded(Record::TurnEnded {
            turn: 1,
            end: TurnEnd::Stopped,
        })],
    ]
    .concat();
    check(&stopped, &["end: Stopped"]);
}

#[test]
fn what_joins_together_is_one_item() {
    let joined = |path: &str| {
        recorded(Record::Joined {
            place: agent::record::PromptPlace::System,
            origin: Origin::Rules {
                path: path.to_owned(),
            },
            text: "rules".to_owned(),
        })
    };
    let began = recorded(Record::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: Mode::Build,
        model: "demo".to_owned(),
    });
    let said = recorded(Record::Prompted {
        turn: 1,
        parts: vec![text("fix it")],
        is_steering: false,
    });
    check(
        &[began, joined("AGENTS.md"), joined("CLAUDE.md"), said],
        &["context: 2", "you: fix it"],
    );
}

#[test]
fn output_of_a_running_call_is_kept_to_its_end() {
    let mut transcript = Transcript::default();
    for event in [asked(), answered(vec![call("c1", "Bash")]), began("c1")] {
        transcript.apply(&event);
    }
    for number in 0..10_000 {
        transcript.apply(&Event::Progress {
            call: "c1".to_owned(),
            text: format!("é {number}\n"),
        });
    }
    let Item::Call(call) = &transcript.items()[0] else {
        panic!("no call");
    };
    assert!(call.output.len() <= MOST_OUTPUT);
    assert!(call.output.ends_with("é 9999\n"));
}
