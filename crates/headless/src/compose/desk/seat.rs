//! The task that owns how everything on a board stands.

mod back;
mod compare;
mod land;
mod obey;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use composer::board::{Command, Event, JobId, Line, State};
use composer::desk::{Told, Wish};
use composer::review::Reviewed;
use futures::StreamExt as _;
use futures::channel::mpsc;
use git::merge::Changes;
use host::Dirs;
use project::Unsaved;
use tokio::task::JoinHandle;

use super::Shared;
use super::judge::Judge;
use super::look::{Looker, Seen, shown};
use super::notes::Notes;
use super::table::Table;
use crate::compose::Fleet;
use crate::compose::land::Lander;

use back::{Restored, Went};
use compare::Checked;
use land::Done;

pub(super) use obey::passed_on;

/// Between two looks at the trees while something happens in them.
const LOOK: Duration = Duration::from_secs(2);

type Looked = (Looker, Result<Seen, String>);

/// The one who sits at a board.
pub(super) struct Seat {
    fleet: Fleet,
    dirs: Dirs,
    unsaved: Arc<Unsaved>,
    shared: Arc<Shared>,
    table: Table,
    judge: Judge,
    lander: Arc<Lander>,
    notes: Notes,
    /// What each job changed, as last seen.
    sessions: Vec<Reviewed>,
    /// What the checks of a job ran on.
    checked: HashMap<JobId, Arc<Changes>>,
    /// The latest restore, as long as it can be taken back.
    restored: Option<Restored>,
    /// Away while it looks.
    looker: Option<Looker>,
    looking: Option<JoinHandle<Looked>>,
    landing: Option<JoinHandle<Result<Done, String>>>,
    /// What about landings was wished while one was under way, in order.
    waiting: VecDeque<Wish>,
    going_back: Option<JoinHandle<Result<Went, String>>>,
    comparing: Option<mpsc::UnboundedReceiver<Checked>>,
    is_dirty: bool,
}

impl Seat {
    /// `project` is its name, where the person has another folder open. Blocks on the disk.
    pub(super) fn new(
        (fleet, project): (Fleet, Option<String>),
        dirs: &Dirs,
        unsaved: Arc<Unsaved>,
        shared: Arc<Shared>,
    ) -> Result<Self, String> {
        let judge = Judge::open(&fleet.trees)?;
        let lander = Arc::new(Lander::open(&fleet.trees)?);
        let looker = Looker::new(&fleet.trees, &lander, unsaved.clone())?;
        let mut table = Table {
            project,
            ..Table::default()
        };
        for line in &fleet.past.lines {
            shared.stands(line);
            table.put(line.clone());
        }
        let mut problems = fleet.past.problems.iter().chain(&lander.told);
        table.trouble = problems.next().cloned();
        Ok(Self {
            fleet,
            dirs: dirs.clone(),
            unsaved,
            shared,
            table,
            judge,
            lander,
            notes: Notes::default(),
            sessions: Vec::new(),
            checked: HashMap::new(),
            restored: None,
            looker: Some(looker),
            looking: None,
            landing: None,
            waiting: VecDeque::new(),
            going_back: None,
            comparing: None,
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
                Some(wish) = wishes.next() => self.take(wish).await,
                looked = finished(&mut self.looking) => self.looked(looked).await,
                landed = finished(&mut self.landing) => {
                    self.landed(landed).await;
                    self.take_waiting().await;
                }
                went = finished(&mut self.going_back) => self.went_back(went),
                checked = compare::next(&mut self.comparing) => self.checked(checked),
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
            Event::Refused(sentence) => self.table.trouble = Some(sentence),
            Event::Said { text, .. } => {
                self.tell(text, false);
                self.is_dirty = true;
            }
            Event::Added(_) | Event::Settled | Event::Closed => self.is_dirty = true,
        }
    }

    /// Has the trees looked at, where something may have changed and nobody looks yet.
    fn look(&mut self) {
        if !self.is_dirty || self.landing.is_some() || self.going_back.is_some() {
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

    async fn looked(&mut self, looked: Result<Looked, String>) {
        let seen = match looked {
            Ok((looker, seen)) => {
                self.looker = Some(looker);
                seen
            }
            Err(sentence) => Err(sentence),
        };
        let seen = match seen {
            Ok(seen) => seen,
            Err(sentence) => {
                self.table.trouble = Some(sentence);
                return;
            }
        };
        let news = self.notes.news(&seen.report, &self.table.lines);
        self.table.branch = seen.branch;
        self.table.hunks = shown(&seen.review);
        self.table.report = seen.report;
        self.table.disputes = seen.disputes;
        self.table.refused = seen.refused;
        if let Some(sentence) = seen.trouble {
            self.table.trouble = Some(sentence);
        }
        self.judge.look(seen.review);
        self.sessions = seen.sessions;
        self.forget_checks();
        for (job, text) in news {
            // A board that has ended has nobody to tell.
            let note = Command::Note { job, text };
            self.fleet.board.commands.send(note).await.ok();
        }
    }

    fn show(&mut self) {
        for hunk in &mut self.table.hunks {
            hunk.verdict = self.judge.verdict(&hunk.id);
        }
        self.shared.show(self.table.board());
    }

    /// Tells what became of something the person wished.
    fn tell(&mut self, text: String, can_undo: bool) {
        self.table.told = Some(Told { text, can_undo });
    }

    fn line(&self, job: &str) -> Result<&Line, String> {
        let line = self.table.lines.iter().find(|line| line.job == job);
        line.ok_or_else(|| format!("there is no agent \"{job}\" on the board"))
    }

    /// The line of a job whose agent does not touch its tree now.
    fn resting(&self, job: &str) -> Result<&Line, String> {
        let line = self.line(job)?;
        match is_at_work(line) {
            true => Err(format!(
                "\u{201c}{}\u{201d} is {}: pause or stop it, or wait until it is done.",
                line.task.title,
                line.state.word()
            )),
            false => Ok(line),
        }
    }
}

/// Whether an agent may change its tree at any moment.
fn is_at_work(line: &Line) -> bool {
    line.state.takes_room() || matches!(line.state, State::Waiting { .. })
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
