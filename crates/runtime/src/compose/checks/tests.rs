//! Landings whose checks are uncertain.

use std::sync::Arc;

use composer::compare::run_checks;
use composer::{CommitId, SessionChanges};
use git::Repository;
use git::merge::{Changes, EntryMode, ObjectEntry, TreePath};

use super::*;
use crate::{task_permission, trust};

#[test]
fn invalid_settings_fail_the_check_until_the_user_skips_it() {
    let folder = TempFolder::new().expect("a folder");
    let root = RealFiles.canonicalize(folder.path()).expect("it exists");
    let main_repo = root.join("repo");
    RealFiles.create_folder(&main_repo).expect("a folder");
    git::init_repository(&main_repo, "Begin").expect("a repository");
    let dirs = Dirs::under(&root.join("own"));
    dirs.create().expect("folders");
    let settings = dirs.config.join("settings.json");
    let written = RealFiles.write_private(&settings, br#"{ "lsp": {"#);
    written.expect("a file");

    let repository = Repository::discover(&main_repo).expect("a repository");
    let tip = repository.commit_id("HEAD").expect("a commit");
    let entry = ObjectEntry::of_bytes(EntryMode::Plain, &b"text\n"[..]);
    let work = SessionChanges {
        session: "a1".to_owned(),
        title: String::new(),
        base: CommitId(tip.to_string()),
        changes: Arc::new(Changes::from([(TreePath::from("a.txt"), Some(entry))])),
    };
    let checks = CheckCommands {
        path: root.join("checks.json"),
        main_repo: main_repo.clone(),
        dirs,
    };
    let refused = checks.load(NewErrors::Refused).expect("checks");
    let results = run_checks(&main_repo, &work, &*refused, &RealFiles).expect("a result");
    let [check] = results.as_slice() else {
        panic!("one check: {results:?}");
    };
    assert_eq!((check.is_passed, check.kind), (false, CheckKind::NewErrors));
    let reason = format!("language servers did not check it for new errors ({settings}:1:");
    assert!(check.detail.starts_with(&reason), "{}", check.detail);

    let allowed = checks.load(NewErrors::Allowed).expect("checks");
    assert!(allowed.is_empty());
}

#[test]
fn a_landing_that_changes_its_tasks_runs_none_of_them() {
    let folder = TempFolder::new().expect("a folder");
    let root = RealFiles.canonicalize(folder.path()).expect("it exists");
    let main_repo = root.join("repo");
    let tasks = main_repo.join(".burin");
    for folder in [&main_repo, &tasks] {
        RealFiles.create_folder(folder).expect("a folder");
    }
    let text = r#"{ "tasks": [{ "label": "test", "command": "test -f a.txt" }] }"#;
    let path = tasks.join("tasks.jsonc");
    RealFiles
        .write_private(&path, text.as_bytes())
        .expect("a file");
    git::init_repository(&main_repo, "Begin").expect("a repository");
    let dirs = Dirs::under(&root.join("own"));
    dirs.create().expect("folders");
    trust::set_trusted(&RealFiles, &dirs, &main_repo, true).expect("stored");
    let file = tasks::TaskFile {
        path,
        name: ".burin/tasks.jsonc",
        text: text.to_owned(),
    };
    task_permission::allow(&dirs, &main_repo, &file).expect("stored");
    let checks = CheckCommands {
        path: root.join("checks.json"),
        main_repo: main_repo.clone(),
        dirs,
    };
    checks.save(&["task:test".to_owned()]).expect("stored");

    let repository = Repository::discover(&main_repo).expect("a repository");
    let tip = repository.commit_id("HEAD").expect("a commit");
    let check = |path: &str, text: &str| {
        let entry = ObjectEntry::of_bytes(EntryMode::Plain, text.as_bytes());
        let work = SessionChanges {
            session: "a1".to_owned(),
            title: String::new(),
            base: CommitId(tip.to_string()),
            changes: Arc::new(Changes::from([(TreePath::from(path), Some(entry))])),
        };
        let loaded = checks.load(NewErrors::Allowed).expect("checks");
        let results = run_checks(&main_repo, &work, &*loaded, &RealFiles).expect("a result");
        results.into_iter().next().expect("a check")
    };
    let passed = check("a.txt", "text\n");
    assert!(passed.is_passed, "{passed:?}");
    let failed = check("b.txt", "text\n");
    assert_eq!(failed.detail.trim_end(), "the task “test” fails");
    let changed = check(
        ".burin/tasks.jsonc",
        r#"{ "tasks": [{ "label": "test", "command": "true" }] }"#,
    );
    assert!(!changed.is_passed);
    assert!(changed.detail.contains("is new or changed"), "{changed:?}");
}
