//! Unusual repositories.

use std::fs;

use base::AbsPath;
use worktree::{Discard, LeaseRequest, PoolSettings, TreeBackend, WorktreePool};

use super::world::{ONE, World, commit, git, one, pipe, stage, tree, write};

fn refusal(world: &World, main_repo: &std::path::Path) -> String {
    let main_repo = AbsPath::new(main_repo).unwrap();
    let opened = WorktreePool::open(&main_repo, &world.state(), PoolSettings::defaults());
    match opened.and_then(|pool| pool.lease(super::world::ONE)) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{main_repo} was leased"),
    }
}

#[test]
fn lease_with_missing_files_is_reported() {
    for backend in [TreeBackend::Copy, TreeBackend::Fill] {
        let world = World::new().by(backend);
        let pool = world.pool();
        let kept = one(&pool);
        let lease = pool
            .lease(LeaseRequest {
                is_kept: true,
                ..ONE
            })
            .unwrap()
            .remove(0);
        let id = lease.id.clone();
        let root = lease.root.clone();
        drop(lease);
        fs::remove_dir_all(root.as_path()).unwrap();
        let way_out = format!("burin-agent worktree release {id} --discard");
        let listing = pool.list().unwrap();
        assert_eq!(listing.leases.len(), 2, "the other one is listed as well");
        let shown = listing.leases.iter().find(|it| it.lease.id == id).unwrap();
        let told = shown.work.as_ref().unwrap_err().to_string();
        assert!(
            told.contains("are gone") && told.contains(&way_out),
            "{told}"
        );
        for told in [
            pool.take_over(&id).map(drop).unwrap_err().to_string(),
            pool.release(&id, Discard::Nothing).unwrap_err().to_string(),
        ] {
            assert!(
                told.contains("are gone") && told.contains(&way_out),
                "{told}"
            );
        }
        pool.release(&id, Discard::Work).unwrap();
        assert!(
            pool.list()
                .unwrap()
                .leases
                .iter()
                .all(|it| it.lease.id != id)
        );
        drop(kept);
    }
}

#[test]
fn unleasable_folders_are_refused_with_a_reason() {
    let world = World::bare();
    let said = refusal(&world, &world.main_repo());
    assert!(said.contains("has no commit yet"), "{said}");
    let bare = world.path().join("bare.git");
    git(&world.path(), ["init", "--quiet", "--bare", "bare.git"]);
    let said = refusal(&world, &bare);
    assert!(said.contains("is bare"), "{said}");
    let none = world.path().join("none");
    fs::create_dir(&none).unwrap();
    let said = refusal(&world, &none);
    assert!(said.contains("no git repository"), "{said}");
}

#[test]
fn a_lease_is_not_leased_from() {
    let world = World::new();
    let lease = one(&world.pool());
    let said = refusal(&world, lease.root.as_path());
    assert!(said.contains("itself a leased worktree"), "{said}");
}

#[test]
fn a_linked_worktree_can_be_the_main_repository() {
    let world = World::new();
    let linked = world.path().join("linked");
    git(
        &world.main_repo(),
        [
            "worktree",
            "add",
            "--quiet",
            "-b",
            "side",
            linked.to_str().unwrap(),
        ],
    );
    write(&linked.join("readme.md"), "# Side\n");
    commit(&linked, "side");
    let pool = world.pool_of(&linked);
    let lease = one(&pool);
    assert_eq!(tree(lease.root.as_path()), tree(&linked));
    assert_eq!(git(lease.root.as_path(), ["status", "--porcelain"]), "");
    assert_eq!(
        git(lease.root.as_path(), ["rev-parse", "refs/remotes/hub/side"]),
        git(&linked, ["rev-parse", "HEAD"])
    );
}

#[test]
fn a_shallow_clone_stays_shallow() {
    let world = World::new();
    write(&world.main_repo().join("readme.md"), "# Two\n");
    commit(&world.main_repo(), "two");
    let shallow = world.path().join("shallow");
    let url = format!("file://{}", world.main_repo().display());
    git(
        &world.path(),
        [
            "clone",
            "--quiet",
            "--depth=1",
            &url,
            shallow.to_str().unwrap(),
        ],
    );
    let lease = one(&world.pool_of(&shallow));
    assert_eq!(git(lease.root.as_path(), ["log", "--format=%s"]), "two\n");
    git(lease.root.as_path(), ["fsck"]);
}

#[test]
fn a_clone_that_borrows_its_objects_lends_them_on() {
    let world = World::new();
    let borrower = world.path().join("borrower");
    let names = [world.main_repo(), borrower.clone()];
    let names = names.map(|path| path.to_str().unwrap().to_owned());
    git(
        &world.path(),
        ["clone", "--quiet", "--shared", &names[0], &names[1]],
    );
    let lease = one(&world.pool_of(&borrower));
    git(lease.root.as_path(), ["fsck"]);
    assert_eq!(git(lease.root.as_path(), ["status", "--porcelain"]), "");
}

#[test]
fn partial_clone_without_objects_is_refused() {
    let world = World::new();
    git(
        &world.main_repo(),
        ["config", "uploadpack.allowFilter", "true"],
    );
    write(&world.main_repo().join("readme.md"), "# Two\n");
    commit(&world.main_repo(), "two");
    let partial = world.path().join("partial");
    let url = format!("file://{}", world.main_repo().display());
    let words = [
        "clone",
        "--quiet",
        "--filter=blob:none",
        "--no-checkout",
        &url,
        partial.to_str().unwrap(),
    ];
    git(&world.path(), words);
    let said = refusal(&world, &partial);
    assert!(said.contains("partial clone"), "{said}");
}

#[test]
fn submodules_and_filters_are_said() {
    let world = World::new();
    let main_repo = world.main_repo();
    let inner = world.path().join("inner");
    fs::create_dir(&inner).unwrap();
    git(&inner, ["init", "--quiet"]);
    write(&inner.join("file"), "x\n");
    git(&inner, ["add", "--all"]);
    git(
        &inner,
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
    let words = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        inner.to_str().unwrap(),
        "sub",
    ];
    git(&main_repo, words);
    write(&main_repo.join(".gitattributes"), "*.big filter=lfs\n");
    write(
        &main_repo.join("a.big"),
        "version https://git-lfs.github.com/spec/v1\n",
    );
    commit(&main_repo, "odd");
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    let caveats = lease.caveats.join("; ");
    assert!(
        caveats.contains("submodules") && caveats.contains("filter"),
        "{caveats}"
    );
    assert!(root.join("sub").is_dir() && !root.join("sub/file").exists());
    assert_eq!(git(root, ["status", "--porcelain"]), "");
    assert_eq!(
        git(root, ["write-tree"]),
        git(root, ["rev-parse", "HEAD^{tree}"])
    );
    assert!(pool_is_clean(&world, &lease.id));
}

fn pool_is_clean(world: &World, id: &worktree::LeaseId) -> bool {
    world
        .pool()
        .status(id)
        .unwrap()
        .work
        .unwrap()
        .touched
        .is_empty()
}

#[test]
fn a_sparse_checkout_is_leased_whole_and_said() {
    let world = World::new();
    let main_repo = world.main_repo();
    git(&main_repo, ["sparse-checkout", "set", "src"]);
    assert!(!main_repo.join("with space").exists());
    let lease = one(&world.pool());
    assert!(lease.root.as_path().join("with space/ü.txt").exists());
    assert!(lease.caveats.join(" ").contains("sparse"));
    assert_eq!(git(lease.root.as_path(), ["status", "--porcelain"]), "");
}

#[test]
fn a_detached_head_and_a_commit_without_files_are_fine() {
    let world = World::bare();
    let main_repo = world.main_repo();
    git(
        &main_repo,
        ["commit", "--quiet", "--allow-empty", "--message=nothing"],
    );
    git(&main_repo, ["checkout", "--quiet", "--detach"]);
    let lease = one(&world.pool());
    assert_eq!(git(lease.root.as_path(), ["status", "--porcelain"]), "");
    write(&lease.root.as_path().join("first"), "x\n");
    commit(lease.root.as_path(), "first");
}

#[test]
fn names_that_lead_out_are_not_checked_out() {
    let world = World::new();
    let main_repo = world.main_repo();
    // A hand-written tree that no checkout would produce.
    let blob = git(&main_repo, ["rev-parse", "HEAD:readme.md"]);
    let entry = format!("100644 blob {}\t.GIT\n", blob.trim());
    let tree = pipe(&main_repo, &["mktree"], &entry);
    let id = pipe(&main_repo, &["commit-tree", tree.trim(), "-m", "bad"], "");
    git(&main_repo, ["update-ref", "refs/heads/main", id.trim()]);
    let said = refusal(&world, &main_repo);
    assert!(said.contains(".GIT"), "{said}");
}

#[test]
fn names_that_the_volume_takes_for_one_are_refused() {
    for (one, other) in [
        ("Makefile", "makefile"),
        ("docs/caf\u{e9}", "docs/cafe\u{301}"),
        ("Src", "src/main.rs"),
    ] {
        let world = World::bare();
        world.fold_names();
        let main_repo = world.main_repo();
        stage(&main_repo, &[one, other, "readme.md"]);
        git(&main_repo, ["commit", "--quiet", "--message=alike"]);
        let pool = world.pool();
        for error in [
            pool.lease(ONE).map(drop).unwrap_err(),
            pool.warm().map(drop).unwrap_err(),
        ] {
            let said = error.to_string();
            assert!(
                said.contains(one) && said.contains(other) && said.contains("same name"),
                "{said}"
            );
        }
        // Nothing was made.
        let listing = pool.list().unwrap();
        assert!(listing.leases.is_empty() && listing.unfinished.is_empty());
        assert!(listing.bases.is_empty());
        assert_eq!(git(&main_repo, ["for-each-ref", "refs/burin"]), "");
        // Separately, they are accepted.
        git(&main_repo, ["read-tree", "--empty"]);
        stage(&main_repo, &[one, "readme.md"]);
        git(&main_repo, ["commit", "--quiet", "--message=one"]);
        pool.lease(ONE).unwrap();
    }
}

#[test]
fn folders_that_the_volume_takes_for_one_are_a_caveat() {
    let world = World::new();
    world.fold_names();
    stage(&world.main_repo(), &["SRC/other.rs"]);
    git(&world.main_repo(), ["commit", "--quiet", "--message=other"]);
    let caveats = one(&world.pool()).caveats.join("; ");
    assert!(caveats.contains("SRC and src are one folder"), "{caveats}");
}

#[test]
fn git_knows_the_names_of_the_volume_that_holds_the_lease() {
    let world = World::new();
    let main_repo = world.main_repo();
    let told = |world: &World| {
        let lease = one(&world.pool());
        ["core.ignorecase", "core.precomposeunicode"].map(|name| {
            let told = git(lease.root.as_path(), ["config", name]);
            told.trim().to_owned()
        })
    };
    // The checkout may lie on a volume with other rules.
    for name in ["core.ignorecase", "core.precomposeunicode"] {
        git(&main_repo, ["config", name, "true"]);
    }
    let (folder, upper) = (world.path().join("a"), world.path().join("A"));
    write(&folder, "");
    let folds = upper.exists();
    assert_eq!(told(&world)[0], folds.to_string());
    if !folds {
        world.fold_names();
        assert_eq!(told(&world), ["true", "true"]);
    }
}

#[test]
fn a_pool_on_a_volume_without_links_is_refused() {
    let world = World::new();
    let pool = world.pool();
    let path = world.state().join("worktrees/rungs.json");
    let used = pool.backend_support().unwrap();
    drop(one(&pool));
    let known = super::world::read(path.as_path());
    let names = known.split("\"file_system\": \"").skip(1);
    let names: Vec<_> = names.filter_map(|rest| rest.split('"').next()).collect();
    let exfat = known.replace(&format!("\"{}\"", names[0]), "\"exfat\"");
    write(path.as_path(), &exfat);
    let said = pool.lease(ONE).map(drop).unwrap_err().to_string();
    assert!(
        said.contains("exfat") && said.contains("XDG_STATE_HOME"),
        "{said}"
    );
    // Leases made before are listed, and can be released.
    let listing = pool.list().unwrap();
    assert_eq!(listing.backends.backend, used.backend);
    let id = listing.leases[0].lease.id.clone();
    pool.release(&id, Discard::Nothing).unwrap();
}
