//! The composer service with a user, over work by agents of the demo model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::context::OpenFiles;
use agent::record::{SessionMode, SessionRecord};
use base::AbsPath;
use composer::view::{
    AgentState, Board, ConflictChoice, HandOverTarget, HunkVerdict, StartAgents, UserCommand,
};
use futures::StreamExt as _;
use futures::channel::mpsc;
use host::Dirs;
use runtime::agent_services::AgentServices;
use runtime::compose::service::ComposerHandle;
use runtime::indexes::IndexRegistry;
use serde_json::json;

use super::compose::Story;

struct Person {
    story: Story,
    workshop: Arc<AgentServices>,
    desk: ComposerHandle,
    boards: mpsc::UnboundedReceiver<Arc<Board>>,
    board: Arc<Board>,
}

impl Person {
    async fn at(story: Story) -> Self {
        let folder = |name: &str| AbsPath::new(story.home.path(name)).expect("a path");
        let dirs = Dirs {
            config: folder("config"),
            state: folder("state"),
            cache: folder("cache"),
        };
        let unsaved = Arc::new(project::UnsavedTexts::default());
        let workshop = AgentServices::open(
            &dirs,
            unsaved.clone(),
            |_| OpenFiles::default(),
            IndexRegistry::new(&dirs),
        )
        .await;
        let workshop = Arc::new(workshop.expect("a workshop"));
        let hub = AbsPath::new(story.hub.clone()).expect("a path");
        let engines = workshop.clone();
        let desk = tokio::task::spawn_blocking(move || {
            ComposerHandle::open(&engines, &dirs, &hub, unsaved)
        });
        let desk = desk.await.expect("no panic").expect("a desk");
        Self {
            boards: desk.boards(),
            workshop,
            desk,
            story,
            board: Arc::default(),
        }
    }

    fn wish(&self, wish: UserCommand) {
        self.desk.send(wish);
    }

    /// Waits for a board that is so.
    async fn until(&mut self, what: &str, is_so: impl Fn(&Board) -> bool) -> Arc<Board> {
        let wait = async {
            while !is_so(&self.board) {
                self.board = self.boards.next().await.expect("a board that goes on");
            }
        };
        if tokio::time::timeout(Duration::from_secs(120), wait)
            .await
            .is_err()
        {
            panic!("no board in time on which {what}: {:#?}", self.board);
        }
        self.board.clone()
    }

    async fn stands(&mut self, agent: &str, state: AgentState) -> Arc<Board> {
        let what = format!("{agent} is {}", state.label());
        self.until(&what, |board| is(board, agent, state)).await
    }
}

/// Starts another agent; returns the texts that joined its prompt.
async fn joined(person: &mut Person, agents: usize) -> String {
    person.wish(UserCommand::Start(StartAgents {
        prompt: "Improve the sample project".to_owned(),
        model: "demo".to_owned(),
        mode: SessionMode::Build,
        agents: 1,
        is_best_of: false,
    }));
    let agent = format!("a{agents}");
    person.stands(&agent, AgentState::Done).await;
    let watched = person.desk.watch(&agent).expect("it has begun");
    let texts = watched.past.iter().filter_map(|event| match event {
        agent::AgentEvent::Recorded(stored) => match &stored.record {
            SessionRecord::Joined { text, .. } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_in_worktrees_get_what_their_checkout_is_trusted_with() {
    let Some(story) = Story::of(&["--agents", "1", "Improve the sample project"]) else {
        return;
    };
    let hook = json!({ "type": "command", "command": "echo hook ran in $(pwd)" });
    let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hooks": [hook] }] } });
    story.commit("AGENTS.md", "Prefer short names.\n");
    story.commit(".claude/settings.json", &hooks.to_string());
    let mut person = Person::at(story).await;
    let before = joined(&mut person, 2).await;
    assert!(!before.contains("Prefer short names."), "{before}");
    assert!(!before.contains("hook ran in"), "{before}");

    let root = AbsPath::new(person.story.hub.clone()).expect("a path");
    let workshop = person.workshop.clone();
    let allowed = tokio::task::spawn_blocking(move || {
        workshop.set_trusted(&root, true)?;
        let waiting = workshop.folder_trust(&root).hooks;
        workshop.allow_hooks(&root, &waiting)
    });
    allowed.await.expect("no panic").expect("kept");
    let after = joined(&mut person, 3).await;
    assert!(after.contains("Prefer short names."), "{after}");
    let board = person.board.clone();
    let root = board.agent("a3").and_then(|it| it.root.clone());
    let root = root.expect("a worktree");
    assert!(after.contains(&format!("hook ran in {root}")), "{after}");
}

fn is(board: &Board, agent: &str, state: AgentState) -> bool {
    board.agent(agent).is_some_and(|it| it.state == state)
}

fn accept_all(agent: &str) -> UserCommand {
    UserCommand::AcceptAll(agent.to_owned())
}

fn settle(agent: &str, path: &str, with: ConflictChoice) -> UserCommand {
    UserCommand::ResolveConflict {
        agent: agent.to_owned(),
        path: path.to_owned(),
        choice: with,
    }
}

const DATES: &str = "todo/dates.py";

#[tokio::test(flavor = "multi_thread")]
async fn work_is_judged_landed_settled_restored_forked_and_handed_over() {
    let Some(story) = Story::of(&["--agents", "3", "Improve the sample project"]) else {
        return;
    };
    let mut person = Person::at(story).await;
    let board = person
        .until("all is foreseen", |board| {
            board.conflicts.len() == 1 && !board.hunks.is_empty()
        })
        .await;
    let mut hunks = board.hunks_of(Some("a1"));
    let hunk = hunks.find(|hunk| hunk.path == DATES).expect("a hunk");
    assert_eq!(hunk.symbol.as_deref(), Some("next_weekday"), "{hunk:?}");
    assert_eq!(board.agent("a2").map(|agent| agent.turns), Some(1));

    // Nothing is accepted yet; a decision can be taken back.
    person.wish(UserCommand::Land(Vec::new()));
    let sentence =
        |board: &Board, part: &str| board.error.as_ref().is_some_and(|it| it.contains(part));
    person
        .until("it says so", |board| sentence(board, "Nothing is accepted"))
        .await;
    person.wish(accept_all("a1"));
    person
        .until("all is accepted", |board| board.accepted() > 0)
        .await;
    person.wish(UserCommand::UndoVerdict);
    person.until("none is", |board| board.accepted() == 0).await;
    person.wish(accept_all("a1"));
    person.wish(accept_all("a3"));
    person.wish(UserCommand::Land(vec!["a1".to_owned()]));
    person.stands("a1", AgentState::Landed).await;

    // The third one does not fit any more, and is settled.
    person.wish(UserCommand::Land(vec!["a3".to_owned()]));
    person.stands("a3", AgentState::Conflict).await;
    let board = person
        .until("it is a dispute", |board| {
            !board.landing_conflicts.is_empty()
        })
        .await;
    let dispute = &board.landing_conflicts[0];
    assert_eq!(
        (dispute.agent.as_str(), dispute.path.as_str()),
        ("a3", DATES)
    );
    assert_eq!(
        dispute.text,
        "master and the agent both changed next_weekday"
    );
    assert_eq!(dispute.hunks.len(), 1, "{dispute:?}");
    let fight = &dispute.hunks[0];
    assert!(fight.line > 1 && fight.branch != fight.agent, "{fight:?}");
    let draft = dispute.draft.clone().expect("a draft");
    person.wish(settle("a3", DATES, ConflictChoice::Text(draft)));
    let is_bad = |board: &Board, part: &str| {
        let landing = board.landing.as_ref();
        landing.is_some_and(|it| it.is_bad && it.text.contains(part))
    };
    person
        .until("marks are refused", |board| {
            is_bad(board, "still has conflict markers")
        })
        .await;
    person.wish(settle("a3", DATES, ConflictChoice::Agent));
    let board = person.stands("a3", AgentState::Landed).await;
    assert!(
        board.landing.as_ref().is_some_and(|it| it.can_undo),
        "{board:?}"
    );
    assert!(person.story.read(DATES).contains("name[:3]"));
    person
        .until("nothing is fought over", |board| {
            board.landing_conflicts.is_empty()
        })
        .await;

    // A restore goes and comes.
    let count = |board: &Board| board.hunks_of(Some("a2")).count();
    let before = count(&person.board);
    assert!(before > 0);
    person.wish(UserCommand::UndoRestore);
    person
        .until("there is none", |board| sentence(board, "no restore"))
        .await;
    person.wish(UserCommand::Restore {
        agent: "a2".to_owned(),
        turn: 1,
    });
    let board = person.until("all is gone", |board| count(board) == 0).await;
    let told = board.notice.clone().expect("a sentence");
    assert!(
        told.can_undo && told.text.contains("as its turn 1 found it"),
        "{told:?}"
    );
    person.wish(UserCommand::UndoRestore);
    let board = person
        .until("all is back", |board| count(board) == before)
        .await;
    assert!(
        board.notice.as_ref().is_some_and(|told| !told.can_undo),
        "{board:?}"
    );

    person.wish(UserCommand::Fork {
        agent: "a2".to_owned(),
        prompt: "Go on".to_owned(),
    });
    let board = person
        .until("there is another", |board| {
            board.agent("a4").is_some_and(|it| it.root.is_some())
        })
        .await;
    let title = board.agent("a4").map(|agent| agent.title.clone());
    assert!(title.is_some_and(|title| title.ends_with("(from a2)")));

    person.wish(UserCommand::HandOver {
        agent: "a2".to_owned(),
        to: HandOverTarget::Person,
    });
    let handed = |board: &Board| {
        let told = board.notice.as_ref();
        told.is_some_and(|told| told.text.contains("handed over to your checkout"))
    };
    person.until("it is handed over", handed).await;
    assert!(person.story.read("todo/cli.py").contains("def run_count"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_is_picked_from_several_and_lands_as_one() {
    let task = "Add a count command";
    let Some(story) = Story::of(&["--agents", "2", "--best-of", task]) else {
        return;
    };
    let line = &story.lines(&["list", "--json"])[1];
    let tree = line["place"]["root"].as_str().expect("a tree");
    let tree = PathBuf::from(tree);
    let mut person = Person::at(story).await;
    let board = person
        .until("both are seen", |board| {
            board.best_of.len() == 2 && board.best_of.iter().all(|it| it.files > 0)
        })
        .await;
    assert!(board.best_of.iter().all(|it| it.checks.is_empty()));
    // The second agent's worktree exists while the board is open, and has the file that the check
    // needs.
    std::fs::write(tree.join("EXTRA"), "x\n").expect("a file");
    person.wish(UserCommand::Compare);
    person
        .until("it is seen", |board| {
            board.hunks.iter().any(|hunk| hunk.path == "EXTRA")
        })
        .await;
    person.wish(UserCommand::Compare);
    person
        .until("there are no checks", |board| {
            board
                .error
                .as_ref()
                .is_some_and(|it| it.contains("no checks yet"))
        })
        .await;
    person
        .story
        .keep_checks(&["python3 -c 'import todo.cli'", "test -e EXTRA"]);
    person.wish(UserCommand::Compare);
    person
        .until("checks run", |board| {
            board.best_of.iter().any(|it| it.is_checking)
        })
        .await;
    let board = person
        .until("both are checked", |board| {
            board
                .best_of
                .iter()
                .all(|it| it.checks.len() == 2 && !it.is_checking)
        })
        .await;
    let order: Vec<&str> = board.best_of.iter().map(|it| it.agent.as_str()).collect();
    assert_eq!(order, ["a2", "a1"]);
    let checks = |agent: &str| board.agent(agent).and_then(|it| it.checks);
    assert_eq!((checks("a1"), checks("a2")), (Some((1, 2)), Some((2, 2))));

    // Some of the one and some of the other: one landing, which the checks see as a whole.
    let pick = |agent: &str, is_wanted: &dyn Fn(&str) -> bool| {
        for hunk in board.hunks_of(Some(agent)).filter(|it| is_wanted(&it.path)) {
            person.wish(UserCommand::Decide {
                hunk: hunk.id.clone(),
                verdict: HunkVerdict::Accepted,
            });
        }
    };
    pick("a1", &|path| path.starts_with("todo/"));
    pick("a2", &|path| !path.starts_with("todo/"));
    person.wish(UserCommand::Land(Vec::new()));
    person.stands("a1", AgentState::Landed).await;
    let board = person.stands("a2", AgentState::Landed).await;
    let doing = |agent: &str| board.agent(agent).map(|it| it.activity.clone());
    assert_eq!(doing("a1"), doing("a2"), "one commit");
    assert_eq!(person.story.read("EXTRA"), "x\n");
    assert!(person.story.read("todo/cli.py").contains("def run_count"));
}
