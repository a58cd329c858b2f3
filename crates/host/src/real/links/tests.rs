//! Tests of reading and creating links without following them.

use std::ffi::OsStr;
use std::fs;

use super::{NoFollowEntry, entry_at, make_link, set_executable};
use crate::TempFolder;

#[test]
fn links_in_the_path_are_not_followed() {
    let folder = TempFolder::new().unwrap();
    let root = folder.path();
    let inside = root.join("work");
    fs::create_dir(inside.as_path()).unwrap();
    fs::write(root.join("secret").as_path(), "s").unwrap();
    make_link(&inside, &inside.join("out"), OsStr::new("..")).unwrap();
    assert_eq!(
        entry_at(&inside, &inside.join("out")).unwrap(),
        NoFollowEntry::Link("..".into())
    );
    // Nothing is visible behind a link.
    let behind = entry_at(&inside, &inside.join("out/secret"));
    assert!(
        matches!(behind, Ok(NoFollowEntry::Absent) | Err(_)),
        "{behind:?}"
    );
    assert!(set_executable(&inside, &inside.join("out/secret"), true).is_err());
    assert!(make_link(&inside, &inside.join("out/two"), OsStr::new("x")).is_err());
    assert!(entry_at(&inside, root).is_err());
}

#[test]
fn set_executable_changes_only_execute_bits() {
    let folder = TempFolder::new().unwrap();
    let path = folder.path().join("run.sh");
    fs::write(path.as_path(), "x").unwrap();
    for is_executable in [true, false] {
        set_executable(folder.path(), &path, is_executable).unwrap();
        let now = entry_at(folder.path(), &path).unwrap();
        assert_eq!(
            now,
            NoFollowEntry::File {
                is_executable,
                size: 1
            }
        );
    }
    let nothing = entry_at(folder.path(), &folder.path().join("a/b")).unwrap();
    assert_eq!(nothing, NoFollowEntry::Absent);
}
