//! Tests against a real repository and working tree, created with libgit2.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;

use super::*;

fn folder() -> (tempfile::TempDir, AbsPath) {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path().canonicalize().unwrap()).unwrap();
    (folder, path)
}

#[test]
fn commit_is_read_next_to_a_working_tree() {
    let (_folder, root) = folder();
    let repository = git2::Repository::init(&root).unwrap();
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/a.txt"), "one\n").unwrap();
    fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
    let mut index = repository.index().unwrap();
    index
        .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
        .unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let signature = git2::Signature::now("a", "a@b").unwrap();
    let commit = repository
        .commit(Some("HEAD"), &signature, &signature, "one", &tree, &[])
        .unwrap();
    fs::write(root.join("src/a.txt"), "two\n").unwrap();

    let base = BaseTree::open(&root, &root.join(".git"), &commit.to_string()).unwrap();
    let files = base.files().unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".gitignore", "src/a.txt"]);
    let file = &files[1];
    assert_eq!(
        (file.id.as_str(), file.mode),
        (blob_id(b"one\n").as_str(), 0o100_644)
    );
    assert_eq!(base.content(&file.id).unwrap(), Some(b"one\n".to_vec()));
    assert_eq!(base.content(&blob_id(b"two\n")).unwrap(), None);
    let stats = base.index_stats(&root.join(".git/index")).unwrap();
    assert_eq!((stats["src/a.txt"].size, stats.len()), (4, 2));
    assert!(base.is_ignored("target/") && base.is_ignored("src/x.log"));
    assert!(!base.is_ignored("src/"));
    assert!(BaseTree::open(&root, &root.join(".git"), &"0".repeat(40)).is_err());
}
