//! Tests a transcript while it streams, and one rebuilt from its records.

use std::sync::Arc;

use agent::CallOutcome;
use agent::record::{SessionMode, StoredUsage};
use agent::tool::ToolClass;

use super::*;

fn recorded(record: SessionRecord) -> AgentEvent {
    AgentEvent::Recorded(Arc::new(Stored {
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

fn asked() -> AgentEvent {
    recorded(SessionRecord::Asked {
        turn: 1,
        step: 1,
        model: "demo".to_owned(),
        prompt: String::new(),
        bytes: 0,
        same_bytes: 0,
    })
}

fn answered(parts: Vec<StoredPart>) -> AgentEvent {
    recorded(SessionRecord::Answered {
        turn: 1,
        step: 1,
        model: "demo/demo".to_owned(),
        parts,
        usage: StoredUsage::default(),
        cost_nano: Some(5),
        stop: "tool_use".to_owned(),
    })
}

fn began(id: &str) -> AgentEvent {
    recorded(SessionRecord::CallBegan {
        turn: 1,
        call: id.to_owned(),
        tool: "read".to_owned(),
        name: "Read".to_owned(),
        class: ToolClass::Read,
        title: "read a.rs".to_owned(),
        input: serde_json::json!({}),
    })
}

fn ended(id: &str, outcome: CallOutcome) -> AgentEvent {
    recorded(SessionRecord::CallEnded {
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

/// The items as text, one line each.
fn lines(transcript: &Transcript) -> Vec<String> {
    let line = |item: &TranscriptEntry| match item {
        TranscriptEntry::User { text, .. } => format!("you: {text}"),
        TranscriptEntry::Context(entries) => format!("context: {}", entries.len()),
        TranscriptEntry::Text { text, is_live } => {
            format!("text{}: {text}", if *is_live { "…" } else { "" })
        }
        TranscriptEntry::Thought { text, .. } => format!("thought: {text}"),
        TranscriptEntry::Call(call) => format!("{} {:?}", call.title, call.state),
        TranscriptEntry::Note { text, .. } => format!("note: {text}"),
        TranscriptEntry::Compacted(item) => {
            let memory = item.summary.as_ref().map(|it| it.memory.as_str());
            format!("compacted {}: {memory:?} {}", item.seq, item.is_current)
        }
        TranscriptEntry::End(end) => format!("end: {end:?}"),
    };
    transcript.items().iter().map(line).collect()
}

/// Applies the reported changes to a list, as the view does, and compares.
fn follow(transcript: &mut Transcript, seen: &mut Vec<TranscriptEntry>, event: &AgentEvent) {
    for touched in transcript.apply(event) {
        match touched {
            ItemChange::Replaced(old, new) => {
                let fresh = transcript.items()[old.start..old.start + new].to_vec();
                seen.splice(old, fresh);
            }
            ItemChange::Changed(at) => seen[at] = transcript.items()[at].clone(),
        }
    }
    assert_eq!(seen.as_slice(), transcript.items());
}

fn check(events: &[AgentEvent], expected: &[&str]) {
    let mut transcript = Transcript::default();
    let mut seen = Vec::new();
    for event in events {
        follow(&mut transcript, &mut seen, event);
    }
    assert_eq!(lines(&transcript), expected);
}

#[test]
fn pieces_become_the_answer_that_is_kept() {
    let piece = |text: &str| AgentEvent::Text(text.to_owned());
    let delta = |fragment: &str| AgentEvent::CallDelta {
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
    // The records alone give the same items.
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
    let with = |events: &[AgentEvent]| [&start[..], events].concat();
    check(
        &with(&[began("c2")]),
        &["Read Waiting", "read a.rs Running"],
    );
    let ends = with(&[began("c1"), ended("c1", CallOutcome::Ok)]);
    check(
        &ends,
        &[
            "read a.rs Ended { outcome: Ok, detail: None }",
            "Read Waiting",
        ],
    );
    let asks = with(&[recorded(SessionRecord::LeaveAsked {
        call: "c1".to_owned(),
        title: "cargo test".to_owned(),
        details: "cargo test".to_owned(),
        reason: "it runs a program".to_owned(),
        rules: vec!["Bash(cargo test:*)".to_owned()],
    })]);
    check(
        &asks,
        &[
            "cargo test NeedsApproval(\"it runs a program\")",
            "Read Waiting",
        ],
    );
    let mut transcript = Transcript::default();
    for event in &asks {
        transcript.apply(event);
    }
    assert_eq!(
        transcript.pending_approval().map(|it| it.call.id.as_str()),
        Some("c1")
    );
}

#[test]
fn pending_request_of_a_stopped_subagent_is_dropped() {
    let asks = AgentEvent::Child {
        session: "child".into(),
        event: Box::new(recorded(SessionRecord::LeaveAsked {
            call: "c1".to_owned(),
            title: "cargo test".to_owned(),
            details: "cargo test".to_owned(),
            reason: "it runs a program".to_owned(),
            rules: Vec::new(),
        })),
    };
    let called = AgentEvent::Child {
        session: "child".into(),
        event: Box::new(answered(vec![call("c1", "Bash")])),
    };
    let mut transcript = Transcript::default();
    for event in [asked(), called, asks] {
        transcript.apply(&event);
    }
    assert!(
        transcript
            .pending_approval()
            .is_some_and(|it| it.subagents == ["child"])
    );
    transcript.apply(&AgentEvent::Idle(TurnEnd::Stopped));
    assert!(transcript.pending_approval().is_none());
}

#[test]
fn an_answer_that_begins_again_leaves_nothing_of_its_pieces() {
    let events = [
        asked(),
        AgentEvent::Thought("hm".to_owned()),
        AgentEvent::Text("half".to_owned()),
        AgentEvent::Restarted,
        AgentEvent::Text("whole".to_owned()),
    ];
    check(&events, &["text…: whole"]);
    let stopped = [
        &events[..],
        &[recorded(SessionRecord::TurnEnded {
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
        recorded(SessionRecord::Joined {
            place: agent::record::PromptPosition::System,
            origin: PromptOrigin::Rules {
                path: path.to_owned(),
            },
            text: "rules".to_owned(),
        })
    };
    let began = recorded(SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: SessionMode::Build,
        model: "demo".to_owned(),
    });
    let said = recorded(SessionRecord::Prompted {
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
        transcript.apply(&AgentEvent::Progress {
            call: "c1".to_owned(),
            text: format!("é {number}\n"),
        });
    }
    let TranscriptEntry::Call(call) = &transcript.items()[0] else {
        panic!("no call");
    };
    assert!(call.output.len() <= MAX_OUTPUT_BYTES);
    assert!(call.output.ends_with("é 9999\n"));
}

#[test]
fn records_set_the_mode() {
    let mut transcript = Transcript::default();
    assert_eq!(transcript.mode(), None);
    transcript.apply(&recorded(SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: SessionMode::Plan,
        model: "demo".to_owned(),
    }));
    assert_eq!(transcript.mode(), Some(SessionMode::Plan));
    let mode = SessionMode::Ask;
    transcript.apply(&recorded(SessionRecord::ModeSet { mode }));
    assert_eq!(transcript.mode(), Some(mode));
}

#[test]
fn the_cost_includes_subagents_and_unrecorded_requests() {
    let of_child = |session: &str, event: AgentEvent| AgentEvent::Child {
        session: session.into(),
        event: Box::new(event),
    };
    let fill = |cost_nano: Option<u64>| AgentEvent::Fill {
        fill: ContextFill::default(),
        cost_nano,
    };
    let mut transcript = Transcript::default();
    let mut check = |event: AgentEvent, expected: Option<u64>| {
        transcript.apply(&event);
        assert_eq!(transcript.cost_nano(), expected, "after {event:?}");
    };
    check(answered(Vec::new()), Some(5));
    check(of_child("s1", answered(Vec::new())), Some(10));
    let nested = of_child("s1", of_child("s2", answered(Vec::new())));
    check(nested, Some(15));
    // A subagent's own sum is part of the session's.
    check(of_child("s1", fill(Some(40))), Some(15));
    // The engine has also paid for a summary.
    check(fill(Some(17)), Some(17));
    check(AgentEvent::Idle(TurnEnd::Done), Some(17));
    check(fill(None), None);
}

#[test]
fn a_fork_from_a_message_of_the_user_copies_the_turns_before() {
    let mut transcript = Transcript::default();
    let numbered = |seq, record| {
        AgentEvent::Recorded(Arc::new(Stored {
            seq,
            at_ms: 0,
            record,
        }))
    };
    let prompted = |turn, is_steering| SessionRecord::Prompted {
        turn,
        parts: vec![text("mend it")],
        is_steering,
    };
    let answered = || SessionRecord::Answered {
        turn: 1,
        step: 1,
        model: "m".to_owned(),
        parts: vec![text("done")],
        usage: Default::default(),
        cost_nano: None,
        stop: "end_turn".to_owned(),
    };
    let ended = |turn| SessionRecord::TurnEnded {
        turn,
        end: TurnEnd::Done,
    };
    transcript.apply(&numbered(1, prompted(1, false)));
    transcript.apply(&AgentEvent::Text("do".to_owned()));
    assert_eq!(transcript.fork_point(1), None, "it is still streaming");
    transcript.apply(&numbered(3, answered()));
    transcript.apply(&numbered(4, prompted(1, true)));
    transcript.apply(&numbered(5, answered()));
    transcript.apply(&numbered(6, ended(1)));
    transcript.apply(&numbered(7, prompted(2, false)));
    let points: Vec<_> = (0..=transcript.items().len())
        .map(|at| transcript.fork_point(at))
        .collect();
    let expected = [
        Some(ForkPoint::Before(None)),
        Some(ForkPoint::After(3)),
        Some(ForkPoint::After(4)),
        Some(ForkPoint::After(5)),
        Some(ForkPoint::Before(Some(6))),
        None,
    ];
    assert_eq!(points, expected);
}

fn compacted(seq: u64, reduced: &[&str], summary: &str) -> AgentEvent {
    AgentEvent::Recorded(Arc::new(Stored {
        seq,
        at_ms: 0,
        record: SessionRecord::Compacted {
            through: 1,
            reduced: reduced
                .iter()
                .map(|call| ((*call).to_owned(), String::new()))
                .collect(),
            dropped: Vec::new(),
            summary: summary.to_owned(),
            bytes: (4_096, 1_024),
            tokens: Some((1_000, 250)),
            why: "requested by the user".to_owned(),
        },
    }))
}

#[test]
fn a_summary_is_current_until_the_next_one() {
    let edited = |compaction, summary: &str| {
        recorded(SessionRecord::SummaryEdited {
            compaction,
            summary: summary.to_owned(),
        })
    };
    let events = [
        compacted(3, &[], "<memory>\nfirst\n</memory>\n"),
        edited(3, "<memory>\nmine\n</memory>\n"),
        compacted(5, &[], ""),
        compacted(8, &[], "<memory>\nsecond\n</memory>\n"),
        // Too late: the summary is not sent any more.
        edited(3, "<memory>\nlate\n</memory>\n"),
    ];
    check(
        &events[..3],
        &[
            "compacted 3: Some(\"mine\") true",
            "compacted 5: None false",
        ],
    );
    check(
        &events,
        &[
            "compacted 3: Some(\"mine\") false",
            "compacted 5: None false",
            "compacted 8: Some(\"second\") true",
        ],
    );
}

#[test]
fn a_compaction_names_the_calls_that_it_shortened() {
    let mut transcript = Transcript::default();
    for event in [asked(), answered(vec![call("a", "read")]), began("a")] {
        transcript.apply(&event);
    }
    transcript.apply(&compacted(4, &["a", "gone"], ""));
    let Some(TranscriptEntry::Compacted(item)) = transcript.items().last() else {
        panic!("it is the last item");
    };
    let Some(TranscriptEntry::Call(shortened)) = transcript.items().first() else {
        panic!("it is the first item");
    };
    assert_eq!(item.reduced, [shortened.title.as_str(), "gone"]);
    assert_eq!(transcript.current_summary(), None);
}
