//! Readings and staging in this process.

use base::AbsPath;
use futures::executor::block_on;
use git::changes::{ChangeGroup, ChangeKind};
use git::merge::TreePath;
use git::staging::{LineSelection, Side};
use git_panel::{
    DiscardedFile, GitCommand, GitFailureKind, GitService as _, GitTick, PushMode, RepositoryRole,
};
use host::{Files as _, RealFiles};

use super::{Fixture, finish};

fn paths(names: &[&str]) -> Vec<TreePath> {
    names.iter().map(|name| TreePath::from(*name)).collect()
}

#[test]
fn an_untrusted_folder_is_read_without_processes() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(&[("a", "one\n"), ("b", "two\n")]);
    fixture.hook("pre-commit", "exit 0");
    fixture.write("a", "1\n");
    let (service, root) = (&fixture.service, &fixture.root);
    let found = block_on(service.repositories()).expect("a list");
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0].root, found[0].role),
        (root, RepositoryRole::Main)
    );
    assert_eq!(fixture.listed(), [(ChangeGroup::Unstaged, "a".to_owned())]);
    let diff = fixture.diff("a", Side::Unstaged);
    assert_eq!(diff.hunks.len(), 1);
    assert_eq!(block_on(service.branches(root)).expect("a list").len(), 1);
    let message = block_on(service.last_message(root)).expect("a message");
    assert_eq!(message.trim_end(), "first");
    let draft = block_on(service.draft(root)).expect("a draft");
    assert_eq!(draft.text, "");
    let staged = service.stage_lines(root, diff.clone(), LineSelection::of_all(&diff));
    block_on(staged).expect("staged in process");
    for command in [
        GitCommand::StashPop,
        GitCommand::Push(PushMode::Normal),
        GitCommand::Continue,
    ] {
        let (_, refused) = finish(service.run(root, command));
        assert_eq!(
            refused.expect_err("no trust").kind,
            GitFailureKind::Untrusted
        );
    }
    let refused = fixture.commit("second").expect_err("no trust");
    assert_eq!(refused.kind, GitFailureKind::Untrusted);
    assert_eq!(fixture.calls(), 0);
    // The count works: the same commit runs git once the folder is trusted.
    fixture.trust();
    fixture.commit("second").expect("a commit");
    assert!(fixture.calls() > 0);
}

#[test]
fn staged_files_equal_those_of_git_add() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(&[("a", "one\n"), ("gone", "x\n"), ("c", "1\n2\n")]);
    fixture.write(".gitattributes", "*.txt text eol=crlf\n");
    fixture.write("a", "changed\n");
    fixture.write("new folder/new.txt", "1\r\n2\r\n");
    RealFiles
        .remove(&fixture.root.join("gone"))
        .expect("removed");
    let names = [".gitattributes", "a", "gone", "new folder/new.txt"];
    let (service, root) = (&fixture.service, &fixture.root);
    let entries = || fixture.git(&["ls-files", "--stage"]);
    let before = entries();
    let step = block_on(service.stage_files(root, paths(&names))).expect("staged");
    let staged = entries();
    block_on(service.undo_staging(root, step)).expect("taken back");
    assert_eq!(entries(), before);
    fixture.git(&["add", "--all"]);
    assert_eq!(staged, entries());
    assert_ne!(staged, before);
    let again = block_on(service.undo_staging(root, step)).expect_err("taken back already");
    assert_eq!(again.kind, GitFailureKind::Outdated);
    block_on(service.unstage_files(root, paths(&names))).expect("unstaged");
    assert_eq!(entries(), before);
    assert_eq!(fixture.calls(), 0, "all of it in process");
}

#[test]
fn a_save_is_reported_and_read_by_its_path() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(&[("a", "one\n"), ("b", "two\n")]);
    let (service, root) = (&fixture.service, &fixture.root);
    let ticks = service.watch();
    block_on(service.repositories()).expect("a list");
    fixture.write("a", "1\n");
    fixture.write("b", "2\n");
    let saved: Vec<AbsPath> = [".git/index.lock", "a", ".git/objects/12"]
        .map(|name| root.join(name))
        .to_vec();
    service.files_changed(Some(saved));
    let GitTick::Files { repository, paths } = ticks.recv_blocking().expect("a report") else {
        panic!("another report");
    };
    assert_eq!(
        (&repository, paths.as_slice()),
        (root, &[TreePath::from("a")][..])
    );
    let changes = block_on(service.changes_of(root, paths)).expect("changes");
    let listed: Vec<_> = changes.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(listed, ["a"]);
    assert_eq!(fixture.calls(), 0);
    // A change of ours is reported once, at its end.
    let staged = service.stage_files(root, vec![TreePath::from("a")]);
    block_on(staged).expect("staged");
    let tick = ticks.recv_blocking().expect("a report");
    assert_eq!(tick, GitTick::Repository(root.clone()));
}

#[test]
fn discarded_files_get_the_content_of_the_index() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.write(".gitattributes", "*.txt text eol=crlf\n");
    fixture.commit_files(&[("a.txt", "one\r\n"), ("gone", "x\n")]);
    fixture.write("a.txt", "1\r\n");
    RealFiles
        .remove(&fixture.root.join("gone"))
        .expect("removed");
    let (service, root) = (&fixture.service, &fixture.root);
    for change in fixture.changes() {
        let discarded = block_on(service.discard_file(root, change.clone()));
        let discarded = discarded.expect("discarded");
        match change.kind {
            ChangeKind::Deleted => assert_eq!(discarded, DiscardedFile::Restored),
            _ => assert_eq!(discarded, DiscardedFile::Replace(b"one\r\n".to_vec())),
        }
    }
    let restored = RealFiles.read(&root.join("gone"), 10).expect("it is back");
    assert_eq!(restored, b"x\n");
    assert_eq!(
        fixture.listed(),
        [(ChangeGroup::Unstaged, "a.txt".to_owned())]
    );
}
