//! Links that are found and made without being followed.

use std::ffi::OsStr;
use std::fs;

use super::{Found, found, make_link, set_executable};
use crate::TempFolder;

#[test]
fn no_link_is_followed_on_the_way() {
    let folder = TempFolder::new().unwrap();
    let root = folder.path();
    let inside = root.join("work");
    fs::create_dir(inside.as_path()).unwrap();
    fs::write(root.join("secret").as_path(), "s").unwrap();
    make_link(&inside, &inside.join("out"), OsStr::new("..")).unwrap();
    assert_eq!(
        found(&inside, &inside.join("out")).unwrap(),
        Found::Link("..".into())
    );
    // Behind a link there is nothing to be found.
    let behind = found(&inside, &inside.join("out/secret"));
    assert!(matches!(behind, Ok(Found::Nothing) | Err(_)), "{behind:?}");
    assert!(set_executable(&inside, &inside.join("out/secret"), true).is_err());
    assert!(make_link(&inside, &inside.join("out/two"), OsStr::new("x")).is_err());
    assert!(found(&inside, root).is_err());
}

#[test]
fn the_mode_is_the_owners() {
    let folder = TempFolder::new().unwrap();
    let path = folder.path().join("run.sh");
    fs::write(path.as_path(), "x").unwrap();
    for is_executable in [true, false] {
        set_executable(folder.path(), &path, is_executable).unwrap();
        let now = found(folder.path(), &path).unwrap();
        assert_eq!(
            now,
            Found::File {
                is_executable,
                size: 1
            }
        );
    }
    let nothing = found(folder.path(), &folder.path().join("a/b")).unwrap();
    assert_eq!(nothing, Found::Nothing);
}
