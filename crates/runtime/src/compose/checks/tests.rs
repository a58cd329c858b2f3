//! Landings whose checks are uncertain.

use std::sync::Arc;

use composer::compare::run_checks;
use composer::{CommitId, SessionChanges};
use git::Repository;
use git::merge::{Changes, EntryMode, ObjectEntry, TreePath};

use super::*;

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
