//! What a session tells, and what it makes of its job.

use agent::Record as Told;
use agent::session::Event as SessionEvent;

use super::actor::Actor;
use super::job::{State, WaitsFor};
use super::record::Record;
use super::{Event, question_line};

impl Actor {
    pub(super) async fn heard(&mut self, job: &str, event: SessionEvent) {
        let Some(ix) = self.at(job) else { return };
        self.take_in(ix, &event, &mut Vec::new()).await;
        let told = Event::Told {
            job: job.to_owned(),
            event: Box::new(event),
        };
        match &told {
            Event::Told { event, .. } if is_for_eyes(event) => {
                // Where nobody keeps up, what is for eyes only is left out.
                self.events.try_send(told).ok();
            }
            _ => self.tell(told).await,
        }
    }

    async fn take_in(&mut self, ix: usize, event: &SessionEvent, through: &mut Vec<String>) {
        match event {
            SessionEvent::Recorded(stored) => self.recorded(ix, &stored.record, through).await,
            SessionEvent::Asking { number, question } => {
                let wait = WaitsFor::Answer {
                    through: through.clone(),
                    question: *number,
                    text: question_line(question),
                };
                self.waits(ix, wait).await;
            }
            SessionEvent::Child { session, event } => {
                self.helped(ix, session).await;
                through.push(session.as_ref().to_owned());
                Box::pin(self.take_in(ix, event, through)).await;
            }
            SessionEvent::Fill { cost_nano, .. } if through.is_empty() => {
                self.jobs[ix].line.cost_nano = *cost_nano;
            }
            SessionEvent::Waiting { why, .. } => self.jobs[ix].line.doing.clone_from(why),
            SessionEvent::Compacting { is_over: false } => {
                "makes its conversation shorter".clone_into(&mut self.jobs[ix].line.doing);
            }
            SessionEvent::GivenBack(_) if through.is_empty() => self.jobs[ix].heard += 1,
            SessionEvent::Idle(end) if through.is_empty() => {
                let state = State::of_end(end);
                self.jobs[ix].waits.clear();
                // What was said at the last moment begins another turn.
                let is_over = self.jobs[ix].heard >= self.jobs[ix].said;
                if is_over || state != State::Done {
                    self.stand(ix, state).await;
                    self.send(ix, agent::Command::Close).await;
                }
            }
            SessionEvent::Closed if through.is_empty() => {
                self.jobs[ix].hand = None;
                if self.jobs[ix].line.state.is_open() {
                    let why = "its session ended without saying how".to_owned();
                    self.stand(ix, State::Failed { why }).await;
                }
                if std::mem::take(&mut self.jobs[ix].goes_on)
                    && let Err(sentence) = self.queue_again(ix, None).await
                {
                    self.tell(Event::Refused(sentence)).await;
                }
            }
            _ => {}
        }
    }

    async fn recorded(&mut self, ix: usize, record: &Told, through: &[String]) {
        let job = &mut self.jobs[ix];
        match record {
            Told::Prompted { turn, .. } if through.is_empty() => {
                job.line.turns = *turn;
                job.heard += 1;
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
                let wait = WaitsFor::Leave {
                    through: through.to_vec(),
                    call: call.clone(),
                    title: title.clone(),
                    details: details.clone(),
                    reason: reason.clone(),
                    rules: rules.clone(),
                };
                self.waits(ix, wait).await;
            }
            Told::LeaveGiven { call, .. } | Told::CallEnded { call, .. } => {
                let is_it = |wait: &WaitsFor| matches!(wait, WaitsFor::Leave { call: it, .. } if it == call);
                self.waits_no_more(ix, is_it).await;
            }
            _ => {}
        }
    }

    async fn helped(&mut self, ix: usize, session: &str) {
        let line = &mut self.jobs[ix].line;
        if line.helpers.iter().any(|it| it == session) {
            return;
        }
        line.helpers.push(session.to_owned());
        let record = Record::Helped {
            job: line.job.clone(),
            session: session.to_owned(),
        };
        if let Err(sentence) = self.write(record).await {
            self.tell(Event::Refused(sentence)).await;
        }
    }

    async fn waits(&mut self, ix: usize, wait: WaitsFor) {
        self.jobs[ix].waits.push(wait);
        self.stand_as_it_waits(ix).await;
    }

    async fn waits_no_more(&mut self, ix: usize, is_it: impl Fn(&WaitsFor) -> bool) {
        let before = self.jobs[ix].waits.len();
        self.jobs[ix].waits.retain(|wait| !is_it(wait));
        if self.jobs[ix].waits.len() != before {
            self.stand_as_it_waits(ix).await;
        }
    }

    async fn stand_as_it_waits(&mut self, ix: usize) {
        let job = &self.jobs[ix];
        if !matches!(job.line.state, State::Working | State::Waiting { .. }) {
            return;
        }
        let state = match job.waits.first() {
            Some(what) => State::Waiting { what: what.clone() },
            None => State::Working,
        };
        if job.line.state != state {
            self.stand(ix, state).await;
        }
    }

    /// The person answers what a session asked.
    pub(super) async fn answered(
        &mut self,
        ix: usize,
        command: &agent::Command,
        through: &mut Vec<String>,
    ) {
        match command {
            agent::Command::Child { session, command } => {
                through.push(session.clone());
                Box::pin(self.answered(ix, command, through)).await;
            }
            agent::Command::Reply { question, .. } => {
                let is_it = |wait: &WaitsFor| match wait {
                    WaitsFor::Answer {
                        through: way,
                        question: it,
                        ..
                    } => it == question && way == through,
                    WaitsFor::Leave { .. } => false,
                };
                self.waits_no_more(ix, is_it).await;
            }
            agent::Command::Prompt(_) | agent::Command::Steer(_) if through.is_empty() => {
                self.jobs[ix].said += 1;
            }
            _ => {}
        }
    }

    /// So many calls of a job are held at the gate.
    pub(super) async fn held(&mut self, job: &str, count: usize) {
        let Some(ix) = self.at(job) else { return };
        let job = &self.jobs[ix];
        let is_working = matches!(job.line.state, State::Working | State::Waiting { .. });
        if count > 0 && job.is_pausing && is_working {
            self.stand(ix, State::Paused).await;
        }
    }
}

fn is_for_eyes(event: &SessionEvent) -> bool {
    match event {
        SessionEvent::Text(_)
        | SessionEvent::Thought(_)
        | SessionEvent::CallDelta { .. }
        | SessionEvent::Progress { .. }
        | SessionEvent::Fill { .. } => true,
        SessionEvent::Child { event, .. } => is_for_eyes(event),
        _ => false,
    }
}
