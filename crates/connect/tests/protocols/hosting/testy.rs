//! The protocol's own test agent, if it was built: it sends every update and request that an agent
//! may send.

use connect::acp::host::{HostedAgentCommand, HostedAgentEvent};
use connect::acp::protocol::{Filled, PermissionChoiceKind, PromptStop, Update};

use super::guest::{Guest, Program, agent_text, cached};

fn testy() -> Option<Program> {
    let path = cached("BURIN_TESTY", "testy/target/debug/testy");
    if !path.exists() {
        test_support::skip(format_args!(
            "{} is not there; BURIN_TESTY can name it",
            path.display()
        ));
        return None;
    }
    Some(Program::new(path, &[]))
}

/// Runs a whole turn in which every permission is granted.
async fn turn(guest: &mut Guest, text: &str) -> (String, PromptStop) {
    let before = guest.events.len();
    guest.prompt(text).await;
    loop {
        let (answer, end) = guest
            .until(|event| match event {
                HostedAgentEvent::Asking {
                    number, choices, ..
                } => {
                    let yes = choices
                        .iter()
                        .find(|choice| choice.kind == PermissionChoiceKind::AllowOnce);
                    let choice = yes.map(|choice| choice.id.clone());
                    let number = *number;
                    Some((Some(HostedAgentCommand::Decide { number, choice }), None))
                }
                HostedAgentEvent::Form { number, form } => {
                    let filled = Filled::Accepted(form.defaults());
                    let number = *number;
                    Some((Some(HostedAgentCommand::Fill { number, filled }), None))
                }
                HostedAgentEvent::Page { number, url, .. } => {
                    assert!(url.contains("://"), "{url}");
                    let filled = Filled::Accepted(serde_json::Map::new());
                    let number = *number;
                    Some((Some(HostedAgentCommand::Fill { number, filled }), None))
                }
                HostedAgentEvent::TurnEnded(end) => Some((None, Some(end.clone()))),
                _ => None,
            })
            .await;
        if let Some(answer) = answer {
            guest.say(answer).await;
        }
        if let Some(end) = end {
            return (agent_text(&guest.events[before..]), end);
        }
    }
}

#[tokio::test]
async fn every_message_of_the_test_agent_is_understood() {
    let Some(program) = testy() else {
        return;
    };
    let mut guest = program.start();
    guest.begun().await;
    let (said, end) = turn(&mut guest, "echo hello").await;
    assert_eq!(end, PromptStop::Done);
    assert!(said.contains("hello"), "{said}");
    for scenario in ["session_updates", "content", "tool_calls", "callbacks"] {
        let (said, end) = turn(&mut guest, scenario).await;
        assert_eq!(end, PromptStop::Done, "{scenario}: {said}");
        // It requests a file outside its root, which is refused.
        let wrong = said.lines().filter(|line| line.contains("error"));
        let wrong: Vec<_> = wrong
            .filter(|line| !line.contains("is not below"))
            .collect();
        assert!(wrong.is_empty(), "{scenario}: {wrong:?}");
    }
    let has = |wanted: fn(&Update) -> bool| {
        guest
            .events
            .iter()
            .any(|event| matches!(event, HostedAgentEvent::Update(it) if wanted(it)))
    };
    assert!(has(|it| matches!(it, Update::Plan(_))));
    assert!(has(|it| matches!(it, Update::Commands(_))));
    assert!(has(|it| matches!(it, Update::Usage(_))));
    assert!(has(|it| matches!(it, Update::Call(_))));
    let noise = guest
        .events
        .iter()
        .filter(|event| matches!(event, HostedAgentEvent::Noise(_)))
        .count();
    assert_eq!(noise, 0, "{:#?}", guest.events);

    guest.prompt("wait_for_cancel").await;
    guest
        .until(|event| matches!(event, HostedAgentEvent::TurnBegan).then_some(()))
        .await;
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    guest.say(HostedAgentCommand::Stop).await;
    assert_eq!(guest.ended().await, PromptStop::Stopped);
    let (said, _) = turn(&mut guest, "echo still here").await;
    assert!(said.contains("still here"), "{said}");
    guest.say(HostedAgentCommand::Close).await;
    assert_eq!(guest.closed().await, None);
}
