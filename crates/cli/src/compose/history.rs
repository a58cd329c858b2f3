//! Commands on a board's finished work: list, show, restore, undo, compare and hand over.

use std::process::ExitCode;

use base::count_of;
use clap::{Args, ValueEnum};
use composer::board::{HandOverTarget, JobStatus, SavedBoard};
use composer::change_history::{ChangeAuthor, ChangeHistory, ChangeId};
use composer::checkpoint::{UndoError, UndoResult, UndoSelection};
use composer::compare::{compare, format_table, measure, run_checks};
use host::{Dirs, RealFiles};
use runtime::compose::checks::OwnChecks;
use runtime::compose::history::{of, place_of};
use runtime::compose::job_worktrees::lock_of;
use runtime::compose::review::review_changes;
use serde_json::json;

use crate::run::show::print_json_line as json_line;
use crate::{Streams, print_notice, write_error};

use super::RepositoryArg;
use super::board_line::{job_details, job_summary};

#[derive(Args)]
pub(super) struct ListCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// Print an object as a line of JSON for each
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct ShowCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// Print an object as a line of JSON
    #[arg(long)]
    json: bool,
    /// The agent, such as a1
    job: String,
}

#[derive(Args)]
pub(super) struct RestoreCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// The agent, such as a1
    job: String,
    /// Turn whose start is restored, counted from 1
    turn: u64,
}

#[derive(Args)]
pub(super) struct UndoCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// Agent that owns the worktree, such as a1
    job: String,
    /// Undo only the changes of this turn
    #[arg(long)]
    turn: Option<u64>,
    /// Undo only the changes of this call
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
    by: Option<AuthorArg>,
    /// Take back this operation, by the number that an undo or a restore printed
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["turn", "call", "change", "file", "by"])]
    operation: Option<u64>,
    /// Restore these lines of a file, counted from 1, to their content at the start: `--lines
    /// src/main.rs:10-20`
    #[arg(long, value_name = "PATH:FROM-TO", conflicts_with_all = ["turn", "call", "change", "file", "by", "operation"])]
    lines: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AuthorArg {
    /// You, in the editor
    Person,
    /// Other programs on this machine
    Disk,
}

#[derive(Args)]
pub(super) struct CompareCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// The agents, such as a1 a2 a3; those of the last --best-of without any
    jobs: Vec<String>,
    /// Run your checks (those of `land --check`) on the work of each agent
    #[arg(long)]
    check: bool,
}

#[derive(Args)]
pub(super) struct HandOverCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// Copy from your checkout into its worktree, instead of from its worktree into your checkout
    #[arg(long)]
    to_agent: bool,
    /// The agent, such as a1
    job: String,
}

impl ListCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        report_problems(&past, streams);
        for line in &past.jobs {
            if self.json {
                json_line(streams, &json!(line)).map_err(write_error)?
            } else {
                writeln!(streams.output, "{}", job_details(line)).map_err(write_error)?
            }
        }
        if past.jobs.is_empty() {
            print_notice(
                streams,
                &format!("no agents have worked on {} yet", trees.main_repo()),
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ShowCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        let line = of(&past, &self.job)?;
        if self.json {
            return json_line(streams, &json!(line))
                .map(|()| ExitCode::SUCCESS)
                .map_err(write_error);
        }
        let mut text = format!("{}\n", job_summary(line, None));
        if let Some(place) = &line.place {
            text.push_str(&format!("{}  {}\n", place.branch, place.root));
            let authored = trees.authored(place)?;
            text.push_str(&changes(&lock_of(&authored)));
            let review = review_changes(&trees, &[line])?.review;
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
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Every change with its author.
fn changes(authored: &ChangeHistory) -> String {
    let mut text = String::new();
    for change in authored.changes() {
        let what = match (&change.before, &change.after) {
            (None, _) => "made",
            (_, None) => "removed",
            _ => "changed",
        };
        let call = change.author.agent_call().map_or(String::new(), |doing| {
            format!(", {} {}", doing.tool, doing.call)
        });
        text.push_str(&format!(
            "{:>5}  {what:<8} {}  by {}{call}\n",
            change.id.0, change.path, change.author
        ));
    }
    text
}

impl RestoreCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        let line = of(&past, &self.job)?;
        let authored = trees.authored(place_of(line)?)?;
        let done = lock_of(&authored).restore(&line.sessions(), self.turn);
        report_undone(done, streams)
    }
}

impl UndoCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
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
        report_undone(done, streams)
    }

    fn selection(&self, line: &JobStatus) -> UndoSelection {
        if let Some(operation) = self.operation {
            return UndoSelection::of_operation(operation);
        }
        let changes: Vec<ChangeId> = self.change.iter().copied().map(ChangeId).collect();
        // Changes that are named by their numbers may be anybody's.
        let is_agents = self.by.is_none() && changes.is_empty();
        UndoSelection {
            sessions: is_agents.then(|| line.sessions()),
            turn: self.turn,
            call: self.call.clone(),
            author: self.by.map(|by| match by {
                AuthorArg::Person => ChangeAuthor::Person,
                AuthorArg::Disk => ChangeAuthor::Disk,
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

impl CompareCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        let group = past.jobs.iter().rev().find_map(|line| line.group.clone());
        let is_wanted = |line: &&JobStatus| {
            if self.jobs.is_empty() {
                line.group.is_some() && line.group == group
            } else {
                self.jobs.contains(&line.job)
            }
        };
        let lines: Vec<&JobStatus> = past.jobs.iter().filter(is_wanted).collect();
        if lines.is_empty() {
            return Err(
                "there is nothing to compare: name jobs, or start some with --best-of".to_owned(),
            );
        }
        let checks = if self.check {
            Some(OwnChecks::read_required(dirs, trees.folder())?)
        } else {
            None
        };
        let looked = review_changes(&trees, &lines)?;
        let mut measured = Vec::new();
        for line in lines {
            let session = looked.sessions.iter().find(|it| it.session == line.job);
            let checks = match (&checks, session) {
                (Some(checks), Some(session)) => {
                    run_checks(trees.main_repo(), session, checks, &RealFiles)?
                }
                _ => Vec::new(),
            };
            measured.push(measure(&looked.review, line, checks));
        }
        let measured = compare(measured);
        let mut text = format_table(&measured);
        for one in &measured {
            for check in one.checks.iter().filter(|check| !check.is_passed) {
                text.push_str(&format!("\n{} does not pass {}", one.job, check.name));
                text.push_str(&format!("\n{}\n", check.detail.trim_end()));
            }
        }
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl HandOverCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        // No other program may work in the worktree meanwhile.
        trees.lock_board()?;
        let to = if self.to_agent {
            HandOverTarget::Agent
        } else {
            HandOverTarget::Person
        };
        let text = trees.hand_over_blocking(place_of(of(&past, &self.job)?)?, to)?;
        writeln!(streams.output, "{text}").map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn report_problems(past: &SavedBoard, streams: &mut Streams<'_>) {
    past.problems
        .iter()
        .for_each(|problem| print_notice(streams, problem));
}

fn report_undone(
    done: Result<UndoResult, UndoError>,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, String> {
    match done {
        Ok(done) => {
            let files = done.paths.join(", ");
            let text = format!(
                "operation {}: {files}\ntake it back with `burin-agent compose undo JOB --operation {}`",
                done.operation, done.operation
            );
            writeln!(streams.output, "{text}").map_err(write_error)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(stuck) => Err(stuck.to_string()),
    }
}
