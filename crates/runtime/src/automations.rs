//! Automations with the program's sessions, repositories, commands and settings.
//!
//! Start at `entries` for views; `AgentServices::start_run` starts the session of a run.

use std::sync::Arc;

use agent::budget::BudgetLimits;
use agent::engine;
use agent::record::TurnEnd;
use agent::store::{SessionMark, SessionState};
use automation::{
    AutomationEntry, AutomationRun, CommandResult, CommitFact, ConsentStore, DailyLimits, GitFacts,
    RunBudget, RunState,
};
use base::AbsPath;
use composer::change_history::TreeWatchers;
use composer::job::JobLimits;
use composer::land::Check;
use composer::roles::JobRole;
use git::BranchTip;
use host::{Clock as _, Dirs, Files as _, RealClock, RealFiles};
use ledger::Ledger;
use model::{Cost, TokenCount};
use settings::SettingsSource;

use crate::agent_services::{AgentServices, AttachedSession};
use crate::compose::checks::{CheckCommands, CheckedTree};
use crate::compose::service::{load_roles, open_worktrees};
use crate::mcp_pool::ServerWait;
use crate::sandbox_policy::Confinement;
use crate::session_factory::SessionSpec;
use crate::{Error, sample_project, trust, usage_store};

/// The largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// Billionths in a US dollar.
const NANO: f64 = 1e9;

/// Returns the list of the automations that the user turned on.
pub fn consents(dirs: &Dirs) -> ConsentStore {
    ConsentStore::new(&dirs.state)
}

/// Opens the ledger with the occurrences. Blocks on the disk.
pub fn open_ledger(dirs: &Dirs) -> Result<Ledger, Error> {
    dirs.create()?;
    let now_ms = RealClock::default().wall_ms();
    Ok(Ledger::open(&usage_store::ledger_path(dirs), now_ms)?.ledger)
}

/// Lists the automations of a folder with their occurrences. Blocks on the disk.
pub fn entries(dirs: &Dirs, root: &AbsPath, now_ms: u64) -> Result<Vec<AutomationEntry>, Error> {
    let ledger = open_ledger(dirs)?;
    let listed = AutomationEntry::list(&RealFiles, &consents(dirs), ledger, root, now_ms);
    listed.map_err(Error::automation)
}

/// Returns the limits of costs in the user's settings; a project cannot raise them. Blocks on the
/// disk.
pub fn limits(dirs: &Dirs) -> DailyLimits {
    let path = dirs.config.join("settings.json");
    let text = RealFiles.read(&path, MAX_SETTINGS_BYTES).ok();
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.unwrap_or_default();
    let (settings, _) = settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
    let nano = |dollars: f32| (dollars > 0.0).then_some((f64::from(dollars) * NANO) as u64);
    DailyLimits {
        day_nano: nano(settings.agents.automation_budget_day),
        run_nano: nano(settings.agents.automation_budget_run),
    }
}

/// Reads the checked-out branch of a project, and the remotes' branches of this name. Blocks on the
/// disk.
pub fn git_facts(root: &AbsPath, branch: Option<&str>) -> Option<GitFacts> {
    let repository = git::Repository::discover(root).ok()?;
    let head = repository.head_tip().ok()?;
    let tips = branch.and_then(|branch| repository.remote_tips(branch).ok());
    let remotes = tips.into_iter().flatten();
    Some(GitFacts {
        branch: head.as_ref().and_then(|tip| tip.branch.clone()),
        head: head.map(commit_fact),
        remotes: remotes
            .map(|tip| (tip.branch.clone().unwrap_or_default(), commit_fact(tip)))
            .collect(),
    })
}

fn commit_fact(tip: BranchTip) -> CommitFact {
    CommitFact {
        id: tip.commit.id,
        at_ms: u64::try_from(tip.committed_seconds).unwrap_or_default() * 1000,
        message: tip.commit.message,
        author: tip.commit.author,
    }
}

/// Runs a command in the sandbox of a project's agents, or the checks that the user configured for its
/// landings. Returns the first one that fails. Blocks until they end, half an hour each at most.
pub fn run_command(
    dirs: &Dirs,
    root: &AbsPath,
    command: Option<&str>,
) -> Result<CommandResult, Error> {
    let tree = CheckedTree {
        dirs,
        project: root,
        folder: root,
    };
    if let Some(command) = command {
        let (check, _) = tree.run_command(command).map_err(Error::automation)?;
        let mut result = CommandResult::default();
        note_failure(&mut result, check);
        return Ok(result);
    }
    let worktrees = open_worktrees(dirs, root, TreeWatchers::default());
    let worktrees = worktrees.map_err(Error::automation)?;
    let checks = CheckCommands::new(dirs, &worktrees).commands();
    let checks = checks.map_err(Error::automation)?;
    if checks.is_empty() {
        let why = "the project has no checks: set some with `burin-agent compose land --check`";
        return Err(Error::Unknown(why.to_owned()));
    }
    let mut result = CommandResult::default();
    for check in checks {
        let (check, _) = tree.run(&check).map_err(Error::automation)?;
        note_failure(&mut result, check);
        if !result.failed.is_empty() {
            break;
        }
    }
    Ok(result)
}

fn note_failure(result: &mut CommandResult, check: Check) {
    if !check.is_passed {
        result.failed.push(check.name);
        result.output = check.detail;
    }
}

/// Finds the role of a run. Blocks on the disk.
pub fn role(dirs: &Dirs, run: &AutomationRun) -> Result<JobRole, Error> {
    let (roles, _) = load_roles(dirs);
    let role = roles.named(&run.automation.role);
    role.cloned().map_err(Error::automation)
}

/// The limits of a run, for a job.
pub fn job_limits(budget: &RunBudget) -> JobLimits {
    JobLimits {
        cost_nano: budget.cost_nano,
        tokens: budget.tokens,
        seconds: budget.time.map(|time| time.as_secs()),
    }
}

impl AgentServices {
    /// Starts the session of a run in the project's own folder. Nothing is stored before its first
    /// prompt.
    pub async fn start_run(
        self: Arc<Self>,
        run: AutomationRun,
        role: JobRole,
    ) -> Result<AttachedSession, Error> {
        let model = run.automation.model.clone();
        let model = model.unwrap_or_else(|| self.settings_model().to_owned());
        let root = sample_project::session_root(&model, run.root.clone(), self.dirs())?;
        let how = "let them run in the panel";
        let (hooks, mut notices) = trust::hooks_of(self.dirs(), &root, how);
        let spec = SessionSpec {
            root: root.clone(),
            model,
            mode: role.mode,
            allows_asked: false,
            has_user: true,
            budget: BudgetLimits {
                cost: run.budget.cost_nano.map(Cost),
                tokens: run.budget.tokens.map(TokenCount),
                time: run.budget.time,
            },
            effort: run.automation.effort.or(role.effort),
            hooks,
            confinement: Confinement::default(),
            session_root: None,
            servers: Vec::new(),
            waiting: ServerWait::default(),
        };
        let (mut options, more) = self.factory().start(spec).await;
        notices.extend(more);
        options.call_judge = role.restrict(options.call_judge);
        Ok(AttachedSession {
            opened: engine::start(options),
            root,
            notices,
        })
    }

    /// Gives the session of a run the name of its automation.
    pub async fn name_run(&self, session: &str, name: &str) -> Result<(), Error> {
        let title = name.to_owned();
        self.append_mark(session, &SessionMark::Renamed { title })
            .await
    }

    /// Returns whether a session has records. Blocks on the disk.
    pub fn has_begun(&self, session: &str) -> bool {
        let read = self.factory().store().summary(session);
        read.is_ok_and(|summary| summary.is_some_and(|it| it.state != SessionState::New))
    }

    /// Returns the state of a run by its session. Blocks on the disk.
    pub fn run_state(&self, session: &str) -> Result<RunState, Error> {
        let summary = self.factory().store().summary(session);
        let summary = summary.map_err(Error::session)?;
        let Some(summary) = summary.map(|it| self.with_owner(it)) else {
            return Ok(RunState::Ended {
                failure: Some("its session did not begin, or was deleted".to_owned()),
                cost_nano: Some(0),
            });
        };
        let failure = match &summary.state {
            SessionState::New | SessionState::Open => return Ok(RunState::Running),
            SessionState::Ended(TurnEnd::Done) => None,
            SessionState::Ended(end) => Some(end.to_string()),
        };
        Ok(RunState::Ended {
            failure,
            cost_nano: (!summary.has_unknown_cost).then_some(summary.cost_nano),
        })
    }
}
