//! Agents started from the command line.

use std::process::ExitCode;

use base::AbsPath;
use clap::Args;
use composer::JobCommand;
use composer::job::{JobId, JobSpec};
use composer::roles::DEFAULT_ROLE;
use composer::tasks::{share, title};
use host::{Dirs, RealFiles};

use crate::{Streams, error_text, print_notice};
use runtime::models::setup::DEMO;
use runtime::sample_project::{self, is_sample};

use super::follow::{BoardOptions, BoardRun};
use super::history::job;
use runtime::compose::service::load_roles;

#[derive(Args)]
pub(super) struct StartCommand {
    #[command(flatten)]
    options: BoardOptions,
    /// Number of agents to run; one for each task without it; several share a single task
    #[arg(long, value_name = "N", default_value_t = 0)]
    agents: usize,
    /// Give the whole task to each of them, to choose from the results
    #[arg(long)]
    best_of: bool,
    /// Do the tasks one after the other, each going on from the one before
    #[arg(long, conflicts_with = "best_of")]
    in_order: bool,
    /// `auto`, `demo`, or a model written provider/model; the settings' models.default without it
    #[arg(long)]
    model: Option<String>,
    /// Give the tasks to this external agent: an id of `burin-agent agents`, or the path of a
    /// program that speaks ACP. It chooses its own model
    #[arg(long, value_name = "AGENT", conflicts_with = "model")]
    agent: Option<String>,
    /// The role of the agents: builder, planner, advisor, debugger, reviewer, or one of your
    /// roles.json
    #[arg(long, default_value = DEFAULT_ROLE)]
    role: String,
    /// Continue these agents, which were interrupted, failed or stopped
    #[arg(long, value_name = "JOB")]
    go_on: Vec<JobId>,
    /// The tasks, each in quotes
    tasks: Vec<String>,
}

#[derive(Args)]
pub(super) struct ForkCommand {
    #[command(flatten)]
    options: BoardOptions,
    /// The agent to start from, such as a1
    job: JobId,
    /// The prompt for the new agent, in quotes
    prompt: String,
}

impl StartCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        if self.tasks.is_empty() && self.go_on.is_empty() {
            return Err("there is no task: write each in quotes after the options".to_owned());
        }
        load_roles(dirs).0.named(&self.role).map_err(error_text)?;
        let model = self.model.as_deref();
        self.options.run(dirs, streams, model, |model, streams| {
            Ok(BoardRun {
                main_repo: self.resolve_main_repo(model, dirs, streams)?,
                commands: self.commands(model),
                awaited_jobs: self.go_on.clone(),
            })
        })
    }

    /// The checkout of the agents' repository. The demo model gets a repository of its own with the
    /// sample project, unless the folder is one.
    fn resolve_main_repo(
        &self,
        model: &str,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<AbsPath, String> {
        let root = self.options.repository.root.as_deref();
        let folder = crate::folder(root, &RealFiles)?;
        let is_hosted = self.agent.is_some();
        if is_hosted || model != DEMO || is_sample(&folder) || root.is_some() {
            if is_sample(&folder) && git::Repository::discover(&folder).is_err() {
                sample_project::create_repository(&folder).map_err(error_text)?;
            }
            return Ok(folder);
        }
        let sample = sample_project::create(&RealFiles, dirs).map_err(error_text)?;
        sample_project::create_repository(&sample).map_err(error_text)?;
        print_notice(
            streams,
            &format!("the demo model works on a sample project in {sample}"),
        );
        Ok(sample)
    }

    fn commands(&self, model: &str) -> Vec<JobCommand> {
        let task = |prompt: &str| JobSpec {
            title: title(prompt),
            prompt: prompt.to_owned(),
            role: self.role.clone(),
            model: model.to_owned(),
            agent: self.agent.clone(),
            ..JobSpec::default()
        };
        let mut commands: Vec<JobCommand> =
            self.go_on.iter().cloned().map(JobCommand::Resume).collect();
        match self.tasks.as_slice() {
            [] => {}
            [only] if self.best_of => {
                commands.push(JobCommand::AddBestOf(task(only), self.agents.max(2)));
            }
            [only] => {
                let count = self.agents.max(1);
                let shares = (1..=count).map(|number| JobSpec {
                    prompt: share(only, number, count),
                    ..task(only)
                });
                commands.push(JobCommand::Add(shares.collect()));
            }
            many if self.best_of => {
                let count = self.agents.max(2);
                commands.extend(many.iter().map(|it| JobCommand::AddBestOf(task(it), count)));
            }
            many => {
                let tasks = many.iter().enumerate().map(|(ix, prompt)| JobSpec {
                    name: format!("task-{ix}"),
                    needs: match (self.in_order, ix) {
                        (true, 1..) => vec![format!("task-{}", ix - 1)],
                        _ => Vec::new(),
                    },
                    ..task(prompt)
                });
                commands.push(JobCommand::Add(tasks.collect()));
                if self.agents > 0 && self.agents < many.len() {
                    commands.insert(0, JobCommand::SetMaxParallel(self.agents));
                }
            }
        }
        commands
    }
}

impl ForkCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        // A fork uses the model of its source.
        let (main_repo, model) = {
            let (worktrees, saved) = self.options.repository.load_board(dirs)?;
            let job = job(&saved, &self.job)?;
            (worktrees.main_repo().clone(), job.task.model.clone())
        };
        self.options.run(dirs, streams, Some(&model), |_, _| {
            let fork = JobCommand::Fork {
                job: self.job.clone(),
                prompt: self.prompt.clone(),
            };
            Ok(BoardRun {
                main_repo,
                commands: vec![fork],
                awaited_jobs: Vec::new(),
            })
        })
    }
}
