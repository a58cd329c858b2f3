//! Starts jobs: leases a worktree, starts the session, sends the first prompt.

use super::{BoardActor, InternalEvent, Job, JobSession, RESUME_PROMPT};
use crate::board::dependencies::readiness_of;
use crate::board::job::JobState;
use crate::board::record::BoardRecord;
use crate::board::{BoardEvent, JobWorktree, SessionStartRequest, StartedSession, WorktreeRequest};
use crate::graph::Readiness;

impl BoardActor {
    /// Starts jobs that are ready while there are free slots.
    pub(super) async fn start_ready_jobs(&mut self) {
        if self.is_closing {
            return;
        }
        loop {
            let working = self.jobs.iter().filter(|job| job.line.state.is_running());
            if working.count() >= self.parts.max_parallel {
                return;
            }
            let ready = self.jobs.iter().position(|job| {
                job.line.state == JobState::Queued && self.readiness(job) == Readiness::Ready
            });
            let Some(ix) = ready else { return };
            if let Err(sentence) = self.start_job(ix).await {
                self.jobs[ix].line.state = JobState::Failed { why: sentence };
            }
        }
    }

    pub(in crate::board) fn readiness(&self, job: &Job) -> Readiness {
        readiness_of(&job.line, &self.jobs)
    }

    /// Takes the next step towards a running session: first the worktree, then the session.
    async fn start_job(&mut self, ix: usize) -> Result<(), String> {
        self.jobs[ix].line.state = JobState::Starting;
        let id = self.jobs[ix].id();
        let way = self.internal_sender.clone();
        if self.jobs[ix].line.place.is_none() {
            self.append_record(BoardRecord::Leasing { job: id.clone() })
                .await?;
            let wanted = self.worktree_request(ix);
            let leased = self.parts.worktrees.lease(wanted);
            tokio::spawn(async move {
                // If the board has ended, the worktree is later found as an orphan.
                way.send(InternalEvent::Leased(id, leased.await)).await.ok();
            });
            return Ok(());
        }
        let begin = self.session_request(ix)?;
        let hands = self.parts.starter.clone();
        let job = &self.jobs[ix];
        let (session, fork_of) = (job.line.session.clone(), job.forked_from.clone());
        tokio::spawn(async move {
            let begun = match (session, fork_of) {
                (Some(session), _) => hands.resume(begin, session).await,
                (None, None) => hands.start(begin).await,
                (None, Some(from)) => match hands.fork(begin.clone(), from).await {
                    Ok(session) => hands.resume(begin, session).await,
                    Err(sentence) => Err(sentence),
                },
            };
            way.send(InternalEvent::Started(id, begun)).await.ok();
        });
        Ok(())
    }

    pub(super) fn session_request(&self, ix: usize) -> Result<SessionStartRequest, String> {
        let line = &self.jobs[ix].line;
        let place = line.place.clone();
        Ok(SessionStartRequest {
            job: line.job.clone(),
            task: line.task.clone(),
            place: place.ok_or_else(|| format!("{} has no worktree", line.job))?,
        })
    }

    fn worktree_request(&self, ix: usize) -> WorktreeRequest {
        let job = &self.jobs[ix];
        let needs = job.line.task.needs.iter();
        let needed = needs.filter_map(|need| self.jobs.iter().find(|it| it.line.job == *need));
        // Landed work is in the user's branch, from which every worktree starts.
        let not_landed = needed.filter(|it| !matches!(it.line.state, JobState::Landed { .. }));
        let with = not_landed.filter_map(|it| it.line.place.clone());
        WorktreeRequest {
            job: job.id(),
            title: job.line.task.title.clone(),
            start_from: with.chain(job.start_from.iter().cloned()).collect(),
        }
    }
    pub(super) async fn on_leased(&mut self, job: &str, leased: Result<JobWorktree, String>) {
        let Some(ix) = self.position(job) else { return };
        let begun = match leased {
            Ok(place) => {
                let record = BoardRecord::Leased {
                    job: job.to_owned(),
                    place: place.clone(),
                };
                let written = self.append_record(record).await;
                self.jobs[ix].line.place = Some(place);
                match (written, self.jobs[ix].is_stopping || self.is_closing) {
                    (Err(sentence), _) => Err(sentence),
                    (Ok(()), true) => return self.set_state(ix, JobState::Stopped).await,
                    (Ok(()), false) => self.start_job(ix).await,
                }
            }
            Err(sentence) => Err(sentence),
        };
        if let Err(why) = begun {
            self.set_state(ix, JobState::Failed { why }).await;
        }
    }

    pub(super) async fn on_started(&mut self, job: &str, begun: Result<StartedSession, String>) {
        let Some(ix) = self.position(job) else { return };
        let hand = match begun {
            Ok(hand) => hand,
            Err(why) => return self.set_state(ix, JobState::Failed { why }).await,
        };
        if !hand.notices.is_empty() {
            let text = hand.notices.join("\n");
            let job = job.to_owned();
            self.emit(BoardEvent::Notice { job, text }).await;
        }
        let session = hand.opened.id.as_ref().to_owned();
        if self.jobs[ix].line.session.as_ref() != Some(&session) {
            let record = BoardRecord::Began {
                job: job.to_owned(),
                session: session.clone(),
            };
            if let Err(why) = self.append_record(record).await {
                return self.set_state(ix, JobState::Failed { why }).await;
            }
        }
        if self.jobs[ix].is_stopping || self.is_closing {
            self.jobs[ix].line.session = Some(session);
            return self.set_state(ix, JobState::Stopped).await;
        }
        let prompt = match (self.jobs[ix].prompt.take(), hand.is_prompted) {
            (Some(prompt), _) => prompt,
            (None, false) => self.parts.starter.prompt_for(&self.jobs[ix].line.task),
            (None, true) => RESUME_PROMPT.to_owned(),
        };
        let held = self.forward_events(job, hand);
        let job = &mut self.jobs[ix];
        if job.is_pausing {
            held.gate.close();
        }
        job.line.session = Some(session);
        job.session = Some(held);
        (job.prompts_sent, job.prompts_taken) = (0, 0);
        job.waits.clear();
        self.set_state(ix, JobState::Working).await;
        self.send_prompt(ix, prompt).await;
    }

    /// Forwards a session's events to the board's internal channel.
    fn forward_events(&self, job: &str, hand: StartedSession) -> JobSession {
        let StartedSession { opened, gate, .. } = hand;
        let (id, way, mut events) = (job.to_owned(), self.internal_sender.clone(), opened.events);
        let told = tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if way
                    .send(InternalEvent::SessionEvent(id.clone(), Box::new(event)))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        let (id, way, mut waiting) = (job.to_owned(), self.internal_sender.clone(), gate.waiting());
        let held = tokio::spawn(async move {
            while waiting.changed().await.is_ok() {
                let count = *waiting.borrow_and_update();
                if way
                    .send(InternalEvent::CallsHeld(id.clone(), count))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        JobSession {
            commands: opened.commands,
            gate,
            tasks: [told, held],
        }
    }
}
