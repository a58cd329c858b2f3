//! The task that owns the state of a board.

mod commands;
mod compare;
mod landing;
mod restore;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agent::AgentEvent;
use futures::StreamExt as _;
use futures::channel::mpsc;
use git::merge::Changes;
use project::UnsavedTexts;
use tokio::task::JoinHandle;

use super::board_model::BoardModel;
use super::forecast_notes::ForecastNotes;
use super::worktree_scanner::{ReviewScan, WorktreeScanner, review_hunks};
use super::{ComposerShared, OpenBoard, ServiceOptions};
use crate::Error;
use crate::board::BoardHandle;
use crate::decisions::ReviewDecisions;
use crate::job::{JobId, JobStatus};
use crate::land::CheckSource;
use crate::landing::LandingService;
use crate::protocol::{Command, Event, JobCommand};
use crate::view::BoardNotice;
use crate::work::SessionChanges;
use crate::worktrees::JobWorktrees;

use compare::CheckRun;
use landing::LandingReport;
use restore::{RestoreOutcome, UndoableRestore};

/// The interval between two scans while worktrees change.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);

type ScanResult = (WorktreeScanner, Result<ReviewScan, Error>);

/// The task behind a board: owns its state and handles commands, events and scans.
pub(super) struct ComposerTask {
    scheduler: BoardHandle,
    worktrees: JobWorktrees,
    checks: Arc<dyn CheckSource>,
    unsaved: Arc<UnsavedTexts>,
    default_model: String,
    is_sample: bool,
    shared: Arc<ComposerShared>,
    model: BoardModel,
    decisions: ReviewDecisions,
    landings: Arc<LandingService>,
    notes: ForecastNotes,
    /// The changes of each job at the last scan.
    sessions: Vec<SessionChanges>,
    /// The changes that each job's checks ran on.
    checked: HashMap<JobId, Arc<Changes>>,
    /// The latest restore, while it can be undone.
    restored: Option<UndoableRestore>,
    /// `None` while a scan is running.
    scanner: Option<WorktreeScanner>,
    scan: Option<JoinHandle<ScanResult>>,
    landing: Option<JoinHandle<Result<LandingReport, Error>>>,
    /// Commands about landings that arrived during a landing, in order.
    waiting: VecDeque<Command>,
    restore: Option<JoinHandle<Result<RestoreOutcome, Error>>>,
    comparison: Option<mpsc::UnboundedReceiver<CheckRun>>,
    /// Whether a worktree may have changed since the last scan.
    is_dirty: bool,
}

impl ComposerTask {
    /// Creates the task over an open board, from its stored state. Blocks on the disk.
    pub(super) fn new(
        board: OpenBoard,
        options: ServiceOptions,
        shared: Arc<ComposerShared>,
    ) -> Result<Self, Error> {
        let OpenBoard {
            scheduler,
            saved,
            worktrees,
            ..
        } = board;
        let decisions = ReviewDecisions::open(&worktrees)?;
        let landings = Arc::new(LandingService::open(&worktrees)?);
        let scanner = WorktreeScanner::new(&worktrees, &landings, options.unsaved.clone())?;
        let mut model = BoardModel {
            project: options.project,
            error: saved
                .problems
                .iter()
                .chain(&landings.notices)
                .next()
                .cloned(),
            ..BoardModel::default()
        };
        for status in saved.jobs {
            shared.update_session(&status);
            model.update_job(status);
        }
        Ok(Self {
            scheduler,
            worktrees,
            checks: options.checks,
            unsaved: options.unsaved,
            default_model: options.default_model,
            is_sample: options.is_sample,
            shared,
            model,
            decisions,
            landings,
            notes: ForecastNotes::default(),
            sessions: Vec::new(),
            checked: HashMap::new(),
            restored: None,
            scanner: Some(scanner),
            scan: None,
            landing: None,
            waiting: VecDeque::new(),
            restore: None,
            comparison: None,
            is_dirty: true,
        })
    }

    /// Runs until the scheduler has ended.
    pub(super) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        let mut tick = tokio::time::interval(SCAN_INTERVAL);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.publish();
        loop {
            tokio::select! {
                event = self.scheduler.events.recv() => match event {
                    Ok(Event::Closed) | Err(_) => break,
                    Ok(event) => self.on_event(event),
                },
                Some(command) = commands.next() => self.on_command(command).await,
                result = finished(&mut self.scan) => self.on_scan_result(result).await,
                report = finished(&mut self.landing) => {
                    self.on_landing_report(report).await;
                    self.handle_waiting().await;
                }
                outcome = finished(&mut self.restore) => self.on_restore_outcome(outcome),
                run = compare::next(&mut self.comparison) => self.on_check_run(run),
                _ = tick.tick() => {}
            }
            self.start_scan();
            self.publish();
        }
        self.model.error = Some(Error::Closed.to_string());
        self.publish();
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Job(status) => {
                self.shared.update_session(&status);
                self.model.update_job(*status);
                self.is_dirty = true;
            }
            Event::Session { job, event } => {
                let was_taken = self.shared.forward_event(&job, &event);
                if let AgentEvent::GivenBack(prompt) = &*event
                    && !was_taken
                {
                    self.shared.give_back(prompt);
                }
                self.is_dirty |= matches!(*event, AgentEvent::Recorded(_));
            }
            Event::Refused(sentence) => self.model.error = Some(sentence),
            Event::Undelivered(prompt) => self.shared.give_back(&prompt),
            Event::Notice { text, .. } => {
                self.notify(text, false);
                self.is_dirty = true;
            }
            Event::Added(_) | Event::Board(_) | Event::AllSettled | Event::Closed => {
                self.is_dirty = true
            }
        }
    }

    /// Starts a scan if a worktree may have changed and no scan, landing or restore is running.
    fn start_scan(&mut self) {
        if !self.is_dirty || self.landing.is_some() || self.restore.is_some() {
            return;
        }
        let Some(mut scanner) = self.scanner.take() else {
            return;
        };
        self.is_dirty = false;
        let jobs = self.model.jobs.clone();
        self.scan = Some(tokio::task::spawn_blocking(move || {
            let scan = scanner.scan(&jobs);
            (scanner, scan)
        }));
    }

    async fn on_scan_result(&mut self, result: Result<ScanResult, Error>) {
        let scan = result.and_then(|(scanner, scan)| {
            self.scanner = Some(scanner);
            scan
        });
        let scan = match scan {
            Ok(scan) => scan,
            Err(error) => {
                self.model.error = Some(error.to_string());
                return;
            }
        };
        let notes = self.notes.take_new(&scan.forecast, &self.model.jobs);
        self.model.branch = scan.branch;
        self.model.hunks = review_hunks(&scan.review);
        self.model.forecast = scan.forecast;
        self.model.landing_conflicts = scan.landing_conflicts;
        self.model.refused = scan.refused;
        if let Some(sentence) = scan.error {
            self.model.error = Some(sentence);
        }
        self.decisions.update_review(scan.review);
        self.sessions = scan.sessions;
        self.forget_checks();
        for (job, text) in notes {
            let note = JobCommand::Note { job, text };
            // A scheduler that has ended takes no commands.
            self.scheduler.commands.send(note).await.ok();
        }
    }

    /// Publishes the state of the board, if it changed.
    fn publish(&mut self) {
        for hunk in &mut self.model.hunks {
            hunk.verdict = self.decisions.verdict(&hunk.id);
        }
        self.shared.publish(self.model.board());
    }

    /// Shows a notice about the result of a command.
    fn notify(&mut self, text: String, can_undo: bool) {
        self.model.notice = Some(BoardNotice { text, can_undo });
    }

    /// Returns the status of a job; fails with `NotFound` if the board has no such job.
    fn job_status(&self, job: &str) -> Result<&JobStatus, Error> {
        let status = self.model.jobs.iter().find(|status| status.job == job);
        status.ok_or_else(|| Error::NotFound(format!("there is no agent \"{job}\" on the board")))
    }

    /// Returns the status of a job whose agent is not using its worktree; fails with `WrongState`
    /// if it is, and with `NotFound` if there is no such job.
    fn idle_job(&self, job: &str) -> Result<&JobStatus, Error> {
        let status = self.job_status(job)?;
        if status.may_write() {
            Err(Error::WrongState(format!(
                "\u{201c}{}\u{201d} is {}: pause or stop it, or wait until it is done.",
                status.task.title,
                status.state.label()
            )))
        } else {
            Ok(status)
        }
    }
}

/// Waits for a background task; pending for ever if there is none.
async fn finished<T>(handle: &mut Option<JoinHandle<T>>) -> Result<T, Error> {
    let Some(running) = handle else {
        return std::future::pending().await;
    };
    let done = running.await;
    *handle = None;
    done.map_err(|error| Error::Aborted(format!("It broke off: {error}")))
}
