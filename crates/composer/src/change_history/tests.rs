//! Tests observation of changes on a real disk, over an in-memory base.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use host::{FakeClock, RealFiles, TempFolder};

use super::*;

/// A working tree with its change log.
pub(crate) struct Place {
    pub(crate) root: TempFolder,
    pub(crate) state: TempFolder,
}

impl Place {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let place = Self {
            root: TempFolder::new().unwrap(),
            state: TempFolder::new().unwrap(),
        };
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    pub(crate) fn open(&self, base: FakeBase) -> ChangeHistory {
        let parts = ChangeHistoryOptions {
            root: self.root.path().clone(),
            base: Box::new(base),
            folder: self.state.path().clone(),
            files: Arc::new(RealFiles),
            // With a clock in the past, no metadata is trusted, so every file is read again.
            clock: Arc::new(FakeClock::at(1)),
        };
        ChangeHistory::open(parts, ChangeAuthor::Disk).unwrap()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "somebody else writes to the disk"
    )]
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "somebody else removes a file")]
    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.root.path().join(path)).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "a test looks at the disk")]
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.path().join(path)).ok()
    }
}

pub(crate) fn agent(session: &str, turn: u64) -> ChangeAuthor {
    ChangeAuthor::Agent(AgentCall {
        session: session.to_owned(),
        turn,
        call: format!("{session}-{turn}"),
        tool: "edit".to_owned(),
    })
}

fn command(session: &str, turn: u64) -> ChangeAuthor {
    match agent(session, turn) {
        ChangeAuthor::Agent(doing) => ChangeAuthor::Command(doing),
        other => other,
    }
}

/// The path and author of each change.
fn told(authored: &ChangeHistory) -> Vec<(String, ChangeAuthor)> {
    let changes = authored.changes().iter();
    changes
        .map(|it| (it.path.clone(), it.author.clone()))
        .collect()
}

#[test]
fn what_is_as_in_the_base_is_no_change() {
    let files = [("a.txt", "one\n"), ("src/b.txt", "two\n")];
    let place = Place::new(&files);
    let mut authored = place.open(FakeBase::new(&files, &[]));
    assert_eq!(told(&authored), []);
    assert_eq!(
        authored
            .observe(ObserveScope::All, &ChangeAuthor::Person)
            .unwrap(),
        Vec::new()
    );
    assert_eq!(authored.differences(), []);
}

#[test]
fn observe_finds_files_a_command_created_and_removed() {
    let files = [("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")];
    let place = Place::new(&files);
    let mut authored = place.open(FakeBase::new(&files, &["target/", "x.log"]));
    place.write("a.txt", "by hand\n");
    authored
        .observe(ObserveScope::All, &ChangeAuthor::Disk)
        .unwrap();
    place.write("a.txt", "by command\n");
    place.remove("b.txt");
    place.write("new/d.txt", "four\n");
    place.write("target/built", "left out");
    place.write("x.log", "left out");
    place.write(".git/hooks/x", "left out");
    authored
        .observe(ObserveScope::All, &command("s", 3))
        .unwrap();
    let mut changes = told(&authored);
    changes[1..].sort();
    assert_eq!(
        changes,
        [
            ("a.txt".to_owned(), ChangeAuthor::Disk),
            ("a.txt".to_owned(), command("s", 3)),
            ("b.txt".to_owned(), command("s", 3)),
            ("new/d.txt".to_owned(), command("s", 3)),
        ]
    );
    let before = authored.changes()[1].before.clone().unwrap();
    assert_eq!(authored.content(&before).unwrap(), b"by hand\n");
    let paths: Vec<String> = authored
        .differences()
        .into_iter()
        .map(|it| it.path)
        .collect();
    assert_eq!(paths, ["a.txt", "b.txt", "new/d.txt"]);
}

#[test]
fn symlinks_and_executable_bits_are_versioned() {
    use std::os::unix::fs::PermissionsExt;
    let files = [("a.sh", "echo\n")];
    let place = Place::new(&files);
    let outside = TempFolder::new().unwrap();
    let mut authored = place.open(FakeBase::new(&files, &[]));
    symlink(outside.path(), place.root.path().join("way")).unwrap();
    let run = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.root.path().join("a.sh"), run).unwrap();
    authored
        .observe(ObserveScope::All, &ChangeAuthor::Person)
        .unwrap();
    let kinds: Vec<_> = authored
        .changes()
        .iter()
        .map(|it| (it.path.as_str(), it.after.as_ref().unwrap().kind))
        .collect();
    assert!(kinds.contains(&("a.sh", VersionKind::Executable)));
    assert!(kinds.contains(&("way", VersionKind::Link)));
    let link = authored.known_version("way").unwrap().clone();
    let target = outside.path().as_path().to_str().unwrap();
    assert_eq!(authored.content(&link).unwrap(), target.as_bytes());
}

#[test]
fn reopened_log_skips_torn_line_and_records_outside_changes() {
    let files = [("a.txt", "one\n")];
    let place = Place::new(&files);
    let mut authored = place.open(FakeBase::new(&files, &[]));
    place.write("a.txt", "two\n");
    authored.observe(ObserveScope::All, &agent("s", 1)).unwrap();
    authored.checkpoint("s", 2).unwrap();
    drop(authored);
    let log = place.state.path().join("changes.jsonl");
    let mut file = RealFiles.open_log(&log).unwrap();
    file.append(b"{\"line\":\"change\",\"id\":1,\"at_").unwrap();
    drop(file);
    place.write("b.txt", "new\n");
    let mut authored = place.open(FakeBase::new(&files, &[]));
    assert_eq!(
        told(&authored),
        [
            ("a.txt".to_owned(), agent("s", 1)),
            ("b.txt".to_owned(), ChangeAuthor::Disk)
        ]
    );
    assert_eq!(authored.checkpoints().len(), 1);
    assert_eq!(authored.take_problems().len(), 1);
    drop(authored);
    let authored = place.open(FakeBase::new(&files, &[]));
    assert_eq!(authored.changes().len(), 2);
    let second = ChangeHistoryOptions {
        root: place.root.path().clone(),
        base: Box::new(FakeBase::new(&files, &[])),
        folder: place.state.path().clone(),
        files: Arc::new(RealFiles),
        clock: Arc::new(FakeClock::at(1)),
    };
    let refused = ChangeHistory::open(second, ChangeAuthor::Disk)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("another Burin"), "{refused}");
    drop(authored);
}

#[test]
fn what_a_command_does_beside_its_session_is_its_doing() {
    let place = Place::new(&[]);
    let mut authored = place.open(FakeBase::new(&[], &[]));
    authored.set_running(Some(command("s", 1)));
    place.write("late.txt", "x\n");
    authored
        .observe(ObserveScope::All, &ChangeAuthor::Disk)
        .unwrap();
    authored.set_running(None);
    place.write("later.txt", "x\n");
    authored
        .observe(ObserveScope::All, &ChangeAuthor::Disk)
        .unwrap();
    assert_eq!(
        told(&authored),
        [
            ("late.txt".to_owned(), command("s", 1)),
            ("later.txt".to_owned(), ChangeAuthor::Disk)
        ]
    );
}

#[test]
fn lines_have_authors_through_changes_of_others() {
    let files = [("a.txt", "1\n2\n3\n4\n")];
    let place = Place::new(&files);
    let mut authored = place.open(FakeBase::new(&files, &[]));
    place.write("a.txt", "1\nA\n2\n3\n4\n");
    authored.observe(ObserveScope::All, &agent("s", 1)).unwrap();
    place.write("a.txt", "P\n1\nA\n2\n3\nlast\n");
    authored
        .observe(ObserveScope::All, &ChangeAuthor::Person)
        .unwrap();
    let lines: Vec<(Range, Option<u64>)> = authored
        .blame("a.txt")
        .unwrap()
        .into_iter()
        .map(|it| ((it.rows.start, it.rows.end), it.change.map(|id| id.0)))
        .collect();
    assert_eq!(
        lines,
        [
            ((0, 1), Some(1)),
            ((1, 2), None),
            ((2, 3), Some(0)),
            ((3, 5), None),
            ((5, 6), Some(1)),
        ]
    );
    assert_eq!(
        authored.authors("a.txt", 1..3).unwrap(),
        [None, Some(agent("s", 1))]
    );
}

type Range = (u32, u32);

#[test]
fn a_review_is_told_who_wrote_its_hunks() {
    use crate::review::LineAuthors as _;
    use git::merge::TreePath;
    let files = [("a.txt", "1\n2\n3\n")];
    let place = Place::new(&files);
    let mut authored = place.open(FakeBase::new(&files, &[]));
    place.write("a.txt", "1\nA\n2\n3\n");
    authored.observe(ObserveScope::All, &agent("s", 1)).unwrap();
    place.write("a.txt", "1\nA\n3\n");
    authored
        .observe(ObserveScope::All, &ChangeAuthor::Person)
        .unwrap();
    let authored = Arc::new(std::sync::Mutex::new(authored));
    let writers = SessionAuthors([("s".to_owned(), authored)].into());
    let asked = |session: &str, lines| writers.authors(session, &TreePath::new("a.txt"), lines);
    let (agents, person) = ("the agent s (turn 1)", "the user");
    assert_eq!(asked("s", Some(1..2)), [agents]);
    // A pure deletion belongs to the author of the last change.
    assert_eq!(asked("s", Some(2..2)), [person]);
    assert_eq!(asked("s", None), [agents, person]);
    assert_eq!(asked("t", None), Vec::<String>::new());
}

#[test]
fn too_large_content_is_noticed_but_not_stored() {
    let place = Place::new(&[]);
    let mut authored = place.open(FakeBase::new(&[], &[]));
    let file = std::fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(place.root.path().join("large"))
        .unwrap();
    file.set_len(MAX_CONTENT_BYTES + 1).unwrap();
    authored
        .observe(ObserveScope::All, &ChangeAuthor::Disk)
        .unwrap();
    let version = authored.known_version("large").unwrap().clone();
    assert!(!version.is_kept());
    assert!(
        authored
            .content(&version)
            .unwrap_err()
            .to_string()
            .contains("16 MiB")
    );
}
