//! Tests of opening paths without following links.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::reexec::{is_reexec, reexec_test};
use crate::temp::TempFolder;

/// Ends the other side of a race, even if an assertion fails.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Creates a folder `root` with files, a link out of it, and a folder beside it.
fn scene() -> (TempFolder, OwnedFd) {
    let folder = TempFolder::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("root/dir").as_path()).expect("folders");
    fs::create_dir(at("outside").as_path()).expect("a folder");
    fs::write(at("root/dir/a").as_path(), "inside").expect("a file");
    fs::write(at("outside/a").as_path(), "outside").expect("a file");
    symlink(at("outside").as_path(), at("root/away").as_path()).expect("a link");
    symlink(at("outside/a").as_path(), at("root/dir/link").as_path()).expect("a link");
    let root = open_root(at("root").as_path()).expect("the root");
    (folder, root)
}

/// Opens a path with both implementations, which must agree.
fn open_both(root: &OwnedFd, path: &str, flags: OFlags) -> Result<(), Errno> {
    let path = Path::new(path);
    let walked = walk(root, path, flags, Mode::empty()).map(drop);
    let opened = open_below(root, path, flags, Mode::empty()).map(drop);
    assert_eq!(walked, opened, "{path:?}");
    walked
}

#[test]
fn the_walk_is_as_strict_as_the_kernel() {
    let (_folder, root) = scene();
    assert!(open_both(&root, "dir/a", OFlags::RDONLY).is_ok());
    assert!(open_both(&root, "./dir", FOLDER).is_ok());
    for (path, errno) in [
        ("away/a", Errno::LOOP),
        ("dir/link", Errno::LOOP),
        ("dir/a/b", Errno::NOTDIR),
        ("dir/../../outside/a", Errno::XDEV),
        ("/etc", Errno::XDEV),
        ("none", Errno::NOENT),
    ] {
        assert_eq!(open_both(&root, path, OFlags::RDONLY), Err(errno), "{path}");
    }
    assert_eq!(open_both(&root, "away", FOLDER), Err(Errno::LOOP));
    for flags in [FOLDER | SEARCH, SEARCH | OFlags::NOFOLLOW] {
        assert_eq!(open_both(&root, "away", flags), Err(Errno::LOOP));
        assert_eq!(open_both(&root, "away/a", flags), Err(Errno::LOOP));
    }
    let searched = open_for_search(&root, Path::new("away"));
    assert_eq!(searched.map(drop), Err(Errno::LOOP));
    assert!(open_folder_below(&root, Path::new("")).is_ok());
}

#[test]
fn the_walk_needs_no_permission_to_list() {
    const THIS: &str = "no_follow::tests::the_walk_needs_no_permission_to_list";
    if rustix::process::geteuid().is_root() && !is_reexec() {
        let other = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ];
        reexec_test(THIS, &other, &[]);
        return;
    }
    let (folder, root) = scene();
    let dir = folder.path().join("root/dir");
    let set = |mode| fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).expect("a mode");
    set(0o300);
    assert!(open_both(&root, "dir/a", OFlags::RDONLY).is_ok());
    assert!(open_for_search(&root, Path::new("dir")).is_ok());
    assert_eq!(open_both(&root, "dir", FOLDER), Err(Errno::ACCESS));
    set(0o700);
}

/// Returns the number of rounds of a race; `BURIN_RACES` overrides the default.
fn races() -> usize {
    let given = std::env::var("BURIN_RACES").ok();
    given.and_then(|number| number.parse().ok()).unwrap_or(1000)
}

/// Only the walk runs here, as on systems without `openat2`.
#[test]
fn the_walk_never_leaves_the_root_while_links_are_swapped() {
    let (folder, root) = scene();
    let at = |name: &str| folder.path().join("root").join(name);
    fs::create_dir(at("dir/deep")).expect("a folder");
    fs::write(at("dir/deep/a"), "inside").expect("a file");
    fs::create_dir(folder.path().join("outside/deep")).expect("a folder");
    fs::write(folder.path().join("outside/deep/a"), "outside").expect("a file");
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        let _end = SetOnDrop(&is_over);
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::rename(at("dir"), at("aside")).ok();
                fs::rename(at("away"), at("dir")).ok();
                thread::yield_now();
                fs::rename(at("dir"), at("away")).ok();
                fs::rename(at("aside"), at("dir")).ok();
                thread::yield_now();
            }
        });
        let (mut read, mut refused, mut round) = (0, 0, 0);
        // Continues until both outcomes occurred, so that there was a race.
        while round < races() || read == 0 || refused == 0 {
            let path = ["dir/deep/a", "dir/a", "away/deep/a"][round % 3];
            match walk(&root, Path::new(path), OFlags::RDONLY, Mode::empty()) {
                Ok(file) => {
                    let mut content = String::new();
                    File::from(file).read_to_string(&mut content).expect("text");
                    assert_eq!(content, "inside", "round {round}");
                    read += 1;
                }
                Err(_) => refused += 1,
            }
            round += 1;
        }
    });
}

#[test]
fn entries_are_listed_with_their_own_types() {
    let (_folder, root) = scene();
    let mut found = entries(&root).expect("a listing");
    found.sort_by(|one, two| one.name.cmp(&two.name));
    let found: Vec<_> = found
        .iter()
        .map(|entry| (entry.name.to_str().expect("a name"), entry.kind))
        .collect();
    assert_eq!(
        found,
        [("away", FileType::Symlink), ("dir", FileType::Directory)]
    );
}

#[test]
fn only_regular_files_of_bounded_size_are_read() {
    let (_folder, root) = scene();
    let dir = open_folder(&root, "dir").expect("a folder");
    let read = |name: &str, limit| read_file(&dir, name, limit);
    assert_eq!(read("a", 6), Ok(Some(b"inside".to_vec())));
    assert_eq!(read("a", 5), Ok(None));
    assert_eq!(read("link", 100), Ok(None));
    assert_eq!(read("none", 100), Err(Errno::NOENT));
    assert_eq!(read_file(&root, "dir", 100), Ok(None));
    assert!(read_link(&dir, "link").is_ok_and(|target| target.ends_with(b"outside/a")));
}
