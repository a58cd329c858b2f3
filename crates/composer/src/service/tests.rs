//! Tests views of single sessions, without a board behind them.

use agent::{SessionRecord, Stored};
use futures::FutureExt as _;

use super::*;
use crate::board::FakeStarter;

/// A handle whose commands arrive at the receiver, of which one fits into the channel.
fn handle() -> (ComposerHandle, async_channel::Receiver<JobCommand>) {
    let (commands, receiver) = async_channel::bounded(1);
    let running = JobSessionState {
        session: Some("s1".to_owned()),
        root: AbsPath::new("/trees/wt-1"),
        ..JobSessionState::default()
    };
    let shared = Arc::new(ComposerShared {
        starter: Arc::new(FakeStarter::default()),
        commands,
        board: Mutex::default(),
        listeners: Mutex::default(),
        views: Mutex::default(),
        sessions: Mutex::new(HashMap::from([("a1".to_owned(), running)])),
    });
    let commands = mpsc::unbounded().0;
    (ComposerHandle { commands, shared }, receiver)
}

fn said(text: &str) -> UserPrompt {
    UserPrompt {
        text: text.to_owned(),
        images: Vec::new(),
    }
}

#[tokio::test]
async fn a_full_channel_delays_prompts_and_loses_none() {
    let (handle, commands) = handle();
    let view = handle.watch("a1").expect("a session");
    let prompts: Vec<String> = (0..9).map(|number| format!("prompt {number}")).collect();
    for text in &prompts {
        (view.send)(SessionCommand::Steer(said(text)));
    }
    for text in &prompts {
        let expected = JobCommand::Forward {
            job: "a1".to_owned(),
            command: SessionCommand::Steer(said(text)),
        };
        assert_eq!(commands.recv().await, Ok(expected));
    }
}

#[tokio::test]
async fn a_board_that_has_ended_gives_prompts_back() {
    let (handle, commands) = handle();
    let mut view = handle.watch("a1").expect("a session");
    drop(commands);
    (view.send)(SessionCommand::Compact);
    (view.send)(SessionCommand::Prompt(said("one")));
    (view.send)(SessionCommand::Steer(said("two")));
    for text in ["one", "two"] {
        let event = view.events.next().await;
        assert!(
            matches!(&event, Some(AgentEvent::GivenBack(prompt)) if prompt.text == text),
            "{event:?}"
        );
    }
}

#[tokio::test]
async fn a_late_view_gets_the_permission_request_of_a_subagent() {
    let (handle, _commands) = handle();
    let request = AgentEvent::Child {
        session: "s2".into(),
        event: Box::new(AgentEvent::Recorded(Arc::new(Stored {
            seq: 0,
            at_ms: 0,
            record: SessionRecord::LeaveAsked {
                call: "c1".to_owned(),
                title: "cargo test".to_owned(),
                details: "cargo test".to_owned(),
                reason: "it runs a program".to_owned(),
                rules: Vec::new(),
            },
        }))),
    };
    handle.shared.forward_event("a1", &request);
    let mut view = handle.watch("a1").expect("a session");
    assert_eq!(format!("{:?}", view.past), format!("{:?}", [&request]));
    assert!(view.events.next().now_or_never().is_none());
}

#[tokio::test]
async fn a_prompt_without_a_view_goes_back_to_the_board() {
    let (handle, _commands) = handle();
    let mut events = handle.events();
    assert!(matches!(events.next().await, Some(Event::Board(_))));
    let given_back = AgentEvent::GivenBack(said("one"));
    assert!(!handle.shared.forward_event("a1", &given_back));
    handle.shared.give_back(&said("one"));
    let event = events.next().await;
    assert!(
        matches!(&event, Some(Event::Undelivered(prompt)) if *prompt == said("one")),
        "{event:?}"
    );
    let mut view = handle.watch("a1").expect("a session");
    assert!(handle.shared.forward_event("a1", &given_back));
    assert!(matches!(
        view.events.next().await,
        Some(AgentEvent::GivenBack(_))
    ));
}
