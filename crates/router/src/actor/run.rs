//! The router's task: handles commands and reports one at a time.

use std::sync::Arc;
use std::time::Duration;

use model::MonotonicTime;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::RouterConfig;
use super::messages::{RouterCommand, StreamReport};
use super::state::RouterState;

/// Longer than any relevant wait, and short enough for every timer.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) struct RouterTask {
    board: RouterState,
    start: Instant,
    commands: mpsc::Receiver<RouterCommand>,
    reports: mpsc::UnboundedReceiver<StreamReport>,
    /// For results of the book from a separate thread. Weak, so that the task ends when all other
    /// senders are gone.
    own: mpsc::WeakUnboundedSender<StreamReport>,
    idle: Vec<oneshot::Sender<()>>,
}

impl RouterTask {
    pub(super) fn new(
        config: RouterConfig,
        commands: mpsc::Receiver<RouterCommand>,
        reports: mpsc::UnboundedReceiver<StreamReport>,
        own: mpsc::WeakUnboundedSender<StreamReport>,
    ) -> Self {
        Self {
            board: RouterState::new(config, MonotonicTime::START),
            start: Instant::now(),
            commands,
            reports,
            own,
            idle: Vec::new(),
        }
    }

    /// Runs until every handle and every stream is gone.
    pub(super) async fn run(mut self) {
        let mut has_callers = true;
        loop {
            let now = self.now();
            self.keep_day(now);
            let wake = self.board.pump(now).unwrap_or(now + LONG);
            self.tell_idle();
            let wake = self.start + wake.0.min(now.0 + LONG);
            tokio::select! {
                biased;
                // First, so that a stream's report counts before its next request.
                report = self.reports.recv() => match report {
                    Some(report) => self.handle_report(report),
                    None => return,
                },
                command = self.commands.recv(), if has_callers => match command {
                    Some(command) => self.handle_command(command),
                    None => has_callers = false,
                },
                () = sleep_until(wake) => {}
            }
            while let Ok(report) = self.reports.try_recv() {
                self.handle_report(report);
            }
        }
    }

    fn now(&self) -> MonotonicTime {
        MonotonicTime(self.start.elapsed())
    }

    fn handle_report(&mut self, report: StreamReport) {
        let now = self.now();
        let board = &mut self.board;
        match report {
            StreamReport::Started(attempt) => board.on_first_event(attempt, now),
            StreamReport::Limits(attempt, limits) => board.on_rate_limits(attempt, &limits, now),
            StreamReport::Ended(attempt, end, seen) => {
                board.on_attempt_end(attempt, end, seen, now)
            }
            StreamReport::Next {
                question,
                failure,
                progress,
                verdict,
            } => board.next_action(question, failure, progress, verdict, now),
            StreamReport::Hedge { question, verdict } => board.hedge(question, verdict, now),
            StreamReport::Gone(question) => board.on_request_dropped(question, now),
            StreamReport::Others { since_ms, spent } => {
                board
                    .days
                    .apply_spend_by_others(since_ms, spent, &mut board.budgets);
            }
        }
    }

    fn handle_command(&mut self, command: RouterCommand) {
        let now = self.now();
        let board = &mut self.board;
        match command {
            RouterCommand::Submit(submission) => board.submit(*submission, now),
            RouterCommand::EndTurn(agent, turn) => board.budgets.end_turn(agent, turn),
            RouterCommand::EndAgent(agent) => board.budgets.end_agent(agent),
            RouterCommand::SetCaps(caps) => {
                board.budgets.set_caps(caps);
                board.days.set_caps(caps);
            }
            // The receiver may be gone meanwhile.
            RouterCommand::Decisions(answer) => drop(answer.send(board.chooser.decisions())),
            RouterCommand::Health(answer) => {
                let health = board.routes.iter().map(|lane| lane.health(now));
                drop(answer.send(health.collect()));
            }
            RouterCommand::Idle(answer) => self.idle.push(answer),
        }
    }

    fn keep_day(&mut self, now: MonotonicTime) {
        let board = &mut self.board;
        let now_ms = board.wall.now_ms();
        let Some(since_ms) = board.days.tick(now_ms, now, &mut board.budgets) else {
            return;
        };
        let book = Arc::clone(&board.book);
        let own = self.own.clone();
        tokio::task::spawn_blocking(move || {
            let spent = book.spent_by_others(since_ms);
            if let Some(own) = own.upgrade() {
                // The task may have ended meanwhile.
                own.send(StreamReport::Others { since_ms, spent }).ok();
            }
        });
    }

    fn tell_idle(&mut self) {
        if self.board.is_idle() && self.commands.is_empty() {
            for answer in self.idle.drain(..) {
                answer.send(()).ok();
            }
        }
    }
}
