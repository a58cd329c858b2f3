//! Sessions for a board: each in its worktree, its tools watched.

use std::sync::Arc;

use agent::Stored;
use agent::engine::{self, SessionOptions};
use agent::hooks::{HookRunner, ProcessHookRunner};
use agent::record::SessionRecord;
use agent::sandbox::CommandSandbox;
use composer::board::{JobSpec, SessionStartRequest, SessionStarter, StartedSession};
use composer::roles::RoleSet;
use futures::future::BoxFuture;
use host::Dirs;

use crate::mcp_pool::ServerWait;
use crate::sandbox_policy;
use crate::sandboxed_hooks::SandboxedHooks;
use crate::session_factory::{SessionFactory, SessionSpec};
use crate::trust;

use super::SessionStartOptions;
use super::job_worktrees::JobWorktrees;

/// Starts the sessions of a board's jobs.
pub(super) struct JobSessionStarter {
    pub(super) factory: Arc<SessionFactory>,
    pub(super) worktrees: JobWorktrees,
    pub(super) roles: Arc<RoleSet>,
    pub(super) options: SessionStartOptions,
}

/// The shared parts that a starting session needs, owned by its future.
#[derive(Clone)]
struct SessionLaunch {
    factory: Arc<SessionFactory>,
    worktrees: JobWorktrees,
    roles: Arc<RoleSet>,
    options: SessionStartOptions,
}

impl JobSessionStarter {
    fn session_launch(&self) -> SessionLaunch {
        SessionLaunch {
            factory: self.factory.clone(),
            worktrees: self.worktrees.clone(),
            roles: self.roles.clone(),
            options: self.options.clone(),
        }
    }
}

impl SessionLaunch {
    /// Returns the session's start parameters, and problems that the user should know of.
    async fn start(
        &self,
        begin: &SessionStartRequest,
    ) -> Result<(SessionOptions, Vec<String>), String> {
        let role = self.roles.named(&begin.task.role)?;
        let wanted = SessionSpec {
            root: begin.place.root()?,
            model: begin.task.model.clone(),
            mode: role.mode,
            allows_asked: self.options.allows_asked,
            has_user: self.options.has_user,
            budget: self.options.budget,
            effort: role.effort,
            hooks: None,
            confinement: self.options.confinement.clone(),
            session_root: Some(self.worktrees.session_root(&begin.place)?),
            servers: Vec::new(),
            waiting: ServerWait::with_notifier(|text| log::warn!("{text}")),
        };
        let (mut start, mut notices) = self.factory.start(wanted).await;
        start.call_judge = role.restrict(start.call_judge);
        let dirs = self.factory.dirs().clone();
        let (hub, sandbox) = (self.worktrees.main_repo().clone(), start.sandbox.clone());
        // The main checkout decides which hooks exist, because the agent can write the worktree.
        let found = tokio::task::spawn_blocking(move || {
            trust::hooks_in(
                &dirs,
                &hub,
                "let them run in the panel",
                hook_runner(sandbox, &dirs),
            )
        });
        let (hooks, problems) = found.await.map_err(|error| error.to_string())?;
        start.hooks = hooks;
        notices.extend(problems);
        Ok((start, notices))
    }
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
        begin: SessionStartRequest,
    ) -> BoxFuture<'static, Result<StartedSession, String>> {
        let own = self.session_launch();
        Box::pin(async move {
            let gate = own.worktrees.watch(&begin.place).await?;
            let (start, notices) = own.start(&begin).await?;
            Ok(StartedSession {
                opened: engine::start(start),
                gate,
                is_prompted: false,
                notices,
            })
        })
    }

    fn resume(
        &self,
        begin: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<StartedSession, String>> {
        let own = self.session_launch();
        Box::pin(async move {
            let gate = own.worktrees.watch(&begin.place).await?;
            let (start, notices) = own.start(&begin).await?;
            let store = own.factory.store().clone();
            let name = session.clone();
            let found = tokio::task::spawn_blocking(move || store.find(&name)).await;
            let found =
                found.map_err(|error| format!("{session} could not be read: {error}"))??;
            let is_prompt = |it: &Stored| matches!(it.record, SessionRecord::Prompted { .. });
            let has_heard = found
                .as_ref()
                .is_some_and(|it| it.records.iter().any(is_prompt));
            let opened = match found {
                Some(_) => engine::resume(start, &session).await?,
                None => engine::start(start),
            };
            Ok(StartedSession {
                opened,
                gate,
                is_prompted: has_heard,
                notices,
            })
        })
    }

    fn fork(
        &self,
        begin: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<String, String>> {
        let own = self.session_launch();
        Box::pin(async move {
            let (start, _) = own.start(&begin).await?;
            let store = own.factory.store().clone();
            let name = session.clone();
            let past = tokio::task::spawn_blocking(move || store.read(&name)).await;
            let past = past.map_err(|error| format!("{session} could not be read: {error}"))??;
            let last = past.next_seq.saturating_sub(1);
            Ok(engine::fork(&start, &session, last).await?)
        })
    }

    fn prompt_for(&self, task: &JobSpec) -> String {
        match self.roles.named(&task.role) {
            Ok(role) => role.task_prompt(&task.prompt),
            Err(_) => task.prompt.clone(),
        }
    }
}
