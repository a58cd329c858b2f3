//! Tests a board over fake worktrees and sessions.

use std::sync::Arc;
use std::time::Duration;

use agent::record::{SessionRecord, Stored, TurnEnd};
use agent::session::{AgentEvent as SessionEvent, SessionCommand as Told};
use host::FakeClock;

use super::fake::FakeSession;
use super::*;
use crate::job::{AwaitedInput, JobState, JobStatus, WorkOutcome};
use crate::protocol::{Event, JobCommand};

struct World {
    board: BoardHandle,
    past: SavedBoard,
    store: Arc<MemoryBoardStore>,
    worktrees: FakeWorktrees,
    starter: FakeStarter,
    clock: Arc<FakeClock>,
    lines: std::collections::BTreeMap<String, JobStatus>,
}

fn task(prompt: &str) -> JobSpec {
    JobSpec {
        title: prompt.to_owned(),
        prompt: prompt.to_owned(),
        role: "builder".to_owned(),
        model: "demo".to_owned(),
        ..JobSpec::default()
    }
}

fn named(name: &str, needs: &[&str]) -> JobSpec {
    JobSpec {
        name: name.to_owned(),
        needs: needs.iter().map(|it| (*it).to_owned()).collect(),
        ..task(name)
    }
}

impl World {
    fn new(max_parallel: usize) -> Self {
        Self::with(max_parallel, Arc::new(MemoryBoardStore::default()))
    }

    fn with(max_parallel: usize, store: Arc<MemoryBoardStore>) -> Self {
        let (worktrees, starter) = (FakeWorktrees::default(), FakeStarter::default());
        let clock = Arc::new(FakeClock::at(1_000));
        let config = BoardConfig {
            store: store.clone(),
            worktrees: Arc::new(worktrees.clone()),
            starter: Arc::new(starter.clone()),
            clock: clock.clone(),
            max_parallel,
        };
        let (board, past) = BoardHandle::open(config).unwrap();
        let lines = past.jobs.iter().map(|it| (it.job.clone(), it.clone()));
        Self {
            lines: lines.collect(),
            board,
            past,
            store,
            worktrees,
            starter,
            clock,
        }
    }

    async fn tell(&self, command: JobCommand) {
        self.board.commands.send(command).await.unwrap();
    }

    /// Returns the next event, and keeps the status of the jobs.
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

    /// Waits until a job is in this state, and returns its status.
    async fn stands(&mut self, job: &str, word: &str) -> JobStatus {
        self.until(|it| {
            it.lines
                .get(job)
                .is_some_and(|line| line.state.label() == word)
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
        let mut session = self.starter.take_session(job).expect("a session");
        let prompted = SessionRecord::Prompted {
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
        self.lines.values().map(|line| line.state.label()).collect()
    }
}

impl FakeSession {
    async fn tell(&self, record: SessionRecord) {
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
        .tell(JobCommand::Add(vec![
            task("one"),
            task("two"),
            task("three"),
        ]))
        .await;
    let first = world.works("a1").await;
    world.works("a2").await.end(TurnEnd::Done).await;
    assert_eq!(world.lines["a3"].activity, "waiting for a free slot");
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
        .map(|line| line.worktree.as_ref().unwrap().lease.as_str())
        .collect();
    assert_eq!(places, ["wt-1", "wt-2", "wt-3"]);
    loop {
        if matches!(world.next().await, Event::AllSettled) {
            break;
        }
    }
}

#[tokio::test]
async fn dependencies_run_first_and_seed_the_worktree() {
    let mut world = World::new(4);
    let tasks = vec![
        named("build", &[]),
        named("test", &["build"]),
        named("ship", &["test", "build"]),
    ];
    world.tell(JobCommand::Add(tasks)).await;
    let build = world.works("a1").await;
    world
        .until(|it| it.lines.len() == 3 && !it.lines["a3"].activity.is_empty())
        .await;
    assert_eq!(world.lines["a2"].activity, "waiting for a1");
    build.end(TurnEnd::Done).await;
    let test = world.works("a2").await;
    assert_eq!(world.worktrees.requests()[1].start_from[0].lease, "wt-1");
    test.end(TurnEnd::Stopped).await;
    world
        .until(|it| it.lines["a3"].activity.contains("did not finish"))
        .await;
    assert_eq!(
        world.lines["a3"].activity,
        "depends on a2, which did not finish"
    );
    // The failed dependency is resumed.
    world.tell(JobCommand::Resume("a2".to_owned())).await;
    world.works("a2").await.end(TurnEnd::Done).await;
    world.works("a3").await;
    let circle = vec![named("x", &["y"]), named("y", &["x"])];
    world.tell(JobCommand::Add(circle)).await;
    assert!(world.refused().await.contains("form a cycle"));
}

#[tokio::test]
async fn job_waiting_for_the_user_frees_its_slot() {
    let mut world = World::new(1);
    world
        .tell(JobCommand::Add(vec![task("one"), task("two")]))
        .await;
    let first = world.works("a1").await;
    first
        .tell(SessionRecord::LeaveAsked {
            call: "c1".to_owned(),
            title: "cargo test".to_owned(),
            details: "cargo test".to_owned(),
            reason: "it runs a program".to_owned(),
            rules: vec!["Bash(cargo test:*)".to_owned()],
        })
        .await;
    let line = world.stands("a1", "waits for you").await;
    let JobState::Waiting {
        input: AwaitedInput::Permission { title, .. },
    } = line.state
    else {
        panic!("leave");
    };
    assert_eq!(title, "cargo test");
    let second = world.works("a2").await;
    let decision = Told::Decide {
        call: "c1".to_owned(),
        decision: agent::user_prompts::PermissionDecision::Once,
    };
    world
        .tell(JobCommand::Forward {
            job: "a1".to_owned(),
            command: decision.clone(),
        })
        .await;
    let mut first = first;
    assert_eq!(first.commands.recv().await, Some(decision.clone()));
    let agent::session::SessionCommand::Decide { call, decision } = decision else {
        panic!("a decision")
    };
    first
        .tell(SessionRecord::LeaveGiven { call, decision })
        .await;
    world.stands("a1", "working").await;
    let question = agent::user_prompts::UserQuestion {
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
    assert_eq!(line.subagents, ["s9"]);
    let reply = Told::Child {
        session: "s9".to_owned(),
        command: Box::new(Told::Reply {
            question: 7,
            text: Some("a".to_owned()),
        }),
    };
    world
        .tell(JobCommand::Forward {
            job: "a2".to_owned(),
            command: reply,
        })
        .await;
    world.stands("a2", "working").await;
}

#[tokio::test]
async fn a_paused_job_is_held_at_its_next_call() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let session = world.works("a1").await;
    world.tell(JobCommand::Pause("a1".to_owned())).await;
    while !session.gate.is_closed() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.lines["a1"].state, JobState::Working);
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let gate = session.gate.clone();
    let call = tokio::spawn(async move { gate.pass(stopped).await });
    world.stands("a1", "paused").await;
    assert!(!call.is_finished());
    world.tell(JobCommand::Resume("a1".to_owned())).await;
    world.stands("a1", "working").await;
    call.await.unwrap();
    drop(stop);
}

#[tokio::test]
async fn steering_reaches_the_agent_and_a_done_one_begins_again() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let mut session = world.works("a1").await;
    let steer = |text: &str| JobCommand::Steer {
        job: "a1".to_owned(),
        text: text.to_owned(),
    };
    world.tell(steer("also this")).await;
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("steering")
    };
    assert_eq!(prompt.text, "also this");
    // The turn ends at the same moment: the message begins another one, and the session stays.
    session
        .events
        .send(SessionEvent::Idle(TurnEnd::Done))
        .await
        .unwrap();
    session
        .tell(SessionRecord::Prompted {
            turn: 2,
            parts: Vec::new(),
            is_steering: false,
        })
        .await;
    world.until(|it| it.lines["a1"].turns == 2).await;
    assert_eq!(world.lines["a1"].state, JobState::Working);
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(steer("and now that")).await;
    world.stands("a1", "working").await;
    assert_eq!(world.starter.calls(), ["begin a1 s1", "again a1 s1"]);
    let mut session = world.starter.take_session("a1").unwrap();
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert_eq!(prompt.text, "and now that");
}

#[tokio::test]
async fn resumed_job_without_prompt_gets_its_task() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let _session = world.works("a1").await;
    let store = world.store.clone();
    drop(world);

    let mut world = World::with(1, store);
    assert_eq!(world.words(), ["interrupted"]);
    world.starter.lose_all();
    world.tell(JobCommand::Resume("a1".to_owned())).await;
    world.stands("a1", "working").await;
    let mut session = world.starter.take_session("a1").expect("a session");
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert_eq!(prompt.text, world.starter.prompt_for(&task("one")));
}

#[tokio::test]
async fn killed_board_reopens_and_resumes_on_command() {
    let mut world = World::new(1);
    let best = JobCommand::AddBestOf(task("best"), 2);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    world.clock.advance(Duration::from_secs(2));
    world.works("a1").await.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(best).await;
    let _session = world.works("a2").await;
    world.until(|it| it.lines.len() == 3).await;
    let store = world.store.clone();
    drop(world);

    let mut world = World::with(1, store);
    assert_eq!(world.past.problems, Vec::<String>::new());
    assert_eq!(world.words(), ["done", "interrupted", "interrupted"]);
    assert_eq!(world.lines["a2"].group.as_deref(), Some("best-2"));
    assert_eq!(world.lines["a2"].session.as_deref(), Some("s2"));
    // No job resumes by itself.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(world.starter.calls(), Vec::<String>::new());
    world.tell(JobCommand::Resume("a2".to_owned())).await;
    world.stands("a2", "working").await;
    assert_eq!(world.starter.calls(), ["again a2 s2"]);
    assert_eq!(world.worktrees.requests(), []);
    let mut session = world.starter.take_session("a2").unwrap();
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert!(prompt.text.contains("interrupted"));
    world.tell(JobCommand::Add(vec![task("four")])).await;
    world.until(|it| it.lines.contains_key("a4")).await;
}

#[tokio::test]
async fn fork_starts_with_work_and_conversation() {
    let mut world = World::new(2);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let session = world.works("a1").await;
    let fork = JobCommand::Fork {
        job: "a1".to_owned(),
        prompt: "another sender".to_owned(),
    };
    world.tell(fork.clone()).await;
    assert!(world.refused().await.contains("is running"));
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(fork).await;
    world.stands("a2", "working").await;
    assert_eq!(
        world.starter.calls(),
        ["begin a1 s1", "fork s1 s2", "again a2 s2"]
    );
    assert_eq!(world.worktrees.requests()[1].start_from[0].lease, "wt-1");
    let mut session = world.starter.take_session("a2").unwrap();
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a prompt")
    };
    assert_eq!(prompt.text, "another sender");
}

#[tokio::test]
async fn note_reaches_only_a_running_agent() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let mut session = world.works("a1").await;
    let note = |text: &str| JobCommand::Note {
        job: "a1".to_owned(),
        text: text.to_owned(),
    };
    world.tell(note("a2 changes it, too")).await;
    let Some(Told::Steer(prompt)) = session.commands.recv().await else {
        panic!("a note")
    };
    assert_eq!(prompt.text, "a2 changes it, too");
    let prompted = SessionRecord::Prompted {
        turn: 1,
        parts: Vec::new(),
        is_steering: true,
    };
    session.tell(prompted).await;
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(note("too late")).await;
    world.tell(JobCommand::Stop("a1".to_owned())).await;
    assert!(world.refused().await.contains("a1 is not running"));
    assert_eq!(world.lines["a1"].state.label(), "done");
}

#[tokio::test]
async fn work_is_handed_over_landed_and_let_go() {
    let mut world = World::new(1);
    world
        .tell(JobCommand::Add(vec![task("one"), task("two")]))
        .await;
    let session = world.works("a1").await;
    let over = JobCommand::HandOver {
        job: "a1".to_owned(),
        to: HandOverTarget::User,
    };
    world.tell(over.clone()).await;
    assert!(world.refused().await.contains("a1 is working"));
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(over).await;
    loop {
        if let Event::Notice { text, .. } = world.next().await {
            assert_eq!(text, "wt-1 to User");
            break;
        }
    }
    let landed = WorkOutcome::Landed("c0ffee".to_owned());
    world
        .tell(JobCommand::RecordOutcome {
            job: "a1".to_owned(),
            outcome: landed,
        })
        .await;
    world.stands("a1", "landed").await;
    world.tell(JobCommand::Release("a1".to_owned())).await;
    world.until(|it| it.lines["a1"].worktree.is_none()).await;
    assert_eq!(world.worktrees.calls(), ["wt-1 to User", "release wt-1"]);
    // Closing the board ends running sessions.
    let mut second = world.works("a2").await;
    world.tell(JobCommand::Close).await;
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
    assert_eq!(world.lines["a2"].state, JobState::Stopped);
    world.board.closed().await;
}

#[tokio::test]
async fn a_tree_that_cannot_be_had_fails_its_job_alone() {
    let mut world = World::new(1);
    world.worktrees.refuse("the disk is full");
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let line = world.stands("a1", "failed").await;
    assert_eq!(
        line.state,
        JobState::Failed {
            why: "the disk is full".to_owned()
        }
    );
    world.tell(JobCommand::Stop("a9".to_owned())).await;
    assert!(world.refused().await.contains("no job \"a9\""));
}

fn forward(command: Told) -> JobCommand {
    JobCommand::Forward {
        job: "a1".to_owned(),
        command,
    }
}

fn said(text: &str) -> agent::session::UserPrompt {
    agent::session::UserPrompt {
        text: text.to_owned(),
        images: Vec::new(),
    }
}

#[tokio::test]
async fn refused_messages_come_back() {
    let mut world = World::new(1);
    world
        .tell(JobCommand::Add(vec![task("one"), task("two")]))
        .await;
    let _session = world.works("a1").await;
    let steer = JobCommand::Steer {
        job: "a2".to_owned(),
        text: "also this".to_owned(),
    };
    world.tell(steer).await;
    assert!(world.refused().await.contains("has not started yet"));
    let event = world.next().await;
    assert!(
        matches!(&event, Event::Undelivered(prompt) if *prompt == said("also this")),
        "{event:?}"
    );
    let forwarded = JobCommand::Forward {
        job: "a2".to_owned(),
        command: Told::Prompt(said("and that")),
    };
    world.tell(forwarded).await;
    assert!(world.refused().await.contains("has not started yet"));
    let Event::Session { job, event } = world.next().await else {
        panic!("an event for the view")
    };
    assert_eq!(job, "a2");
    assert!(matches!(&*event, SessionEvent::GivenBack(prompt) if *prompt == said("and that")));
}

#[tokio::test]
async fn a_message_for_a_session_that_has_just_ended_comes_back() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let session = world.works("a1").await;
    drop(session.commands);
    world.tell(forward(Told::Steer(said("one more")))).await;
    assert!(world.refused().await.contains("has ended"));
    assert!(matches!(world.next().await, Event::Session { .. }));
}

#[tokio::test]
async fn images_reach_the_agent_while_it_works_and_when_it_begins_again() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let mut session = world.works("a1").await;
    let image = model::PartContent::Image {
        media_type: "image/png".to_owned(),
        bytes: Arc::from([1, 2, 3]),
    };
    let shown = agent::session::UserPrompt {
        images: vec![image],
        ..said("as in the picture")
    };
    world.tell(forward(Told::Prompt(shown.clone()))).await;
    let expected = Some(Told::Steer(shown.clone()));
    assert_eq!(session.commands.recv().await, expected);
    let prompted = SessionRecord::Prompted {
        turn: 1,
        parts: Vec::new(),
        is_steering: true,
    };
    session.tell(prompted).await;
    session.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    world.tell(forward(Told::Prompt(shown))).await;
    world.stands("a1", "working").await;
    let mut session = world.starter.take_session("a1").unwrap();
    assert_eq!(session.commands.recv().await, expected);
}

#[tokio::test]
async fn settings_for_a_finished_job_precede_its_next_prompt() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    world.works("a1").await.end(TurnEnd::Done).await;
    world.stands("a1", "done").await;
    let switch = Told::Switch {
        model: "local/coder".to_owned(),
        how: agent::record::Handover::Full,
    };
    let plan = Told::SetMode(agent::record::SessionMode::Plan);
    let ask = Told::SetMode(agent::record::SessionMode::Ask);
    for command in [plan, switch.clone(), ask.clone()] {
        world.tell(forward(command)).await;
    }
    world.tell(forward(Told::Prompt(said("go on")))).await;
    world.stands("a1", "working").await;
    let mut session = world.starter.take_session("a1").unwrap();
    for expected in [switch, ask, Told::Steer(said("go on"))] {
        assert_eq!(session.commands.recv().await, Some(expected));
    }
}

#[tokio::test]
async fn prompts_of_the_board_are_not_given_back_to_the_user() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let session = world.works("a1").await;
    let own = world.starter.prompt_for(&task("one"));
    for text in [own.as_str(), "mine"] {
        let given_back = SessionEvent::GivenBack(said(text));
        session.events.send(given_back).await.unwrap();
    }
    loop {
        if let Event::Session { event, .. } = world.next().await
            && let SessionEvent::GivenBack(prompt) = *event
        {
            assert_eq!(prompt, said("mine"));
            break;
        }
    }
}

#[tokio::test]
async fn a_notice_reports_changes_that_were_not_recorded() {
    let mut world = World::new(1);
    world.tell(JobCommand::Add(vec![task("one")])).await;
    let session = world.works("a1").await;
    session
        .gate
        .report("cannot record changes: disk full".to_owned());
    loop {
        if let Event::Notice { job, text } = world.next().await {
            assert_eq!(job, "a1");
            assert!(text.contains("disk full"), "{text}");
            break;
        }
    }
}
