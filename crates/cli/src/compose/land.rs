//! The commands `compose forecast` and `compose land`.

mod resolutions;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use composer::board::{BoardHandle, JobId, JobStatus, SavedBoard};
use composer::forecast::{ChangeGatherer, ChangedTrees, Forecaster as Forecasts};
use composer::land::UnsavedBuffers;
use git::merge::TreePath;
use host::{Clock, Dirs, RealClock, RealFiles};
use runtime::compose::checks::OwnChecks;
use runtime::compose::history::{of, place_of};
use runtime::compose::land::{MergeResult, MergeService, repository, work_of};
use runtime::compose::review::{is_reviewable, review_changes};
use runtime::compose::selection::{accepted, fill, loads};
use runtime::compose::{JobWorktrees, open_board_store};
use serde_json::json;

use crate::run::show::print_json_line as json_line;
use crate::{Streams, print_notice, write_error};

use super::RepositoryArg;
use super::review::there;

#[derive(Args)]
pub(super) struct ForecastCommand {
    #[command(flatten)]
    place: RepositoryArg,
    /// Print an object as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct LandCommand {
    #[command(flatten)]
    place: RepositoryArg,
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
    /// Resolve a file in conflict: with the branch's version, the agent's version, or a file of
    /// yours; the landing continues after the last one
    #[arg(long, value_name = "JOB:PATH=branch|agent|FILE", conflicts_with_all = ["jobs", "undo"])]
    settle: Vec<String>,
    /// Abandon a landing with a conflict; the work stays in its worktree
    #[arg(long, value_name = "JOB", conflicts_with_all = ["jobs", "undo", "settle"])]
    give_up: Vec<JobId>,
}

impl ForecastCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        let mut works = Vec::new();
        let open = past.jobs.iter().filter(|line| is_reviewable(line));
        for line in there(&trees, open.collect(), streams) {
            works.push(work_of(&trees, line, place_of(line)?)?);
        }
        let repository = repository(trees.main_repo())?;
        let memory = trees.folder().join("forecast");
        let gather = ChangeGatherer::new(trees.main_repo(), &memory, Arc::new(RealFiles));
        let mut gather = gather.map_err(|error| error.to_string())?;
        let gathered = gather.read(
            &repository,
            &works,
            &UnsavedBuffers::new(),
            &ChangedTrees::All,
        );
        let gathered = gathered.map_err(|error| error.to_string())?;
        gathered
            .unread
            .values()
            .for_each(|why| print_notice(streams, why));
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
                "near": report.overlaps.iter().map(|it| &it.for_person).collect::<Vec<_>>(),
                "order": order.collect::<Vec<_>>(),
            });
            json_line(streams, &value).map_err(write_error)?;
            return Ok(ExitCode::SUCCESS);
        }
        let told = report.conflicts.iter().map(|it| &it.for_person);
        let told = told.chain(report.overlaps.iter().map(|it| &it.for_person));
        for sentence in told {
            writeln!(streams.output, "{sentence}").map_err(write_error)?;
        }
        for step in &report.order {
            let title = works.iter().find(|work| work.session == step.session);
            let title = title.map_or(step.session.as_str(), |work| work.title.as_str());
            let how = match step.conflicts.len() {
                0 => "would land".to_owned(),
                1 => "would be in conflict in one file".to_owned(),
                count => format!("would be in conflict in {count} files"),
            };
            writeln!(streams.output, "{title}: {how}").map_err(write_error)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl LandCommand {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.load_board(dirs)?;
        if !self.check.is_empty() {
            OwnChecks::save(trees.folder(), &self.check)?;
        }
        let checks = OwnChecks::read(dirs, trees.folder())?;
        let lander = MergeService::open(&trees)?;
        lander
            .notices
            .iter()
            .for_each(|sentence| print_notice(streams, sentence));
        let landed = self.landed(&lander, (&trees, &past), &checks, streams)?;
        let mut code = ExitCode::SUCCESS;
        for one in landed {
            writeln!(streams.output, "{}: {}", one.title, one.text).map_err(write_error)?;
            if !one.is_good {
                code = ExitCode::FAILURE;
            }
            let lines = past.jobs.iter();
            for line in lines.filter(|line| one.jobs.contains(&line.job)) {
                if let Some(settled) = &one.settled {
                    let book = open_board_store(dirs, trees.main_repo())?;
                    BoardHandle::note_outcome(
                        &book,
                        line,
                        settled,
                        RealClock::default().wall_ms(),
                    )?;
                }
            }
        }
        Ok(code)
    }

    fn landed(
        &self,
        lander: &MergeService,
        (trees, past): (&JobWorktrees, &SavedBoard),
        checks: &OwnChecks,
        streams: &mut Streams<'_>,
    ) -> Result<Vec<MergeResult>, String> {
        if let Some(number) = self.undo {
            return Ok(vec![lander.undo(number, &past.jobs)?]);
        }
        if !self.settle.is_empty() {
            return resolutions::all(lander, past, &self.settle, checks);
        }
        if !self.give_up.is_empty() {
            let given_up = self.give_up.iter();
            return given_up.map(|job| lander.abandon(of(past, job)?)).collect();
        }
        let lines = self.selected_jobs(past)?;
        let lines = if self.jobs.is_empty() {
            there(trees, lines, streams)
        } else {
            lines
        };
        let mut review = review_changes(trees, &lines)?.review;
        let was_picked: Vec<&JobId> = lines
            .iter()
            .filter(|line| accepted(&review, line) > 0)
            .map(|line| &line.job)
            .collect();
        fill(&mut review, &lines);
        let loads = loads(&review, &lines, |line| was_picked.contains(&&line.job))?;
        Ok(lander.land_all(loads, self.message.as_deref(), checks))
    }

    fn selected_jobs<'a>(&self, past: &'a SavedBoard) -> Result<Vec<&'a JobStatus>, String> {
        let mut lines = Vec::new();
        for job in &self.jobs {
            lines.push(of(past, job)?);
        }
        if self.jobs.is_empty() {
            let done = past.jobs.iter().filter(|line| line.state.is_done());
            lines.extend(done.filter(|line| is_reviewable(line)));
        }
        if lines.is_empty() {
            Err("no agent is done whose work has not landed".to_owned())
        } else {
            Ok(lines)
        }
    }
}
