//! Tests of working trees in states that an agent or a killed program may leave.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;

use base::AbsPath;
use host::RealFiles;

use super::{ScanLimits, ScanTarget, WorktreeChanges};
use crate::merge::TreePath;
use crate::repository::Repository;

struct Tree {
    _folder: tempfile::TempDir,
    root: AbsPath,
}

impl Tree {
    /// Creates a working tree whose base has these files.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("it exists");
        let root = AbsPath::new(root).expect("absolute");
        let tree = Self {
            _folder: folder,
            root,
        };
        git2::Repository::init(tree.root.as_path()).expect("init");
        files.iter().for_each(|(name, text)| tree.write(name, text));
        tree.add(&["*"], git2::IndexAddOption::DEFAULT);
        let repository = tree.git();
        let id = repository.index().and_then(|mut index| index.write_tree());
        let whole = repository
            .find_tree(id.expect("a tree"))
            .expect("it is there");
        let author = git2::Signature::now("a", "a@example.org").expect("a signature");
        repository
            .commit(Some("HEAD"), &author, &author, "base", &whole, &[])
            .expect("a commit");
        tree
    }

    fn git(&self) -> git2::Repository {
        git2::Repository::open(self.root.as_path()).expect("open")
    }

    fn add(&self, names: &[&str], option: git2::IndexAddOption) {
        let repository = self.git();
        let mut index = repository.index().expect("an index");
        index.add_all(names, option, None).expect("add");
        index.write().expect("write the index");
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("a folder").as_path()).expect("the folder");
        fs::write(path.as_path(), text).expect("write");
    }

    fn scan(&self) -> WorktreeChanges {
        let repository = Repository::discover(&self.root).expect("a repository");
        let git_dir = self.root.join(".git");
        let place = ScanTarget {
            root: &self.root,
            git_dir: Some(&git_dir),
            cache_file: None,
        };
        let base = repository.tree_of("HEAD").expect("the base");
        repository
            .scan(place, base, ScanLimits::default(), &RealFiles)
            .expect("a scan")
    }
}

/// Returns the changed paths of a scan, and whether each still exists.
fn told(scanned: &WorktreeChanges) -> Vec<(String, bool)> {
    let changes = scanned.changes.iter();
    changes
        .map(|(path, entry)| (path.to_string(), entry.is_some()))
        .collect()
}

fn there(name: &str) -> (String, bool) {
    (name.to_owned(), true)
}

#[test]
fn scan_reports_changed_added_and_deleted_files() {
    let tree = Tree::new(&[("kept", "1\n"), ("changed", "1\n"), ("gone", "1\n")]);
    tree.write("changed", "2\n");
    tree.write("deep/new", "3\n");
    fs::remove_file(tree.root.join("gone").as_path()).expect("remove");
    let expected = [
        there("changed"),
        there("deep/new"),
        ("gone".to_owned(), false),
    ];
    assert_eq!(told(&tree.scan()), expected);
}

#[test]
fn temporary_files_of_killed_saves_are_skipped() {
    let tree = Tree::new(&[("a", "1\n"), ("deep/b", "1\n")]);
    tree.write("a", "2\n");
    for draft in [
        ".burin-kotb304i",
        "deep/.burin-vhkh0txd",
        "deep/.burin-new-1e53b8059a2768db",
    ] {
        tree.write(draft, "half of a f");
    }
    assert_eq!(told(&tree.scan()), [there("a")]);
    // A forced `git add` of everything does not include it either.
    tree.add(&["*"], git2::IndexAddOption::FORCE);
    assert_eq!(told(&tree.scan()), [there("a")]);
    for other in [".burin-notes", ".burin-new-x", ".burin"] {
        tree.write(other, "somebody's\n");
    }
    let expected = [".burin", ".burin-new-x", ".burin-notes", "a"].map(there);
    assert_eq!(told(&tree.scan()), expected);
}

#[test]
fn ignored_files_are_skipped_unless_added() {
    let tree = Tree::new(&[(".gitignore", "*.log\n")]);
    tree.write("a.log", "1\n");
    tree.write("b.log", "1\n");
    assert_eq!(told(&tree.scan()), []);
    tree.add(&["b.log"], git2::IndexAddOption::FORCE);
    assert_eq!(told(&tree.scan()), [there("b.log")]);
}

#[test]
fn nested_repository_is_refused() {
    let tree = Tree::new(&[("a", "1\n")]);
    git2::Repository::init(tree.root.join("inner").as_path()).expect("init");
    tree.write("inner/x", "1\n");
    let scanned = tree.scan();
    assert_eq!(told(&scanned), []);
    let refused: Vec<&TreePath> = scanned.refused.iter().map(|it| &it.path).collect();
    assert_eq!(refused, [&TreePath::from("inner")]);
}
