//! Tests with links created in any place and at any moment.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::content_hash::ContentHash;
use crate::files::{ExpectedContent, OnDisk};
use crate::no_follow::tests::SetOnDrop;
use crate::real::links::{self, NoFollowEntry};
use crate::temp::TempFolder;

struct World {
    folder: TempFolder,
    files: BeneathFiles,
}

impl World {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("dir")).expect("a folder");
        fs::create_dir_all(folder.path().join("outside")).expect("a folder");
        fs::write(root.join("dir/a"), "inside").expect("a file");
        fs::write(folder.path().join("outside/a"), "outside").expect("a file");
        let files = BeneathFiles::new(&root);
        Self { folder, files }
    }

    fn root(&self, path: &str) -> AbsPath {
        self.files.root.join(path)
    }

    fn outside(&self, path: &str) -> AbsPath {
        self.folder.path().join("outside").join(path)
    }

    fn save(
        &self,
        path: &str,
        content: &str,
        expected: ExpectedContent,
    ) -> Result<SaveResult, Error> {
        self.files.save(&SaveRequest {
            path: &self.root(path),
            content: content.as_bytes(),
            expected,
            recovery_folder: &self.folder.path().join("recovery"),
        })
    }
}

#[test]
fn operations_below_the_root_work_as_usual() {
    let world = World::new();
    let files = &world.files;
    let (content, stat) = files
        .read_with_stat(&world.root("dir/a"), 100)
        .expect("a file");
    assert_eq!(content, b"inside");
    let known = OnDisk {
        stamp: stat.stamp,
        hash: ContentHash::of(&content),
    };
    world
        .save("dir/a", "new", ExpectedContent::Unchanged(known))
        .expect("unchanged");
    assert!(
        world
            .save("dir/a", "newer", ExpectedContent::Unchanged(known))
            .is_err()
    );
    files.create_folder(&world.root("x/y/z")).expect("a folder");
    files
        .create_folder(&world.root("x/y/z"))
        .expect("it is there");
    world
        .save("x/y/z/b", "b", ExpectedContent::Absent)
        .expect("a new file");
    files
        .rename(&world.root("x/y/z/b"), &world.root("dir/b"))
        .expect("free");
    let error = files
        .rename(&world.root("dir/a"), &world.root("dir/b"))
        .expect_err("taken");
    assert_eq!(error.path, world.root("dir/b"));
    let listing = files.list(&world.root("dir")).expect("a folder");
    let names: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| entry.path.clone())
        .collect();
    assert_eq!(names, [world.root("dir/a"), world.root("dir/b")]);
    files.remove(&world.root("x")).expect("a folder");
    assert!(!files.exists(&world.root("x")));
    let error = files.read(&world.root("none"), 1).expect_err("missing");
    assert!(
        error.is_not_found() && error.path == world.root("none"),
        "{error}"
    );
    // A file with two names is overwritten in place.
    fs::hard_link(world.root("dir/a"), world.root("dir/other")).expect("a second name");
    world
        .save("dir/a", "both", ExpectedContent::Anything)
        .expect("a save");
    assert_eq!(fs::read(world.root("dir/other")).expect("a file"), b"both");
    assert_eq!(
        files
            .read(&world.outside("a"), 100)
            .expect("outside is as ever"),
        b"outside"
    );
}

#[test]
fn no_planted_link_leads_out() {
    let world = World::new();
    symlink(world.outside(""), world.root("away")).expect("a link");
    symlink(world.outside("a"), world.root("file")).expect("a link");
    symlink(world.outside("new"), world.root("nowhere")).expect("a link");
    let files = &world.files;
    for path in ["away/a", "file", "nowhere", "away"] {
        let path = world.root(path);
        assert!(files.read(&path, 100).is_err(), "{path}");
        assert!(files.list(&path).is_err(), "{path}");
        let mut any = false;
        let read = files.read_chunks(&path, &mut Vec::new(), &mut |_| {
            any = true;
            ControlFlow::Continue(())
        });
        assert!(read.is_err() && !any, "{path}");
    }
    for path in ["away/a", "away/new", "file", "nowhere"] {
        for expected in [ExpectedContent::Anything, ExpectedContent::Absent] {
            let error = world.save(path, "evil", expected).expect_err(path);
            assert_eq!(error.path, world.root(path));
        }
    }
    assert!(files.create_folder(&world.root("away/deep")).is_err());
    assert!(files.create_file(&world.root("away/new")).is_err());
    assert!(files.remove(&world.root("away/a")).is_err());
    assert!(
        files
            .rename(&world.root("dir/a"), &world.root("away/b"))
            .is_err()
    );
    assert!(
        files
            .rename(&world.root("away/a"), &world.root("dir/b"))
            .is_err()
    );
    assert_eq!(fs::read(world.outside("a")).expect("a file"), b"outside");
    assert_eq!(
        fs::read_dir(world.outside("")).expect("a folder").count(),
        1
    );
    // The link itself may be removed; its target stays.
    files.remove(&world.root("away")).expect("a link");
    assert!(world.outside("a").as_path().exists());
}

/// Returns the number of rounds of a race; `BURIN_RACES` overrides the default.
fn races() -> usize {
    let given = std::env::var("BURIN_RACES").ok();
    given.and_then(|number| number.parse().ok()).unwrap_or(1000)
}

#[test]
fn swapping_folders_and_links_never_escapes_the_root() {
    let world = World::new();
    fs::write(world.outside("only"), "outside").expect("a file");
    let (dir, aside, link) = (world.root("dir"), world.root("aside"), world.root("link"));
    symlink(world.outside(""), &link).expect("a link");
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        // Also set if an assertion fails, so that the other thread ends.
        let _end = SetOnDrop(&is_over);
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::rename(&dir, &aside).ok();
                fs::rename(&link, &dir).ok();
                fs::rename(&dir, &link).ok();
                fs::rename(&aside, &dir).ok();
            }
        });
        let (mut read, mut saved) = (0, 0);
        for round in 0..races() {
            if let Ok(content) = world.files.read(&world.root("dir/a"), 100) {
                assert_ne!(content, b"outside", "round {round}");
                read += 1;
            }
            world.files.remove(&world.root("dir/new")).ok();
            world.files.create_folder(&world.root("dir/deep")).ok();
            world.files.create_file(&world.root("dir/made")).ok();
            let (one, two) = (world.root("dir/made"), world.root("dir/moved"));
            world.files.rename(&one, &two).ok();
            world.files.remove(&two).ok();
            let copy = world.root("copy");
            // The copy of a link is that link.
            if world.files.copy(&world.root("dir"), &copy).is_ok()
                && fs::symlink_metadata(&copy).is_ok_and(|copied| copied.is_dir())
            {
                let copied = fs::read(copy.join("a")).unwrap_or_default();
                assert_ne!(copied, b"outside", "round {round}");
            }
            world.files.remove(&copy).ok();
            links::make_link(&world.files.root, &one, OsStr::new("x")).ok();
            links::set_executable(&world.files.root, &world.root("dir/a"), true).ok();
            let listed = world.files.list(&world.root("dir"));
            assert!(
                !listed.is_ok_and(|it| it.entries.iter().any(|it| it.path.name() == "only")),
                "round {round}"
            );
            let found = links::entry_at(&world.files.root, &world.root("dir/only"));
            assert!(
                matches!(found, Ok(NoFollowEntry::Absent) | Err(_)),
                "round {round}"
            );
            // A save waits for the disk.
            if round % 40 == 0 {
                saved += usize::from(
                    world
                        .save("dir/a", "evil", ExpectedContent::Anything)
                        .is_ok(),
                );
                world
                    .save("dir/new", "evil", ExpectedContent::Anything)
                    .ok();
            }
        }
        assert!(read > 0 && saved > 0, "{read} {saved}");
    });
    assert_eq!(fs::read(world.outside("a")).expect("a file"), b"outside");
    let mut left: Vec<_> = fs::read_dir(world.outside(""))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["a", "only"]);
    let mode = fs::metadata(world.outside("a")).expect("a file");
    assert_eq!(mode.permissions().mode() & 0o111, 0);
}
