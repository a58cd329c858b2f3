//! Tests of interpreting events, with a disk in memory and events as FSEvents reports them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use async_channel::Receiver;
use notify::event::{DataChange, Event, Flag, MetadataKind, RenameMode};

use super::*;
use crate::watch::{WatchEvent, WatchRequest};

/// The root as the caller names it, and as the system does.
const GIVEN: &str = "/tmp/project";
const REAL: &str = "/private/tmp/project";

/// Entries by their path below the root: `None` for a folder, otherwise a version of the content.
type Tree = BTreeMap<String, Option<u32>>;

/// A disk in memory that queues events as the system does.
#[derive(Default)]
struct FakeDisk {
    tree: Tree,
    /// Everything that happened at each path since the start, as FSEvents coalesces it.
    flags: BTreeMap<String, Vec<EventKind>>,
    queue: Vec<Event>,
}

impl FakeDisk {
    fn event(&mut self, path: &str, kind: EventKind) {
        let flags = self.flags.entry(path.to_owned()).or_default();
        if !flags.contains(&kind) {
            flags.push(kind);
        }
        let at = if path.is_empty() {
            PathBuf::from(REAL)
        } else {
            Path::new(REAL).join(path)
        };
        let events = flags
            .iter()
            .map(|kind| Event::new(*kind).add_path(at.clone()));
        self.queue.extend(events);
    }

    fn below(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{folder}/");
        let inner = self.tree.keys().filter(|path| path.starts_with(&prefix));
        inner.cloned().collect()
    }

    fn write(&mut self, path: &str, version: u32) {
        let is_new = self.tree.insert(path.to_owned(), Some(version)).is_none();
        let kind = if is_new {
            EventKind::Create(CreateKind::File)
        } else {
            EventKind::Modify(ModifyKind::Data(DataChange::Content))
        };
        self.event(path, kind);
    }

    fn make_folder(&mut self, path: &str) {
        self.tree.insert(path.to_owned(), None);
        self.event(path, EventKind::Create(CreateKind::Folder));
    }

    fn remove(&mut self, path: &str) {
        for inner in self.below(path) {
            self.tree.remove(&inner);
            self.event(&inner, EventKind::Remove(RemoveKind::Any));
        }
        let kind = match self.tree.remove(path) {
            Some(None) => RemoveKind::Folder,
            _ => RemoveKind::File,
        };
        self.event(path, EventKind::Remove(kind));
    }

    /// Moves an entry: its contents are not mentioned, and the two names have unrelated events.
    fn rename(&mut self, from: &str, to: &str, is_new_first: bool) {
        for inner in self.below(from) {
            let node = self.tree.remove(&inner).expect("listed");
            self.tree
                .insert(format!("{to}{}", &inner[from.len()..]), node);
        }
        let node = self.tree.remove(from).expect("there");
        self.tree.insert(to.to_owned(), node);
        let kind = EventKind::Modify(ModifyKind::Name(RenameMode::Any));
        let (first, second) = if is_new_first { (to, from) } else { (from, to) };
        self.event(first, kind);
        self.event(second, kind);
    }

    /// A folder with contents appears from outside the root.
    fn move_in(&mut self, to: &str, version: u32) {
        self.tree.insert(to.to_owned(), None);
        self.tree.insert(format!("{to}/deep"), None);
        self.tree.insert(format!("{to}/deep/file"), Some(version));
        self.event(to, EventKind::Modify(ModifyKind::Name(RenameMode::Any)));
    }
}

fn inner(path: &AbsPath) -> String {
    let inner = path.as_path().strip_prefix(GIVEN).expect("below the root");
    inner.to_str().expect("a name").to_owned()
}

impl WatchedDisk for RefCell<FakeDisk> {
    fn is_folder(&self, path: &AbsPath) -> bool {
        self.borrow().tree.get(&inner(path)) == Some(&None)
    }

    fn entries(&self, path: &AbsPath) -> Vec<(AbsPath, bool)> {
        let disk = self.borrow();
        let folder = inner(path);
        let children = disk
            .tree
            .iter()
            .filter(|(path, _)| Path::new(path).parent() == Some(Path::new(&folder)));
        children
            .map(|(path, node)| (root().join(path), node.is_none()))
            .collect()
    }
}

/// A reader of the events: its tree is only updated at the paths that they mention.
#[derive(Default)]
struct TreeReader {
    tree: Tree,
}

impl TreeReader {
    fn read(&mut self, disk: &Tree, events: &Receiver<WatchEvent>) {
        while let Ok(event) = events.try_recv() {
            match event {
                WatchEvent::Rescan(_) => self.tree = disk.clone(),
                WatchEvent::Changed(paths) => {
                    for path in paths {
                        self.look(disk, &inner(&path));
                    }
                }
                WatchEvent::Ready | WatchEvent::Problem(_) => {}
            }
        }
    }

    /// Looks at one path again, and at what is known below it.
    fn look(&mut self, disk: &Tree, path: &str) {
        let prefix = format!("{path}/");
        self.tree.retain(|known, node| {
            if known != path && !known.starts_with(&prefix) {
                return true;
            }
            match disk.get(known) {
                Some(now) => {
                    *node = *now;
                    true
                }
                None => false,
            }
        });
        if let Some(now) = disk.get(path) {
            self.tree.insert(path.to_owned(), *now);
        }
    }
}

fn root() -> AbsPath {
    AbsPath::new(GIVEN).expect("absolute")
}

fn watched(capacity: usize) -> (WatchedPaths, Receiver<WatchEvent>) {
    let (sender, events) = async_channel::bounded(capacity);
    let request = WatchRequest {
        root: root(),
        ignore: Arc::new(|path: &Path, is_folder| is_folder && path.ends_with("ignored")),
    };
    let names = vec![root(), AbsPath::new(REAL).expect("absolute")];
    (
        WatchedPaths::new(EventBatch::new(request, sender), names),
        events,
    )
}

/// A reproducible source of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        // The constants of Knuth's MMIX generator.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Makes one random change.
fn change(disk: &mut FakeDisk, numbers: &mut Numbers, version: u32) {
    let folders: Vec<_> = (disk.tree.iter())
        .filter(|(_, node)| node.is_none())
        .map(|(path, _)| path.clone())
        .chain([String::new()])
        .collect();
    let folder = &folders[numbers.below(folders.len())];
    let name = ["a", "b", "c", "d"][numbers.below(4)];
    let fresh = format!("{folder}/{name}")
        .trim_start_matches('/')
        .to_owned();
    let existing: Vec<_> = disk.tree.keys().cloned().collect();
    let old = (!existing.is_empty()).then(|| existing[numbers.below(existing.len())].clone());
    let is_taken = disk.tree.contains_key(&fresh);
    match (numbers.below(7), old) {
        (0 | 1, _) if disk.tree.get(&fresh) != Some(&None) => disk.write(&fresh, version),
        (2, _) if !is_taken => disk.make_folder(&fresh),
        (3, _) if !is_taken => disk.move_in(&fresh, version),
        (4, Some(old)) => disk.remove(&old),
        (5 | 6, Some(old)) if !Path::new(&fresh).starts_with(&old) => {
            // Replaces a file as an atomic save does.
            let is_file = disk.tree[&old].is_some() && disk.tree.get(&fresh) != Some(&None);
            if !is_taken || is_file {
                disk.rename(&old, &fresh, numbers.below(2) == 0);
            }
        }
        _ => {}
    }
}

/// Delivers a part of the queue: late, partly twice, in any order, and sometimes not at all.
fn deliver(
    paths: &mut WatchedPaths,
    disk: &Rc<RefCell<FakeDisk>>,
    numbers: &mut Numbers,
    is_last: bool,
) {
    let mut events = std::mem::take(&mut disk.borrow_mut().queue);
    if !is_last {
        let late = numbers.below(events.len() + 1);
        disk.borrow_mut().queue = events.split_off(late);
    }
    for ix in (1..events.len()).rev() {
        events.swap(ix, numbers.below(ix + 1));
    }
    if !events.is_empty() && numbers.below(8) == 0 {
        // The system drops the rest and reports the loss.
        events.truncate(numbers.below(events.len()));
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        events.push(lost.add_path(PathBuf::from(REAL)));
    }
    for event in events {
        let count = 1 + usize::from(numbers.below(4) == 0);
        for _ in 0..count {
            for reported in translate(Ok(event.clone())) {
                paths.take(reported, &**disk);
            }
        }
    }
}

#[test]
fn after_any_script_the_tree_equals_a_walk() {
    let mut rescans = 0;
    for seed in 0..2000 {
        let mut numbers = Numbers(seed);
        let disk = Rc::new(RefCell::new(FakeDisk::default()));
        let (mut paths, events) = watched(64);
        let mut reader = TreeReader::default();
        for step in 0..60 {
            change(&mut disk.borrow_mut(), &mut numbers, step);
            if numbers.below(5) == 0 {
                deliver(&mut paths, &disk, &mut numbers, false);
                rescans += usize::from(paths.batch.is_rescanning());
                paths.batch.send_all();
                reader.read(&disk.borrow().tree, &events);
            }
        }
        deliver(&mut paths, &disk, &mut numbers, true);
        paths.batch.send_all();
        reader.read(&disk.borrow().tree, &events);
        assert_eq!(reader.tree, disk.borrow().tree, "seed {seed}");
    }
    assert!(rescans > 100, "{rescans} scripts lost events");
}

/// Returns what is sent after one event.
fn sent(event: Event, set_up: impl Fn(&mut WatchedPaths)) -> Vec<WatchEvent> {
    let disk = RefCell::new(FakeDisk::default());
    for folder in ["ignored", "ignored/deep", "moved", "moved/deep"] {
        disk.borrow_mut().tree.insert(folder.to_owned(), None);
    }
    disk.borrow_mut()
        .tree
        .insert("moved/deep/file".to_owned(), Some(0));
    let (mut paths, events) = watched(64);
    set_up(&mut paths);
    for reported in translate(Ok(event)) {
        paths.take(reported, &disk);
    }
    paths.batch.send_all();
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

fn changed(paths: &[&str]) -> Vec<WatchEvent> {
    let paths = paths
        .iter()
        .map(|path| AbsPath::new(path).expect("absolute"));
    vec![WatchEvent::Changed(paths.collect())]
}

fn at(kind: EventKind, path: &str) -> Event {
    Event::new(kind).add_path(path.into())
}

#[test]
fn paths_are_reported_as_the_caller_names_them() {
    let kind = EventKind::Create(CreateKind::File);
    for path in ["/private/tmp/project/x", "/tmp/project/x"] {
        let found = sent(at(kind, path), |_| ());
        assert_eq!(found, changed(&["/tmp/project/x"]), "{path}");
    }
    for path in [
        "/tmp/projects",
        "/private/tmp/x",
        "/tmp/project/ignored/deep/x",
    ] {
        assert_eq!(sent(at(kind, path), |_| ()), [], "{path}");
    }
    assert_eq!(sent(at(kind, REAL), |_| ()), changed(&[GIVEN]));
}

#[test]
fn a_moved_folder_is_reported_with_its_contents() {
    let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::Any));
    let all = [
        "/tmp/project/moved",
        "/tmp/project/moved/deep",
        "/tmp/project/moved/deep/file",
    ];
    assert_eq!(
        sent(at(renamed, "/private/tmp/project/moved"), |_| ()),
        changed(&all)
    );
    // Its permissions alone say nothing about its contents.
    let touched = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
    assert_eq!(
        sent(at(touched, "/private/tmp/project/moved"), |_| ()),
        changed(&all[..1])
    );
}

#[test]
fn visible_paths_are_reported_wherever_they_lie() {
    let set_up = |paths: &mut WatchedPaths| {
        let outside = AbsPath::new("/etc/hosts").expect("absolute");
        let ignored = root().join("ignored/deep/x");
        let names = vec![("/private/etc/hosts".into(), outside.clone())];
        paths.set_visible(vec![outside, ignored], names);
    };
    let kind = EventKind::Modify(ModifyKind::Data(DataChange::Content));
    for (path, wanted) in [
        ("/private/etc/hosts", changed(&["/etc/hosts"])),
        ("/private/etc/passwd", Vec::new()),
        (
            "/private/tmp/project/ignored/deep/x",
            changed(&["/tmp/project/ignored/deep/x"]),
        ),
        ("/private/tmp/project/ignored/deep/y", Vec::new()),
    ] {
        assert_eq!(sent(at(kind, path), set_up), wanted, "{path}");
    }
    let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    let found = sent(lost.add_path("/private/etc".into()), set_up);
    assert_eq!(found, changed(&["/etc/hosts"]));
}

#[test]
fn lost_events_and_mounts_cause_a_rescan() {
    let rescan = vec![WatchEvent::Rescan(root())];
    let lost = || Event::new(EventKind::Other).set_flag(Flag::Rescan);
    assert_eq!(sent(lost(), |_| ()), rescan);
    for path in [REAL, "/private/tmp/project/moved", "/private"] {
        assert_eq!(sent(lost().add_path(path.into()), |_| ()), rescan, "{path}");
    }
    let mount = at(
        EventKind::Create(CreateKind::Other),
        "/private/tmp/project/moved",
    );
    assert_eq!(sent(mount.set_info("mount"), |_| ()), rescan);
}

#[test]
fn an_impaired_watch_is_explained_with_a_remedy() {
    for (error, remedy) in [
        (
            notify::Error::generic("unable to start FSEvent stream"),
            "close programs",
        ),
        (
            notify::Error::new(ErrorKind::MaxFilesWatch),
            "fs.inotify.max_user_watches",
        ),
    ] {
        let reported = translate(Err(error));
        let [ReportedEvent::Problem(sentence)] = &reported[..] else {
            panic!("{reported:?}");
        };
        assert!(sentence.contains(remedy), "{sentence}");
    }
    let gone = notify::Error::path_not_found().add_path("/private/tmp/project/x".into());
    let wanted = ReportedEvent::Changed("/private/tmp/project/x".into(), ReportedChange::Entry);
    assert_eq!(translate(Err(gone)), [wanted]);
}
