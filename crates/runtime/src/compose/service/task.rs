//! The task that owns the state of a board.

mod commands;
mod compare;
mod land;
mod restore;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use composer::board::{BoardCommand, BoardEvent, JobId, JobState, JobStatus};
use composer::review::ReviewedSession;
use composer::view::{BoardNotice, UserCommand};
use futures::StreamExt as _;
use futures::channel::mpsc;
use git::merge::Changes;
use host::Dirs;
use project::UnsavedTexts;
use tokio::task::JoinHandle;

use super::ComposerShared;
use super::board_model::BoardModel;
use super::notes::ForecastNotes;
use super::review_decisions::ReviewDecisions;
use super::worktree_scan::{ReviewScan, WorktreeScanner, review_hunks};
use crate::compose::Composer;
use crate::compose::land::MergeService;

use compare::CheckRun;
use land::MergeReport;
use restore::{RestoreOutcome, UndoableRestore};

pub(super) use commands::session_command;

/// Between two looks at the trees while something happens in them.
const LOOK: Duration = Duration::from_secs(2);

type ScanResult = (WorktreeScanner, Result<ReviewScan, String>);

/// The task behind a board: owns its state and handles commands, events and scans.
pub(super) struct ComposerTask {
    composer: Composer,
    dirs: Dirs,
    unsaved: Arc<UnsavedTexts>,
    shared: Arc<ComposerShared>,
    model: BoardModel,
    decisions: ReviewDecisions,
    merges: Arc<MergeService>,
    notes: ForecastNotes,
    /// The changes of each job at the last scan.
    sessions: Vec<ReviewedSession>,
    /// The changes that each job's checks ran on.
    checked: HashMap<JobId, Arc<Changes>>,
    /// The latest restore, as long as it can be taken back.
    restored: Option<UndoableRestore>,
    /// Away while it looks.
    scanner: Option<WorktreeScanner>,
    looking: Option<JoinHandle<ScanResult>>,
    landing: Option<JoinHandle<Result<MergeReport, String>>>,
    /// Commands about landings that arrived during a landing, in order.
    waiting: VecDeque<UserCommand>,
    restoring: Option<JoinHandle<Result<RestoreOutcome, String>>>,
    comparing: Option<mpsc::UnboundedReceiver<CheckRun>>,
    is_dirty: bool,
}

impl ComposerTask {
    /// `project` is the repository's name, if the user has another folder open. Blocks on the disk.
    pub(super) fn new(
        (fleet, project): (Composer, Option<String>),
        dirs: &Dirs,
        unsaved: Arc<UnsavedTexts>,
        shared: Arc<ComposerShared>,
    ) -> Result<Self, String> {
        let judge = ReviewDecisions::open(&fleet.worktrees)?;
        let lander = Arc::new(MergeService::open(&fleet.worktrees)?);
        let looker = WorktreeScanner::new(&fleet.worktrees, &lander, unsaved.clone())?;
        let mut table = BoardModel {
            project,
            ..BoardModel::default()
        };
        for line in &fleet.past.jobs {
            shared.update_session(line);
            table.update_job(line.clone());
        }
        let mut problems = fleet.past.problems.iter().chain(&lander.notices);
        table.trouble = problems.next().cloned();
        Ok(Self {
            composer: fleet,
            dirs: dirs.clone(),
            unsaved,
            shared,
            model: table,
            decisions: judge,
            merges: lander,
            notes: ForecastNotes::default(),
            sessions: Vec::new(),
            checked: HashMap::new(),
            restored: None,
            scanner: Some(looker),
            looking: None,
            landing: None,
            waiting: VecDeque::new(),
            restoring: None,
            comparing: None,
            is_dirty: true,
        })
    }

    /// Runs until the board has ended.
    pub(super) async fn run(mut self, mut wishes: mpsc::UnboundedReceiver<UserCommand>) {
        let mut tick = tokio::time::interval(LOOK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.show();
        loop {
            tokio::select! {
                event = self.composer.board.events.recv() => match event {
                    Ok(BoardEvent::Closed) | Err(_) => break,
                    Ok(event) => self.on_event(event),
                },
                Some(wish) = wishes.next() => self.on_command(wish).await,
                looked = finished(&mut self.looking) => self.on_scan_result(looked).await,
                landed = finished(&mut self.landing) => {
                    self.landed(landed).await;
                    self.take_waiting().await;
                }
                went = finished(&mut self.restoring) => self.on_restore_result(went),
                checked = compare::next(&mut self.comparing) => self.checked(checked),
                _ = tick.tick() => {}
            }
            self.start_scan();
            self.show();
        }
        self.model.trouble = Some("The board has ended: open the folder again.".to_owned());
        self.show();
    }

    fn on_event(&mut self, event: BoardEvent) {
        match event {
            BoardEvent::Job(line) => {
                self.shared.update_session(&line);
                self.model.update_job(*line);
                self.is_dirty = true;
            }
            BoardEvent::Session { job, event } => {
                self.shared.forward_event(&job, &event);
                self.is_dirty |= matches!(*event, agent::AgentEvent::Recorded(_));
            }
            BoardEvent::Refused(sentence) => self.model.trouble = Some(sentence),
            BoardEvent::Notice { text, .. } => {
                self.notify(text, false);
                self.is_dirty = true;
            }
            BoardEvent::Added(_) | BoardEvent::AllSettled | BoardEvent::Closed => {
                self.is_dirty = true
            }
        }
    }

    /// Starts a scan if a worktree may have changed and no scan, landing or restore is running.
    fn start_scan(&mut self) {
        if !self.is_dirty || self.landing.is_some() || self.restoring.is_some() {
            return;
        }
        let Some(mut looker) = self.scanner.take() else {
            return;
        };
        self.is_dirty = false;
        let lines = self.model.lines.clone();
        self.looking = Some(tokio::task::spawn_blocking(move || {
            let seen = looker.scan(&lines);
            (looker, seen)
        }));
    }

    async fn on_scan_result(&mut self, looked: Result<ScanResult, String>) {
        let seen = match looked {
            Ok((looker, seen)) => {
                self.scanner = Some(looker);
                seen
            }
            Err(sentence) => Err(sentence),
        };
        let seen = match seen {
            Ok(seen) => seen,
            Err(sentence) => {
                self.model.trouble = Some(sentence);
                return;
            }
        };
        let news = self.notes.take_new(&seen.report, &self.model.lines);
        self.model.branch = seen.branch;
        self.model.hunks = review_hunks(&seen.review);
        self.model.report = seen.report;
        self.model.disputes = seen.disputes;
        self.model.refused = seen.refused;
        if let Some(sentence) = seen.trouble {
            self.model.trouble = Some(sentence);
        }
        self.decisions.update_review(seen.review);
        self.sessions = seen.sessions;
        self.forget_checks();
        for (job, text) in news {
            // A board that has ended takes no commands.
            let note = BoardCommand::Note { job, text };
            self.composer.board.commands.send(note).await.ok();
        }
    }

    fn show(&mut self) {
        for hunk in &mut self.model.hunks {
            hunk.verdict = self.decisions.verdict(&hunk.id);
        }
        self.shared.show(self.model.board());
    }

    /// Shows a notice about the result of a command.
    fn notify(&mut self, text: String, can_undo: bool) {
        self.model.notice = Some(BoardNotice { text, can_undo });
    }

    fn job_status(&self, job: &str) -> Result<&JobStatus, String> {
        let line = self.model.lines.iter().find(|line| line.job == job);
        line.ok_or_else(|| format!("there is no agent \"{job}\" on the board"))
    }

    /// Returns the status of a job whose agent is not using its worktree.
    fn idle_job(&self, job: &str) -> Result<&JobStatus, String> {
        let line = self.job_status(job)?;
        if is_running(line) {
            Err(format!(
                "\u{201c}{}\u{201d} is {}: pause or stop it, or wait until it is done.",
                line.task.title,
                line.state.label()
            ))
        } else {
            Ok(line)
        }
    }
}

/// Whether an agent may change its tree at any moment.
fn is_running(line: &JobStatus) -> bool {
    line.state.is_running() || matches!(line.state, JobState::Waiting { .. })
}

/// Waits for a background task; pending for ever if there is none.
async fn finished<T>(handle: &mut Option<JoinHandle<T>>) -> Result<T, String> {
    let Some(running) = handle else {
        return std::future::pending().await;
    };
    let done = running.await;
    *handle = None;
    done.map_err(|error| format!("It broke off: {error}"))
}
