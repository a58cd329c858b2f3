//! The service over the user's git, in temporary repositories.

use std::process::{Command, Stdio};

use futures::executor::block_on;
use git_history::CommitCommand;
use git_program::{BlamedLines, LogQuery, LogRow, ResetMode};
use host::TempFolder;
use runtime::trust::set_trusted;

use super::*;

/// A repository with two commits of a file, and a service over it.
struct Fixture {
    _folder: TempFolder,
    root: AbsPath,
    service: Arc<dyn HistoryService>,
}

impl Fixture {
    /// Creates the repository; `None`, with the test reported as skipped, without git.
    #[track_caller]
    fn new(is_trusted: bool) -> Option<Self> {
        let variables = environment::variables(Recipient::Personal);
        if find_program("git", &variables).is_none() {
            test_support::skip("needs git");
            return None;
        }
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        let root = folder.path().join("repository");
        RealFiles.create_folder(&root).expect("a folder");
        if is_trusted {
            set_trusted(&RealFiles, &dirs, &root, true).expect("trust");
        }
        let service = services(dirs)(&root);
        let fixture = Self {
            _folder: folder,
            root,
            service,
        };
        fixture.git(&["init", "--quiet", "--initial-branch=main"]);
        fixture.git(&["config", "user.name", "Ann"]);
        fixture.git(&["config", "user.email", "ann@example.org"]);
        fixture.git(&["config", "commit.gpgsign", "false"]);
        fixture.git(&["remote", "add", "origin", "git@example.org:a/b.git"]);
        fixture.commit("one\n", "first");
        fixture.commit("one\ntwo\n", "second");
        Some(fixture)
    }

    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .args(arguments)
            .current_dir(self.root.as_path())
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("git starts").success(), "{arguments:?}");
    }

    fn commit(&self, content: &str, subject: &str) {
        let file = self.root.join("a.txt");
        let written = RealFiles.write_private(&file, content.as_bytes());
        written.expect("a file");
        self.git(&["add", "a.txt"]);
        self.git(&["commit", "--quiet", "--no-verify", "-m", subject]);
    }

    fn rows(&self, query: LogQuery) -> Vec<LogRow> {
        let running = self.service.log(query);
        let batches = std::iter::from_fn(|| running.items.recv_blocking().ok());
        batches
            .flat_map(|batch| batch.expect("rows").rows)
            .collect()
    }

    fn blamed(&self, content: Option<&str>) -> Result<Vec<BlamedLines>, HistoryError> {
        let running = self.service.blame(BlameRequest {
            path: "a.txt".into(),
            content: content.map(|text| text.as_bytes().to_vec()),
        });
        let mut lines = Vec::new();
        while let Ok(batch) = running.items.recv_blocking() {
            lines.extend(batch?);
        }
        Ok(lines)
    }
}

#[test]
fn a_trusted_repository_has_rows_details_and_versions() {
    let Some(fixture) = Fixture::new(true) else {
        return;
    };
    let rows = fixture.rows(LogQuery::default());
    let subjects: Vec<&str> = rows.iter().map(|row| row.subject.as_str()).collect();
    assert_eq!(subjects, ["second", "first"]);
    assert_eq!(rows[0].parents, [rows[1].id.clone()]);
    let head = block_on(fixture.service.head());
    assert_eq!(head.as_ref(), Some(&rows[0].id));
    let page = block_on(fixture.service.commit(rows[0].id.clone())).expect("a commit");
    assert_eq!(
        (page.details.message.as_str(), page.files.len()),
        ("second", 1)
    );
    let versions = fixture
        .service
        .versions(rows[0].id.clone(), page.files[0].clone());
    let pair = block_on(versions).expect("versions");
    assert_eq!(pair.before.as_deref(), Some("one\n"));
    assert_eq!(pair.after.as_deref(), Some("one\ntwo\n"));
    let address = block_on(fixture.service.commit_page("1f".to_owned()));
    let expected = "https://example.org/a/b/commit/1f";
    assert_eq!(address.as_deref(), Some(expected));
}

#[test]
fn blame_finds_commits_and_unsaved_lines() {
    let Some(fixture) = Fixture::new(true) else {
        return;
    };
    let mut lines = fixture.blamed(Some("one\nnew\ntwo\n")).expect("a blame");
    lines.sort_by_key(|lines| lines.lines.start);
    let found: Vec<_> = lines
        .iter()
        .map(|it| {
            (
                it.lines.start,
                it.commit.id.is_some(),
                it.commit.subject.as_str(),
            )
        })
        .collect();
    assert_eq!(found[0], (0, true, "first"));
    assert!(!found[1].1, "the line is not committed");
    assert_eq!(found[2], (2, true, "second"));
}

#[test]
fn an_untrusted_repository_shows_commits_without_a_process() {
    let Some(fixture) = Fixture::new(false) else {
        return;
    };
    let rows = fixture.rows(LogQuery::default());
    assert_eq!(rows.len(), 2);
    let page = block_on(fixture.service.commit(rows[0].id.clone())).expect("a commit");
    let versions = fixture
        .service
        .versions(rows[0].id.clone(), page.files[0].clone());
    let pair = block_on(versions).expect("versions");
    assert_eq!(pair.before.as_deref(), Some("one\n"));
    assert_eq!(fixture.blamed(None), Err(HistoryError::Untrusted));
    let run = fixture
        .service
        .run(rows[1].id.clone(), CommitCommand::CheckOut);
    assert_eq!(block_on(run), Err(HistoryError::Untrusted));
}

#[test]
fn a_reset_is_undone_by_its_plan() {
    let Some(fixture) = Fixture::new(true) else {
        return;
    };
    let rows = fixture.rows(LogQuery::default());
    let reset = CommitCommand::Reset(ResetMode::Hard);
    let told = block_on(fixture.service.run(rows[1].id.clone(), reset)).expect("a reset");
    assert!(told.starts_with("The branch is at "), "{told}");
    assert_eq!(fixture.rows(LogQuery::default()).len(), 1);
    let plan = block_on(fixture.service.undo_plan()).expect("a reflog");
    let plan = plan.expect("a plan");
    block_on(fixture.service.undo(plan)).expect("undone");
    assert_eq!(fixture.rows(LogQuery::default()).len(), 2);
}

#[test]
fn a_repository_without_commits_has_no_rows() {
    let Some(fixture) = Fixture::new(true) else {
        return;
    };
    fixture.git(&["switch", "--quiet", "--orphan", "empty"]);
    assert!(fixture.rows(LogQuery::default()).is_empty());
    assert_eq!(block_on(fixture.service.head()), None);
}
