//! The servers of the folders that are worked in: sessions in one folder share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use agent::tools::ToolStates;
use base::AbsPath;
use connect::mcp::ServerEntry;
use host::{Dirs, Files};

use super::lease_arguments::point_at_worktree;
use super::{McpServers, ServerTools, ServerWait, gather};

/// Holds no server by itself: they end with the last session that can call them.
pub(crate) struct McpPool {
    files: Arc<dyn Files>,
    dirs: Dirs,
    open: Mutex<HashMap<AbsPath, Weak<McpServers>>>,
}

impl McpPool {
    /// Creates the pool without servers.
    pub(crate) fn new(files: Arc<dyn Files>, dirs: &Dirs) -> Self {
        Self {
            files,
            dirs: dirs.clone(),
            open: Mutex::default(),
        }
    }

    /// Returns the MCP tools for a session that starts in a folder. `checkout` is the user's own
    /// checkout: the folder itself, or the main repository of a worktree. Its files configure the
    /// servers, and the servers' code runs from there. Servers that only this session was given
    /// replace others of the same name. Takes at most the time that `waiting` allows.
    pub(crate) async fn open(
        &self,
        (root, checkout): (&AbsPath, &AbsPath),
        own: Vec<ServerEntry>,
        states: &Arc<ToolStates>,
        waiting: &ServerWait,
    ) -> ServerTools {
        let folder = checkout.clone();
        let (files, dirs) = (self.files.clone(), self.dirs.clone());
        let gathered =
            tokio::task::spawn_blocking(move || gather(files.as_ref(), &dirs, &folder)).await;
        let (mut entries, problems) = gathered.unwrap_or_else(|error| {
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
                tools: Vec::new(),
                notices: problems,
            };
        }
        let servers = match self.running(root).filter(|_| is_shared) {
            // Running sessions keep their servers; this one starts with the current entries.
            Some(servers) if servers.entries == entries => {
                servers.reconnect_servers().await;
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
        let mut offer = servers.offer(states, waiting).await;
        offer.notices.splice(0..0, problems);
        offer
    }

    /// Closes the servers of all folders gracefully. Takes a few seconds at most.
    pub(crate) async fn close(&self) {
        let all: Vec<_> = self.lock().drain().map(|(_, servers)| servers).collect();
        let all = all.iter().filter_map(Weak::upgrade);
        futures::future::join_all(all.map(|servers| async move { servers.clients.close().await }))
            .await;
    }

    /// Returns the running servers of a folder; `None` if no session uses them.
    fn running(&self, root: &AbsPath) -> Option<Arc<McpServers>> {
        self.lock().get(root)?.upgrade()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AbsPath, Weak<McpServers>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
