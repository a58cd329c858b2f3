//! Sessions for a board: each in its worktree, its tools watched.

use std::sync::Arc;

use agent::Stored;
use agent::confine::Sandbox;
use agent::engine::{self, Start};
use agent::hooks::{HookRunner, RealHooks};
use agent::record::Record;
use composer::board::{Begin, Hand, Hands, Task};
use composer::roles::Roles;
use futures::future::BoxFuture;
use host::Dirs;

use crate::confined;
use crate::crew::{Crew, Wanted};
use crate::foreign::Waiting;
use crate::house;
use crate::sandboxed_hooks::SandboxedHooks;

use super::Manner;
use super::trees::Trees;

/// Puts sessions together.
pub(super) struct CrewHands {
    pub(super) crew: Arc<Crew>,
    pub(super) trees: Trees,
    pub(super) roles: Arc<Roles>,
    pub(super) manner: Manner,
}

/// What a session needs that begins, wherever its future runs.
#[derive(Clone)]
struct Beginning {
    crew: Arc<Crew>,
    trees: Trees,
    roles: Arc<Roles>,
    manner: Manner,
}

impl CrewHands {
    fn beginning(&self) -> Beginning {
        Beginning {
            crew: self.crew.clone(),
            trees: self.trees.clone(),
            roles: self.roles.clone(),
            manner: self.manner.clone(),
        }
    }
}

impl Beginning {
    /// What the session starts with, and problems that the person should know of.
    async fn start(&self, begin: &Begin) -> Result<(Start, Vec<String>), String> {
        let role = self.roles.named(&begin.task.role)?;
        let wanted = Wanted {
            root: begin.place.root()?,
            model: begin.task.model.clone(),
            mode: role.mode,
            allows_asked: self.manner.allows_asked,
            has_person: self.manner.has_person,
            budget: self.manner.budget,
            effort: role.effort,
            hooks: None,
            confinement: self.manner.confinement.clone(),
            ground: Some(self.trees.ground(&begin.place)?),
            servers: Vec::new(),
            waiting: Waiting::telling(|text| log::warn!("{text}")),
        };
        let (mut start, mut notices) = self.crew.start(wanted).await;
        start.judge = role.judge(start.judge);
        let dirs = self.crew.dirs().clone();
        let (hub, sandbox) = (self.trees.hub().clone(), start.sandbox.clone());
        // The checkout says which hooks there are; the worktree, which the agent writes, does not.
        let found = tokio::task::spawn_blocking(move || {
            house::hooks_in(
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

/// Hooks of an agent run where its commands do: what they call lies in its worktree, and the agent may have written it.
fn hook_runner(sandbox: Option<Arc<dyn Sandbox>>, dirs: &Dirs) -> Arc<dyn HookRunner> {
    match sandbox {
        Some(sandbox) => {
            let variables = confined::command_variables(dirs);
            Arc::new(SandboxedHooks::new(sandbox, variables))
        }
        None => Arc::new(RealHooks),
    }
}

impl Hands for CrewHands {
    fn begin(&self, begin: Begin) -> BoxFuture<'static, Result<Hand, String>> {
        let own = self.beginning();
        Box::pin(async move {
            let gate = own.trees.watch(&begin.place).await?;
            let (start, notices) = own.start(&begin).await?;
            Ok(Hand {
                opened: engine::start(start),
                gate,
                has_heard: false,
                notices,
            })
        })
    }

    fn again(&self, begin: Begin, session: String) -> BoxFuture<'static, Result<Hand, String>> {
        let own = self.beginning();
        Box::pin(async move {
            let gate = own.trees.watch(&begin.place).await?;
            let (start, notices) = own.start(&begin).await?;
            let store = own.crew.store().clone();
            let name = session.clone();
            let found = tokio::task::spawn_blocking(move || store.find(&name)).await;
            let found =
                found.map_err(|error| format!("{session} could not be read: {error}"))??;
            let is_prompt = |it: &Stored| matches!(it.record, Record::Prompted { .. });
            let has_heard = found
                .as_ref()
                .is_some_and(|it| it.records.iter().any(is_prompt));
            let opened = match found {
                Some(_) => engine::resume(start, &session).await?,
                None => engine::start(start),
            };
            Ok(Hand {
                opened,
                gate,
                has_heard,
                notices,
            })
        })
    }

    fn fork(&self, begin: Begin, session: String) -> BoxFuture<'static, Result<String, String>> {
        let own = self.beginning();
        Box::pin(async move {
            let (start, _) = own.start(&begin).await?;
            let store = own.crew.store().clone();
            let name = session.clone();
            let past = tokio::task::spawn_blocking(move || store.read(&name)).await;
            let past = past.map_err(|error| format!("{session} could not be read: {error}"))??;
            let last = past.next_seq.saturating_sub(1);
            engine::fork(&start, &session, last).await
        })
    }

    fn tell(&self, task: &Task) -> String {
        match self.roles.named(&task.role) {
            Ok(role) => role.tell(&task.prompt),
            Err(_) => task.prompt.clone(),
        }
    }
}
