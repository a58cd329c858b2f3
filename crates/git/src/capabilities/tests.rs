//! Tests with repositories of every kind, made by the real git.

use std::path::Path;

use base::AbsPath;

use super::{Capabilities, GitFeature, GitTask};
use crate::merge::tests::{Fixture, git};
use crate::{Error, Repository};

/// Creates a repository with `git init` and these arguments; commits one file if git can.
fn repository(arguments: &[&str]) -> (tempfile::TempDir, AbsPath) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = AbsPath::new(folder.path().canonicalize().expect("it exists")).expect("absolute");
    git(root.as_path(), &[&["init", "-q"], arguments].concat());
    commit(root.as_path());
    (folder, root)
}

fn commit(root: &Path) {
    git(root, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let blob = git(root, &["hash-object", "-w", "--stdin"]);
    let entry = format!("100644,{},file", blob.trim());
    git(root, &["update-index", "--add", "--cacheinfo", &entry]);
    git(root, &["commit", "-q", "-m", "two"]);
}

fn features(root: &AbsPath) -> Vec<GitFeature> {
    let found = Capabilities::of_folder(root).expect("examined");
    let found = found.features().filter(|it| {
        // The user's own config may have programs for filters.
        !matches!(it, GitFeature::FilterProgram(_))
    });
    found.cloned().collect()
}

fn obstacle(root: &AbsPath, task: GitTask) -> Option<GitFeature> {
    let found = Capabilities::of_folder(root).expect("examined");
    found.obstacle(task).cloned()
}

#[test]
fn sha256_needs_the_program_for_everything() {
    let (_folder, root) = repository(&["--object-format=sha256"]);
    assert_eq!(features(&root), [GitFeature::Sha256]);
    for task in [GitTask::History, GitTask::Status, GitTask::Staging] {
        assert_eq!(obstacle(&root, task), Some(GitFeature::Sha256));
    }
    let error = Repository::discover(&root).err().expect("no repository");
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
}

#[test]
fn reftable_is_found_where_libgit2_refuses() {
    let (_folder, root) = repository(&[]);
    // The reftable itself is not read, so that old versions of git serve as well.
    git(
        root.as_path(),
        &["config", "core.repositoryformatversion", "1"],
    );
    git(
        root.as_path(),
        &["config", "extensions.refStorage", "reftable"],
    );
    assert_eq!(features(&root), [GitFeature::Reftable]);
    assert!(Repository::discover(&root).is_err());
}

#[test]
fn unknown_extensions_count_from_version_one() {
    let (_folder, root) = repository(&[]);
    let config = |name: &str, value: &str| {
        git(root.as_path(), &["config", name, value]);
    };
    config("extensions.newThing", "true");
    assert_eq!(features(&root), []);
    config("core.repositoryformatversion", "1");
    assert_eq!(
        features(&root),
        [GitFeature::Extension("newthing".to_owned())]
    );
}

#[test]
fn split_index_needs_the_program_for_status_and_staging() {
    let (_folder, root) = repository(&[]);
    git(root.as_path(), &["update-index", "--split-index"]);
    assert_eq!(features(&root), [GitFeature::SplitIndex]);
    assert_eq!(
        obstacle(&root, GitTask::Staging),
        Some(GitFeature::SplitIndex)
    );
    assert_eq!(obstacle(&root, GitTask::History), None);
    let repository = Repository::discover(&root).expect("it opens");
    let error = repository.changes().expect_err("no status");
    assert!(error.to_string().contains("git cannot read"), "{error}");
}

#[test]
fn sparse_index_is_found() {
    let fixture = Fixture::new();
    for folder in ["in", "out/deep"] {
        fixture.write(&format!("{folder}/file"), "one\n");
    }
    fixture.commit();
    fixture.git(&["sparse-checkout", "init", "--cone", "--sparse-index"]);
    fixture.git(&["sparse-checkout", "set", "in"]);
    assert_eq!(features(&fixture.root), [GitFeature::SparseIndex]);
    fixture.git(&["sparse-checkout", "reapply", "--no-sparse-index"]);
    assert_eq!(features(&fixture.root), []);
    let changes = fixture.repository().changes().expect("readable");
    assert_eq!(changes.entries, [], "files outside are not deleted");
}

#[test]
fn partial_clone_needs_the_program_for_contents() {
    let (_folder, root) = repository(&[]);
    git(
        root.as_path(),
        &["config", "remote.origin.promisor", "true"],
    );
    assert_eq!(features(&root), [GitFeature::PartialClone]);
    assert_eq!(obstacle(&root, GitTask::Status), None);
    assert_eq!(
        obstacle(&root, GitTask::Contents),
        Some(GitFeature::PartialClone)
    );
}

#[test]
fn large_files_and_filters_are_named() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.bin filter=lfs diff=lfs -text\n");
    fixture.commit();
    fixture.git(&["config", "filter.own.clean", "cat"]);
    let found = Capabilities::of_folder(&fixture.root.join("deep/folder"));
    let found = found.expect("a folder need not exist");
    let found: Vec<_> = found.features().collect();
    assert!(found.contains(&&GitFeature::Lfs));
    assert!(found.contains(&&GitFeature::FilterProgram("own".to_owned())));
}

#[test]
fn every_version_of_the_index_is_read() {
    for version in ["2", "3", "4"] {
        let fixture = Fixture::new();
        for name in ["a", "a-long-name-of-a-file", "folder/file", "folder/other"] {
            fixture.write(name, "one\n");
        }
        fixture.commit();
        fixture.write("added", "one\n");
        // An entry with extended flags, which version 2 cannot have.
        if version != "2" {
            fixture.git(&["add", "-N", "added"]);
        }
        fixture.git(&["update-index", "--index-version", version]);
        assert_eq!(features(&fixture.root), [], "version {version}");
        fixture.git(&["update-index", "--split-index"]);
        assert_eq!(features(&fixture.root), [GitFeature::SplitIndex]);
    }
}

#[test]
fn worktree_of_a_bare_repository_is_examined() {
    let fixture = Fixture::new();
    fixture.write("file", "one\n");
    fixture.commit();
    let bare = fixture.root.join("bare.git");
    let root = fixture.root.join("tree");
    fixture.git(&["clone", "-q", "--bare", ".", &bare.to_string()]);
    git(
        bare.as_path(),
        &["worktree", "add", "-q", &root.to_string()],
    );
    git(root.as_path(), &["update-index", "--split-index"]);
    assert_eq!(features(&root), [GitFeature::SplitIndex]);
    let outside = AbsPath::new("/").expect("absolute");
    assert!(matches!(
        Capabilities::of_folder(&outside),
        Err(Error::NoRepository(_))
    ));
}
