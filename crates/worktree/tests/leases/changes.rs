//! Transfer of uncommitted work, and the rules for work that is safe to lose.

use std::fs;

use worktree::{Discard, Error, LeaseMerge, LeaseRequest};

use super::world::{ONE, World, commit, git, one, read, tree, write};

fn with_changes() -> LeaseRequest {
    LeaseRequest {
        with_changes: true,
        ..ONE
    }
}

#[test]
fn the_persons_changes_come_along_and_stay_uncommitted() {
    let world = World::new();
    let main_repo = world.main_repo();
    write(&main_repo.join("readme.md"), "# Mine\n");
    write(&main_repo.join("new/file.txt"), "new\n");
    fs::remove_file(main_repo.join("run.sh")).unwrap();
    git(&main_repo, ["rm", "--quiet", "with space/ü.txt"]);
    write(&main_repo.join("staged.txt"), "staged\n");
    git(&main_repo, ["add", "staged.txt"]);
    let before = tree(&main_repo);
    let lease = world.pool().lease(with_changes()).unwrap().remove(0);
    assert_eq!(tree(lease.root.as_path()), before);
    assert_eq!(tree(&main_repo), before);
    assert_eq!(
        git(lease.root.as_path(), ["rev-list", "--count", "HEAD"]).trim(),
        "1"
    );
}

#[test]
fn files_in_conflict_stay_behind_and_are_named() {
    let world = World::new();
    let main_repo = world.main_repo();
    write(&main_repo.join("readme.md"), "# Mine\n");
    git(&main_repo, ["stash", "--quiet"]);
    write(&main_repo.join("readme.md"), "# Theirs\n");
    commit(&main_repo, "theirs");
    let popped = std::process::Command::new("git")
        .current_dir(&main_repo)
        .args(["stash", "pop", "--quiet"])
        .output()
        .unwrap();
    assert!(!popped.status.success());
    assert!(
        fs::read_to_string(main_repo.join("readme.md"))
            .unwrap()
            .contains("<<<<<<<")
    );
    write(&main_repo.join("other.txt"), "mine\n");
    let lease = world.pool().lease(with_changes()).unwrap().remove(0);
    let root = lease.root.as_path();
    assert_eq!(read(root.join("readme.md")), "# Theirs\n");
    assert_eq!(read(root.join("other.txt")), "mine\n");
    let told = lease.caveats.join("\n");
    assert!(
        told.contains("readme.md has a merge conflict in your checkout"),
        "{told}"
    );
}

#[test]
fn work_comes_back_into_the_checkout() {
    let world = World::new();
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    write(&root.join("readme.md"), "# Theirs\n");
    commit(root, "theirs");
    write(&root.join("loose.txt"), "x\n");
    fs::remove_file(root.join("run.sh")).unwrap();
    let carried = lease.export_changes(&lease.main_repo).unwrap();
    assert_eq!(carried.len(), 3);
    assert_eq!(tree(&world.main_repo()), tree(root));
    assert_eq!(
        git(&world.main_repo(), ["rev-list", "--count", "HEAD"]).trim(),
        "1"
    );
    // A repetition succeeds: nothing is left to transfer.
    assert!(lease.export_changes(&lease.main_repo).unwrap().is_empty());
}

#[test]
fn changes_on_both_sides_are_refused_and_nothing_is_written() {
    let world = World::new();
    let main_repo = world.main_repo();
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    write(&root.join("readme.md"), "# Theirs\n");
    write(&root.join("fresh.txt"), "theirs\n");
    write(&main_repo.join("readme.md"), "# Mine\n");
    write(&main_repo.join("other.txt"), "mine\n");
    let (there, here) = (tree(root), tree(&main_repo));
    let check = |done: Result<Vec<std::path::PathBuf>, Error>| match done {
        Err(Error::Conflicts(files)) => assert_eq!(files, ["readme.md"]),
        other => panic!("{other:?}"),
    };
    check(lease.import_changes(&lease.main_repo));
    check(lease.export_changes(&lease.main_repo));
    assert_eq!((tree(root), tree(&main_repo)), (there, here));
}

#[test]
fn links_that_an_agent_plants_are_not_written_through() {
    let world = World::new();
    let main_repo = world.main_repo();
    let outside = world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    std::os::unix::fs::symlink(&outside, root.join("new")).unwrap();
    write(&main_repo.join("new/file.txt"), "mine\n");
    assert!(lease.import_changes(&lease.main_repo).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    // And it is not read through a symlink either.
    write(&outside.join("secret"), "secret\n");
    fs::remove_file(root.join("new")).unwrap();
    fs::remove_file(main_repo.join("new/file.txt")).unwrap();
    fs::remove_dir(main_repo.join("new")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret"), root.join("readable")).unwrap();
    lease.export_changes(&lease.main_repo).unwrap();
    assert!(
        fs::symlink_metadata(main_repo.join("readable"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn work_that_is_nowhere_else_is_not_released() {
    let world = World::new();
    let pool = world.pool();
    let mut lease = one(&pool);
    let root = lease.root.as_path().to_path_buf();
    let work = |pool: &worktree::WorktreePool, id: &worktree::LeaseId| {
        pool.status(id).unwrap().work.unwrap()
    };
    assert_eq!(work(&pool, &lease.id).merged, LeaseMerge::Nothing);
    write(&root.join("loose.txt"), "x\n");
    let refused = |done: Result<(), Error>, word: &str| match done {
        Err(error @ Error::Unsaved { .. }) => assert!(error.to_string().contains(word), "{error}"),
        other => panic!("{other:?}"),
    };
    refused(pool.give_back(&mut lease, Discard::Nothing), "loose.txt");
    let id = commit(&root, "work");
    refused(pool.give_back(&mut lease, Discard::Nothing), "commits");
    assert_eq!(work(&pool, &lease.id).merged, LeaseMerge::No);
    // Here it lands with plain Git.
    git(
        &world.main_repo(),
        [
            "fetch",
            "--quiet",
            lease.git_dir.as_path().to_str().unwrap(),
            "burin/wt-1",
        ],
    );
    git(&world.main_repo(), ["merge", "--quiet", "--ff-only", &id]);
    assert_eq!(work(&pool, &lease.id).merged, LeaseMerge::Yes);
    pool.give_back(&mut lease, Discard::Nothing).unwrap();
    assert!(!root.exists());
    assert!(super::world::mounts_below(&world.path()).is_empty());
}

#[test]
fn work_landed_in_another_form_counts_as_merged() {
    let world = World::new();
    let pool = world.pool();
    let lease = one(&pool);
    write(&lease.root.as_path().join("a"), "x\n");
    let id = commit(lease.root.as_path(), "work");
    pool.note_landed(&lease.id, &id).unwrap();
    assert_eq!(
        pool.status(&lease.id).unwrap().work.unwrap().merged,
        LeaseMerge::Yes
    );
    write(&lease.root.as_path().join("b"), "x\n");
    commit(lease.root.as_path(), "more");
    assert_eq!(
        pool.status(&lease.id).unwrap().work.unwrap().merged,
        LeaseMerge::No
    );
}

#[test]
fn landed_lease_is_archived_and_restorable() {
    let world = World::new();
    let main_repo = world.main_repo();
    let pool = world.pool();
    let mut lease = one(&pool);
    let (id, root) = (lease.id.clone(), lease.root.as_path().to_path_buf());
    write(&root.join("a"), "x\n");
    write(&root.join("readme.md"), "y\n");
    // The same changes land in the checkout as another commit.
    write(&main_repo.join("a"), "x\n");
    write(&main_repo.join("readme.md"), "y\n");
    let landed = commit(&main_repo, "landed");
    let tree = git(&main_repo, ["rev-parse", "HEAD^{tree}"]);
    assert!(
        !pool.retire(&mut lease).unwrap(),
        "nobody said that it landed"
    );
    pool.note_whole(&id, tree.trim(), &landed).unwrap();
    write(&root.join("later"), "z\n");
    assert!(!pool.retire(&mut lease).unwrap(), "something came after");
    assert!(root.join("later").exists());
    fs::remove_file(root.join("later")).unwrap();
    assert!(pool.retire(&mut lease).unwrap());
    assert!(!root.exists());
    assert_eq!(pool.list().unwrap().archives[0].name, id.as_str());
    let mut back = pool.restore(id.as_str()).unwrap();
    assert_eq!((&back.id, back.root.as_path()), (&id, root.as_path()));
    assert_eq!(
        (read(root.join("a")), read(root.join("readme.md"))),
        ("x\n".to_owned(), "y\n".to_owned())
    );
    // A restored lease can be retired again: explicitly, and by `gc` once its process is gone.
    assert!(pool.retire(&mut back).unwrap());
    drop(pool.restore(id.as_str()).unwrap());
    assert_eq!(pool.retire_landed().unwrap(), std::slice::from_ref(&id));
    assert!(pool.list().unwrap().leases.is_empty());
    // A lease restored by the user stays until the user releases it.
    let mut yours = pool.restore(id.as_str()).unwrap();
    pool.keep_for_user(&mut yours).unwrap();
    assert!(!pool.retire(&mut yours).unwrap());
    drop(yours);
    assert_eq!(pool.retire_landed().unwrap(), []);
    let mut taken = pool.take_over(&id).unwrap();
    assert!(!pool.retire(&mut taken).unwrap());
    pool.give_back(&mut taken, Discard::Work).unwrap();
}

#[test]
fn mounts_end_with_the_holder_of_the_lease() {
    let world = World::new();
    let pool = world.pool();
    let held = one(&pool);
    let id = held.id.clone();
    write(&held.root.as_path().join("loose.txt"), "x\n");
    drop(held);
    assert!(super::world::mounts_below(&world.path()).is_empty());
    // Reading it mounts it temporarily, even if a request is refused.
    assert_eq!(pool.status(&id).unwrap().work.unwrap().touched.len(), 1);
    assert!(pool.release(&id, Discard::Nothing).is_err());
    assert!(super::world::mounts_below(&world.path()).is_empty());
    let kept = LeaseRequest {
        is_kept: true,
        ..ONE
    };
    let yours = pool.lease(kept).unwrap().remove(0);
    let root = yours.root.as_path().to_path_buf();
    drop(pool.take_over(&yours.id).unwrap());
    drop(world.pool());
    assert!(root.join("readme.md").exists(), "a person's stays");
    pool.release(&yours.id, Discard::Nothing).unwrap();
    assert!(super::world::mounts_below(&world.path()).is_empty());
}

#[test]
fn lease_with_work_is_released_with_discard() {
    let world = World::new();
    let pool = world.pool();
    let mut lease = one(&pool);
    write(&lease.root.as_path().join("readme.md"), "x\n");
    pool.give_back(&mut lease, Discard::Work).unwrap();
    assert!(pool.list().unwrap().leases.is_empty());
}

#[test]
fn gc_removes_safe_leases_and_explains_the_rest() {
    let world = World::new();
    let pool = world.pool();
    let kept = LeaseRequest {
        is_kept: true,
        ..ONE
    };
    let yours = pool.lease(kept).unwrap().remove(0);
    let held = one(&pool);
    let dirty = one(&pool);
    write(&dirty.root.as_path().join("loose.txt"), "x\n");
    let dirty_id = dirty.id.clone();
    drop(dirty);
    let clean = one(&pool);
    let clean_id = clean.id.clone();
    drop(clean);
    assert_eq!(pool.orphans(), [dirty_id.clone(), clean_id.clone()]);
    let cleared = pool.gc(u64::MAX).unwrap();
    assert_eq!(cleared.removed, [] as [String; 0], "{cleared:?}");
    let cleared = pool.gc(0).unwrap();
    assert_eq!(cleared.removed.len(), 1, "{cleared:?}");
    assert!(cleared.removed[0].starts_with(clean_id.as_str()));
    let why = |id: &worktree::LeaseId| {
        let line = cleared
            .kept
            .iter()
            .find(|line| line.starts_with(id.as_str()));
        line.cloned().unwrap_or_default()
    };
    assert!(why(&dirty_id).contains("uncommitted"), "{cleared:?}");
    assert!(why(&held.id).contains("in use"), "{cleared:?}");
    assert!(why(&yours.id).contains("yours"), "{cleared:?}");
    assert_eq!(
        read(
            pool.take_over(&dirty_id)
                .unwrap()
                .root
                .as_path()
                .join("loose.txt")
        ),
        "x\n"
    );
}
