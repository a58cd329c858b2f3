//! Tests of watching real folders, with both implementations.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::AbsPath;

use super::batch::{EventBatch, GATHER};
use super::portable;
use crate::error::Error;
use crate::reexec::{is_reexec, reexec_test};
use crate::temp::TempFolder;
use crate::watch::{WatchEvent, WatchRequest, Watcher};

const PATIENCE: Duration = Duration::from_secs(20);

struct Ground {
    watcher: Watcher,
    folder: TempFolder,
}

type Start = fn(WatchRequest) -> Result<Watcher, Error>;

impl Ground {
    fn new(start: Start, prepare: impl Fn(&AbsPath)) -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        prepare(folder.path());
        let request = WatchRequest {
            root: folder.path().clone(),
            ignore: Arc::new(|path: &Path, is_folder| is_folder && path.ends_with("ignored")),
        };
        let watcher = start(request).expect("a watcher");
        let ground = Self { watcher, folder };
        ground.wait("ready", |event| *event == WatchEvent::Ready);
        ground
    }

    fn path(&self, name: &str) -> AbsPath {
        self.folder.path().join(name)
    }

    /// Waits for an event and drops the ones before it.
    fn wait(&self, what: &str, mut is_wanted: impl FnMut(&WatchEvent) -> bool) {
        let start = Instant::now();
        loop {
            match self.watcher.events.try_recv() {
                Ok(event) if is_wanted(&event) => return,
                Ok(_) => {}
                Err(_) => {
                    assert!(start.elapsed() < PATIENCE, "no event: {what}");
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }

    fn wait_for(&self, name: &str) {
        let path = self.path(name);
        self.wait(name, |event| match event {
            WatchEvent::Changed(paths) => paths.contains(&path),
            WatchEvent::Rescan(_) => true,
            WatchEvent::Ready | WatchEvent::Problem(_) => false,
        });
    }

    /// Collects all paths of the events so far, and of later ones until `last` changes.
    fn until(&self, last: &str) -> Vec<AbsPath> {
        let last = self.path(last);
        let mut all = Vec::new();
        fs::write(&last, "").expect("a file");
        self.wait("the last file", |event| {
            if let WatchEvent::Changed(paths) = event {
                all.extend(paths.iter().cloned());
            }
            all.contains(&last)
        });
        all
    }
}

fn on_both(prepare: impl Fn(&AbsPath), check: impl Fn(&Ground)) {
    for start in [super::start as Start, portable::start] {
        check(&Ground::new(start, &prepare));
    }
}

fn nothing(_: &AbsPath) {}

#[test]
fn created_changed_and_removed_files_are_reported() {
    on_both(nothing, |ground| {
        let file = ground.path("file");
        fs::write(&file, "one").expect("a file");
        ground.wait_for("file");
        fs::write(&file, "two").expect("a file");
        ground.wait_for("file");
        fs::rename(&file, ground.path("other")).expect("renamed");
        ground.wait_for("other");
        fs::remove_file(ground.path("other")).expect("removed");
        ground.wait_for("other");
    });
}

/// Returns whether the test is skipped because of the watcher.
fn is_missing_early_changes() -> bool {
    if super::MISSES_EARLY_CHANGES {
        test_support::skip("on Linux, `notify` misses changes before its own watch");
    }
    super::MISSES_EARLY_CHANGES
}

#[test]
fn files_in_a_new_folder_are_reported() {
    if is_missing_early_changes() {
        return;
    }
    let ground = Ground::new(super::start, nothing);
    for round in 0..20 {
        let early = format!("{round}/b/c/early");
        fs::create_dir_all(ground.path(&format!("{round}/b/c"))).expect("folders");
        fs::write(ground.path(&early), "").expect("a file");
        ground.wait_for(&early);
        let late = format!("{round}/b/c/late");
        fs::write(ground.path(&late), "").expect("a file");
        ground.wait_for(&late);
    }
}

#[test]
fn a_renamed_folder_is_reported_under_its_new_name() {
    let prepare = |root: &AbsPath| fs::create_dir_all(root.join("one/deep")).expect("folders");
    on_both(prepare, |ground| {
        fs::rename(ground.path("one"), ground.path("two")).expect("renamed");
        ground.wait_for("two");
        fs::write(ground.path("two/deep/file"), "").expect("a file");
        ground.wait_for("two/deep/file");
    });
}

#[test]
fn ignored_folders_and_temporary_files_are_not_reported() {
    let prepare = |root: &AbsPath| fs::create_dir_all(root.join("ignored/deep")).expect("folders");
    on_both(prepare, |ground| {
        fs::write(ground.path("ignored/deep/file"), "").expect("a file");
        fs::write(ground.path(".burin-abcd1234"), "").expect("a file");
        fs::write(ground.path("file"), "").expect("a file");
        let all = ground.until("last");
        let names: Vec<_> = all.iter().map(AbsPath::name).collect();
        assert!(names.contains(&"file".to_owned()), "{names:?}");
        assert!(!names.contains(&".burin-abcd1234".to_owned()), "{names:?}");
        let ignored = ground.path("ignored");
        assert!(
            !all.iter()
                .any(|path| path.is_within(&ignored) && path != &ignored)
        );
    });
}

#[test]
fn opening_files_is_no_event() {
    let prepare = |root: &AbsPath| fs::write(root.join("file"), "x").expect("a file");
    let ground = Ground::new(super::start, prepare);
    for _ in 0..100 {
        fs::read(ground.path("file")).expect("the file");
    }
    assert_eq!(ground.until("last"), [ground.path("last")]);
}

#[test]
fn visible_paths_are_reported_even_outside_the_root() {
    let elsewhere = TempFolder::new().expect("a temporary folder");
    let file = elsewhere.path().join("file");
    fs::write(&file, "one").expect("a file");
    let ground = Ground::new(super::start, nothing);
    ground.watcher.set_visible(vec![file.clone()]);
    let start = Instant::now();
    let mut number = 0;
    // The request takes effect some time later, so the file keeps changing.
    while ground.watcher.events.is_empty() {
        number += 1;
        fs::write(&file, format!("{number}")).expect("a file");
        assert!(start.elapsed() < PATIENCE, "no event");
        std::thread::sleep(Duration::from_millis(10));
    }
    ground.wait("the visible file", |event| {
        *event == WatchEvent::Changed(vec![file.clone()])
    });
}

#[test]
fn a_burst_of_changes_loses_no_event() {
    const COUNT: usize = 3_000;
    if is_missing_early_changes() {
        return;
    }
    let ground = Ground::new(super::start, nothing);
    for number in 0..COUNT {
        let folder = ground.path(&format!("{}", number % 30));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{number}")), "").expect("a file");
    }
    let all: BTreeSet<_> = ground.until("last").into_iter().collect();
    let missing: Vec<_> = (0..COUNT)
        .map(|number| ground.path(&format!("{}/{number}", number % 30)))
        .filter(|path| !all.contains(path))
        .collect();
    assert_eq!(missing, []);
}

#[test]
fn too_many_changes_become_a_rescan() {
    let root = AbsPath::new("/root").expect("absolute");
    let (sender, events) = async_channel::bounded(1);
    let request = WatchRequest {
        root: root.clone(),
        ignore: Arc::new(|_: &Path, _| false),
    };
    let mut batch = EventBatch::new(request, sender);
    let send = |batch: &mut EventBatch| {
        std::thread::sleep(GATHER);
        batch.send();
    };
    batch.change(root.join("one"));
    send(&mut batch);
    // The channel is full now: events accumulate, and finally turn into a rescan.
    for number in 0..10_000 {
        batch.change(root.join(format!("{number}")));
    }
    send(&mut batch);
    assert_eq!(
        events.try_recv(),
        Ok(WatchEvent::Changed(vec![root.join("one")]))
    );
    assert!(events.is_empty() && batch.wait().is_some());
    send(&mut batch);
    assert_eq!(events.try_recv(), Ok(WatchEvent::Rescan(root)));
    assert!(batch.wait().is_none());
}

/// If the system grants few watches, the user is notified, and the visible paths are polled.
#[test]
fn visible_paths_are_polled_without_watches() {
    const THIS: &str = "real::watch::tests::visible_paths_are_polled_without_watches";
    if !is_reexec() {
        let script = "echo 5 > /proc/sys/user/max_inotify_watches && exec \"$@\"";
        let program = [
            "unshare",
            "--user",
            "--map-root-user",
            "sh",
            "-c",
            script,
            "sh",
        ];
        reexec_test(THIS, &program, &[]);
        return;
    }
    let folder = TempFolder::new().expect("a temporary folder");
    for number in 0..20 {
        fs::create_dir(folder.path().join(format!("{number:02}"))).expect("a folder");
    }
    let request = WatchRequest {
        root: folder.path().clone(),
        ignore: Arc::new(|_: &Path, _| false),
    };
    let ground = Ground {
        watcher: super::start(request).expect("a watcher"),
        folder,
    };
    ground.wait("a problem", |event| match event {
        WatchEvent::Problem(sentence) => sentence.contains("fs.inotify.max_user_watches"),
        _ => false,
    });
    let all: Vec<_> = (0..20)
        .map(|number| ground.path(&format!("{number:02}")))
        .collect();
    ground.watcher.set_visible(all.clone());
    for folder in all.into_iter().skip(18) {
        // Polling notices a change only after it has seen the state before.
        let start = Instant::now();
        let mut is_told = false;
        let mut number = 0;
        while !is_told {
            number += 1;
            fs::write(folder.join(format!("{number}")), "").expect("a file");
            while let Ok(event) = ground.watcher.events.try_recv() {
                is_told |= matches!(event, WatchEvent::Changed(paths)
                    if paths.iter().any(|path| path.is_within(&folder)));
            }
            assert!(start.elapsed() < PATIENCE, "no event in {folder}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn the_thread_ends_with_the_watcher() {
    let ground = Ground::new(super::start, nothing);
    let events = ground.watcher.events.clone();
    drop(ground);
    let start = Instant::now();
    while !events.is_closed() {
        assert!(start.elapsed() < PATIENCE, "the thread still runs");
        events.try_recv().ok();
        std::thread::sleep(Duration::from_millis(5));
    }
}
