//! Kills at any moment: no work is lost, no lock stays, and every leftover is found.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base::AbsPath;
use worktree::{Discard, Lease, LeaseId, PoolSettings, TreeBackend, WorktreePool};

use super::world::{ONE, World, backends, commit, git, mounts_below, one, write};

/// The child's work folder; without it the child test ends at once.
const PLACE: &str = "BURIN_TEST_PLACE";

/// The child's backend, by its name; the best one without it.
const BACKEND: &str = "BURIN_TEST_BACKEND";

/// Default number of kills; `BURIN_TEST_KILLS` overrides it.
const KILLS: u64 = 12;

fn settings(backend: Option<TreeBackend>) -> PoolSettings {
    let mut settings = PoolSettings::defaults();
    settings.backend = backend;
    settings.first_port = 28_000;
    settings.monitor = Some(super::world::monitor());
    settings
}

fn child(place: &Path, backend: Option<TreeBackend>) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    if let Some(backend) = backend {
        child.env(BACKEND, backend.name());
    }
    child
        .args(["--exact", "leases::crashes::story_of_leases", "--nocapture"])
        .env(PLACE, place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Leases, works, commits, archives, restores and releases in a loop; every commit is noted before it takes
/// effect.
#[test]
fn story_of_leases() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else {
        return;
    };
    let main_repo = AbsPath::new(place.join("hub")).unwrap();
    let state = AbsPath::new(place.join("state")).unwrap();
    let name = std::env::var(BACKEND).ok();
    let backend = TreeBackend::ALL
        .into_iter()
        .find(|backend| name.as_deref() == Some(backend.name()));
    let pool = WorktreePool::open(&main_repo, &state, settings(backend)).unwrap();
    let mut noted = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(place.join("noted"))
        .unwrap();
    for round in 0.. {
        let mut lease = pool.lease(ONE).unwrap().remove(0);
        let root = lease.root.as_path().to_path_buf();
        if round % 3 == 0 {
            pool.give_back(&mut lease, Discard::Nothing).unwrap();
            continue;
        }
        write(
            &root.join("work.txt"),
            &format!("{} {round}\n", std::process::id()),
        );
        let tip = commit(&root, "work");
        writeln!(noted, "{tip}").unwrap();
        write(&root.join("loose.txt"), "loose\n");
        let id = lease.id.clone();
        drop(lease);
        if round % 3 == 1 {
            let archived = pool.archive(&id).unwrap();
            let restored = pool.restore(&archived.name).unwrap();
            assert_eq!(
                fs::read_to_string(restored.root.as_path().join("loose.txt")).unwrap(),
                "loose\n"
            );
        }
    }
}

#[test]
fn a_kill_at_any_moment_loses_and_leaves_nothing() {
    kill_at_any_moment(&World::new(), None);
}

#[test]
fn a_kill_amid_clones_and_removals_loses_nothing() {
    let own_files = |backend: &TreeBackend| *backend != TreeBackend::Overlay;
    for backend in backends().into_iter().filter(own_files) {
        let world = World::new();
        let main_repo = world.main_repo();
        // Making and removing a tree takes most of the time.
        for number in 0..800 {
            let path = format!("many/{}/{number}.txt", number % 20);
            write(&main_repo.join(path), &format!("{number}\n"));
        }
        commit(&main_repo, "many");
        kill_at_any_moment(&world, Some(backend));
    }
}

fn kill_at_any_moment(world: &World, backend: Option<TreeBackend>) {
    let place = world.path();
    let kills = std::env::var("BURIN_TEST_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS);
    let pool = WorktreePool::open(
        &AbsPath::new(world.main_repo()).unwrap(),
        &world.state(),
        settings(backend),
    )
    .unwrap();
    for kill in 0..kills {
        let mut running = child(&place, backend);
        // The kills are spread over the child's work, with a random offset.
        std::thread::sleep(Duration::from_millis(40 + kill * 97 % 700));
        running.kill().unwrap();
        running.wait().unwrap();
        // A Git process of the child may still be running.
        std::thread::sleep(Duration::from_millis(60));
        // The next `open` detaches the mounts of the killed program.
        let again = AbsPath::new(world.main_repo()).unwrap();
        drop(WorktreePool::open(&again, &world.state(), settings(backend)).unwrap());
        assert_eq!(mounts_below(&place), [] as [PathBuf; 0]);
        check_nothing_is_lost(&pool, &place);
        bring_back_what_was_begun(&pool);
        if kill % 5 == 4 {
            clear_everything(&pool, &place);
        }
    }
    clear_everything(&pool, &place);
    git(&world.main_repo(), ["fsck"]);
    assert_eq!(git(&world.main_repo(), ["status", "--porcelain"]), "");
}

fn check_nothing_is_lost(pool: &WorktreePool, place: &Path) {
    let listing = pool.list().unwrap();
    let mut commits: BTreeSet<String> = listing
        .archives
        .iter()
        .map(|archived| archived.tip.clone())
        .collect();
    for shown in &listing.leases {
        assert!(!shown.is_held, "{} is still locked", shown.lease.id);
        commits.insert(shown.work.as_ref().unwrap().tip.clone());
    }
    for tip in noted(place) {
        assert!(commits.contains(&tip), "the commit {tip} is lost");
    }
    let known: BTreeSet<_> = listing
        .leases
        .iter()
        .map(|shown| shown.lease.id.clone())
        .chain(listing.unfinished.iter().cloned())
        .collect();
    for mount in mounts_below(place) {
        let mut found = mount
            .components()
            .rev()
            .filter_map(|part| LeaseId::parse(&part.as_os_str().to_string_lossy()));
        let is_gone = mount.components().any(|part| part.as_os_str() == "gone");
        assert!(
            found.next().is_some_and(|id| known.contains(&id)) || is_gone,
            "{}",
            mount.display()
        );
    }
}

/// An interrupted restore can be repeated under the same name.
fn bring_back_what_was_begun(pool: &WorktreePool) {
    let listing = pool.list().unwrap();
    for archived in &listing.archives {
        if listing
            .unfinished
            .iter()
            .any(|id| id.as_str() == archived.name)
        {
            let restored = pool.restore(&archived.name).unwrap();
            assert_eq!(restored.id.as_str(), archived.name);
        }
    }
}

/// Archives every lease with work and releases the others, so that only archives and the base
/// remain.
fn clear_everything(pool: &WorktreePool, place: &Path) {
    pool.gc(0).unwrap();
    for shown in pool.list().unwrap().leases {
        pool.archive(&shown.lease.id).unwrap();
    }
    check_nothing_is_lost(pool, place);
    // It waits for the removals.
    pool.gc(u64::MAX).unwrap();
    let listing = pool.list().unwrap();
    assert!(listing.leases.is_empty() && listing.unfinished.is_empty());
    assert_eq!(mounts_below(place), [] as [PathBuf; 0]);
    let worktrees = place.join("state/worktrees");
    let mut left: Vec<String> = Vec::new();
    for repository in fs::read_dir(&worktrees).unwrap().flatten() {
        for folder in ["leases", "gone"] {
            let entries = fs::read_dir(repository.path().join(folder))
                .into_iter()
                .flatten()
                .flatten();
            left.extend(entries.map(|entry| entry.path().display().to_string()));
        }
    }
    assert_eq!(left, [] as [String; 0]);
    assert_eq!(locks(&place.join("hub/.git")), [] as [PathBuf; 0]);
}

/// Returns lock files anywhere in a git folder, and Burin's notes beside them.
fn locks(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let is_note = folder.ends_with(".git/burin");
        if path.is_dir() {
            found.extend(locks(&path));
        } else if is_note || path.extension().is_some_and(|end| end == "lock") {
            found.push(path);
        }
    }
    found
}

fn noted(place: &Path) -> Vec<String> {
    let text = fs::read_to_string(place.join("noted")).unwrap_or_default();
    text.lines()
        .filter(|line| line.len() == 40)
        .map(str::to_owned)
        .collect()
}

#[test]
fn lost_counter_does_not_reuse_archive_names() {
    let world = World::new();
    let pool = world.pool();
    let archive_one = |text: &str| {
        let lease = one(&pool);
        write(&lease.root.as_path().join("work.txt"), text);
        let tip = commit(lease.root.as_path(), "work");
        let id = lease.id.clone();
        drop(lease);
        pool.archive(&id).unwrap();
        tip
    };
    let first = archive_one("first\n");
    let worktrees = fs::read_dir(world.state().as_path().join("worktrees")).unwrap();
    let counts = worktrees.flatten().map(|entry| entry.path().join("next"));
    let counts: Vec<PathBuf> = counts.filter(|path| path.exists()).collect();
    assert_eq!(counts.len(), 1);
    // The state that a full disk or a power failure may leave.
    fs::write(&counts[0], "").unwrap();
    let second = archive_one("second\n");
    let archives = pool.list().unwrap().archives;
    let tips: BTreeSet<String> = archives.into_iter().map(|it| it.tip).collect();
    assert_eq!(tips, BTreeSet::from([first, second]));
}

#[test]
fn orphaned_lease_is_listed_and_taken_over() {
    let world = World::new();
    let pool = world.pool();
    let lease = one(&pool);
    write(&lease.root.as_path().join("loose.txt"), "x\n");
    let id = lease.id.clone();
    assert!(pool.orphans().is_empty());
    assert!(matches!(
        pool.take_over(&id),
        Err(worktree::Error::Held { .. })
    ));
    drop(lease);
    assert_eq!(pool.orphans(), std::slice::from_ref(&id));
    // After a restart of the machine the mounts are gone.
    super::world::unmount_below(&world.path());
    let shown = pool.status(&id).unwrap();
    assert!(shown.is_orphan());
    assert_eq!(shown.work.unwrap().touched.len(), 1);
    let taken: Lease = pool.take_over(&id).unwrap();
    assert_eq!(
        fs::read_to_string(taken.root.as_path().join("loose.txt")).unwrap(),
        "x\n"
    );
    assert!(pool.orphans().is_empty());
}

#[test]
fn a_torn_record_keeps_the_work() {
    let world = World::new();
    let pool = world.pool();
    let lease = one(&pool);
    write(&lease.root.as_path().join("loose.txt"), "x\n");
    let record = lease.root.as_path().join("../../lease.json");
    let record = record.canonicalize().unwrap();
    let id = lease.id.clone();
    drop(lease);
    fs::write(record, "{ \"version\"").unwrap();
    assert_eq!(pool.list().unwrap().unfinished, std::slice::from_ref(&id));
    let cleared = pool.gc(0).unwrap();
    assert!(
        cleared.kept.iter().any(|line| line.contains("invalid")),
        "{cleared:?}"
    );
    assert!(pool.release(&id, Discard::Nothing).is_err());
    pool.release(&id, Discard::Work).unwrap();
}
