//! The board of eight agents that work all the time.

use std::sync::Arc;

use composer_panel::AgentService;
use composer_panel::agents::FakeAgents;
use composer_panel::board::{
    Board, BoardHunk, BoardJob, HunkVerdict, JobSpec, JobState, JobStatus, JobWorktree,
};

const AGENTS: usize = 8;
/// Changes of each agent that wait for a review.
const HUNKS: usize = 3;
const ACTIVITIES: [&str; 5] = [
    "thinks",
    "reads src/folder.rs",
    "cargo test -p project --quiet",
    "edits src/prediction/folder_context.rs",
    "searches for set_unsaved",
];

/// The agents of a window.
pub(crate) struct Agents {
    fake: FakeAgents,
    board: Board,
    /// Number of changes so far.
    changes: usize,
}

impl Agents {
    pub(crate) fn new() -> Self {
        Self {
            fake: FakeAgents::default(),
            board: Board {
                branch: "main".to_owned(),
                jobs: (0..AGENTS).map(job).collect(),
                hunks: (0..AGENTS * HUNKS).map(hunk).collect(),
                ..Board::default()
            },
            changes: 0,
        }
    }

    pub(crate) fn service(&self) -> Arc<dyn AgentService> {
        Arc::new(self.fake.clone())
    }

    /// The engine, which sends the events of sessions.
    pub(crate) fn engine(&self) -> &FakeAgents {
        &self.fake
    }

    /// Lets the next agent begin another activity.
    pub(crate) fn go_on(&mut self) {
        let job = &mut self.board.jobs[self.changes % AGENTS];
        let activity = ACTIVITIES[self.changes / AGENTS % ACTIVITIES.len()];
        activity.clone_into(&mut job.activity);
        activity.clone_into(&mut job.status.activity);
        job.status.turns += 1;
        job.status.worked_ms += 400;
        self.changes += 1;
        self.fake.show_board(self.board.clone());
    }
}

fn job(ix: usize) -> BoardJob {
    let worktree = JobWorktree {
        lease: format!("wt-{ix}"),
        root: format!("/worktrees/wt-{ix}"),
        git_dir: String::new(),
        base: String::new(),
        branch: format!("burin/wt-{ix}"),
    };
    BoardJob {
        status: JobStatus {
            job: format!("job-{ix}"),
            task: JobSpec {
                title: format!("Speed up part {ix} of the search"),
                ..JobSpec::default()
            },
            group: None,
            state: JobState::Working,
            activity: String::new(),
            worktree: Some(worktree),
            session: None,
            subagents: Vec::new(),
            cost_nano: Some(12_000_000),
            turns: 1,
            added_ms: 0,
            worked_ms: 3_000,
        },
        mark: ix,
        activity: String::new(),
        files: 2,
        lines: (31, 9),
        checks: None,
    }
}

fn hunk(ix: usize) -> BoardHunk {
    let lines = |text: &str| vec![text.to_owned(); 3];
    BoardHunk {
        id: format!("hunk-{ix}"),
        job: format!("job-{}", ix / HUNKS),
        path: "src/folder.rs".to_owned(),
        symbol: Some("refresh_git".to_owned()),
        line: 40 * ix as u32 + 1,
        before: lines("    let root = self.root.clone();"),
        after: lines("    let root = &self.root;"),
        note: None,
        author: None,
        risk: None,
        verdict: HunkVerdict::Open,
    }
}
