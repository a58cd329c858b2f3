//! The configured MCP servers of a folder: looking them up, deciding about them, listing their tools, signing in.

use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, LineFeeds, printable};
use connect::mcp::{
    Approval, BrowserPage, ElicitationForm, Filled, McpEvent, McpTool, McpUser, ServerEntry,
    ServerState, ServerStatus,
};
use futures::future::{BoxFuture, ready};
use host::{Dirs, Files};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{Consents, ElicitationRouter, McpServers, describe_status, gather};
use crate::Error;
use crate::form;

/// The maximum time for servers to become ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// The configured servers of a folder, whether or not they run.
pub struct FolderServers {
    files: Arc<dyn Files>,
    dirs: Dirs,
    root: AbsPath,
    /// The entries, sorted by name.
    pub entries: Vec<ServerEntry>,
    /// Errors in the configuration, as sentences.
    pub problems: Vec<String>,
}

/// The state of a server with its tools.
pub struct ListedServer {
    /// The state after the server had time to start.
    pub state: ServerState,
    /// The tools that it offers.
    pub tools: Vec<McpTool>,
}

impl FolderServers {
    /// Reads the servers that are configured for a folder. Blocks on the disk.
    pub fn read(files: Arc<dyn Files>, dirs: &Dirs, root: &AbsPath) -> Self {
        let (entries, problems) = gather(files.as_ref(), dirs, root);
        Self {
            files,
            dirs: dirs.clone(),
            root: root.clone(),
            entries,
            problems,
        }
    }

    /// Returns a server by its name. Fails with `Error::Unknown`, which lists the names.
    pub fn entry(&self, name: &str) -> Result<&ServerEntry, Error> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| {
            let names = self.entries.iter();
            let names: Vec<_> = names
                .map(|it| printable(&it.name, LineFeeds::Escape))
                .collect();
            let root = &self.root;
            Error::Unknown(if names.is_empty() {
                format!("there is no MCP server for {root}")
            } else {
                let names = names.join(", ");
                format!("there is no MCP server \"{name}\" for {root}; there are {names}")
            })
        })
    }

    /// Stores the user's decision about a server of the project. Blocks on the disk.
    pub fn decide(&self, entry: &ServerEntry, approval: Approval) -> Result<(), Error> {
        let consents = Consents::new(self.files.clone(), &self.dirs.state);
        consents.set(entry, approval)
    }

    /// Starts all servers that may run, waits for them, and shuts them down. Takes half a minute at
    /// most. Must be called on a tokio runtime.
    pub async fn list(&self) -> Vec<ListedServer> {
        let servers = McpServers::start(self.entries.clone(), &self.files, &self.dirs, &self.root);
        let clients = servers.clients();
        clients.wait_until_started(PATIENCE).await;
        let (states, tools) = (clients.servers(), clients.tools());
        clients.close().await;
        let listed = states.into_iter().map(|state| ListedServer {
            tools: tools
                .iter()
                .filter(|tool| tool.server == state.entry.name)
                .cloned()
                .collect(),
            state,
        });
        listed.collect()
    }

    /// Signs in to a server and waits until that succeeds or fails; `pages` receives the pages that
    /// the user has to open. Returns a sentence. A server that is ready needs none, which is a
    /// success. Fails with `Error::McpServer` if the server is not ready at the end. Must be called
    /// on a tokio runtime; dropping the future ends the attempt.
    pub async fn sign_in(
        &self,
        name: &str,
        pages: mpsc::Sender<BrowserPage>,
    ) -> Result<String, Error> {
        let entry = self.entry(name)?.clone();
        let servers = McpServers::start_for(
            vec![entry],
            &self.files,
            &self.dirs,
            &self.root,
            Arc::new(PageSink(pages)),
            Arc::new(ElicitationRouter::default()),
        );
        let clients = servers.clients();
        clients.wait_until_started(PATIENCE).await;
        let gone = || Error::McpServer(format!("the server \"{name}\" is gone"));
        let mut status = clients.servers().pop().ok_or_else(gone)?.status;
        if matches!(status, ServerStatus::NeedsSignIn { .. }) {
            let mut events = clients.events();
            let begun = clients.sign_in(name).await;
            begun.map_err(|error| Error::McpServer(error.message))?;
            status = loop {
                match events.recv().await {
                    Ok(McpEvent::Status {
                        status: ServerStatus::Starting,
                        ..
                    }) => {}
                    Ok(McpEvent::Status { status, .. }) => break status,
                    Ok(_) => {}
                    Err(_) => return Err(gone()),
                }
            };
        }
        clients.close().await;
        let sentence = format!(
            "the server \"{}\" {}",
            printable(name, LineFeeds::Escape),
            describe_status(&status)
        );
        match status {
            ServerStatus::Ready { .. } => Ok(sentence),
            _ => Err(Error::McpServer(sentence)),
        }
    }
}

/// Describes a server's transport in a line, as configured: variables are not expanded.
pub fn transport_text(entry: &ServerEntry) -> String {
    let text = |key: &str| entry.written.get(key).and_then(Value::as_str);
    let command = text("command").map(|command| {
        let arguments = entry.written.get("args").and_then(Value::as_array);
        let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
        let words: Vec<_> = std::iter::once(command).chain(arguments).collect();
        words.join(" ")
    });
    let line = command.or_else(|| text("url").or_else(|| text("serverUrl")).map(str::to_owned));
    printable(&line.unwrap_or_default(), LineFeeds::Escape).into_owned()
}

/// Passes pages on, and declines everything else.
struct PageSink(mpsc::Sender<BrowserPage>);

impl McpUser for PageSink {
    fn fill(&self, _: &str, _: ElicitationForm) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Declined))
    }

    fn open(&self, page: BrowserPage) -> BoxFuture<'static, bool> {
        let pages = self.0.clone();
        Box::pin(async move { form::is_page(&page.url) && pages.send(page).await.is_ok() })
    }
}
