//! Sessions that outlive their views, over engines that the tests play.

use agent::Stored;
use agent::ask::{Decision, Question};
use agent::record::TurnEnd;
use agent::session::Prompt;

use super::*;

/// A session whose engine is the test.
struct Engine {
    commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<Event>,
    next_record: u64,
}

fn opened(id: &str) -> (Engine, Opened) {
    let (commands, inbox) = mpsc::channel(16);
    let (outbox, events) = mpsc::channel(16);
    let engine = Engine {
        commands: inbox,
        events: outbox,
        next_record: 0,
    };
    let opened = Opened {
        id: id.into(),
        commands,
        events,
    };
    (engine, opened)
}

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

fn prompt() -> Command {
    Command::Prompt(Prompt {
        text: "go".to_owned(),
        images: Vec::new(),
    })
}

impl Engine {
    fn recorded(&mut self, record: Record) -> Event {
        self.next_record += 1;
        Event::Recorded(Arc::new(Stored {
            seq: self.next_record,
            at_ms: 0,
            record,
        }))
    }

    async fn emit(&self, event: Event) {
        self.events.send(event).await.expect("the pump reads");
    }

    async fn emit_record(&mut self, record: Record) {
        let event = self.recorded(record);
        self.emit(event).await;
    }

    async fn begin_turn(&mut self) {
        let record = Record::Prompted {
            turn: 1,
            parts: Vec::new(),
            is_steering: false,
        };
        self.emit_record(record).await;
    }
}

fn approval(call: &str) -> Record {
    Record::LeaveAsked {
        call: call.to_owned(),
        title: "rm".to_owned(),
        details: "rm".to_owned(),
        rules: Vec::new(),
        reason: "it writes".to_owned(),
    }
}

async fn wait_for(sessions: &LiveSessions, expected: &[(&str, Activity)]) {
    let mut statuses = sessions.statuses();
    let matches = |now: &Vec<SessionStatus>| {
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
    engine.emit(Event::Text("one".to_owned())).await;
    wait_for(&sessions, &[("s", Activity::Working)]).await;
    assert!(engine.commands.try_recv().is_err(), "nothing stopped it");

    engine.emit(Event::Idle(TurnEnd::Done)).await;
    assert_eq!(engine.commands.recv().await, Some(Command::Close));
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
    second.handle.send(Command::Compact);
    assert_eq!(engine.commands.recv().await, Some(Command::Compact));
    drop(second);
    assert_eq!(engine.commands.recv().await, Some(Command::Close));
    assert!(sessions.attach("s").is_none(), "it closes");
    drop(engine);
    sessions.ended("s").await;
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
        assert!(matches!(view.events.recv().await, Some(Event::Recorded(_))));
    }
    first.handle.send(Command::Stop);
    second.handle.send(Command::Compact);
    assert_eq!(engine.commands.recv().await, Some(Command::Stop));
    assert_eq!(engine.commands.recv().await, Some(Command::Compact));
}

#[tokio::test]
async fn approvals_and_questions_are_statuses_and_wait_for_the_next_view() {
    let sessions = LiveSessions::default();
    let (mut engine, opened) = opened("s");
    drop({
        let view = sessions.adopt(opened, path("/p"), path("/p"));
        view.handle.send(prompt());
        view
    });
    engine.begin_turn().await;
    engine.emit_record(approval("call")).await;
    wait_for(&sessions, &[("s", Activity::WaitingForUser)]).await;
    let given = Record::LeaveGiven {
        call: "call".to_owned(),
        decision: Decision::Once,
    };
    engine.emit_record(given).await;
    wait_for(&sessions, &[("s", Activity::Working)]).await;

    let asked = engine.recorded(approval("inner"));
    let subagent = |event| Event::Child {
        session: "child".into(),
        event: Box::new(event),
    };
    engine.emit(subagent(asked)).await;
    let question = Event::Asking {
        number: 1,
        question: Question {
            text: "Which?".to_owned(),
            options: Vec::new(),
        },
    };
    engine.emit(question).await;
    wait_for(&sessions, &[("s", Activity::WaitingForUser)]).await;
    engine.emit(Event::Text(String::new())).await;
    let mut view = sessions.attach("s").expect("it runs");
    while let Some(event) = view.events.recv().await {
        if matches!(event, Event::Text(_)) {
            break;
        }
        view.pending.push(event);
    }
    assert!(
        matches!(&view.pending[..], [Event::Child { session, .. }, Event::Asking { .. }] if session.as_ref() == "child"),
        "{:?}",
        view.pending
    );
    engine.emit(Event::Idle(TurnEnd::Done)).await;
    wait_for(&sessions, &[("s", Activity::Idle)]).await;
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
