//! Handles the commands to the board. A command that fails is answered by `Event::Refused`.

use agent::session::{QueueCommand, UserPrompt};
use agent::{AgentEvent, SessionCommand};

use super::{BoardActor, InternalEvent, Job, text_prompt};
use crate::Error;
use crate::board::dependencies::resolve_names;
use crate::board::record::BoardRecord;
use crate::job::{HandOverTarget, JobId, JobSpec, JobState, JobStatus, WorkOutcome};
use crate::protocol::{Event, JobCommand};

impl BoardActor {
    /// Handles a command of the user. Emits a failure as `Event::Refused`, and then the message that
    /// the command contains.
    pub(super) async fn handle_command(&mut self, command: JobCommand) {
        let message = message_of(&command);
        let done = match command {
            JobCommand::Add(tasks) => self.add(tasks, None).await,
            JobCommand::AddBestOf(task, count) => self.add_best_of(task, count).await,
            JobCommand::Steer { job, text } => self.steer(&job, text_prompt(text)).await,
            JobCommand::Note { job, text } => self.note(&job, text).await,
            JobCommand::Forward { job, command } => self.forward_command(&job, command).await,
            JobCommand::Pause(job) => self.pause(&job).await,
            JobCommand::Resume(job) => self.resume(&job).await,
            JobCommand::Stop(job) => self.stop(&job).await,
            JobCommand::Fork { job, prompt } => self.fork(&job, prompt).await,
            JobCommand::HandOver { job, to } => self.hand_over(&job, to).await,
            JobCommand::RecordOutcome { job, outcome } => self.record_outcome(&job, outcome).await,
            JobCommand::Release(job) => self.release(&job).await,
            JobCommand::SetMaxParallel(count) => {
                self.config.max_parallel = count.max(1);
                Ok(())
            }
            JobCommand::Close => {
                self.close().await;
                Ok(())
            }
        };
        if let Err(error) = done {
            self.refuse(error).await;
            if let Some(message) = message {
                self.emit(message).await;
            }
        }
    }

    /// Adds jobs to the queue, in a best-of-N group if `group` is given. Adds none if their names
    /// or dependencies are invalid. If a record cannot be written, fails and keeps the jobs before
    /// it.
    async fn add(&mut self, tasks: Vec<JobSpec>, group: Option<String>) -> Result<(), Error> {
        let there: Vec<JobId> = self.jobs.iter().map(Job::id).collect();
        let first = self.next_number();
        let tasks = resolve_names(tasks, &there, first)?;
        let at_ms = self.config.clock.wall_ms();
        let mut added = Vec::new();
        for (job, task) in tasks {
            let record = BoardRecord::Added {
                job: job.clone(),
                task: task.clone(),
                group: group.clone(),
                at_ms,
            };
            self.append_record(record).await?;
            let mut new = Job::new(JobStatus::new(job.clone(), task, group.clone(), at_ms));
            new.last_emitted = None;
            self.jobs.push(new);
            added.push(job);
        }
        self.was_settled = false;
        self.emit(Event::Added(added)).await;
        Ok(())
    }

    /// Adds `count` jobs with the same task as a group; fewer than 1 counts as 1, more than 32 as
    /// 32.
    async fn add_best_of(&mut self, task: JobSpec, count: usize) -> Result<(), Error> {
        let group = format!("best-{}", self.next_number());
        let count = count.clamp(1, 32);
        let tasks = (0..count).map(|_| JobSpec {
            name: String::new(),
            ..task.clone()
        });
        self.add(tasks.collect(), Some(group)).await
    }

    /// Returns the number of the next job: one more than the highest in an id such as `a7`, or 1.
    fn next_number(&self) -> u64 {
        let numbers = self
            .jobs
            .iter()
            .filter_map(|job| job.status.job.strip_prefix('a'));
        let numbers = numbers.filter_map(|number| number.parse::<u64>().ok());
        numbers.max().unwrap_or(0) + 1
    }

    /// Sends a message to a job's session, or queues a job that has ended again with the message as
    /// prompt. Fails if the job has not started, or if its work is being copied.
    async fn steer(&mut self, job: &str, prompt: UserPrompt) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        match self.jobs[ix].status.state {
            JobState::Working | JobState::Waiting { .. } | JobState::Paused
                if self.jobs[ix].session.is_some() =>
            {
                self.send_prompt(ix, prompt).await
            }
            JobState::Queued | JobState::Starting | JobState::Paused => {
                Err(Error::WrongState(format!(
                    "{job} has not started yet; send the message once it is running, or stop it and \
                 add another task"
                )))
            }
            _ => self.requeue(ix, Some(prompt)).await,
        }
    }

    /// Sends a message to a job's session if it is in progress, and otherwise drops the message.
    /// Fails only if there is no such job.
    async fn note(&mut self, job: &str, text: String) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        let is_at_work = matches!(
            self.jobs[ix].status.state,
            JobState::Working | JobState::Waiting { .. } | JobState::Paused
        );
        if is_at_work && self.jobs[ix].session.is_some() {
            // A session that has ended does not need it.
            self.send_prompt(ix, text_prompt(text)).await.ok();
        }
        Ok(())
    }

    /// Forwards a command to a job's session. A prompt, also one for the queue, is handled by `steer`, a stop by `stop`, and
    /// a close is ignored. A mode or a model is kept if the job is not running. Any other command
    /// fails if the job has no session.
    async fn forward_command(&mut self, job: &str, command: SessionCommand) -> Result<(), Error> {
        match command {
            SessionCommand::Prompt(prompt)
            | SessionCommand::Steer(prompt)
            | SessionCommand::Queue(QueueCommand::Add { prompt, .. }) => {
                return self.steer(job, prompt).await;
            }
            SessionCommand::Stop => return self.stop(job).await,
            SessionCommand::Close => return Ok(()),
            _ => {}
        }
        let ix = self.job_index(job)?;
        let is_setting = matches!(
            command,
            SessionCommand::SetMode(_)
                | SessionCommand::Switch { .. }
                | SessionCommand::SetOption { .. }
        );
        let is_running = self.jobs[ix].session.is_some() && self.jobs[ix].status.state.is_open();
        if is_setting && !is_running {
            let settings = &mut self.jobs[ix].settings;
            settings.retain(|it| !sets_the_same(it, &command));
            settings.push(command);
            return Ok(());
        }
        if self.jobs[ix].session.is_none() {
            return Err(Error::WrongState(format!("{job} is not running")));
        }
        self.clear_answered(ix, &command, &mut Vec::new()).await;
        self.send_command(ix, command).await;
        Ok(())
    }

    /// Pauses a job: holds back a queued one, and closes the gate for the calls of a running one;
    /// one that is starting pauses later. Fails if the job is not in progress.
    async fn pause(&mut self, job: &str) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        match (&self.jobs[ix].status.state, &self.jobs[ix].session) {
            (JobState::Queued, _) => self.set_state(ix, JobState::Paused).await,
            (JobState::Working | JobState::Waiting { .. }, Some(session)) => {
                session.gate.close();
                self.jobs[ix].is_pausing = true;
            }
            (JobState::Starting, _) => self.jobs[ix].is_pausing = true,
            (JobState::Paused, _) => {}
            (state, _) => {
                return Err(Error::WrongState(format!(
                    "{job} is not running: it is {}",
                    state.label()
                )));
            }
        }
        Ok(())
    }

    /// Resumes a paused job, or queues again one that was interrupted, failed, stopped or is in
    /// conflict; if its session is still closing, after that. Fails if a job without session is
    /// done or has landed.
    async fn resume(&mut self, job: &str) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        self.jobs[ix].is_pausing = false;
        if let Some(session) = &self.jobs[ix].session {
            session.gate.open();
            match &self.jobs[ix].status.state {
                JobState::Paused => self.set_state(ix, JobState::Working).await,
                state if state.is_open() => {}
                _ => self.jobs[ix].resume_after_close = true,
            }
            return Ok(());
        }
        match &self.jobs[ix].status.state {
            JobState::Queued | JobState::Starting => Ok(()),
            JobState::Paused => {
                self.set_state(ix, JobState::Queued).await;
                Ok(())
            }
            JobState::Interrupted
            | JobState::Failed { .. }
            | JobState::Stopped
            | JobState::Conflict { .. } => self.requeue(ix, None).await,
            state => Err(Error::WrongState(format!(
                "{job} is {}: send a message with further work",
                state.label()
            ))),
        }
    }

    /// Stops a job: a session is asked to stop, one that is starting stops later, and a job without
    /// session is stopped at once. Fails if the job is neither in progress nor interrupted.
    async fn stop(&mut self, job: &str) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        match &self.jobs[ix].status.state {
            JobState::Starting => self.jobs[ix].is_stopping = true,
            state if state.is_open() && self.jobs[ix].session.is_some() => {
                self.send_command(ix, SessionCommand::Stop).await;
            }
            state if state.is_open() || *state == JobState::Interrupted => {
                self.set_state(ix, JobState::Stopped).await;
            }
            state => {
                return Err(Error::WrongState(format!(
                    "{job} is not running: it is {}",
                    state.label()
                )));
            }
        }
        Ok(())
    }

    /// Adds a job that continues a job's session with `prompt`, in a new worktree with its work.
    /// Fails if the job has not started yet or is running.
    async fn fork(&mut self, job: &str, prompt: String) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        let status = &self.jobs[ix].status;
        let (Some(session), Some(worktree)) = (status.session.clone(), status.worktree.clone())
        else {
            return Err(Error::WrongState(format!(
                "cannot fork {job}: it has not started yet"
            )));
        };
        if status.state.is_running() {
            return Err(Error::WrongState(format!(
                "{job} is running; pause or stop it first"
            )));
        }
        let task = JobSpec {
            name: String::new(),
            title: format!("{} (from {job})", status.task.title),
            prompt: prompt.clone(),
            needs: Vec::new(),
            ..status.task.clone()
        };
        self.add(vec![task], None).await?;
        if let Some(new) = self.jobs.last_mut() {
            new.forked_from = Some(session);
            new.prompt = Some(text_prompt(prompt));
            new.start_from = vec![worktree];
        }
        Ok(())
    }

    /// Starts to copy a job's work between its worktree and the checkout;
    /// `InternalEvent::HandedOver` reports the end. Fails if the job is running or waiting, or has
    /// no worktree.
    async fn hand_over(&mut self, job: &str, to: HandOverTarget) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        let state = &self.jobs[ix].status.state;
        if state.is_running() || matches!(state, JobState::Waiting { .. }) {
            return Err(Error::WrongState(format!(
                "{job} is {}: pause or stop it, or wait until it is done",
                state.label()
            )));
        }
        let worktree = self.session_request(ix)?.worktree;
        self.append_record(BoardRecord::HandedOver {
            job: job.to_owned(),
            to,
        })
        .await?;
        self.jobs[ix].is_moving = true;
        let done = self.config.worktrees.hand_over(worktree, to);
        let (id, sender) = (job.to_owned(), self.internal_sender.clone());
        tokio::spawn(async move {
            sender
                .send(InternalEvent::HandedOver(id, done.await))
                .await
                .ok();
        });
        Ok(())
    }

    /// Sets the job's state to the outcome of a landing. Fails if the job is running.
    async fn record_outcome(&mut self, job: &str, outcome: WorkOutcome) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        if self.jobs[ix].status.state.is_running() {
            return Err(Error::WrongState(format!(
                "{job} is running, so its work cannot have landed"
            )));
        }
        self.set_state(ix, JobState::from_outcome(&outcome)).await;
        Ok(())
    }

    /// Starts to release a job's worktree; `InternalEvent::Released` reports the end. Fails if the
    /// job is in progress, still has a session, or has no worktree.
    async fn release(&mut self, job: &str) -> Result<(), Error> {
        let ix = self.job_index(job)?;
        let status = &self.jobs[ix].status;
        if status.state.is_open() || self.jobs[ix].session.is_some() {
            return Err(Error::WrongState(format!(
                "{job} is {}; stop it first",
                status.state.label()
            )));
        }
        let worktree = self.session_request(ix)?.worktree;
        let done = self.config.worktrees.release(worktree);
        let (id, sender) = (job.to_owned(), self.internal_sender.clone());
        tokio::spawn(async move {
            sender
                .send(InternalEvent::Released(id, done.await))
                .await
                .ok();
        });
        Ok(())
    }

    /// Handles the release of a job's worktree: removes the worktree from the job, or reports the
    /// failure.
    pub(super) async fn on_released(&mut self, job: &str, done: Result<(), Error>) {
        let Some(ix) = self.position(job) else { return };
        let written = match done {
            Ok(()) => {
                self.jobs[ix].status.worktree = None;
                self.append_record(BoardRecord::Released {
                    job: job.to_owned(),
                })
                .await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            self.refuse(error).await;
        }
    }

    /// Begins to close the board: asks every session to close, and stops starting jobs.
    pub(super) async fn close(&mut self) {
        self.is_closing = true;
        for ix in 0..self.jobs.len() {
            self.send_command(ix, SessionCommand::Close).await;
        }
    }
}

/// Whether two commands set the same thing, so that the later one replaces the earlier.
fn sets_the_same(one: &SessionCommand, other: &SessionCommand) -> bool {
    match (one, other) {
        (
            SessionCommand::SetOption { option: one, .. },
            SessionCommand::SetOption { option: other, .. },
        ) => one == other,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// Returns the event that gives back the message in a command that failed. Returns `None` if the
/// command contains no message.
fn message_of(command: &JobCommand) -> Option<Event> {
    match command {
        JobCommand::Steer { text, .. } | JobCommand::Fork { prompt: text, .. } => {
            Some(Event::Undelivered(text_prompt(text.clone())))
        }
        JobCommand::Forward { job, command } => Some(Event::Session {
            job: job.clone(),
            event: Box::new(AgentEvent::GivenBack(command.clone().into_prompt()?)),
        }),
        _ => None,
    }
}
