//! The board of many agents, by the keyboard alone.

use agent::record::SessionMode;
use composer_panel::board::{
    Agent, AgentState, BestOfEntry, Board, BoardHunk, BoardNotice, ConflictChoice, ConflictHunk,
    ConflictWarning, HandOverTarget, HunkVerdict, LandingConflict, LandingStatus, StartAgents,
    UserCommand,
};
use gpui_kit::TestAppContext;

use super::a11y::names;
use super::agents::open;
use super::path;

fn agent(id: &str, mark: usize, state: AgentState) -> Agent {
    Agent {
        id: id.to_owned(),
        mark,
        title: format!("task {id}"),
        worktree: format!("wt-{}", mark + 1),
        root: Some(path("/p")),
        branch: format!("burin/wt-{}", mark + 1),
        state,
        activity: String::new(),
        files: 1,
        lines: (1, 1),
        cost_nano: 0,
        seconds: 3,
        checks: None,
        turns: 2,
    }
}

fn hunk(id: &str, agent: &str, verdict: HunkVerdict) -> BoardHunk {
    BoardHunk {
        id: id.to_owned(),
        agent: agent.to_owned(),
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
        .map(|(id, agent, verdict)| hunk(id, agent, *verdict));
    Board {
        project: None,
        branch: "main".to_owned(),
        agents: vec![
            agent("one", 0, AgentState::Done),
            agent("two", 1, AgentState::Working),
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

fn judge(hunk: &str, verdict: HunkVerdict) -> UserCommand {
    UserCommand::Decide {
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
        mode: SessionMode::Build,
        agents: 3,
        is_best_of: false,
    };
    assert_eq!(
        fake.take_user_commands(),
        [UserCommand::Start(task.clone())]
    );
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
    assert_eq!(fake.take_user_commands(), [UserCommand::Start(task)]);
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
    assert_eq!(fake.take_user_commands(), []);
    story.keys("tab").keys("a").keys("r");
    assert_eq!(
        fake.take_user_commands(),
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
        fake.take_user_commands(),
        [judge("h1", HunkVerdict::Open)],
        "said again, it is taken back"
    );
    story.keys("u").keys("l");
    assert_eq!(
        fake.take_user_commands(),
        [UserCommand::UndoVerdict, UserCommand::Land(Vec::new())]
    );
    // Escape leaves the changes; then one agent is chosen, and only its work lands.
    story.keys("escape").keys("down").keys("l").keys("shift-a");
    assert_eq!(
        fake.take_user_commands(),
        [
            UserCommand::Land(vec!["one".to_owned()]),
            UserCommand::AcceptAll("one".to_owned())
        ]
    );
    let mut landed = board(&[]);
    landed.landing = Some(LandingStatus {
        text: "Landed 1 hunk on main".to_owned(),
        is_bad: false,
        can_undo: true,
    });
    fake.show_board(landed);
    story.settle();
    story.keys("shift-u");
    assert_eq!(fake.take_user_commands(), [UserCommand::UndoLanding]);
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
    assert_eq!(fake.take_user_commands(), []);
    story.keys("down").keys("p").keys("s").keys("x");
    assert_eq!(
        fake.take_user_commands(),
        [UserCommand::Remove("one".to_owned())],
        "what is over cannot be paused or stopped"
    );
    story.keys("down").keys("p").keys("s").keys("x");
    let pause = UserCommand::Pause {
        agent: "two".to_owned(),
        is_paused: true,
    };
    assert_eq!(
        fake.take_user_commands(),
        [pause, UserCommand::Stop("two".to_owned())]
    );
    story.keys("i").input("mind the tests").keys("enter");
    let steer = UserCommand::Steer {
        agent: "two".to_owned(),
        text: "mind the tests".to_owned(),
    };
    assert_eq!(fake.take_user_commands(), [steer]);
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
    shown.conflicts = vec![ConflictWarning {
        agents: vec!["one".to_owned(), "two".to_owned()],
        path: "src/main.rs".to_owned(),
        text: "A and B both change main in src/main.rs".to_owned(),
    }];
    fake.show_board(shown);
    story.settle();
    story.keys("tab").keys("o");
    story.settle();
    assert_eq!(story.tabs(), "[main.rs]");
}

fn dispute(path: &str) -> LandingConflict {
    let lines = |text: &str| vec![text.to_owned()];
    LandingConflict {
        agent: "one".to_owned(),
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

fn settle(path: &str, with: ConflictChoice) -> UserCommand {
    UserCommand::ResolveConflict {
        agent: "one".to_owned(),
        path: path.to_owned(),
        choice: with,
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
        fake.take_user_commands(),
        [
            settle("a.rs", ConflictChoice::Agent),
            settle("b.rs", ConflictChoice::Branch)
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
    assert_eq!(fake.take_user_commands(), [], "conflict marks are no text");
    assert!(story.reports()[0].contains("conflict markers"));
    story.keys("ctrl-a").input("both\n").keys("alt-y");
    story.settle();
    let written = ConflictChoice::Text("both\n".to_owned());
    assert_eq!(fake.take_user_commands(), [settle("c.rs", written)]);
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
        fake.take_user_commands(),
        [UserCommand::AbandonLanding("one".to_owned())]
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
    let fork = UserCommand::Fork {
        agent: "one".to_owned(),
        prompt: "the other way".to_owned(),
    };
    assert_eq!(fake.take_user_commands(), [fork]);
    // After cancelling, a prompt starts agents as before.
    story.keys("alt-up").keys("down").keys("f").keys("escape");
    story.keys("b").keys("shift-b");
    let over = |to| UserCommand::HandOver {
        agent: "one".to_owned(),
        to,
    };
    assert_eq!(
        fake.take_user_commands(),
        [over(HandOverTarget::Person), over(HandOverTarget::Agent)]
    );
    // Two turns: the picker begins with the latest.
    story.keys("t");
    assert!(story.is_asking());
    story.keys("down").keys("enter");
    story.settle();
    let restore = UserCommand::Restore {
        agent: "one".to_owned(),
        turn: 1,
    };
    assert_eq!(fake.take_user_commands(), [restore]);
    let mut told = board(&[]);
    told.notice = Some(BoardNotice {
        text: "wt-1 is as turn 1 found it".to_owned(),
        can_undo: true,
    });
    fake.show_board(told);
    story.settle();
    story.keys("ctrl-alt-g").keys("ctrl-alt-g").keys("z");
    assert_eq!(fake.take_user_commands(), [UserCommand::UndoRestore]);
}

#[gpui_kit::test]
fn those_who_did_the_same_are_compared(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    let candidate = |agent: &str, is_good| BestOfEntry {
        agent: agent.to_owned(),
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
    assert_eq!(fake.take_user_commands(), [UserCommand::Compare]);
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
        fake.take_user_commands(),
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
    assert_eq!(fake.take_user_commands(), []);
}
