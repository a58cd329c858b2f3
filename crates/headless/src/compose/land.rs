//! Agents' work foreseen, landed, and taken back.

mod settle;

use std::process::ExitCode;
use std::sync::Arc;

use base::{AbsPath, LogErr};
use clap::Args;
use composer::board::{Board, JobId, Line, Past, Place, Settled};
use composer::forecast::{Forecast as Forecasts, Gather, Touched};
use composer::land::{
    Buffers, Checks, LandingId, Landings, Outcome, Request, Step, Summary, Words,
};
use composer::{CommitId, Work};
use git::Repository;
use git::land::Person;
use git::merge::TreePath;
use host::{Clock, Dirs, RealClock, RealFiles};
use serde_json::json;

use crate::run::show::line as json_line;
use crate::{Streams, tell, unwritten};

use super::checks::OwnChecks;
use super::past::{of, place_of};
use super::picks::{Load, Unfit, accepted, fill, is_of, loads};
use super::review::{is_reviewable, look, there};
use super::trees::Trees;
use super::{Where, book};

#[derive(Args)]
pub(super) struct Forecast {
    #[command(flatten)]
    place: Where,
    /// Print an object as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Land {
    #[command(flatten)]
    place: Where,
    /// The agents, such as a1 a2; all that are done without any
    jobs: Vec<String>,
    /// Take the latest landing back, or the one with this number
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "0", conflicts_with = "jobs")]
    undo: Option<u64>,
    /// Require this command to pass on the merged work, in the sandbox, before it lands; kept for later landings; can
    /// be repeated; an empty one removes all
    #[arg(long, value_name = "COMMAND")]
    check: Vec<String>,
    /// The first line of the commit message; the task without it
    #[arg(long, value_name = "WORDS")]
    message: Option<String>,
    /// Settle a file on which a landing and the branch differ: with what the branch has, what the agent has, or a
    /// file of yours; the landing continues with the last one
    #[arg(long, value_name = "JOB:PATH=branch|agent|FILE", conflicts_with_all = ["jobs", "undo"])]
    settle: Vec<String>,
    /// Give up a landing that does not fit the branch; the work stays in its worktree
    #[arg(long, value_name = "JOB", conflicts_with_all = ["jobs", "undo", "settle"])]
    give_up: Vec<JobId>,
}

impl Forecast {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let mut works = Vec::new();
        let open = past.lines.iter().filter(|line| is_reviewable(line));
        for line in there(&trees, open.collect(), streams) {
            works.push(work_of(&trees, line, place_of(line)?)?);
        }
        let repository = repository(trees.hub())?;
        let memory = trees.folder().join("forecast");
        let gather = Gather::new(trees.hub(), &memory, Arc::new(RealFiles));
        let mut gather = gather.map_err(|error| error.to_string())?;
        let gathered = gather.read(&repository, &works, &Buffers::new(), &Touched::Anyone);
        let gathered = gathered.map_err(|error| error.to_string())?;
        gathered.unread.values().for_each(|why| tell(streams, why));
        let report = Forecasts::default().refresh(&repository, &gathered.input);
        let report = report.map_err(|error| error.to_string())?;
        if self.json {
            let conflicts: Vec<_> = report.conflicts.iter().map(|it| {
                json!({ "path": it.path.to_path(), "one": format!("{:?}", it.one), "two": format!("{:?}", it.two), "told": it.for_person })
            }).collect();
            let order = report.order.iter().map(|it| {
                let paths: Vec<_> = it.conflicts.iter().map(TreePath::to_path).collect();
                json!({ "session": it.session, "conflicts": paths })
            });
            let value = json!({
                "conflicts": conflicts,
                "near": report.near.iter().map(|it| &it.for_person).collect::<Vec<_>>(),
                "order": order.collect::<Vec<_>>(),
            });
            json_line(streams, &value).map_err(unwritten)?;
            return Ok(ExitCode::SUCCESS);
        }
        let told = report.conflicts.iter().map(|it| &it.for_person);
        let told = told.chain(report.near.iter().map(|it| &it.for_person));
        for sentence in told {
            writeln!(streams.output, "{sentence}").map_err(unwritten)?;
        }
        for step in &report.order {
            let title = works.iter().find(|work| work.session == step.session);
            let title = title.map_or(step.session.as_str(), |work| work.title.as_str());
            let how = match step.conflicts.len() {
                0 => "would land".to_owned(),
                1 => "would be in conflict in one file".to_owned(),
                count => format!("would be in conflict in {count} files"),
            };
            writeln!(streams.output, "{title}: {how}").map_err(unwritten)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Land {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        if !self.check.is_empty() {
            OwnChecks::keep(trees.folder(), &self.check)?;
        }
        let checks = OwnChecks::read(dirs, trees.folder())?;
        let lander = Lander::open(&trees)?;
        lander
            .told
            .iter()
            .for_each(|sentence| tell(streams, sentence));
        let landed = self.landed(&lander, (&trees, &past), &checks, streams)?;
        let mut code = ExitCode::SUCCESS;
        for one in landed {
            writeln!(streams.output, "{}: {}", one.title, one.text).map_err(unwritten)?;
            if !one.is_good {
                code = ExitCode::FAILURE;
            }
            let lines = past.lines.iter();
            for line in lines.filter(|line| one.jobs.contains(&line.job)) {
                if let Some(settled) = &one.settled {
                    let book = book(dirs, trees.hub())?;
                    Board::note(&book, line, settled, RealClock::default().wall_ms())?;
                }
            }
        }
        Ok(code)
    }

    fn landed(
        &self,
        lander: &Lander,
        (trees, past): (&Trees, &Past),
        checks: &OwnChecks,
        streams: &mut Streams<'_>,
    ) -> Result<Vec<Landed>, String> {
        if let Some(number) = self.undo {
            return Ok(vec![lander.undo(number, &past.lines)?]);
        }
        if !self.settle.is_empty() {
            return settle::all(lander, past, &self.settle, checks);
        }
        if !self.give_up.is_empty() {
            let given_up = self.give_up.iter();
            return given_up.map(|job| lander.give_up(of(past, job)?)).collect();
        }
        let lines = self.lines(past)?;
        let lines = match self.jobs.is_empty() {
            true => there(trees, lines, streams),
            false => lines,
        };
        let mut review = look(trees, &lines)?.review;
        let was_picked: Vec<&JobId> = lines
            .iter()
            .filter(|line| accepted(&review, line) > 0)
            .map(|line| &line.job)
            .collect();
        fill(&mut review, &lines);
        let loads = loads(&review, &lines, |line| was_picked.contains(&&line.job))?;
        Ok(lander.land_all(loads, self.message.as_deref(), checks))
    }

    fn lines<'a>(&self, past: &'a Past) -> Result<Vec<&'a Line>, String> {
        let mut lines = Vec::new();
        for job in &self.jobs {
            lines.push(of(past, job)?);
        }
        if self.jobs.is_empty() {
            let done = past.lines.iter().filter(|line| line.state.is_done());
            lines.extend(done.filter(|line| is_reviewable(line)));
        }
        match lines.is_empty() {
            true => Err("no agent is done whose work has not landed".to_owned()),
            false => Ok(lines),
        }
    }
}

/// Brings work onto the branch of a repository, and takes it back.
pub(super) struct Lander {
    trees: Trees,
    landings: Landings,
    /// What became of landings that a killed program left, in sentences.
    pub(super) told: Vec<String>,
}

/// What came of one try.
pub(super) struct Landed {
    /// The jobs, where those on the board are meant.
    pub(super) jobs: Vec<JobId>,
    /// What it is called.
    title: String,
    /// A sentence.
    pub(super) text: String,
    /// Whether it did what was asked.
    pub(super) is_good: bool,
    /// What it means for the board.
    pub(super) settled: Option<Settled>,
}

impl Lander {
    /// Finishes or takes back what a killed program left. Blocks on the disk, as everything here.
    pub(super) fn open(trees: &Trees) -> Result<Self, String> {
        let landings = opened(trees);
        let (landings, now) = landings.map_err(|error| error.to_string())?;
        let mut told = trees.take_told();
        told.extend(now);
        Ok(Self {
            trees: trees.clone(),
            landings,
            told,
        })
    }

    /// Lands these, one after the other. What one of them meets does not keep the others.
    pub(super) fn land_all(
        &self,
        loads: Vec<Result<Load, Unfit>>,
        message: Option<&str>,
        checks: &dyn Checks,
    ) -> Vec<Landed> {
        let landed = loads.into_iter().map(|load| {
            let (jobs, landed) = match load {
                Ok(load) => (jobs_of(&load.lines), self.land(load, message, checks)),
                Err(unfit) => (unfit.jobs, Err(unfit.why)),
            };
            landed.unwrap_or_else(|sentence| Landed::new(jobs, sentence))
        });
        landed.collect()
    }

    fn land(
        &self,
        load: Load,
        message: Option<&str>,
        checks: &dyn Checks,
    ) -> Result<Landed, String> {
        if load.changes.is_empty() {
            return Ok(Landed {
                is_good: true,
                ..Landed::new(jobs_of(&load.lines), "there is nothing to land".to_owned())
            });
        }
        let repository = repository(self.trees.hub())?;
        let author = repository.person().unwrap_or_else(|| Person {
            name: "Burin".to_owned(),
            email: "burin@localhost".to_owned(),
        });
        let request = Request {
            session: load.session,
            title: load.title,
            base: load.base,
            changes: load.changes,
            branch: None,
            author,
            words: Words {
                subject: message.unwrap_or(&load.subject).to_owned(),
                turns: load.turns,
                ..Words::default()
            },
        };
        let id = self.begun(&repository, &request)?;
        self.go_on(id, &load.lines, checks)
    }

    /// The landing of this: the one that was begun and did not get through, with what was settled since, or a new one
    /// in its place.
    fn begun(&self, repository: &Repository, request: &Request) -> Result<LandingId, String> {
        let sentence = |error: composer::land::Error| error.to_string();
        let base = repository.tree_of(&request.base.0);
        let base = base.map_err(|error| error.to_string())?;
        let tree = repository.write(base, &request.changes);
        let tree = tree.map_err(|error| error.to_string())?.to_string();
        let mut again = None;
        for open in self.landings.list().map_err(sentence)? {
            if open.session != request.session || open.undoes.is_some() || !is_open(&open.step) {
                continue;
            }
            match open.tree == tree {
                true => again = Some(open.id),
                false => self.landings.drop_landing(open.id).map_err(sentence)?,
            }
        }
        match again {
            Some(id) => self.landings.try_again(id).map(|()| id).map_err(sentence),
            None => self.landings.enqueue(request).map_err(sentence),
        }
    }

    /// Gives a landing that waits its turn.
    fn go_on(&self, id: LandingId, lines: &[Line], checks: &dyn Checks) -> Result<Landed, String> {
        let outcome = self.landings.run(id, checks, &Buffers::new());
        let outcome = outcome.map_err(|error| error.to_string())?;
        let (text, mut settled) = told(&outcome, id);
        let landings = self.landings.list().map_err(|error| error.to_string())?;
        let work = landings.iter().find(|it| it.id == id);
        if let (Outcome::Nothing, Some(work)) = (&outcome, work) {
            // It had landed when a program was killed that could not tell the board.
            settled = landed_before(&landings, &work.session).map(Settled::Landed);
        }
        if let (Some(Settled::Landed(commit)), Some(work)) = (&settled, work) {
            for place in lines.iter().filter_map(|line| line.place.as_ref()) {
                self.trees.landed(place, &work.tree, commit)?;
            }
        }
        Ok(Landed {
            is_good: matches!(outcome, Outcome::Landed { .. } | Outcome::Nothing),
            settled,
            ..Landed::new(jobs_of(lines), text)
        })
    }

    /// Takes a landing back: the one of this number, or the latest for 0.
    pub(super) fn undo(&self, number: u64, lines: &[Line]) -> Result<Landed, String> {
        let landed = self.landings.list().map_err(|error| error.to_string())?;
        let is_there = |step: &Step| {
            matches!(
                step,
                Step::Landed {
                    undone_by: None,
                    ..
                }
            )
        };
        let mut open = landed.iter().filter(|it| is_there(&it.step));
        let summary = match number {
            // What took something back is a landing itself; by default the work is meant.
            0 => open.rfind(|it| it.undoes.is_none()),
            _ => open.find(|it| it.id == LandingId(number)),
        };
        let summary = summary.ok_or("nothing landed that could be taken back")?;
        let (id, outcome) = self
            .landings
            .undo(summary.id, &Buffers::new())
            .map_err(|error| error.to_string())?;
        let text = undone(summary.id, &outcome, id);
        let is_good = matches!(outcome, Outcome::Landed { .. } | Outcome::Nothing);
        let lines = lines.iter().filter(|line| is_of(&summary.session, line));
        let jobs: Vec<JobId> = lines.map(|line| line.job.clone()).collect();
        Ok(Landed {
            is_good,
            settled: is_good.then_some(Settled::TakenBack),
            title: summary.title.clone(),
            ..Landed::new(jobs, text)
        })
    }
}

impl Landed {
    /// A try that did nothing, and why.
    pub(super) fn new(jobs: Vec<JobId>, text: String) -> Self {
        Self {
            title: jobs.join(" and "),
            jobs,
            text,
            is_good: false,
            settled: None,
        }
    }
}

fn jobs_of(lines: &[Line]) -> Vec<JobId> {
    lines.iter().map(|line| line.job.clone()).collect()
}

/// Whether a landing may get through yet.
fn is_open(step: &Step) -> bool {
    matches!(
        step,
        Step::Waiting | Step::Conflicted { .. } | Step::Failed { .. } | Step::Blocked { .. }
    )
}

/// As which commit work of a session landed last, where it was not taken back.
fn landed_before(landings: &[Summary], session: &str) -> Option<String> {
    let mut commits = landings.iter().filter_map(|it| match &it.step {
        Step::Landed {
            to,
            undone_by: None,
            ..
        } if it.session == session && it.undoes.is_none() => Some(to.0.clone()),
        _ => None,
    });
    commits.next_back()
}

fn opened(trees: &Trees) -> Result<(Landings, Vec<String>), composer::land::Error> {
    Landings::open(
        trees.hub(),
        &trees.folder().join("landings"),
        Arc::new(RealFiles),
        Arc::new(RealClock::default()),
    )
}

/// Ends what a killed program left half landed; who lands next tells of it.
pub(super) fn recover(trees: &Trees) {
    // Whoever lands next meets the same, and says so.
    if let Some((_, told)) = opened(trees).log_err() {
        trees.note_told(told);
    }
}

/// What became of a landing, for people and for the board.
fn told(outcome: &Outcome, id: LandingId) -> (String, Option<Settled>) {
    match outcome {
        Outcome::Landed { commit, left, .. } => {
            let short: String = commit.0.chars().take(12).collect();
            let mut text = format!("landed as {short} (landing {})", id.0);
            for sentence in left {
                text.push_str(&format!("\n  {sentence}"));
            }
            (text, Some(Settled::Landed(commit.0.clone())))
        }
        Outcome::Conflicted { sentence, .. } => {
            (sentence.clone(), Some(Settled::Conflict(sentence.clone())))
        }
        Outcome::Failed { sentence, .. } | Outcome::Blocked { sentence } => {
            (sentence.clone(), None)
        }
        Outcome::Nothing => ("the branch has it all already".to_owned(), None),
    }
}

/// What became of the wish to take landing `taken` back, which is a landing itself.
fn undone(taken: LandingId, outcome: &Outcome, id: LandingId) -> String {
    match outcome {
        Outcome::Landed { commit, left, .. } => {
            let short: String = commit.0.chars().take(12).collect();
            let mut text = format!(
                "landing {} was taken back by {short} (landing {})",
                taken.0, id.0
            );
            for sentence in left {
                text.push_str(&format!("\n  {sentence}"));
            }
            text
        }
        Outcome::Nothing => format!("the branch holds nothing of landing {} any more", taken.0),
        Outcome::Conflicted { .. } | Outcome::Failed { .. } | Outcome::Blocked { .. } => {
            told(outcome, id).0
        }
    }
}

pub(super) fn work_of(trees: &Trees, line: &Line, place: &Place) -> Result<Work, String> {
    trees.hold(&place.lease)?;
    Ok(Work {
        session: line.session.clone().unwrap_or_else(|| line.job.clone()),
        title: format!("{} {}", line.job, line.task.title),
        root: place.root()?,
        git_dir: place.git_dir()?,
        base: CommitId(place.base.clone()),
    })
}

pub(super) fn repository(hub: &AbsPath) -> Result<Repository, String> {
    Repository::discover(hub).map_err(|error| error.to_string())
}
