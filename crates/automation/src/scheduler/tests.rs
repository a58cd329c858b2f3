//! The scheduler on a clock that tests move.

mod fake_host;

use std::time::Duration;

use host::{FakeClock, FakeFiles, TempFolder};

use super::*;
use crate::event::CommitFact;
use fake_host::{Begun, FakeHost};

/// 2026-11-29 06:00:00 UTC, a Sunday.
const START_MS: u64 = 1_795_932_000_000;
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAILY: &str = "on: { schedule: \"0 7 * * *\", zone: UTC }";

/// A project with one automation, `check`.
struct World {
    files: Arc<FakeFiles>,
    clock: Arc<FakeClock>,
    host: Arc<FakeHost>,
    ledger: Ledger,
    _folder: TempFolder,
}

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

fn consents() -> ConsentStore {
    ConsentStore::new(&path("/state"))
}

impl World {
    /// A project whose automation has this head and is trusted.
    fn new(head: &str) -> Self {
        let world = Self::untrusted(head);
        world.trust();
        world
    }

    fn untrusted(head: &str) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let ledger = Ledger::open(&folder.path().join("ledger.db"), 1).expect("a ledger");
        let files = FakeFiles::new();
        files.folder(&path("/state"));
        files.folder(&path("/p/.burin/automations"));
        let world = Self {
            files: Arc::new(files),
            clock: Arc::new(FakeClock::at(START_MS)),
            host: Arc::default(),
            ledger: ledger.ledger,
            _folder: folder,
        };
        world.write(head, "Look.");
        world
    }

    fn write(&self, head: &str, prompt: &str) {
        let text = format!("---\n{head}\n---\n{prompt}\n");
        self.files
            .write(&path("/p/.burin/automations/check.md"), text);
    }

    fn trust(&self) {
        let file = AutomationFile::read(self.files.as_ref(), &path("/p"), "check").expect("there");
        let now_ms = self.clock.wall_ms();
        let files = self.files.as_ref();
        let trusted = consents().trust(files, &path("/p"), "check", &file.mark, now_ms);
        trusted.expect("valid");
    }

    /// A scheduler of another process.
    fn scheduler(&self) -> AutomationScheduler {
        AutomationScheduler::new(SchedulerParts {
            files: self.files.clone(),
            clock: self.clock.clone(),
            consents: consents(),
            ledger: self.ledger.reopen().expect("a handle"),
            host: self.host.clone(),
        })
    }

    fn history(&self) -> Vec<Occurrence> {
        let ledger = self.ledger.reopen().expect("a handle");
        OccurrenceLog::new(ledger).read(None, 0).expect("readable")
    }

    fn states(&self) -> Vec<String> {
        let history = self.history().into_iter();
        history.map(|it| it.state.label()).collect()
    }

    fn entry(&self) -> crate::AutomationEntry {
        let ledger = self.ledger.reopen().expect("a handle");
        let now_ms = self.clock.wall_ms();
        let files = self.files.as_ref();
        let listed = crate::AutomationEntry::list(files, &consents(), ledger, &path("/p"), now_ms);
        listed.expect("readable").remove(0)
    }
}

/// Looks once in each step until `time` has passed.
fn pass(world: &World, scheduler: &mut AutomationScheduler, time: Duration, step: Duration) {
    let steps = time.as_secs() / step.as_secs();
    for _ in 0..steps {
        world.clock.advance(step);
        scheduler.tick();
    }
}

#[test]
fn schedule_fires_once_at_each_planned_time() {
    let world = World::new(DAILY);
    let mut scheduler = world.scheduler();
    let first = scheduler.tick();
    assert_eq!(first.next_ms, Some(START_MS + 3_600_000));
    assert!(first.is_on && !first.is_busy);
    pass(&world, &mut scheduler, 59 * MINUTE, MINUTE);
    assert_eq!(world.host.runs().len(), 0);
    pass(&world, &mut scheduler, 5 * MINUTE, MINUTE);
    let runs = world.host.runs();
    assert_eq!(runs.len(), 1);
    assert!(runs[0].prompt.starts_with("Look.\n"), "{}", runs[0].prompt);
    assert_eq!(runs[0].automation.name, "check");
    assert!(scheduler.tick().is_busy);
    world.host.end_all(None);
    pass(&world, &mut scheduler, 25 * HOUR, MINUTE);
    assert_eq!(world.host.runs().len(), 2, "the second one has not ended");
    assert_eq!(world.states()[..2], ["done", "works"]);
}

#[test]
fn untrusted_automation_never_runs() {
    let world = World::untrusted(DAILY);
    let mut scheduler = world.scheduler();
    pass(&world, &mut scheduler, 48 * HOUR, HOUR);
    assert!(!scheduler.tick().is_on);
    let refused = scheduler
        .run_now(&path("/p"), "check")
        .expect_err("it is off");
    assert!(matches!(refused, Error::Off(_)), "{refused}");
    assert_eq!(world.host.runs(), []);
    assert_eq!(world.history(), []);
}

#[test]
fn changed_file_or_include_turns_it_off() {
    let world = World::untrusted(DAILY);
    world.files.write(&path("/p/notes.md"), "one");
    world.write(DAILY, "Read @notes.md.");
    world.trust();
    let mut scheduler = world.scheduler();
    assert!(scheduler.tick().is_on);
    world.files.write(&path("/p/notes.md"), "two");
    pass(&world, &mut scheduler, 2 * HOUR, MINUTE);
    assert_eq!(world.host.runs(), []);
    assert_eq!(world.entry().state, crate::AutomationState::Changed);
    world.trust();
    pass(&world, &mut scheduler, 24 * HOUR, MINUTE);
    assert_eq!(world.host.runs().len(), 1);
    let mark = world.entry().mark;
    world.write(DAILY, "Read @notes.md and more.");
    let files = world.files.as_ref();
    let stale = consents().trust(files, &path("/p"), "check", &mark, 1);
    assert!(matches!(stale, Err(Error::Changed(_))));
}

#[test]
fn sleep_is_caught_up_once_or_skipped() {
    let check = |policy: &str, runs: usize, state: &str| {
        let world = World::new(&format!("{DAILY}\nmissed: {policy}"));
        let mut scheduler = world.scheduler();
        scheduler.tick();
        // The machine sleeps for three days and a half.
        world.clock.advance(84 * HOUR);
        for _ in 0..5 {
            scheduler.tick();
            world.clock.advance(MINUTE);
        }
        assert_eq!(world.host.runs().len(), runs, "{policy}");
        assert_eq!(world.states(), [state], "{policy}");
        let planned = START_MS + 3_600_000 + 3 * 86_400_000;
        assert_eq!(world.history()[0].planned_ms, planned);
    };
    check("once", 1, "works");
    check("skip", 0, "left out: the program did not run at this time");
}

#[test]
fn clock_that_is_set_back_repeats_nothing() {
    let world = World::new("on: { schedule: \"0 * * * *\", zone: UTC }");
    let mut scheduler = world.scheduler();
    scheduler.tick();
    pass(&world, &mut scheduler, 61 * MINUTE, MINUTE);
    world.host.end_all(None);
    // Another process, whose clock is an hour behind.
    let behind = World {
        clock: Arc::new(FakeClock::at(START_MS + 60_000)),
        files: world.files.clone(),
        host: world.host.clone(),
        ledger: world.ledger.reopen().expect("a handle"),
        _folder: TempFolder::new().expect("a folder"),
    };
    let mut other = behind.scheduler();
    pass(&behind, &mut other, 60 * MINUTE, MINUTE);
    assert_eq!(world.host.runs().len(), 1);
    pass(&behind, &mut other, 60 * MINUTE, MINUTE);
    assert_eq!(world.host.runs().len(), 2);
}

#[test]
fn day_and_date_limit_the_runs() {
    let head = "on: { schedule: \"0 * * * *\", zone: UTC }\nmax-per-day: 2\nuntil: 2026-11-30";
    let world = World::new(head);
    world.host.end_at_once(None);
    let mut scheduler = world.scheduler();
    scheduler.tick();
    pass(&world, &mut scheduler, 96 * HOUR, 10 * MINUTE);
    let days: Vec<u64> = world
        .history()
        .iter()
        .filter_map(|it| Some((it.started_ms? - START_MS + 6 * 3_600_000) / 86_400_000))
        .collect();
    assert_eq!(days, [0, 0, 1, 1]);
    let over = "left out: it ran 2 times today (max-per-day)";
    assert!(world.states().iter().any(|state| state == over));
    assert_eq!(world.entry().state, crate::AutomationState::Over);
}

#[test]
fn daily_budget_limits_all_automations() {
    let world =
        World::new("on: { schedule: \"0 * * * *\", zone: UTC }\nbudget: { usd: 2, tokens: 9 }");
    world.host.set_limits(DailyLimits {
        day_nano: Some(3_000_000_000),
        run_nano: Some(1_000_000_000),
    });
    world.host.end_at_once(None);
    let mut scheduler = world.scheduler();
    pass(&world, &mut scheduler, 5 * HOUR, MINUTE);
    let costs: Vec<_> = world.host.runs().iter().map(|it| it.budget).collect();
    let budget = |nano| RunBudget {
        cost_nano: Some(nano),
        tokens: Some(9),
        time: None,
    };
    // The fake's price of a run is half of its budget.
    let expected = [2_000_000_000, 2_000_000_000, 1_000_000_000, 500_000_000];
    assert_eq!(costs[..4], expected.map(budget));
    let world = World::new(DAILY);
    world.host.set_limits(DailyLimits {
        day_nano: Some(0),
        run_nano: None,
    });
    let mut scheduler = world.scheduler();
    pass(&world, &mut scheduler, 2 * HOUR, MINUTE);
    let spent = "left out: the automations' budget of the day is spent";
    assert_eq!(world.states(), [spent]);
}

#[test]
fn of_two_schedulers_one_starts_the_run() {
    let world = World::new("on: { schedule: \"* * * * *\", zone: UTC }");
    world.host.end_at_once(None);
    for minute in 1..=20 {
        world.clock.advance(MINUTE);
        let racers = [world.scheduler(), world.scheduler()];
        std::thread::scope(|scope| {
            for mut racer in racers {
                scope.spawn(move || racer.tick());
            }
        });
        assert_eq!(world.host.runs().len(), minute);
    }
}

#[test]
fn crash_between_claim_and_start_is_not_started() {
    let check = |policy: &str, expected: &str, runs: usize| {
        let world = World::new(&format!("{DAILY}\nmissed: {policy}"));
        let mut scheduler = world.scheduler();
        scheduler.tick();
        world.host.crash_before_claim(true);
        world.clock.advance(HOUR);
        scheduler.tick();
        drop(scheduler);
        assert_eq!(world.states(), ["not started"]);
        world.host.crash_before_claim(false);
        // Two processes take over.
        let (mut one, mut other) = (world.scheduler(), world.scheduler());
        for _ in 0..3 {
            world.clock.advance(MINUTE);
            one.tick();
            other.tick();
        }
        assert_eq!(world.states(), [expected], "{policy}");
        assert_eq!(world.host.runs().len(), runs, "{policy}");
    };
    check("once", "works", 1);
    check("skip", "left out: it was not started", 0);
}

#[test]
fn crash_after_the_claim_starts_nothing_twice() {
    let world = World::new(&format!("{DAILY}\nmissed: once"));
    let mut scheduler = world.scheduler();
    scheduler.tick();
    world.clock.advance(HOUR);
    scheduler.tick();
    drop(scheduler);
    // The session died with its process.
    world.host.end_all(Some("the session was interrupted"));
    let mut other = world.scheduler();
    pass(&world, &mut other, 12 * HOUR, MINUTE);
    assert_eq!(world.states(), ["failed: the session was interrupted"]);
    assert_eq!(world.host.runs().len(), 1);
}

#[test]
fn three_failures_in_a_row_turn_it_off() {
    let world = World::new("on: { schedule: \"0 * * * *\", zone: UTC }");
    world.host.end_at_once(Some("no answer"));
    let mut scheduler = world.scheduler();
    pass(&world, &mut scheduler, 10 * HOUR, MINUTE);
    assert_eq!(world.host.runs().len(), 3);
    let reports = world.host.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(
        reports[0].contains("failed 3 times in a row"),
        "{reports:?}"
    );
    assert_eq!(world.entry().state, crate::AutomationState::Failing);
    world.host.end_at_once(None);
    world.trust();
    pass(&world, &mut scheduler, 2 * HOUR, MINUTE);
    assert!(world.host.runs().len() > 3);
}

fn commit(id: &str, minute: u64, message: &str) -> CommitFact {
    CommitFact {
        id: id.to_owned(),
        at_ms: START_MS + minute * 60_000,
        message: message.to_owned(),
        author: "Ada <ada@example.com>".to_owned(),
    }
}

#[test]
fn new_commit_of_the_branch_fires_once() {
    let world = World::new("on: { git: commit }");
    let on = |branch: &str, commit: CommitFact| {
        world.host.set_git(GitFacts {
            branch: Some(branch.to_owned()),
            head: Some(commit),
            remotes: Vec::new(),
        });
    };
    let mut scheduler = world.scheduler();
    let mut check = |runs: usize| {
        pass(&world, &mut scheduler, 2 * MINUTE, MINUTE);
        assert_eq!(world.host.runs().len(), runs);
        world.host.end_all(None);
    };
    on("main", commit("a", 0, "Old"));
    check(0);
    on("main", commit("b", 1, "New"));
    check(1);
    // Another branch, and back.
    on("side", commit("c", 2, "Side"));
    check(1);
    on("main", commit("b", 1, "New"));
    check(1);
    // The commit of an agent, which landed.
    on("main", commit("d", 3, "Work\n\nBurin-Session: s-1\n"));
    check(1);
    on("main", commit("e", 4, "Mine"));
    check(2);
    let prompt = &world.host.runs()[1].prompt;
    assert!(prompt.contains("\"message\": \"Mine\""), "{prompt}");
}

#[test]
fn push_to_the_named_branch_fires() {
    let world = World::new("on: { git: push main }\nmissed: once");
    let pushed = |branch: &str, commit: CommitFact| {
        world.host.set_git(GitFacts {
            remotes: vec![(branch.to_owned(), commit)],
            ..GitFacts::default()
        });
    };
    let mut scheduler = world.scheduler();
    pushed("main", commit("a", 0, "Old"));
    pass(&world, &mut scheduler, MINUTE, MINUTE);
    pushed("other", commit("b", 1, "New"));
    pass(&world, &mut scheduler, MINUTE, MINUTE);
    assert_eq!(world.host.runs().len(), 0);
    drop(scheduler);
    // A push while no scheduler ran is caught up, by one of two.
    pushed("main", commit("c", 2, "New"));
    world.clock.advance(MINUTE);
    world.scheduler().tick();
    world.scheduler().tick();
    let triggers: Vec<_> = world.history().into_iter().map(|it| it.trigger).collect();
    assert_eq!(triggers, ["push to main c"]);
    assert_eq!(world.host.runs().len(), 1);
}

#[test]
fn command_fires_when_it_begins_to_fail() {
    let world = World::new("on: { command: cargo test, every: 10m }");
    let failed = |output: &str| CommandResult {
        failed: vec!["cargo test".to_owned()],
        output: output.to_owned(),
    };
    let mut scheduler = world.scheduler();
    let mut check = |result: CommandResult, runs: usize| {
        world.host.set_result(result);
        pass(&world, &mut scheduler, 20 * MINUTE, MINUTE);
        assert_eq!(world.host.runs().len(), runs);
        world.host.end_all(None);
        scheduler.tick();
    };
    check(CommandResult::default(), 0);
    check(failed("test a ... FAILED"), 1);
    check(failed("test a ... FAILED"), 1);
    check(CommandResult::default(), 1);
    check(failed("test b ... FAILED"), 2);
    let prompt = &world.host.runs()[1].prompt;
    assert!(prompt.contains("test b ... FAILED"), "{prompt}");
    let begun = world.host.begun();
    assert!(
        begun
            .iter()
            .all(|it| *it == Begun::Command("cargo test".to_owned()))
    );
    // Work of an agent that landed fires nothing.
    check(CommandResult::default(), 2);
    world.host.set_git(GitFacts {
        head: Some(commit("a", 1, "Work\n\nBurin-Session: s-1\n")),
        ..GitFacts::default()
    });
    check(failed("test c ... FAILED"), 2);
}

#[test]
fn checks_of_the_project_fire_when_they_begin_to_fail() {
    let world = World::new("on: { check: failing, every: 1h }");
    world.host.set_result(CommandResult {
        failed: vec!["make check".to_owned()],
        output: "boom".to_owned(),
    });
    let mut scheduler = world.scheduler();
    pass(&world, &mut scheduler, 3 * HOUR, MINUTE);
    assert_eq!(world.host.runs().len(), 1);
    assert_eq!(world.host.begun()[0], Begun::Checks);
}

#[test]
fn run_now_starts_at_once_and_keeps_the_schedule() {
    let world = World::new(DAILY);
    let mut scheduler = world.scheduler();
    scheduler.tick();
    scheduler.run_now(&path("/p"), "check").expect("it is on");
    assert_eq!(world.host.runs().len(), 1);
    let again = scheduler
        .run_now(&path("/p"), "check")
        .expect_err("it works");
    assert!(again.to_string().contains("has not ended"), "{again}");
    world.host.end_all(None);
    pass(&world, &mut scheduler, 2 * HOUR, MINUTE);
    assert_eq!(world.states(), ["done", "works"]);
}
