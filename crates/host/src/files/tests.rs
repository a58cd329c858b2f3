//! The contract of `Files`, tested on each implementation.

use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt, symlink};

use base::AbsPath;

use super::{ExpectedContent, Files, OnDisk, SaveMethod, SaveRequest, SaveResult};
use crate::content_hash::ContentHash;
use crate::error::{Error, ErrorReason};
use crate::fake::FakeFiles;
use crate::real::RealFiles;
use crate::stat::FileKind;
use crate::temp::TempFolder;

/// Operations that tests need besides the trait: changes made by other programs.
struct Ground<'a> {
    files: &'a dyn Files,
    root: AbsPath,
    fake: Option<&'a FakeFiles>,
}

impl Ground<'_> {
    fn path(&self, name: &str) -> AbsPath {
        self.root.join(name)
    }

    fn write(&self, name: &str, content: &[u8]) -> AbsPath {
        let path = self.path(name);
        match self.fake {
            Some(fake) => fake.write(&path, content),
            None => std::fs::write(&path, content).expect("a file"),
        }
        path
    }

    fn link(&self, name: &str, target: &str) -> AbsPath {
        let path = self.path(name);
        match self.fake {
            Some(fake) => fake.link(&path, target),
            None => symlink(target, &path).expect("a link"),
        }
        path
    }

    fn set_mode(&self, path: &AbsPath, mode: u32) {
        match self.fake {
            Some(fake) => fake.set_mode(path, mode),
            None => std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
                .expect("a mode"),
        }
    }

    fn pipe(&self, name: &str) -> AbsPath {
        let path = self.path(name);
        match self.fake {
            Some(fake) => fake.pipe(&path),
            None => drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket")),
        }
        path
    }

    fn content(&self, path: &AbsPath) -> String {
        let content = self.files.read(path, 1 << 20).expect("a file");
        String::from_utf8(content).expect("text")
    }

    fn save(
        &self,
        path: &AbsPath,
        content: &str,
        expected: ExpectedContent,
    ) -> Result<SaveResult, Error> {
        self.files.save(&SaveRequest {
            path,
            content: content.as_bytes(),
            expected,
            recovery_folder: &self.root.join("recovery"),
        })
    }

    fn on_disk(&self, path: &AbsPath) -> OnDisk {
        let (content, stat) = self.files.read_with_stat(path, 1 << 20).expect("a file");
        OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&content),
        }
    }
}

fn on_both(check: impl Fn(&Ground<'_>)) {
    let fake = FakeFiles::new();
    let root = AbsPath::new("/ground").expect("absolute");
    fake.folder(&root);
    check(&Ground {
        files: &fake,
        root,
        fake: Some(&fake),
    });
    let folder = TempFolder::new().expect("a temporary folder");
    check(&Ground {
        files: &RealFiles,
        root: folder.path().clone(),
        fake: None,
    });
}

fn reason<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorReason {
    result.expect_err("an error").reason
}

#[test]
fn reading_enforces_the_limit_and_refuses_non_files() {
    on_both(|ground| {
        let path = ground.write("a", b"12345");
        let files = ground.files;
        let (content, stat) = files.read_with_stat(&path, 5).expect("a file");
        assert_eq!((content.as_slice(), stat.stamp.size), (&b"12345"[..], 5));
        assert_eq!(stat, files.stat(&path).expect("a stat"));
        let too_large = ErrorReason::TooLarge { size: 5, limit: 4 };
        assert_eq!(reason(files.read(&path, 4)), too_large);
        assert_eq!(
            reason(files.read(&ground.path("b"), 4)),
            ErrorReason::NotFound
        );
        let folder = ErrorReason::NotAFile(FileKind::Folder);
        assert_eq!(reason(files.read(&ground.root, 4)), folder);
        let pipe = ground.pipe("pipe");
        assert_eq!(
            reason(files.read(&pipe, 4)),
            ErrorReason::NotAFile(FileKind::Other)
        );
        assert_eq!(
            reason(files.read(&path.join("below"), 4)),
            ErrorReason::NotAFolder
        );
    });
}

#[test]
fn chunked_reading_appends_until_take_breaks() {
    on_both(|ground| {
        for size in [
            0, 1, 4_095, 4_096, 4_097, 262_143, 262_144, 262_145, 700_000,
        ] {
            let content: Vec<u8> = (0..size).map(|number: u32| number as u8).collect();
            let path = ground.write("long", &content);
            let mut buffer = b"before".to_vec();
            let go_on = &mut |_: &mut Vec<u8>| ControlFlow::Continue(());
            let read = ground.files.read_chunks(&path, &mut buffer, go_on);
            read.expect("the whole file");
            assert!(buffer.strip_prefix(b"before") == Some(&content), "{size}");
            let (mut all, mut taken) = (Vec::new(), Vec::new());
            let take_all = &mut |chunk: &mut Vec<u8>| {
                all.append(chunk);
                ControlFlow::Continue(())
            };
            let read = ground.files.read_chunks(&path, &mut taken, take_all);
            read.expect("chunks");
            assert!(all == content && taken.is_empty(), "{size}");
        }
        let path = ground.path("long");
        let mut count = 0;
        let take_one = &mut |_: &mut Vec<u8>| {
            count += 1;
            ControlFlow::Break(())
        };
        let read = ground.files.read_chunks(&path, &mut Vec::new(), take_one);
        read.expect("a chunk");
        assert_eq!(count, 1);
    });
}

#[test]
fn a_range_of_a_file_ends_with_the_file() {
    on_both(|ground| {
        let content: Vec<u8> = (0..10_000_u32).map(|number| number as u8).collect();
        let path = ground.write("long", &content);
        let read = |offset, length| ground.files.read_range(&path, offset, length);
        for (offset, length) in [(0, 1), (0, 10_000), (4_090, 20), (9_990, 10)] {
            let end = offset as usize + length;
            let bytes = read(offset, length).expect("a range");
            assert!(bytes == content[offset as usize..end], "{offset} {length}");
        }
        assert_eq!(read(9_998, usize::MAX).expect("the end"), content[9_998..]);
        assert!(read(10_000, 5).expect("the end").is_empty());
        assert!(read(u64::MAX - 9, 5).expect("behind the end").is_empty());
        let folder = ground.files.read_range(&ground.root, 0, 4);
        assert_eq!(reason(folder), ErrorReason::NotAFile(FileKind::Folder));
        let pipe = ground.files.read_range(&ground.pipe("pipe"), 0, 4);
        assert_eq!(reason(pipe), ErrorReason::NotAFile(FileKind::Other));
    });
}

#[test]
fn a_listing_names_kinds_and_survives_broken_links_and_loops() {
    on_both(|ground| {
        ground.write("file", b"");
        ground
            .files
            .create_folder(&ground.path("folder"))
            .expect("a folder");
        ground.link("to-file", "file");
        ground.link("to-folder", "folder");
        ground.link("to-nothing", "missing");
        ground.link("to-itself", "to-itself");
        ground.pipe("pipe");
        let listing = ground.files.list(&ground.root).expect("a listing");
        assert_eq!(listing.problems, []);
        let found: Vec<_> = listing
            .entries
            .iter()
            .map(|entry| (entry.path.name(), entry.kind, entry.is_link))
            .collect();
        let expected = [
            ("file", FileKind::File, false),
            ("folder", FileKind::Folder, false),
            ("pipe", FileKind::Other, false),
            ("to-file", FileKind::File, true),
            ("to-folder", FileKind::Folder, true),
            ("to-itself", FileKind::BrokenLink, true),
            ("to-nothing", FileKind::BrokenLink, true),
        ];
        assert_eq!(
            found,
            expected.map(|(name, kind, link)| (name.to_owned(), kind, link))
        );
    });
}

#[test]
fn link_cycles_are_an_error() {
    on_both(|ground| {
        let one = ground.link("one", "two");
        ground.link("two", "one");
        let files = ground.files;
        assert_eq!(reason(files.canonicalize(&one)), ErrorReason::LinkLoop);
        assert_eq!(files.stat(&one).expect("a stat").kind, FileKind::BrokenLink);
        assert_eq!(reason(files.read(&one, 1)), ErrorReason::LinkLoop);
        assert_eq!(
            reason(ground.save(&one, "x", ExpectedContent::Anything)),
            ErrorReason::LinkLoop
        );
        assert!(files.exists(&one));
    });
}

#[test]
fn a_path_is_resolved_through_links() {
    on_both(|ground| {
        let folder = ground.path("folder");
        ground.files.create_folder(&folder).expect("a folder");
        ground.write("folder/file", b"x");
        ground.link("link", "folder");
        let real = ground.files.canonicalize(&ground.path("link/file"));
        assert_eq!(real.expect("a path"), folder.join("file"));
    });
}

#[test]
fn a_save_creates_and_replaces() {
    on_both(|ground| {
        let path = ground.path("new");
        let created = ground
            .save(&path, "one", ExpectedContent::Absent)
            .expect("saved");
        assert_eq!(created.method, SaveMethod::Created);
        assert_eq!(created.on_disk, ground.on_disk(&path));
        let expected = ExpectedContent::Unchanged(created.on_disk);
        let replaced = ground.save(&path, "two", expected).expect("saved");
        assert_eq!(
            (replaced.method, replaced.unconfirmed),
            (SaveMethod::Replaced, None)
        );
        assert_eq!(replaced.on_disk, ground.on_disk(&path));
        assert_eq!(ground.content(&path), "two");
        ground
            .save(&path, "", ExpectedContent::Anything)
            .expect("saved without a question");
        assert_eq!(ground.content(&path), "");
        let names = ground.files.list(&ground.root).expect("a listing").entries;
        assert_eq!(names.len(), 1, "{names:?}");
    });
}

#[test]
fn a_save_never_replaces_an_unexpected_version() {
    on_both(|ground| {
        let path = ground.write("file", b"old");
        let known = ExpectedContent::Unchanged(ground.on_disk(&path));
        assert_eq!(
            reason(ground.save(&path, "x", ExpectedContent::Absent)),
            ErrorReason::AlreadyExists
        );
        ground.write("file", b"new, by another program");
        let changed = reason(ground.save(&path, "x", known));
        assert!(
            matches!(changed, ErrorReason::ChangedOnDisk { now: Some(_) }),
            "{changed:?}"
        );
        assert_eq!(ground.content(&path), "new, by another program");
        ground.files.remove(&path).expect("removed");
        assert_eq!(
            reason(ground.save(&path, "x", known)),
            ErrorReason::ChangedOnDisk { now: None }
        );
        assert!(!ground.files.exists(&path));
        // The same bytes under another stamp count as expected.
        ground.write("file", b"old");
        ground
            .save(&path, "x", known)
            .expect("saved over a touched file");
        assert_eq!(ground.content(&path), "x");
    });
}

#[test]
fn a_save_follows_and_keeps_links() {
    on_both(|ground| {
        ground.write("target", b"old");
        let link = ground.link("link", "target");
        let known = ExpectedContent::Unchanged(ground.on_disk(&link));
        ground.save(&link, "new", known).expect("saved");
        let dangling = ground.link("dangling", "born");
        ground
            .save(&dangling, "child", ExpectedContent::Absent)
            .expect("saved");
        assert_eq!(ground.content(&ground.path("target")), "new");
        assert_eq!(ground.content(&ground.path("born")), "child");
        let listing = ground.files.list(&ground.root).expect("a listing");
        let links = listing.entries.iter().filter(|entry| entry.is_link);
        assert_eq!(links.count(), 2);
    });
}

#[test]
fn a_save_refuses_read_only_and_special_files() {
    on_both(|ground| {
        let path = ground.write("file", b"old");
        ground.set_mode(&path, 0o444);
        let refused = reason(ground.save(&path, "x", ExpectedContent::Anything));
        assert_eq!(refused, ErrorReason::ReadOnly);
        assert_eq!(ground.content(&path), "old");
        let folder = reason(ground.save(&ground.root, "x", ExpectedContent::Anything));
        assert_eq!(folder, ErrorReason::NotAFile(FileKind::Folder));
        let pipe = ground.pipe("pipe");
        let refused = reason(ground.save(&pipe, "x", ExpectedContent::Anything));
        assert_eq!(refused, ErrorReason::NotAFile(FileKind::Other));
        let nowhere = ground.path("missing/file");
        let refused = reason(ground.save(&nowhere, "x", ExpectedContent::Absent));
        assert_eq!(refused, ErrorReason::NotFound);
        let below = path.join("below");
        assert_eq!(
            reason(ground.save(&below, "x", ExpectedContent::Absent)),
            ErrorReason::NotAFolder
        );
    });
}

#[test]
fn renaming_and_copying_never_replace() {
    on_both(|ground| {
        let files = ground.files;
        let one = ground.write("one", b"1");
        let two = ground.write("two", b"2");
        let (three, four) = (ground.path("three"), ground.path("four"));
        assert_eq!(reason(files.rename(&one, &two)), ErrorReason::AlreadyExists);
        assert_eq!(reason(files.copy(&one, &two)), ErrorReason::AlreadyExists);
        assert_eq!(reason(files.rename(&three, &four)), ErrorReason::NotFound);
        assert_eq!(reason(files.copy(&three, &four)), ErrorReason::NotFound);
        files.rename(&one, &three).expect("renamed");
        files.copy(&three, &four).expect("copied");
        assert!(!files.exists(&one));
        assert_eq!(
            (ground.content(&three), ground.content(&four)),
            ("1".into(), "1".into())
        );
        assert_eq!(ground.content(&two), "2");
    });
}

#[test]
fn folders_are_created_copied_and_removed_with_all_in_them() {
    on_both(|ground| {
        let files = ground.files;
        let deep = ground.path("a/b/c");
        files.create_folder(&deep).expect("a folder");
        files.create_folder(&deep).expect("there already");
        let file = ground.write("a/b/file", b"x");
        assert!(files.create_folder(&file).is_err());
        assert_eq!(reason(files.create_file(&file)), ErrorReason::AlreadyExists);
        ground.link("a/b/link", "file");
        let copy = ground.path("copy");
        files.copy(&ground.path("a"), &copy).expect("copied");
        assert_eq!(ground.content(&copy.join("b/link")), "x");
        let inside = ground.path("a/inside");
        assert!(files.copy(&ground.path("a"), &inside).is_err());
        files.remove(&ground.path("a")).expect("removed");
        assert!(!files.exists(&file) && files.exists(&copy.join("b/c")));
        assert_eq!(
            reason(files.remove(&ground.path("a"))),
            ErrorReason::NotFound
        );
    });
}

#[test]
fn removing_a_link_leaves_its_target() {
    on_both(|ground| {
        let file = ground.write("file", b"x");
        let link = ground.link("link", "file");
        ground.files.remove(&link).expect("removed");
        assert!(ground.files.exists(&file) && !ground.files.exists(&link));
    });
}

#[test]
fn a_reopened_log_appends_at_its_end() {
    on_both(|ground| {
        let path = ground.path("log");
        let mut log = ground.files.open_log(&path).expect("a log");
        assert!(log.is_empty());
        log.append(b"one").expect("appended");
        log.sync().expect("synced");
        drop(log);
        let mut log = ground.files.open_log(&path).expect("a log");
        assert_eq!(log.len(), 3);
        log.append(b" two").expect("appended");
        assert_eq!(ground.content(&path), "one two");
    });
}

#[test]
fn a_lock_has_one_holder() {
    on_both(|ground| {
        let path = ground.path("lock");
        let held = ground.files.lock(&path).expect("a lock");
        assert!(held.is_some());
        assert!(ground.files.lock(&path).expect("an answer").is_none());
        drop(held);
        assert!(ground.files.lock(&path).expect("a lock").is_some());
    });
}

#[test]
fn a_private_file_is_written_whole() {
    on_both(|ground| {
        let path = ground.path("settings");
        for content in ["first", "second, longer"] {
            ground
                .files
                .write_private(&path, content.as_bytes())
                .expect("written");
            assert_eq!(ground.content(&path), content);
        }
        let mode = ground.files.stat(&path).expect("a stat").mode;
        assert_eq!(mode, 0o600);
        let nowhere = ground.path("missing/settings");
        assert_eq!(
            reason(ground.files.write_private(&nowhere, b"")),
            ErrorReason::NotFound
        );
    });
}

#[test]
fn write_through_keeps_a_link() {
    on_both(|ground| {
        let write = |path: &AbsPath, text: &str| {
            let recovery = ground.root.join("recovery");
            ground.files.write_through(path, text.as_bytes(), &recovery)
        };
        let is_link = |path: &AbsPath| {
            let folder = path.parent().expect("a folder");
            let listing = ground.files.list(&folder).expect("listed");
            let entry = listing.entries.iter().find(|entry| entry.path == *path);
            entry.is_some_and(|entry| entry.is_link)
        };
        let (target, link) = (
            ground.write("target", b"old"),
            ground.link("link", "target"),
        );
        write(&link, "new").expect("written");
        assert!(is_link(&link));
        assert_eq!(ground.content(&target), "new");

        let (missing, dangling) = (ground.path("missing"), ground.link("dangling", "missing"));
        write(&dangling, "first").expect("written");
        assert!(is_link(&dangling));
        assert_eq!(ground.content(&missing), "first");

        let plain = ground.path("plain");
        write(&plain, "one").expect("written");
        write(&plain, "two").expect("written");
        assert_eq!(ground.content(&plain), "two");
    });
}

#[test]
fn write_through_refuses_a_read_only_link_target() {
    let files = FakeFiles::new();
    let path = |path: &str| AbsPath::new(path).expect("absolute");
    files.write(&path("/dots/settings.json"), "{}");
    files.set_mode(&path("/dots/settings.json"), 0o444);
    files.link(&path("/config/settings.json"), "/dots/settings.json");
    let written = files.write_through(&path("/config/settings.json"), b"{ }", &path("/recovery"));
    assert_eq!(reason(written), ErrorReason::ReadOnly);
    let content = files.content(&path("/dots/settings.json"));
    assert_eq!(content.as_deref(), Some(&b"{}"[..]));
}
