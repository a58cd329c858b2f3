//! What every implementation of `Files` must do, told once and run on each.

use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt, symlink};

use base::AbsPath;

use super::{Expected, Files, OnDisk, SaveRequest, SaveWay, Saved};
use crate::content::ContentHash;
use crate::error::{Error, Reason};
use crate::fake::FakeFiles;
use crate::real::RealFiles;
use crate::stat::FileKind;
use crate::temp::TempFolder;

/// What tests need besides the trait: to do what other programs do.
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

    fn save(&self, path: &AbsPath, content: &str, expected: Expected) -> Result<Saved, Error> {
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

fn reason<T: std::fmt::Debug>(result: Result<T, Error>) -> Reason {
    result.expect_err("an error").reason
}

#[test]
fn reading_has_a_limit_and_takes_only_files() {
    on_both(|ground| {
        let path = ground.write("a", b"12345");
        let files = ground.files;
        let (content, stat) = files.read_with_stat(&path, 5).expect("a file");
        assert_eq!((content.as_slice(), stat.stamp.size), (&b"12345"[..], 5));
        assert_eq!(stat, files.stat(&path).expect("a stat"));
        let too_large = Reason::TooLarge { size: 5, limit: 4 };
        assert_eq!(reason(files.read(&path, 4)), too_large);
        assert_eq!(reason(files.read(&ground.path("b"), 4)), Reason::NotFound);
        let folder = Reason::NotAFile(FileKind::Folder);
        assert_eq!(reason(files.read(&ground.root, 4)), folder);
        let pipe = ground.pipe("pipe");
        assert_eq!(
            reason(files.read(&pipe, 4)),
            Reason::NotAFile(FileKind::Other)
        );
        assert_eq!(
            reason(files.read(&path.join("below"), 4)),
            Reason::NotAFolder
        );
    });
}

#[test]
fn chunks_give_the_whole_content_or_as_much_as_is_taken() {
    on_both(|ground| {
        let content: Vec<u8> = (0..700_000_u32).map(|number| number as u8).collect();
        let path = ground.write("long", &content);
        let mut all = Vec::new();
        let take_all = &mut |chunk: &[u8]| {
            all.extend_from_slice(chunk);
            ControlFlow::Continue(())
        };
        ground.files.read_chunks(&path, take_all).expect("chunks");
        assert!(all == content);
        let mut count = 0;
        let take_one = &mut |_: &[u8]| {
            count += 1;
            ControlFlow::Break(())
        };
        ground.files.read_chunks(&path, take_one).expect("a chunk");
        assert_eq!(count, 1);
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
fn links_in_a_circle_are_an_error_and_never_hang() {
    on_both(|ground| {
        let one = ground.link("one", "two");
        ground.link("two", "one");
        let files = ground.files;
        assert_eq!(reason(files.canonicalize(&one)), Reason::LinkLoop);
        assert_eq!(files.stat(&one).expect("a stat").kind, FileKind::BrokenLink);
        assert_eq!(reason(files.read(&one, 1)), Reason::LinkLoop);
        assert_eq!(
            reason(ground.save(&one, "x", Expected::Anything)),
            Reason::LinkLoop
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
        let created = ground.save(&path, "one", Expected::Absent).expect("saved");
        assert_eq!(created.way, SaveWay::Created);
        assert_eq!(created.on_disk, ground.on_disk(&path));
        let expected = Expected::Unchanged(created.on_disk);
        let replaced = ground.save(&path, "two", expected).expect("saved");
        assert_eq!(
            (replaced.way, replaced.unconfirmed),
            (SaveWay::Replaced, None)
        );
        assert_eq!(replaced.on_disk, ground.on_disk(&path));
        assert_eq!(ground.content(&path), "two");
        ground
            .save(&path, "", Expected::Anything)
            .expect("saved without a question");
        assert_eq!(ground.content(&path), "");
        let names = ground.files.list(&ground.root).expect("a listing").entries;
        assert_eq!(names.len(), 1, "{names:?}");
    });
}

#[test]
fn a_save_never_replaces_what_was_not_expected() {
    on_both(|ground| {
        let path = ground.write("file", b"old");
        let known = Expected::Unchanged(ground.on_disk(&path));
        assert_eq!(
            reason(ground.save(&path, "x", Expected::Absent)),
            Reason::AlreadyExists
        );
        ground.write("file", b"new, by another program");
        let changed = reason(ground.save(&path, "x", known));
        assert!(
            matches!(changed, Reason::ChangedOnDisk { now: Some(_) }),
            "{changed:?}"
        );
        assert_eq!(ground.content(&path), "new, by another program");
        ground.files.remove(&path).expect("removed");
        assert_eq!(
            reason(ground.save(&path, "x", known)),
            Reason::ChangedOnDisk { now: None }
        );
        assert!(!ground.files.exists(&path));
        // The same bytes again, under another stamp, are what was expected.
        ground.write("file", b"old");
        ground
            .save(&path, "x", known)
            .expect("saved over a touched file");
        assert_eq!(ground.content(&path), "x");
    });
}

#[test]
fn a_save_goes_through_links_and_leaves_them() {
    on_both(|ground| {
        ground.write("target", b"old");
        let link = ground.link("link", "target");
        let known = Expected::Unchanged(ground.on_disk(&link));
        ground.save(&link, "new", known).expect("saved");
        let dangling = ground.link("dangling", "born");
        ground
            .save(&dangling, "child", Expected::Absent)
            .expect("saved");
        assert_eq!(ground.content(&ground.path("target")), "new");
        assert_eq!(ground.content(&ground.path("born")), "child");
        let listing = ground.files.list(&ground.root).expect("a listing");
        let links = listing.entries.iter().filter(|entry| entry.is_link);
        assert_eq!(links.count(), 2);
    });
}

#[test]
fn a_save_refuses_what_it_must_not_write() {
    on_both(|ground| {
        let path = ground.write("file", b"old");
        ground.set_mode(&path, 0o444);
        let refused = reason(ground.save(&path, "x", Expected::Anything));
        assert_eq!(refused, Reason::ReadOnly);
        assert_eq!(ground.content(&path), "old");
        let folder = reason(ground.save(&ground.root, "x", Expected::Anything));
        assert_eq!(folder, Reason::NotAFile(FileKind::Folder));
        let pipe = ground.pipe("pipe");
        let refused = reason(ground.save(&pipe, "x", Expected::Anything));
        assert_eq!(refused, Reason::NotAFile(FileKind::Other));
        let nowhere = ground.path("missing/file");
        let refused = reason(ground.save(&nowhere, "x", Expected::Absent));
        assert_eq!(refused, Reason::NotFound);
        let below = path.join("below");
        assert_eq!(
            reason(ground.save(&below, "x", Expected::Absent)),
            Reason::NotAFolder
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
        assert_eq!(reason(files.rename(&one, &two)), Reason::AlreadyExists);
        assert_eq!(reason(files.copy(&one, &two)), Reason::AlreadyExists);
        assert_eq!(reason(files.rename(&three, &four)), Reason::NotFound);
        assert_eq!(reason(files.copy(&three, &four)), Reason::NotFound);
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
        assert_eq!(reason(files.create_file(&file)), Reason::AlreadyExists);
        ground.link("a/b/link", "file");
        let copy = ground.path("copy");
        files.copy(&ground.path("a"), &copy).expect("copied");
        assert_eq!(ground.content(&copy.join("b/link")), "x");
        let inside = ground.path("a/inside");
        assert!(files.copy(&ground.path("a"), &inside).is_err());
        files.remove(&ground.path("a")).expect("removed");
        assert!(!files.exists(&file) && files.exists(&copy.join("b/c")));
        assert_eq!(reason(files.remove(&ground.path("a"))), Reason::NotFound);
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
fn a_log_grows_and_goes_on_where_it_was() {
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
            Reason::NotFound
        );
    });
}

#[test]
fn a_file_of_our_own_is_written_through_a_link() {
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
fn a_read_only_file_of_our_own_is_refused_through_its_link() {
    let files = FakeFiles::new();
    let path = |path: &str| AbsPath::new(path).expect("absolute");
    files.write(&path("/dots/settings.json"), "{}");
    files.set_mode(&path("/dots/settings.json"), 0o444);
    files.link(&path("/config/settings.json"), "/dots/settings.json");
    let written = files.write_through(&path("/config/settings.json"), b"{ }", &path("/recovery"));
    assert_eq!(reason(written), Reason::ReadOnly);
    let content = files.content(&path("/dots/settings.json"));
    assert_eq!(content.as_deref(), Some(&b"{}"[..]));
}
