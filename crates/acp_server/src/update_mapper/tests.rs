//! Single events and records, and the updates for them.

use std::sync::Arc;

use agent::Stored;
use agent::record::{SessionRecord, StoredContent, StoredPart, StoredUsage};
use agent::session::AgentEvent;
use base::AbsPath;
use connect::acp::protocol::{CallStatus, Update, Voice};

use super::UpdateMapper;

fn mapper() -> UpdateMapper {
    UpdateMapper::new(AbsPath::new("/project").expect("absolute"))
}

fn event(record: SessionRecord) -> AgentEvent {
    AgentEvent::Recorded(Arc::new(Stored {
        seq: 0,
        at_ms: 0,
        record,
    }))
}

fn asked(step: u64) -> AgentEvent {
    event(SessionRecord::Asked {
        turn: 1,
        step,
        model: "auto".to_owned(),
        prompt: String::new(),
        bytes: 0,
        same_bytes: 0,
    })
}

fn answered(text: &str) -> AgentEvent {
    event(SessionRecord::Answered {
        turn: 1,
        step: 1,
        model: "auto".to_owned(),
        parts: vec![StoredPart {
            content: StoredContent::Text {
                text: text.to_owned(),
            },
            opaque: None,
        }],
        usage: StoredUsage::default(),
        cost_nano: None,
        stop: "end_turn".to_owned(),
    })
}

fn said(updates: &[Update]) -> Vec<(String, String)> {
    let said = updates.iter().filter_map(|update| match update {
        Update::Said {
            voice: Voice::Agent,
            id: Some(id),
            piece,
        } => Some((id.clone(), piece.text())),
        _ => None,
    });
    said.collect()
}

fn heard(mapper: &mut UpdateMapper, events: &[AgentEvent]) -> Vec<Update> {
    events
        .iter()
        .flat_map(|event| mapper.on_event(event))
        .collect()
}

#[test]
fn record_sends_text_that_was_not_streamed() {
    let check = |pieces: &[&str], whole: &str, expected: &str| {
        let mut events = vec![asked(1)];
        events.extend(
            pieces
                .iter()
                .map(|text| AgentEvent::Text((*text).to_owned())),
        );
        events.push(answered(whole));
        let said = said(&heard(&mut mapper(), &events));
        let text: String = said.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(text, expected, "{pieces:?}");
        assert!(said.iter().all(|(id, _)| id == "answer 1.1"), "{said:?}");
    };
    check(&["one ", "two"], "one two", "one two");
    check(&["one "], "one two", "one two");
    check(&[], "one two", "one two");
}

#[test]
fn an_answer_that_begins_again_is_another_message() {
    let events = [
        asked(1),
        AgentEvent::Text("It is".to_owned()),
        AgentEvent::Restarted,
        AgentEvent::Text("It was".to_owned()),
        answered("It was"),
    ];
    let said = said(&heard(&mut mapper(), &events));
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    assert_eq!(
        said,
        [pair("answer 1.1", "It is"), pair("answer 1.1.1", "It was")]
    );
}

#[test]
fn a_call_that_breaks_off_has_failed() {
    let writes = AgentEvent::CallDelta {
        call: "c1".to_owned(),
        name: "edit".to_owned(),
        fragment: String::new(),
    };
    for over in [AgentEvent::Restarted, answered("I gave up.")] {
        let updates = heard(&mut mapper(), &[asked(1), writes.clone(), over]);
        let states = updates.iter().filter_map(|update| match update {
            Update::Call(call) => call.state,
            _ => None,
        });
        let states: Vec<_> = states.collect();
        assert_eq!(states, [CallStatus::Pending, CallStatus::Failed]);
    }
}

#[test]
fn a_flood_of_output_is_told_by_its_end() {
    let mut mapper = mapper();
    let began = event(SessionRecord::CallBegan {
        turn: 1,
        call: "c1".to_owned(),
        tool: "exec_command".to_owned(),
        name: "Bash".to_owned(),
        class: agent::ToolClass::Execute,
        title: "yes".to_owned(),
        input: serde_json::json!({}),
    });
    mapper.on_event(&began);
    for line in 0..5_000 {
        let printed = AgentEvent::Progress {
            call: "c1".to_owned(),
            text: format!("größe {line}\n"),
        };
        assert!(mapper.on_event(&printed).is_empty());
    }
    assert!(mapper.has_pending_output());
    let updates = mapper.flush_output();
    let [Update::Call(call)] = updates.as_slice() else {
        panic!("{updates:?}");
    };
    let text = format!("{:?}", call.content);
    assert!(
        text.contains("größe 4999") && text.len() < 8_000,
        "{}",
        text.len()
    );
    assert!(!mapper.has_pending_output());
}
