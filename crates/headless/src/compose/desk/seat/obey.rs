//! What the person wants, wish by wish.

use composer::board::Command;
use composer::desk::{Side, Task, Verdict, Wish};
use composer::roles::USUAL;

use super::Seat;
use crate::compose::parts::{share, title};
use crate::models::setup::DEMO;
use crate::workshop::is_sample;

impl Seat {
    /// Does what the person wants; what is about landings waits until the one that is under way has ended.
    pub(super) async fn take(&mut self, wish: Wish) {
        let is_queued = matches!(
            wish,
            Wish::Land(_) | Wish::UndoLanding | Wish::Settle { .. } | Wish::GiveUpLanding(_)
        );
        match is_queued && self.landing.is_some() {
            true => self.waiting.push_back(wish),
            false => self.obey(wish).await,
        }
    }

    /// Goes on with what waited for a landing to end.
    pub(super) async fn take_waiting(&mut self) {
        while self.landing.is_none()
            && let Some(wish) = self.waiting.pop_front()
        {
            self.obey(wish).await;
        }
    }

    async fn obey(&mut self, wish: Wish) {
        self.table.trouble = None;
        let told = match wish {
            Wish::Judge { hunk, verdict } => self.judge.decide([hunk.as_str()], verdict),
            Wish::AcceptAll(agent) => self.accept_all(&agent),
            Wish::UndoVerdict => self.judge.undo(),
            Wish::Land(agents) => self.land(&agents),
            Wish::UndoLanding => self.undo_landing(),
            Wish::Settle { agent, path, with } => self.settle(&agent, path, with),
            Wish::GiveUpLanding(agent) => self.give_up(&agent),
            Wish::Restore { agent, turn } => self.restore(&agent, turn),
            Wish::UndoRestore => self.undo_restore(),
            Wish::Compare => self.compare(),
            Wish::Start(task) => self.start(task).await,
            Wish::Steer { agent, text } => self.send(Command::Steer { job: agent, text }).await,
            Wish::Pause {
                agent,
                is_paused: true,
            } => self.send(Command::Pause(agent)).await,
            Wish::Pause { agent, .. } => self.send(Command::GoOn(agent)).await,
            Wish::Stop(agent) => self.send(Command::Stop(agent)).await,
            Wish::Remove(agent) => self.send(Command::Release(agent)).await,
            Wish::Fork { agent, prompt } => self.send(Command::Fork { job: agent, prompt }).await,
            Wish::HandOver { agent, to } => self.hand_over(agent, to).await,
        };
        if let Err(sentence) = told {
            self.table.trouble = Some(sentence);
        }
    }

    async fn start(&mut self, task: Task) -> Result<(), String> {
        self.table.told = None;
        let command = self.tasks(task)?;
        self.send(command).await
    }

    async fn hand_over(&mut self, agent: String, to: Side) -> Result<(), String> {
        self.table.told = None;
        self.resting(&agent)?;
        if to == Side::Person {
            let own = self.table.hunks.iter().filter(|it| it.agent == agent);
            self.refuse_unsaved(own.map(|hunk| hunk.path.as_str()))?;
        }
        self.send(Command::HandOver { job: agent, to }).await
    }

    async fn send(&mut self, command: Command) -> Result<(), String> {
        let sent = self.fleet.board.commands.send(command).await;
        sent.map_err(|_| "The board has ended: open the folder again.".to_owned())
    }

    fn accept_all(&mut self, agent: &str) -> Result<(), String> {
        let judge = &self.judge;
        let open = self
            .table
            .hunks
            .iter()
            .filter(|hunk| hunk.agent == agent && judge.verdict(&hunk.id) == Verdict::Open);
        let open: Vec<&str> = open.map(|hunk| hunk.id.as_str()).collect();
        self.judge.decide(open, Verdict::Accepted)
    }

    /// A text that is not saved and would be changed on the disk.
    pub(super) fn refuse_unsaved<'a>(
        &self,
        touched: impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let hub = self.fleet.trees.hub();
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

    /// The command that a task of the person's becomes.
    fn tasks(&self, mut task: Task) -> Result<Command, String> {
        if task.model.is_empty() {
            task.model = self.shared.workshop.usual_model().to_owned();
        }
        if task.model == DEMO && !is_sample(self.fleet.trees.hub()) {
            return Err(
                "The demo model plays its script on the sample project only. Choose another model, or start Burin \
                 without any to see it there."
                    .to_owned(),
            );
        }
        let one = |prompt: &str, name: &str| composer::board::Task {
            name: String::new(),
            title: title(name),
            prompt: prompt.to_owned(),
            role: USUAL.to_owned(),
            model: task.model.clone(),
            needs: Vec::new(),
        };
        if task.is_contest {
            let only = one(&task.prompt, &task.prompt);
            return Ok(Command::AddBestOf(only, task.agents.max(2)));
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
        Ok(Command::Add(tasks))
    }
}

/// What a command of somebody who looks on means for the board; `None` where it means nothing.
pub(in crate::compose::desk) fn passed_on(job: &str, command: agent::Command) -> Option<Command> {
    use agent::Command as Said;
    let job = job.to_owned();
    Some(match command {
        Said::Prompt(prompt) | Said::Steer(prompt) => Command::Steer {
            job,
            text: prompt.text,
        },
        Said::Stop => Command::Stop(job),
        // Who stops looking does not end the agent.
        Said::Close => return None,
        command => Command::Tell { job, command },
    })
}
