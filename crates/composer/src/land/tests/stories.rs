//! Stories of landings from the user's view.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::conflict::Resolution;
use crate::land::{
    Check, CheckError, CheckKind, CheckRunner, LandingCandidate, LandingError, LandingStep,
};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

fn with(from: &str, to: &str) -> String {
    TEXT.replace(from, to)
}

/// A repository with one file, and a session that changed its second line.
fn with_two(word: &str) -> (Hub, SessionWork) {
    let hub = Hub::new(&[("a.txt", TEXT)]);
    let work = hub.session("s1");
    write(&work.root, "a.txt", &with("two", word));
    (hub, work)
}

/// A repository on which one of two sessions has landed, and the other session, which conflicts.
fn beside_a_landing() -> (Hub, SessionWork) {
    let hub = Hub::new(&[("a.txt", TEXT)]);
    let (one, two) = (hub.session("s1"), hub.session("s2"));
    write(&one.root, "a.txt", &with("five", "5"));
    write(&two.root, "a.txt", &with("five", "V"));
    landed(&land(&hub.landings(), &one).1);
    (hub, two)
}

#[track_caller]
fn blocked(outcome: LandingOutcome) -> String {
    match outcome {
        LandingOutcome::Blocked { sentence } => sentence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn landing_can_be_undone_and_redone() {
    let hub = Hub::new(&[
        ("a.txt", TEXT),
        ("old/b.txt", TEXT),
        ("gone.txt", "x\n"),
        (".gitignore", "*.log\n"),
    ]);
    let work = hub.session("s1");
    let before = hub.tip();
    write(&work.root, "a.txt", &with("five", "5"));
    write(&work.root, "new/deep/c.txt", "c\n");
    write(&work.root, "ignored.log", "l\n");
    write(&work.root, "run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(
        work.root.join("run.sh").as_path(),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    std::os::unix::fs::symlink("a.txt", work.root.join("link").as_path()).unwrap();
    std::fs::remove_file(work.root.join("gone.txt").as_path()).unwrap();
    git(work.root.as_path(), &["mv", "old/b.txt", "b.txt"]);
    let landings = hub.landings();
    let (id, outcome) = land(&landings, &work);
    let commit = landed(&outcome);
    assert_eq!(hub.tip(), commit);
    assert_eq!(hub.status(), "");
    hub.assert_sound();
    assert_eq!(hub.read("a.txt"), with("five", "5"));
    assert_eq!(hub.read("b.txt"), TEXT);
    assert_eq!(hub.read("new/deep/c.txt"), "c\n");
    assert!(!hub.root.join("old").as_path().exists());
    assert!(!hub.root.join("gone.txt").as_path().exists());
    let told = hub.git(&[
        "log",
        "-1",
        "--format=%an|%cn|%s|%(trailers:key=Burin-Session,valueonly)",
    ]);
    assert_eq!(told.trim(), "Agent|Ada|work of s1|s1");
    assert_eq!(
        hub.git(&["ls-files", "-s", "run.sh", "link"])
            .matches("100755")
            .count(),
        1
    );
    assert!(
        hub.git(&["reflog", "-1"])
            .contains("burin land: work of s1")
    );

    let (undo, outcome) = landings.undo(id, &UnsavedBuffers::new()).unwrap();
    assert_eq!(landed(&outcome), before);
    assert_eq!((hub.tip(), hub.status()), (before.clone(), String::new()));
    assert!(!hub.root.join("new").as_path().exists());
    assert_eq!(hub.read("old/b.txt"), TEXT);
    assert!(matches!(
        landings.undo(id, &UnsavedBuffers::new()),
        Err(LandingError::AlreadyUndone { .. })
    ));

    let (_, outcome) = landings.undo(undo, &UnsavedBuffers::new()).unwrap();
    assert_eq!(landed(&outcome), commit);
    assert_eq!((hub.tip(), hub.status()), (commit, String::new()));
    hub.assert_sound();
}

#[test]
fn an_undo_under_later_work_is_a_commit() {
    let hub = Hub::new(&[("a.txt", TEXT), ("b.txt", TEXT)]);
    let (one, two) = (hub.session("s1"), hub.session("s2"));
    write(&one.root, "a.txt", &with("five", "5"));
    write(&two.root, "b.txt", &with("five", "5"));
    let landings = hub.landings();
    let (id, _) = land(&landings, &one);
    landed(&land(&landings, &two).1);
    let tip = hub.tip();
    let (undo, outcome) = landings.undo(id, &UnsavedBuffers::new()).unwrap();
    landed(&outcome);
    assert_eq!(hub.git(&["rev-parse", "HEAD~"]).trim(), tip);
    assert_eq!(
        (hub.read("a.txt"), hub.read("b.txt")),
        (TEXT.to_owned(), with("five", "5"))
    );
    landed(&landings.undo(undo, &UnsavedBuffers::new()).unwrap().1);
    assert_eq!(hub.read("a.txt"), with("five", "5"));
    assert_eq!(hub.status(), "");
    hub.assert_sound();
}

const CONFLICT: &str = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n";

#[track_caller]
fn refused_for_markers(hub: &Hub, work: &SessionWork, expected: (&str, u32)) {
    let before = hub.tip();
    let landings = hub.landings();
    let changes = landings.read(work).unwrap().changes;
    match landings.enqueue(&request(work, changes)) {
        Err(error @ LandingError::ConflictMarkers { .. }) => {
            let (path, line) = expected;
            let told = format!("{path} has a conflict marker at line {line}");
            assert!(error.to_string().contains(&told), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(hub.tip(), before);
}

#[test]
fn conflict_markers_do_not_land() {
    let (hub, work) = with_two(CONFLICT.trim_end());
    refused_for_markers(&hub, &work, ("a.txt", 2));
    let (hub, work) = with_two("2");
    write(&work.root, "new.txt", CONFLICT);
    refused_for_markers(&hub, &work, ("new.txt", 1));
    let (hub, work) = with_two("2");
    write(&work.root, "half.txt", "done\r\n>>>>>>> other\r\n");
    refused_for_markers(&hub, &work, ("half.txt", 2));
}

#[test]
fn files_that_quote_conflict_markers_land() {
    let hub = Hub::new(&[("quoted.txt", CONFLICT), ("a.rst", "Title\n=======\n")]);
    let work = hub.session("s1");
    write(&work.root, "quoted.txt", &format!("more\n{CONFLICT}"));
    write(&work.root, "b.rst", "Another\n=======\n");
    landed(&land(&hub.landings(), &work).1);
    let work = hub.session("s2");
    git(work.root.as_path(), &["mv", "quoted.txt", "moved.txt"]);
    landed(&land(&hub.landings(), &work).1);
}

#[test]
fn a_resolution_with_markers_is_refused() {
    let (hub, work) = beside_a_landing();
    let landings = hub.landings();
    let (id, outcome) = land(&landings, &work);
    assert!(
        matches!(outcome, LandingOutcome::Conflicted { .. }),
        "{outcome:?}"
    );
    let path = path("a.txt");
    let text = Resolution::Text(CONFLICT.to_owned());
    let refused = landings.resolve(id, &path, &text);
    assert!(
        matches!(refused, Err(LandingError::ConflictMarkers { line: 1, .. })),
        "{refused:?}"
    );
    let text = Resolution::Text(with("five", "5 and V"));
    assert_eq!(landings.resolve(id, &path, &text).unwrap(), 0);
}

#[test]
fn conflicts_are_a_state_with_both_sides() {
    let (hub, two) = beside_a_landing();
    let landings = hub.landings();
    let tip = hub.tip();
    let (id, outcome) = land(&landings, &two);
    let LandingOutcome::Conflicted { paths, sentence } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(paths, [path("a.txt")]);
    assert_eq!(
        sentence,
        "Cannot land “work of s2”: main moved and 1 hunk conflicts in a.txt. Resolve each \
         conflict, then continue."
    );
    assert_eq!((hub.tip(), hub.status()), (tip, String::new()));
    let conflicts = landings.conflicts(id).unwrap();
    let conflict = &conflicts[0];
    let text = |version: &Option<git::merge::ConflictSide>| {
        String::from_utf8(version.as_ref().unwrap().bytes.to_vec()).unwrap()
    };
    assert_eq!(text(&conflict.base), TEXT);
    assert_eq!(text(&conflict.ours), with("five", "5"));
    assert_eq!(text(&conflict.theirs), with("five", "V"));
    assert_eq!(conflict.lines[0].ours, 4..5);
    // It still exists after a restart.
    let landings = hub.landings();
    assert!(matches!(
        landings.list().unwrap()[1].step,
        LandingStep::Conflicted { .. }
    ));
    let resolution = Resolution::Text(with("five", "5 or V"));
    assert_eq!(
        landings.resolve(id, &path("a.txt"), &resolution).unwrap(),
        0
    );
    landed(&landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap());
    assert_eq!(hub.read("a.txt"), with("five", "5 or V"));
    assert_eq!(hub.status(), "");
    hub.assert_sound();
}

#[test]
fn resolution_does_not_apply_to_another_conflict() {
    let (hub, two) = beside_a_landing();
    let landings = hub.landings();
    let (id, _) = land(&landings, &two);
    landings
        .resolve(id, &path("a.txt"), &Resolution::Agent)
        .unwrap();
    // The user commits a conflicting change before the landing runs.
    write(&hub.root, "a.txt", &with("five", "fünf"));
    hub.commit();
    let outcome = landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap();
    assert!(
        matches!(outcome, LandingOutcome::Conflicted { .. }),
        "{outcome:?}"
    );
    landings
        .resolve(id, &path("a.txt"), &Resolution::Branch)
        .unwrap();
    let outcome = landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap();
    assert_eq!(outcome, LandingOutcome::Nothing);
    assert_eq!(hub.read("a.txt"), with("five", "fünf"));
}

#[test]
fn uncommitted_work_is_merged_or_blocks_the_landing() {
    let hub = Hub::new(&[("a.txt", TEXT), ("b.txt", TEXT)]);
    let work = hub.session("s1");
    write(&work.root, "a.txt", &with("two", "2"));
    write(&work.root, "b.txt", &with("two", "2"));
    write(&work.root, "c.txt", "theirs\n");
    let landings = hub.landings();
    let tip = hub.tip();
    write(&hub.root, "a.txt", &with("nine", "9"));
    write(&hub.root, "b.txt", &with("nine", "9"));
    hub.git(&["add", "b.txt"]);
    write(&hub.root, "b.txt", &with("nine", "9").replace("ten", "10"));
    write(&hub.root, "c.txt", "mine, untracked\n");
    let (id, outcome) = land(&landings, &work);
    let sentence = blocked(outcome);
    assert_eq!(
        sentence,
        "Cannot land “work of s1”: in c.txt, your uncommitted changes to it conflict with the \
         landed ones; commit, stash or undo that first. Nothing was moved."
    );
    assert_eq!(hub.tip(), tip);
    assert_eq!(hub.read("c.txt"), "mine, untracked\n");
    hub.assert_sound();
    std::fs::remove_file(hub.root.join("c.txt").as_path()).unwrap();
    landings.try_again(id).unwrap();
    landed(&landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap());
    assert_eq!(hub.read("a.txt"), with("two", "2").replace("nine", "9"));
    assert_eq!(
        hub.read("b.txt"),
        with("two", "2").replace("nine", "9").replace("ten", "10")
    );
    assert_eq!(hub.status(), " M a.txt\nMM b.txt\n");
    let staged = hub.git(&["show", ":b.txt"]);
    assert_eq!(staged, with("two", "2").replace("nine", "9"));
    // After an undo, the user's changes stay.
    let (_, outcome) = landings.undo(id, &UnsavedBuffers::new()).unwrap();
    assert_eq!(landed(&outcome), tip);
    assert_eq!(hub.read("a.txt"), with("nine", "9"));
    assert_eq!(hub.status(), " M a.txt\nMM b.txt\n");
    hub.assert_sound();
}

#[test]
fn unsaved_buffers_are_merged_or_block_the_landing() {
    let (hub, work) = with_two("2");
    let landings = hub.landings();
    let id = enqueue(&landings, &work);
    let buffer = |text: String| UnsavedBuffers::from([(path("a.txt"), text.into_bytes().into())]);
    let outcome = landings
        .run(id, &NoChecks, &buffer(with("two", "zwei")))
        .unwrap();
    assert!(
        matches!(outcome, LandingOutcome::Blocked { .. }),
        "{outcome:?}"
    );
    landings.try_again(id).unwrap();
    let outcome = landings
        .run(id, &NoChecks, &buffer(with("nine", "9")))
        .unwrap();
    let LandingOutcome::Landed { buffers, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(buffers, buffer(with("two", "2").replace("nine", "9")));
    assert_eq!(hub.read("a.txt"), with("two", "2"));
}

#[test]
fn buffers_keep_the_line_endings_of_their_file() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let hub = Hub::new(&[("a.txt", TEXT), (".gitattributes", "*.txt eol=crlf\n")]);
    let work = hub.session("s1");
    write(&work.root, "a.txt", &crlf(&with("two", "2")));
    let landings = hub.landings();
    let id = enqueue(&landings, &work);
    let buffer =
        |text: String| UnsavedBuffers::from([(path("a.txt"), crlf(&text).into_bytes().into())]);
    let outcome = landings
        .run(id, &NoChecks, &buffer(with("nine", "9")))
        .unwrap();
    let LandingOutcome::Landed { buffers, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(buffers, buffer(with("two", "2").replace("nine", "9")));
    assert_eq!(hub.read("a.txt"), crlf(&with("two", "2")));
}

struct Fails;

impl CheckRunner for Fails {
    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        let folder = TempFolder::new().unwrap();
        candidate.write_to(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("a.txt").as_path()).unwrap();
        assert_eq!(candidate.changed, [path("a.txt")]);
        let is_passed = !text.contains("bad");
        Ok(vec![Check {
            name: "grep".to_owned(),
            is_passed,
            detail: text,
            kind: CheckKind::Command,
        }])
    }
}

/// Checks that try to drop their own landing.
struct Drops<'a>(&'a Landings, LandingId);

impl CheckRunner for Drops<'_> {
    fn run_checks(&self, _: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        let dropped = self.0.drop_landing(self.1);
        assert!(
            matches!(dropped, Err(LandingError::UnderWay(_))),
            "{dropped:?}"
        );
        let next = self.0.next().unwrap();
        assert_eq!(next, None);
        Ok(Vec::new())
    }
}

#[test]
fn running_landing_is_kept_and_ids_are_unique() {
    let (hub, work) = with_two("2");
    let landings = hub.landings();
    let ids = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let id = enqueue(&hub.landings(), &work);
                ids.lock().unwrap().push(id);
            });
        }
    });
    let mut ids = ids.into_inner().unwrap();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), landings.list().unwrap().len()), (8, 8));
    for id in &ids[1..] {
        landings.drop_landing(*id).unwrap();
    }
    landed(
        &landings
            .run(ids[0], &Drops(&landings, ids[0]), &UnsavedBuffers::new())
            .unwrap(),
    );
    assert!(matches!(
        landings.drop_landing(ids[0]),
        Err(LandingError::AlreadyLanded { .. })
    ));
}

#[test]
fn checks_run_on_the_merged_tree() {
    let (hub, work) = with_two("bad");
    let landings = hub.landings();
    let tip = hub.tip();
    let id = enqueue(&landings, &work);
    let outcome = landings.run(id, &Fails, &UnsavedBuffers::new()).unwrap();
    let LandingOutcome::Failed { sentence, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        sentence,
        "Cannot land “work of s1”: grep fails on the merged tree. main has not moved."
    );
    assert_eq!((hub.tip(), hub.status()), (tip, String::new()));
    write(&work.root, "a.txt", &with("two", "good"));
    let id = enqueue(&landings, &work);
    landed(&landings.run(id, &Fails, &UnsavedBuffers::new()).unwrap());
    let told = hub.git(&[
        "log",
        "-1",
        "--format=%(trailers:key=Burin-Checks,valueonly)",
    ]);
    assert_eq!(told.trim(), "grep passed");
}

/// Checks of which one explains its failure, or that give no result.
struct Explains {
    has_result: bool,
}

impl CheckRunner for Explains {
    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        if !self.has_result {
            return Err(CheckError("the server is silent".to_owned()));
        }
        let folder = TempFolder::new().unwrap();
        candidate.write_branch_to(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("a.txt").as_path()).unwrap();
        assert_eq!(text, TEXT);
        let check = |kind: CheckKind, name: &str, detail: &str| Check {
            name: name.to_owned(),
            is_passed: false,
            detail: detail.to_owned(),
            kind,
        };
        let error = "1 new error: a.txt:2: bad";
        let error = check(CheckKind::NewErrors, "no new errors", error);
        let task = "the task “test” fails: a.txt:2: wrong\nits output";
        let task = check(CheckKind::Task, "task:test", task);
        Ok(vec![check(CheckKind::Command, "grep", ""), error, task])
    }
}

#[test]
fn a_failed_check_explains_itself_and_one_without_result_blocks() {
    let (hub, work) = with_two("bad");
    let (landings, tip) = (hub.landings(), hub.tip());
    let run = |has_result| {
        let id = enqueue(&landings, &work);
        let checks = Explains { has_result };
        landings.run(id, &checks, &UnsavedBuffers::new()).unwrap()
    };
    let outcome = run(true);
    // A command failed as well.
    assert!(!outcome.may_allow_errors());
    let LandingOutcome::Failed { sentence, .. } = outcome else {
        panic!("the check fails");
    };
    assert_eq!(
        sentence,
        "Cannot land “work of s1”: 1 new error: a.txt:2: bad; the task “test” fails: a.txt:2: wrong; \
         grep fails on the merged tree. main has not moved."
    );
    let LandingOutcome::Blocked { sentence } = run(false) else {
        panic!("there is no result");
    };
    assert_eq!(
        sentence,
        "Cannot land “work of s1”: its checks gave no result: the server is silent. Nothing was \
         moved."
    );
    assert_eq!(hub.tip(), tip);
}

struct Commits<'a>(&'a Hub, std::cell::Cell<bool>);

impl CheckRunner for Commits<'_> {
    fn run_checks(&self, _: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        if !self.1.replace(true) {
            write(&self.0.root, "b.txt", "b\n");
            self.0.commit();
        }
        Ok(Vec::new())
    }
}

#[test]
fn a_branch_that_moves_while_checks_run_is_merged_anew() {
    let (hub, work) = with_two("2");
    let landings = hub.landings();
    let id = enqueue(&landings, &work);
    let outcome = landings
        .run(id, &Commits(&hub, false.into()), &UnsavedBuffers::new())
        .unwrap();
    landed(&outcome);
    assert_eq!(hub.read("b.txt"), "b\n");
    assert_eq!(hub.git(&["rev-list", "--count", "HEAD"]).trim(), "3");
    assert_eq!(hub.status(), "");
}

#[test]
fn locks_of_others_are_respected_and_ours_cleaned() {
    let (hub, work) = with_two("2");
    let landings = hub.landings();
    let id = enqueue(&landings, &work);
    for (lock, told) in [
        (".git/index.lock", "another Git command is running"),
        (
            ".git/refs/heads/main.lock",
            "another Git command is moving main",
        ),
    ] {
        write(&hub.root, lock, "");
        let outcome = landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap();
        let sentence = blocked(outcome);
        assert!(sentence.contains(told), "{sentence}");
        assert!(hub.root.join(lock).as_path().exists());
        std::fs::remove_file(hub.root.join(lock).as_path()).unwrap();
        landings.try_again(id).unwrap();
    }
    for lock in [".git/index.lock", ".git/refs/heads/main.lock"] {
        write(&hub.root, lock, "burin landing\n");
    }
    landed(&landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap());
    hub.assert_sound();
}

#[test]
fn stale_index_locks_are_removed() {
    let hub = Hub::new(&[("a.txt", TEXT)]);
    let leave = || {
        // The lock with which libgit2 writes our scratch index, that index, and abandoned temporary files.
        for name in ["index", "index.lock", "lock", ".burin-00000000"] {
            write(&hub.root, &format!(".git/burin/{name}"), "torn");
        }
        for name in [".git/index.lock", ".git/refs/heads/main.lock"] {
            write(&hub.root, name, "burin landing\n");
        }
        for name in [".git/.burin-00000001", ".git/refs/heads/.burin-00000002"] {
            write(&hub.root, name, "torn");
        }
    };
    let work = hub.session("s1");
    write(&work.root, "a.txt", &with("two", "2"));
    let landings = hub.landings();
    let id = enqueue(&landings, &work);
    leave();
    landed(&landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap());
    assert_eq!(
        (hub.read("a.txt"), hub.status()),
        (with("two", "2"), String::new())
    );
    hub.assert_sound();
    // Opening removes them even without a landing; a lock of Git stays.
    leave();
    write(&hub.root, ".git/index.lock", "");
    let (_, told) = hub.open();
    assert_eq!(told, Vec::<String>::new());
    assert!(!hub.root.join(".git/burin/index.lock").as_path().exists());
    assert!(hub.root.join(".git/index.lock").as_path().exists());
}

#[test]
fn a_file_with_two_names_is_written_under_both() {
    let hub = Hub::new(&[("a.txt", TEXT)]);
    let other = hub.folder.path().join("other-name");
    std::fs::hard_link(hub.root.join("a.txt").as_path(), other.as_path()).unwrap();
    let work = hub.session("s1");
    write(&work.root, "a.txt", &with("two", "2"));
    landed(&land(&hub.landings(), &work).1);
    assert_eq!(hub.read("a.txt"), with("two", "2"));
    assert_eq!(
        std::fs::read_to_string(other.as_path()).unwrap(),
        with("two", "2")
    );
    hub.assert_sound();
}

#[test]
fn unfinished_merges_and_other_checkouts_stand_in_the_way() {
    let (hub, work) = with_two("2");
    let landings = hub.landings();
    let id = enqueue(&landings, &work);
    let is_blocked = |told: &str| {
        landings.try_again(id).unwrap();
        let outcome = landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap();
        let sentence = blocked(outcome);
        assert!(sentence.contains(told), "{sentence}");
    };
    write(&hub.root, ".git/MERGE_HEAD", &format!("{}\n", hub.tip()));
    is_blocked("a merge is unfinished");
    std::fs::remove_file(hub.root.join(".git/MERGE_HEAD").as_path()).unwrap();
    hub.git(&["checkout", "-q", "-b", "elsewhere"]);
    hub.git(&["worktree", "add", "-q", "../tree", "main"]);
    is_blocked("main is also checked out in another working tree");
    hub.git(&["worktree", "remove", "../tree"]);
    // A branch that is not checked out simply moves.
    landings.try_again(id).unwrap();
    landed(&landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap());
    assert_eq!(hub.read("a.txt"), TEXT);
    assert_eq!(hub.git(&["show", "main:a.txt"]), with("two", "2"));
    assert_eq!(hub.status(), "");
}

#[test]
fn packed_branches_and_line_endings() {
    let hub = Hub::new(&[("a.txt", TEXT), (".gitattributes", "*.txt eol=crlf\n")]);
    hub.git(&["pack-refs", "--all"]);
    hub.git(&["gc", "-q"]);
    std::fs::remove_file(hub.root.join("a.txt").as_path()).unwrap();
    hub.git(&["checkout", "-q", "a.txt"]);
    assert!(hub.read("a.txt").contains("one\r\n"));
    let work = hub.session("s1");
    let crlf = |text: &str| text.replace('\n', "\r\n");
    write(&work.root, "a.txt", &crlf(&with("two", "2")));
    write(&hub.root, "a.txt", &crlf(&with("nine", "9")));
    let landings = hub.landings();
    landed(&land(&landings, &work).1);
    assert_eq!(hub.git(&["show", "HEAD:a.txt"]), with("two", "2"));
    assert_eq!(
        hub.read("a.txt"),
        crlf(&with("two", "2").replace("nine", "9"))
    );
    assert_eq!(hub.status(), " M a.txt\n");
    hub.assert_sound();
}

#[test]
fn files_that_were_added_although_ignored_land_too() {
    let hub = Hub::new(&[(".gitignore", "*.log\n")]);
    let work = hub.session("s1");
    write(&work.root, "keep.log", "kept\n");
    write(&work.root, "other.log", "not\n");
    git(work.root.as_path(), &["add", "-f", "keep.log"]);
    let landings = hub.landings();
    landed(&land(&landings, &work).1);
    assert_eq!(hub.read("keep.log"), "kept\n");
    assert!(!hub.root.join("other.log").as_path().exists());
}
