//! Agents started from the command line.

use std::process::ExitCode;

use base::AbsPath;
use clap::Args;
use composer::board::{Command, JobId, Task};
use composer::roles::USUAL;
use host::{Dirs, RealFiles};

use crate::models::setup::DEMO;
use crate::workshop::is_sample;
use crate::{Streams, tell};

use super::follow::{How, Orders};
use super::own_roles;
use super::parts::{share, title};
use super::past::of;

#[derive(Args)]
pub(super) struct Start {
    #[command(flatten)]
    how: How,
    /// How many agents to run; one for each task without it; several share a single task
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
    /// The role of the agents: builder, planner, debugger, reviewer, or one of your roles.json
    #[arg(long, default_value = USUAL)]
    role: String,
    /// Continue these agents, which were interrupted, failed or stopped
    #[arg(long, value_name = "JOB")]
    go_on: Vec<JobId>,
    /// The tasks, each in quotes
    tasks: Vec<String>,
}

#[derive(Args)]
pub(super) struct Fork {
    #[command(flatten)]
    how: How,
    /// The agent to start from, such as a1
    job: JobId,
    /// The prompt for the new agent, in quotes
    prompt: String,
}

impl Start {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        if self.tasks.is_empty() && self.go_on.is_empty() {
            return Err("there is no task: write each in quotes behind the options".to_owned());
        }
        own_roles(dirs).0.named(&self.role)?;
        let model = self.model.as_deref();
        self.how.run(dirs, streams, model, |model, streams| {
            Ok(Orders {
                hub: self.hub(model, dirs, streams)?,
                commands: self.commands(model),
                mine: self.go_on.clone(),
            })
        })
    }

    /// The checkout that is worked on. The demo model gets a repository of its own with the sample project, unless the
    /// folder is one.
    fn hub(&self, model: &str, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<AbsPath, String> {
        let root = self.how.place.root.as_deref();
        let folder = crate::folder(root, &RealFiles)?;
        if model != DEMO || is_sample(&folder) || root.is_some() {
            if is_sample(&folder) && git::Repository::discover(&folder).is_err() {
                begin_repository(&folder)?;
            }
            return Ok(folder);
        }
        let sample = crate::run::sample(&RealFiles, dirs)?;
        begin_repository(&sample)?;
        tell(
            streams,
            &format!("the demo model works on a sample project in {sample}"),
        );
        Ok(sample)
    }

    fn commands(&self, model: &str) -> Vec<Command> {
        let task = |prompt: &str| Task {
            name: String::new(),
            title: title(prompt),
            prompt: prompt.to_owned(),
            role: self.role.clone(),
            model: model.to_owned(),
            needs: Vec::new(),
        };
        let mut commands: Vec<Command> = self.go_on.iter().cloned().map(Command::GoOn).collect();
        match self.tasks.as_slice() {
            [] => {}
            [only] if self.best_of => {
                commands.push(Command::AddBestOf(task(only), self.agents.max(2)));
            }
            [only] => {
                let count = self.agents.max(1);
                let shares = (1..=count).map(|number| Task {
                    prompt: share(only, number, count),
                    ..task(only)
                });
                commands.push(Command::Add(shares.collect()));
            }
            many if self.best_of => {
                let count = self.agents.max(2);
                commands.extend(many.iter().map(|it| Command::AddBestOf(task(it), count)));
            }
            many => {
                let tasks = many.iter().enumerate().map(|(ix, prompt)| Task {
                    name: format!("task-{ix}"),
                    needs: match (self.in_order, ix) {
                        (true, 1..) => vec![format!("task-{}", ix - 1)],
                        _ => Vec::new(),
                    },
                    ..task(prompt)
                });
                commands.push(Command::Add(tasks.collect()));
                if self.agents > 0 && self.agents < many.len() {
                    commands.insert(0, Command::SetRoom(self.agents));
                }
            }
        }
        commands
    }
}

impl Fork {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        // The fork has the model of the one it goes on from.
        let (hub, model) = {
            let (trees, past) = self.how.place.look(dirs)?;
            (
                trees.hub().clone(),
                of(&past, &self.job)?.task.model.clone(),
            )
        };
        self.how.run(dirs, streams, Some(&model), |_, _| {
            let fork = Command::Fork {
                job: self.job.clone(),
                prompt: self.prompt.clone(),
            };
            Ok(Orders {
                hub,
                commands: vec![fork],
                mine: Vec::new(),
            })
        })
    }
}

pub(super) fn begin_repository(folder: &AbsPath) -> Result<(), String> {
    git::begin(folder, "The sample project").map_err(|error| error.to_string())
}
