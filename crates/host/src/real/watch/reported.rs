//! Turns the system's file events into changed paths.
//!
//! The system reports real paths. An event is only a hint that something happened at its path: its
//! flags unite everything since the watch began; it can arrive twice or late; the two names of a
//! rename arrive as unrelated events in any order; and moving a folder reports nothing about its
//! contents. So every reported path is examined on disk. Invariant: after any sequence of events,
//! applying the reported changes yields the same tree as a walk.

use std::path::{Path, PathBuf};

use base::AbsPath;
use notify::event::{CreateKind, ModifyKind, RemoveKind};
use notify::{ErrorKind, EventKind};

use super::batch::EventBatch;

/// An event of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReportedEvent {
    /// Something happened at the path.
    Changed(PathBuf, ReportedChange),
    /// Events at or below the path were lost, or a volume was mounted or removed there.
    Lost(PathBuf),
    /// Watching is impaired; a sentence for the user.
    Problem(String),
}

/// The part of an event that decides where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportedChange {
    /// Content or metadata of an entry that keeps its place.
    Content,
    /// A file or link came, went, or was replaced.
    File,
    /// A folder, or an unknown entry, came, went, or was replaced.
    Entry,
}

/// The disk, as far as interpreting an event requires it.
pub(super) trait WatchedDisk {
    /// Returns whether the path is a folder, not a link to one.
    fn is_folder(&self, path: &AbsPath) -> bool;
    /// Returns the entries of a folder, each with whether it is a folder; empty if it is
    /// unreadable.
    fn entries(&self, path: &AbsPath) -> Vec<(AbsPath, bool)>;
}

/// The watched paths, and their names in events.
pub(super) struct WatchedPaths {
    pub(super) batch: EventBatch,
    /// The names that the root can have in events.
    root_names: Vec<AbsPath>,
    /// The visible paths.
    visible: Vec<AbsPath>,
    /// The names that visible paths outside the root can have in events.
    outside: Vec<(PathBuf, AbsPath)>,
}

impl WatchedPaths {
    pub(super) fn new(batch: EventBatch, root_names: Vec<AbsPath>) -> Self {
        Self {
            batch,
            root_names,
            visible: Vec::new(),
            outside: Vec::new(),
        }
    }

    /// Sets the names of the root, which may be another folder now.
    pub(super) fn set_root_names(&mut self, names: Vec<AbsPath>) {
        self.root_names = names;
    }

    /// Sets the visible paths, and those outside the root with the names that they have in events.
    pub(super) fn set_visible(&mut self, visible: Vec<AbsPath>, outside: Vec<(PathBuf, AbsPath)>) {
        self.visible = visible;
        self.outside = outside;
    }

    /// Adds the changes that follow from an event.
    pub(super) fn take(&mut self, event: ReportedEvent, disk: &dyn WatchedDisk) {
        match event {
            ReportedEvent::Changed(path, change) => self.changed(&path, change, disk),
            ReportedEvent::Lost(path) => self.lost(&path),
            ReportedEvent::Problem(sentence) => self.batch.problem(sentence),
        }
    }

    fn changed(&mut self, reported: &Path, change: ReportedChange, disk: &dyn WatchedDisk) {
        for (_, given) in self.outside.iter().filter(|(name, _)| name == reported) {
            self.batch.change(given.clone());
        }
        let Some(path) = self.in_root(reported) else {
            return;
        };
        let is_folder = change != ReportedChange::File && disk.is_folder(&path);
        if !self.is_wanted(&path, is_folder) {
            if self.visible.contains(&path) {
                self.batch.change(path);
            }
            return;
        }
        self.batch.change(path.clone());
        if is_folder && change == ReportedChange::Entry {
            self.add_contents(path, disk);
        }
    }

    /// Adds the contents of a folder that may be new. The system reports only the folder itself
    /// when it is moved, and its contents may be older than the watch on it.
    fn add_contents(&mut self, folder: AbsPath, disk: &dyn WatchedDisk) {
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            for (path, is_folder) in disk.entries(&folder) {
                if self.batch.is_rescanning() {
                    return;
                }
                if self.batch.is_ignored(&path, is_folder) {
                    continue;
                }
                self.batch.change(path.clone());
                if is_folder {
                    folders.push(path);
                }
            }
        }
    }

    fn lost(&mut self, reported: &Path) {
        let is_root = |root: &AbsPath| {
            reported.starts_with(root.as_path()) || root.as_path().starts_with(reported)
        };
        if self.root_names.iter().any(is_root) || self.outside.is_empty() {
            self.batch.rescan();
        }
        for (name, given) in &self.outside {
            if name.starts_with(reported) || name.parent().is_some_and(|it| it == reported) {
                self.batch.change(given.clone());
            }
        }
    }

    /// Returns the path under the caller's name for the root; `None` if it is not in the root.
    fn in_root(&self, reported: &Path) -> Option<AbsPath> {
        let inner = self
            .root_names
            .iter()
            .find_map(|root| reported.strip_prefix(root.as_path()).ok())?;
        if inner.as_os_str().is_empty() {
            return Some(self.batch.root.clone());
        }
        Some(self.batch.root.join(inner))
    }

    /// The system watches the whole tree, so the ignored state of the parent folders is checked
    /// here.
    fn is_wanted(&self, path: &AbsPath, is_folder: bool) -> bool {
        let folders = path.as_path().ancestors().skip(1).filter_map(AbsPath::new);
        let mut above = folders.take_while(|folder| folder.is_within(&self.batch.root));
        !self.batch.is_ignored(path, is_folder)
            && !above.any(|folder| self.batch.is_ignored(&folder, true))
    }
}

/// Translates one event of the library.
pub(super) fn translate(event: notify::Result<notify::Event>) -> Vec<ReportedEvent> {
    let event = match event {
        Ok(event) => event,
        Err(error) => return translate_error(&error),
    };
    let is_mount = event.info() == Some("mount");
    if event.need_rescan() || is_mount {
        let paths = event.paths.iter().cloned();
        // An event without a path says that anything may have changed.
        let anywhere = event.paths.is_empty().then(|| PathBuf::from("/"));
        return paths.chain(anywhere).map(ReportedEvent::Lost).collect();
    }
    let change = match event.kind {
        EventKind::Access(_) => return Vec::new(),
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => ReportedChange::Content,
        EventKind::Create(CreateKind::File) | EventKind::Remove(RemoveKind::File) => {
            ReportedChange::File
        }
        EventKind::Any
        | EventKind::Other
        | EventKind::Create(_)
        | EventKind::Remove(_)
        | EventKind::Modify(_) => ReportedChange::Entry,
    };
    let paths = event.paths.into_iter();
    paths
        .map(|path| ReportedEvent::Changed(path, change))
        .collect()
}

fn translate_error(error: &notify::Error) -> Vec<ReportedEvent> {
    match &error.kind {
        // A folder vanished while it was added.
        ErrorKind::PathNotFound | ErrorKind::WatchNotFound => {
            let paths = error.paths.iter().cloned();
            paths
                .map(|path| ReportedEvent::Changed(path, ReportedChange::Entry))
                .collect()
        }
        _ => vec![ReportedEvent::Problem(impaired(error))],
    }
}

/// Returns the sentence that says why changes are noticed late, and the remedy.
pub(super) fn impaired(error: &notify::Error) -> String {
    let remedy = match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "raise fs.inotify.max_user_watches, for instance with \"sudo sysctl \
             fs.inotify.max_user_watches=1048576\", and open the project again"
        }
        _ => "close programs that watch files, and open the project again",
    };
    format!(
        "changes on the disk are noticed late: the system does not watch them ({error}); {remedy}"
    )
}

#[cfg(test)]
mod tests;
