//! Archives and their restoration.

use std::fs;

use worktree::TreeBackend;

use super::world::{World, commit, git, make_executable, one, tree, try_git, write};

#[test]
fn archived_work_comes_back_exactly() {
    for backend in [Some(TreeBackend::Copy), None] {
        let mut world = World::new();
        world.settings.backend = backend;
        let main_repo = world.main_repo();
        let pool = world.pool();
        let lease = one(&pool);
        let id = lease.id.clone();
        let root = lease.root.as_path().to_path_buf();
        write(&root.join("src/main.rs"), "committed\n");
        let tip = commit(&root, "work");
        write(&root.join("src/main.rs"), "not committed\n");
        write(&root.join("untracked/a file.txt"), "x\n");
        write(&root.join("run"), "#!/bin/sh\n");
        make_executable(&root.join("run"));
        fs::remove_file(root.join("readme.md")).unwrap();
        fs::remove_dir_all(root.join("src/deep")).unwrap();
        write(&root.join("src/deep"), "a file where a folder was\n");
        fs::remove_file(root.join("link")).unwrap();
        write(&root.join("link/now"), "a folder where a link was\n");
        std::os::unix::fs::symlink("/nowhere", root.join("dangling")).unwrap();
        let before = tree(&root);
        drop(lease);

        let fingerprint = world.fingerprint();
        let archived = pool.archive(&id).unwrap();
        assert_eq!(
            (archived.name.as_str(), archived.tip.as_str()),
            (id.as_str(), tip.as_str())
        );
        assert!(!root.exists());
        assert_eq!(world.fingerprint(), fingerprint);
        // The main repository gets commits and runs `git gc`.
        write(&main_repo.join("readme.md"), "# Two\n");
        commit(&main_repo, "two");
        git(&main_repo, ["gc", "--quiet", "--prune=now"]);
        assert!(pool.gc(0).unwrap().kept.is_empty());
        git(&main_repo, ["gc", "--quiet", "--prune=now"]);
        assert_eq!(pool.list().unwrap().archives, [archived]);

        let lease = pool.restore(id.as_str()).unwrap();
        assert_eq!(lease.id, id);
        assert_eq!(tree(lease.root.as_path()), before);
        assert_eq!(git(lease.root.as_path(), ["rev-parse", "HEAD"]).trim(), tip);
        assert_eq!(lease.base, git(&main_repo, ["rev-parse", "HEAD~1"]).trim());
        assert!(pool.list().unwrap().archives.is_empty());
        // The lease's commits survive `git gc`.
        git(&main_repo, ["gc", "--quiet", "--prune=now"]);
        git(lease.root.as_path(), ["fsck"]);
        let shown = pool.status(&id).unwrap();
        assert!(!shown.work.is_ok_and(|work| work.is_safe_to_lose()));
    }
}

#[test]
fn an_interrupted_restore_is_finished_later() {
    let world = World::new();
    let pool = world.pool();
    let lease = one(&pool);
    let (id, root) = (lease.id.clone(), lease.root.as_path().to_path_buf());
    write(&root.join("work.txt"), "x\n");
    drop(lease);
    pool.archive(&id).unwrap();
    let folder = root.parent().unwrap().parent().unwrap();
    write(
        &folder.join("upper/git/HEAD"),
        "ref: refs/heads/burin/wt-1\n",
    );
    assert_eq!(pool.list().unwrap().unfinished, std::slice::from_ref(&id));
    let said = pool.take_over(&id).unwrap_err().to_string();
    assert!(said.contains("is incomplete"), "{said}");

    let lease = pool.restore(id.as_str()).unwrap();
    assert_eq!((&lease.id, lease.root.as_path()), (&id, root.as_path()));
    assert_eq!(fs::read_to_string(root.join("work.txt")).unwrap(), "x\n");
}

#[test]
fn a_missing_archive_is_reported() {
    let world = World::new();
    let pool = world.pool();
    let said = pool.restore("wt-9").unwrap_err().to_string();
    assert!(said.contains("there is no archive wt-9"), "{said}");
    let id = worktree::LeaseId::parse("wt-9").unwrap();
    assert!(
        pool.archive(&id)
            .unwrap_err()
            .to_string()
            .contains("no lease wt-9")
    );
}

#[test]
fn a_repository_inside_is_not_archived_halfway() {
    let world = World::new();
    let pool = world.pool();
    let lease = one(&pool);
    let root = lease.root.as_path().to_path_buf();
    write(&root.join("inner/file"), "x\n");
    git(&root.join("inner"), ["init", "--quiet"]);
    git(&root.join("inner"), ["add", "--all"]);
    git(
        &root.join("inner"),
        [
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b",
            "commit",
            "--quiet",
            "--message=x",
        ],
    );
    let id = lease.id.clone();
    drop(lease);
    let said = pool.archive(&id).unwrap_err().to_string();
    assert!(said.contains("nested repository"), "{said}");
    let taken = pool.take_over(&id).unwrap();
    assert!(taken.root.join("inner/file").as_path().exists());
}

#[test]
fn archive_keeps_commits_of_the_lease() {
    let world = World::new();
    let pool = world.pool();
    let lease = one(&pool);
    let id = lease.id.clone();
    write(&lease.root.as_path().join("a"), "x\n");
    let tip = commit(lease.root.as_path(), "work");
    drop(lease);
    assert!(try_git(&world.main_repo(), ["cat-file", "-e", &tip]).is_err());
    pool.archive(&id).unwrap();
    git(&world.main_repo(), ["cat-file", "-e", &tip]);
    git(&world.main_repo(), ["fsck"]);
}
