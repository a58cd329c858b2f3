//! Tests of looking up many paths at once.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests make the files that are looked up"
)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn looking_up_many_paths_finds_the_same_as_each_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = fs::canonicalize(folder.path()).expect("a real path");
    for inside in ["few", "many/deep", "real"] {
        fs::create_dir_all(root.join(inside)).expect("a folder");
    }
    for file in ["few/1", "many/1", "many/deep/1", "real/1", "Upper", "1"] {
        fs::write(root.join(file), "").expect("a file");
    }
    symlink("real", root.join("link")).expect("a link");
    symlink("nowhere", root.join("broken")).expect("a link");
    let names = |folder: &str| -> Vec<String> {
        (0..WORTH_READING)
            .map(|ix| format!("{folder}{ix}"))
            .collect()
    };
    let mut given: Vec<String> = [names(""), names("many/"), names("gone/")].concat();
    for name in [
        "few/1",
        "few/2",
        "many/deep/1",
        "many/deep/2",
        "many/gone/1",
        "gone/deep/1",
        "lost/1",
        "link/1",
        "link/2",
        "broken",
        "broken/1",
        "Upper",
        "upper",
    ] {
        given.push(name.to_owned());
    }
    let paths: Vec<AbsPath> = given
        .iter()
        .map(|name| AbsPath::new(root.join(name)).expect("an absolute path"))
        .collect();
    let alone: Vec<ResolvedPath> = paths
        .iter()
        .filter_map(|path| find(path.as_path()))
        .collect();
    assert_eq!(existing(&paths), alone);
    assert_eq!(alone.len(), 6, "{alone:?}");
}

#[test]
fn paths_below_a_missing_name_are_not_looked_up() {
    let listings = Listings::from([
        (&b"/home"[..], BTreeSet::from([b"there".to_vec()])),
        (b"/home/there", BTreeSet::new()),
    ]);
    let check = |path: &str, is_missing| {
        assert_eq!(
            is_listed_as_missing(path.as_bytes(), &listings),
            is_missing,
            "{path}"
        );
    };
    check("/home/gone", true);
    check("/home/gone/deep/file", true);
    check("/home/there", false);
    check("/home/there/file", true);
    check("/other/file", false);
}
