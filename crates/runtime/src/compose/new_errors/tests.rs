//! New errors of merged work, by a scripted server for SQL.

use std::sync::Arc;

use base::Platform;
use composer::compare::run_checks;
use composer::land::CheckRunner;
use composer::{CommitId, SessionChanges};
use git::Repository;
use git::merge::{Changes, EntryMode, ObjectEntry, TreePath};
use host::TempFolder;
use serde_json::json;

use super::*;

fn error(path: &str, line: u32, message: &str) -> TreeError {
    TreeError {
        path: path.to_owned(),
        line,
        message: message.to_owned(),
    }
}

/// Checks which errors of `after` are new; `gone` and `came` are only in one tree.
fn check(before: &[(&str, u32, &str)], after: &[(&str, u32, &str)], expected: &[(&str, u32)]) {
    let errors = |errors: &[(&str, u32, &str)]| {
        let errors = errors.iter();
        errors
            .map(|(path, line, message)| error(path, *line, message))
            .collect::<Vec<_>>()
    };
    let is_in_both = |path: &str| !["gone", "came"].contains(&path);
    let new = new_errors(&errors(before), &errors(after), is_in_both);
    let new: Vec<(&str, u32)> = new.iter().map(|it| (it.path.as_str(), it.line)).collect();
    assert_eq!(new, expected, "{before:?} {after:?}");
}

#[test]
fn errors_are_new_if_their_file_had_fewer_of_them() {
    check(&[("a", 1, "bad")], &[("a", 7, "bad")], &[]);
    check(
        &[("a", 1, "bad")],
        &[("a", 1, "bad"), ("a", 2, "bad")],
        &[("a", 2)],
    );
    check(&[("a", 1, "bad")], &[("a", 1, "worse")], &[("a", 1)]);
    check(&[("a", 1, "bad")], &[("b", 1, "bad")], &[("b", 1)]);
    check(&[("a", 1, "bad")], &[], &[]);
    // The file was renamed.
    check(&[("gone", 1, "bad")], &[("came", 1, "bad")], &[]);
    check(&[("a", 1, "bad")], &[("came", 1, "bad")], &[("came", 1)]);
}

#[test]
fn at_most_ten_errors_are_listed() {
    let passed = result(&[]);
    assert_eq!((passed.is_passed, passed.detail.as_str()), (true, ""));
    let failed = result(&[error("a", 1, "bad\n  thing"), error("b", 2, "\u{202e}")]);
    assert!(!failed.is_passed);
    let sentence = "2 new errors: a:1: bad thing; b:2: <U+202E>";
    assert_eq!(failed.detail, sentence);
    let many: Vec<TreeError> = (1..=13).map(|line| error("a", line, "bad")).collect();
    let failure = result(&many).detail;
    assert!(
        failure.starts_with("13 new errors: a:1: bad; "),
        "{failure}"
    );
    assert!(failure.ends_with("; a:10: bad; and 3 more"), "{failure}");
    let long = result(&[error("a", 1, &"é".repeat(MAX_MESSAGE))]);
    let failure = long.detail;
    assert!(failure.len() < MAX_MESSAGE + 30 && failure.ends_with('…'));
}

/// A user with a scripted server, and a repository with two files that it serves.
struct World {
    _folder: TempFolder,
    dirs: Dirs,
    main_repo: AbsPath,
    time: Duration,
}

impl World {
    fn new(behaviour: &str) -> Self {
        Self::with_server("script", behaviour)
    }

    /// Creates a user whose server for SQL has this id.
    fn with_server(id: &str, behaviour: &str) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = RealFiles.canonicalize(folder.path()).expect("it exists");
        let main_repo = root.join("repo");
        RealFiles.create_folder(&main_repo).expect("a folder");
        for (path, text) in [
            ("a.sql", "fine\n"),
            ("old.sql", "wrong\n"),
            ("biome.json", "{}\n"),
        ] {
            let path = main_repo.join(path);
            RealFiles
                .write_private(&path, text.as_bytes())
                .expect("a file");
        }
        git::init_repository(&main_repo, "Begin").expect("a repository");
        let dirs = Dirs::under(&root.join("own"));
        dirs.create().expect("folders");
        let script = test_support::data("language-server.sh");
        let server = json!({
            "command": script.canonicalize().expect("the script"),
            "args": [behaviour],
            "languages": ["SQL"],
        });
        let settings = json!({ "lsp": { "servers": { id: server } } }).to_string();
        let path = dirs.config.join("settings.json");
        RealFiles
            .write_private(&path, settings.as_bytes())
            .expect("a file");
        trust::set_trusted(&RealFiles, &dirs, &main_repo, true).expect("stored");
        Self {
            _folder: folder,
            dirs,
            main_repo,
            time: Duration::from_secs(60),
        }
    }

    /// Checks work that gives files these texts, or removes them.
    fn check(&self, texts: &[(&str, Option<&str>)]) -> Vec<Check> {
        let texts = texts.iter();
        self.check_changes(texts.map(|(path, text)| (TreePath::from(*path), *text)))
    }

    fn check_changes<'a>(
        &self,
        texts: impl Iterator<Item = (TreePath, Option<&'a str>)>,
    ) -> Vec<Check> {
        let changes = texts.map(|(path, text)| {
            let entry = text.map(|text| ObjectEntry::of_bytes(EntryMode::Plain, text.as_bytes()));
            (path, entry)
        });
        let repository = Repository::discover(&self.main_repo).expect("a repository");
        let tip = repository.commit_id("HEAD").expect("a commit");
        let work = SessionChanges {
            session: "a1".to_owned(),
            title: String::new(),
            base: CommitId(tip.to_string()),
            changes: Arc::new(changes.collect::<Changes>()),
        };
        run_checks(&self.main_repo, &work, self, &RealFiles).expect("a result")
    }

    /// Checks these changes; returns the sentence about the failure, or `None` if the check passes.
    fn failure(&self, texts: &[(&str, Option<&str>)]) -> Option<String> {
        let check = self.check(texts).into_iter().next().expect("a check");
        assert_eq!(check.is_passed, check.detail.is_empty(), "{check:?}");
        (!check.is_passed).then_some(check.detail)
    }
}

impl CheckRunner for World {
    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        let scratch = TempFolder::new().map_err(check_error)?;
        let scratch = RealFiles
            .canonicalize(scratch.path())
            .map_err(check_error)?;
        let merged = scratch.join("merged");
        RealFiles.create_folder(&merged).map_err(check_error)?;
        candidate.write_to(&merged).map_err(check_error)?;
        let check = NewErrorsCheck {
            time: self.time,
            ..NewErrorsCheck::new(&self.dirs, candidate, &scratch)
        };
        Ok(check.run(&merged)?.into_iter().collect())
    }
}

#[test]
fn new_errors_of_changed_files_fail_the_check() {
    let world = World::new("types");
    assert_eq!(world.failure(&[("a.sql", Some("better\n"))]), None);
    let new = Some("1 new error: a.sql:2: mismatched types".to_owned());
    assert_eq!(world.failure(&[("a.sql", Some("one\nwrong\n"))]), new);
    // The branch has these errors, too.
    let moved = [("old.sql", Some("one\nwrong\n"))];
    assert_eq!(world.failure(&moved), None);
    let renamed = [("old.sql", None), ("new.sql", Some("wrong\n"))];
    assert_eq!(world.failure(&renamed), None);
    let copied = [("new.sql", Some("wrong\n"))];
    let new = Some("1 new error: new.sql:1: mismatched types".to_owned());
    assert_eq!(world.failure(&copied), new);
    // No server serves it.
    assert_eq!(world.check(&[("a.txt", Some("wrong\n"))]), []);
}

#[test]
fn a_file_that_cannot_be_read_fails_the_check() {
    let world = World::new("types");
    let long = "-".repeat((16 << 20) + 1);
    let failure = world.failure(&[("a.sql", Some(&long))]).expect("a failure");
    let reason = "language servers did not check it for new errors (";
    assert!(failure.starts_with(reason), "{failure}");
    assert!(failure.contains("a.sql"), "{failure}");
    // It is not text.
    assert_eq!(world.failure(&[("a.sql", Some("wrong\0"))]), None);
}

#[test]
fn a_name_that_is_not_utf_8_fails_the_check() {
    if Platform::CURRENT == Platform::MacOs {
        return test_support::skip("macOS has only names in UTF-8");
    }
    let world = World::new("types");
    let changes = |name: &[u8]| [(TreePath::new(name), Some("wrong\n"))].into_iter();
    let check = world.check_changes(changes(b"\xff.sql"));
    let reason = "the name of \u{fffd}.sql is not UTF-8";
    assert!(check[0].detail.contains(reason), "{check:?}");
    // No server serves it.
    assert_eq!(world.check_changes(changes(b"\xff.txt")), []);
}

#[test]
fn a_removed_root_marker_fails_the_check() {
    // The server serves only folders with a `biome.json`.
    let world = World::with_server("biome", "types");
    assert_eq!(world.failure(&[("a.sql", Some("better\n"))]), None);
    let lost = |path: &str| {
        Some(format!(
            "language servers did not check it for new errors (no server serves {path} any more)"
        ))
    };
    let changed = [("biome.json", None), ("a.sql", Some("wrong\n"))];
    assert_eq!(world.failure(&changed), lost("a.sql"));
    let added = [("biome.json", None), ("new.sql", Some("wrong\n"))];
    assert_eq!(world.failure(&added), lost("new.sql"));
    let removed = [("biome.json", None), ("a.sql", None)];
    assert_eq!(world.check(&removed), []);
}

#[test]
fn the_check_fails_without_reports() {
    let mut world = World::new("silent");
    world.time = Duration::from_secs(1);
    let work = [("a.sql", Some("better\n"))];
    let reason = world.failure(&work).expect("no report");
    assert!(
        reason.starts_with("language servers did not check it for new errors (script: "),
        "{reason}"
    );
    trust::set_trusted(&RealFiles, &world.dirs, &world.main_repo, false).expect("stored");
    let reason = world.failure(&work).expect("no trust");
    assert!(reason.ends_with("repo is not trusted)"), "{reason}");
}
