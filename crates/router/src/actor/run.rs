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
const MAX_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// The task that owns the router's state.
pub(super) struct RouterTask {
    state: RouterState,
    start: Instant,
    commands: mpsc::Receiver<RouterCommand>,
    reports: mpsc::UnboundedReceiver<StreamReport>,
    /// For results of the usage store from a separate thread. Weak, so that the task ends when all other
    /// senders are gone.
    own: mpsc::WeakUnboundedSender<StreamReport>,
    idle: Vec<oneshot::Sender<()>>,
}

impl RouterTask {
    /// Creates the task; `run` starts it.
    pub(super) fn new(
        config: RouterConfig,
        commands: mpsc::Receiver<RouterCommand>,
        reports: mpsc::UnboundedReceiver<StreamReport>,
        own: mpsc::WeakUnboundedSender<StreamReport>,
    ) -> Self {
        Self {
            state: RouterState::new(config, MonotonicTime::START),
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
            self.update_day(now);
            let wake = self.state.pump(now).unwrap_or(now + MAX_SLEEP);
            self.notify_idle();
            let wake = self.start + wake.0.min(now.0 + MAX_SLEEP);
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
        let state = &mut self.state;
        match report {
            StreamReport::Started(attempt) => state.on_first_event(attempt, now),
            StreamReport::Limits(attempt, limits) => state.on_rate_limits(attempt, &limits, now),
            StreamReport::Ended(attempt, end, stats) => {
                state.on_attempt_end(attempt, end, stats, now)
            }
            StreamReport::Next {
                question,
                failure,
                progress,
                reply,
            } => state.next_action(question, failure, progress, reply, now),
            StreamReport::Hedge { question, reply } => state.hedge(question, reply, now),
            StreamReport::Dropped(question) => state.on_request_dropped(question, now),
            StreamReport::Others { since_ms, spent } => {
                state
                    .daily_spend
                    .apply_spend_by_others(since_ms, spent, &mut state.budgets);
            }
        }
    }

    fn handle_command(&mut self, command: RouterCommand) {
        let now = self.now();
        let state = &mut self.state;
        match command {
            RouterCommand::Submit(submission) => state.submit(*submission, now),
            RouterCommand::EndTurn(agent, turn) => state.budgets.end_turn(agent, turn),
            RouterCommand::EndAgent(agent) => state.budgets.end_agent(agent),
            RouterCommand::SetCaps(caps) => {
                state.budgets.set_caps(caps);
                state.daily_spend.set_caps(caps);
            }
            // The receiver may be gone meanwhile.
            RouterCommand::Decisions(answer) => drop(answer.send(state.selector.decisions())),
            RouterCommand::Health(answer) => {
                let health = state.routes.iter().map(|route| route.health(now));
                drop(answer.send(health.collect()));
            }
            RouterCommand::Idle(answer) => self.idle.push(answer),
        }
    }

    fn update_day(&mut self, now: MonotonicTime) {
        let state = &mut self.state;
        let now_ms = state.wall.now_ms();
        let Some(since_ms) = state.daily_spend.tick(now_ms, now, &mut state.budgets) else {
            return;
        };
        let usage_store = Arc::clone(&state.usage_store);
        let own = self.own.clone();
        tokio::task::spawn_blocking(move || {
            let spent = usage_store.spent_by_others(since_ms);
            if let Some(own) = own.upgrade() {
                // The task may have ended meanwhile.
                own.send(StreamReport::Others { since_ms, spent }).ok();
            }
        });
    }

    fn notify_idle(&mut self) {
        if self.state.is_idle() && self.commands.is_empty() {
            for answer in self.idle.drain(..) {
                answer.send(()).ok();
            }
        }
    }
}
