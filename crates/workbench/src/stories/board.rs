//! The board of many agents, by the keyboard alone.

use agent::record::SessionMode;
use composer_panel::actions::ShowBoard;
use composer_panel::board::{
    BestOfEntry, Board, BoardHunk, BoardJob, BoardNotice, Command, Conflict, ConflictHunk,
    HandOverTarget, HunkVerdict, JobCommand, JobSpec, JobState, JobStatus, JobWorktree,
    LandingStatus, Resolution, StartAgents,
};
use gpui_kit::TestAppContext;

use super::a11y::names;
use super::agents::open;
use super::path;

fn job(id: &str, mark: usize, state: JobState) -> BoardJob {
    let worktree = JobWorktree {
        lease: format!("wt-{}", mark + 1),
        root: path("/p").to_string(),
        git_dir: String::new(),
        base: String::new(),
        branch: format!("burin/wt-{}", mark + 1),
    };
    let task = JobSpec {
        title: format!("task {id}"),
        ..JobSpec::default()
    };
    BoardJob {
        status: JobStatus {
            job: id.to_owned(),
            task,
            group: None,
            state,
            activity: String::new(),
            worktree: Some(worktree),
            session: None,
            subagents: Vec::new(),
            cost_nano: Some(0),
            turns: 2,
            added_ms: 0,
            worked_ms: 3_000,
        },
        mark,
        activity: String::new(),
        files: 1,
        lines: (1, 1),
        checks: None,
    }
}

fn hunk(id: &str, job: &str, verdict: HunkVerdict) -> BoardHunk {
    BoardHunk {
        id: id.to_owned(),
        job: job.to_owned(),
        path: "src/main.rs".to_owned(),
        symbol: Some("main".to_owned()),
        line: 1,
        before: vec!["old".to_owned()],
        after: vec!["new".to_owned()],
        note: None,
        author: None,
        risk: None,
        verdict,
    }
}

fn board(hunks: &[(&str, &str, HunkVerdict)]) -> Board {
    let hunks = hunks
        .iter()
        .map(|(id, job, verdict)| hunk(id, job, *verdict));
    Board {
        project: None,
        branch: "main".to_owned(),
        jobs: vec![
            job("one", 0, JobState::Done),
            job("two", 1, JobState::Working),
        ],
        hunks: hunks.collect(),
        conflicts: Vec::new(),
        landing_conflicts: Vec::new(),
        best_of: Vec::new(),
        landing: None,
        notice: None,
        error: None,
    }
}

fn judge(hunk: &str, verdict: HunkVerdict) -> Command {
    Command::Decide {
        hunk: hunk.to_owned(),
        verdict,
    }
}

#[gpui_kit::test]
fn one_prompt_starts_agents_apart(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    story.keys("alt-n").keys("alt-n").keys("alt-n");
    story.input("tidy up").keys("enter");
    story.settle();
    let task = StartAgents {
        prompt: "tidy up".to_owned(),
        model: "local/coder".to_owned(),
        agent: None,
        mode: SessionMode::Build,
        agents: 3,
        is_best_of: false,
    };
    assert_eq!(fake.take_board_commands(), [Command::Start(task.clone())]);
    assert!(
        fake.started().is_empty(),
        "none works in the person's folder"
    );
    // On to the best of two, from the board itself.
    story.keys("i").keys("alt-n").keys("alt-n");
    story.input("tidy up").keys("enter");
    let task = StartAgents {
        agents: 2,
        is_best_of: true,
        ..task
    };
    assert_eq!(fake.take_board_commands(), [Command::Start(task)]);
}

#[gpui_kit::test]
fn changes_are_judged_and_landed(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    fake.show_board(board(&[
        ("h1", "one", HunkVerdict::Open),
        ("h2", "one", HunkVerdict::Open),
        ("h3", "two", HunkVerdict::Open),
    ]));
    story.settle();
    // Nothing is accepted, so nothing lands.
    story.keys("l");
    assert_eq!(fake.take_board_commands(), []);
    story.keys("tab").keys("a").keys("r");
    assert_eq!(
        fake.take_board_commands(),
        [
            judge("h1", HunkVerdict::Accepted),
            judge("h2", HunkVerdict::Rejected)
        ],
        "each decision goes on to the next"
    );
    fake.show_board(board(&[
        ("h1", "one", HunkVerdict::Accepted),
        ("h2", "one", HunkVerdict::Rejected),
        ("h3", "two", HunkVerdict::Open),
    ]));
    story.settle();
    story.keys("[").keys("[").keys("a");
    assert_eq!(
        fake.take_board_commands(),
        [judge("h1", HunkVerdict::Open)],
        "said again, it is taken back"
    );
    story.keys("u").keys("l").keys("shift-l");
    assert_eq!(
        fake.take_board_commands(),
        [
            Command::UndoVerdict,
            Command::Land(Vec::new()),
            Command::LandWithErrors(Vec::new())
        ]
    );
    // Escape leaves the changes; then one agent is chosen, and only its work lands.
    story.keys("escape").keys("down").keys("l").keys("shift-a");
    assert_eq!(
        fake.take_board_commands(),
        [
            Command::Land(vec!["one".to_owned()]),
            Command::AcceptAll("one".to_owned())
        ]
    );
    let mut landed = board(&[]);
    landed.landing = Some(LandingStatus {
        text: "Landed 1 hunk on main".to_owned(),
        is_bad: false,
        can_undo: true,
        may_allow_errors: false,
    });
    fake.show_board(landed);
    story.settle();
    story.keys("shift-u");
    assert_eq!(fake.take_board_commands(), [Command::UndoLanding]);
}

#[gpui_kit::test]
fn agents_are_steered_paused_stopped_and_watched(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    fake.show_board(board(&[]));
    story.settle();
    // No agent is selected yet.
    story.keys("p").keys("s").keys("x");
    assert_eq!(fake.take_board_commands(), []);
    story.keys("down").keys("p").keys("s").keys("x");
    assert_eq!(
        fake.take_board_commands(),
        [Command::Job(JobCommand::Release("one".to_owned()))],
        "what is over cannot be paused or stopped"
    );
    story.keys("down").keys("p").keys("s").keys("x");
    let pause = JobCommand::Pause("two".to_owned());
    let stop = JobCommand::Stop("two".to_owned());
    assert_eq!(
        fake.take_board_commands(),
        [Command::Job(pause), Command::Job(stop)]
    );
    story.keys("i").input("mind the tests").keys("enter");
    let steer = JobCommand::Steer {
        job: "two".to_owned(),
        text: "mind the tests".to_owned(),
    };
    assert_eq!(fake.take_board_commands(), [Command::Job(steer)]);
    story.keys("alt-up").keys("enter");
    story.settle();
    assert_eq!(fake.watched(), ["one"]);
}

#[gpui_kit::test]
fn a_change_opens_where_it_was_made(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    let mut shown = board(&[("h1", "one", HunkVerdict::Open)]);
    shown.conflicts = vec![Conflict {
        job: "one".to_owned(),
        other: Some("two".to_owned()),
        path: "src/main.rs".to_owned(),
        text: "A and B both change main in src/main.rs".to_owned(),
        hunks: Vec::new(),
        draft: None,
    }];
    fake.show_board(shown);
    story.settle();
    story.keys("tab").keys("o");
    story.settle();
    assert_eq!(story.tabs(), "[main.rs]");
}

fn dispute(path: &str) -> Conflict {
    let lines = |text: &str| vec![text.to_owned()];
    Conflict {
        job: "one".to_owned(),
        other: None,
        path: path.to_owned(),
        text: "both changed main".to_owned(),
        hunks: vec![ConflictHunk {
            line: 1,
            base: lines("old"),
            branch: lines("mine"),
            agent: lines("theirs"),
        }],
        draft: Some("<<<<<<< main\nmine\n=======\ntheirs\n>>>>>>> A\n".to_owned()),
    }
}

fn settle(path: &str, resolution: Resolution) -> Command {
    Command::ResolveConflict {
        job: "one".to_owned(),
        path: path.to_owned(),
        resolution,
    }
}

#[gpui_kit::test]
fn conflicts_of_a_landing_are_settled_one_by_one(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    let mut shown = board(&[("h1", "two", HunkVerdict::Open)]);
    shown.landing_conflicts = vec![dispute("a.rs"), dispute("b.rs"), dispute("c.rs")];
    fake.show_board(shown.clone());
    story.settle();
    let seen = names(&mut story, "conflicts to resolve");
    assert!(
        seen.iter()
            .any(|it| it == "Conflict in a.rs: both changed main"),
        "{seen:?}"
    );
    // The first is the agent's, the second the branch's.
    story.keys("tab").keys("a").keys("j").keys("r");
    assert_eq!(
        fake.take_board_commands(),
        [
            settle("a.rs", Resolution::Agent),
            settle("b.rs", Resolution::Branch)
        ]
    );
    // The third conflict is resolved by hand, in a separate text.
    shown.landing_conflicts = vec![dispute("c.rs")];
    fake.show_board(shown);
    story.settle();
    story.keys("e");
    story.settle();
    assert!(story.text().starts_with("<<<<<<< main"), "{}", story.text());
    story.keys("alt-y");
    story.settle();
    assert_eq!(
        fake.take_board_commands(),
        [],
        "text with conflict markers is not sent"
    );
    assert!(story.reports()[0].contains("conflict markers"));
    story.keys("ctrl-a").input("both\n").keys("alt-y");
    story.settle();
    let written = Resolution::Text("both\n".to_owned());
    assert_eq!(fake.take_board_commands(), [settle("c.rs", written)]);
    assert_eq!(story.tabs(), "", "the text has done its work");
}

#[gpui_kit::test]
fn a_landing_that_does_not_fit_is_given_up(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    let mut shown = board(&[]);
    shown.landing_conflicts = vec![dispute("a.rs")];
    fake.show_board(shown);
    story.settle();
    story.keys("tab").keys("g");
    assert_eq!(
        fake.take_board_commands(),
        [Command::AbandonLanding("one".to_owned())]
    );
}

#[gpui_kit::test]
fn agents_are_forked_handed_over_and_taken_back(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    fake.show_board(board(&[]));
    story.settle();
    story
        .keys("down")
        .keys("f")
        .input("the other way")
        .keys("enter");
    let fork = JobCommand::Fork {
        job: "one".to_owned(),
        prompt: "the other way".to_owned(),
    };
    assert_eq!(fake.take_board_commands(), [Command::Job(fork)]);
    // After cancelling, a prompt starts agents as before.
    story.keys("alt-up").keys("down").keys("f").keys("escape");
    story.keys("b").keys("shift-b");
    let over = |to| {
        let job = "one".to_owned();
        Command::Job(JobCommand::HandOver { job, to })
    };
    assert_eq!(
        fake.take_board_commands(),
        [over(HandOverTarget::User), over(HandOverTarget::Agent)]
    );
    // Two turns: the picker begins with the latest.
    story.keys("t");
    assert!(story.is_asking());
    story.keys("down").keys("enter");
    story.settle();
    let restore = Command::Restore {
        job: "one".to_owned(),
        turn: 1,
    };
    assert_eq!(fake.take_board_commands(), [restore]);
    let mut told = board(&[]);
    told.notice = Some(BoardNotice {
        text: "wt-1 is as turn 1 found it".to_owned(),
        can_undo: true,
    });
    fake.show_board(told);
    story.settle();
    story.keys("ctrl-alt-g").keys("ctrl-alt-g").keys("z");
    assert_eq!(fake.take_board_commands(), [Command::UndoRestore]);
}

#[gpui_kit::test]
fn those_who_did_the_same_are_compared(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    let candidate = |job: &str, is_good| BestOfEntry {
        job: job.to_owned(),
        checks: vec![("cargo test".to_owned(), is_good)],
        files: 1,
        lines: (3, 1),
        cost_nano: 0,
        seconds: 4,
        is_checking: false,
    };
    let mut shown = board(&[]);
    shown.best_of = vec![candidate("two", true), candidate("one", false)];
    fake.show_board(shown);
    story.settle();
    let seen = names(&mut story, "a contest");
    assert!(
        seen.iter()
            .any(|it| it.starts_with("B, place 1, 1 of 1 checks")),
        "{seen:?}"
    );
    story.keys("c");
    assert_eq!(fake.take_board_commands(), [Command::Compare]);
}

#[gpui_kit::test]
fn changes_are_judged_in_the_text_they_made(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    // The file is `fn main() {`, `    old();`, `}`, an empty line, `fn old() {}`.
    let at = |id: &str, line, before: &str, after: &str| BoardHunk {
        line,
        before: vec![before.to_owned()],
        after: vec![after.to_owned()],
        ..hunk(id, "one", HunkVerdict::Open)
    };
    let mut shown = board(&[]);
    shown.hunks = vec![
        at("h1", 2, "    older();", "    old();"),
        at("h2", 5, "fn older() {}", "fn old() {}"),
        at("h3", 5, "x", "nothing of the kind"),
    ];
    fake.show_board(shown.clone());
    story.settle();
    story.keys("tab").keys("o");
    story.settle();
    let seen = names(&mut story, "changes in a text");
    let inline = seen
        .iter()
        .filter(|it| it.starts_with("Change by task one"));
    assert_eq!(inline.count(), 2, "{seen:?}");
    story.keys("alt-y").keys("alt-n");
    assert_eq!(
        fake.take_board_commands(),
        [
            judge("h1", HunkVerdict::Accepted),
            judge("h2", HunkVerdict::Rejected)
        ],
        "each decision goes on to the next"
    );
    // Landed changes are no longer shown, and their keys reach the text again.
    shown.hunks.clear();
    fake.show_board(shown);
    story.settle();
    let seen = names(&mut story, "a text without changes");
    assert!(
        !seen.iter().any(|it| it.starts_with("Change by")),
        "{seen:?}"
    );
    story.keys("alt-y");
    assert_eq!(fake.take_board_commands(), []);
}

#[gpui_kit::test]
fn messages_that_no_agent_got_return_to_the_prompt(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").act(ShowBoard);
    fake.show_board(board(&[]));
    story.settle();
    story.keys("i").input("my draft");
    fake.undeliver("first");
    fake.undeliver("second");
    story.settle();
    story.keys("enter");
    story.settle();
    let commands = fake.take_board_commands();
    assert!(
        matches!(
            &commands[..],
            [Command::Start(StartAgents { prompt, .. })] if prompt == "first\n\nsecond\n\nmy draft"
        ),
        "{commands:?}"
    );
}

#[gpui_kit::test]
fn a_comment_on_a_change_steers_its_agent(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    fake.show_board(board(&[("h1", "one", HunkVerdict::Open)]));
    story.settle();
    story
        .keys("tab")
        .keys("alt-i")
        .input("mind the tests")
        .keys("enter");
    story.settle();
    let steer = JobCommand::Steer {
        job: "one".to_owned(),
        text: "Comment on `src/main.rs:1`:\n```diff\n-old\n+new\n```\nmind the tests".to_owned(),
    };
    assert_eq!(fake.take_board_commands(), [Command::Job(steer)]);
    // The keys of the list work again.
    story.keys("a");
    assert_eq!(
        fake.take_board_commands(),
        [judge("h1", HunkVerdict::Accepted)]
    );
}
