//! Tests of the lock on the index and of entries whose stat data prove nothing.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests write into real git folders"
)]

use std::fs;
use std::time::{Duration, SystemTime};

use base::AbsPath;
use host::{Files as _, RealFiles};

use super::{IndexSlot, is_conflicted, put, slot};
use crate::Error;
use crate::merge::tests::Fixture;
use crate::merge::{EntryMode, ObjectId, TreePath};

#[test]
fn lock_of_another_program_is_named_and_kept() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.commit();
    let lock = fixture.root.join(".git/index.lock");
    fs::write(lock.as_path(), "").expect("a lock");
    let before = fs::read(fixture.root.join(".git/index").as_path()).expect("an index");
    let changed = fixture
        .repository()
        .change_index(|_| -> Result<(), Error> { panic!("the index is not locked") });
    let sentence = changed.expect_err("no lock").to_string();
    assert!(sentence.contains("another git command holds"), "{sentence}");
    assert!(sentence.contains(&lock.to_string()), "{sentence}");
    assert!(lock.as_path().exists(), "the lock was removed");
    let after = fs::read(fixture.root.join(".git/index").as_path()).expect("an index");
    assert_eq!(before, after);
}

#[test]
fn lock_of_a_killed_burin_is_taken_over() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.commit();
    let repository = fixture.repository();
    assert!(repository.lock_index(&RealFiles).expect("a lock"));
    let path = TreePath::from("a");
    let changed: Result<(), Error> = repository.change_index(|index| {
        let failed = |error: git2::Error| repository.failed("index", &error);
        put(index, &path, None, None).map_err(failed)
    });
    changed.expect("the stale lock is ours");
    assert!(!fixture.root.join(".git/index.lock").as_path().exists());
    assert_eq!(fixture.git(&["ls-files"]), "");
}

#[test]
fn lock_of_a_killed_burin_is_cleared_for_git() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.commit();
    let repository = fixture.repository();
    let lock = fixture.root.join(".git/index.lock");
    let clear = || {
        let sentences = repository.clear_stale_lock(&RealFiles);
        assert_eq!(sentences.expect("cleared"), Vec::<String>::new());
        RealFiles.exists(&lock)
    };
    assert!(!clear());
    let own = fixture.root.join(".git/burin");
    assert!(!RealFiles.exists(&own), "without a lock nothing is written");
    assert!(repository.lock_index(&RealFiles).expect("a lock"));
    let landings = repository.lock_landings(&RealFiles).expect("a lock");
    assert!(landings.is_some());
    assert!(clear(), "another process of ours works");
    drop(landings);
    assert!(!clear());
    fixture.git(&["rm", "--quiet", "--cached", "a"]);
    fs::write(lock.as_path(), "").expect("a lock");
    assert!(clear(), "the lock of another program stays");
}

#[test]
fn landing_in_progress_is_named() {
    let fixture = Fixture::new();
    let repository = fixture.repository();
    let landing = repository.lock_landings(&RealFiles).expect("a lock");
    assert!(landing.is_some());
    let changed = repository.change_index(|_| Ok::<_, Error>(()));
    assert!(matches!(changed, Err(Error::Landing(_))));
    drop(landing);
    let changed = repository.change_index(|_| Ok::<_, Error>(()));
    changed.expect("the landing is over");
}

#[test]
fn failed_change_writes_nothing() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.commit();
    let repository = fixture.repository();
    let path = TreePath::from("a");
    let changed: Result<(), Error> = repository.change_index(|index| {
        let failed = |error: git2::Error| repository.failed("index", &error);
        put(index, &path, None, None).map_err(failed)?;
        Err(Error::Bare("refused".into()))
    });
    assert!(changed.is_err());
    assert_eq!(fixture.git(&["ls-files"]), "a\n");
    assert!(!RealFiles.exists(&fixture.root.join(".git/index.lock")));
}

#[test]
fn entry_keeps_flags_and_loses_intent_to_add() {
    let fixture = Fixture::new();
    fixture.write("new", "one\n");
    fixture.git(&["add", "-N", "new"]);
    let repository = fixture.repository();
    let path = TreePath::from("new");
    let id = ObjectId(repository.inner.blob(b"two\n").expect("a blob"));
    let changed: Result<(), Error> = repository.change_index(|index| {
        let old = slot(index, &path).expect("an entry");
        assert!(old.is_intent_to_add());
        let failed = |error: git2::Error| repository.failed("index", &error);
        put(index, &path, Some(old.with_content(id)), None).map_err(failed)
    });
    changed.expect("written");
    let index = repository.fresh_index().expect("readable");
    assert_eq!(
        slot(&index, &path),
        Some(IndexSlot::new(EntryMode::Plain, id))
    );
    assert_eq!(fixture.git(&["show", ":new"]), "two\n");
    for odd in ["", ".", "../a", "a\0b"] {
        assert_eq!(slot(&index, &TreePath::from(odd)), None, "{odd:?}");
        assert!(!is_conflicted(&index, &TreePath::from(odd)));
    }
}

/// Sets the time of a file's last change to a fixed second in the past.
fn age(path: &AbsPath) {
    let file = fs::File::options().write(true).open(path).expect("open");
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    file.set_modified(past).expect("age it");
}

#[test]
fn file_changed_in_the_second_of_the_index_stays_modified() {
    let fixture = Fixture::new();
    // Without it, git recognizes the change by the time of the inode.
    fixture.git(&["config", "core.trustctime", "false"]);
    fixture.write("a", "one\n");
    fixture.write("b", "one\n");
    age(&fixture.root.join("a"));
    fixture.commit();
    age(&fixture.root.join(".git/index"));
    // The same length, inode and time.
    fixture.write("a", "two\n");
    age(&fixture.root.join("a"));
    let repository = fixture.repository();
    let path = TreePath::from("b");
    let changed: Result<(), Error> = repository.change_index(|index| {
        let failed = |error: git2::Error| repository.failed("index", &error);
        put(index, &path, None, None).map_err(failed)
    });
    changed.expect("written");
    assert_eq!(fixture.git(&["diff-files", "--name-only"]), "a\n");
}
