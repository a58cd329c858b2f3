//! Tests of index stat data in a real working tree.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;
use std::time::{Duration, SystemTime};

use base::AbsPath;
use host::{Files, RealFiles};

use crate::merge::{ObjectId, TreePath};
use crate::repository::Repository;

#[test]
fn tracked_file_matches_until_it_is_touched() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = AbsPath::new(folder.path().canonicalize().expect("it exists")).expect("absolute");
    let inner = git2::Repository::init(&root).expect("init");
    let path = root.join("src/a.rs");
    fs::create_dir_all(root.join("src").as_path()).expect("create");
    fs::write(&path, "fn a() {}\n").expect("write");
    let aged = |path: &AbsPath| {
        let file = fs::File::options().write(true).open(path).expect("open");
        let past = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 5);
        file.set_modified(past).expect("age it");
    };
    aged(&path);
    let mut index = inner.index().expect("index");
    index.add_path("src/a.rs".as_ref()).expect("add");
    index.write().expect("write");

    let repository = Repository::discover(&root).expect("discover");
    let tracked = repository.tracked().expect("tracked");
    let seen = tracked
        .get(&TreePath::new("src/a.rs"))
        .expect("it is tracked");
    let stamp = |path: &AbsPath| RealFiles.stat(path).expect("stat").stamp;
    assert_eq!(seen.id, ObjectId::of_blob(b"fn a() {}\n"));
    assert!(seen.is(&stamp(&path)));
    assert_eq!(repository.common_dir(), root.join(".git"));

    fs::write(&path, "fn b() {}\n").expect("write");
    assert!(!seen.is(&stamp(&path)), "another moment");
    fs::write(&path, "fn longer() {}\n").expect("write");
    aged(&path);
    assert!(!seen.is(&stamp(&path)), "another size");
}
