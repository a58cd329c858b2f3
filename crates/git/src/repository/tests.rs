//! Tests with real repositories in temporary folders, created with libgit2.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;

use base::AbsPath;
use test_support::{FoldingVolume, Spellings, skip, spelling_count};

use super::{Error, Repository};
use crate::FileStatus;

pub(crate) struct Fixture {
    /// Deletes the folder with the fixture that created it.
    _folder: Option<tempfile::TempDir>,
    root: AbsPath,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("it exists");
        let at = Self::at(&AbsPath::new(root).expect("absolute"));
        Self {
            _folder: Some(folder),
            ..at
        }
    }

    /// Creates a repository in a folder of another fixture.
    pub(crate) fn at(root: &AbsPath) -> Self {
        git2::Repository::init(root.as_path()).expect("init");
        Self {
            _folder: None,
            root: root.clone(),
        }
    }

    pub(crate) fn root(&self) -> &AbsPath {
        &self.root
    }

    pub(crate) fn configure(&self, key: &str, value: &str) {
        let repository = git2::Repository::open(self.root.as_path()).expect("open");
        let mut config = repository.config().expect("a configuration");
        config.set_str(key, value).expect("set");
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> AbsPath {
        let path = self.root.join(name);
        let parent = path.parent().expect("inside the root");
        fs::create_dir_all(parent.as_path()).expect("create the folder");
        fs::write(path.as_path(), text).expect("write");
        path
    }

    pub(crate) fn commit_all(&self) {
        let repository = git2::Repository::open(self.root.as_path()).expect("open");
        let mut index = repository.index().expect("index");
        index
            .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
            .expect("add");
        index.write().expect("write the index");
        let tree = repository
            .find_tree(index.write_tree().expect("tree"))
            .expect("find it");
        let author = git2::Signature::now("a", "a@example.org").expect("signature");
        let parent = repository
            .head()
            .ok()
            .and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<_> = parent.iter().collect();
        repository
            .commit(Some("HEAD"), &author, &author, "work", &tree, &parents)
            .expect("commit");
    }

    fn repository(&self) -> Repository {
        Repository::discover(&self.root).expect("a repository")
    }
}

#[test]
fn head_bytes_are_those_of_the_last_commit() {
    let fixture = Fixture::new();
    let path = fixture.write("src/lib.rs", "one\n");
    assert_eq!(
        fixture.repository().head_bytes(&path).expect("readable"),
        None
    );
    fixture.commit_all();
    fixture.write("src/lib.rs", "two\n");
    let bytes = fixture.repository().head_bytes(&path).expect("readable");
    assert_eq!(bytes.as_deref(), Some(&b"one\n"[..]));
    let outside = AbsPath::new("/nowhere/else").expect("absolute");
    assert_eq!(
        fixture.repository().head_bytes(&outside).expect("readable"),
        None
    );
}

#[test]
fn head_is_read_by_every_spelling_that_the_volume_takes() {
    let fixture = Fixture::new();
    fixture.write("Src/Strasse/Kiosk.txt", "one");
    fixture.commit_all();
    let configure = |folds: &str| {
        for name in ["core.ignorecase", "core.precomposeunicode"] {
            fixture.configure(name, folds);
        }
    };
    let head = |path: &str| {
        let bytes = fixture.repository().head_bytes(&fixture.root.join(path));
        bytes.expect("readable")
    };
    configure("false");
    assert_eq!(head("src/strasse/kiosk.txt"), None);
    configure("true");
    let mut spellings = Spellings::new(22);
    for _ in 0..spelling_count(300) {
        let spelled = spellings.of("src/strasse/kiosk.txt");
        assert_eq!(head(&spelled).as_deref(), Some(&b"one"[..]), "{spelled}");
    }
    for other in ["src/strasse", "src/strasse/kiosk", "strasse/kiosk.txt"] {
        assert_eq!(head(other), None, "{other}");
    }
}

#[test]
fn a_repository_has_one_root_however_it_is_spelled() {
    let volume = match FoldingVolume::mount() {
        Ok(volume) => volume,
        Err(error) => return skip(format!("a FUSE volume cannot be mounted: {error}")),
    };
    let top = AbsPath::new(volume.path()).expect("absolute");
    let root = top.join("Strasse/Kiosk");
    fs::create_dir_all(root.as_path()).expect("a folder");
    let fixture = Fixture::at(&root);
    fixture.write("Src/First.txt", "one");
    fixture.commit_all();
    fixture.write("Src/First.txt", "another");
    let mut spellings = Spellings::new(23);
    for _ in 0..spelling_count(20).min(1000) {
        let spelled = top.join(spellings.of("strasse/kiosk"));
        let repository = Repository::discover(&spelled).expect("a repository");
        assert_eq!(repository.workdir(), &root, "{spelled}");
        let path = spelled.join(spellings.of("src/first.txt"));
        let head = repository.head_bytes(&path).expect("readable");
        assert_eq!(head.as_deref(), Some(&b"one"[..]), "{path}");
    }
    let statuses = fixture.repository().statuses().expect("readable");
    let path = root.join(spellings.of("src/first.txt"));
    assert_eq!(statuses.of(&path), Some(FileStatus::Modified), "{path}");
}

#[test]
fn statuses_of_files_and_folders() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "/target\n*.log\n");
    let changed = fixture.write("a/b/changed.rs", "1");
    let gone = fixture.write("a/gone.rs", "1");
    let same = fixture.write("c/same.rs", "1");
    fixture.commit_all();
    fixture.write("a/b/changed.rs", "22");
    fs::remove_file(gone.as_path()).expect("remove");
    let new = fixture.write("d/e/new.rs", "1");
    let log = fixture.write("d/x.log", "1");
    let built = fixture.write("target/debug/x", "1");

    let statuses = fixture.repository().statuses().expect("readable");
    let of = |path: &AbsPath| statuses.of(path);
    assert_eq!(of(&changed), Some(FileStatus::Modified));
    assert_eq!(of(&gone), Some(FileStatus::Deleted));
    assert_eq!(of(&same), None);
    assert_eq!(of(&new), Some(FileStatus::Untracked));
    assert_eq!(of(&log), Some(FileStatus::Ignored));
    assert_eq!(
        of(&built),
        Some(FileStatus::Ignored),
        "beneath an ignored folder"
    );
    assert_eq!(of(&fixture.root.join("a")), Some(FileStatus::Modified));
    assert_eq!(of(&fixture.root.join("d")), Some(FileStatus::Untracked));
    assert_eq!(of(&fixture.root.join("c")), None);
    let changed = statuses
        .files()
        .filter(|(_, status)| *status != FileStatus::Ignored);
    assert_eq!(changed.count(), 3);
}

#[test]
fn the_branch_is_named_before_and_after_the_first_commit() {
    let fixture = Fixture::new();
    let unborn = fixture.repository().branch().expect("a branch to be");
    assert!(!unborn.is_detached && !unborn.name.is_empty());
    fixture.write("a", "1");
    fixture.commit_all();
    assert_eq!(fixture.repository().branch(), Some(unborn));

    let inner = git2::Repository::open(fixture.root.as_path()).expect("open");
    let head = inner
        .head()
        .and_then(|head| head.peel_to_commit())
        .expect("a commit");
    inner.set_head_detached(head.id()).expect("detach");
    let detached = fixture.repository().branch().expect("a commit");
    assert!(detached.is_detached);
    assert!(head.id().to_string().starts_with(&detached.name));
}

#[test]
fn queries_outside_a_repository_do_not_fail() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = AbsPath::new(folder.path().canonicalize().expect("exists")).expect("absolute");
    assert!(matches!(
        Repository::discover(&path),
        Err(Error::NoRepository(_))
    ));
}

#[test]
fn queries_run_no_program_and_write_nothing() {
    let fixture = Fixture::new();
    let path = fixture.write("a.txt", "1\n");
    fixture.commit_all();
    let canary = fixture.root.join(".git/canary");
    let script = fixture.write(".git/run.sh", &format!("#!/bin/sh\ntouch {canary}\n"));
    make_executable(&script);
    let config = format!(
        "[core]\n\tfsmonitor = {script}\n\thooksPath = {}\n[filter \"x\"]\n\tclean = {script}\n\tsmudge = {script}\n",
        fixture.root.join(".git")
    );
    fixture.write(".git/config", &config);
    fixture.write(".gitattributes", "*.txt filter=x\n");
    fixture.write("a.txt", "2\n");
    let index = fs::read(fixture.root.join(".git/index").as_path()).expect("index");

    let repository = fixture.repository();
    let statuses = repository.statuses().expect("readable");
    assert_eq!(statuses.of(&path), Some(FileStatus::Modified));
    repository.head_bytes(&path).expect("readable");
    assert!(!canary.as_path().exists(), "something ran");
    let after = fs::read(fixture.root.join(".git/index").as_path()).expect("index");
    assert_eq!(index, after, "the index was rewritten");
}

fn make_executable(path: &AbsPath) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path.as_path(), fs::Permissions::from_mode(0o755)).expect("chmod");
}
