//! The task that owns how everything on a board stands.

use std::sync::Arc;
use std::time::Duration;

use composer::board::{Command, Event, JobId};
use composer::desk::{Landing, Task, Verdict, Wish};
use composer::roles::USUAL;
use futures::StreamExt as _;
use futures::channel::mpsc;
use host::Dirs;
use project::Unsaved;
use tokio::task::JoinHandle;

use super::Shared;
use super::judge::Judge;
use super::look::{Looker, Seen};
use super::table::Table;
use crate::compose::Fleet;
use crate::compose::checks::OwnChecks;
use crate::compose::land::{Landed, Lander};
use crate::compose::parts::{share, title};
use crate::models::setup::DEMO;
use crate::workshop::is_sample;

/// Between two looks at the trees while something happens in them.
const LOOK: Duration = Duration::from_secs(2);

type Looked = (Looker, Result<Seen, String>);
type Done = Result<(Vec<Landed>, bool), String>;

/// The one who sits at a board.
pub(super) struct Seat {
    fleet: Fleet,
    dirs: Dirs,
    unsaved: Arc<Unsaved>,
    shared: Arc<Shared>,
    table: Table,
    judge: Judge,
    /// Away while it looks.
    looker: Option<Looker>,
    looking: Option<JoinHandle<Looked>>,
    landing: Option<JoinHandle<Done>>,
    is_dirty: bool,
}

impl Seat {
    /// `project` is its name, where the person has another folder open.
    pub(super) fn new(
        (fleet, project): (Fleet, Option<String>),
        dirs: &Dirs,
        unsaved: Arc<Unsaved>,
        shared: Arc<Shared>,
    ) -> Result<Self, String> {
        let judge = Judge::open(&fleet.trees)?;
        let looker = Looker::new(&fleet.trees, unsaved.clone())?;
        let mut table = Table {
            project,
            ..Table::default()
        };
        for line in &fleet.past.lines {
            shared.stands(line);
            table.put(line.clone());
        }
        table.trouble = fleet.past.problems.first().cloned();
        Ok(Self {
            fleet,
            dirs: dirs.clone(),
            unsaved,
            shared,
            table,
            judge,
            looker: Some(looker),
            looking: None,
            landing: None,
            is_dirty: true,
        })
    }

    /// Goes on until the board has ended.
    pub(super) async fn run(mut self, mut wishes: mpsc::UnboundedReceiver<Wish>) {
        let mut tick = tokio::time::interval(LOOK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.show();
        loop {
            tokio::select! {
                event = self.fleet.board.events.recv() => match event {
                    Ok(Event::Closed) | Err(_) => break,
                    Ok(event) => self.heard(event),
                },
                Some(wish) = wishes.next() => self.obey(wish).await,
                looked = finished(&mut self.looking) => self.looked(looked),
                landed = finished(&mut self.landing) => self.landed(landed).await,
                _ = tick.tick() => {}
            }
            self.look();
            self.show();
        }
        self.table.trouble = Some("The board has ended: open the folder again.".to_owned());
        self.show();
    }

    fn heard(&mut self, event: Event) {
        match event {
            Event::Job(line) => {
                self.shared.stands(&line);
                self.table.put(*line);
                self.is_dirty = true;
            }
            Event::Told { job, event } => {
                self.shared.pass_on(&job, &event);
                self.is_dirty |= matches!(*event, agent::Event::Recorded(_));
            }
            Event::Refused(sentence) | Event::Said { text: sentence, .. } => {
                self.table.trouble = Some(sentence);
            }
            Event::Added(_) | Event::Settled | Event::Closed => self.is_dirty = true,
        }
    }

    /// Has the trees looked at, where something may have changed and nobody looks yet.
    fn look(&mut self) {
        if !self.is_dirty || self.landing.is_some() {
            return;
        }
        let Some(mut looker) = self.looker.take() else {
            return;
        };
        self.is_dirty = false;
        let lines = self.table.lines.clone();
        self.looking = Some(tokio::task::spawn_blocking(move || {
            let seen = looker.look(&lines);
            (looker, seen)
        }));
    }

    fn looked(&mut self, looked: Result<Looked, String>) {
        let seen = match looked {
            Ok((looker, seen)) => {
                self.looker = Some(looker);
                seen
            }
            Err(sentence) => {
                self.looker = Looker::new(&self.fleet.trees, self.unsaved.clone()).ok();
                Err(sentence)
            }
        };
        match seen {
            Ok(seen) => {
                self.table.branch = seen.branch;
                self.table.hunks = seen.hunks;
                self.table.report = seen.report;
                self.table.refused = seen.refused;
                if seen.trouble.is_some() {
                    self.table.trouble = seen.trouble;
                }
            }
            Err(sentence) => self.table.trouble = Some(sentence),
        }
    }

    fn show(&mut self) {
        for hunk in &mut self.table.hunks {
            hunk.verdict = self.judge.verdict(&hunk.id);
        }
        self.shared.show(self.table.board());
    }

    async fn obey(&mut self, wish: Wish) {
        self.table.trouble = None;
        let command = match wish {
            Wish::Start(task) => match self.tasks(task) {
                Ok(command) => command,
                Err(sentence) => {
                    self.table.trouble = Some(sentence);
                    return;
                }
            },
            Wish::Steer { agent, text } => Command::Steer { job: agent, text },
            Wish::Pause {
                agent,
                is_paused: true,
            } => Command::Pause(agent),
            Wish::Pause { agent, .. } => Command::GoOn(agent),
            Wish::Stop(agent) => Command::Stop(agent),
            Wish::Remove(agent) => Command::Release(agent),
            Wish::Judge { hunk, verdict } => {
                let decided = self.judge.decide([hunk.as_str()], verdict);
                return self.note(decided);
            }
            Wish::AcceptAll(agent) => {
                let open = self.table.hunks.iter().filter(|hunk| {
                    hunk.agent == agent && self.judge.verdict(&hunk.id) == Verdict::Open
                });
                let open: Vec<&str> = open.map(|hunk| hunk.id.as_str()).collect();
                let decided = self.judge.decide(open, Verdict::Accepted);
                return self.note(decided);
            }
            Wish::UndoVerdict => {
                let undone = self.judge.undo();
                return self.note(undone);
            }
            Wish::Land(agents) => return self.land(&agents),
            Wish::UndoLanding => return self.undo_landing(),
        };
        if self.fleet.board.commands.send(command).await.is_err() {
            self.table.trouble = Some("The board has ended: open the folder again.".to_owned());
        }
    }

    fn note(&mut self, done: Result<(), String>) {
        if let Err(sentence) = done {
            self.table.trouble = Some(sentence);
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
            name: name.to_owned(),
            title: title(name),
            prompt: prompt.to_owned(),
            role: USUAL.to_owned(),
            model: task.model.clone(),
            needs: Vec::new(),
        };
        let items: Vec<&str> = task
            .prompt
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("- "))
            .collect();
        if task.is_contest {
            let mut only = one(&task.prompt, &task.prompt);
            only.name.clear();
            return Ok(Command::AddBestOf(only, task.agents.max(2)));
        }
        let mut tasks: Vec<_> = match items.len() {
            0 | 1 => (1..=task.agents.max(1))
                .map(|number| one(&share(&task.prompt, number, task.agents), &task.prompt))
                .collect(),
            _ => items.iter().map(|item| one(item, item)).collect(),
        };
        tasks.iter_mut().for_each(|task| task.name.clear());
        Ok(Command::Add(tasks))
    }

    /// Has accepted hunks landed, one agent after the other.
    fn land(&mut self, agents: &[String]) {
        if self.landing.is_some() {
            self.table.trouble = Some("Something lands already: wait until it has.".to_owned());
            return;
        }
        let has_accepted = |job: &JobId| {
            let mut own = self.table.hunks.iter().filter(|hunk| hunk.agent == *job);
            own.any(|hunk| self.judge.verdict(&hunk.id) == Verdict::Accepted)
        };
        let wanted = self.table.lines.iter().filter(|line| {
            (agents.is_empty() || agents.contains(&line.job)) && has_accepted(&line.job)
        });
        let wanted: Vec<_> = wanted.cloned().collect();
        if let Some(sentence) = self.unsaved_in_the_way(&wanted) {
            self.table.trouble = Some(sentence);
            return;
        }
        self.table.landing = Some(Landing {
            text: format!("Landing on {}\u{2026}", self.table.branch),
            is_bad: false,
            can_undo: false,
        });
        let (trees, dirs) = (self.fleet.trees.clone(), self.dirs.clone());
        self.landing = Some(tokio::task::spawn_blocking(move || {
            let lander = Lander::open(&trees)?;
            let checks = OwnChecks::read(&dirs, trees.folder())?;
            let mut landed = Vec::new();
            for line in &wanted {
                landed.push(lander.land(line, None, &checks)?);
            }
            Ok((landed, false))
        }));
    }

    /// A text that is not saved and that a landing would change on the disk.
    fn unsaved_in_the_way(&self, lines: &[composer::board::Line]) -> Option<String> {
        let hub = self.fleet.trees.hub();
        let unsaved = self.unsaved.paths();
        let touched = self.table.hunks.iter().filter(|hunk| {
            let lands = self.judge.verdict(&hunk.id) == Verdict::Accepted;
            lands && lines.iter().any(|line| line.job == hunk.agent)
        });
        let mut in_the_way = touched.filter(|hunk| unsaved.contains(&hub.join(&hunk.path)));
        let first = in_the_way.next()?;
        Some(format!(
            "{} has text that you have not saved, and would be changed: save it or take it back, then land again.",
            first.path
        ))
    }

    fn undo_landing(&mut self) {
        if self.landing.is_some() {
            self.table.trouble = Some("Something lands already: wait until it has.".to_owned());
            return;
        }
        let trees = self.fleet.trees.clone();
        let lines = self.table.lines.clone();
        self.landing = Some(tokio::task::spawn_blocking(move || {
            let lander = Lander::open(&trees)?;
            Ok((vec![lander.undo(0, &lines)?], true))
        }));
    }

    async fn landed(&mut self, done: Result<Done, String>) {
        self.is_dirty = true;
        let (landed, is_undo) = match done.and_then(|done| done) {
            Ok(done) => done,
            Err(sentence) => {
                self.table.landing = Some(Landing {
                    text: sentence,
                    is_bad: true,
                    can_undo: false,
                });
                return;
            }
        };
        let bad = landed.iter().filter(|it| !it.is_good);
        let bad: Vec<&str> = bad.map(|it| it.text.as_str()).collect();
        let good = landed.iter().filter(|it| it.is_good).count();
        let text = match (is_undo, bad.as_slice(), good) {
            (true, [], _) => format!("Taken back: {} is as it was before.", self.table.branch),
            (false, [], 1) => format!("Landed on {}.", self.table.branch),
            (false, [], count) => format!("Landed {count} agents' work on {}.", self.table.branch),
            (_, bad, 0) => bad.join(" "),
            (_, bad, count) => format!("Landed {count} agents' work. {}", bad.join(" ")),
        };
        self.table.landing = Some(Landing {
            text,
            is_bad: !bad.is_empty(),
            can_undo: good > 0 && !is_undo,
        });
        for one in landed {
            let (Some(job), Some(how)) = (one.job, one.settled) else {
                continue;
            };
            let settled = Command::Settled { job, how };
            // A board that has ended says so elsewhere.
            self.fleet.board.commands.send(settled).await.ok();
        }
    }
}

/// What a command of somebody who looks on means for the board; `None` where it means nothing.
pub(super) fn passed_on(job: &str, command: agent::Command) -> Option<Command> {
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

/// Waits for something done beside; for ever where nothing is.
async fn finished<T>(handle: &mut Option<JoinHandle<T>>) -> Result<T, String> {
    let Some(running) = handle else {
        return std::future::pending().await;
    };
    let done = running.await;
    *handle = None;
    done.map_err(|error| format!("It broke off: {error}"))
}
