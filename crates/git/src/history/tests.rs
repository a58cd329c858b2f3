//! Tests of the history of a real repository, created with libgit2.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;

use base::AbsPath;

use super::*;

struct Fixture {
    _folder: tempfile::TempDir,
    root: AbsPath,
    inner: git2::Repository,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("it exists");
        let inner = git2::Repository::init(&root).expect("init");
        let root = AbsPath::new(root).expect("absolute");
        Self {
            _folder: folder,
            root,
            inner,
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).expect("write");
    }

    fn commit(&self, message: &str) {
        let mut index = self.inner.index().expect("index");
        index
            .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
            .expect("add");
        index.write().expect("write the index");
        let tree = index.write_tree().expect("a tree");
        let tree = self.inner.find_tree(tree).expect("it exists");
        let time = git2::Time::new(1_700_000_000, 0);
        let author = git2::Signature::new("Ada", "ada@example.org", &time).expect("a signature");
        let parent = self
            .inner
            .head()
            .ok()
            .and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<_> = parent.iter().collect();
        let done = self
            .inner
            .commit(Some("HEAD"), &author, &author, message, &tree, &parents);
        done.expect("a commit");
    }

    fn repository(&self) -> Repository {
        Repository::discover(&self.root).expect("a repository")
    }
}

fn two_commits() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a", "one\ntwo\n");
    fixture.write("b", "b\n");
    fixture.commit("first\n\nwith a body\n");
    fixture.write("a", "one\nTWO\n");
    fixture.commit("second");
    fixture
}

#[test]
fn log_lists_commits_newest_first_and_by_path() {
    let fixture = two_commits();
    let repository = fixture.repository();
    let messages = |path: Option<&str>, limit| {
        let commits = repository
            .log("HEAD", path.map(Path::new), limit)
            .expect("a history");
        commits
            .into_iter()
            .map(|commit| commit.message)
            .collect::<Vec<_>>()
    };
    assert_eq!(messages(None, 9), ["second", "first\n\nwith a body\n"]);
    assert_eq!(messages(None, 1), ["second"]);
    assert_eq!(messages(Some("b"), 9), ["first\n\nwith a body\n"]);
    assert!(messages(Some("none"), 9).is_empty());
    let first = repository.commit("HEAD~1").expect("a commit");
    assert_eq!(
        (first.author.as_str(), first.seconds),
        ("Ada <ada@example.org>", 1_700_000_000)
    );
    let error = repository
        .log("nowhere", None, 1)
        .expect_err("no such revision");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

#[test]
fn diffs_are_in_unified_format() {
    let fixture = two_commits();
    fixture.write("b", "B\n");
    let repository = fixture.repository();
    let diff =
        |compared: CompareTarget| repository.diff(&compared, None, 1 << 20).expect("a diff").0;
    let of_commit = diff(CompareTarget::Commit("HEAD".to_owned()));
    assert!(
        of_commit.contains("-two\n+TWO\n") && !of_commit.contains("+B"),
        "{of_commit}"
    );
    assert!(diff(CompareTarget::Unstaged).contains("-b\n+B\n"));
    assert!(diff(CompareTarget::Head).contains("-b\n+B\n"));
    assert_eq!(diff(CompareTarget::Staged), "");
    let between = CompareTarget::Between("HEAD".to_owned(), "HEAD~1".to_owned());
    assert!(diff(between.clone()).contains("-TWO\n+two\n"));
    assert!(
        diff(CompareTarget::Commit("HEAD~1".to_owned())).contains("+one\n"),
        "the first commit"
    );
    let (text, is_cut) = repository.diff(&between, None, 20).expect("a diff");
    assert!(is_cut && text.len() < 200);
    let (text, _) = repository
        .diff(&between, Some(Path::new("b")), 1 << 20)
        .expect("a diff");
    assert_eq!(text, "");
}

#[test]
fn past_content_and_blame() {
    let fixture = two_commits();
    let repository = fixture.repository();
    let bytes = |path: &str| {
        repository
            .bytes_at("HEAD~1", Path::new(path))
            .expect("readable")
    };
    assert_eq!(bytes("a").as_deref(), Some(&b"one\ntwo\n"[..]));
    assert_eq!(bytes("none"), None);
    let blamed = repository.blame(Path::new("a")).expect("a history");
    let lines: Vec<_> = blamed.iter().map(|hunk| hunk.lines.clone()).collect();
    assert_eq!(lines, [0..1, 1..2]);
    assert_ne!(blamed[0].id, blamed[1].id);
    assert_eq!(blamed[1].author, "Ada");
    assert!(repository.blame(Path::new("none")).is_err());
}
