//! Stories of landings on real repositories, verified with the real Git.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up repositories on disk and ask the real git"
)]

mod dying;
mod hostile;
mod kills;
mod stories;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use base::AbsPath;
use git::land::Signature;
use git::merge::{Changes, TreePath};
use host::{RealClock, RealFiles, TempFolder};

use super::{CommitMessage, LandingId, LandingOutcome, LandingRequest, Landings, NoChecks};
use crate::work::{CommitId, SessionWork, UnsavedBuffers};

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?} in {}: {}{}",
        folder.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A main repository with the worktrees of sessions beside it.
pub(crate) struct Hub {
    pub(crate) folder: TempFolder,
    pub(crate) root: AbsPath,
}

impl Hub {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempFolder::new().unwrap();
        let root = folder.path().join("hub");
        std::fs::create_dir(root.as_path()).unwrap();
        git(root.as_path(), &["init", "-q"]);
        git(root.as_path(), &["config", "user.name", "Ada"]);
        git(root.as_path(), &["config", "user.email", "ada@example.org"]);
        let hub = Self { folder, root };
        for (path, text) in files {
            write(&hub.root, path, text);
        }
        hub.commit();
        hub
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(self.root.as_path(), arguments)
    }

    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
        self.tip()
    }

    pub(crate) fn tip(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// A worktree with its own git folder that uses the objects of the main repository.
    pub(crate) fn session(&self, name: &str) -> SessionWork {
        let root = self.folder.path().join(name);
        let place = root.as_path().to_str().unwrap();
        git(
            self.folder.path().as_path(),
            &["clone", "-q", "--shared", "hub", place],
        );
        SessionWork {
            session: name.to_owned(),
            title: format!("work of {name}"),
            git_dir: root.join(".git"),
            root,
            base: CommitId(self.tip()),
        }
    }

    pub(crate) fn landings(&self) -> Landings {
        let (landings, told) = self.open();
        assert_eq!(told, Vec::<String>::new());
        landings
    }

    pub(crate) fn open(&self) -> (Landings, Vec<String>) {
        let folder = self.folder.path().join("state");
        let clock = Arc::new(RealClock::default());
        Landings::open(&self.root, &folder, Arc::new(RealFiles), clock).unwrap()
    }

    /// Checks the repository with `git fsck`, and that no lock is left.
    pub(crate) fn assert_sound(&self) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
        let mut locks = self.found(|name| name.ends_with(".lock") && name != "landing.lock");
        // Our lock files are locked with `flock`; their existence means nothing.
        let own = self.folder.path().join("state").to_string();
        locks.retain(|lock| !lock.starts_with(&own));
        assert_eq!(locks, Vec::<String>::new(), "locks were left");
        for name in ["index", "lock"] {
            let place = self.root.join(".git/burin").join(name);
            assert!(!place.as_path().exists(), "{place} was left");
        }
    }

    /// Checks that no temporary file is left in the checkout, in the git folder or beside records.
    pub(crate) fn assert_no_drafts(&self) {
        let drafts = self.found(|name| name.starts_with(".burin-"));
        assert_eq!(drafts, Vec::<String>::new(), "drafts were left");
    }

    fn found(&self, is_wanted: fn(&str) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        for folder in [&self.root, &self.folder.path().join("state")] {
            find(folder, is_wanted, &mut found);
        }
        found
    }

    pub(crate) fn status(&self) -> String {
        self.git(&["status", "--porcelain"])
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path).as_path()).unwrap()
    }
}

fn find(folder: &AbsPath, is_wanted: fn(&str) -> bool, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder.as_path()) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            find(&folder.join(&name), is_wanted, found);
        } else if is_wanted(&name) {
            found.push(entry.path().display().to_string());
        }
    }
}

pub(crate) fn write(root: &AbsPath, path: &str, text: &str) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap().as_path()).unwrap();
    std::fs::write(place.as_path(), text).unwrap();
}

fn agent() -> Signature {
    Signature {
        name: "Agent".to_owned(),
        email: "agent@example.org".to_owned(),
    }
}

fn request(work: &SessionWork, changes: Changes) -> LandingRequest {
    LandingRequest {
        session: work.session.clone(),
        title: work.title.clone(),
        base: work.base.clone(),
        changes,
        branch: None,
        author: agent(),
        message: CommitMessage {
            subject: work.title.clone(),
            ..CommitMessage::default()
        },
    }
}

/// Queues all changes of a session.
fn enqueue(landings: &Landings, work: &SessionWork) -> LandingId {
    let scanned = landings.read(work).unwrap();
    assert!(scanned.refused.is_empty(), "{:?}", scanned.refused);
    landings.enqueue(&request(work, scanned.changes)).unwrap()
}

pub(crate) fn land(landings: &Landings, work: &SessionWork) -> (LandingId, LandingOutcome) {
    let id = enqueue(landings, work);
    (
        id,
        landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap(),
    )
}

#[track_caller]
fn landed(outcome: &LandingOutcome) -> String {
    match outcome {
        LandingOutcome::Landed { commit, left, .. } => {
            assert!(left.is_empty(), "{left:?}");
            commit.0.clone()
        }
        other => panic!("{other:?}"),
    }
}

fn path(text: &str) -> TreePath {
    TreePath::from(text)
}
