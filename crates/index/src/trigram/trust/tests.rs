//! What is trusted, what is looked at, and what ends the trust.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use base::AbsPath;
use host::{Files, RealFiles, TempFolder};
use project::Hidden;
use project::search::{SearchQuery, Sieve, Sift, Wanted};

use super::super::lock;
use super::super::tests::edits::settle;
use crate::trigram::Trigrams;

struct World {
    _folder: TempFolder,
    root: PathBuf,
    index: Trigrams,
}

/// Files that hold `hay`, all of them trusted.
fn world(files: &[&str]) -> World {
    let folder = TempFolder::new().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    for name in files {
        let path = place("root").join(name);
        let parent = path.parent().expect("below the root");
        RealFiles.create_folder(&parent).expect("create");
        RealFiles.write_private(&path, b"hay").expect("write");
    }
    let index = Trigrams::open(place("root"), place("store"));
    settle(&index);
    let world = World {
        root: place("root").as_path().to_owned(),
        index,
        _folder: folder,
    };
    world.until_trusted();
    world
}

/// In place, so that it stays the same file.
fn write(path: &Path, content: &str) {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    let file = options.open(path).expect("it can be written");
    file.write_all_at(content.as_bytes(), 0).expect("write");
}

impl World {
    fn write(&self, name: &str, content: &str) {
        write(&self.root.join(name), content);
    }

    /// What happened just before is doubtful; so it is looked over until that is long enough ago.
    fn until_trusted(&self) {
        for _ in 0..1000 {
            settle(&self.index);
            lock(&self.index.0.watch).trust = None;
            self.index.0.look_over();
            if self.doubtful() == Some(0) {
                return;
            }
            std::thread::yield_now();
        }
        panic!("files stay doubtful: {:?}", lock(&self.index.0.watch));
    }

    /// How many paths are looked at; `None` where all are.
    fn doubtful(&self) -> Option<usize> {
        self.index.0.doubtful().map(|doubtful| doubtful.len())
    }

    /// Files that a search for `needle` would look into.
    fn found(&self) -> Vec<String> {
        let root = AbsPath::new(&self.root).expect("absolute");
        let sift = self.index.sift(&Wanted {
            root: &root,
            query: &SearchQuery::literal("needle"),
            walk: Some(Hidden::Skip),
        });
        let (Some(Sift::Whole(files)) | Some(Sift::Part(files))) = sift else {
            panic!("it knows the folder");
        };
        let all = (0..files.count()).filter(|ix| files.may_match(*ix));
        all.map(|ix| files.path(ix).name()).collect()
    }
}

#[test]
fn a_change_is_looked_at_by_the_next_search() {
    let world = world(&["a", "in/b", "in/c"]);
    assert_eq!(world.found(), [""; 0]);
    world.write("in/b", "needle");
    assert_eq!(world.found(), ["b"]);
    world.write("in/new", "needle");
    assert_eq!(world.found(), ["b", "new"]);
    assert_eq!(world.doubtful(), Some(3), "b, new, and the folder");
    let gone = AbsPath::new(world.root.join("in/b")).expect("absolute");
    RealFiles.remove(&gone).expect("remove");
    assert_eq!(world.found(), ["new"]);
}

#[test]
fn new_folders_end_the_trust_and_are_searched() {
    let world = world(&["a", "in/b"]);
    fs::create_dir(world.root.join("new")).expect("create");
    world.write("new/c", "needle");
    assert_eq!(world.doubtful(), None);
    assert_eq!(world.found(), ["c"]);
    world.until_trusted();
    world.write("new/d", "needle");
    assert_eq!(world.found(), ["c", "d"]);
}

#[test]
fn folders_that_rules_let_in_are_not_trusted() {
    let world = world(&[".git/x", "a", "in/b"]);
    world.write(".gitignore", "in/");
    settle(&world.index);
    world.until_trusted();
    world.write(".gitignore", "");
    // Listed, but nobody tells of what happens there.
    for _ in 0..1000 {
        let known = world.index.0.known();
        let is_read = known.files.iter().all(|file| file.content.mark().is_some());
        if known.files.len() == 3 && is_read {
            break;
        }
        let root = AbsPath::new(&world.root).expect("absolute");
        world
            .index
            .touch(&[root.join(".gitignore"), root.join("in/b")]);
        world.index.refresh(&false.into()).expect("readable");
        lock(&world.index.0.watch).looked = None;
    }
    world.write("in/b", "needle");
    assert_eq!(world.found(), ["b"]);
}

#[test]
fn more_changes_than_can_be_told_end_the_trust() {
    let world = world(&["a", "in/b"]);
    let mut most = String::new();
    let limit = File::options()
        .read(true)
        .open("/proc/sys/fs/inotify/max_queued_events");
    let mut limit = limit.expect("Linux");
    limit.read_to_string(&mut most).expect("text");
    let most: usize = most.trim().parse().expect("a number");
    let open = |name: &str| File::options().write(true).open(world.root.join(name));
    let files = ["a", "in/b"].map(|name| open(name).expect("it is there"));
    for round in 0..=most {
        files[round % 2].write_all_at(b"needle", 0).expect("write");
    }
    assert_eq!(world.doubtful(), None);
    assert_eq!(world.found(), ["a", "b"]);
}

#[test]
fn a_change_that_nobody_tells_of_ends_all_trust() {
    let world = world(&["a", "in/b"]);
    let elsewhere = world.root.with_file_name("elsewhere");
    fs::hard_link(world.root.join("a"), &elsewhere).expect("link");
    write(&elsewhere, "needle");
    world.index.0.look_over();
    assert_eq!(world.doubtful(), None);
    assert_eq!(world.found(), ["a"]);
    assert_eq!(world.index.notes().len(), 1);
    settle(&world.index);
    assert_eq!(world.doubtful(), None, "not again");
}
