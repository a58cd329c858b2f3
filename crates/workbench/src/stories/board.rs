//! The board of many agents, by the keyboard alone.

use agent::record::Mode;
use composer_panel::board::{
    Agent, AgentState, Board, Conflict, Hunk, Landing, Task, Verdict, Wish,
};
use gpui_kit::TestAppContext;

use super::agents::open;
use super::path;

fn agent(id: &str, mark: usize, state: AgentState) -> Agent {
    Agent {
        id: id.to_owned(),
        mark,
        title: format!("task {id}"),
        place: format!("wt-{}", mark + 1),
        root: Some(path("/p")),
        branch: format!("burin/wt-{}", mark + 1),
        state,
        doing: String::new(),
        files: 1,
        lines: (1, 1),
        cost_nano: 0,
        seconds: 3,
        checks: None,
    }
}

fn hunk(id: &str, agent: &str, verdict: Verdict) -> Hunk {
    Hunk {
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

fn board(hunks: &[(&str, &str, Verdict)]) -> Board {
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
        landing: None,
        trouble: None,
    }
}

fn judge(hunk: &str, verdict: Verdict) -> Wish {
    Wish::Judge {
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
    let task = Task {
        prompt: "tidy up".to_owned(),
        model: "local/coder".to_owned(),
        mode: Mode::Build,
        agents: 3,
        is_contest: false,
    };
    assert_eq!(fake.wishes(), [Wish::Start(task.clone())]);
    assert!(
        fake.started().is_empty(),
        "none works in the person's folder"
    );
    // On to the best of two, from the board itself.
    story.keys("i").keys("alt-n").keys("alt-n");
    story.input("tidy up").keys("enter");
    let task = Task {
        agents: 2,
        is_contest: true,
        ..task
    };
    assert_eq!(fake.wishes(), [Wish::Start(task)]);
}

#[gpui_kit::test]
fn changes_are_judged_and_landed(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    fake.show(board(&[
        ("h1", "one", Verdict::Open),
        ("h2", "one", Verdict::Open),
        ("h3", "two", Verdict::Open),
    ]));
    story.settle();
    // Nothing is accepted, so nothing lands.
    story.keys("l");
    assert_eq!(fake.wishes(), []);
    story.keys("tab").keys("a").keys("r");
    assert_eq!(
        fake.wishes(),
        [
            judge("h1", Verdict::Accepted),
            judge("h2", Verdict::Rejected)
        ],
        "each decision goes on to the next"
    );
    fake.show(board(&[
        ("h1", "one", Verdict::Accepted),
        ("h2", "one", Verdict::Rejected),
        ("h3", "two", Verdict::Open),
    ]));
    story.settle();
    story.keys("[").keys("[").keys("a");
    assert_eq!(
        fake.wishes(),
        [judge("h1", Verdict::Open)],
        "said again, it is taken back"
    );
    story.keys("u").keys("l");
    assert_eq!(fake.wishes(), [Wish::UndoVerdict, Wish::Land(Vec::new())]);
    // Escape leaves the changes; then one agent is chosen, and only its work lands.
    story.keys("escape").keys("down").keys("l").keys("shift-a");
    assert_eq!(
        fake.wishes(),
        [
            Wish::Land(vec!["one".to_owned()]),
            Wish::AcceptAll("one".to_owned())
        ]
    );
    let mut landed = board(&[]);
    landed.landing = Some(Landing {
        text: "Landed 1 hunk on main".to_owned(),
        is_bad: false,
        can_undo: true,
    });
    fake.show(landed);
    story.settle();
    story.keys("shift-u");
    assert_eq!(fake.wishes(), [Wish::UndoLanding]);
}

#[gpui_kit::test]
fn agents_are_steered_paused_stopped_and_watched(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    fake.show(board(&[]));
    story.settle();
    // Nobody is chosen yet.
    story.keys("p").keys("s").keys("x");
    assert_eq!(fake.wishes(), []);
    story.keys("down").keys("p").keys("s").keys("x");
    assert_eq!(
        fake.wishes(),
        [Wish::Remove("one".to_owned())],
        "what is over cannot be paused or stopped"
    );
    story.keys("down").keys("p").keys("s").keys("x");
    let pause = Wish::Pause {
        agent: "two".to_owned(),
        is_paused: true,
    };
    assert_eq!(fake.wishes(), [pause, Wish::Stop("two".to_owned())]);
    story.keys("i").input("mind the tests").keys("enter");
    let steer = Wish::Steer {
        agent: "two".to_owned(),
        text: "mind the tests".to_owned(),
    };
    assert_eq!(fake.wishes(), [steer]);
    story.keys("alt-up").keys("enter");
    story.settle();
    assert_eq!(fake.watched(), ["one"]);
}

#[gpui_kit::test]
fn a_change_opens_where_it_was_made(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-g");
    story.settle();
    let mut shown = board(&[("h1", "one", Verdict::Open)]);
    shown.conflicts = vec![Conflict {
        agents: vec!["one".to_owned(), "two".to_owned()],
        path: "src/main.rs".to_owned(),
        text: "A and B both change main in src/main.rs".to_owned(),
    }];
    fake.show(shown);
    story.settle();
    story.keys("tab").keys("o");
    story.settle();
    assert_eq!(story.tabs(), "[main.rs]");
}
