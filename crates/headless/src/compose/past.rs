//! What a board's agents did, told and taken back after they have ended.

use std::process::ExitCode;

use base::count_of;
use clap::{Args, ValueEnum};
use composer::authored::{Author, Authored, ChangeId};
use composer::best::{checked, compare, measure, table};
use composer::board::{Line, Past, Place, Side};
use composer::checkpoint::{Selection, Stuck, Undone};
use host::{Dirs, RealFiles};
use serde_json::json;

use crate::run::show::line as json_line;
use crate::{Streams, tell, unwritten};

use super::Where;
use super::board_line::{shown, whole};
use super::checks::OwnChecks;
use super::review::look;
use super::trees::lock_of;

#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    place: Where,
    /// Print an object as a line of JSON for each
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Show {
    #[command(flatten)]
    place: Where,
    /// Print an object as a line of JSON
    #[arg(long)]
    json: bool,
    /// The agent, such as a1
    job: String,
}

#[derive(Args)]
pub(super) struct Restore {
    #[command(flatten)]
    place: Where,
    /// The agent, such as a1
    job: String,
    /// The turn whose beginning is restored, from 1
    turn: u64,
}

#[derive(Args)]
pub(super) struct Undo {
    #[command(flatten)]
    place: Where,
    /// The agent whose worktree it is, such as a1
    job: String,
    /// Undo only what was changed in this turn
    #[arg(long)]
    turn: Option<u64>,
    /// Undo only what this call changed
    #[arg(long)]
    call: Option<String>,
    /// Undo only these changes, by the numbers that `show` prints
    #[arg(long, value_name = "NUMBER")]
    change: Vec<u64>,
    /// Undo only in these files
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Undo the changes of this author rather than those of the agent
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Take back this operation, by the number that an undo or a restore printed
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["turn", "call", "change", "file", "by"])]
    operation: Option<u64>,
    /// Restore these lines of a file, from 1, to what they were in the beginning: `--lines src/main.rs:10-20`
    #[arg(long, value_name = "PATH:FROM-TO", conflicts_with_all = ["turn", "call", "change", "file", "by", "operation"])]
    lines: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    /// You, in the editor
    Person,
    /// Other programs
    Disk,
}

#[derive(Args)]
pub(super) struct Compare {
    #[command(flatten)]
    place: Where,
    /// The agents, such as a1 a2 a3; those of the last --best-of without any
    jobs: Vec<String>,
    /// Run your checks (those of `land --check`) on what each of them did
    #[arg(long)]
    check: bool,
}

#[derive(Args)]
pub(super) struct HandOver {
    #[command(flatten)]
    place: Where,
    /// Copy from your checkout into its worktree, instead of from its worktree into your checkout
    #[arg(long)]
    to_agent: bool,
    /// The agent, such as a1
    job: String,
}

impl List {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        told(&past, streams);
        for line in &past.lines {
            match self.json {
                true => json_line(streams, &json!(line)).map_err(unwritten)?,
                false => writeln!(streams.output, "{}", whole(line)).map_err(unwritten)?,
            }
        }
        if past.lines.is_empty() {
            tell(
                streams,
                &format!("no agents have worked on {} yet", trees.hub()),
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Show {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let line = of(&past, &self.job)?;
        if self.json {
            return json_line(streams, &json!(line))
                .map(|()| ExitCode::SUCCESS)
                .map_err(unwritten);
        }
        let mut text = format!("{}\n", shown(line, None));
        if let Some(place) = &line.place {
            text.push_str(&format!("{}  {}\n", place.branch, place.root));
            let authored = trees.authored(place)?;
            text.push_str(&changes(&lock_of(&authored)));
            let review = look(&trees, &[line])?.review;
            let size = measure(&review, line, Vec::new());
            text.push_str(&format!(
                "{} with {} since the beginning: {} added, {} removed\n",
                count_of(size.files, "file"),
                count_of(review.hunks().len(), "change"),
                count_of(size.added, "line"),
                count_of(size.removed, "line")
            ));
        }
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Every change with its author.
fn changes(authored: &Authored) -> String {
    let mut text = String::new();
    for change in authored.changes() {
        let what = match (&change.before, &change.after) {
            (None, _) => "made",
            (_, None) => "removed",
            _ => "changed",
        };
        let call = change.author.doing().map_or(String::new(), |doing| {
            format!(", {} {}", doing.tool, doing.call)
        });
        text.push_str(&format!(
            "{:>5}  {what:<8} {}  by {}{call}\n",
            change.id.0, change.path, change.author
        ));
    }
    text
}

impl Restore {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let line = of(&past, &self.job)?;
        let authored = trees.authored(place_of(line)?)?;
        let done = lock_of(&authored).restore(&line.sessions(), self.turn);
        tell_done(done, streams)
    }
}

impl Undo {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let line = of(&past, &self.job)?;
        let authored = trees.authored(place_of(line)?)?;
        let mut authored = lock_of(&authored);
        let done = match &self.lines {
            Some(lines) => {
                let (path, rows) = rows(lines)?;
                authored.undo_rows(path, rows)
            }
            None => authored.undo(&self.selection(line)),
        };
        tell_done(done, streams)
    }

    fn selection(&self, line: &Line) -> Selection {
        if let Some(operation) = self.operation {
            return Selection::of_operation(operation);
        }
        let changes: Vec<ChangeId> = self.change.iter().copied().map(ChangeId).collect();
        // Changes that are named by their numbers may be anybody's.
        let is_agents = self.by.is_none() && changes.is_empty();
        Selection {
            sessions: is_agents.then(|| line.sessions()),
            turn: self.turn,
            call: self.call.clone(),
            author: self.by.map(|by| match by {
                By::Person => Author::Person,
                By::Disk => Author::Disk,
            }),
            paths: (!self.file.is_empty()).then(|| self.file.clone()),
            changes: (!changes.is_empty()).then_some(changes),
        }
    }
}

/// `path:from-to`, lines from 1, as rows from 0.
fn rows(text: &str) -> Result<(&str, std::ops::Range<u32>), String> {
    let unclear = || format!("{text:?} names no lines; write them as src/main.rs:10-20");
    let (path, lines) = text.rsplit_once(':').ok_or_else(unclear)?;
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok((path, from - 1..to)),
        _ => Err(unclear()),
    }
}

impl Compare {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let group = past.lines.iter().rev().find_map(|line| line.group.clone());
        let is_wanted = |line: &&Line| match self.jobs.is_empty() {
            true => line.group.is_some() && line.group == group,
            false => self.jobs.contains(&line.job),
        };
        let lines: Vec<&Line> = past.lines.iter().filter(is_wanted).collect();
        if lines.is_empty() {
            return Err(
                "there is nothing to compare: name jobs, or start some with --best-of".to_owned(),
            );
        }
        let checks = match self.check {
            true => Some(OwnChecks::some(dirs, trees.folder())?),
            false => None,
        };
        let looked = look(&trees, &lines)?;
        let mut measured = Vec::new();
        for line in lines {
            let session = looked.sessions.iter().find(|it| it.session == line.job);
            let checks = match (&checks, session) {
                (Some(checks), Some(session)) => checked(trees.hub(), session, checks, &RealFiles)?,
                _ => Vec::new(),
            };
            measured.push(measure(&looked.review, line, checks));
        }
        let measured = compare(measured);
        let mut text = table(&measured);
        for one in &measured {
            for check in one.checks.iter().filter(|check| !check.is_passed) {
                text.push_str(&format!("\n{} does not pass {}", one.job, check.name));
                text.push_str(&format!("\n{}\n", check.detail.trim_end()));
            }
        }
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl HandOver {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        // Nobody else is to work in the tree meanwhile.
        trees.claim()?;
        let to = match self.to_agent {
            true => Side::Agent,
            false => Side::Person,
        };
        let text = trees.hand_over_now(place_of(of(&past, &self.job)?)?, to)?;
        writeln!(streams.output, "{text}").map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

pub(super) fn of<'a>(past: &'a Past, job: &str) -> Result<&'a Line, String> {
    let line = past.lines.iter().find(|line| line.job == job);
    line.ok_or_else(|| {
        format!("there is no job \"{job}\": `burin-agent compose list` names those there are")
    })
}

pub(super) fn place_of(line: &Line) -> Result<&Place, String> {
    let place = line.place.as_ref();
    place.ok_or_else(|| format!("{} has no worktree", line.job))
}

fn told(past: &Past, streams: &mut Streams<'_>) {
    past.problems
        .iter()
        .for_each(|problem| tell(streams, problem));
}

fn tell_done(done: Result<Undone, Stuck>, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
    match done {
        Ok(done) => {
            let files = done.paths.join(", ");
            let text = format!(
                "operation {}: {files}\ntake it back with `burin-agent compose undo JOB --operation {}`",
                done.operation, done.operation
            );
            writeln!(streams.output, "{text}").map_err(unwritten)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(stuck) => Err(stuck.to_string()),
    }
}
