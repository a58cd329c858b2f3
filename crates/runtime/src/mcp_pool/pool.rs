//! The servers of the folders that are worked in: sessions in one folder share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use base::AbsPath;
use connect::mcp::ServerEntry;
use host::{Dirs, Files};

use super::lease_arguments::point_at_worktree;
use super::{FolderServers, LONG_PATIENCE, McpServers, ServerTools, ToolRequest, gather};
use crate::Error;

/// Servers end with the last session that can call them, unless the user started them.
pub(crate) struct McpPool {
    files: Arc<dyn Files>,
    dirs: Dirs,
    open: Mutex<HashMap<AbsPath, Weak<McpServers>>>,
    /// Servers that the user started, with or without a session.
    started: Mutex<HashMap<AbsPath, Arc<McpServers>>>,
}

impl McpPool {
    /// Creates the pool without servers.
    pub(crate) fn new(files: Arc<dyn Files>, dirs: &Dirs) -> Self {
        Self {
            files,
            dirs: dirs.clone(),
            open: Mutex::default(),
            started: Mutex::default(),
        }
    }

    /// Returns the MCP tools for a session that starts in a folder. `checkout` is the user's own
    /// checkout: the folder itself, or the main repository of a worktree. Its files configure the
    /// servers, and the servers' code runs from there. Servers that only this session was given
    /// replace others of the same name. Takes at most the time that the request allows.
    pub(crate) async fn open(
        &self,
        (root, checkout): (&AbsPath, &AbsPath),
        own: Vec<ServerEntry>,
        request: &ToolRequest<'_>,
    ) -> ServerTools {
        let folder = checkout.clone();
        let (files, dirs) = (self.files.clone(), self.dirs.clone());
        let gathered =
            tokio::task::spawn_blocking(move || gather(files.as_ref(), &dirs, &folder)).await;
        let (mut entries, mut problems) = gathered.unwrap_or_else(|error| {
            let problem = format!("the MCP servers cannot be looked for: {error}");
            (Vec::new(), vec![problem])
        });
        if checkout != root {
            for entry in &mut entries {
                point_at_worktree(self.files.as_ref(), entry, checkout, root);
            }
        }
        let is_shared = own.is_empty();
        entries.retain(|entry| own.iter().all(|it| it.name != entry.name));
        entries.extend(own);
        if entries.is_empty() {
            return ServerTools {
                notices: problems,
                ..ServerTools::default()
            };
        }
        let servers = match self.running(root).filter(|_| is_shared) {
            // Running sessions keep their servers; this one starts with the current entries.
            Some(servers) if servers.entries == entries => {
                problems.extend(servers.reconnect_servers().await);
                servers
            }
            _ => {
                let servers = McpServers::start(entries, &self.files, &self.dirs, root);
                let servers = Arc::new(servers);
                if is_shared {
                    self.lock().insert(root.clone(), Arc::downgrade(&servers));
                }
                servers
            }
        };
        let mut offer = servers.offer(request).await;
        offer.notices.splice(0..0, problems);
        offer
    }

    /// Starts the servers of a folder, or reconnects the one with this name if they run already, and
    /// waits for them. They run until the program ends. Fails if there is no such server, or if it
    /// is closed.
    pub(crate) async fn start(&self, root: &AbsPath, name: &str) -> Result<(), Error> {
        let (files, dirs, folder) = (self.files.clone(), self.dirs.clone(), root.clone());
        let read = move || FolderServers::read(files, &dirs, &folder);
        let configured = tokio::task::spawn_blocking(read).await;
        let configured = configured.map_err(Error::interrupted("the MCP servers were not read"))?;
        configured.entry(name)?;
        let servers = match self.running(root) {
            Some(servers) if servers.entries == configured.entries => {
                let restarted = servers.restart(name).await;
                restarted.map_err(|error| Error::McpServer(error.message))?;
                servers
            }
            _ => {
                let servers = McpServers::start(configured.entries, &self.files, &self.dirs, root);
                let servers = Arc::new(servers);
                self.lock().insert(root.clone(), Arc::downgrade(&servers));
                servers
            }
        };
        self.started().insert(root.clone(), servers.clone());
        servers.clients.wait_until_started(LONG_PATIENCE).await;
        Ok(())
    }

    /// Closes the servers of all folders gracefully. Takes a few seconds at most.
    pub(crate) async fn close(&self) {
        let all: Vec<_> = self.lock().drain().map(|(_, servers)| servers).collect();
        let all = all.iter().filter_map(Weak::upgrade);
        futures::future::join_all(all.map(|servers| async move { servers.clients.close().await }))
            .await;
        self.started().clear();
    }

    /// Returns the running servers of a folder; `None` if no session uses them and the user did not
    /// start them.
    pub(crate) fn running(&self, root: &AbsPath) -> Option<Arc<McpServers>> {
        self.lock().get(root)?.upgrade()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AbsPath, Weak<McpServers>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn started(&self) -> std::sync::MutexGuard<'_, HashMap<AbsPath, Arc<McpServers>>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
