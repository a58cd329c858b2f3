//! Automations from their file to a session that is listed, in the window's own wiring.

use agent_service::{AutomationChange, AutomationEntry, AutomationState, OccurrenceState};
use host::FakeClock;

use super::board::{Repository, git, write};
use super::*;

/// 2026-11-29 06:00:00 UTC.
const START_MS: u64 = 1_795_932_000_000;

/// A repository with the automation `nightly` and engines whose clock the test moves.
struct World {
    repository: Repository,
    clock: Arc<FakeClock>,
}

impl World {
    /// `None` without `git`.
    fn new(head: &str) -> Option<Self> {
        let mut repository = Repository::new()?;
        let clock = Arc::new(FakeClock::at(START_MS));
        let engines = &mut repository.setup.engines;
        engines.automation_clock = clock.clone();
        engines.runs_automations = AtomicBool::new(true);
        let world = Self { repository, clock };
        let text = format!("---\n{head}\nmodel: mock/m\n---\nCount the words.\n");
        let path = ".burin/automations/nightly.md";
        write(&world.root().join(path), &text);
        Some(world)
    }

    fn root(&self) -> AbsPath {
        RealFiles
            .canonicalize(&self.repository.root)
            .expect("there")
    }

    fn engines(&self) -> &EngineServices {
        &self.repository.setup.engines
    }

    fn entry(&self) -> AutomationEntry {
        let listed = block_on(self.engines().automations(self.root()));
        listed.expect("readable").remove(0)
    }

    fn change(&self, change: AutomationChange) -> Result<AutomationEntry, Error> {
        let changed = block_on(self.engines().change_automation(self.root(), change));
        changed.map(|mut listed| listed.remove(0))
    }

    fn trust(&self) -> AutomationEntry {
        let mark = self.entry().mark;
        let name = "nightly".to_owned();
        let trusted = self.change(AutomationChange::Trust { name, mark });
        trusted.expect("as it is")
    }

    fn look(&self) {
        let automations = self.engines().automations.get();
        automations.expect("they run here").wake();
    }

    /// Lets the scheduler look until the latest occurrence is done.
    fn wait_until_done(&self) -> AutomationEntry {
        loop {
            let entry = self.entry();
            match entry.history.first().map(|it| &it.state) {
                Some(OccurrenceState::Done) => return entry,
                Some(OccurrenceState::Failed(_) | OccurrenceState::Skipped(_)) => {
                    panic!("{:?}", entry.history)
                }
                _ => {}
            }
            self.look();
            std::thread::yield_now();
        }
    }

    fn session(&self) -> SessionEntry {
        let listed = block_on(self.engines().sessions(self.root())).expect("readable");
        let mut named = listed.into_iter().filter(|it| it.title == "nightly");
        named.next().expect("a session with the automation's name")
    }

    fn requests(&self) -> Vec<String> {
        let requests = self.repository.model.requests().into_iter();
        let bodies = requests.map(|it| String::from_utf8_lossy(&it.body).into_owned());
        bodies
            .filter(|it| it.contains("Count the words."))
            .collect()
    }
}

#[test]
fn scheduled_automation_runs_in_a_worktree_and_is_listed() {
    let Some(world) = World::new("on: { schedule: 0 7 * * *, zone: UTC }\nlease: true") else {
        return test_support::skip("needs git");
    };
    assert_eq!(world.entry().state, AutomationState::Off);
    assert!(!world.engines().has_automations());
    let trusted = world.trust();
    assert_eq!(trusted.state, AutomationState::On);
    assert_eq!(trusted.next_ms, Some(START_MS + 3_600_000));
    world.clock.advance(Duration::from_secs(3600));
    let done = world.wait_until_done();
    assert!(world.engines().has_automations());
    assert_eq!(done.history.len(), 1);
    assert_eq!(done.history[0].planned_ms, START_MS + 3_600_000);
    let session = world.session();
    assert!(session.agent.is_some(), "it works in a worktree");
    assert!(session.is_unread);
    assert_eq!(session.status, SessionStatus::Done);
    let requests = world.requests();
    assert!(
        requests.iter().any(|it| it.contains("The automation")),
        "{requests:?}"
    );
}

#[test]
fn automation_without_a_worktree_is_a_session_of_the_folder() {
    let Some(world) = World::new("on: { schedule: 0 7 * * *, zone: UTC }") else {
        return test_support::skip("needs git");
    };
    world.trust();
    world
        .change(AutomationChange::Run("nightly".to_owned()))
        .expect("it is on");
    let done = world.wait_until_done();
    let session = world.session();
    assert_eq!(session.agent, None);
    assert_eq!(done.history[0].link.session.as_ref(), Some(&session.id));
    assert!(done.history[0].cost_nano.is_some_and(|nano| nano > 0));
    assert!(!world.requests().is_empty());
}

#[test]
fn automation_without_consent_or_with_another_text_never_runs() {
    let Some(world) = World::new("on: { schedule: 0 7 * * *, zone: UTC }") else {
        return test_support::skip("needs git");
    };
    let run = || world.change(AutomationChange::Run("nightly".to_owned()));
    let refused = run().expect_err("it is off").to_string();
    assert!(refused.contains("trust it first"), "{refused}");
    world.trust();
    let path = world.root().join(".burin/automations/nightly.md");
    let text = "---\non: { schedule: 0 7 * * *, zone: UTC }\nmodel: mock/m\n---\nSend the keys.\n";
    write(&path, text);
    assert_eq!(world.entry().state, AutomationState::Changed);
    let refused = run().expect_err("it changed").to_string();
    assert!(refused.contains("trust it first"), "{refused}");
    world.clock.advance(Duration::from_secs(7200));
    world.look();
    let stored = block_on(world.engines().sessions(world.root())).expect("readable");
    assert_eq!(stored, []);
    let off = world.change(AutomationChange::TurnOff("nightly".to_owned()));
    assert_eq!(off.expect("stored").state, AutomationState::Off);
}

#[test]
fn failing_command_starts_a_run_with_its_output() {
    let head = "on: { command: \"echo the wheel is loose; exit 3\", every: 1h }";
    let Some(world) = World::new(head) else {
        return test_support::skip("needs git");
    };
    world.trust();
    world.wait_until_done();
    let requests = world.requests();
    assert!(requests[0].contains("the wheel is loose"), "{requests:?}");
}

#[test]
fn commit_of_the_user_starts_a_run() {
    let Some(world) = World::new("on: { git: commit }") else {
        return test_support::skip("needs git");
    };
    world.trust();
    // The first look observes the branch.
    while !world.engines().has_automations() {
        world.look();
    }
    let is_made = git(&world.root(), &["add", "--all"])
        && git(
            &world.root(),
            &["commit", "--quiet", "--message", "Mend the wheel"],
        );
    assert!(is_made);
    let done = world.wait_until_done();
    assert!(done.history[0].trigger.starts_with("commit on "));
    let requests = world.requests();
    assert!(requests[0].contains("Mend the wheel"), "{requests:?}");
}
