//! Readings of a kept repository equal those of one that is opened anew.

use std::fs;

use super::KeptRepository;
use crate::Repository;
use crate::merge::tests::Fixture;

/// Compares the changes, also those of the file `a` alone, with those of a repository that is opened anew.
#[track_caller]
fn check(kept: &KeptRepository, fixture: &Fixture) {
    let shown = kept.read(Repository::changes).expect("readable");
    assert_eq!(shown, fixture.repository().changes().expect("readable"));
    let paths = ["a".into()];
    let of_path = kept.read(|it| it.changes_of(&paths)).expect("readable");
    let expected = fixture.repository().changes_of(&paths).expect("readable");
    assert_eq!(of_path, expected);
}

#[test]
fn readings_follow_the_index_head_and_configuration() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.write("b", "one\n");
    fixture.commit();
    let kept = KeptRepository::new(fixture.repository().workdir().clone());
    check(&kept, &fixture);
    fixture.write("a", "two\n");
    check(&kept, &fixture);
    fixture.git(&["add", "a"]);
    check(&kept, &fixture);
    fixture.git(&["mv", "b", "c"]);
    check(&kept, &fixture);
    fixture.commit();
    check(&kept, &fixture);
    fixture.git(&["checkout", "-q", "-b", "other"]);
    fixture.write("a", "three\r\n");
    check(&kept, &fixture);
    fixture.git(&["config", "core.autocrlf", "true"]);
    check(&kept, &fixture);
    fixture.write("a", "two\r\n");
    check(&kept, &fixture);
    fixture.git(&["config", "core.filemode", "false"]);
    check(&kept, &fixture);
}

#[test]
fn a_repository_that_is_gone_is_an_error_until_there_is_another() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.commit();
    let root = fixture.repository().workdir().clone();
    let kept = KeptRepository::new(root.clone());
    check(&kept, &fixture);
    fs::remove_dir_all(root.join(".git").as_path()).expect("removed");
    assert!(kept.read(Repository::changes).is_err());
    fixture.git(&["init", "-q"]);
    check(&kept, &fixture);
}
