//! The runs of automations as sessions and jobs of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::SessionCommand;
use agent::session::UserPrompt;
use agent_service::SessionMark;
use agent_service::board::{BoardJob, Command, Event, JobCommand, JobState};
use automation::{
    AutomationHost, AutomationRun, Claim, CommandResult, DailyLimits, Error, GitFacts, RunLink,
    RunState, RunSummary,
};
use base::AbsPath;
use composer::job::{JobSpec, JobStatus};
use composer::service::ComposerHandle;
use futures::StreamExt as _;
use host::Dirs;
use runtime::agent_services::AgentServices;
use runtime::automations;
use runtime::live_sessions::LiveSessions;
use tokio::runtime::Handle;

use super::{Reports, lock};
use crate::engines::boards::Boards;

/// Time for a session or a job to begin.
const BEGIN_TIME: Duration = Duration::from_secs(30);
/// Pause between two looks whether a session has begun.
const BEGIN_PAUSE: Duration = Duration::from_millis(20);

/// The engines of this process, for the scheduler. Its methods block and must not be called by a task
/// of the runtime.
pub(super) struct EngineHost {
    pub(super) dirs: Dirs,
    pub(super) runtime: Handle,
    pub(super) services: Arc<AgentServices>,
    pub(super) sessions: LiveSessions,
    pub(super) boards: Boards,
    pub(super) reports: Reports,
    /// The results of commands, by automation; `None` while a command runs.
    pub(super) results: Results,
}

/// The results of commands by automation.
pub(super) type Results = Arc<Mutex<HashMap<String, Option<Result<CommandResult, Error>>>>>;

impl EngineHost {
    /// Starts a run in the project's own folder.
    async fn start_session(&self, run: &AutomationRun, claim: Claim<'_>) -> Result<(), Error> {
        let role = automations::role(&self.dirs, run).map_err(not_started)?;
        let text = role.task_prompt(&run.prompt);
        let services = self.services.clone();
        let started = services.start_run(run.clone(), role).await;
        let started = started.map_err(not_started)?;
        let id = started.opened.id.to_string();
        let link = RunLink {
            session: Some(id.clone()),
            job: None,
        };
        if !claim(&link)? {
            return Ok(());
        }
        let folder = run.root.clone();
        let attachment = self.sessions.adopt(started.opened, folder, started.root);
        let named = self.services.name_run(&id, &run.automation.name).await;
        let prompt = UserPrompt {
            text,
            images: Vec::new(),
        };
        attachment.handle.send(SessionCommand::Prompt(prompt));
        // The session goes on without a view.
        drop(attachment);
        named.map_err(not_started)?;
        let begins = async {
            while !self.services.has_begun(&id) {
                tokio::time::sleep(BEGIN_PAUSE).await;
            }
        };
        let begun = tokio::time::timeout(BEGIN_TIME, begins).await;
        begun.map_err(|_| Error::NotStarted("its session did not begin".to_owned()))
    }

    /// Starts a run in its own worktree.
    async fn start_job(&self, run: &AutomationRun, claim: Claim<'_>) -> Result<(), Error> {
        let composer = self.board(&run.root).await?;
        let name = job_name(run.occurrence);
        let link = RunLink {
            session: None,
            job: Some(name.clone()),
        };
        if !claim(&link)? {
            return Ok(());
        }
        let automation = &run.automation;
        let model = automation.model.clone();
        let model = model.unwrap_or_else(|| self.services.settings_model().to_owned());
        composer.send(Command::Job(JobCommand::Add(vec![JobSpec {
            name: name.clone(),
            title: automation.name.clone(),
            prompt: run.prompt.clone(),
            role: automation.role.clone(),
            model,
            effort: automation.effort,
            limits: automations::job_limits(&run.budget),
            ..JobSpec::default()
        }])));
        let added = board_job(&composer, &name).await;
        added
            .map(drop)
            .ok_or_else(|| not_started("the board did not start it"))
    }

    async fn board(&self, root: &AbsPath) -> Result<ComposerHandle, Error> {
        let (services, root) = (self.services.clone(), root.clone());
        let board = self.boards.with(services, root, Ok).await;
        board.map_err(not_started)
    }

    /// Returns the state of a job; running while another process has its board.
    async fn job_state(&self, root: &AbsPath, run: &RunSummary, name: &str) -> RunState {
        let Ok(composer) = self.board(root).await else {
            return RunState::Running;
        };
        let Some(job) = board_job(&composer, name).await else {
            return RunState::Ended {
                failure: Some("its agent is not on the board".to_owned()),
                cost_nano: Some(0),
            };
        };
        let state = of_job(&job.status);
        if let (RunState::Ended { .. }, Some(session)) = (&state, &job.status.session) {
            self.offer_for_review(session, &run.name).await;
        }
        state
    }

    /// Names the session of a job that ended, and marks it as unread.
    async fn offer_for_review(&self, session: &str, name: &str) {
        let named = self.services.name_run(session, name).await;
        let marked = self
            .services
            .mark_session(session, &SessionMark::Unread)
            .await;
        if let Err(error) = named.and(marked) {
            log::warn!("the session {session} of an automation: {error}");
        }
    }
}

impl AutomationHost for EngineHost {
    fn start(&self, run: &AutomationRun, claim: Claim<'_>) -> Result<(), Error> {
        self.runtime.block_on(async {
            if run.automation.has_lease {
                self.start_job(run, claim).await
            } else {
                self.start_session(run, claim).await
            }
        })
    }

    fn run_state(&self, root: &AbsPath, run: &RunSummary) -> RunState {
        match (&run.link.session, &run.link.job) {
            (Some(session), _) => self.services.run_state(session).unwrap_or_else(|error| {
                log::warn!("the session {session} of an automation: {error}");
                RunState::Running
            }),
            (None, Some(job)) => self.runtime.block_on(self.job_state(root, run, job)),
            (None, None) => RunState::Ended {
                failure: Some("its session is unknown".to_owned()),
                cost_nano: Some(0),
            },
        }
    }

    fn git_facts(&self, root: &AbsPath, branch: Option<&str>) -> Option<GitFacts> {
        automations::git_facts(root, branch)
    }

    fn begin_command(&self, id: &str, root: &AbsPath, command: Option<&str>) {
        lock(&self.results).insert(id.to_owned(), None);
        let (dirs, root) = (self.dirs.clone(), root.clone());
        let command = command.map(str::to_owned);
        let (id, results) = (id.to_owned(), self.results.clone());
        self.runtime.spawn_blocking(move || {
            let result = automations::run_command(&dirs, &root, command.as_deref());
            let result = result.map_err(not_started);
            lock(&results).insert(id, Some(result));
        });
    }

    fn take_result(&self, id: &str) -> Option<Result<CommandResult, Error>> {
        lock(&self.results).get_mut(id)?.take()
    }

    fn limits(&self) -> DailyLimits {
        automations::limits(&self.dirs)
    }

    fn report(&self, sentence: String) {
        log::warn!("{sentence}");
        self.reports.send(&sentence);
    }
}

/// Waits until a board has the job of this name, which an opened board reads first. Returns `None` if it
/// does not get it in time.
async fn board_job(composer: &ComposerHandle, name: &str) -> Option<BoardJob> {
    let mut events = composer.events();
    let found = async {
        loop {
            if let Event::Board(board) = events.next().await? {
                let mut jobs = board.jobs.iter();
                if let Some(job) = jobs.find(|job| job.status.task.name == name) {
                    return Some(job.clone());
                }
            }
        }
    };
    let found = tokio::time::timeout(BEGIN_TIME, found).await;
    found.ok().flatten()
}

/// The name of the task that does an occurrence.
fn job_name(occurrence: u64) -> String {
    format!("automation-{occurrence}")
}

fn of_job(status: &JobStatus) -> RunState {
    let ended = |failure| RunState::Ended {
        failure,
        cost_nano: status.cost_nano,
    };
    match &status.state {
        JobState::Done | JobState::Landed { .. } | JobState::Conflict { .. } => ended(None),
        JobState::Failed { why } => ended(Some(why.clone())),
        state if state.is_open() => RunState::Running,
        state => ended(Some(format!("its agent is {}", state.label()))),
    }
}

fn not_started(error: impl std::fmt::Display) -> Error {
    Error::NotStarted(error.to_string())
}
