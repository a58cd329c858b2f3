//! Trees on the real disk, with links planted in them.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::temp::TempFolder;

fn found(tree: &Tree) -> Vec<(String, TreeKind)> {
    let mut found = Vec::new();
    let problems = tree.walk(
        &mut |path, _| match path == "target" {
            true => Step::Skip,
            false => Step::Enter,
        },
        &mut |path, entry| found.push((path.to_owned(), entry.kind)),
    );
    assert_eq!(problems, []);
    found.sort();
    found
}

#[test]
fn what_was_put_is_found_and_read() {
    let folder = TempFolder::new().unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    tree.put("a/b/run.sh", TreeKind::Executable, b"echo", false)
        .unwrap();
    tree.put("a/plain", TreeKind::File, b"1", true).unwrap();
    tree.put("target/x", TreeKind::File, b"x", false).unwrap();
    tree.put("link", TreeKind::Link, b"/nowhere/at all", false)
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
        Reason::TooLarge { size: 4, limit: 3 }
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
fn no_link_is_gone_through() {
    let folder = TempFolder::new().unwrap();
    let outside = TempFolder::new().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    symlink(outside.path(), folder.path().join("way")).unwrap();
    symlink(outside.path().join("secret"), folder.path().join("file")).unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    assert_eq!(tree.entry("way/secret").unwrap(), None);
    assert_eq!(tree.read("way/secret", 10).unwrap(), None);
    let error = tree.put("way/new", TreeKind::File, b"x", false);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("stands where a folder should be")
    );
    tree.remove("way/secret").unwrap();
    assert!(outside.path().join("secret").as_path().exists());
    // What replaces a link replaces the link, not what it leads to.
    tree.put("file", TreeKind::File, b"mine", false).unwrap();
    assert_eq!(std::fs::read(outside.path().join("secret")).unwrap(), b"s");
    assert_eq!(
        tree.read("file", 10).unwrap(),
        Some((TreeKind::File, b"mine".to_vec()))
    );
    assert!(tree.put("../up", TreeKind::File, b"x", false).is_err());
    assert!(tree.entry("way/..").is_err());
}

#[test]
fn a_file_keeps_its_permissions_but_for_the_right_to_run_it() {
    let folder = TempFolder::new().unwrap();
    let path = folder.path().join("f");
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    tree.put("f", TreeKind::Executable, b"1", false).unwrap();
    assert_eq!(mode(), 0o750);
    tree.put("f", TreeKind::File, b"2", false).unwrap();
    assert_eq!(mode(), 0o640);
}

#[test]
fn a_draft_that_was_left_is_not_seen_and_can_be_swept() {
    let folder = TempFolder::new().unwrap();
    let left = folder.path().join(draft("f"));
    std::fs::write(&left, "half").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    assert_eq!(found(&tree), []);
    tree.sweep("f").unwrap();
    assert!(!left.as_path().exists());
}
