//! The file watchers that a server registered, and the changes that they want.
//!
//! Must not know: how files are watched. The owner reports changes of files; this module matches them in memory, so a
//! pattern costs no watch of the system.
//! Invariant: patterns are compiled and matched without the lock on the session.
//! Start at `FileWatchers::wants`.

use std::sync::{Arc, OnceLock};

use base::AbsPath;
use gen_lsp_types::{DidChangeWatchedFilesNotification, Notification as _};
use globset::{Glob, GlobSet};
use serde_json::Value;

use crate::selector::{glob, pattern_base};
use crate::violations::{Violation, Violations};

/// Name of the notification, and of the capability that a server registers for it.
pub(crate) const WATCHED_FILES: &str = DidChangeWatchedFilesNotification::METHOD.as_str();
/// Maximum length of all patterns of a server, in bytes. Compiled, they take about 140 times as much memory.
const MAX_PATTERN_BYTES: usize = 96 << 10;
/// Maximum number of watchers of a server.
const MAX_WATCHERS: usize = 8 << 10;
/// Maximum length of the id of a registration, in bytes.
const MAX_ID: usize = 1 << 10;

/// A change of a file or folder on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEvent {
    /// The file or folder.
    pub path: AbsPath,
    /// The change.
    pub change: FileChangeType,
}

/// The kind of a change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileChangeType {
    /// The file was created, or moved to this path.
    Created,
    /// The content of the file changed.
    Changed,
    /// The file was deleted, or moved to another path.
    Deleted,
}

/// The file watchers that a server registered. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileWatchers {
    registrations: Vec<Arc<WatcherRegistration>>,
}

#[derive(Debug)]
struct WatcherRegistration {
    id: String,
    watchers: Vec<FileWatcher>,
    /// The watchers, compiled when the first event is matched.
    groups: OnceLock<Vec<WatcherGroup>>,
}

/// One watcher of a registration.
#[derive(Debug)]
struct FileWatcher {
    key: WatcherKey,
    glob: Glob,
}

/// The properties that watchers share in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WatcherKey {
    /// The folder to which the pattern is relative; `None` for each folder of the server.
    base: Option<AbsPath>,
    kinds: WatchKinds,
}

/// The kinds of changes that a watcher wants, as bits of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WatchKinds(u64);

/// Watchers that differ only in their patterns.
#[derive(Debug)]
struct WatcherGroup {
    key: WatcherKey,
    globs: GlobSet,
}

impl FileWatchers {
    /// Returns whether the server watches nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.registrations.is_empty()
    }

    /// Adds the watchers of a registration, which replaces an earlier one with the same id. Malformed watchers and
    /// those beyond the bounds are omitted and counted.
    pub(crate) fn register(&mut self, id: String, options: &Value, violations: &mut Violations) {
        self.unregister(&id);
        if id.len() > MAX_ID {
            violations.count(Violation::ItemBeyondBound, 1);
            return;
        }
        let mut bytes: usize = self.watchers().map(FileWatcher::pattern_length).sum();
        let mut count = self.watchers().count();
        let wanted = options.get("watchers").and_then(Value::as_array);
        let mut watchers = Vec::new();
        for watcher in wanted.into_iter().flatten() {
            let Some(watcher) = FileWatcher::of(watcher) else {
                violations.count(Violation::MalformedItem, 1);
                continue;
            };
            bytes += watcher.pattern_length();
            count += 1;
            if bytes > MAX_PATTERN_BYTES || count > MAX_WATCHERS {
                violations.count(Violation::ItemBeyondBound, 1);
                break;
            }
            watchers.push(watcher);
        }
        if !watchers.is_empty() {
            self.registrations.push(Arc::new(WatcherRegistration {
                id,
                watchers,
                groups: OnceLock::new(),
            }));
        }
    }

    /// Removes the watchers of a registration.
    pub(crate) fn unregister(&mut self, id: &str) {
        self.registrations.retain(|it| it.id != id);
    }

    /// Returns whether a watcher wants an event. `folders` are those of the server.
    pub(crate) fn wants(&self, event: &FileEvent, folders: &[AbsPath]) -> bool {
        let groups = self.registrations.iter().flat_map(|it| it.groups());
        let mut wanting = groups.filter(|group| group.key.kinds.contain(event.change));
        wanting.any(|group| group.matches(&event.path, folders))
    }

    fn watchers(&self) -> impl Iterator<Item = &FileWatcher> {
        self.registrations.iter().flat_map(|it| &it.watchers)
    }
}

impl WatcherRegistration {
    fn groups(&self) -> &[WatcherGroup] {
        self.groups.get_or_init(|| groups_of(&self.watchers))
    }
}

/// Compiles watchers. A group whose patterns are too complex matches nothing.
fn groups_of(watchers: &[FileWatcher]) -> Vec<WatcherGroup> {
    let mut keys: Vec<&WatcherKey> = Vec::new();
    for watcher in watchers {
        if !keys.contains(&&watcher.key) {
            keys.push(&watcher.key);
        }
    }
    let groups = keys.into_iter().filter_map(|key| {
        let mut builder = GlobSet::builder();
        for watcher in watchers.iter().filter(|it| it.key == *key) {
            builder.add(watcher.glob.clone());
        }
        let globs = builder.build().ok()?;
        Some(WatcherGroup {
            key: key.clone(),
            globs,
        })
    });
    groups.collect()
}

impl FileWatcher {
    fn of(watcher: &Value) -> Option<Self> {
        let (base, pattern) = match watcher.get("globPattern")? {
            Value::String(pattern) => match pattern.strip_prefix('/') {
                Some(rest) => (AbsPath::new("/"), rest),
                None => (None, pattern.as_str()),
            },
            Value::Object(relative) => {
                let pattern = relative.get("pattern")?.as_str()?;
                (Some(pattern_base(relative)?), pattern)
            }
            _ => return None,
        };
        let kinds = watcher.get("kind").and_then(Value::as_u64);
        Some(Self {
            key: WatcherKey {
                base,
                kinds: kinds.map_or(WatchKinds::ALL, WatchKinds),
            },
            glob: glob(pattern)?,
        })
    }

    fn pattern_length(&self) -> usize {
        self.glob.glob().len()
    }
}

impl WatchKinds {
    const ALL: Self = Self(7);

    fn contain(self, change: FileChangeType) -> bool {
        let bit = match change {
            FileChangeType::Created => 1,
            FileChangeType::Changed => 2,
            FileChangeType::Deleted => 4,
        };
        self.0 & bit != 0
    }
}

impl WatcherGroup {
    fn matches(&self, path: &AbsPath, folders: &[AbsPath]) -> bool {
        let is_match = |base: &AbsPath| {
            let relative = path.relative_to(base);
            relative.is_some_and(|relative| self.globs.is_match(relative))
        };
        match &self.key.base {
            Some(base) => is_match(base),
            None => folders.iter().any(is_match),
        }
    }
}

#[cfg(test)]
mod tests;
