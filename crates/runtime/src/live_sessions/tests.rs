//! Sessions that outlive their views, over engines that the tests play.

use agent::Stored;
use agent::record::{Delivery, QueueChange, QueuedPrompt, TurnEnd};
use agent::session::UserPrompt;
use agent::user_prompts::{PermissionDecision, UserQuestion};

use super::*;

/// A session whose engine the test plays.
struct Engine {
    commands: mpsc::Receiver<SessionCommand>,
    events: mpsc::Sender<AgentEvent>,
    next_record: u64,
}

fn opened(id: &str) -> (Engine, SessionChannels) {
    let (commands, inbox) = mpsc::channel(16);
    let (outbox, events) = mpsc::channel(16);
    let engine = Engine {
        commands: inbox,
        events: outbox,
        next_record: 0,
    };
    let opened = SessionChannels {
        id: id.into(),
        queue: agent::queue::PromptQueue::default(),
        problems: Vec::new(),
        commands,
        events,
    };
    (engine, opened)
}

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

fn prompt() -> SessionCommand {
    SessionCommand::Prompt(UserPrompt {
        text: "go".to_owned(),
        images: Vec::new(),
    })
}

impl Engine {
    fn recorded(&mut self, record: SessionRecord) -> AgentEvent {
        self.next_record += 1;
        AgentEvent::Recorded(Arc::new(Stored {
            seq: self.next_record,
            at_ms: 0,
            record,
        }))
    }

    async fn emit(&self, event: AgentEvent) {
        self.events.send(event).await.expect("the pump reads");
    }

    async fn emit_record(&mut self, record: SessionRecord) {
        let event = self.recorded(record);
        self.emit(event).await;
    }

    async fn begin_turn(&mut self) {
        let record = SessionRecord::Prompted {
            turn: 1,
            parts: Vec::new(),
            is_steering: false,
        };
        self.emit_record(record).await;
    }
}

fn approval(call: &str) -> SessionRecord {
    SessionRecord::LeaveAsked {
        call: call.to_owned(),
        title: "rm".to_owned(),
        details: "rm".to_owned(),
        rules: Vec::new(),
        reason: "it writes".to_owned(),
    }
}

async fn wait_for(sessions: &LiveSessions, expected: &[(&str, SessionActivity)]) {
    let mut statuses = sessions.statuses();
    let matches = |now: &Vec<RunningSession>| {
        let now: Vec<_> = now.iter().map(|it| (it.id.as_str(), it.activity)).collect();
        now == expected
    };
    statuses.wait_for(matches).await.expect("published");
}

#[tokio::test]
async fn a_running_turn_outlives_its_view() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    let view = sessions.adopt(opened, path("/p"), path("/p"));
    view.handle.send(prompt());
    // The view closes before the session has recorded the prompt.
    drop(view);
    assert_eq!(engine.commands.recv().await, Some(prompt()));
    engine.begin_turn().await;
    engine.emit(AgentEvent::Text("one".to_owned())).await;
    wait_for(&sessions, &[("s", SessionActivity::Working)]).await;
    assert!(engine.commands.try_recv().is_err(), "nothing stopped it");

    engine.emit(AgentEvent::Idle(TurnEnd::Done)).await;
    assert_eq!(engine.commands.recv().await, Some(SessionCommand::Close));
    drop(engine);
    wait_for(&sessions, &[]).await;
}

#[tokio::test]
async fn an_idle_session_closes_with_its_last_view() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    let first = sessions.adopt(opened, path("/p"), path("/p"));
    let second = sessions.attach("s").expect("it runs");
    drop(first);
    second.handle.send(SessionCommand::Compact);
    assert_eq!(engine.commands.recv().await, Some(SessionCommand::Compact));
    drop(second);
    assert_eq!(engine.commands.recv().await, Some(SessionCommand::Close));
    assert!(sessions.attach("s").is_none(), "it closes");
    drop(engine);
    sessions.wait_until_closed("s").await;
}

#[tokio::test]
async fn a_watched_command_keeps_its_idle_session_open() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    let first = sessions.adopt(opened, path("/p"), path("/p"));
    assert!(sessions.hold("other").is_none());
    let (one, two) = (sessions.hold("s"), sessions.hold("s"));
    drop(first);
    let second = sessions.attach("s").expect("it is open");
    second.handle.send(prompt());
    drop(second);
    assert_eq!(engine.commands.recv().await, Some(prompt()));
    engine.begin_turn().await;
    engine.emit(AgentEvent::Idle(TurnEnd::Done)).await;
    wait_for(&sessions, &[("s", SessionActivity::Idle)]).await;
    drop(one);
    drop(sessions.attach("s").expect("it is open still"));
    drop(two);
    assert_eq!(engine.commands.recv().await, Some(SessionCommand::Close));
    assert!(sessions.hold("s").is_none(), "it closes");
}

#[tokio::test]
async fn every_view_gets_events_and_may_send_commands() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    let mut first = sessions.adopt(opened, path("/p"), path("/sample"));
    let mut second = sessions.attach("s").expect("it runs");
    assert!(sessions.attach("other").is_none());
    assert_eq!(second.root, path("/sample"));
    engine.begin_turn().await;
    for view in [&mut first, &mut second] {
        assert!(matches!(
            view.events.recv().await,
            Some(AgentEvent::Recorded(_))
        ));
    }
    first.handle.send(SessionCommand::Stop);
    second.handle.send(SessionCommand::Compact);
    assert_eq!(engine.commands.recv().await, Some(SessionCommand::Stop));
    assert_eq!(engine.commands.recv().await, Some(SessionCommand::Compact));
}

#[tokio::test]
async fn pending_questions_wait_for_the_next_view() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    drop({
        let view = sessions.adopt(opened, path("/p"), path("/p"));
        view.handle.send(prompt());
        view
    });
    engine.begin_turn().await;
    engine.emit_record(approval("call")).await;
    wait_for(&sessions, &[("s", SessionActivity::WaitingForUser)]).await;
    let given = SessionRecord::LeaveGiven {
        call: "call".to_owned(),
        decision: PermissionDecision::Once,
    };
    engine.emit_record(given).await;
    wait_for(&sessions, &[("s", SessionActivity::Working)]).await;

    let asked = engine.recorded(approval("inner"));
    let subagent = |event| AgentEvent::Child {
        session: "child".into(),
        event: Box::new(event),
    };
    engine.emit(subagent(asked)).await;
    let question = AgentEvent::Asking {
        number: 1,
        question: UserQuestion {
            text: "Which?".to_owned(),
            options: Vec::new(),
        },
    };
    engine.emit(question).await;
    wait_for(&sessions, &[("s", SessionActivity::WaitingForUser)]).await;
    engine.emit(AgentEvent::Text(String::new())).await;
    let mut view = sessions.attach("s").expect("it runs");
    while let Some(event) = view.events.recv().await {
        if matches!(event, AgentEvent::Text(_)) {
            break;
        }
        view.pending.push(event);
    }
    assert!(
        matches!(&view.pending[..], [AgentEvent::Child { session, .. }, AgentEvent::Asking { .. }] if session.as_ref() == "child"),
        "{:?}",
        view.pending
    );
    engine.emit(AgentEvent::Idle(TurnEnd::Done)).await;
    wait_for(&sessions, &[("s", SessionActivity::Idle)]).await;
    assert!(sessions.attach("s").expect("still").pending.is_empty());
}

#[tokio::test]
async fn a_session_that_ends_is_no_longer_listed() {
    let sessions = LiveSessions::default();
    let (engine, opened) = opened("s");
    let mut view = sessions.adopt(opened, path("/p"), path("/p"));
    drop(engine);
    assert!(view.events.recv().await.is_none());
    wait_for(&sessions, &[]).await;
    // Its handle is of no use any more, and does no harm.
    view.handle.send(prompt());
}

fn queue_change(change: QueueChange) -> SessionRecord {
    SessionRecord::Queued { change }
}

fn message_added() -> SessionRecord {
    let entry = QueuedPrompt {
        id: 1,
        parts: Vec::new(),
        delivery: Delivery::NextTurn,
    };
    queue_change(QueueChange::Added { entry })
}

#[tokio::test]
async fn a_session_with_a_queued_message_does_not_become_idle() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    let view = sessions.adopt(opened, path("/p"), path("/p"));
    view.handle.send(prompt());
    engine.begin_turn().await;
    let mut changes = sessions.changes();
    engine.emit_record(message_added()).await;
    engine.emit(AgentEvent::Idle(TurnEnd::Done)).await;
    engine
        .emit_record(queue_change(QueueChange::Sent { id: 1 }))
        .await;
    engine.emit_record(approval("call")).await;
    wait_for(&sessions, &[("s", SessionActivity::WaitingForUser)]).await;
    assert_eq!(sessions.statuses().borrow()[0].waiting_for, "rm");
    drop(view);
    engine.emit(AgentEvent::Idle(TurnEnd::Done)).await;
    let ended = |is_followed| SessionChangeKind::Ended {
        end: TurnEnd::Done,
        is_followed,
    };
    let expected = [
        (ended(true), true),
        (SessionChangeKind::Waits("rm".to_owned()), true),
        (ended(false), false),
    ];
    for (kind, has_view) in expected {
        let change = SessionChange {
            id: "s".to_owned(),
            folder: path("/p"),
            kind,
            has_view,
        };
        assert_eq!(changes.recv().await, Some(change));
    }
}

#[tokio::test]
async fn a_session_whose_queue_is_held_becomes_idle() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    let view = sessions.adopt(opened, path("/p"), path("/p"));
    view.handle.send(prompt());
    engine.begin_turn().await;
    engine.emit_record(message_added()).await;
    engine.emit_record(queue_change(QueueChange::Held)).await;
    engine.emit(AgentEvent::Idle(TurnEnd::Stopped)).await;
    wait_for(&sessions, &[("s", SessionActivity::Idle)]).await;
}
