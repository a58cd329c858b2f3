//! Events about files for language servers, made from the paths that a watcher reports.
//!
//! Must not know: windows, which server wants which event.
//! Invariant: the events about one path alternate as the file did, as far as the watcher saw it: what was deleted is
//! created again before it changes.
//! Start at `ExistenceTracker::events`.

use std::collections::HashMap;
use std::sync::Arc;

use base::{AbsPath, path_text, text_path};
use host::{FileKind, Files};
use lsp::{FileChangeType, FileEvent};

/// Maximum number of paths whose existence is remembered beside the list of files.
const MAX_REMEMBERED: usize = 50_000;

/// A change on disk in a folder. Lists of files are as in `FileList::paths`.
#[derive(Debug)]
pub(super) enum DiskChange {
    /// These paths changed. `known` is the list of files before.
    Paths {
        paths: Vec<AbsPath>,
        known: Arc<Vec<String>>,
    },
    /// Anything may have changed; these are the lists of files before and after.
    Anything {
        before: Arc<Vec<String>>,
        after: Arc<Vec<String>>,
    },
}

/// Tells whether a path that changed was created, changed or deleted.
#[derive(Debug)]
pub(super) struct ExistenceTracker {
    root: AbsPath,
    /// Whether paths existed at their last event. The list of files is replaced later, and lacks ignored files.
    existing: HashMap<AbsPath, bool>,
}

impl ExistenceTracker {
    /// Creates a tracker for the folder at `root`.
    pub(super) fn new(root: AbsPath) -> Self {
        Self {
            root,
            existing: HashMap::new(),
        }
    }

    /// Returns the events of a change, in the order of the paths. Blocks on the disk.
    pub(super) fn events(&mut self, change: &DiskChange, files: &dyn Files) -> Vec<FileEvent> {
        if self.existing.len() > MAX_REMEMBERED {
            self.existing.clear();
        }
        match change {
            DiskChange::Paths { paths, known } => {
                let mut events = Vec::new();
                for path in paths {
                    if !self.is_in_repository(path) {
                        self.add_events(path, known, files, &mut events);
                    }
                }
                events
            }
            DiskChange::Anything { before, after } => {
                self.existing.clear();
                self.compare(before, after)
            }
        }
    }

    fn add_events(
        &mut self,
        path: &AbsPath,
        known: &[String],
        files: &dyn Files,
        events: &mut Vec<FileEvent>,
    ) {
        let below = below(&self.root, path, known);
        let remembered = self.existing.get(path).copied();
        let existed =
            remembered.unwrap_or_else(|| !below.is_empty() || is_listed(&self.root, path, known));
        let stat = files.stat(path);
        self.existing.insert(path.clone(), stat.is_ok());
        let change = match stat {
            Ok(stat) if existed && stat.kind == FileKind::Folder => return,
            Ok(_) if existed => FileChangeType::Changed,
            Ok(_) => FileChangeType::Created,
            Err(_) => {
                // A folder that goes is reported without its files.
                for file in below {
                    let file = self.root.join(text_path(file));
                    if self.existing.insert(file.clone(), false) != Some(false) {
                        events.push(event(file, FileChangeType::Deleted));
                    }
                }
                FileChangeType::Deleted
            }
        };
        events.push(event(path.clone(), change));
    }

    /// Returns the events that lead from one list of files to another; files in both may have changed.
    fn compare(&self, before: &[String], after: &[String]) -> Vec<FileEvent> {
        let is_in = |list: &[String], file: &String| list.binary_search(file).is_ok();
        let gone = before.iter().filter(|file| !is_in(after, file));
        let gone = gone.map(|file| (file, FileChangeType::Deleted));
        let present = after.iter().map(|file| {
            let change = match before.binary_search(file) {
                Ok(_) => FileChangeType::Changed,
                Err(_) => FileChangeType::Created,
            };
            (file, change)
        });
        let events = gone.chain(present);
        events
            .map(|(file, change)| event(self.root.join(text_path(file)), change))
            .collect()
    }

    fn is_in_repository(&self, path: &AbsPath) -> bool {
        let relative = path.relative_to(&self.root);
        relative.is_some_and(|relative| relative.components().any(|it| it.as_os_str() == ".git"))
    }
}

fn event(path: AbsPath, change: FileChangeType) -> FileEvent {
    FileEvent { path, change }
}

/// Returns whether a path outside of the folder, or in its list of files, is known. Files outside are watched only
/// while they are open, so they exist.
fn is_listed(root: &AbsPath, path: &AbsPath, known: &[String]) -> bool {
    path.relative_to(root)
        .is_none_or(|relative| known.binary_search(&path_text(relative)).is_ok())
}

/// Returns the known files below a path.
fn below<'a>(root: &AbsPath, path: &AbsPath, known: &'a [String]) -> &'a [String] {
    let Some(relative) = path.relative_to(root) else {
        return &[];
    };
    let prefix = path_text(relative) + "/";
    let start = known.partition_point(|file| *file < prefix);
    let count = known[start..].partition_point(|file| file.starts_with(&prefix));
    &known[start..start + count]
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    fn path(name: &str) -> AbsPath {
        AbsPath::new("/w").expect("absolute").join(name)
    }

    fn list(names: &[&str]) -> Arc<Vec<String>> {
        let mut names: Vec<String> = names.iter().map(|&it| it.to_owned()).collect();
        names.sort();
        Arc::new(names)
    }

    struct World {
        files: FakeFiles,
        tracker: ExistenceTracker,
        known: Arc<Vec<String>>,
    }

    impl World {
        fn new(names: &[&str]) -> Self {
            let files = FakeFiles::new();
            for name in names {
                files.write(&path(name), "x");
            }
            Self {
                files,
                tracker: ExistenceTracker::new(path("")),
                known: list(names),
            }
        }

        /// Checks the events of a report of these paths, such as "+a" for a created file.
        fn check(&mut self, reported: &[&str], expected: &[&str]) {
            let change = DiskChange::Paths {
                paths: reported.iter().map(|&name| path(name)).collect(),
                known: self.known.clone(),
            };
            let events = self.tracker.events(&change, &self.files);
            assert_eq!(texts(&events), expected);
        }
    }

    fn texts(events: &[FileEvent]) -> Vec<String> {
        let text = |event: &FileEvent| {
            let sign = match event.change {
                FileChangeType::Created => '+',
                FileChangeType::Changed => '=',
                FileChangeType::Deleted => '-',
            };
            let relative = event.path.relative_to(&path("")).expect("below the root");
            format!("{sign}{}", relative.display())
        };
        events.iter().map(text).collect()
    }

    #[test]
    fn a_path_was_created_changed_or_deleted() {
        let mut world = World::new(&["a", "b"]);
        world.files.write(&path("c"), "x");
        world.files.delete(&path("b"));
        world.check(&["a", "b", "c"], &["=a", "-b", "+c"]);
    }

    #[test]
    fn events_alternate_while_the_list_is_old() {
        let mut world = World::new(&["a"]);
        world.files.delete(&path("a"));
        world.check(&["a"], &["-a"]);
        world.files.write(&path("a"), "y");
        world.check(&["a"], &["+a"]);
        world.check(&["a"], &["=a"]);
        world.files.write(&path("ignored"), "y");
        world.check(&["ignored"], &["+ignored"]);
        world.check(&["ignored"], &["=ignored"]);
    }

    #[test]
    fn the_files_of_a_deleted_folder_are_deleted() {
        let mut world = World::new(&["d/a", "d/e/b", "d.x", "da"]);
        world.files.delete(&path("d"));
        world.check(&["d"], &["-d/a", "-d/e/b", "-d"]);
        world.check(&["d", "d/a"], &["-d", "-d/a"]);
    }

    #[test]
    fn known_folders_and_repositories_give_no_events() {
        let mut world = World::new(&["d/a"]);
        world.files.write(&path(".git/index"), "x");
        world.files.folder(&path("new"));
        world.check(&["d", ".git/index", "new"], &["+new"]);
    }

    #[test]
    fn after_a_rescan_the_lists_are_compared() {
        let mut tracker = ExistenceTracker::new(path(""));
        let (before, after) = (list(&["a", "b"]), list(&["b", "c"]));
        let change = DiskChange::Anything { before, after };
        let events = tracker.events(&change, &FakeFiles::new());
        assert_eq!(texts(&events), ["-a", "=b", "+c"]);
    }
}
