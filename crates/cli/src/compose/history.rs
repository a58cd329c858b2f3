//! Commands on a board's finished work: list, show, restore, undo, compare and hand over.

use std::process::ExitCode;

use base::count_of;
use clap::{Args, ValueEnum};
use composer::Error;
use composer::board::SavedBoard;
use composer::change_history::{ChangeAuthor, ChangeHistory, ChangeId};
use composer::checkpoint::{UndoResult, UndoSelection};
use composer::compare::{compare, format_table, measure, run_checks};
use composer::job::{HandOverTarget, JobStatus};
use composer::job_review::JobReview;
use composer::land::{CheckSource as _, NewErrors};
use composer::worktrees::lock_of;
use host::{Dirs, RealFiles};
use serde_json::json;

use crate::run::show::print_json_line as json_line;
use crate::{Streams, error_text, print_notice, write_error};

use super::RepositoryArg;
use super::board_line::{job_details, job_summary};
use runtime::compose::checks::CheckCommands;

#[derive(Args)]
pub(super) struct ListCommand {
    #[command(flatten)]
    repository: RepositoryArg,
    /// Print an object as a line of JSON for each
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct ShowCommand {
    #[command(flatten)]
    repository: RepositoryArg,
    /// Print an object as a line of JSON
    #[arg(long)]
    json: bool,
    /// The agent, such as a1
    job: String,
}

#[derive(Args)]
pub(super) struct RestoreCommand {
    #[command(flatten)]
    repository: RepositoryArg,
    /// The agent, such as a1
    job: String,
    /// Turn whose start is restored, counted from 1
    turn: u64,
}

#[derive(Args)]
pub(super) struct UndoCommand {
    #[command(flatten)]
    repository: RepositoryArg,
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
}

#[derive(Args)]
pub(super) struct CompareCommand {
    #[command(flatten)]
    repository: RepositoryArg,
    /// The agents, such as a1 a2 a3; those of the last --best-of without any
    jobs: Vec<String>,
    /// Run your checks (those of `land --check`) on the work of each agent
    #[arg(long)]
    check: bool,
}

#[derive(Args)]
pub(super) struct HandOverCommand {
    #[command(flatten)]
    repository: RepositoryArg,
    /// Copy from your checkout into its worktree, instead of from its worktree into your checkout
    #[arg(long)]
    to_agent: bool,
    /// The agent, such as a1
    job: String,
}

impl ListCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        report_problems(&saved, streams);
        for job in &saved.jobs {
            if self.json {
                json_line(streams, &json!(job)).map_err(write_error)?
            } else {
                writeln!(streams.output, "{}", job_details(job)).map_err(write_error)?
            }
        }
        if saved.jobs.is_empty() {
            print_notice(
                streams,
                &format!("no agents have worked on {} yet", worktrees.main_repo()),
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ShowCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        let job = job(&saved, &self.job)?;
        if self.json {
            return json_line(streams, &json!(job))
                .map(|()| ExitCode::SUCCESS)
                .map_err(write_error);
        }
        let mut text = format!("{}\n", job_summary(job, None));
        if let Some(worktree) = &job.worktree {
            text.push_str(&format!("{}  {}\n", worktree.branch, worktree.root));
            let history = worktrees.history(worktree).map_err(error_text)?;
            text.push_str(&changes(&lock_of(&history)));
            let review = JobReview::load(&worktrees, &[job])
                .map_err(error_text)?
                .review;
            let size = measure(&review, job, Vec::new());
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
fn changes(history: &ChangeHistory) -> String {
    let mut text = String::new();
    for change in history.changes() {
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
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        let job = job(&saved, &self.job)?;
        let worktree = job.worktree().map_err(error_text)?;
        let history = worktrees.history(worktree).map_err(error_text)?;
        let done = lock_of(&history).restore(&job.sessions(), self.turn);
        report_undone(done, streams)
    }
}

impl UndoCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        let job = job(&saved, &self.job)?;
        let worktree = job.worktree().map_err(error_text)?;
        let history = worktrees.history(worktree).map_err(error_text)?;
        let mut history = lock_of(&history);
        let done = match &self.lines {
            Some(lines) => {
                let (path, rows) = rows(lines)?;
                history.undo_rows(path, rows)
            }
            None => history.undo(&self.selection(job)),
        };
        report_undone(done, streams)
    }

    fn selection(&self, job: &JobStatus) -> UndoSelection {
        if let Some(operation) = self.operation {
            return UndoSelection::of_operation(operation);
        }
        let changes: Vec<ChangeId> = self.change.iter().copied().map(ChangeId).collect();
        // Changes named by their numbers may have any author.
        let is_agents = self.by.is_none() && changes.is_empty();
        UndoSelection {
            sessions: is_agents.then(|| job.sessions()),
            turn: self.turn,
            call: self.call.clone(),
            author: self.by.map(|by| match by {
                // Changes of unknown authors are never selected by their author.
                AuthorArg::Person => ChangeAuthor::Person,
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
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        let group = saved.jobs.iter().rev().find_map(|job| job.group.clone());
        let is_selected = |job: &&JobStatus| {
            if self.jobs.is_empty() {
                job.group.is_some() && job.group == group
            } else {
                self.jobs.contains(&job.job)
            }
        };
        let jobs: Vec<&JobStatus> = saved.jobs.iter().filter(is_selected).collect();
        if jobs.is_empty() {
            return Err(
                "there is nothing to compare: name jobs, or start some with --best-of".to_owned(),
            );
        }
        let checks = if self.check {
            let commands = CheckCommands::new(dirs, &worktrees);
            let checks = commands.load(NewErrors::Refused).map_err(error_text)?;
            if checks.is_empty() {
                return Err(error_text(Error::NoChecks));
            }
            Some(checks)
        } else {
            None
        };
        let loaded = JobReview::load(&worktrees, &jobs).map_err(error_text)?;
        let mut measured = Vec::new();
        for job in jobs {
            let session = loaded.sessions.iter().find(|it| it.session == job.job);
            let checks = match (&checks, session) {
                (Some(checks), Some(session)) => {
                    run_checks(worktrees.main_repo(), session, &**checks, &RealFiles)
                        .map_err(error_text)?
                }
                _ => Vec::new(),
            };
            measured.push(measure(&loaded.review, job, checks));
        }
        let notices = checks.iter().flat_map(|checks| checks.take_notices());
        notices.for_each(|notice| print_notice(streams, &notice));
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
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (worktrees, saved) = self.repository.load_board(dirs)?;
        // No other program may work in the worktree meanwhile.
        worktrees.lock_board().map_err(error_text)?;
        let to = if self.to_agent {
            HandOverTarget::Agent
        } else {
            HandOverTarget::User
        };
        let worktree = job(&saved, &self.job)?.worktree().map_err(error_text)?;
        let text = worktrees
            .hand_over_blocking(worktree, to)
            .map_err(error_text)?;
        writeln!(streams.output, "{text}").map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Finds a job of a board by its id.
pub(super) fn job<'a>(saved: &'a SavedBoard, id: &str) -> Result<&'a JobStatus, String> {
    let job = saved.jobs.iter().find(|job| job.job == id);
    job.ok_or_else(|| {
        format!("there is no job \"{id}\": `burin-agent compose list` lists the existing ones")
    })
}

fn report_problems(saved: &SavedBoard, streams: &mut Streams<'_>) {
    saved
        .problems
        .iter()
        .for_each(|problem| print_notice(streams, problem));
}

/// Prints which files an undo changed and how to take it back; a failed undo becomes a sentence.
fn report_undone(
    done: Result<UndoResult, Error>,
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
        Err(error) => Err(error_text(error)),
    }
}
