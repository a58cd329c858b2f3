//! Tests the composer service with a user, on work by agents of the demo model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::context::OpenFiles;
use agent::record::{SessionMode, SessionRecord};
use base::AbsPath;
use composer::conflict::Resolution;
use composer::job::HandOverTarget;
use composer::review::HunkVerdict;
use composer::service::ComposerHandle;
use composer::view::Board;
use composer::{Command, Event, JobCommand, StartAgents};
use futures::StreamExt as _;
use futures::channel::mpsc;
use host::Dirs;
use runtime::agent_services::AgentServices;
use runtime::compose::service::open_composer;
use runtime::indexes::IndexRegistry;
use serde_json::json;

use super::compose::Story;

pub(super) struct Person {
    pub(super) story: Story,
    services: Arc<AgentServices>,
    pub(super) composer: ComposerHandle,
    events: mpsc::UnboundedReceiver<Event>,
    pub(super) board: Arc<Board>,
}

impl Person {
    pub(super) async fn at(story: Story) -> Self {
        let folder = |name: &str| AbsPath::new(story.home.path(name)).expect("a path");
        let dirs = Dirs {
            config: folder("config"),
            state: folder("state"),
            cache: folder("cache"),
        };
        let unsaved = Arc::new(project::UnsavedTexts::default());
        let services = AgentServices::open(
            &dirs,
            unsaved.clone(),
            |_| OpenFiles::default(),
            IndexRegistry::new(&dirs),
        )
        .await;
        let services = Arc::new(services.expect("services"));
        let main_repo = AbsPath::new(story.hub.clone()).expect("a path");
        let engines = services.clone();
        let composer = tokio::task::spawn_blocking(move || {
            open_composer(&engines, &dirs, &main_repo, unsaved)
        });
        let composer = composer.await.expect("no panic").expect("a composer");
        Self {
            events: composer.events(),
            services,
            composer,
            story,
            board: Arc::default(),
        }
    }

    pub(super) fn send(&self, command: Command) {
        self.composer.send(command);
    }

    /// Waits for a board that satisfies a condition.
    pub(super) async fn until(&mut self, what: &str, is_so: impl Fn(&Board) -> bool) -> Arc<Board> {
        let wait = async {
            while !is_so(&self.board) {
                let event = self.events.next().await.expect("a board that goes on");
                if let Event::Board(board) = event {
                    self.board = board;
                }
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

    /// Waits until a job is in the state with this label.
    pub(super) async fn until_state(&mut self, job: &str, label: &str) -> Arc<Board> {
        let what = format!("{job} is {label}");
        self.until(&what, |board| is(board, job, label)).await
    }
}

/// Starts another agent; returns the texts that joined its prompt.
async fn joined(person: &mut Person, agents: usize) -> String {
    person.send(Command::Start(StartAgents {
        prompt: "Improve the sample project".to_owned(),
        model: "demo".to_owned(),
        agent: None,
        mode: SessionMode::Build,
        agents: 1,
        is_best_of: false,
    }));
    let agent = format!("a{agents}");
    person.until_state(&agent, "done").await;
    let watched = person.composer.watch(&agent).expect("it has begun");
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
    let services = person.services.clone();
    let allowed = tokio::task::spawn_blocking(move || {
        services.set_trusted(&root, true)?;
        let waiting = services.folder_trust(&root).hooks;
        services.allow_hooks(&root, &waiting)
    });
    allowed.await.expect("no panic").expect("kept");
    let after = joined(&mut person, 3).await;
    assert!(after.contains("Prefer short names."), "{after}");
    let board = person.board.clone();
    let root = board.job("a3").and_then(composer::view::BoardJob::root);
    let root = root.expect("a worktree");
    assert!(after.contains(&format!("hook ran in {root}")), "{after}");
}

fn is(board: &Board, job: &str, label: &str) -> bool {
    board.job(job).is_some_and(|it| it.state().label() == label)
}

fn accept_all(agent: &str) -> Command {
    Command::AcceptAll(agent.to_owned())
}

fn resolve(job: &str, path: &str, resolution: Resolution) -> Command {
    Command::ResolveConflict {
        job: job.to_owned(),
        path: path.to_owned(),
        resolution,
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
            let mut hunks = board.hunks_of(Some("a1"));
            board.conflicts.len() == 1
                && hunks.any(|hunk| hunk.path == DATES)
                && board.job("a2").is_some_and(|job| job.status.turns == 1)
        })
        .await;
    let mut hunks = board.hunks_of(Some("a1"));
    let hunk = hunks.find(|hunk| hunk.path == DATES).expect("a hunk");
    assert_eq!(hunk.symbol.as_deref(), Some("next_weekday"), "{hunk:?}");

    // Nothing is accepted yet; a decision can be undone.
    person.send(Command::Land(Vec::new()));
    let sentence =
        |board: &Board, part: &str| board.error.as_ref().is_some_and(|it| it.contains(part));
    person
        .until("it says so", |board| sentence(board, "Nothing is accepted"))
        .await;
    person.send(accept_all("a1"));
    person
        .until("all is accepted", |board| board.accepted() > 0)
        .await;
    person.send(Command::UndoVerdict);
    person.until("none is", |board| board.accepted() == 0).await;
    person.send(accept_all("a1"));
    person.send(accept_all("a3"));
    person.send(Command::Land(vec!["a1".to_owned()]));
    person.until_state("a1", "landed").await;

    // The third agent's work conflicts now, and the conflict is resolved.
    person.send(Command::Land(vec!["a3".to_owned()]));
    person.until_state("a3", "conflict").await;
    let board = person
        .until("it is a dispute with a draft", |board| {
            let mut conflicts = board.landing_conflicts.iter();
            conflicts.any(|conflict| conflict.draft.is_some())
        })
        .await;
    let dispute = &board.landing_conflicts[0];
    assert_eq!((dispute.job.as_str(), dispute.path.as_str()), ("a3", DATES));
    assert_eq!(
        dispute.text,
        "master and the agent both changed next_weekday"
    );
    assert_eq!(dispute.hunks.len(), 1, "{dispute:?}");
    let fight = &dispute.hunks[0];
    assert!(fight.line > 1 && fight.branch != fight.agent, "{fight:?}");
    let draft = dispute.draft.clone().expect("a draft");
    person.send(resolve("a3", DATES, Resolution::Text(draft)));
    let is_bad = |board: &Board, part: &str| {
        let landing = board.landing.as_ref();
        landing.is_some_and(|it| it.is_bad && it.text.contains(part))
    };
    person
        .until("marks are refused", |board| {
            is_bad(board, "still has conflict markers")
        })
        .await;
    person.send(resolve("a3", DATES, Resolution::Agent));
    person
        .until("it has landed and can be undone", |board| {
            is(board, "a3", "landed") && board.landing.as_ref().is_some_and(|it| it.can_undo)
        })
        .await;
    assert!(person.story.read(DATES).contains("name[:3]"));
    person
        .until("nothing is fought over", |board| {
            board.landing_conflicts.is_empty()
        })
        .await;

    // A restore is undone and redone.
    let count = |board: &Board| board.hunks_of(Some("a2")).count();
    let before = count(&person.board);
    assert!(before > 0);
    person.send(Command::UndoRestore);
    person
        .until("there is none", |board| sentence(board, "no restore"))
        .await;
    person.send(Command::Restore {
        job: "a2".to_owned(),
        turn: 1,
    });
    // The board updates its notice and its hunks separately.
    let restored = |board: &Board| {
        let notice = board.notice.as_ref();
        notice.is_some_and(|it| it.can_undo && it.text.contains("as its turn 1 found it"))
    };
    person
        .until("all is gone", |board| count(board) == 0 && restored(board))
        .await;
    person.send(Command::UndoRestore);
    let undone = |board: &Board| board.notice.as_ref().is_some_and(|it| !it.can_undo);
    person
        .until("all is back", |board| {
            count(board) == before && undone(board)
        })
        .await;

    person.send(Command::Job(JobCommand::Fork {
        job: "a2".to_owned(),
        prompt: "Go on".to_owned(),
    }));
    let board = person
        .until("there is another", |board| {
            board.job("a4").is_some_and(|it| it.root().is_some())
        })
        .await;
    let title = board.job("a4").map(|job| job.title().to_owned());
    assert!(title.is_some_and(|title| title.ends_with("(from a2)")));

    person.send(Command::Job(JobCommand::HandOver {
        job: "a2".to_owned(),
        to: HandOverTarget::User,
    }));
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
    person.send(Command::Compare);
    person
        .until("it is seen", |board| {
            board.hunks.iter().any(|hunk| hunk.path == "EXTRA")
        })
        .await;
    person.send(Command::Compare);
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
    person.send(Command::Compare);
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
    let order: Vec<&str> = board.best_of.iter().map(|it| it.job.as_str()).collect();
    assert_eq!(order, ["a2", "a1"]);
    let checks = |agent: &str| board.job(agent).and_then(|it| it.checks);
    assert_eq!((checks("a1"), checks("a2")), (Some((1, 2)), Some((2, 2))));

    // Hunks of both agents form one landing, which is checked as a whole.
    let pick = |agent: &str, is_wanted: &dyn Fn(&str) -> bool| {
        for hunk in board.hunks_of(Some(agent)).filter(|it| is_wanted(&it.path)) {
            person.send(Command::Decide {
                hunk: hunk.id.clone(),
                verdict: HunkVerdict::Accepted,
            });
        }
    };
    pick("a1", &|path| path.starts_with("todo/"));
    pick("a2", &|path| !path.starts_with("todo/"));
    person.send(Command::Land(Vec::new()));
    person.until_state("a1", "landed").await;
    let board = person.until_state("a2", "landed").await;
    let doing = |agent: &str| board.job(agent).map(|it| it.activity.clone());
    assert_eq!(doing("a1"), doing("a2"), "one commit");
    assert_eq!(person.story.read("EXTRA"), "x\n");
    assert!(person.story.read("todo/cli.py").contains("def run_count"));
}
