//! Starts the sessions of jobs that external agents do.

use std::sync::Arc;

use agent::engine::HostedJournal;
use agent::record::SessionRecord;
use composer::Error;
use composer::board::{SessionStartRequest, StartedSession};
use connect::mcp::ServerEntry;
use host::RealFiles;
use host::process::SandboxSpawner;

use super::job_sessions::{JobSessionStarter, blocking, session_error};
use crate::external_agents::session::{self, HostedSessionParts};
use crate::external_agents::terminals::CommandConditions;
use crate::external_agents::tree_author::TreeAuthor;
use crate::external_agents::{ExternalAgent, directory, launch};
use crate::sandbox_policy;

/// The parts of a session that are found on the disk.
struct FoundParts {
    agent: ExternalAgent,
    sandbox: Option<Arc<dyn SandboxSpawner>>,
    commands: CommandConditions,
    servers: Vec<ServerEntry>,
    notices: Vec<String>,
}

impl JobSessionStarter {
    /// Starts a session of the external agent with the id `agent`, or continues the session with the
    /// id `session`.
    pub(super) async fn start_hosted(
        &self,
        request: &SessionStartRequest,
        agent: &str,
        session: Option<&str>,
    ) -> Result<StartedSession, Error> {
        let gate = self.worktrees.watch(&request.worktree).await?;
        let found = self.find_parts(request, agent).await?;
        let root = request.worktree.root()?;
        let harness = self.factory.harness().clone();
        let earlier = match session {
            Some(id) => {
                self.hosted.wait_until_ended(id).await;
                let opened = HostedJournal::reopen(harness.clone(), id).await;
                opened.map_err(session_error)?
            }
            None => None,
        };
        let (journal, past) = earlier.unwrap_or_else(|| {
            let mode = self.roles.named(&request.task.role);
            let mode = mode.map(|role| role.mode).unwrap_or_default();
            let root = root.to_string();
            let journal = HostedJournal::new(harness, &root, &found.agent.name, mode);
            (journal, Vec::new())
        });
        let (worktrees, worktree) = (self.worktrees.clone(), request.worktree.clone());
        let history = blocking(move || worktrees.history(&worktree)).await?;
        let is_prompt = |it: &agent::Stored| matches!(it.record, SessionRecord::Prompted { .. });
        let is_prompted = past.iter().any(is_prompt);
        let (opened, ended) = session::start(HostedSessionParts {
            tree: TreeAuthor::new(history, journal.id().clone()),
            agent: found.agent,
            dirs: self.factory.dirs().clone(),
            root,
            servers: found.servers,
            sandbox: found.sandbox,
            commands: found.commands,
            journal,
            past,
            gate: gate.clone(),
            allows_all: self.options.allows_asked,
            has_user: self.options.has_user,
        });
        self.hosted.add(&opened.id, ended);
        Ok(StartedSession {
            opened,
            gate,
            is_prompted,
            notices: found.notices,
        })
    }

    /// Finds the agent, its MCP servers and its sandbox.
    async fn find_parts(
        &self,
        request: &SessionStartRequest,
        agent: &str,
    ) -> Result<FoundParts, Error> {
        let session_root = self.session_root(&request.worktree)?;
        let (dirs, confinement) = (
            self.factory.dirs().clone(),
            self.options.confinement.clone(),
        );
        let (agent, project) = (agent.to_owned(), self.worktrees.main_repo().clone());
        let feeds = self.factory.command_feeds().clone();
        blocking(move || {
            let agent = directory::find(&RealFiles, &dirs, &agent).map_err(session_error)?;
            let (servers, mut notices) = launch::servers(&dirs, &project);
            let variables = session_root.variables.clone();
            let (sandbox, problems) = sandbox_policy::sandbox(&dirs, session_root, &confinement);
            notices.extend(problems);
            let mut command_variables = sandbox_policy::command_variables(&dirs);
            command_variables.extend(variables.iter().cloned());
            let mut commands = CommandConditions {
                feeds,
                sandbox: None,
                variables: command_variables,
            };
            let sandbox = match sandbox {
                Some(sandbox) => {
                    let bounds = agent.sandbox(&RealFiles, &dirs, &sandbox);
                    commands.sandbox = Some(sandbox);
                    Some(bounds.map_err(session_error)?)
                }
                None => {
                    notices.push(format!(
                        "{} works with your rights, because the sandbox is off",
                        agent.name
                    ));
                    None
                }
            };
            Ok(FoundParts {
                agent: agent.with_variables(variables),
                sandbox,
                commands,
                servers,
                notices,
            })
        })
        .await
    }
}
