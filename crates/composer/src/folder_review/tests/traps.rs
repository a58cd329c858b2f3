//! Files that are no plain text with line feeds, and folders with a repository.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

#[track_caller]
fn check_round_trip(before: Option<&[u8]>, after: Option<&[u8]>) {
    let folder = Folder::new(&[]);
    if let Some(before) = before {
        folder.write("f", before);
    }
    let put = |it: &Folder, bytes: Option<&[u8]>| match bytes {
        Some(bytes) => it.write("f", bytes),
        None => it.remove("f"),
    };
    folder.call("s", 1, "c1", |it| put(it, after));
    assert!(!folder.changes("s").hunks.is_empty());
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.read("f").as_deref(), before, "rejected");
    assert_eq!(folder.changes("s").hunks, []);
    folder.run("s", &FolderAction::UndoLatest).unwrap();
    assert_eq!(folder.read("f").as_deref(), after, "undone");
    let changes = folder.changes("s");
    assert!(!changes.hunks.is_empty(), "reviewed again");
    folder
        .run("s", &FolderAction::Keep(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.changes("s").hunks, []);
    assert_eq!(folder.read("f").as_deref(), after, "kept");
}

#[test]
fn every_kind_of_content_goes_back_byte_for_byte() {
    type Content<'a> = Option<&'a [u8]>;
    let cases: &[(Content<'_>, Content<'_>)] = &[
        (Some(b"a\r\nb\nc\r\n"), Some(b"a\nb\nc\r\nd\r\n")),
        (Some(b"a\nb"), Some(b"a\nb\nc")),
        (Some(b"a\nb\n"), Some(b"a\nb")),
        (Some(b"\xEF\xBB\xBFa\n"), Some(b"a\n")),
        (Some(b"a\xFF\n"), Some(b"b\xFE\n")),
        (Some(b"a\0b"), Some(b"a\0c")),
        (Some(b"text\n"), Some(b"a\0c")),
        (None, Some(b"new\n")),
        (None, Some(b"")),
        (None, Some(b"\0")),
        (Some(b"old\n"), None),
        (Some(b""), None),
        (Some(b"\0"), None),
        (Some(b""), Some(b"x\n")),
        (Some(b"x\n"), Some(b"")),
    ];
    for (before, after) in cases {
        check_round_trip(*before, *after);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test sets and reads metadata")]
fn modes_and_links_go_back() {
    let folder = Folder::new(&[("run.sh", "x\n"), ("target", "t\n")]);
    let at = |name: &str| folder.root.path().join(name);
    let mode = || {
        std::fs::metadata(at("run.sh"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    let plain = mode();
    symlink("target", at("link")).unwrap();
    folder.call("s", 1, "c1", |_| {
        std::fs::set_permissions(at("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::remove_file(at("link")).unwrap();
        symlink("run.sh", at("link")).unwrap();
    });
    let changes = folder.changes("s");
    let notes: Vec<_> = changes
        .hunks
        .iter()
        .filter_map(|it| it.note.as_deref())
        .collect();
    assert_eq!(notes, ["symlink changed", "made executable"]);
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(mode(), plain);
    assert_eq!(
        std::fs::read_link(at("link")).unwrap().to_str(),
        Some("target")
    );
}

#[test]
fn text_of_the_user_in_a_new_file_stays() {
    let folder = Folder::new(&[("a", "a\n")]);
    folder.call("s", 1, "c1", |it| it.write("new", "one\ntwo\n"));
    folder.write("new", "one\ntwo\nmine\n");
    folder.observe(&ChangeAuthor::Person);
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.text("new"), "mine\n");
}

#[test]
fn a_log_that_was_cut_short_by_a_crash_opens() {
    let mut folder = Folder::new(&[("a", "a\n"), ("b", "b\n")]);
    folder.call("s", 1, "c1", |it| {
        it.write("a", "A\n");
        it.write("b", "B\n");
    });
    // The program dies after the journal and the first file were written.
    let journal = {
        let mut history = lock_of(&folder.review().history);
        let path = |name: &str, old: &[u8], history: &mut ChangeHistory| {
            let from = history.known_version(name).cloned();
            let to = history.store_version(crate::change_history::VersionKind::File, old);
            serde_json::json!({"path": name, "from": from, "to": to.unwrap(), "undoes": []})
        };
        let writes = [
            path("a", b"a\n", &mut history),
            path("b", b"b\n", &mut history),
        ];
        let journal = serde_json::json!({"operation": 1, "at_ms": 1, "writes": writes});
        history
            .write_journal(journal.to_string().as_bytes())
            .unwrap();
        journal
    };
    assert!(journal.is_object());
    folder.write("a", "a\n");
    folder.open();
    assert_eq!(
        (folder.text("a"), folder.text("b")),
        ("a\n".to_owned(), "b\n".to_owned())
    );
    assert_eq!(folder.changes("s").hunks, []);
    folder.run("s", &FolderAction::UndoLatest).unwrap();
    assert_eq!(
        (folder.text("a"), folder.text("b")),
        ("A\n".to_owned(), "B\n".to_owned())
    );
}

#[test]
fn a_repository_stays_as_it_is_and_a_subfolder_is_enough() {
    let repository = TempFolder::new().unwrap();
    let at = repository.path().clone();
    let git = |arguments: &[&str]| crate::land::tests::git(at.as_path(), arguments);
    git(&["init", "-q"]);
    let mut folder = Folder::new(&[]);
    folder.review = None;
    let outer = std::mem::replace(&mut folder.root, repository);
    folder.write("inner/a.txt", "one\ntwo\n");
    folder.write("inner/ignored.log", "i\n");
    folder.write("outer.txt", "o\n");
    folder.write(".gitignore", "*.log\n");
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    let state = || git(&["status", "--porcelain"]) + &git(&["rev-parse", "HEAD"]);
    let before = state();
    let review = FolderReview::open(
        &folder.root.path().join("inner"),
        folder.state.path().clone(),
        Arc::new(RealFiles),
        Arc::new(FakeClock::at(1)),
        None,
    );
    folder.review = Some(review.unwrap());
    folder.call("s", 1, "c1", |it| {
        it.write("inner/a.txt", "one\n2\n");
        it.write("outer.txt", "outside\n");
    });
    let changes = folder.changes("s");
    let paths: Vec<_> = changes.hunks.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["a.txt"]);
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.text("inner/a.txt"), "one\ntwo\n");
    folder.write("outer.txt", "o\n");
    assert_eq!(state(), before);
    assert!(
        lock_of(&folder.review().history)
            .known_version("ignored.log")
            .is_none()
    );
    drop(outer);
}
