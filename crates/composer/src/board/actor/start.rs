//! Starts jobs: leases a worktree, starts the session, sends the first prompt.

use super::{BoardActor, InternalEvent, Job, JobSession, RESUME_PROMPT, text_prompt};
use crate::Error;
use crate::board::dependencies::readiness_of;
use crate::board::record::BoardRecord;
use crate::board::{SessionStartRequest, StartedSession, WorktreeRequest};
use crate::graph::Readiness;
use crate::job::{JobState, JobWorktree};
use crate::protocol::Event;

impl BoardActor {
    /// Starts jobs that are ready, oldest first, while there are free slots. Does nothing while the
    /// board is closing.
    pub(super) async fn start_ready_jobs(&mut self) {
        if self.is_closing {
            return;
        }
        loop {
            let working = self.jobs.iter().filter(|job| job.status.state.is_running());
            if working.count() >= self.config.max_parallel {
                return;
            }
            let ready = self.jobs.iter().position(|job| {
                job.status.state == JobState::Queued && self.readiness(job) == Readiness::Ready
            });
            let Some(ix) = ready else { return };
            if let Err(error) = self.start_job(ix).await {
                self.jobs[ix].status.state = JobState::Failed {
                    why: error.to_string(),
                };
            }
        }
    }

    /// Returns whether a job's dependencies allow it to start.
    pub(in crate::board) fn readiness(&self, job: &Job) -> Readiness {
        readiness_of(&job.status, &self.jobs)
    }

    /// Takes the next step towards a running session: first the worktree, then the session.
    async fn start_job(&mut self, ix: usize) -> Result<(), Error> {
        self.jobs[ix].status.state = JobState::Starting;
        let id = self.jobs[ix].id();
        let sender = self.internal_sender.clone();
        if self.jobs[ix].status.worktree.is_none() {
            self.append_record(BoardRecord::Leasing { job: id.clone() })
                .await?;
            let leased = self.config.worktrees.lease(self.worktree_request(ix));
            tokio::spawn(async move {
                // If the board has ended, the worktree is later found as an orphan.
                sender
                    .send(InternalEvent::Leased(id, leased.await))
                    .await
                    .ok();
            });
            return Ok(());
        }
        let request = self.session_request(ix)?;
        let starter = self.config.starter.clone();
        let job = &self.jobs[ix];
        let (session, fork_of) = (job.status.session.clone(), job.forked_from.clone());
        tokio::spawn(async move {
            let started = match (session, fork_of) {
                (Some(session), _) => starter.resume(request, session).await,
                (None, None) => starter.start(request).await,
                (None, Some(from)) => match starter.fork(request.clone(), from).await {
                    Ok(session) => starter.resume(request, session).await,
                    Err(error) => Err(error),
                },
            };
            sender.send(InternalEvent::Started(id, started)).await.ok();
        });
        Ok(())
    }

    /// Returns the request for the session of the job at index `ix`. Fails if the job has no
    /// worktree.
    pub(super) fn session_request(&self, ix: usize) -> Result<SessionStartRequest, Error> {
        let status = &self.jobs[ix].status;
        Ok(SessionStartRequest {
            job: status.job.clone(),
            task: status.task.clone(),
            worktree: status.worktree()?.clone(),
        })
    }

    fn worktree_request(&self, ix: usize) -> WorktreeRequest {
        let job = &self.jobs[ix];
        let needs = job.status.task.needs.iter();
        let needed = needs.filter_map(|need| self.jobs.iter().find(|it| it.status.job == *need));
        // Landed work is in the user's branch, from which every worktree starts.
        let not_landed = needed.filter(|it| !matches!(it.status.state, JobState::Landed { .. }));
        let needed = not_landed.filter_map(|it| it.status.worktree.clone());
        WorktreeRequest {
            job: job.id(),
            title: job.status.task.title.clone(),
            start_from: needed.chain(job.start_from.iter().cloned()).collect(),
        }
    }

    /// Handles the result of leasing a worktree for a job: starts the job's session, or fails the
    /// job.
    pub(super) async fn on_leased(&mut self, job: &str, leased: Result<JobWorktree, Error>) {
        let Some(ix) = self.position(job) else { return };
        let started = match leased {
            Ok(worktree) => {
                let record = BoardRecord::Leased {
                    job: job.to_owned(),
                    worktree: worktree.clone(),
                };
                let written = self.append_record(record).await;
                self.jobs[ix].status.worktree = Some(worktree);
                match (written, self.jobs[ix].is_stopping || self.is_closing) {
                    (Err(error), _) => Err(error),
                    (Ok(()), true) => return self.set_state(ix, JobState::Stopped).await,
                    (Ok(()), false) => self.start_job(ix).await,
                }
            }
            Err(error) => Err(error),
        };
        if let Err(error) = started {
            self.fail(ix, &error).await;
        }
    }

    /// Handles the result of starting a job's session: follows the session's events and sends the
    /// first prompt, or fails the job.
    pub(super) async fn on_started(&mut self, job: &str, started: Result<StartedSession, Error>) {
        let Some(ix) = self.position(job) else { return };
        let started = match started {
            Ok(started) => started,
            Err(error) => return self.fail(ix, &error).await,
        };
        if !started.notices.is_empty() {
            let text = started.notices.join("\n");
            let job = job.to_owned();
            self.emit(Event::Notice { job, text }).await;
        }
        let session = started.opened.id.as_ref().to_owned();
        if self.jobs[ix].status.session.as_ref() != Some(&session) {
            let record = BoardRecord::SessionStarted {
                job: job.to_owned(),
                session: session.clone(),
            };
            if let Err(error) = self.append_record(record).await {
                return self.fail(ix, &error).await;
            }
        }
        if self.jobs[ix].is_stopping || self.is_closing {
            self.jobs[ix].status.session = Some(session);
            return self.set_state(ix, JobState::Stopped).await;
        }
        let message = self.jobs[ix].prompt.take();
        let prompt = match (message.clone(), started.is_prompted) {
            (Some(message), _) => message,
            (None, false) => {
                text_prompt(self.config.starter.prompt_for(&self.jobs[ix].status.task))
            }
            (None, true) => text_prompt(RESUME_PROMPT.to_owned()),
        };
        let settings = std::mem::take(&mut self.jobs[ix].settings);
        let running = self.forward_events(job, started);
        let job = &mut self.jobs[ix];
        if job.is_pausing {
            running.gate.close();
        }
        job.status.session = Some(session);
        job.session = Some(running);
        (job.prompts_sent, job.prompts_taken) = (0, 0);
        job.waits.clear();
        self.set_state(ix, JobState::Working).await;
        for command in settings {
            self.send_command(ix, command).await;
        }
        if let Err(error) = self.send_prompt(ix, prompt).await {
            // The message waits until the job is resumed.
            self.jobs[ix].prompt = message;
            self.refuse(error).await;
        }
    }

    async fn fail(&mut self, ix: usize, error: &Error) {
        let why = error.to_string();
        self.set_state(ix, JobState::Failed { why }).await;
    }

    /// Starts the tasks that send to the board a session's events, the number of its paused calls, and
    /// failures to record the changes of its calls. They end with the session, or when the handle is
    /// dropped.
    fn forward_events(&self, job: &str, started: StartedSession) -> JobSession {
        let StartedSession { opened, gate, .. } = started;
        let (id, sender, mut events) =
            (job.to_owned(), self.internal_sender.clone(), opened.events);
        let forwarding = tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if sender
                    .send(InternalEvent::SessionEvent(id.clone(), Box::new(event)))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        let (id, sender, mut waiting) =
            (job.to_owned(), self.internal_sender.clone(), gate.waiting());
        let counting = tokio::spawn(async move {
            while waiting.changed().await.is_ok() {
                let count = *waiting.borrow_and_update();
                if sender
                    .send(InternalEvent::CallsHeld(id.clone(), count))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        let (id, sender, mut failure) =
            (job.to_owned(), self.internal_sender.clone(), gate.failure());
        let reporting = tokio::spawn(async move {
            while failure.changed().await.is_ok() {
                let why = failure.borrow_and_update().clone();
                if let Some(why) = why
                    && sender
                        .send(InternalEvent::ChangesUnrecorded(id.clone(), why))
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
            tasks: [forwarding, counting, reporting],
        }
    }
}
