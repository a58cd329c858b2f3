//! Handles session events and updates the status of their jobs.

use agent::SessionRecord as Told;
use agent::session::AgentEvent as SessionEvent;

use super::actor::BoardActor;
use super::job::{AwaitedInput, JobState};
use super::record::BoardRecord;
use super::{BoardEvent, question_line};

impl BoardActor {
    pub(super) async fn on_session_event(&mut self, job: &str, event: SessionEvent) {
        let Some(ix) = self.position(job) else { return };
        self.apply_session_event(ix, &event, &mut Vec::new()).await;
        let told = BoardEvent::Session {
            job: job.to_owned(),
            event: Box::new(event),
        };
        match &told {
            BoardEvent::Session { event, .. } if is_display_only(event) => {
                // Display-only events are dropped if the receiver does not keep up.
                self.events.try_send(told).ok();
            }
            _ => self.emit(told).await,
        }
    }

    async fn apply_session_event(
        &mut self,
        ix: usize,
        event: &SessionEvent,
        through: &mut Vec<String>,
    ) {
        match event {
            SessionEvent::Recorded(stored) => self.apply_record(ix, &stored.record, through).await,
            SessionEvent::Asking { number, question } => {
                let wait = AwaitedInput::Answer {
                    through: through.clone(),
                    question: *number,
                    text: question_line(question),
                };
                self.add_wait(ix, wait).await;
            }
            SessionEvent::Child { session, event } => {
                self.add_subagent(ix, session).await;
                through.push(session.as_ref().to_owned());
                Box::pin(self.apply_session_event(ix, event, through)).await;
            }
            SessionEvent::Fill { cost_nano, .. } if through.is_empty() => {
                self.jobs[ix].line.cost_nano = *cost_nano;
            }
            SessionEvent::Waiting { why, .. } => self.jobs[ix].line.doing.clone_from(why),
            SessionEvent::Compacting { is_over: false } => {
                "compacting the conversation".clone_into(&mut self.jobs[ix].line.doing);
            }
            SessionEvent::GivenBack(_) if through.is_empty() => self.jobs[ix].prompts_taken += 1,
            SessionEvent::Idle(end) if through.is_empty() => {
                let state = JobState::from_turn_end(end);
                self.jobs[ix].waits.clear();
                // A prompt that arrived at the last moment begins another turn.
                let is_over = self.jobs[ix].prompts_taken >= self.jobs[ix].prompts_sent;
                if is_over || state != JobState::Done {
                    self.set_state(ix, state).await;
                    self.send_command(ix, agent::SessionCommand::Close).await;
                }
            }
            SessionEvent::Closed if through.is_empty() => {
                self.jobs[ix].session = None;
                if self.jobs[ix].line.state.is_open() {
                    let why = "its session ended without a result".to_owned();
                    self.set_state(ix, JobState::Failed { why }).await;
                }
                if std::mem::take(&mut self.jobs[ix].resume_after_close)
                    && let Err(sentence) = self.requeue(ix, None).await
                {
                    self.emit(BoardEvent::Refused(sentence)).await;
                }
            }
            _ => {}
        }
    }

    async fn apply_record(&mut self, ix: usize, record: &Told, through: &[String]) {
        let job = &mut self.jobs[ix];
        match record {
            Told::Prompted { turn, .. } if through.is_empty() => {
                job.line.turns = *turn;
                job.prompts_taken += 1;
            }
            Told::Asked { .. } => "thinks".clone_into(&mut job.line.doing),
            Told::CallBegan { title, .. } => job.line.doing.clone_from(title),
            Told::LeaveAsked {
                call,
                title,
                details,
                reason,
                rules,
            } => {
                let wait = AwaitedInput::Leave {
                    through: through.to_vec(),
                    call: call.clone(),
                    title: title.clone(),
                    details: details.clone(),
                    reason: reason.clone(),
                    rules: rules.clone(),
                };
                self.add_wait(ix, wait).await;
            }
            Told::LeaveGiven { call, .. } | Told::CallEnded { call, .. } => {
                let is_it = |wait: &AwaitedInput| matches!(wait, AwaitedInput::Leave { call: it, .. } if it == call);
                self.remove_waits(ix, is_it).await;
            }
            _ => {}
        }
    }

    async fn add_subagent(&mut self, ix: usize, session: &str) {
        let line = &mut self.jobs[ix].line;
        if line.helpers.iter().any(|it| it == session) {
            return;
        }
        line.helpers.push(session.to_owned());
        let record = BoardRecord::Helped {
            job: line.job.clone(),
            session: session.to_owned(),
        };
        if let Err(sentence) = self.append_record(record).await {
            self.emit(BoardEvent::Refused(sentence)).await;
        }
    }

    async fn add_wait(&mut self, ix: usize, wait: AwaitedInput) {
        self.jobs[ix].waits.push(wait);
        self.update_wait_state(ix).await;
    }

    async fn remove_waits(&mut self, ix: usize, is_it: impl Fn(&AwaitedInput) -> bool) {
        let before = self.jobs[ix].waits.len();
        self.jobs[ix].waits.retain(|wait| !is_it(wait));
        if self.jobs[ix].waits.len() != before {
            self.update_wait_state(ix).await;
        }
    }

    async fn update_wait_state(&mut self, ix: usize) {
        let job = &self.jobs[ix];
        if !matches!(job.line.state, JobState::Working | JobState::Waiting { .. }) {
            return;
        }
        let state = match job.waits.first() {
            Some(what) => JobState::Waiting { what: what.clone() },
            None => JobState::Working,
        };
        if job.line.state != state {
            self.set_state(ix, state).await;
        }
    }

    /// Removes the pending request that a command of the user answers.
    pub(super) async fn clear_answered(
        &mut self,
        ix: usize,
        command: &agent::SessionCommand,
        through: &mut Vec<String>,
    ) {
        match command {
            agent::SessionCommand::Child { session, command } => {
                through.push(session.clone());
                Box::pin(self.clear_answered(ix, command, through)).await;
            }
            agent::SessionCommand::Reply { question, .. } => {
                let is_it = |wait: &AwaitedInput| match wait {
                    AwaitedInput::Answer {
                        through: way,
                        question: it,
                        ..
                    } => it == question && way == through,
                    AwaitedInput::Leave { .. } => false,
                };
                self.remove_waits(ix, is_it).await;
            }
            agent::SessionCommand::Prompt(_) | agent::SessionCommand::Steer(_)
                if through.is_empty() =>
            {
                self.jobs[ix].prompts_sent += 1;
            }
            _ => {}
        }
    }

    /// Marks a job as paused once a call waits at its gate.
    pub(super) async fn on_calls_held(&mut self, job: &str, count: usize) {
        let Some(ix) = self.position(job) else { return };
        let job = &self.jobs[ix];
        let is_working = matches!(job.line.state, JobState::Working | JobState::Waiting { .. });
        if count > 0 && job.is_pausing && is_working {
            self.set_state(ix, JobState::Paused).await;
        }
    }
}

fn is_display_only(event: &SessionEvent) -> bool {
    match event {
        SessionEvent::Text(_)
        | SessionEvent::Thought(_)
        | SessionEvent::CallDelta { .. }
        | SessionEvent::Progress { .. }
        | SessionEvent::Fill { .. } => true,
        SessionEvent::Child { event, .. } => is_display_only(event),
        _ => false,
    }
}
