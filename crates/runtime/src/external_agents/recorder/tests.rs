//! The fold of an external agent's updates into records.

use connect::acp::protocol::MessageContent;

use super::*;

fn recorder() -> TurnRecorder {
    let root = AbsPath::new("/tree").expect("absolute");
    TurnRecorder::new(&root, 3, "Echo".to_owned(), SessionCost::default())
}

fn said(voice: Voice, id: &str, text: &str) -> Update {
    Update::Said {
        voice,
        id: Some(id.to_owned()),
        piece: MessageContent::Text(text.to_owned()),
    }
}

fn call(id: &str, state: CallStatus) -> CallUpdate {
    CallUpdate {
        title: Some("touch a".to_owned()),
        kind: Some(CallKind::Execute),
        state: Some(state),
        ..CallUpdate::new(id)
    }
}

/// The kinds of the records, and the other outputs.
fn kinds(outputs: &[RecorderOutput]) -> Vec<String> {
    let kind = |output: &RecorderOutput| match output {
        RecorderOutput::Record(record) => record.kind().to_owned(),
        RecorderOutput::Event(AgentEvent::Text(text)) => format!("text {text:?}"),
        RecorderOutput::Event(AgentEvent::Thought(text)) => format!("thought {text:?}"),
        RecorderOutput::Event(AgentEvent::Progress { text, .. }) => format!("progress {text}"),
        RecorderOutput::Event(_) => "event".to_owned(),
        RecorderOutput::CallEnded { call, tool } => format!("changes of {call} {tool}"),
    };
    outputs.iter().map(kind).collect()
}

#[test]
fn an_answer_is_recorded_before_its_call_begins() {
    let mut recorder = recorder();
    let mut outputs = recorder.apply(said(Voice::Thought, "m", "hm"), 0);
    outputs.extend(recorder.apply(said(Voice::Agent, "m", "I "), 0));
    outputs.extend(recorder.apply(said(Voice::Agent, "m", "do"), 0));
    outputs.extend(recorder.apply(said(Voice::Agent, "n", "so"), 0));
    outputs.extend(recorder.apply(Update::Call(call("c", CallStatus::Pending)), 10));
    outputs.extend(recorder.apply(Update::Call(call("c", CallStatus::Running)), 20));
    outputs.extend(recorder.apply(Update::Call(call("c", CallStatus::Done)), 50));
    outputs.extend(recorder.end(&TurnEnd::Done, 60));
    assert_eq!(
        kinds(&outputs),
        [
            "asked",
            "thought \"hm\"",
            "text \"I \"",
            "text \"do\"",
            "text \"\\n\\nso\"",
            "answered",
            "call_began",
            "changes of t3.c execute",
            "call_ended",
            "turn_ended"
        ]
    );
    let records = outputs.iter().filter_map(|output| match output {
        RecorderOutput::Record(record) => Some(record.as_ref()),
        _ => None,
    });
    let records: Vec<&SessionRecord> = records.collect();
    let SessionRecord::Answered { parts, .. } = records[1] else {
        panic!("{records:?}");
    };
    assert_eq!(stored_parts::texts(parts), "I do\n\nso");
    assert_eq!(parts.len(), 3);
    assert!(matches!(
        records[3],
        SessionRecord::CallEnded {
            millis: 30,
            outcome: CallOutcome::Ok,
            ..
        }
    ));
}

#[test]
fn calls_without_an_end_end_with_their_turn() {
    let mut recorder = recorder();
    recorder.apply(Update::Call(call("c", CallStatus::Running)), 0);
    let outputs = recorder.end(&TurnEnd::Stopped, 5);
    assert_eq!(
        kinds(&outputs),
        ["changes of t3.c execute", "call_ended", "turn_ended"]
    );
    // A late update changes nothing.
    assert_eq!(
        kinds(&recorder.call(call("c", CallStatus::Done), 9)),
        Vec::<String>::new()
    );
}

#[test]
fn output_of_a_running_call_is_sent_once() {
    let mut recorder = recorder();
    let with = |text: &str| CallUpdate {
        content: Some(vec![CallContent::Piece(MessageContent::Text(
            text.to_owned(),
        ))]),
        ..call("c", CallStatus::Running)
    };
    recorder.call(with("one"), 0);
    assert_eq!(kinds(&recorder.call(with("one two"), 0)), ["progress  two"]);
    assert_eq!(
        kinds(&recorder.call(with("one two"), 0)),
        Vec::<String>::new()
    );
}

#[test]
fn costs_are_recorded_once() {
    let mut recorder = recorder();
    let usage = |cost: f64| {
        Update::Usage(ContextUsage {
            used: 1,
            size: 2,
            cost: Some((cost, "USD".to_owned())),
        })
    };
    recorder.apply(usage(0.5), 0);
    let outputs = recorder.end(&TurnEnd::Done, 0);
    let cost = |outputs: &[RecorderOutput]| {
        let costs = outputs.iter().filter_map(|output| match output {
            RecorderOutput::Record(record) => match record.as_ref() {
                SessionRecord::Answered { cost_nano, .. } => *cost_nano,
                _ => None,
            },
            _ => None,
        });
        costs.sum::<u64>()
    };
    assert_eq!(cost(&outputs), 500_000_000);
    let root = AbsPath::new("/tree").expect("absolute");
    let mut next = TurnRecorder::new(&root, 4, "Echo".to_owned(), recorder.cost());
    next.apply(usage(0.75), 0);
    assert_eq!(cost(&next.end(&TurnEnd::Done, 0)), 250_000_000);
}

#[test]
fn a_kill_on_request_is_a_stop() {
    let killed = || PromptStop::Failed("killed".to_owned());
    assert_eq!(turn_end(killed(), true), TurnEnd::Stopped);
    assert!(matches!(turn_end(killed(), false), TurnEnd::Failed { what, .. } if what == "killed"));
}
