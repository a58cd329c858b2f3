//! The board as a new user sees it, used with the keyboard only: a real window without a screen, with real engines,
//! git and processes, the demo model and no network.
#![expect(
    clippy::disallowed_methods,
    reason = "the engines are real ones: there is no clock here that could be moved on"
)]

use std::sync::Arc;
use std::time::Duration;

use base::Platform;
use composer_panel::board::{Board, BoardJob, HunkVerdict, JobState};
use gpui_kit::{Entity, TestAppContext, VisualTestContext};
use host::{Dirs, RealClock, RealFiles, TempFolder};
use project::{UnsavedTexts, WalkBackend};
use runtime::indexes::IndexRegistry;
use workbench::windows::{self, OpenRequest};
use workbench::{Services, Workbench, init};

use background::EngineServices;

/// Maximum number of checks of the board, enough for any step here.
const PATIENCE: u32 = 6_000;
/// Pause between two checks.
const LOOK: Duration = Duration::from_millis(20);

struct AgentTour {
    _home: TempFolder,
    workbench: Entity<Workbench>,
    cx: VisualTestContext,
}

impl AgentTour {
    fn start(cx: &mut TestAppContext) -> Self {
        // Events of the engines' threads wake the window's thread.
        cx.executor().allow_parking();
        let home = TempFolder::new().expect("a folder");
        let folder = home.path().join("project");
        std::fs::create_dir(folder.as_path()).expect("a folder");
        let dirs = Dirs::under(home.path());
        dirs.create().expect("folders");
        let unsaved = Arc::new(UnsavedTexts::default());
        let services = Services {
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
            ground: WalkBackend::Disk,
            install: None,
            working_folder: folder.clone(),
            home: Some(home.path().clone()),
            agents: Some(Arc::new(EngineServices::new(
                dirs.clone(),
                unsaved.clone(),
                IndexRegistry::new(&dirs),
            ))),
            machine_agents: None,
            index: None,
            language_servers: None,
            rewrite: None,
            terminals: None,
            history: None,
            tests: None,
            git: None,
            task_trust: None,
            facts: None,
            program: None,
            tab: None,
            unsaved,
            dirs,
        };
        let request = OpenRequest {
            folders: vec![folder],
            files: Vec::new(),
        };
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(Platform::Linux, cx);
            services.set(cx);
            let started = init(cx);
            windows::start(request, started.problems, cx);
        });
        cx.run_until_parked();
        let (window, workbench) = cx.update(|cx| windows::all(cx)).remove(0);
        let mut cx = VisualTestContext::from_window(window, cx);
        cx.update(|window, _| window.activate_window());
        cx.run_until_parked();
        Self {
            _home: home,
            workbench,
            cx,
        }
    }

    fn keys(&mut self, keys: &str) -> &mut Self {
        self.cx.simulate_keystrokes(keys);
        self.cx.run_until_parked();
        self
    }

    fn board(&mut self) -> Arc<Board> {
        let workbench = self.workbench.clone();
        self.cx.update(|_, cx| {
            let panel = workbench.read(cx).agents().read(cx);
            panel.board().cloned().unwrap_or_default()
        })
    }

    /// Waits until the board satisfies `is_so`; the engines continue meanwhile.
    fn wait_for_board(&mut self, what: &str, is_so: impl Fn(&Board) -> bool) -> Arc<Board> {
        for _ in 0..PATIENCE {
            self.cx.run_until_parked();
            let board = self.board();
            if is_so(&board) {
                return board;
            }
            std::thread::sleep(LOOK);
        }
        panic!("{what}: {:#?}", self.board());
    }
}

fn landing_text(board: &Board) -> &str {
    board.landing.as_ref().map_or("", |it| it.text.as_str())
}

#[gpui_kit::test]
fn three_agents_at_once_are_reviewed_landed_and_taken_back(cx: &mut TestAppContext) {
    if !has_sandbox() {
        return test_support::skip("this machine has no sandbox for agents' commands");
    }
    let mut walk = AgentTour::start(cx);
    walk.keys("ctrl-alt-g");
    walk.wait_for_board("the board opens", |board| !board.branch.is_empty());
    // Grows the board from one worktree to three.
    walk.keys("i").keys("alt-n").keys("alt-n").keys("alt-n");
    walk.cx.simulate_input("Improve the sample project");
    walk.keys("enter");
    let board = walk.wait_for_board("three agents are done", |board| {
        board.jobs.len() == 3 && board.jobs.iter().all(|it| *it.state() == JobState::Done)
    });
    assert_eq!(board.project.as_deref(), Some("sample project"));
    // Two agents changed the same lines, which the forecast reports before any landing.
    let board = walk.wait_for_board("the conflict is foreseen", |board| {
        !board.conflicts.is_empty() && !board.hunks.is_empty()
    });
    assert_eq!(board.conflicts.len(), 1, "{:#?}", board.conflicts);
    let conflict = &board.conflicts[0];
    let other = conflict.other.clone().expect("another agent");
    let rivals = [conflict.job.clone(), other];
    // Lands the first change on the branch, then undoes the landing.
    walk.keys("alt-up").keys("tab").keys("a");
    walk.wait_for_board("a change is accepted", |board| board.accepted() == 1);
    walk.keys("l");
    let board = walk.wait_for_board("it has landed", |board| {
        board.landing.as_ref().is_some_and(|it| it.can_undo)
    });
    assert!(
        landing_text(&board).contains("anded"),
        "{}",
        landing_text(&board)
    );
    walk.keys("shift-u");
    walk.wait_for_board("it is taken back", |board| {
        let landing = board.landing.as_ref();
        landing.is_some_and(|it| !it.can_undo && !it.is_bad)
    });
    walk.keys("escape");
    resolve_conflict(&mut walk, &rivals);
}

/// Accepts both sides of the conflict: the first lands; the second is resolved with its agent's
/// version, and lands too.
fn resolve_conflict(walk: &mut AgentTour, rivals: &[String]) {
    for rival in rivals {
        // Agents that have landed are at the end of the list.
        let board = walk.board();
        let row = board.jobs.iter().position(|it| it.id() == rival);
        for _ in &board.jobs {
            walk.keys("up");
        }
        for _ in 0..=row.expect("it is on the board") {
            walk.keys("down");
        }
        walk.keys("shift-a");
        let is_accepted = |board: &Board| {
            let mut own = board.hunks_of(Some(rival));
            own.all(|it| it.verdict == HunkVerdict::Accepted)
        };
        walk.wait_for_board("all of it is accepted", is_accepted);
        walk.keys("l");
        walk.wait_for_board("its landing has ended", |board| {
            let job = board.job(rival).expect("it is on the board");
            has_landed(job) || !board.landing_conflicts.is_empty()
        });
    }
    let board = walk.board();
    let conflicting: Vec<&str> = board
        .landing_conflicts
        .iter()
        .map(|it| it.job.as_str())
        .collect();
    assert_eq!(
        conflicting,
        [rivals[1].as_str()],
        "{:#?}",
        board.landing_conflicts
    );
    assert!(!board.landing_conflicts[0].hunks.is_empty());
    // The first row of the list is the conflict that blocks the landing.
    walk.keys("tab").keys("a");
    walk.wait_for_board("what was settled has landed", |board| {
        let job = board.job(&rivals[1]).expect("it is on the board");
        has_landed(job) && board.landing_conflicts.is_empty()
    });
}

fn has_landed(job: &BoardJob) -> bool {
    matches!(job.state(), JobState::Landed { .. })
}

/// Prepares the sandbox; returns whether commands run in it, as they do on Linux.
fn has_sandbox() -> bool {
    runtime::prepare_sandbox();
    Platform::CURRENT == Platform::Linux
}
