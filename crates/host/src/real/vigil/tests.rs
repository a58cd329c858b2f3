//! What is told before the next call, and what ends it.

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use super::{Lost, Vigil};
use crate::{Files, RealFiles, TempFolder};

/// A folder with `a`, `in/b` and `unwatched/c`.
fn world() -> (TempFolder, Vigil) {
    let folder = TempFolder::new().expect("a temporary folder");
    for name in ["a", "in/b", "unwatched/c"] {
        let path = folder.path().join(name);
        RealFiles
            .create_folder(&path.parent().expect("below the root"))
            .expect("create");
        RealFiles.write_private(&path, b"text").expect("write");
    }
    let vigil = Vigil::keep(folder.path(), &mut ["", "in"].map(Path::new).into_iter());
    (folder, vigil.expect("the system grants it"))
}

/// Paths that something happened to, and whether it was to the entry.
fn told(vigil: &mut Vigil) -> Result<Vec<(PathBuf, bool)>, Lost> {
    let mut told = Vec::new();
    vigil.happened(&mut |it| told.push((it.folder.join(it.name), it.is_entry)))?;
    told.sort();
    told.dedup();
    Ok(told)
}

fn check(act: impl FnOnce(&Path), expect: Result<&[(&str, bool)], Lost>) {
    let (folder, mut vigil) = world();
    assert_eq!(told(&mut vigil), Ok(Vec::new()));
    act(folder.path().as_path());
    let expect = expect.map(|all| {
        let all = all.iter();
        all.map(|(path, is_entry)| (PathBuf::from(path), *is_entry))
            .collect::<Vec<_>>()
    });
    assert_eq!(told(&mut vigil), expect);
    // Once told, or lost for good.
    assert_eq!(told(&mut vigil), expect.map(|_| Vec::new()));
}

fn open(path: &Path) -> std::fs::File {
    std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .expect("it is there")
}

#[test]
fn a_write_is_told_of_when_it_is_over() {
    let (folder, mut vigil) = world();
    let mut file = open(&folder.path().as_path().join("in/b"));
    for _ in 0..100 {
        file.rewind().expect("rewind");
        file.write_all(b"more").expect("write");
        assert_eq!(told(&mut vigil), Ok(vec![("in/b".into(), false)]));
    }
    file.set_len(1).expect("cut");
    assert_eq!(told(&mut vigil), Ok(vec![("in/b".into(), false)]));
    drop(file);
    // A mapping that was written through is told of at this moment.
    assert_eq!(told(&mut vigil), Ok(vec![("in/b".into(), false)]));
}

#[test]
fn entries_come_and_go() {
    check(
        |root| drop(std::fs::File::create(root.join("new")).expect("create")),
        Ok(&[("new", false), ("new", true)]),
    );
    check(
        |root| std::fs::remove_file(root.join("a")).expect("remove"),
        Ok(&[("a", true)]),
    );
    check(
        |root| std::fs::rename(root.join("a"), root.join("in/b")).expect("rename"),
        Ok(&[("a", true), ("in/b", true)]),
    );
}

#[test]
fn only_the_folders_are_told_of() {
    check(
        |root| std::fs::write(root.join("unwatched/c"), b"other").expect("write"),
        Ok(&[]),
    );
}

#[test]
fn folders_that_change_end_it() {
    check(
        |root| std::fs::create_dir(root.join("new")).expect("create"),
        Err(Lost),
    );
    check(
        |root| std::fs::rename(root.join("in"), root.join("out")).expect("rename"),
        Err(Lost),
    );
    check(
        |root| std::fs::remove_dir_all(root.join("in")).expect("remove"),
        Err(Lost),
    );
    check(
        |root| std::fs::remove_dir_all(root).expect("remove"),
        Err(Lost),
    );
}

#[test]
fn more_than_the_system_writes_down_ends_it() {
    let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("Linux");
    let most: usize = most.trim().parse().expect("a number");
    let (folder, mut vigil) = world();
    let mut files = ["a", "in/b"].map(|name| open(&folder.path().as_path().join(name)));
    // The same event twice in a row is written down once.
    for round in 0..=most {
        files[round % 2].rewind().expect("rewind");
        files[round % 2].write_all(b"more").expect("write");
    }
    assert_eq!(told(&mut vigil), Err(Lost));
    assert_eq!(told(&mut vigil), Err(Lost));
}

#[test]
fn what_is_not_there_is_not_watched() {
    let (folder, _vigil) = world();
    let keep = |names: &[&str]| {
        let mut folders = names.iter().map(Path::new);
        Vigil::keep(folder.path(), &mut folders).is_some()
    };
    assert!(keep(&["", "unwatched"]));
    assert!(!keep(&["", "gone"]));
    assert!(!keep(&["", "a"]));
    std::os::unix::fs::symlink("in", folder.path().as_path().join("link")).expect("link");
    assert!(!keep(&["", "link"]));
}
