//! The servers of the folders that are worked in: sessions in one folder share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use agent::tools::Rooms;
use base::AbsPath;
use connect::mcp::{Reach, ServerEntry};
use host::{Dirs, FileKind, Files};

use super::{Offer, Servers, Waiting, gather};

/// Holds no server by itself: they end with the last session that can call them.
pub(crate) struct Pool {
    files: Arc<dyn Files>,
    dirs: Dirs,
    open: Mutex<HashMap<AbsPath, Weak<Servers>>>,
}

impl Pool {
    pub(crate) fn new(files: Arc<dyn Files>, dirs: &Dirs) -> Self {
        Self {
            files,
            dirs: dirs.clone(),
            open: Mutex::default(),
        }
    }

    /// What servers offer to a session that begins in a folder now. `checkout` is the person's own: the folder itself,
    /// or the one of whose repository the folder is a worktree. Its files name the servers, and their code is run from
    /// there. Those that only this session was given take the place of others of their name. Takes as long as `waiting`
    /// says, at most.
    pub(crate) async fn open(
        &self,
        (root, checkout): (&AbsPath, &AbsPath),
        own: Vec<ServerEntry>,
        rooms: &Arc<Rooms>,
        waiting: &Waiting,
    ) -> Offer {
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
            return Offer {
                tools: Vec::new(),
                notices: problems,
            };
        }
        let servers = match self.running(root).filter(|_| is_shared) {
            // Sessions that run keep theirs; this one begins with what is written now.
            Some(servers) if servers.entries == entries => {
                servers.look_again().await;
                servers
            }
            _ => {
                let servers = Servers::start(entries, &self.files, &self.dirs, root);
                let servers = Arc::new(servers);
                if is_shared {
                    self.lock().insert(root.clone(), Arc::downgrade(&servers));
                }
                servers
            }
        };
        let mut offer = servers.offer(rooms, waiting).await;
        offer.notices.splice(0..0, problems);
        offer
    }

    /// Ends the servers of all folders in good manners, at most some seconds.
    pub(crate) async fn close(&self) {
        let all: Vec<_> = self.lock().drain().map(|(_, servers)| servers).collect();
        let all = all.iter().filter_map(Weak::upgrade);
        futures::future::join_all(all.map(|servers| async move { servers.hub.close().await }))
            .await;
    }

    fn running(&self, root: &AbsPath) -> Option<Arc<Servers>> {
        self.lock().get(root)?.upgrade()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AbsPath, Weak<Servers>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has a server that was configured for a checkout serve a worktree instead: folders of the checkout among its arguments
/// and variables become those of the worktree. Its own folder and files that it names stay, because code in a worktree
/// is an agent's, and the server runs with the person's rights.
fn point_at_worktree(
    files: &dyn Files,
    entry: &mut ServerEntry,
    checkout: &AbsPath,
    worktree: &AbsPath,
) {
    let Ok(Reach::Process {
        arguments,
        environment,
        ..
    }) = &mut entry.reach
    else {
        return;
    };
    for text in arguments.iter_mut().chain(environment.values_mut()) {
        let (option, value) = match text.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (Some(option), value),
            _ => (None, text.as_str()),
        };
        let is_path = value == "." || value.starts_with("./") || value.starts_with('/');
        let path = checkout.join(value);
        let Some(relative) = path.relative_to(checkout).filter(|_| is_path) else {
            continue;
        };
        if files
            .stat(&path)
            .is_ok_and(|it| it.kind == FileKind::Folder)
        {
            let moved = worktree.join(relative);
            *text = match option {
                Some(option) => format!("{option}={moved}"),
                None => moved.to_string(),
            };
        }
    }
}

#[cfg(test)]
mod tests;
