//! Tests reviews on a real disk, with changes of agents, of the user and of other programs.

mod authors;
mod formatters;
mod random;
mod traps;

use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use host::{FakeClock, RealFiles, TempFolder};

use super::*;
use crate::change_history::{AgentCall, ObserveScope};

/// An open folder with its review.
pub(super) struct Folder {
    pub(super) root: TempFolder,
    pub(super) state: TempFolder,
    pub(super) review: Option<FolderReview>,
    buffers: Arc<Texts>,
}

/// Unsaved texts by path.
#[derive(Default)]
struct Texts(Mutex<HashMap<AbsPath, String>>);

impl Buffers for Texts {
    fn text(&self, path: &AbsPath) -> Option<String> {
        lock_of(&self.0).get(path).cloned()
    }
}

impl Folder {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let mut folder = Self {
            root: TempFolder::new().unwrap(),
            state: TempFolder::new().unwrap(),
            review: None,
            buffers: Arc::default(),
        };
        for (path, text) in files {
            folder.write(path, text);
        }
        folder.open();
        folder
    }

    /// A folder with a repository whose first commit has these files.
    pub(super) fn in_git(files: &[(&str, &str)]) -> Self {
        let mut folder = Self::new(&[]);
        folder.review = None;
        for (path, text) in files {
            folder.write(path, text);
        }
        folder.git(&["init", "-q"]);
        folder.git(&["add", "-A"]);
        folder.git(&["commit", "-q", "-m", "first"]);
        // The log begins anew.
        folder.state = TempFolder::new().unwrap();
        folder.open();
        folder
    }

    /// Runs Git in the folder.
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        crate::land::tests::git(self.root.path().as_path(), arguments)
    }

    /// Opens the review, as another start of the program does.
    pub(super) fn open(&mut self) {
        self.review = None;
        let review = FolderReview::open(
            self.root.path(),
            self.state.path().clone(),
            Arc::new(RealFiles),
            // With a clock in the past, no metadata is trusted, so every file is read again.
            Arc::new(FakeClock::at(1)),
            Some(self.buffers.clone()),
        );
        self.review = Some(review.unwrap());
    }

    pub(super) fn review(&self) -> &FolderReview {
        self.review.as_ref().unwrap()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "another program writes to the disk"
    )]
    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "another program removes a file")]
    pub(super) fn remove(&self, path: &str) {
        std::fs::remove_file(self.root.path().join(path)).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "a test looks at the disk")]
    pub(super) fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.root.path().join(path)).ok()
    }

    pub(super) fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path).unwrap_or_default()).unwrap()
    }

    /// Inode and modification time of a file.
    pub(super) fn stamp(&self, path: &str) -> (u64, i64, i64) {
        let stat = std::fs::metadata(self.root.path().join(path)).unwrap();
        (stat.ino(), stat.mtime(), stat.mtime_nsec())
    }

    /// Begins a turn of a session.
    pub(super) fn turn(&self, session: &str, turn: u64) {
        let mut history = lock_of(&self.review().history);
        history.checkpoint(session, turn).unwrap();
    }

    /// Lets an agent do `work` in one call.
    pub(super) fn call(&self, session: &str, turn: u64, call: &str, work: impl FnOnce(&Self)) {
        let author = ChangeAuthor::Agent(AgentCall {
            session: session.to_owned(),
            turn,
            call: call.to_owned(),
            tool: "edit".to_owned(),
        });
        self.observe(&ChangeAuthor::Disk);
        self.turn(session, turn);
        lock_of(&self.review().history).begin_call(author.clone(), None);
        work(self);
        self.observe(&author);
        lock_of(&self.review().history).end_call(&author);
    }

    pub(super) fn observe(&self, author: &ChangeAuthor) {
        let mut history = lock_of(&self.review().history);
        history.observe(ObserveScope::All, author).unwrap();
    }

    pub(super) fn changes(&self, session: &str) -> FolderChanges {
        self.review().changes(&[session.to_owned()]).unwrap()
    }

    pub(super) fn run(&self, session: &str, action: &FolderAction) -> Result<UndoOutcome, Error> {
        self.review().run(&[session.to_owned()], action)
    }

    fn hunk(&self, session: &str, at: usize) -> ReviewTarget {
        let hunk = &self.changes(session).hunks[at];
        ReviewTarget::Hunk {
            path: hunk.path.clone(),
            hunk: hunk.id.clone(),
        }
    }
}

fn numbered(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}\n")).collect()
}

/// The text with some lines replaced; a replacement without a line removes it.
fn with(text: &str, lines: &[(usize, &str)]) -> String {
    let mut all: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for (line, new) in lines {
        all[line - 1] = (*new).to_owned();
    }
    all.concat()
}

#[test]
fn hunks_of_a_session_name_their_calls() {
    let base = numbered(20);
    let folder = Folder::new(&[("a.txt", &base), ("b.txt", "b\n")]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", with(&base, &[(3, "three\n"), (15, "")]));
    });
    folder.call("s", 2, "c2", |it| it.write("new/x.txt", "x\ny\n"));
    let changes = folder.changes("s");
    let shown: Vec<_> = changes
        .hunks
        .iter()
        .map(|it| {
            let calls: Vec<&str> = it.calls.iter().map(|it| it.call.as_str()).collect();
            (
                it.path.as_str(),
                it.line,
                it.before.len(),
                it.after.len(),
                calls.join(","),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("a.txt", 3, 1, 1, "c1".to_owned()),
            ("a.txt", 15, 1, 0, "c1".to_owned()),
            ("new/x.txt", 1, 0, 2, "c2".to_owned()),
        ]
    );
    assert_eq!((changes.files, changes.added, changes.removed), (2, 3, 2));
    assert_eq!(changes.hunks[2].note.as_deref(), Some("new file"));
    assert_eq!(folder.changes("t").hunks, []);
}

#[test]
fn one_hunk_is_rejected_and_the_others_kept_for_good() {
    let base = numbered(20);
    let mut folder = Folder::new(&[("a.txt", &base), ("b.txt", "b\n")]);
    let edits = [(3, "three\n"), (9, "nine\n"), (15, "fifteen\n")];
    folder.call("s", 1, "c1", |it| it.write("a.txt", with(&base, &edits)));
    let untouched = folder.stamp("b.txt");
    folder
        .run("s", &FolderAction::Reject(folder.hunk("s", 1)))
        .unwrap();
    let rest = with(&base, &[edits[0], edits[2]]);
    assert_eq!(folder.text("a.txt"), rest);
    assert_eq!(folder.changes("s").hunks.len(), 2);
    let stamp = folder.stamp("a.txt");
    folder
        .run("s", &FolderAction::Keep(folder.hunk("s", 0)))
        .unwrap();
    assert_eq!(folder.changes("s").hunks.len(), 1);
    folder.open();
    assert_eq!(folder.changes("s").hunks.len(), 1);
    assert_eq!(folder.stamp("a.txt"), stamp);
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.text("a.txt"), with(&base, &[edits[0]]));
    assert_eq!(folder.stamp("b.txt"), untouched);
    assert!(folder.changes("s").hunks.is_empty());
}

#[test]
fn a_message_is_restored_and_the_restore_undone() {
    let base = numbered(12);
    let folder = Folder::new(&[("a.txt", &base), ("gone.txt", "g\n")]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", with(&base, &[(2, "two\n")]))
    });
    let first = folder.text("a.txt");
    folder.call("s", 2, "c2", |it| {
        it.write("a.txt", with(&first, &[(2, "TWO\n"), (8, "eight\n")]));
        it.write("new.txt", "n\n");
        it.remove("gone.txt");
    });
    // The user edits another place, on the disk and later than the agent.
    let mine = with(&folder.text("a.txt"), &[(12, "mine\n")]);
    folder.write("a.txt", &mine);
    let changes = folder.changes("s");
    let files: Vec<_> = changes.turns[1]
        .files
        .iter()
        .map(|it| it.0.as_str())
        .collect();
    assert_eq!(files, ["a.txt", "gone.txt", "new.txt"]);
    folder.run("s", &FolderAction::Restore(2)).unwrap();
    assert_eq!(folder.text("a.txt"), with(&first, &[(12, "mine\n")]));
    assert_eq!(folder.read("new.txt"), None);
    assert_eq!(folder.text("gone.txt"), "g\n");
    let again = folder.run("s", &FolderAction::Restore(2));
    assert!(matches!(again, Err(Error::NothingToUndo)), "{again:?}");
    assert!(folder.changes("s").can_undo);
    folder.run("s", &FolderAction::UndoLatest).unwrap();
    assert_eq!(folder.text("a.txt"), mine);
    assert_eq!(folder.text("new.txt"), "n\n");
    assert_eq!(folder.read("gone.txt"), None);
    assert_eq!(folder.changes("s").hunks, changes.hunks);
    folder.run("s", &FolderAction::Restore(1)).unwrap();
    assert_eq!(folder.text("a.txt"), with(&base, &[(12, "mine\n")]));
}

#[test]
fn only_the_named_author_turn_or_call_goes() {
    let base = numbered(30);
    let folder = Folder::new(&[("a.txt", &base)]);
    let edit = |line: usize, text: &'static str| {
        move |it: &Folder| it.write("a.txt", with(&it.text("a.txt"), &[(line, text)]))
    };
    folder.call("s", 1, "c1", edit(2, "s1\n"));
    folder.call("t", 1, "c2", edit(6, "t1\n"));
    folder.call("s", 2, "c3", edit(10, "s2\n"));
    folder.call("s", 2, "c4", edit(14, "s3\n"));
    let all = folder.text("a.txt");
    folder
        .run(
            "s",
            &FolderAction::Reject(ReviewTarget::Call("c3".to_owned())),
        )
        .unwrap();
    assert_eq!(folder.text("a.txt"), with(&all, &[(10, "line 10\n")]));
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::Turn(2)))
        .unwrap();
    assert_eq!(
        folder.text("a.txt"),
        with(&base, &[(2, "s1\n"), (6, "t1\n")])
    );
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.text("a.txt"), with(&base, &[(6, "t1\n")]));
}

#[test]
fn contested_places_stay_and_are_listed() {
    let base = numbered(20);
    let folder = Folder::new(&[("a.txt", &base)]);
    let edits = [(3, "three\n"), (12, "twelve\n")];
    folder.call("s", 1, "c1", |it| it.write("a.txt", with(&base, &edits)));
    // The user changes the agent's line 3.
    folder.write("a.txt", with(&base, &[(3, "THREE\n"), (12, "twelve\n")]));
    folder.observe(&ChangeAuthor::Person);
    let outcome = folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.text("a.txt"), with(&base, &[(3, "THREE\n")]));
    let why: Vec<String> = outcome.contested.iter().map(ToString::to_string).collect();
    assert_eq!(
        why,
        ["a.txt:3 (the same lines were changed since by the user)"]
    );
    let again = folder.run("s", &FolderAction::Reject(ReviewTarget::All));
    assert!(matches!(again, Err(Error::UndoConflicts(_))), "{again:?}");
}

#[test]
fn a_hunk_that_is_gone_is_refused() {
    let base = numbered(9);
    let folder = Folder::new(&[("a.txt", &base)]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", with(&base, &[(3, "three\n")]))
    });
    let hunk = folder.hunk("s", 0);
    folder.call("s", 1, "c2", |it| {
        it.write("a.txt", with(&base, &[(3, "drei\n")]))
    });
    let refused = folder.run("s", &FolderAction::Reject(hunk));
    assert!(matches!(refused, Err(Error::Stale(_))), "{refused:?}");
    assert_eq!(folder.text("a.txt"), with(&base, &[(3, "drei\n")]));
}

#[test]
fn unsaved_text_is_edited_instead_of_the_disk() {
    let base = numbered(20);
    let folder = Folder::new(&[("a.txt", &base)]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", with(&base, &[(3, "three\n")]))
    });
    let path = folder.root.path().join("a.txt");
    let disk = folder.text("a.txt");
    let unsaved = with(&disk, &[(18, "mine\n")]);
    lock_of(&folder.buffers.0).insert(path.clone(), unsaved.clone());
    let outcome = folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.text("a.txt"), disk);
    let edit = BufferEdit {
        path,
        before: unsaved,
        after: with(&base, &[(18, "mine\n")]),
    };
    assert_eq!(outcome.buffers, [edit]);
    // Saving the edited text leaves nothing to review.
    lock_of(&folder.buffers.0).clear();
    folder.write("a.txt", with(&base, &[(18, "mine\n")]));
    assert_eq!(folder.changes("s").hunks, []);
}

#[test]
fn a_refresh_during_a_call_does_not_take_its_changes() {
    let base = numbered(9);
    let folder = Folder::new(&[("a.txt", &base)]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", with(&base, &[(3, "three\n")]))
    });
    folder.call("s", 1, "c2", |it| {
        it.write("a.txt", with(&base, &[(3, "three\n"), (7, "seven\n")]));
        assert_eq!(it.changes("s").hunks.len(), 2);
    });
    assert_eq!(folder.changes("s").hunks.len(), 2);
}
