//! The files of a tree that changed since its servers were last notified, as events for them.
//!
//! A worktree of the composer has a log of changes, which names them. The files of another tree are compared by their
//! stamps after each call that may have changed them.
//! Must not know: documents, which server wants which event.
//! Invariant: the first state is read before a server starts, so that no later change is missed.
//! Limits: ignored files are left out. Changes of a command in the background are found after the next call. In a tree
//! without a log, `MAX_FILES` are compared; any other file counts as changed once it may have been.
//! Start at `FileChangeTracker::pass_on`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::PossibleChanges;
use base::AbsPath;
use composer::change_history::{ChangeId, TreeWatchers};
use host::{FolderTree, TreeEntry, TreeKind};
use language::RunningServers;
use lsp::{FileChangeType, FileEvent};
use project::{HiddenFiles, WalkBackend, WalkOptions, file_list, list_directly_in};

use crate::sandbox_policy::lock;

/// Maximum number of files whose stamps are kept.
const MAX_FILES: usize = 200_000;

/// Finds the changes of the files of a tree.
pub(super) struct FileChangeTracker {
    root: AbsPath,
    watchers: TreeWatchers,
    pending: Mutex<PendingFiles>,
    known: Mutex<KnownFiles>,
    /// Whether events were sent since `take_notice`.
    has_sent: AtomicBool,
    /// Maximum number of files whose stamps are kept.
    max_files: usize,
}

/// Files that may have changed since they were last compared.
#[derive(Default)]
struct PendingFiles {
    is_all: bool,
    /// Relative to the root, with `/`.
    paths: BTreeSet<String>,
}

/// The state of the files that the servers were notified of.
enum KnownFiles {
    /// No server may start yet.
    Unread,
    /// The state before this change of the log.
    Logged(ChangeId),
    /// The files by path, each with its stamp.
    Stamped(BTreeMap<String, TreeEntry>),
}

impl FileChangeTracker {
    /// Creates the tracker of the tree at `root`. `watchers` have the logs of the composer's worktrees.
    pub(super) fn new(root: AbsPath, watchers: TreeWatchers) -> Self {
        Self {
            root,
            watchers,
            pending: Mutex::default(),
            known: Mutex::new(KnownFiles::Unread),
            has_sent: AtomicBool::new(false),
            max_files: MAX_FILES,
        }
    }

    /// Reads the state that later changes are compared with. Blocks on the disk.
    pub(super) fn begin(&self) {
        let known = match self.watchers.authored(&self.root) {
            Some(log) => {
                let last = lock(&log).changes().last().map(|change| change.id);
                KnownFiles::Logged(last.map_or(ChangeId(0), after))
            }
            None => KnownFiles::Stamped(self.stamps()),
        };
        *lock(&self.known) = known;
    }

    /// Notes that files of a session in the folder `root` may have changed.
    pub(super) fn note(&self, root: &AbsPath, changed: &PossibleChanges) {
        let mut pending = lock(&self.pending);
        match changed {
            PossibleChanges::All => pending.is_all = true,
            PossibleChanges::Paths(paths) => {
                let paths = paths.iter().map(|path| root.join(path));
                let paths = paths.filter_map(|path| path.relative_to(&self.root).and_then(utf8));
                pending.paths.extend(paths);
            }
        }
    }

    /// Passes the changes since the last call on to the servers; none are lost while no server wants them. Returns
    /// whether there were any. Blocks on the disk.
    pub(super) fn pass_on(&self, servers: &RunningServers) -> bool {
        // Locked until the events are sent, so that they keep their order.
        let mut known = lock(&self.known);
        if !servers.watches_files() {
            return false;
        }
        let changes = match &mut *known {
            KnownFiles::Unread => return false,
            KnownFiles::Logged(next) => self.logged_changes(next),
            KnownFiles::Stamped(stamps) => self.stamped_changes(stamps),
        };
        let events = changes.into_iter().map(|(path, change)| FileEvent {
            path: self.root.join(path),
            change,
        });
        let events: Vec<FileEvent> = events.collect();
        if events.is_empty() {
            return false;
        }
        servers.files_changed(&events);
        self.has_sent.store(true, Ordering::Release);
        true
    }

    /// Returns whether events were sent since the last call: the reports of the servers may be about an older state.
    pub(super) fn take_notice(&self) -> bool {
        self.has_sent.swap(false, Ordering::AcqRel)
    }

    /// Returns the changes from `next` on of the log; several changes of a file become one.
    fn logged_changes(&self, next: &mut ChangeId) -> Vec<(String, FileChangeType)> {
        let Some(log) = self.watchers.authored(&self.root) else {
            return Vec::new();
        };
        let log = lock(&log);
        let first = log.changes().partition_point(|change| change.id < *next);
        let new = &log.changes()[first..];
        if let Some(last) = new.last() {
            *next = after(last.id);
        }
        let mut existence: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
        for change in new {
            let existed = (change.before.is_some(), false);
            let (_, exists) = existence.entry(&change.path).or_insert(existed);
            *exists = change.after.is_some();
        }
        let changes = existence.into_iter().filter_map(|(path, existence)| {
            let change = match existence {
                (false, true) => FileChangeType::Created,
                (true, true) => FileChangeType::Changed,
                (true, false) => FileChangeType::Deleted,
                (false, false) => return None,
            };
            Some((path.to_owned(), change))
        });
        changes.collect()
    }

    /// Compares the files that may have changed with their stamps, and renews these.
    fn stamped_changes(
        &self,
        stamps: &mut BTreeMap<String, TreeEntry>,
    ) -> Vec<(String, FileChangeType)> {
        let PendingFiles { is_all, paths } = std::mem::take(&mut *lock(&self.pending));
        if !is_all && paths.is_empty() {
            return Vec::new();
        }
        let Ok(tree) = FolderTree::open(&self.root) else {
            return Vec::new();
        };
        let is_folder = |path: &String| is_folder(&tree, path, stamps);
        let paths: BTreeSet<String> = if is_all || paths.iter().any(is_folder) {
            let known = stamps.keys().cloned();
            self.listed().into_iter().chain(known).collect()
        } else {
            let is_wanted = |path: &String| stamps.contains_key(path) || self.is_listed(path);
            paths.into_iter().filter(is_wanted).collect()
        };
        let changes = paths.into_iter().filter_map(|path| {
            let change = compare(&tree, &path, stamps, self.max_files)?;
            Some((path, change))
        });
        changes.collect()
    }

    fn stamps(&self) -> BTreeMap<String, TreeEntry> {
        let mut stamps = BTreeMap::new();
        if let Ok(tree) = FolderTree::open(&self.root) {
            for path in self.listed() {
                compare(&tree, &path, &mut stamps, self.max_files);
            }
        }
        stamps
    }

    /// Returns the files of the tree that are not ignored.
    fn listed(&self) -> Vec<String> {
        let options = WalkOptions {
            hidden: HiddenFiles::Visit,
            ..WalkOptions::default()
        };
        let cancel = AtomicBool::new(false);
        let listed = file_list(&WalkBackend::Disk, &self.root, &options, &cancel);
        let Ok((paths, _)) = listed else {
            base::never!("a walk without globs cannot fail");
            return Vec::new();
        };
        let paths = paths.iter().take(self.max_files);
        paths.filter_map(|path| utf8(path)).collect()
    }

    /// Returns whether neither a file nor a folder above it is ignored; false if it does not exist.
    fn is_listed(&self, path: &str) -> bool {
        let cancel = AtomicBool::new(false);
        let mut folder = self.root.clone();
        let path = Path::new(path);
        path.components().all(|name| {
            let entry = folder.join(name);
            let listing = list_directly_in(&self.root, &folder, &cancel);
            let mut entries = listing.files.iter().chain(&listing.folders);
            let is_listed = entries.any(|listed| self.root.join(&listed.path) == entry);
            folder = entry;
            is_listed
        })
    }
}

/// Returns a path as text; `None` if it is not UTF-8. No server can be notified of such a file.
fn utf8(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

/// Returns the number of the next change.
fn after(id: ChangeId) -> ChangeId {
    ChangeId(id.0 + 1)
}

/// Returns whether a path is a folder, or was one with files.
fn is_folder(tree: &FolderTree, path: &str, stamps: &BTreeMap<String, TreeEntry>) -> bool {
    let below = format!("{path}/");
    let mut inner = stamps.range(below.clone()..);
    let had_files = inner
        .next()
        .is_some_and(|(inner, _)| inner.starts_with(&below));
    let entry = tree.entry(path).ok().flatten();
    had_files || entry.is_some_and(|entry| entry.kind == TreeKind::Folder)
}

/// Compares a file with its stamp, and renews that. A file that cannot be examined counts as unchanged; one without a
/// stamp as changed if there are `max_files` stamps.
fn compare(
    tree: &FolderTree,
    path: &str,
    stamps: &mut BTreeMap<String, TreeEntry>,
    max_files: usize,
) -> Option<FileChangeType> {
    let entry = tree.entry(path).ok()?;
    let is_file = |entry: &TreeEntry| !matches!(entry.kind, TreeKind::Folder | TreeKind::Other);
    let Some(entry) = entry.filter(is_file) else {
        return stamps.remove(path).map(|_| FileChangeType::Deleted);
    };
    if stamps.len() >= max_files && !stamps.contains_key(path) {
        return Some(FileChangeType::Changed);
    }
    match stamps.insert(path.to_owned(), entry) {
        None => Some(FileChangeType::Created),
        Some(known) if known == entry => None,
        Some(_) => Some(FileChangeType::Changed),
    }
}

#[cfg(test)]
pub(super) mod tests;
