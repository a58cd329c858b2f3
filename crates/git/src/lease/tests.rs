//! Tests of the git operations for leases, without actual leases.

use base::AbsPath;
use git2::{Oid, Repository, Signature};

use super::checkout_filter::{looks_binary, with_crlf};
use super::main_repo::{is_harmless, quoted};
use super::*;

/// Creates a repository with one file; returns it with its first commit.
fn repository(folder: &Path) -> (Repository, String) {
    let repository = Repository::init(folder).unwrap();
    let id = commit(&repository, "file", b"one\n", &[]);
    repository.set_head_detached(id).unwrap();
    (repository, id.to_string())
}

fn commit(repository: &Repository, name: &str, content: &[u8], parents: &[Oid]) -> Oid {
    let blob = repository.blob(content).unwrap();
    let mut builder = repository.treebuilder(None).unwrap();
    builder.insert(name, blob, 0o100_644).unwrap();
    let tree = repository.find_tree(builder.write().unwrap()).unwrap();
    let who = Signature::now("A", "a@localhost").unwrap();
    let parents: Vec<_> = parents
        .iter()
        .map(|id| repository.find_commit(*id).unwrap())
        .collect();
    let parents: Vec<_> = parents.iter().collect();
    repository
        .commit(None, &who, &who, "x", &tree, &parents)
        .unwrap()
}

#[test]
fn unsafe_names_are_distinguished_from_safe_ones() {
    for name in ["a", ".gitignore", "..a", ".github", "git", "a b"] {
        assert!(is_harmless(name.as_bytes()), "{name}");
    }
    let hidden = [".g\u{200c}it", ".git.", "GIT~1"];
    let names = ["", ".", "..", ".git", ".GIT", ".Git", "a/b", "a\0b"];
    for name in names.into_iter().chain(hidden) {
        assert!(!is_harmless(name.as_bytes()), "{name}");
    }
}

#[test]
fn config_values_cannot_end_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    for value in [
        "Plain Name",
        "a \"quoted\" one",
        "back\\slash",
        "tab\tand\nline",
        "# no comment ; either",
    ] {
        let mut config = git2::Config::open(&path).unwrap();
        config.set_str("other.key", "kept").unwrap();
        let text = format!(
            "[user]\n\tname = {}\n[core]\n\tbare = false\n",
            quoted(value)
        );
        let written = Path::new(&path);
        #[expect(clippy::disallowed_methods, reason = "a test writes its own file")]
        std::fs::write(written, text).unwrap();
        let config = git2::Config::open(&path).unwrap();
        assert_eq!(config.get_string("user.name").unwrap(), value);
        assert!(!config.get_bool("core.bare").unwrap());
    }
}

#[test]
fn line_endings_are_converted_once() {
    assert_eq!(with_crlf(b"a\nb\r\n\n"), b"a\r\nb\r\n\r\n");
    assert_eq!(with_crlf(b""), b"");
    assert!(looks_binary(b"a\0b"));
    assert!(!looks_binary("grüße\n\tund mehr\n".as_bytes()));
}

#[test]
fn commits_are_imported_completely_and_once() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_, first) = repository(here.path());
    let (other, _) = repository(there.path());
    let one = commit(&other, "a", b"a\n", &[]);
    let two = commit(&other, "b", b"b\n", &[one]);
    let main_repo = MainRepo::open(&AbsPath::new(here.path()).unwrap()).unwrap();
    let objects = there.path().join(".git/objects");
    main_repo
        .import_commits(&objects, &two.to_string())
        .unwrap();
    main_repo
        .import_commits(&objects, &two.to_string())
        .unwrap();
    assert_eq!(
        main_repo.committed(&two.to_string(), b"b").unwrap().0,
        b"b\n"
    );
    assert_eq!(
        main_repo.committed(&one.to_string(), b"a").unwrap().0,
        b"a\n"
    );
    // An unknown object is an error and leaves the repository unchanged.
    assert!(
        main_repo
            .import_commits(&objects, "1234567890123456789012345678901234567890")
            .is_err()
    );
    assert_eq!(main_repo.head().unwrap().commit, first);
}

#[test]
fn temporary_files_of_killed_saves_are_not_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, head) = repository(folder.path());
    let root = AbsPath::new(folder.path().canonicalize().expect("a path")).expect("absolute");
    for name in [".burin-qboqgvtm", ".burin-notes", "new.txt"] {
        let written = host::Files::write_private(&host::RealFiles, &root.join(name), b"x");
        written.expect("written");
    }
    let index = folder.path().join(".git/index");
    let glance = super::StatusProbe::new(&root, &root, &index, &[]).expect("a look");
    let touched = glance.touched_since(&head).expect("a comparison");
    let names = touched
        .iter()
        .map(|it| String::from_utf8_lossy(&it.path).into_owned());
    let untracked: Vec<String> = names.filter(|it| it != "file").collect();
    assert_eq!(untracked, [".burin-notes", "new.txt"]);
}
