//! Starts the sessions of a board's jobs: each in its worktree, its tools watched. An external agent
//! is started by `hosted_jobs`.

use std::sync::Arc;
use std::time::Duration;

use agent::Stored;
use agent::budget::BudgetLimits;
use agent::engine::{self, SessionOptions};
use agent::hooks::{HookRunner, ProcessHookRunner};
use agent::record::SessionRecord;
use agent::sandbox::CommandSandbox;
use composer::Error;
use composer::board::{SessionStartRequest, SessionStarter, StartedSession};
use composer::job::{JobSpec, JobWorktree};
use composer::roles::RoleSet;
use composer::worktrees::JobWorktrees;
use futures::future::BoxFuture;
use host::Dirs;
use model::{Cost, TokenCount};

use crate::mcp_pool::ServerWait;
use crate::sandbox_policy::{self, SessionRoot};
use crate::sandboxed_hooks::SandboxedHooks;
use crate::session_factory::{SessionFactory, SessionSpec};
use crate::trust;

use super::hosted_sessions::HostedSessions;
use super::service::SessionStartOptions;

/// Starts the sessions of a board's jobs. Clones share its parts.
#[derive(Clone)]
pub(super) struct JobSessionStarter {
    pub(super) factory: Arc<SessionFactory>,
    pub(super) worktrees: JobWorktrees,
    pub(super) roles: Arc<RoleSet>,
    pub(super) options: SessionStartOptions,
    pub(super) hosted: HostedSessions,
}

impl JobSessionStarter {
    /// The options of a session, and problems that the user should know of.
    async fn session_options(
        &self,
        request: &SessionStartRequest,
    ) -> Result<(SessionOptions, Vec<String>), Error> {
        let role = self.roles.named(&request.task.role)?;
        let spec = SessionSpec {
            root: request.worktree.root()?,
            model: request.task.model.clone(),
            mode: role.mode,
            allows_asked: self.options.allows_asked,
            has_user: self.options.has_user,
            budget: self.limits(&request.task),
            effort: request.task.effort.or(role.effort),
            hooks: None,
            confinement: self.options.confinement.clone(),
            session_root: Some(self.session_root(&request.worktree)?),
            servers: Vec::new(),
            waiting: ServerWait::with_notifier(|text| log::warn!("{text}")),
        };
        let (mut options, mut notices) = self.factory.start(spec).await;
        options.call_judge = role.restrict(options.call_judge);
        let dirs = self.factory.dirs().clone();
        let (main_repo, sandbox) = (self.worktrees.main_repo().clone(), options.sandbox.clone());
        // The main checkout decides which hooks exist, because the agent can write the worktree.
        let hooks = blocking(move || {
            let runner = hook_runner(sandbox, &dirs);
            Ok(trust::hooks_in(
                &dirs,
                &main_repo,
                "let them run in the panel",
                runner,
            ))
        });
        let (hooks, problems) = hooks.await?;
        let main_repo = self.worktrees.main_repo();
        options.hooks = hooks.map(|hooks| self.factory.observed(&hooks, main_repo));
        notices.extend(problems);
        Ok((options, notices))
    }

    /// The limits of a job's session: the smaller of the board's and its own cost, and its own others.
    fn limits(&self, task: &JobSpec) -> BudgetLimits {
        let own = task.limits;
        let costs = [self.options.budget, own.cost_nano.map(Cost)];
        BudgetLimits {
            cost: costs.into_iter().flatten().min(),
            tokens: own.tokens.map(TokenCount),
            time: own.seconds.map(Duration::from_secs),
        }
    }

    /// The root of a session in a worktree, with the paths that its sandbox needs.
    pub(super) fn session_root(&self, worktree: &JobWorktree) -> Result<SessionRoot, Error> {
        let access = self.worktrees.access(worktree)?;
        Ok(SessionRoot {
            root: access.root,
            project: self.worktrees.main_repo().clone(),
            git_dir: Some(access.git_dir),
            readable: access.readable,
            variables: access.variables,
        })
    }
}

/// Runs `act` on a thread where it may block. Returns its result, or an error if it panicked.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|error| Err(Error::Aborted(error.to_string())))
}

/// The sentence of an error of the session's engine.
pub(super) fn session_error(error: impl std::fmt::Display) -> Error {
    Error::Session(error.to_string())
}

/// An agent's hooks run in its sandbox, because the agent may have written the scripts they call.
fn hook_runner(sandbox: Option<Arc<dyn CommandSandbox>>, dirs: &Dirs) -> Arc<dyn HookRunner> {
    match sandbox {
        Some(sandbox) => {
            let variables = sandbox_policy::command_variables(dirs);
            Arc::new(SandboxedHooks::new(sandbox, variables))
        }
        None => Arc::new(ProcessHookRunner),
    }
}

impl SessionStarter for JobSessionStarter {
    fn start(
        &self,
        request: SessionStartRequest,
    ) -> BoxFuture<'static, Result<StartedSession, Error>> {
        let this = self.clone();
        Box::pin(async move {
            if let Some(agent) = &request.task.agent {
                return this.start_hosted(&request, agent, None).await;
            }
            let gate = this.worktrees.watch(&request.worktree).await?;
            let (options, notices) = this.session_options(&request).await?;
            Ok(StartedSession {
                opened: engine::start(options),
                gate,
                is_prompted: false,
                notices,
            })
        })
    }

    fn resume(
        &self,
        request: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<StartedSession, Error>> {
        let this = self.clone();
        Box::pin(async move {
            if let Some(agent) = &request.task.agent {
                return this.start_hosted(&request, agent, Some(&session)).await;
            }
            let gate = this.worktrees.watch(&request.worktree).await?;
            let (options, mut notices) = this.session_options(&request).await?;
            let store = this.factory.store().clone();
            let id = session.clone();
            let stored = blocking(move || store.find(&id).map_err(session_error)).await?;
            let is_prompt = |it: &Stored| matches!(it.record, SessionRecord::Prompted { .. });
            let is_prompted = stored
                .as_ref()
                .is_some_and(|it| it.records.iter().any(is_prompt));
            let mut opened = match stored {
                Some(_) => engine::resume(options, &session)
                    .await
                    .map_err(session_error)?,
                None => engine::start(options),
            };
            notices.append(&mut opened.problems);
            Ok(StartedSession {
                opened,
                gate,
                is_prompted,
                notices,
            })
        })
    }

    fn fork(
        &self,
        request: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<String, Error>> {
        let this = self.clone();
        Box::pin(async move {
            if request.task.agent.is_some() {
                return Err(Error::Session(
                    "an external agent keeps its own conversation, which cannot be forked: start another agent"
                        .to_owned(),
                ));
            }
            let (options, _) = this.session_options(&request).await?;
            let store = this.factory.store().clone();
            let id = session.clone();
            let stored = blocking(move || store.read(&id).map_err(session_error)).await?;
            let last = stored.next_seq.saturating_sub(1);
            let forked = engine::fork(&options.harness, &session, last).await;
            forked.map_err(session_error)
        })
    }

    fn records(&self, session: &str) -> Result<Vec<Stored>, Error> {
        let store = self.factory.store();
        // A view that was just attached gets no events of records that are on their way to the disk.
        // Another thread writes them, so that waiting here blocks nothing that they need.
        futures::executor::block_on(store.flush()).map_err(session_error)?;
        let stored = store.read(session).map_err(session_error)?;
        Ok(stored.records)
    }

    fn prompt_for(&self, task: &JobSpec) -> String {
        if task.agent.is_some() {
            // The instructions of roles are about our own tools.
            return task.prompt.clone();
        }
        match self.roles.named(&task.role) {
            Ok(role) => role.task_prompt(&task.prompt),
            Err(_) => task.prompt.clone(),
        }
    }
}
