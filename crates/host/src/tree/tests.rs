//! Tests of trees on the real disk, with links created in them.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::temp::TempFolder;

fn found(tree: &FolderTree) -> Vec<(String, TreeKind)> {
    let mut found = Vec::new();
    let problems = tree.walk(
        &mut |path, _| {
            if path == "target" {
                WalkStep::Skip
            } else {
                WalkStep::Enter
            }
        },
        &mut |path, entry| found.push((path.to_owned(), entry.kind)),
    );
    assert_eq!(problems, []);
    found.sort();
    found
}

#[test]
fn put_entries_are_found_and_read() {
    let folder = TempFolder::new().unwrap();
    let tree = FolderTree::open(folder.path()).unwrap();
    tree.write("a/b/run.sh", TreeKind::Executable, b"echo", false)
        .unwrap();
    tree.write("a/plain", TreeKind::File, b"1", true).unwrap();
    tree.write("target/x", TreeKind::File, b"x", false).unwrap();
    tree.write("link", TreeKind::Link, b"/nowhere/at all", false)
        .unwrap();
    let expected = [
        ("a/b/run.sh".to_owned(), TreeKind::Executable),
        ("a/plain".to_owned(), TreeKind::File),
        ("link".to_owned(), TreeKind::Link),
    ];
    assert_eq!(found(&tree), expected);
    let read = |path: &str| tree.read(path, 100).unwrap();
    assert_eq!(
        read("a/b/run.sh"),
        Some((TreeKind::Executable, b"echo".to_vec()))
    );
    assert_eq!(
        read("link"),
        Some((TreeKind::Link, b"/nowhere/at all".to_vec()))
    );
    assert_eq!(read("a"), None);
    assert_eq!(read("missing/x"), None);
    assert!(matches!(
        tree.read("a/b/run.sh", 3).unwrap_err().reason,
        ErrorReason::TooLarge { size: 4, limit: 3 }
    ));
    tree.remove("a/b/run.sh").unwrap();
    assert_eq!(
        tree.entry("a/b").unwrap(),
        None,
        "an empty folder goes along"
    );
    assert!(
        tree.entry("a").unwrap().is_some(),
        "one with a file in it stays"
    );
    tree.remove("a/b/run.sh").unwrap();
}

#[test]
fn links_are_never_followed() {
    let folder = TempFolder::new().unwrap();
    let outside = TempFolder::new().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    symlink(outside.path(), folder.path().join("way")).unwrap();
    symlink(outside.path().join("secret"), folder.path().join("file")).unwrap();
    let tree = FolderTree::open(folder.path()).unwrap();
    assert_eq!(tree.entry("way/secret").unwrap(), None);
    assert_eq!(tree.read("way/secret", 10).unwrap(), None);
    let error = tree.write("way/new", TreeKind::File, b"x", false);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("is in the place of a folder")
    );
    tree.remove("way/secret").unwrap();
    assert!(outside.path().join("secret").as_path().exists());
    // A write replaces the link itself, not its target.
    tree.write("file", TreeKind::File, b"mine", false).unwrap();
    assert_eq!(std::fs::read(outside.path().join("secret")).unwrap(), b"s");
    assert_eq!(
        tree.read("file", 10).unwrap(),
        Some((TreeKind::File, b"mine".to_vec()))
    );
    assert!(tree.write("../up", TreeKind::File, b"x", false).is_err());
    assert!(tree.entry("way/..").is_err());
}

#[test]
fn put_keeps_permissions_except_the_execute_bits() {
    let folder = TempFolder::new().unwrap();
    let path = folder.path().join("f");
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let tree = FolderTree::open(folder.path()).unwrap();
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    tree.write("f", TreeKind::Executable, b"1", false).unwrap();
    assert_eq!(mode(), 0o750);
    tree.write("f", TreeKind::File, b"2", false).unwrap();
    assert_eq!(mode(), 0o640);
}

#[test]
fn leftover_drafts_are_hidden_and_swept() {
    let folder = TempFolder::new().unwrap();
    let left = folder.path().join(draft("f"));
    std::fs::write(&left, "half").unwrap();
    let tree = FolderTree::open(folder.path()).unwrap();
    assert_eq!(found(&tree), []);
    tree.sweep("f").unwrap();
    assert!(!left.as_path().exists());
}
