//! Watchers of Git's folders outside the open folder, such as that of a linked worktree or of a repository around it.
//!
//! The window's watcher sees everything inside the open folder; only what it cannot see is watched here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;

use base::{AbsPath, LogErr as _};
use host::{Files as _, RealFiles, WatchEvent, WatchRequest, Watcher};

use super::events::WatchedRepository;
use super::queues::run_on_thread;
use super::ticks::TickMessage;

/// The watchers of folders outside the open folder.
pub(super) struct GitFolderWatchers {
    open: AbsPath,
    messages: mpsc::Sender<TickMessage>,
    watched: BTreeMap<AbsPath, Watcher>,
}

impl GitFolderWatchers {
    pub(super) fn new(open: AbsPath, messages: mpsc::Sender<TickMessage>) -> Self {
        Self {
            open,
            messages,
            watched: BTreeMap::new(),
        }
    }

    /// Watches the folders of these repositories, and no others any more.
    pub(super) fn watch(&mut self, repositories: &[WatchedRepository]) {
        let folders = repositories
            .iter()
            .flat_map(|it| [&it.common_dir, &it.git_dir]);
        let mut wanted: Vec<AbsPath> = folders.cloned().collect();
        // A parent precedes its children, which it covers.
        wanted.sort();
        wanted.dedup_by(|later, kept| later.is_within(kept));
        wanted.retain(|folder| !folder.is_within(&self.open));
        self.watched.retain(|folder, _| wanted.contains(folder));
        for folder in wanted {
            if !self.watched.contains_key(&folder)
                && let Some(watcher) = self.start(&folder)
            {
                self.watched.insert(folder, watcher);
            }
        }
    }

    fn start(&self, folder: &AbsPath) -> Option<Watcher> {
        // They have many changes that no window needs.
        let unwatched = ["objects", "lfs"].map(|name| folder.join(name));
        let request = WatchRequest {
            root: folder.clone(),
            ignore: Arc::new(move |path: &Path, _| unwatched.iter().any(|it| it.as_path() == path)),
        };
        let watcher = RealFiles.watch(request).log_err()?;
        let (events, messages) = (watcher.events.clone(), self.messages.clone());
        run_on_thread(move || {
            // Ends when the watcher is dropped.
            while let Ok(event) = events.recv_blocking() {
                let paths = match event {
                    WatchEvent::Changed(paths) => Some(paths),
                    WatchEvent::Rescan(_) => None,
                    WatchEvent::Ready | WatchEvent::Problem(_) => continue,
                };
                if messages.send(TickMessage::Changed(paths)).is_err() {
                    return;
                }
            }
        });
        Some(watcher)
    }
}
