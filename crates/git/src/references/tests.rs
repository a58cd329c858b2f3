//! Tests of branches, stashes, the reflog and worktrees in real repositories.

use crate::changes::HeadState;
use crate::merge::tests::Fixture;

#[test]
fn branches_have_their_commit_and_upstream() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    let first = fixture.commit();
    fixture.git(&["branch", "base"]);
    fixture.git(&["branch", "--set-upstream-to=base"]);
    fixture.git(&["update-ref", "refs/remotes/origin/main", &first]);
    fixture.write("file", "2\n");
    let second = fixture.commit();
    let branches = fixture.repository().branches().expect("readable");
    let find = |reference: &str| {
        let found = branches.iter().find(|it| it.reference == reference);
        found.expect("a branch")
    };
    assert_eq!(branches.len(), 3);
    let main = find("refs/heads/main");
    assert!(main.is_head && !main.is_remote);
    assert_eq!((&main.name[..], &main.commit.id), ("main", &second));
    let upstream = main.upstream.as_ref().expect("an upstream");
    assert_eq!((&upstream.name[..], upstream.ahead), ("base", 1));
    let remote = find("refs/remotes/origin/main");
    assert!(remote.is_remote && !remote.is_head);
    assert_eq!(
        (&remote.name[..], &remote.commit.id),
        ("origin/main", &first)
    );
    assert_eq!(branches.last(), Some(remote));
}

#[test]
fn stashes_are_listed_newest_first() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    let base = fixture.commit();
    assert_eq!(fixture.repository().stashes().expect("readable"), []);
    for message in ["older", "newer"] {
        fixture.write("file", message);
        fixture.git(&["stash", "push", "-q", "-m", message]);
    }
    let stashes = fixture.repository().stashes().expect("readable");
    let messages: Vec<_> = stashes.iter().map(|it| &it.message[..]).collect();
    assert_eq!(messages, ["On main: newer", "On main: older"]);
    assert_eq!((stashes[0].index, stashes[1].index), (0, 1));
    let id = fixture.git(&["rev-parse", "stash@{1}"]);
    assert_eq!(stashes[1].commit.to_string(), id.trim());
    let on = stashes[1].base.map(|id| id.to_string());
    assert_eq!(on, Some(base));
}

#[test]
fn reflog_is_read_and_never_created() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    let first = fixture.commit();
    fixture.write("file", "2\n");
    let second = fixture.commit();
    let repository = fixture.repository();
    let log = repository.reflog("HEAD", 10).expect("readable");
    assert_eq!(log.len(), 2);
    let ids = (log[0].old.expect("an id"), log[0].new.expect("an id"));
    assert_eq!((ids.0.to_string(), ids.1.to_string()), (first, second));
    assert_eq!(log[0].message, "commit: work");
    assert_eq!(log[0].author, "a");
    assert_eq!(log[1].old, None);
    assert_eq!(repository.reflog("HEAD", 1).expect("readable").len(), 1);
    assert_eq!(repository.reflog("refs/none", 1).expect("readable"), []);
    let place = fixture.root.join(".git/logs/refs/none");
    assert!(!place.as_path().exists());
}

#[test]
fn worktrees_are_listed_with_their_branches() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    fixture.commit();
    let other = Fixture::new();
    let root = other.root.join("linked");
    fixture.git(&["worktree", "add", "-q", &root.to_string()]);
    fixture.git(&["worktree", "lock", "--reason", "in use", &root.to_string()]);
    let worktrees = fixture.repository().worktrees().expect("readable");
    assert_eq!(worktrees.len(), 2);
    assert_eq!((&worktrees[0].name, &worktrees[0].locked), (&None, &None));
    assert_eq!(worktrees[0].root, fixture.root);
    let linked = &worktrees[1];
    assert_eq!(linked.root, root);
    assert_eq!(linked.locked.as_deref(), Some("in use"));
    assert!(!linked.is_missing);
    let Some(HeadState::Branch { name, .. }) = &linked.head else {
        panic!("{linked:?}");
    };
    assert_eq!(name, "linked");
    drop(other);
    let worktrees = fixture.repository().worktrees().expect("readable");
    assert!(worktrees[1].is_missing);
    assert_eq!(worktrees[1].head, None);
}
