//! The MCP tools of sessions: which servers a folder has, whether they may run, and the tools they
//! offer.
//!
//! Knows: `connect::mcp`, `agent`. Must not know: how a session is shown.
//! Invariant: a session's list of tools is fixed at its start and does not change while it is open,
//! so that the prefix of its prompts stays the same. Later tools are for the next session.
//! Invariant: a server that a project configures runs only if the user approved this exact entry in
//! this file.
//! Start at `Pool::open`; `tool` adapts a server's tool to a session.

mod consent;
mod contents;
mod elicitation;
mod folder_servers;
mod lease_arguments;
mod pool;
mod server_log;
mod tokens;
mod tool;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::rules::PermissionRules;
use agent::tool::Tool;
use agent::tools::ToolStates;
use base::{AbsPath, LineFeeds, count_of, printable};
use connect::Variables;
use connect::mcp::{
    Approval, Approvals, McpClients, McpError, McpEvent, McpSetup, McpTool, McpUser, ServerEntry,
    ServerOrigin, ServerState, ServerStatus, config,
};
use host::{Dirs, Files};
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

use crate::Error;

pub use consent::Consents;
pub use elicitation::ElicitationRouter;
pub use folder_servers::{FolderServers, ListedServer, transport_text};
pub(crate) use pool::McpPool;
use server_log::ServerLog;
pub(crate) use tokens::TokenFolder;

/// The user's own servers, in the settings folder.
const OWN: &str = "mcp.json";
/// The largest such file that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// The time that a starting session waits for its servers without a notice.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// The total wait on the command line, where no later session can pick the server up.
const LONG_PATIENCE: Duration = Duration::from_secs(30);
/// The maximum number of MCP tools in a session: models choose badly among more, and some providers
/// refuse them.
const MAX_FOREIGN_TOOLS: usize = 100;

/// The servers of one folder.
pub struct McpServers {
    clients: McpClients,
    /// The entries that the servers were started from.
    entries: Vec<ServerEntry>,
    consents: Arc<Consents>,
    elicitations: Arc<ElicitationRouter>,
    log: ServerLog,
}

/// A server that was started, as the user sees it.
pub(crate) struct RunningServer {
    pub(crate) state: ServerState,
    pub(crate) tools: Vec<McpTool>,
    /// Its latest messages and the end of its error output.
    pub(crate) log: Vec<String>,
}

/// The requirements of a starting session on its MCP tools.
pub(crate) struct ToolRequest<'a> {
    pub(crate) states: &'a Arc<ToolStates>,
    /// The rules of the session; tools that they deny completely are not offered.
    pub(crate) rules: &'a PermissionRules,
    pub(crate) waiting: &'a ServerWait,
}

/// The wait of a starting session for its servers, and the receiver of notices.
#[derive(Clone)]
pub struct ServerWait {
    /// The wait before a notice.
    brief: Duration,
    /// The total wait, unless a server's entry sets its own.
    longest: Duration,
    tell: Arc<dyn Fn(String) + Send + Sync>,
}

impl Default for ServerWait {
    /// Briefly: servers that need longer are there for the next session of this program.
    fn default() -> Self {
        Self {
            brief: PATIENCE,
            longest: PATIENCE,
            tell: Arc::new(|_| {}),
        }
    }
}

impl ServerWait {
    /// For a program that runs one session and exits: it waits longer, and sends notices.
    pub fn with_notifier(tell: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self {
            brief: PATIENCE,
            longest: LONG_PATIENCE,
            tell: Arc::new(tell),
        }
    }
}

/// The MCP tools that a session starts with.
#[derive(Default)]
pub(crate) struct ServerTools {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// Notices about servers that offer no tools, as sentences.
    pub(crate) notices: Vec<String>,
    /// The servers, if the folder has any.
    pub(crate) servers: Option<Arc<McpServers>>,
}

/// Returns the servers configured for a folder, sorted by name, and the errors in their entries.
/// Blocks on the disk.
pub fn gather(files: &dyn Files, dirs: &Dirs, root: &AbsPath) -> (Vec<ServerEntry>, Vec<String>) {
    let path = own_file(dirs);
    let mut problems = Vec::new();
    let own = match files.read(&path, LARGEST) {
        Ok(bytes) => match own_servers(&path, &bytes) {
            Ok(servers) => Some(servers),
            Err(error) => {
                problems.push(format!("{error}; none of your own servers is used"));
                None
            }
        },
        Err(error) if error.is_not_found() => None,
        Err(error) => {
            problems.push(error.to_string());
            None
        }
    };
    let (entries, complaints) = config::gather(own.as_ref(), root, files, &environment());
    problems.extend(complaints.into_iter().map(|problem| problem.0));
    (entries, problems)
}

/// Returns the path of the user's own servers, whether or not it exists.
pub(crate) fn own_file(dirs: &Dirs) -> AbsPath {
    dirs.config.join(OWN)
}

/// The object below `mcpServers`.
fn own_servers(path: &AbsPath, bytes: &[u8]) -> Result<Value, Error> {
    let text = String::from_utf8_lossy(bytes);
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| Error::InvalidFile(format!("{path} is not JSON ({error})")))?;
    match value.get("mcpServers") {
        Some(servers) => Ok(servers.clone()),
        None => Err(Error::InvalidFile(format!("{path} has no `mcpServers`"))),
    }
}

/// Returns this program's environment, for `${NAME}` references in entries. Leaves out variables
/// that are not text.
pub fn environment() -> Variables {
    host::environment::all_text_variables().collect()
}

impl McpServers {
    /// Starts the servers that may run, with elicitations routed to sessions. Must be called on a
    /// tokio runtime.
    pub fn start(
        entries: Vec<ServerEntry>,
        files: &Arc<dyn Files>,
        dirs: &Dirs,
        root: &AbsPath,
    ) -> Self {
        let router = Arc::new(ElicitationRouter::default());
        Self::start_for(entries, files, dirs, root, router.clone(), router)
    }

    /// Starts the servers with another handler of elicitations.
    pub fn start_for(
        entries: Vec<ServerEntry>,
        files: &Arc<dyn Files>,
        dirs: &Dirs,
        root: &AbsPath,
        user: Arc<dyn McpUser>,
        router: Arc<ElicitationRouter>,
    ) -> Self {
        let consents = Arc::new(Consents::new(files.clone(), &dirs.state));
        let clients = McpClients::start(McpSetup {
            servers: entries.clone(),
            roots: vec![root.clone()],
            environment: environment(),
            approvals: consents.clone(),
            user,
            tokens: Arc::new(TokenFolder::new(files.clone(), &dirs.state)),
        });
        Self {
            log: ServerLog::follow(clients.events()),
            clients,
            entries,
            consents,
            elicitations: router,
        }
    }

    /// Returns the connections to the servers.
    pub fn clients(&self) -> &McpClients {
        &self.clients
    }

    /// Returns the servers with their tools and messages, sorted by name.
    pub(crate) fn list(&self) -> Vec<RunningServer> {
        let tools = self.clients.tools();
        let states = self.clients.servers().into_iter();
        let servers = states.map(|state| {
            let name = &state.entry.name;
            let mut log = self.log.lines(name);
            log.extend(state.error_output.lines().map(str::to_owned));
            RunningServer {
                tools: tools
                    .iter()
                    .filter(|it| it.server == *name)
                    .cloned()
                    .collect(),
                log,
                state,
            }
        });
        servers.collect()
    }

    /// Returns the tools for a session that starts now, after waiting for the servers. A server
    /// that is not ready by then offers no tools, and a notice says so.
    pub(crate) async fn offer(self: &Arc<Self>, request: &ToolRequest<'_>) -> ServerTools {
        self.wait(request.waiting).await;
        let mut tools = self.clients.tools();
        tools.retain(|tool| !request.rules.denies_tool(&tool.name));
        // Whatever order servers list them in: the same tools make the same prompt.
        tools.sort_by(|one, two| one.name.cmp(&two.name));
        let mut notices = self.notices();
        if tools.len() > MAX_FOREIGN_TOOLS {
            let left_out = tools.split_off(MAX_FOREIGN_TOOLS);
            notices.push(format!(
                "{} of servers left out, as a session has at most {MAX_FOREIGN_TOOLS}: {} to {}",
                count_of(left_out.len(), "tool"),
                left_out.first().map_or("", |tool| &tool.name),
                left_out.last().map_or("", |tool| &tool.name),
            ));
        }
        let tools = tools.into_iter().map(|tool| {
            let adapter = tool::McpToolAdapter::new(tool, self.clone(), request.states.clone());
            Arc::new(adapter) as Arc<dyn Tool>
        });
        ServerTools {
            tools: tools.collect(),
            notices,
            servers: Some(self.clone()),
        }
    }

    /// Waits until the servers are ready: briefly, then, where some need longer, with a word about it.
    async fn wait(&self, waiting: &ServerWait) {
        let limit = |entry: &ServerEntry| entry.startup.unwrap_or(waiting.longest);
        let brief = self.entries.iter().map(limit).max().unwrap_or_default();
        self.clients
            .wait_until_started(brief.min(waiting.brief))
            .await;
        let states = self.clients.servers();
        let slow = states
            .iter()
            .filter(|it| it.status == ServerStatus::Starting);
        let slow: Vec<&ServerEntry> = slow.map(|state| &state.entry).collect();
        let longest = slow.iter().map(|entry| limit(entry)).max();
        let Some(more) = longest.and_then(|longest| longest.checked_sub(waiting.brief)) else {
            return;
        };
        if more.is_zero() {
            return;
        }
        let names: Vec<String> = slow
            .iter()
            .map(|it| printable(&it.name, LineFeeds::Escape).into_owned())
            .collect();
        (waiting.tell)(format!(
            "waiting up to {} s more for MCP servers that are not ready yet: {}",
            more.as_secs(),
            names.join(", ")
        ));
        self.clients.wait_until_started(more).await;
    }

    /// Returns notices about failed servers and unusable tools, as sentences.
    fn notices(&self) -> Vec<String> {
        let mut notices = self.consents.problems(&self.entries);
        for state in self.clients.servers() {
            let name = printable(&state.entry.name, LineFeeds::Escape);
            if let Some(advice) = advice(&state) {
                let how = describe_status(&state.status);
                notices.push(format!("the MCP server \"{name}\" {how}: {advice}"));
            }
            let left_out = state
                .left_out
                .iter()
                .map(|why| printable(why, LineFeeds::Escape));
            notices.extend(left_out.map(|why| format!("of the MCP server \"{name}\", {why}")));
        }
        notices
    }

    /// Reconnects a server, and returns once it has begun to, or was refused.
    async fn restart(&self, name: &str) -> Result<(), McpError> {
        let mut events = self.clients.events();
        self.clients.restart(name).await?;
        let is_about =
            |event: &McpEvent| matches!(event, McpEvent::Status { server, .. } if server == name);
        let begun = async {
            loop {
                match events.recv().await {
                    Ok(event) if is_about(&event) => return,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        };
        // A server that does not even begin is reported by its state.
        tokio::time::timeout(PATIENCE, begun).await.ok();
        Ok(())
    }

    /// Reconnects servers whose approval changed, and those that stopped retrying. Returns a sentence
    /// about each server that cannot be reconnected.
    pub(crate) async fn reconnect_servers(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for state in self.clients.servers() {
            let is_own = state.entry.origin == ServerOrigin::User;
            let may = is_own || self.consents.approval(&state.entry) == Approval::Allowed;
            let is_due = match state.status {
                ServerStatus::Disabled | ServerStatus::Closed => false,
                ServerStatus::Unapproved | ServerStatus::Refused => may,
                // Connected again, or refused.
                ServerStatus::Broken { again: None, .. } => true,
                ServerStatus::Starting
                | ServerStatus::Ready { .. }
                | ServerStatus::NeedsSignIn { .. }
                | ServerStatus::Broken { .. } => !may,
            };
            if is_due && let Err(error) = self.restart(&state.entry.name).await {
                let name = printable(&state.entry.name, LineFeeds::Escape);
                problems.push(format!(
                    "the MCP server \"{name}\" is not reconnected ({error}): close the sessions of this folder, then start a new one"
                ));
            }
        }
        problems
    }
}

/// Describes a server's status, to follow the server's name.
pub fn describe_status(status: &ServerStatus) -> String {
    match status {
        ServerStatus::Disabled => "is switched off".to_owned(),
        ServerStatus::Unapproved => "waits for your approval".to_owned(),
        ServerStatus::Refused => "was refused by you".to_owned(),
        ServerStatus::Starting => "is not ready yet".to_owned(),
        ServerStatus::Ready { protocol, program } => match program {
            Some(program) => format!(
                "is ready ({}, MCP {protocol})",
                printable(program, LineFeeds::Escape)
            ),
            None => format!("is ready (MCP {protocol})"),
        },
        ServerStatus::NeedsSignIn { why: None } => "wants you to sign in".to_owned(),
        ServerStatus::NeedsSignIn { why: Some(why) } => {
            format!("wants you to sign in ({})", printable(why, LineFeeds::Keep))
        }
        ServerStatus::Broken { why, .. } => {
            format!("does not work: {}", printable(why, LineFeeds::Keep))
        }
        ServerStatus::Closed => "is closed".to_owned(),
    }
}

/// Returns the next step for a server that does not work, or `None` if the user has no next step.
pub fn advice(state: &ServerState) -> Option<String> {
    let name = printable(&state.entry.name, LineFeeds::Escape);
    Some(match &state.status {
        ServerStatus::Unapproved => {
            format!(
                "look at it under MCP servers in the Agents menu, or with `burin-agent mcp approve {name}`, which asks \
                 before it runs"
            )
        }
        ServerStatus::Starting => "this session begins without its tools, and the next one has them if it is ready by then; \
                             `startupTimeout` in its entry gives it more seconds"
            .to_owned(),
        ServerStatus::NeedsSignIn { .. } => {
            format!("sign in under MCP servers in the Agents menu, or with `burin-agent mcp sign-in {name}`")
        }
        ServerStatus::Broken { .. } => match &state.entry.origin {
            ServerOrigin::User => format!("correct it in {OWN} beside your settings"),
            ServerOrigin::Project { file } => format!("correct it in {file}"),
        },
        ServerStatus::Disabled | ServerStatus::Refused | ServerStatus::Ready { .. } | ServerStatus::Closed => return None,
    })
}

/// Describes the file of an entry for display: the user's own file, or a file of the project at
/// `root`.
pub fn origin(entry: &ServerEntry, root: &AbsPath) -> String {
    match &entry.origin {
        ServerOrigin::User => format!("yours, in {OWN}"),
        ServerOrigin::Project { file } => {
            let inner = file.relative_to(root).unwrap_or(Path::new(file.as_path()));
            format!("of the project, in {}", inner.display())
        }
    }
}
