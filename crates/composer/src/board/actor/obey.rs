//! What the board is told, command by command. What is not obeyed is answered with a sentence.

use super::{Actor, Inner, Job};
use crate::board::graph_of::names;
use crate::board::job::{Line, State};
use crate::board::record::Record;
use crate::board::{Command, Event, JobId, Settled, Side, Task};

impl Actor {
    pub(super) async fn obey(&mut self, command: Command) {
        let done = match command {
            Command::Add(tasks) => self.add(tasks, None).await,
            Command::AddBestOf(task, count) => self.add_best_of(task, count).await,
            Command::Steer { job, text } => self.steer(&job, text).await,
            Command::Note { job, text } => self.note(&job, text).await,
            Command::Tell { job, command } => self.pass_on(&job, command).await,
            Command::Pause(job) => self.pause(&job).await,
            Command::GoOn(job) => self.go_on(&job).await,
            Command::Stop(job) => self.stop(&job).await,
            Command::Fork { job, prompt } => self.fork(&job, prompt).await,
            Command::HandOver { job, to } => self.hand_over(&job, to).await,
            Command::Settled { job, how } => self.settle(&job, how).await,
            Command::Release(job) => self.release(&job).await,
            Command::SetRoom(room) => {
                self.parts.room = room.max(1);
                Ok(())
            }
            Command::Close => {
                self.close().await;
                Ok(())
            }
        };
        if let Err(sentence) = done {
            self.tell(Event::Refused(sentence)).await;
        }
    }

    async fn add(&mut self, tasks: Vec<Task>, group: Option<String>) -> Result<(), String> {
        let there: Vec<JobId> = self.jobs.iter().map(Job::id).collect();
        let first = self.next_number();
        let tasks = names(tasks, &there, first)?;
        let at_ms = self.parts.clock.wall_ms();
        let mut added = Vec::new();
        for (job, task) in tasks {
            let record = Record::Added {
                job: job.clone(),
                task: task.clone(),
                group: group.clone(),
                at_ms,
            };
            self.write(record).await?;
            let mut new = Job::of(Line::new(job.clone(), task, group.clone(), at_ms));
            new.told = None;
            self.jobs.push(new);
            added.push(job);
        }
        self.was_settled = false;
        self.tell(Event::Added(added)).await;
        Ok(())
    }

    async fn add_best_of(&mut self, task: Task, count: usize) -> Result<(), String> {
        let group = format!("best-{}", self.next_number());
        let count = count.clamp(1, 32);
        let tasks = (0..count).map(|_| Task {
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
        let ix = self.index(job)?;
        match self.jobs[ix].line.state {
            State::Working | State::Waiting { .. } | State::Paused
                if self.jobs[ix].hand.is_some() =>
            {
                self.say(ix, text).await;
                Ok(())
            }
            State::Queued | State::Starting | State::Paused => Err(format!(
                "{job} has not begun yet; say it once it works, or stop it and add another task"
            )),
            _ => self.queue_again(ix, Some(text)).await,
        }
    }

    async fn note(&mut self, job: &str, text: String) -> Result<(), String> {
        let ix = self.index(job)?;
        let is_at_work = matches!(
            self.jobs[ix].line.state,
            State::Working | State::Waiting { .. } | State::Paused
        );
        if is_at_work && self.jobs[ix].hand.is_some() {
            self.say(ix, text).await;
        }
        Ok(())
    }

    async fn pass_on(&mut self, job: &str, command: agent::Command) -> Result<(), String> {
        let ix = self.index(job)?;
        if self.jobs[ix].hand.is_none() {
            return Err(format!(
                "{job} does not work at the moment, so there is nobody to tell"
            ));
        }
        self.answered(ix, &command, &mut Vec::new()).await;
        self.send(ix, command).await;
        Ok(())
    }

    async fn pause(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        match (&self.jobs[ix].line.state, &self.jobs[ix].hand) {
            (State::Queued, _) => self.stand(ix, State::Paused).await,
            (State::Working | State::Waiting { .. }, Some(hand)) => {
                hand.gate.close();
                self.jobs[ix].is_pausing = true;
            }
            (State::Starting, _) => self.jobs[ix].is_pausing = true,
            (State::Paused, _) => {}
            (state, _) => return Err(format!("{job} does not work: it is {}", state.word())),
        }
        Ok(())
    }

    async fn go_on(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        self.jobs[ix].is_pausing = false;
        if let Some(hand) = &self.jobs[ix].hand {
            hand.gate.open();
            match &self.jobs[ix].line.state {
                State::Paused => self.stand(ix, State::Working).await,
                state if state.is_open() => {}
                _ => self.jobs[ix].goes_on = true,
            }
            return Ok(());
        }
        match &self.jobs[ix].line.state {
            State::Queued | State::Starting => Ok(()),
            State::Paused => {
                self.stand(ix, State::Queued).await;
                Ok(())
            }
            State::Interrupted | State::Failed { .. } | State::Stopped | State::Conflict { .. } => {
                self.queue_again(ix, None).await
            }
            state => Err(format!(
                "{job} is {}: say what else is to be done",
                state.word()
            )),
        }
    }

    async fn stop(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        match &self.jobs[ix].line.state {
            State::Starting => self.jobs[ix].is_stopping = true,
            state if state.is_open() && self.jobs[ix].hand.is_some() => {
                self.send(ix, agent::Command::Stop).await;
            }
            state if state.is_open() || *state == State::Interrupted => {
                self.stand(ix, State::Stopped).await;
            }
            state => return Err(format!("{job} does not work: it is {}", state.word())),
        }
        Ok(())
    }

    async fn fork(&mut self, job: &str, prompt: String) -> Result<(), String> {
        let ix = self.index(job)?;
        let line = &self.jobs[ix].line;
        let (Some(session), Some(place)) = (line.session.clone(), line.place.clone()) else {
            return Err(format!(
                "{job} has not begun yet, so there is nothing to go on from"
            ));
        };
        if line.state.takes_room() {
            return Err(format!("{job} works at the moment; pause or stop it first"));
        }
        let task = Task {
            name: String::new(),
            title: format!("{} (from {job})", line.task.title),
            prompt: prompt.clone(),
            needs: Vec::new(),
            ..line.task.clone()
        };
        self.add(vec![task], None).await?;
        if let Some(new) = self.jobs.last_mut() {
            new.fork_of = Some(session);
            new.prompt = Some(prompt);
            new.with = vec![place];
        }
        Ok(())
    }

    async fn hand_over(&mut self, job: &str, to: Side) -> Result<(), String> {
        let ix = self.index(job)?;
        let state = &self.jobs[ix].line.state;
        if state.takes_room() || matches!(state, State::Waiting { .. }) {
            return Err(format!(
                "{job} is {}: pause or stop it, or wait until it is done",
                state.word()
            ));
        }
        let place = self.begin_of(ix)?.place;
        self.write(Record::HandedOver {
            job: job.to_owned(),
            to,
        })
        .await?;
        self.jobs[ix].is_moving = true;
        let done = self.parts.ground.hand_over(place, to);
        let (id, way) = (job.to_owned(), self.way.clone());
        tokio::spawn(async move {
            way.send(Inner::HandedOver(id, done.await)).await.ok();
        });
        Ok(())
    }

    async fn settle(&mut self, job: &str, how: Settled) -> Result<(), String> {
        let ix = self.index(job)?;
        if self.jobs[ix].line.state.takes_room() {
            return Err(format!("{job} works at the moment, so it has not settled"));
        }
        self.stand(ix, State::of_settled(&how)).await;
        Ok(())
    }

    async fn release(&mut self, job: &str) -> Result<(), String> {
        let ix = self.index(job)?;
        let line = &self.jobs[ix].line;
        if line.state.is_open() || self.jobs[ix].hand.is_some() {
            return Err(format!("{job} is {}; stop it first", line.state.word()));
        }
        let place = self.begin_of(ix)?.place;
        let done = self.parts.ground.release(place);
        let (id, way) = (job.to_owned(), self.way.clone());
        tokio::spawn(async move {
            way.send(Inner::Released(id, done.await)).await.ok();
        });
        Ok(())
    }

    pub(super) async fn released(&mut self, job: &str, done: Result<(), String>) {
        let Some(ix) = self.at(job) else { return };
        let written = match done {
            Ok(()) => {
                self.jobs[ix].line.place = None;
                self.write(Record::Released {
                    job: job.to_owned(),
                })
                .await
            }
            Err(sentence) => Err(sentence),
        };
        if let Err(sentence) = written {
            self.tell(Event::Refused(sentence)).await;
        }
    }

    pub(super) async fn close(&mut self) {
        self.is_closing = true;
        for ix in 0..self.jobs.len() {
            self.send(ix, agent::Command::Close).await;
        }
    }
}
