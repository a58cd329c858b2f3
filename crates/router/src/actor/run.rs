//! The task: commands and reports in, verdicts out, one after the other.

use std::sync::Arc;
use std::time::Duration;

use model::Moment;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::RouterConfig;
use super::board::Board;
use super::post::{Command, Report};

/// Longer than any wait that matters, and short enough for every timer.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) struct Task {
    board: Board,
    start: Instant,
    commands: mpsc::Receiver<Command>,
    reports: mpsc::UnboundedReceiver<Report>,
    /// For what the book answers from a thread of its own. Weak, as the task ends when all others are gone.
    own: mpsc::WeakUnboundedSender<Report>,
    idle: Vec<oneshot::Sender<()>>,
}

impl Task {
    pub(super) fn new(
        config: RouterConfig,
        commands: mpsc::Receiver<Command>,
        reports: mpsc::UnboundedReceiver<Report>,
        own: mpsc::WeakUnboundedSender<Report>,
    ) -> Self {
        Self {
            board: Board::new(config, Moment::START),
            start: Instant::now(),
            commands,
            reports,
            own,
            idle: Vec::new(),
        }
    }

    /// Ends when every handle and every stream is gone.
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
                // First, so that what a stream reported counts before its next request.
                report = self.reports.recv() => match report {
                    Some(report) => self.take(report),
                    None => return,
                },
                command = self.commands.recv(), if has_callers => match command {
                    Some(command) => self.obey(command),
                    None => has_callers = false,
                },
                () = sleep_until(wake) => {}
            }
            while let Ok(report) = self.reports.try_recv() {
                self.take(report);
            }
        }
    }

    fn now(&self) -> Moment {
        Moment(self.start.elapsed())
    }

    fn take(&mut self, report: Report) {
        let now = self.now();
        let board = &mut self.board;
        match report {
            Report::Began(attempt) => board.began(attempt, now),
            Report::Limits(attempt, limits) => board.limits(attempt, &limits, now),
            Report::Ended(attempt, end, seen) => board.ended(attempt, end, seen, now),
            Report::Next {
                question,
                failure,
                progress,
                verdict,
            } => board.next(question, failure, progress, verdict, now),
            Report::Hedge { question, verdict } => board.hedge(question, verdict, now),
            Report::Gone(question) => board.gone(question, now),
            Report::Others { since_ms, spent } => {
                board.days.told(since_ms, spent, &mut board.budgets);
            }
        }
    }

    fn obey(&mut self, command: Command) {
        let now = self.now();
        let board = &mut self.board;
        match command {
            Command::Submit(submission) => board.submit(*submission, now),
            Command::EndTurn(agent, turn) => board.budgets.end_turn(agent, turn),
            Command::EndAgent(agent) => board.budgets.end_agent(agent),
            Command::SetCaps(caps) => {
                board.budgets.set_caps(caps);
                board.days.set_caps(caps);
            }
            // Who asked may have gone; then nobody wants to know.
            Command::Decisions(answer) => drop(answer.send(board.chooser.decisions())),
            Command::Health(answer) => {
                let health = board.lanes.iter().map(|lane| lane.health(now));
                drop(answer.send(health.collect()));
            }
            Command::Idle(answer) => self.idle.push(answer),
        }
    }

    fn keep_day(&mut self, now: Moment) {
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
                own.send(Report::Others { since_ms, spent }).ok();
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
