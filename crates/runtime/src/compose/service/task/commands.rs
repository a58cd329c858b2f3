//! Handles the user's commands.

use composer::board::BoardCommand;
use composer::roles::DEFAULT_ROLE;
use composer::view::{HandOverTarget, HunkVerdict, StartAgents, UserCommand};

use super::ComposerTask;
use crate::compose::tasks::{share, title};
use crate::models::setup::DEMO;
use crate::sample_project::is_sample;

impl ComposerTask {
    /// Handles a command of the user; commands about landings wait for a running landing.
    pub(super) async fn on_command(&mut self, wish: UserCommand) {
        let is_queued = matches!(
            wish,
            UserCommand::Land(_)
                | UserCommand::UndoLanding
                | UserCommand::ResolveConflict { .. }
                | UserCommand::AbandonLanding(_)
        );
        if is_queued && self.landing.is_some() {
            self.waiting.push_back(wish)
        } else {
            self.handle(wish).await
        }
    }

    /// Handles the commands that waited for a landing to end.
    pub(super) async fn take_waiting(&mut self) {
        while self.landing.is_none()
            && let Some(wish) = self.waiting.pop_front()
        {
            self.handle(wish).await;
        }
    }

    async fn handle(&mut self, wish: UserCommand) {
        self.model.trouble = None;
        let told = match wish {
            UserCommand::Decide { hunk, verdict } => {
                self.decisions.decide([hunk.as_str()], verdict)
            }
            UserCommand::AcceptAll(agent) => self.accept_all(&agent),
            UserCommand::UndoVerdict => self.decisions.undo(),
            UserCommand::Land(agents) => self.land(&agents),
            UserCommand::UndoLanding => self.undo_landing(),
            UserCommand::ResolveConflict {
                agent,
                path,
                choice: with,
            } => self.resolve_file(&agent, path, with),
            UserCommand::AbandonLanding(agent) => self.abandon_merge(&agent),
            UserCommand::Restore { agent, turn } => self.restore(&agent, turn),
            UserCommand::UndoRestore => self.undo_restore(),
            UserCommand::Compare => self.compare(),
            UserCommand::Start(task) => self.start(task).await,
            UserCommand::Steer { agent, text } => {
                self.send(BoardCommand::Steer { job: agent, text }).await
            }
            UserCommand::Pause {
                agent,
                is_paused: true,
            } => self.send(BoardCommand::Pause(agent)).await,
            UserCommand::Pause { agent, .. } => self.send(BoardCommand::Resume(agent)).await,
            UserCommand::Stop(agent) => self.send(BoardCommand::Stop(agent)).await,
            UserCommand::Remove(agent) => self.send(BoardCommand::Release(agent)).await,
            UserCommand::Fork { agent, prompt } => {
                self.send(BoardCommand::Fork { job: agent, prompt }).await
            }
            UserCommand::HandOver { agent, to } => self.hand_over(agent, to).await,
        };
        if let Err(sentence) = told {
            self.model.trouble = Some(sentence);
        }
    }

    async fn start(&mut self, task: StartAgents) -> Result<(), String> {
        self.model.notice = None;
        let command = self.tasks(task)?;
        self.send(command).await
    }

    async fn hand_over(&mut self, agent: String, to: HandOverTarget) -> Result<(), String> {
        self.model.notice = None;
        self.idle_job(&agent)?;
        if to == HandOverTarget::Person {
            let own = self.model.hunks.iter().filter(|it| it.agent == agent);
            self.refuse_unsaved(own.map(|hunk| hunk.path.as_str()))?;
        }
        self.send(BoardCommand::HandOver { job: agent, to }).await
    }

    async fn send(&mut self, command: BoardCommand) -> Result<(), String> {
        let sent = self.composer.board.commands.send(command).await;
        sent.map_err(|_| "The board has ended: open the folder again.".to_owned())
    }

    fn accept_all(&mut self, agent: &str) -> Result<(), String> {
        let judge = &self.decisions;
        let open = self
            .model
            .hunks
            .iter()
            .filter(|hunk| hunk.agent == agent && judge.verdict(&hunk.id) == HunkVerdict::Open);
        let open: Vec<&str> = open.map(|hunk| hunk.id.as_str()).collect();
        self.decisions.decide(open, HunkVerdict::Accepted)
    }

    /// A text that is not saved and would be changed on the disk.
    pub(super) fn refuse_unsaved<'a>(
        &self,
        touched: impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let hub = self.composer.worktrees.main_repo();
        let unsaved = self.unsaved.paths();
        let mut in_the_way = touched.filter(|path| unsaved.contains(&hub.join(path)));
        match in_the_way.next() {
            None => Ok(()),
            Some(path) => Err(format!(
                "{path} has text that you have not saved, and would be changed: save it or take it back, then try \
                 again."
            )),
        }
    }

    /// Returns the board command for a task of the user.
    fn tasks(&self, mut task: StartAgents) -> Result<BoardCommand, String> {
        if task.model.is_empty() {
            task.model = self.shared.services.settings_model().to_owned();
        }
        if task.model == DEMO && !is_sample(self.composer.worktrees.main_repo()) {
            return Err(
                "The demo model plays its script on the sample project only. Choose another model, or start Burin \
                 without any to see it there."
                    .to_owned(),
            );
        }
        let one = |prompt: &str, name: &str| composer::board::JobSpec {
            name: String::new(),
            title: title(name),
            prompt: prompt.to_owned(),
            role: DEFAULT_ROLE.to_owned(),
            model: task.model.clone(),
            needs: Vec::new(),
        };
        if task.is_best_of {
            let only = one(&task.prompt, &task.prompt);
            return Ok(BoardCommand::AddBestOf(only, task.agents.max(2)));
        }
        let items: Vec<&str> = task
            .prompt
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("- "))
            .collect();
        let tasks = match items.len() {
            0 | 1 => (1..=task.agents.max(1))
                .map(|number| one(&share(&task.prompt, number, task.agents), &task.prompt))
                .collect(),
            _ => items.iter().map(|item| one(item, item)).collect(),
        };
        Ok(BoardCommand::Add(tasks))
    }
}

/// Maps a session command from a view to a board command; `None` if the board has no such command.
pub(in crate::compose::service) fn session_command(
    job: &str,
    command: agent::SessionCommand,
) -> Option<BoardCommand> {
    use agent::SessionCommand as Said;
    let job = job.to_owned();
    Some(match command {
        Said::Prompt(prompt) | Said::Steer(prompt) => BoardCommand::Steer {
            job,
            text: prompt.text,
        },
        Said::Stop => BoardCommand::Stop(job),
        // Closing a view does not end the agent.
        Said::Close => return None,
        command => BoardCommand::Forward { job, command },
    })
}
