//! Agents' work foreseen, landed, and taken back.

use std::process::ExitCode;
use std::sync::Arc;

use base::{AbsPath, LogErr};
use clap::Args;
use composer::authored::VersionKind;
use composer::best::accepted;
use composer::board::{Board, JobId, Line, Past, Place, Settled};
use composer::forecast::{Forecast as Forecasts, Gather, Touched};
use composer::land::{Buffers, Checks, LandingId, Landings, Outcome, Request, Step, Words};
use composer::{CommitId, Work};
use git::Repository;
use git::land::Person;
use git::merge::{Changes, Entry, Mode, TreePath};
use host::{Clock, Dirs, RealClock, RealFiles};
use serde_json::json;

use crate::run::show::line as json_line;
use crate::{Streams, tell, unwritten};

use super::checks::OwnChecks;
use super::past::{of, place_of};
use super::review::{Decisions, is_reviewable};
use super::trees::{Trees, lock_of};
use super::{Where, book};

#[derive(Args)]
pub(super) struct Forecast {
    #[command(flatten)]
    place: Where,
    /// Print it as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Land {
    #[command(flatten)]
    place: Where,
    /// Whose: a1 a2; all that are done without any
    jobs: Vec<String>,
    /// Take back what landed last, or what landed under this number
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "0", conflicts_with = "jobs")]
    undo: Option<u64>,
    /// Have this command pass on the merged work before it lands, in the sandbox; kept for later landings. Several
    /// are several; an empty one is none
    #[arg(long, value_name = "COMMAND")]
    check: Vec<String>,
    /// The first line of the commit; the task without it
    #[arg(long, value_name = "WORDS")]
    message: Option<String>,
}

impl Forecast {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let mut works = Vec::new();
        for line in past.lines.iter().filter(|line| is_reviewable(line)) {
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
        let mut code = ExitCode::SUCCESS;
        let landed = match self.undo {
            Some(number) => vec![lander.undo(number, &past.lines)?],
            None => {
                let mut landed = Vec::new();
                for line in self.lines(&past)? {
                    landed.push(lander.land(line, self.message.as_deref(), &checks)?);
                }
                landed
            }
        };
        for one in landed {
            writeln!(streams.output, "{}: {}", one.title, one.text).map_err(unwritten)?;
            if !one.is_good {
                code = ExitCode::FAILURE;
            }
            let line = past
                .lines
                .iter()
                .find(|line| Some(&line.job) == one.job.as_ref());
            if let (Some(line), Some(settled)) = (line, &one.settled) {
                let book = book(dirs, trees.hub())?;
                Board::note(&book, line, settled, RealClock::default().wall_ms())?;
            }
        }
        Ok(code)
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
    told: Vec<String>,
}

/// What came of one try.
pub(super) struct Landed {
    /// The job, where one on the board is meant.
    pub(super) job: Option<JobId>,
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

    /// Lands what of a job's work may.
    pub(super) fn land(
        &self,
        line: &Line,
        message: Option<&str>,
        checks: &dyn Checks,
    ) -> Result<Landed, String> {
        let place = place_of(line)?;
        let work = work_of(&self.trees, line, place)?;
        let changes = self.changes(line, place)?;
        let landed = |text: String, is_good, settled| Landed {
            job: Some(line.job.clone()),
            title: line.job.clone(),
            text,
            is_good,
            settled,
        };
        if changes.is_empty() {
            return Ok(landed("there is nothing to land".to_owned(), true, None));
        }
        let repository = repository(self.trees.hub())?;
        let author = repository.person().unwrap_or_else(|| Person {
            name: "Burin".to_owned(),
            email: "burin@localhost".to_owned(),
        });
        let request = Request {
            session: work.session,
            title: work.title,
            base: work.base,
            changes,
            branch: None,
            author,
            words: Words {
                subject: message.unwrap_or(&line.task.title).to_owned(),
                turns: (1..=line.turns).map(|turn| turn.to_string()).collect(),
                ..Words::default()
            },
        };
        let id = self.landings.enqueue(&request);
        let id = id.map_err(|error| error.to_string())?;
        let outcome = self.landings.run(id, checks, &Buffers::new());
        let outcome = outcome.map_err(|error| error.to_string())?;
        let (text, mut settled) = told(&outcome, id);
        if outcome == Outcome::Nothing {
            // It had landed when a program was killed that could not tell the board.
            settled = self.landed_before(&request.session)?.map(Settled::Landed);
        }
        if let Some(Settled::Landed(commit)) = &settled {
            let base = repository.tree_of(&request.base.0);
            let whole = base.and_then(|base| repository.write(base, &request.changes));
            let whole = whole.map_err(|error| error.to_string())?;
            self.trees.landed(place, &whole.to_string(), commit)?;
        }
        let is_good = matches!(outcome, Outcome::Landed { .. } | Outcome::Nothing);
        Ok(landed(text, is_good, settled))
    }

    /// As which commit work of a session landed last, where it was not taken back.
    fn landed_before(&self, session: &str) -> Result<Option<String>, String> {
        let landings = self.landings.list().map_err(|error| error.to_string())?;
        let mut commits = landings.into_iter().filter_map(|it| match it.step {
            Step::Landed {
                to,
                undone_by: None,
                ..
            } if it.session == session && it.undoes.is_none() => Some(to.0),
            _ => None,
        });
        Ok(commits.next_back())
    }

    /// What of a job's work may land.
    fn changes(&self, line: &Line, place: &Place) -> Result<Changes, String> {
        let authored = self.trees.authored(place)?;
        let authored = lock_of(&authored);
        let picks = Decisions::read(&self.trees)?.picks(line, &authored)?;
        let files = accepted(&authored, &picks).map_err(|stuck| stuck.to_string())?;
        let changes = files.into_iter().map(|(path, file)| {
            let entry = file.map(|(kind, bytes)| {
                let mode = match kind {
                    VersionKind::File => Mode::Plain,
                    VersionKind::Executable => Mode::Executable,
                    VersionKind::Link => Mode::Link,
                };
                Entry::of_bytes(mode, bytes)
            });
            (TreePath::new(path), entry)
        });
        Ok(changes.collect())
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
        let (text, _) = told(&outcome, id);
        let is_good = matches!(outcome, Outcome::Landed { .. } | Outcome::Nothing);
        let line = lines.iter().find(|line| {
            line.session.as_ref() == Some(&summary.session) || line.job == summary.session
        });
        Ok(Landed {
            job: line.map(|line| line.job.clone()),
            title: summary.title.clone(),
            text,
            is_good,
            settled: is_good.then_some(Settled::TakenBack),
        })
    }
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

fn repository(hub: &AbsPath) -> Result<Repository, String> {
    Repository::discover(hub).map_err(|error| error.to_string())
}
