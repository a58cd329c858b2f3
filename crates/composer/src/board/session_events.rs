//! Handles session events and updates the status of their jobs.

use agent::{AgentEvent, SessionRecord};

use super::actor::{BoardActor, RESUME_PROMPT};
use super::question_line;
use super::record::BoardRecord;
use crate::job::{AwaitedInput, JobState};
use crate::protocol::Event;

impl BoardActor {
    /// Handles an event of a job's session: updates the job's status and forwards the event. Drops
    /// a display-only event if the receiver does not keep up.
    pub(super) async fn on_session_event(&mut self, job: &str, event: AgentEvent) {
        let Some(ix) = self.position(job) else { return };
        self.apply_session_event(ix, &event, &mut Vec::new()).await;
        if let AgentEvent::GivenBack(prompt) = &event
            && self.is_generated(ix, &prompt.text)
        {
            return;
        }
        let can_drop = is_display_only(&event);
        let event = Event::Session {
            job: job.to_owned(),
            event: Box::new(event),
        };
        if can_drop {
            // Display-only events are dropped if the receiver does not keep up.
            self.events.try_send(event).ok();
        } else {
            self.emit(event).await;
        }
    }

    /// Whether the board made this prompt, rather than the user.
    fn is_generated(&self, ix: usize, prompt: &str) -> bool {
        let task = &self.jobs[ix].status.task;
        prompt == RESUME_PROMPT || prompt == self.config.starter.prompt_for(task)
    }

    async fn apply_session_event(
        &mut self,
        ix: usize,
        event: &AgentEvent,
        through: &mut Vec<String>,
    ) {
        match event {
            AgentEvent::Recorded(stored) => self.apply_record(ix, &stored.record, through).await,
            AgentEvent::Asking { number, question } => {
                let wait = AwaitedInput::Answer {
                    through: through.clone(),
                    question: *number,
                    text: question_line(question),
                };
                self.add_wait(ix, wait).await;
            }
            AgentEvent::Child { session, event } => {
                self.add_subagent(ix, session).await;
                through.push(session.as_ref().to_owned());
                Box::pin(self.apply_session_event(ix, event, through)).await;
            }
            AgentEvent::Fill { cost_nano, .. } if through.is_empty() => {
                self.jobs[ix].status.cost_nano = *cost_nano;
            }
            AgentEvent::Waiting { why, .. } => self.jobs[ix].status.activity.clone_from(why),
            AgentEvent::Compacting { is_over: false } => {
                "compacting the conversation".clone_into(&mut self.jobs[ix].status.activity);
            }
            AgentEvent::GivenBack(_) if through.is_empty() => self.jobs[ix].prompts_taken += 1,
            AgentEvent::Idle(end) if through.is_empty() => {
                let state = JobState::from_turn_end(end);
                self.jobs[ix].waits.clear();
                // A prompt that arrived at the last moment begins another turn.
                let is_over = self.jobs[ix].prompts_taken >= self.jobs[ix].prompts_sent;
                if is_over || state != JobState::Done {
                    self.set_state(ix, state).await;
                    self.send_command(ix, agent::SessionCommand::Close).await;
                }
            }
            AgentEvent::Closed if through.is_empty() => {
                self.jobs[ix].session = None;
                if self.jobs[ix].status.state.is_open() {
                    let why = "its session ended without a result".to_owned();
                    self.set_state(ix, JobState::Failed { why }).await;
                }
                if std::mem::take(&mut self.jobs[ix].resume_after_close)
                    && let Err(error) = self.requeue(ix, None).await
                {
                    self.refuse(error).await;
                }
            }
            _ => {}
        }
    }

    async fn apply_record(&mut self, ix: usize, record: &SessionRecord, through: &[String]) {
        let job = &mut self.jobs[ix];
        match record {
            SessionRecord::Prompted { turn, .. } if through.is_empty() => {
                job.status.turns = *turn;
                job.prompts_taken += 1;
            }
            SessionRecord::Asked { .. } => "thinks".clone_into(&mut job.status.activity),
            SessionRecord::CallBegan { title, .. } => job.status.activity.clone_from(title),
            SessionRecord::LeaveAsked {
                call,
                title,
                details,
                reason,
                rules,
            } => {
                let wait = AwaitedInput::Permission {
                    through: through.to_vec(),
                    call: call.clone(),
                    title: title.clone(),
                    details: details.clone(),
                    reason: reason.clone(),
                    rules: rules.clone(),
                };
                self.add_wait(ix, wait).await;
            }
            SessionRecord::LeaveGiven { call, .. } | SessionRecord::CallEnded { call, .. } => {
                let is_it = |wait: &AwaitedInput| matches!(wait, AwaitedInput::Permission { call: it, .. } if it == call);
                self.remove_waits(ix, is_it).await;
            }
            _ => {}
        }
    }

    async fn add_subagent(&mut self, ix: usize, session: &str) {
        let status = &mut self.jobs[ix].status;
        if status.subagents.iter().any(|it| it == session) {
            return;
        }
        status.subagents.push(session.to_owned());
        let record = BoardRecord::SubagentStarted {
            job: status.job.clone(),
            session: session.to_owned(),
        };
        if let Err(error) = self.append_record(record).await {
            self.refuse(error).await;
        }
    }

    async fn add_wait(&mut self, ix: usize, wait: AwaitedInput) {
        self.jobs[ix].waits.push(wait);
        self.update_wait_state(ix).await;
    }

    /// Removes the waits of the job at index `ix` for which `is_it` holds, and updates the job's
    /// state if there were any.
    async fn remove_waits(&mut self, ix: usize, is_it: impl Fn(&AwaitedInput) -> bool) {
        let before = self.jobs[ix].waits.len();
        self.jobs[ix].waits.retain(|wait| !is_it(wait));
        if self.jobs[ix].waits.len() != before {
            self.update_wait_state(ix).await;
        }
    }

    async fn update_wait_state(&mut self, ix: usize) {
        let job = &self.jobs[ix];
        if !matches!(
            job.status.state,
            JobState::Working | JobState::Waiting { .. }
        ) {
            return;
        }
        let state = match job.waits.first() {
            Some(input) => JobState::Waiting {
                input: input.clone(),
            },
            None => JobState::Working,
        };
        if job.status.state != state {
            self.set_state(ix, state).await;
        }
    }

    /// Removes the pending question that a `Reply` of the user answers. Ignores other commands.
    /// `through` collects the subagents on the path to the question.
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
                        through: path,
                        question: it,
                        ..
                    } => it == question && path == through,
                    AwaitedInput::Permission { .. } => false,
                };
                self.remove_waits(ix, is_it).await;
            }
            _ => {}
        }
    }

    /// Changes a job that is to be paused to the state `Paused` if `count`, the number of calls
    /// that wait at its gate, is above zero.
    pub(super) async fn on_calls_held(&mut self, job: &str, count: usize) {
        let Some(ix) = self.position(job) else { return };
        let job = &self.jobs[ix];
        let is_working = matches!(
            job.status.state,
            JobState::Working | JobState::Waiting { .. }
        );
        if count > 0 && job.is_pausing && is_working {
            self.set_state(ix, JobState::Paused).await;
        }
    }
}

/// Returns whether an event only updates a display, so that a receiver that does not keep up may
/// miss it. An event of a subagent is judged by the inner event.
fn is_display_only(event: &AgentEvent) -> bool {
    match event {
        AgentEvent::Text(_)
        | AgentEvent::Thought(_)
        | AgentEvent::CallDelta { .. }
        | AgentEvent::Progress { .. }
        | AgentEvent::Fill { .. } => true,
        AgentEvent::Child { event, .. } => is_display_only(event),
        _ => false,
    }
}
