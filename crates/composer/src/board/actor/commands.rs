//! Handles the commands to the board. A command that fails is answered by `Event::Refused`.

use super::{BoardActor, InternalEvent, Job};
use crate::board::dependencies::resolve_names;
use crate::board::job::{JobState, JobStatus};
use crate::board::record::BoardRecord;
use crate::board::{BoardCommand, BoardEvent, HandOverTarget, JobId, JobSpec, WorkOutcome};

impl BoardActor {
    pub(super) async fn handle_command(&mut self, command: BoardCommand) {
        let done = match command {
            BoardCommand::Add(tasks) => self.add(tasks, None).await,
            BoardCommand::AddBestOf(task, count) => self.add_best_of(task, count).await,
            BoardCommand::Steer { job, text } => self.steer(&job, text).await,
            BoardCommand::Note { job, text } => self.note(&job, text).await,
            BoardCommand::Forward { job, command } => self.forward_command(&job, command).await,
            BoardCommand::Pause(job) => self.pause(&job).await,
            BoardCommand::Resume(job) => self.resume(&job).await,
            BoardCommand::Stop(job) => self.stop(&job).await,
            BoardCommand::Fork { job, prompt } => self.fork(&job, prompt).await,
            BoardCommand::HandOver { job, to } => self.hand_over(&job, to).await,
            BoardCommand::RecordOutcome { job, outcome: how } => {
                self.record_outcome(&job, how).await
            }
            BoardCommand::Release(job) => self.release(&job).await,
            BoardCommand::SetMaxParallel(room) => {
                self.parts.max_parallel = room.max(1);
                Ok(())
            }
            BoardCommand::Close => {
                self.close().await;
                Ok(())
            }
        };
        if let Err(sentence) = done {
            self.emit(BoardEvent::Refused(sentence)).await;
        }
    }

    async fn add(&mut self, tasks: Vec<JobSpec>, group: Option<String>) -> Result<(), String> {
        let there: Vec<JobId> = self.jobs.iter().map(Job::id).collect();
        let first = self.next_number();
        let tasks = resolve_names(tasks, &there, first)?;
        let at_ms = self.parts.clock.wall_ms();
        let mut added = Vec::new();
        for (job, task) in tasks {
            let record = BoardRecord::Added {
                job: job.clone(),
                task: task.clone(),
                group: group.clone(),
                at_ms,
            };
            self.append_record(record).await?;
            let mut new = Job::of(JobStatus::new(job.clone(), task, group.clone(), at_ms));
            new.last_emitted = None;
            self.jobs.push(new);
            added.push(job);
        }
        self.was_settled = false;
        self.emit(BoardEvent::Added(added)).await;
        Ok(())
    }

    async fn add_best_of(&mut self, task: JobSpec, count: usize) -> Result<(), String> {
        let group = format!("best-{}", self.next_number());
        let count = count.clamp(1, 32);
        let tasks = (0..count).map(|_| JobSpec {
            name: String::new(),
            ..task.clone()
        });
        self.add(tasks.collect(), Some(group)).await
    }

    fn next_number(&self) -> u64 {
        let numbers = self
            .jobs
            .iter()
            .filter_map(|job| job.line.job.strip_prefix('a'));
        let numbers = numbers.filter_map(|number| number.parse::<u64>().ok());
        numbers.max().unwrap_or(0) + 1
    }

    async fn steer(&mut self, job: &str, text: String) -> Result<(), String> {
        let ix = self.job_index(job)?;
        match self.jobs[ix].line.state {
            JobState::Working | JobState::Waiting { .. } | JobState::Paused
                if self.jobs[ix].session.is_some() =>
            {
                self.send_prompt(ix, text).await;
                Ok(())
            }
            JobState::Queued | JobState::Starting | JobState::Paused => Err(format!(
                "{job} has not started yet; send the message once it is running, or stop it and \
                 add another task"
            )),
            _ => self.requeue(ix, Some(text)).await,
        }
    }

    async fn note(&mut self, job: &str, text: String) -> Result<(), String> {
        let ix = self.job_index(job)?;
        let is_at_work = matches!(
            self.jobs[ix].line.state,
            JobState::Working | JobState::Waiting { .. } | JobState::Paused
        );
        if is_at_work && self.jobs[ix].session.is_some() {
            self.send_prompt(ix, text).await;
        }
        Ok(())
    }

    async fn forward_command(
        &mut self,
        job: &str,
        command: agent::SessionCommand,
    ) -> Result<(), String> {
        let ix = self.job_index(job)?;
        if self.jobs[ix].session.is_none() {
            return Err(format!("{job} is not running"));
        }
        self.clear_answered(ix, &command, &mut Vec::new()).await;
        self.send_command(ix, command).await;
        Ok(())
    }

    async fn pause(&mut self, job: &str) -> Result<(), String> {
        let ix = self.job_index(job)?;
        match (&self.jobs[ix].line.state, &self.jobs[ix].session) {
            (JobState::Queued, _) => self.set_state(ix, JobState::Paused).await,
            (JobState::Working | JobState::Waiting { .. }, Some(hand)) => {
                hand.gate.close();
                self.jobs[ix].is_pausing = true;
            }
            (JobState::Starting, _) => self.jobs[ix].is_pausing = true,
            (JobState::Paused, _) => {}
            (state, _) => return Err(format!("{job} is not running: it is {}", state.label())),
        }
        Ok(())
    }

    async fn resume(&mut self, job: &str) -> Result<(), String> {
        let ix = self.job_index(job)?;
        self.jobs[ix].is_pausing = false;
        if let Some(hand) = &self.jobs[ix].session {
            hand.gate.open();
            match &self.jobs[ix].line.state {
                JobState::Paused => self.set_state(ix, JobState::Working).await,
                state if state.is_open() => {}
                _ => self.jobs[ix].resume_after_close = true,
            }
            return Ok(());
        }
        match &self.jobs[ix].line.state {
            JobState::Queued | JobState::Starting => Ok(()),
            JobState::Paused => {
                self.set_state(ix, JobState::Queued).await;
                Ok(())
            }
            JobState::Interrupted
            | JobState::Failed { .. }
            | JobState::Stopped
            | JobState::Conflict { .. } => self.requeue(ix, None).await,
            state => Err(format!(
                "{job} is {}: send a message with further work",
                state.label()
            )),
        }
    }

    async fn stop(&mut self, job: &str) -> Result<(), String> {
        let ix = self.job_index(job)?;
        match &self.jobs[ix].line.state {
            JobState::Starting => self.jobs[ix].is_stopping = true,
            state if state.is_open() && self.jobs[ix].session.is_some() => {
                self.send_command(ix, agent::SessionCommand::Stop).await;
            }
            state if state.is_open() || *state == JobState::Interrupted => {
                self.set_state(ix, JobState::Stopped).await;
            }
            state => return Err(format!("{job} is not running: it is {}", state.label())),
        }
        Ok(())
    }

    async fn fork(&mut self, job: &str, prompt: String) -> Result<(), String> {
        let ix = self.job_index(job)?;
        let line = &self.jobs[ix].line;
        let (Some(session), Some(place)) = (line.session.clone(), line.place.clone()) else {
            return Err(format!("cannot fork {job}: it has not started yet"));
        };
        if line.state.is_running() {
            return Err(format!("{job} is running; pause or stop it first"));
        }
        let task = JobSpec {
            name: String::new(),
            title: format!("{} (from {job})", line.task.title),
            prompt: prompt.clone(),
            needs: Vec::new(),
            ..line.task.clone()
        };
        self.add(vec![task], None).await?;
        if let Some(new) = self.jobs.last_mut() {
            new.forked_from = Some(session);
            new.prompt = Some(prompt);
            new.start_from = vec![place];
        }
        Ok(())
    }

    async fn hand_over(&mut self, job: &str, to: HandOverTarget) -> Result<(), String> {
        let ix = self.job_index(job)?;
        let state = &self.jobs[ix].line.state;
        if state.is_running() || matches!(state, JobState::Waiting { .. }) {
            return Err(format!(
                "{job} is {}: pause or stop it, or wait until it is done",
                state.label()
            ));
        }
        let place = self.session_request(ix)?.place;
        self.append_record(BoardRecord::HandedOver {
            job: job.to_owned(),
            to,
        })
        .await?;
        self.jobs[ix].is_moving = true;
        let done = self.parts.worktrees.hand_over(place, to);
        let (id, way) = (job.to_owned(), self.internal_sender.clone());
        tokio::spawn(async move {
            way.send(InternalEvent::HandedOver(id, done.await))
                .await
                .ok();
        });
        Ok(())
    }

    async fn record_outcome(&mut self, job: &str, how: WorkOutcome) -> Result<(), String> {
        let ix = self.job_index(job)?;
        if self.jobs[ix].line.state.is_running() {
            return Err(format!("{job} is running, so its work cannot have landed"));
        }
        self.set_state(ix, JobState::from_outcome(&how)).await;
        Ok(())
    }

    async fn release(&mut self, job: &str) -> Result<(), String> {
        let ix = self.job_index(job)?;
        let line = &self.jobs[ix].line;
        if line.state.is_open() || self.jobs[ix].session.is_some() {
            return Err(format!("{job} is {}; stop it first", line.state.label()));
        }
        let place = self.session_request(ix)?.place;
        let done = self.parts.worktrees.release(place);
        let (id, way) = (job.to_owned(), self.internal_sender.clone());
        tokio::spawn(async move {
            way.send(InternalEvent::Released(id, done.await)).await.ok();
        });
        Ok(())
    }

    pub(super) async fn on_released(&mut self, job: &str, done: Result<(), String>) {
        let Some(ix) = self.position(job) else { return };
        let written = match done {
            Ok(()) => {
                self.jobs[ix].line.place = None;
                self.append_record(BoardRecord::Released {
                    job: job.to_owned(),
                })
                .await
            }
            Err(sentence) => Err(sentence),
        };
        if let Err(sentence) = written {
            self.emit(BoardEvent::Refused(sentence)).await;
        }
    }

    pub(super) async fn close(&mut self) {
        self.is_closing = true;
        for ix in 0..self.jobs.len() {
            self.send_command(ix, agent::SessionCommand::Close).await;
        }
    }
}
