//! Changes of files on a real disk, found by their stamps and in a log.

use std::sync::Arc;

use agent::services::SessionServices;
use agent::tool::{CallInput, ToolCall, ToolContext};
use agent::user_prompts::UserPrompts;
use composer::change_history::{
    ChangeAuthor, ChangeHistory, ChangeHistoryOptions, FakeBase, ObserveScope,
};
use host::{FakeClock, Files as _, RealFiles, TempFolder};
use model::Profile;
use serde_json::json;

use super::*;

type Events = Vec<(&'static str, FileChangeType)>;

/// Returns the context of a call below `root`.
pub(in crate::agent_language) fn context(root: &AbsPath) -> ToolContext {
    let sources = SessionServices {
        files: Arc::new(RealFiles),
        clock: Arc::new(FakeClock::at(1)),
        state: root.clone(),
        buffers: None,
        search: None,
    };
    ToolContext {
        session: "s".into(),
        turn: 1,
        root: root.clone(),
        sources: Arc::new(sources),
        sandbox: None,
        prompts: UserPrompts::empty(),
        stop: tokio::sync::watch::channel(false).1,
        profile: Arc::new(Profile::harmless()),
        output_tokens: 1000,
        progress: tokio::sync::mpsc::channel(1).0,
        control_changes: tokio::sync::mpsc::unbounded_channel().0,
    }
}

/// Returns a call without input.
pub(in crate::agent_language) fn call() -> ToolCall {
    ToolCall {
        id: "1".to_owned(),
        tool: "tool".to_owned(),
        input: CallInput::Json(json!({})),
        waits: false,
    }
}

/// Returns the log of a tree, kept in `folder`.
pub(in crate::agent_language) fn log(root: &AbsPath, folder: &AbsPath) -> ChangeHistory {
    let options = ChangeHistoryOptions {
        root: root.clone(),
        base: Box::new(FakeBase::default()),
        folder: folder.clone(),
        files: Arc::new(RealFiles),
        // With a clock in the past, every file is read again.
        clock: Arc::new(FakeClock::at(1)),
    };
    ChangeHistory::open(options, ChangeAuthor::Disk).expect("a log")
}

fn write(root: &AbsPath, path: &str, text: &str) {
    let path = root.join(path);
    let folder = path.parent().expect("a folder");
    RealFiles.create_folder(&folder).expect("a folder");
    RealFiles
        .write_private(&path, text.as_bytes())
        .expect("a file");
}

/// A folder with the files `a`, `b` and `in/c`, and a tracker that has read it.
struct World {
    /// Removed when it is dropped.
    _folder: TempFolder,
    root: AbsPath,
    tracker: FileChangeTracker,
}

impl World {
    fn new(watchers: impl FnOnce(&AbsPath, &AbsPath) -> TreeWatchers) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("tree");
        for path in ["a", "b", "in/c"] {
            write(&root, path, "old");
        }
        let root = RealFiles.canonicalize(&root).expect("it exists");
        let watchers = watchers(&root, &folder.path().join("log"));
        let tracker = FileChangeTracker::new(root.clone(), watchers);
        tracker.begin();
        Self {
            _folder: folder,
            root,
            tracker,
        }
    }

    fn changes(&self) -> Vec<(String, FileChangeType)> {
        match &mut *lock(&self.tracker.known) {
            KnownFiles::Unread => panic!("the tree was not read"),
            KnownFiles::Logged(next) => self.tracker.logged_changes(next),
            KnownFiles::Stamped(stamps) => self.tracker.stamped_changes(stamps),
        }
    }

    /// Creates `new`, changes `a`, and removes `b` and the folder `in`.
    fn change(&self) {
        write(&self.root, "new", "new");
        write(&self.root, "a", "newer");
        for path in ["b", "in"] {
            RealFiles.remove(&self.root.join(path)).expect("removed");
        }
    }
}

fn owned(events: &[(&'static str, FileChangeType)]) -> Vec<(String, FileChangeType)> {
    let events = events.iter();
    events
        .map(|(path, change)| ((*path).to_owned(), *change))
        .collect()
}

fn all_changes() -> Events {
    vec![
        ("a", FileChangeType::Changed),
        ("b", FileChangeType::Deleted),
        ("in/c", FileChangeType::Deleted),
        ("new", FileChangeType::Created),
    ]
}

/// Checks the changes that are found by stamps after `noted` was noted, and that they are found once.
fn check_stamped(noted: Option<&[&str]>, expected: &Events) {
    let world = World::new(|_, _| TreeWatchers::default());
    world.change();
    assert_eq!(world.changes(), [], "nothing was noted");
    let noted_changes = noted.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
    let changes = noted_changes.map_or(PossibleChanges::All, PossibleChanges::Paths);
    world.tracker.note(&world.root, &changes);
    assert_eq!(world.changes(), owned(expected), "{noted:?}");
    assert_eq!(world.changes(), []);
}

#[test]
fn changes_are_found_by_stamps() {
    check_stamped(None, &all_changes());
    check_stamped(
        Some(&["a", "new"]),
        &vec![
            ("a", FileChangeType::Changed),
            ("new", FileChangeType::Created),
        ],
    );
    // A folder that is gone stands for its files.
    check_stamped(Some(&["in"]), &all_changes());
    check_stamped(Some(&["none"]), &Vec::new());
}

#[test]
fn ignored_files_are_left_out() {
    let world = World::new(|_, _| TreeWatchers::default());
    RealFiles
        .create_folder(&world.root.join(".git"))
        .expect("a folder");
    write(&world.root, ".gitignore", "/built\n/target\n");
    write(&world.root, "built", "new");
    write(&world.root, "target/built", "new");
    world.tracker.note(&world.root, &PossibleChanges::All);
    let ignore = (".gitignore", FileChangeType::Created);
    assert_eq!(world.changes(), owned(&[ignore]));
    for path in ["built", "target/built", ".git/config"] {
        write(&world.root, path, "newer");
        let named = PossibleChanges::Paths(vec![path.to_owned()]);
        world.tracker.note(&world.root, &named);
        assert_eq!(world.changes(), [], "{path}");
    }
    let stamps = &*lock(&world.tracker.known);
    assert!(matches!(stamps, KnownFiles::Stamped(stamps) if !stamps.contains_key("built")));
}

#[test]
fn a_file_is_ignored_only_while_it_is_unknown() {
    let world = World::new(|_, _| TreeWatchers::default());
    RealFiles
        .create_folder(&world.root.join(".git"))
        .expect("a folder");
    write(&world.root, ".gitignore", "/a\n");
    write(&world.root, "a", "newer");
    let named = PossibleChanges::Paths(vec!["a".to_owned()]);
    world.tracker.note(&world.root, &named);
    let changed = ("a", FileChangeType::Changed);
    assert_eq!(world.changes(), owned(&[changed]));
}

#[test]
fn files_beyond_the_limit_count_as_changed() {
    let mut world = World::new(|_, _| TreeWatchers::default());
    world.tracker.max_files = 2;
    world.tracker.begin();
    write(&world.root, "in/c", "newer");
    let named = PossibleChanges::Paths(vec!["c".to_owned(), "b".to_owned()]);
    world.tracker.note(&world.root.join("in"), &named);
    let changed = ("in/c", FileChangeType::Changed);
    for _ in 0..2 {
        world.tracker.note(&world.root.join("in"), &named);
        assert_eq!(world.changes(), owned(&[changed]));
    }
}

#[test]
fn changes_of_a_logged_tree_are_those_of_its_log() {
    let mut history = None;
    let world = World::new(|root, folder| {
        let watchers = TreeWatchers::default();
        let log = Arc::new(Mutex::new(log(root, folder)));
        watchers.add(log.clone());
        history = Some(log);
        watchers
    });
    let history = history.expect("a log");
    let observe = || {
        let observed = lock(&history).observe(ObserveScope::All, &ChangeAuthor::Disk);
        observed.expect("changes");
    };
    assert_eq!(world.changes(), []);
    write(&world.root, "new", "first");
    write(&world.root, "short", "lived");
    observe();
    world.change();
    RealFiles
        .remove(&world.root.join("short"))
        .expect("removed");
    observe();
    assert_eq!(world.changes(), owned(&all_changes()));
    assert_eq!(world.changes(), []);
}
