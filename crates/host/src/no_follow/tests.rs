//! Tests of opening paths without following links.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::temp::TempFolder;

/// A folder `root` with files, a link out of it, and a folder beside it.
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
    let handle = walk(&root, Path::new("away"), OFlags::PATH, Mode::empty());
    assert_eq!(handle.map(drop), Err(Errno::LOOP));
    assert!(open_folder_below(&root, Path::new("")).is_ok());
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
