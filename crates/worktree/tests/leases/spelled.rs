//! A volume that folds case and normal forms: a checkout there has one pool in every spelling, and a
//! lease there has every file of its commit or is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use base::AbsPath;
use test_support::{FoldingVolume, Spellings, skip, spelling_count};
use worktree::{Discard, Error, WorktreePool};

use super::world::{ONE, World, commit, git, one, stage, tree, write};

fn folding_volume() -> Option<FoldingVolume> {
    match FoldingVolume::mount() {
        Ok(volume) => Some(volume),
        Err(error) => {
            skip(format!("a FUSE volume cannot be mounted: {error}"));
            None
        }
    }
}

#[test]
fn every_spelling_of_a_checkout_leads_to_the_same_leases() {
    let Some(volume) = folding_volume() else {
        return;
    };
    let world = World::bare();
    let main_repo = volume.path().join("Strasse/Kiosk");
    fs::create_dir_all(&main_repo).unwrap();
    git(&main_repo, ["init", "--quiet", "--initial-branch=main"]);
    git(&main_repo, ["config", "user.name", "Person"]);
    git(&main_repo, ["config", "user.email", "person@localhost"]);
    write(&main_repo.join("readme.md"), "# One\n");
    commit(&main_repo, "one");
    let pool = world.pool_of(&main_repo);
    let lease = one(&pool);
    let id = lease.id.clone();
    let mut spellings = Spellings::new(51);
    let mut opened = || {
        let spelled = volume.path().join(spellings.of("strasse/kiosk"));
        (world.pool_of(&spelled), spelled)
    };
    for _ in 0..spelling_count(20).min(1000) {
        let (other, spelled) = opened();
        assert_eq!(other.main_repo(), pool.main_repo(), "{spelled:?}");
        let taken = other.take_over(&id);
        assert!(
            matches!(taken, Err(Error::Held { .. })),
            "{spelled:?}: {taken:?}"
        );
    }
    drop(lease);
    let (other, _) = opened();
    let mut lease = other.take_over(&id).unwrap();
    assert!(matches!(pool.take_over(&id), Err(Error::Held { .. })));
    other.give_back(&mut lease, Discard::Nothing).unwrap();
    assert!(pool.list().unwrap().leases.is_empty());
}

/// Names that differ on every volume, written as `Spellings` wants them.
const NAMES: [&str; 5] = [
    "makefile",
    "src/strasse/first.rs",
    "src/strasse/kiosk.rs",
    "docs/caf\u{e9}",
    "docs/kiss",
];

#[test]
fn a_lease_on_a_folding_volume_has_every_file_or_is_refused() {
    let Some(volume) = folding_volume() else {
        return;
    };
    let world = World::bare();
    let main_repo = world.main_repo();
    let state = AbsPath::new(volume.path()).unwrap();
    let opened = AbsPath::new(&main_repo).unwrap();
    let pool = WorktreePool::open(&opened, &state, world.settings.clone()).unwrap();
    let mut spellings = Spellings::new(52);
    for _ in 0..spelling_count(8).min(50) {
        // Each path with the name of which it is a spelling.
        let mut paths: BTreeMap<String, &str> = BTreeMap::new();
        for _ in 0..4 {
            let name = NAMES[spellings.below(NAMES.len())];
            paths.insert(spellings.of(name), name);
        }
        commit_exactly(&main_repo, &paths);
        let mut names: Vec<_> = paths.values().collect();
        names.sort_unstable();
        names.dedup();
        match pool.lease(ONE) {
            Ok(mut leases) => {
                assert_eq!(names.len(), paths.len(), "{paths:?}");
                let found = tree(leases[0].root.as_path());
                assert_eq!(found.len(), paths.len(), "{paths:?}: {found:?}");
                pool.give_back(&mut leases[0], Discard::Work).unwrap();
            }
            Err(error) => {
                assert!(matches!(error, Error::SameName { .. }), "{error}");
                assert!(names.len() < paths.len(), "{paths:?}: {error}");
            }
        }
    }
    let paths = ["makefile", "src/strasse/first.rs"].map(|name| (name.to_owned(), name));
    commit_exactly(&main_repo, &BTreeMap::from(paths));
    let lease = one(&pool);
    let root = lease.root.as_path();
    assert_eq!(git(root, ["status", "--porcelain"]), "");
    assert_eq!(git(root, ["config", "core.ignorecase"]).trim(), "true");
    assert!(root.join("SRC/STRASSE/FIRST.RS").exists());
    drop(lease);
    wait_for_syncs(volume.path());
}

/// Commits files in exactly these spellings, and no others.
fn commit_exactly(main_repo: &Path, paths: &BTreeMap<String, &str>) {
    git(main_repo, ["read-tree", "--empty"]);
    stage(
        main_repo,
        &paths.keys().map(String::as_str).collect::<Vec<_>>(),
    );
    git(
        main_repo,
        ["commit", "--quiet", "--allow-empty", "--message=files"],
    );
}

/// Waits until every base has reached the disk: until then a file is open, and the volume in use.
fn wait_for_syncs(state: &Path) {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let is_synced = || {
        let repositories = entries(&state.join("worktrees"));
        let mut bases = repositories.flat_map(|it| entries(&it.path().join("base")));
        bases.all(|base| !base.path().is_dir() || base.path().join("settled").exists())
    };
    for _ in 0..500 {
        if is_synced() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a base in {} was not synced", state.display());
}
