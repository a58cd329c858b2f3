//! Handles the user's commands.

use agent::session::UserPrompt;

use super::ComposerTask;
use crate::Error;
use crate::job::HandOverTarget;
use crate::land::NewErrors;
use crate::protocol::{Command, JobCommand, StartAgents};
use crate::review::HunkVerdict;
use crate::tasks::DEMO_MODEL;

impl ComposerTask {
    /// Handles a command of the user; commands about landings wait for a running landing.
    pub(super) async fn on_command(&mut self, command: Command) {
        let is_queued = matches!(
            command,
            Command::Land(_)
                | Command::LandWithErrors(_)
                | Command::UndoLanding
                | Command::ResolveConflict { .. }
                | Command::AbandonLanding(_)
        );
        if is_queued && self.landing.is_some() {
            self.waiting.push_back(command)
        } else {
            self.handle(command).await
        }
    }

    /// Handles the commands that waited for a landing to end.
    pub(super) async fn handle_waiting(&mut self) {
        while self.landing.is_none()
            && let Some(command) = self.waiting.pop_front()
        {
            self.handle(command).await;
        }
    }

    async fn handle(&mut self, command: Command) {
        self.model.error = None;
        let done = match command {
            Command::Decide { hunk, verdict } => self.decisions.decide([hunk.as_str()], verdict),
            Command::AcceptAll(job) => self.accept_all(&job),
            Command::UndoVerdict => self.decisions.undo(),
            Command::Land(jobs) => self.land(&jobs, NewErrors::Refused),
            Command::LandWithErrors(jobs) => self.land(&jobs, NewErrors::Allowed),
            Command::UndoLanding => self.undo_landing(),
            Command::ResolveConflict {
                job,
                path,
                resolution,
            } => self.resolve_file(&job, path, resolution),
            Command::AbandonLanding(job) => self.abandon_landing(&job),
            Command::Restore { job, turn } => self.start_restore(&job, turn),
            Command::UndoRestore => self.undo_restore(),
            Command::Compare => self.compare(),
            Command::Start(task) => {
                let prompt = task.prompt.clone();
                let started = self.start(task).await;
                self.give_back_failed(prompt, started)
            }
            Command::Job(command) => self.send(command).await,
        };
        if let Err(error) = done {
            self.model.error = Some(error.to_string());
        }
    }

    /// Starts agents on a task, with the default model if none is chosen. Fails if the demo model
    /// is chosen outside the sample project, or if the scheduler is closed.
    async fn start(&mut self, task: StartAgents) -> Result<(), Error> {
        self.model.notice = None;
        let model = if task.model.is_empty() {
            &self.default_model
        } else {
            &task.model
        };
        if model == DEMO_MODEL && !self.is_sample && task.agent.is_none() {
            return Err(Error::WrongState(
                "The demo model plays its script on the sample project only. Choose another model, or start Burin \
                 without any to see it there."
                    .to_owned(),
            ));
        }
        let command = task.job_command(model);
        self.send(command).await
    }

    /// Sends a command to the scheduler.
    async fn send(&mut self, command: JobCommand) -> Result<(), Error> {
        if let JobCommand::HandOver { job, to } = &command {
            self.model.notice = None;
            self.idle_job(job)?;
            if *to == HandOverTarget::User {
                let own = self.model.hunks.iter().filter(|it| it.job == *job);
                self.refuse_unsaved(own.map(|hunk| hunk.path.as_str()))?;
            }
        }
        let message = match &command {
            JobCommand::Steer { text, .. } | JobCommand::Fork { prompt: text, .. } => text.clone(),
            _ => String::new(),
        };
        let sent = self.scheduler.commands.send(command).await;
        self.give_back_failed(message, sent.map_err(|_| Error::Closed))
    }

    /// Gives the message of a command back to the windows if the command failed.
    fn give_back_failed(&self, message: String, done: Result<(), Error>) -> Result<(), Error> {
        if done.is_err() && !message.is_empty() {
            self.shared.give_back(&UserPrompt {
                text: message,
                images: Vec::new(),
            });
        }
        done
    }

    /// Accepts all open hunks of a job as one step for undo. Blocks on the disk.
    fn accept_all(&mut self, job: &str) -> Result<(), Error> {
        let decisions = &self.decisions;
        let own = self.model.hunks.iter().filter(|hunk| hunk.job == job);
        let open = own.filter(|hunk| decisions.verdict(&hunk.id) == HunkVerdict::Open);
        let open: Vec<&str> = open.map(|hunk| hunk.id.as_str()).collect();
        self.decisions.decide(open, HunkVerdict::Accepted)
    }

    /// Refuses to change a file of the checkout that has unsaved text.
    pub(super) fn refuse_unsaved<'a>(
        &self,
        mut paths: impl Iterator<Item = &'a str>,
    ) -> Result<(), Error> {
        let main_repo = self.worktrees.main_repo();
        let unsaved = self.unsaved.paths();
        match paths.find(|path| unsaved.contains(&main_repo.join(path))) {
            None => Ok(()),
            Some(path) => Err(Error::Unsaved {
                path: path.to_owned(),
            }),
        }
    }
}
