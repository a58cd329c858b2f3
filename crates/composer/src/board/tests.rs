//! A board over trees and sessions in memory.

use std::sync::Arc;
use std::time::Duration;

use agent::record::{Record, Stored, TurnEnd};
use agent::session::{Command as Told, Event as SessionEvent};
use host::FakeClock;

use super::fake::FakeSession;
use super::*;

struct World {
    board: Board,
    past: Past,
    book: Arc<MemoryBook>,
    ground: FakeGround,
    hands: FakeHands,
    clock: Arc<FakeClock>,
    lines: std::collections::BTreeMap<String, Line>,
}

fn task(prompt: &str) -> Task {
    Task {
        title: prompt.to_owned(),
        prompt: prompt.to_owned(),
        role: "builder".to_owned(),
        model: "demo".to_owned(),
        ..Task::default()
    }
}

fn named(name: &str, needs: &[&str]) -> Task {
    Task {
        name: name.to_owned(),
        needs: needs.iter().map(|it| (*it).to_owned()).collect(),
        ..task(name)
    }
}

impl World {
    fn new(room: usize) -> Self {
        Self::with(room, Arc::new(MemoryBook::default()))
    }

    fn with(room: usize, book: Arc<MemoryBook>) -> Self {
        let (ground, hands) = (FakeGround::default(), FakeHands::default());
        let clock = Arc::new(FakeClock::at(1_000));
        let parts = Parts {
            book: book.clone(),
            ground: Arc::new(ground.clone()),
            hands: Arc::new(hands.clone()),
            clock: clock.clone(),
            room,
        };
        let (board, past) = Board::open(parts).unwrap();
        let lines = past.lines.iter().map(|it| (it.job.clone(), it.clone()));
        Self {
            lines: lines.collect(),
            board,
            past,
            book,
            ground,
            hands,
            clock,
        }
    }

    async fn tell(&self, command: Command) {
        self.board.commands.send(command).await.unwrap();
    }

    /// The next event; lines are taken over on the way.
    async fn next(&mut self) -> Event {
        let next = tokio::time::timeout(Duration::from_secs(20), self.board.events.recv());
        let event = next.await.expect("an event in time").unwrap();
        if let Event::Job(line) = &event {
            self.lines.insert(line.job.clone(), line.as_ref().clone());
        }
        event
    }

    async fn until(&mut self, what: impl Fn(&Self) -> bool) {
        while !what(self) {
            self.next().await;
        }
    }

    /// Waits until a job is called so, and answers its line.
    async fn stands(&mut self, job: &str, word: &str) -> Line {
        self.until(|it| {
            it.lines
                .get(job)
                .is_some_and(|line| line.state.word() == word)
        })
        .await;
        self.lines[job].clone()
    }

    async fn refused(&mut self) -> String {
        loop {
            if let Event::Refused(sentence) = self.next().await {
                return sentence;
            }
        }
    }

    async fn works(&mut self, job: &str) -> FakeSession {
        self.stands(job, "working").await;
        let mut session = self.hands.take(job).expect("a session");
        let prompted = Record::Prompted {
            turn: 1,
            parts: Vec::new(),
            is_steering: false,
        };
        assert!(matches!(
            session.commands.recv().await,
            Some(Told::Steer(_))
        ));
        session.tell(prompted).await;
        session
    }

    fn words(&self) -> Vec<&str> {
        self.lines.values().map(|line| line.state.word()).collect()
    }
}

impl FakeSession {
    async fn tell(&self, record: Record) {
        let stored = Stored {
            seq: 0,
            at_ms: 0,
            record,
        };
        let event = SessionEvent::Recorded(Arc::new(stored));
        self.events.send(event).await.unwrap();
    }

    async fn end(mut self, end: TurnEnd) {
        self.events.send(SessionEvent::Idle(end)).await.unwrap();
        while !matches!(self.commands.recv().await, Some(Told::Close) | None) {}
        self.events.send(SessionEvent::Closed).await.ok();
    }
}

#[tokio::test]
async fn more_jobs_than_room_wait_and_then_work() {
    let mut world = World::new(2);
    world
        .tell(Command::Add(vec![task("one"), task("two"), task("three")]))
        .await;
    let first = world.works("a1").await;
    world.works("a2").await.end(TurnEnd::Done).await;
    assert_eq!(world.lines["a3"].doing, "waits for room");
    world.stands("a2", "done").await;
    let third = world.works("a3").await;
    first
        .end(TurnEnd::Looped {
            what: "in circles".to_owned(),
        })
        .await;
    third.end(TurnEnd::Done).await;
    world
        .until(|it| it.words() == ["failed", "done", "done"])
        .await;
    let places: Vec<&str> = world
        .lines
        .values()
        .map(|line| line.place.as_ref().unwrap().lease.as_str())
        .collect();
    assert_eq!(places, ["wt-1", "wt-2", "wt-3"]);
    loop {
        if matches!(world.next().await, Event::Settled) {
            break;
        }
    }
}

#[tokio::test]
async fn what_a_job_needs_is_done_first_and_its_tree_begins_with_it() {
    let mut world = World::new(4);
    let tasks = vec![
        named("build", &[]),
        named("test", &["build"]),
        named("ship", &["test", "build"]),
    ];
    world.tell(Command::Add(tasks)).await;
    let build = world.works("a1").await;
    world
        .until(|it| it.lines.len() == 3 && !it.lines["a3"].doing.is_empty())
        .await;
    assert_eq!(world.lines["a2"].doing, "waits for a1");
    build.end(TurnEnd::Done).await;
    let test = world.works("a2").await;
    assert_eq!(world.ground.wanted()[1].with[0].lease, "wt-1");
    test.end(TurnEnd::Stopped).await;
    world
        .until(|it| it.lines["a3"].doing.contains("did not get done"))
        .await;
    assert_eq!(world.lines["a3"].doing, "needs a2, which did not get done");
    // Somebody has it go on after all.
    world.tell(Command::GoOn("a2".to_owned())).await;
    world.works("a2").await.end(TurnEnd::Done).await;
    world.works("a3").await;
    let circle = vec![named("x", &["y"]), named("y", &["x"])];
    world.tell(Command::Add(circle)).await;
    assert!(world.refused().await.contains("in a circle"));
}

#[tokio::test]
async fn a_job_that_waits_for_the_person_says_for_what_and_makes_room() {
    let mut world = World::new(1);
    world
        .tell(Command::Add(vec![task("one"), task("two")]))
        .await;
    let first = world.works("a1").await;
    first
        .tell(Record::LeaveAsked {
            call: "c1".to_owned(),
            title: "cargo test".to_owned(),
            details: "cargo test".to_owned(),
            reason: "it runs a program".to_owned(),
            rules: vec!["Bash(cargo test:*)".to_owned()],
        })
        .await;
    let line = world.stands("a1", "waits for you").await;
    let State::Waiting {
        what: WaitsFor::Leave { title, .. },
    } = line.state
    else {
        panic!("leave");
    };
    assert_eq!(title, "cargo test");
    let second = world.works("a2").await;
    let decision = Told::Decide {
        call: "c1".to_owned(),
        decision: agent::ask::Decision::Once,
    };
    world
        .tell(Command::Tell {
            job: "a1".to_owned(),
            command: decision.clone(),
        })
        .await;
    let mut first = first;
    assert_eq!(first.commands.recv().await, Some(decision.clone()));
    let agent::session::Command::Decide { call, decision } = decision else {
        panic!("a decision")
    };
    first.tell(Record::LeaveGiven { call, decision }).await;
    world.stands("a1", "working").await;
    let question = agent::ask::Question {
        text: "Which?".to_owned(),
        options: vec!["a".to_owned(), "b".to_owned()],
    };
    let asking = SessionEvent::Asking {
        number: 7,
        question,
    };
    let child = SessionEvent::Child {
        session: "s9".into(),
        event: Box::new(asking),
    };
    second.events.send(child).await.unwrap();
    let line = world.stands("a2", "waits for you").await;
    assert_eq!(line.helpers, ["s9"]);
    let reply = Told::Child {
        session: "s9".to_owned(),
        command: Box::new(Told::Reply {
            question: 7,
            text: Some("a".to_owned()),
        }),
    };
    world
        .tell(Command::Tell {
            job: "a2".to_owned(),
            command: reply,
        })
        .await;
    world.stands("a2", "working").await;
}

#[tokio::test]
async fn a_paused_job_is_held_at_its_next_call() {
    let mut world = World::new(1);
    world.tell(Command::Add(vec![task("one")])).await;
    let session = world.works("a1").await;
    world.tell(Command::Pause("a1".to_owned())).await;
    while !session.gate.is_closed() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.lines["a1"].state, State::Working);
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let gate = session.gate.clone();
    let call = tokio::spawn(async move { gate.pass(stopped).await });
    world.stands("a1", "paused").await;
    assert!(!call.is_finished());
    world.tell(Command::GoOn("a1".to_owned())).await;
    world.stands("a1", "working").await;
    call.await.unwrap();
    drop(stop);
}

#[tokio::test]
async fn steering_reaches_the_agent_and_a_done_one_begins_again() {
    let mut world = World::new(1);
    world.tell(Command::Add(vec![task("one")])).await;
    let mut session = world.works("a1").await;
    let steer = |text: &str| Command::Steer {
        job: "a1".to_owned(),
        text: text.to_owned(),
    };
    world.tell(steer("also this")).await;
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("steering")
    };
    assert_eq!(prompt.text, "also this");
    // The turn ends at the same moment: what was said begins another one, and the session stays.
    session
        .events
        .send(SessionEvent::Idle(TurnEnd::Done))
        .await
        .unwrap();
    session
        .tell(Record::Prompted {
            turn: 2,
            parts: Vec::new(),
            is_steering: false,
        })
        .await;
    world.until(|it| it.lines["a1"].turns == 2).await;
    assert_eq!(world.lines["a1"].state, State::Working);
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(steer("and now that")).await;
    world.stands("a1", "working").await;
    assert_eq!(world.hands.begun(), ["begin a1 s1", "again a1 s1"]);
    let mut session = world.hands.take("a1").unwrap();
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert_eq!(prompt.text, "and now that");
}

#[tokio::test]
async fn a_job_whose_agent_never_heard_its_task_is_told_it_when_it_goes_on() {
    let mut world = World::new(1);
    world.tell(Command::Add(vec![task("one")])).await;
    let _session = world.works("a1").await;
    let book = world.book.clone();
    drop(world);

    let mut world = World::with(1, book);
    assert_eq!(world.words(), ["interrupted"]);
    world.hands.lose_all();
    world.tell(Command::GoOn("a1".to_owned())).await;
    world.stands("a1", "working").await;
    let mut session = world.hands.take("a1").expect("a session");
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert_eq!(prompt.text, world.hands.tell(&task("one")));
}

#[tokio::test]
async fn a_board_that_was_killed_opens_as_it_stood_and_goes_on_when_told() {
    let mut world = World::new(1);
    let best = Command::AddBestOf(task("best"), 2);
    world.tell(Command::Add(vec![task("one")])).await;
    world.clock.advance(Duration::from_secs(2));
    world.works("a1").await.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(best).await;
    let _session = world.works("a2").await;
    world.until(|it| it.lines.len() == 3).await;
    let book = world.book.clone();
    drop(world);

    let mut world = World::with(1, book);
    assert_eq!(world.past.problems, Vec::<String>::new());
    assert_eq!(world.words(), ["done", "interrupted", "interrupted"]);
    assert_eq!(world.lines["a2"].group.as_deref(), Some("best-2"));
    assert_eq!(world.lines["a2"].session.as_deref(), Some("s2"));
    // Nothing goes on by itself.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(world.hands.begun(), Vec::<String>::new());
    world.tell(Command::GoOn("a2".to_owned())).await;
    world.stands("a2", "working").await;
    assert_eq!(world.hands.begun(), ["again a2 s2"]);
    assert_eq!(world.ground.wanted(), []);
    let mut session = world.hands.take("a2").unwrap();
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert!(prompt.text.contains("interrupted"));
    world.tell(Command::Add(vec![task("four")])).await;
    world.until(|it| it.lines.contains_key("a4")).await;
}

#[tokio::test]
async fn a_fork_goes_on_from_the_work_and_the_words_of_another() {
    let mut world = World::new(2);
    world.tell(Command::Add(vec![task("one")])).await;
    let session = world.works("a1").await;
    let fork = Command::Fork {
        job: "a1".to_owned(),
        prompt: "another way".to_owned(),
    };
    world.tell(fork.clone()).await;
    assert!(world.refused().await.contains("works at the moment"));
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(fork).await;
    world.stands("a2", "working").await;
    assert_eq!(
        world.hands.begun(),
        ["begin a1 s1", "fork s1 s2", "again a2 s2"]
    );
    assert_eq!(world.ground.wanted()[1].with[0].lease, "wt-1");
    let mut session = world.hands.take("a2").unwrap();
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert_eq!(prompt.text, "another way");
}

#[tokio::test]
async fn a_note_is_told_to_who_is_at_work_and_begins_nothing() {
    let mut world = World::new(1);
    world.tell(Command::Add(vec![task("one")])).await;
    let mut session = world.works("a1").await;
    let note = |text: &str| Command::Note {
        job: "a1".to_owned(),
        text: text.to_owned(),
    };
    world.tell(note("a2 changes it, too")).await;
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a note")
    };
    assert_eq!(prompt.text, "a2 changes it, too");
    let prompted = Record::Prompted {
        turn: 1,
        parts: Vec::new(),
        is_steering: true,
    };
    session.tell(prompted).await;
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(note("too late")).await;
    world.tell(Command::Stop("a1".to_owned())).await;
    assert!(world.refused().await.contains("a1 does not work"));
    assert_eq!(world.lines["a1"].state.word(), "done");
}

#[tokio::test]
async fn work_is_handed_over_landed_and_let_go() {
    let mut world = World::new(1);
    world
        .tell(Command::Add(vec![task("one"), task("two")]))
        .await;
    let session = world.works("a1").await;
    let over = Command::HandOver {
        job: "a1".to_owned(),
        to: Side::Person,
    };
    world.tell(over.clone()).await;
    assert!(world.refused().await.contains("a1 is working"));
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(over).await;
    loop {
        if let Event::Said { text, .. } = world.next().await {
            assert_eq!(text, "wt-1 to Person");
            break;
        }
    }
    let landed = Settled::Landed("c0ffee".to_owned());
    world
        .tell(Command::Settled {
            job: "a1".to_owned(),
            how: landed,
        })
        .await;
    world.stands("a1", "landed").await;
    world.tell(Command::Release("a1".to_owned())).await;
    world.until(|it| it.lines["a1"].place.is_none()).await;
    assert_eq!(world.ground.told(), ["wt-1 to Person", "release wt-1"]);
    // Closing ends what still works.
    let mut second = world.works("a2").await;
    world.tell(Command::Close).await;
    assert_eq!(second.commands.recv().await, Some(Told::Close));
    second
        .events
        .send(SessionEvent::Idle(TurnEnd::Stopped))
        .await
        .unwrap();
    second.events.send(SessionEvent::Closed).await.unwrap();
    loop {
        if matches!(world.next().await, Event::Closed) {
            break;
        }
    }
    assert_eq!(world.lines["a2"].state, State::Stopped);
    world.board.ended().await;
}

#[tokio::test]
async fn a_tree_that_cannot_be_had_fails_its_job_alone() {
    let mut world = World::new(1);
    world.ground.refuse("the disk is full");
    world.tell(Command::Add(vec![task("one")])).await;
    let line = world.stands("a1", "failed").await;
    assert_eq!(
        line.state,
        State::Failed {
            why: "the disk is full".to_owned()
        }
    );
    world.tell(Command::Stop("a9".to_owned())).await;
    assert!(world.refused().await.contains("no job \"a9\""));
}
