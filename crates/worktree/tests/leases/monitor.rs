//! `git status` gives the same result with the file system monitor as without it.
//!
//! Runs as root, and again as an ordinary user in a namespace, where the kernel stores its marks elsewhere.
//! `BURIN_SEEDS` sets the number of rounds of random work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use worktree::{MountPrivilege, TreeBackend, WorktreePool};

use super::world::{World, git, monitor, one, try_git, write};

/// Set in a test that runs in its own namespace.
const INSIDE: &str = "BURIN_TEST_INSIDE";

/// A world whose leases are overlays; `None` if overlays cannot be mounted.
fn world() -> Option<World> {
    if worktree::current_privilege() == MountPrivilege::Plain {
        test_support::skip("overlays cannot be mounted here");
        return None;
    }
    let said = git(Path::new("/"), ["version"]);
    let mut numbers = said.trim().trim_start_matches("git version ").split('.');
    let mut number = || numbers.next().and_then(|it| it.parse::<u32>().ok());
    if (number(), number()) < (Some(2), Some(37)) {
        test_support::skip(format_args!(
            "{} takes no folders from a monitor",
            said.trim()
        ));
        return None;
    }
    let mut world = World::new().by(TreeBackend::Overlay);
    world.settings.monitor = Some(monitor());
    Some(world)
}

/// Runs the named test again in a user namespace, where root has no real privileges.
fn also_in_a_namespace(test: &str) {
    if std::env::var_os(INSIDE).is_some() || worktree::current_privilege() != MountPrivilege::Root {
        return;
    }
    if !can_be_called_root() {
        return test_support::skip_part("user namespaces cannot be made here");
    }
    let done = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            &format!("leases::monitor::{test}"),
        ])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    test_support::relay_skips(&said);
    assert!(done.status.success(), "in a namespace: {said}");
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(told.contains("1 passed"), "in a namespace: {told}");
}

fn can_be_called_root() -> bool {
    let mut unshare = Command::new("unshare");
    let tried = unshare.args(["--user", "--map-root-user", "--mount", "true"]);
    tried.output().is_ok_and(|done| done.status.success())
}

/// The status with the monitor, with a monitor that ignores the kernel's marks, and without one.
fn said(root: &Path, dice: &mut StdRng) -> (String, String) {
    let words = ["status", "--porcelain"];
    let ways = if can_be_called_root() { 3 } else { 2 };
    let told = match dice.random_range(0..ways) {
        0 => git(root, words),
        1 => git(root, ["--no-optional-locks", words[0], words[1]]),
        // Root of a user namespace cannot read the attributes that real root wrote.
        _ => {
            let done = Command::new("unshare")
                .args(["--user", "--map-root-user", "git"])
                .args(words)
                .current_dir(root)
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .output()
                .unwrap();
            assert!(done.stderr.is_empty(), "{:?}", done.stderr);
            String::from_utf8(done.stdout).unwrap()
        }
    };
    let snapshot = [
        "--no-optional-locks",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.untrackedCache=false",
        "status",
        "--porcelain",
    ];
    (told, git(root, snapshot))
}

#[test]
fn a_fresh_lease_knows_its_files() {
    let Some(world) = world() else { return };
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    let listed = git(root, ["ls-files", "-f"]);
    assert!(listed.lines().count() > 5, "{listed}");
    assert!(
        listed.lines().all(|line| line.starts_with("h ")),
        "git has noted all files: {listed}"
    );
    assert_eq!(git(root, ["status", "--porcelain"]), "");
    let layer = lease.layer().unwrap();
    let own = layer.as_path().parent().unwrap().join("git/index");
    assert!(!own.exists(), "and had nothing to write");
    assert_eq!(git(root, ["fsck"]), "");
    also_in_a_namespace("a_fresh_lease_knows_its_files");
}

/// Runs `before` in a new lease, lets Git update its index, runs `after`, and compares the status.
fn check(before: &str, after: &str, expected: &str) {
    let Some(world) = world() else { return };
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    let shell = |script: &str| {
        let mut shell = Command::new("sh");
        let done = shell
            .args(["-ec", script])
            .current_dir(root)
            .output()
            .unwrap();
        assert!(done.status.success(), "{script}: {done:?}");
    };
    shell(before);
    for _ in 0..2 {
        // Git rewrites the index with its current knowledge.
        git(root, ["status", "--porcelain"]);
        let write = ["update-index", "-q", "--refresh", "--force-write-index"];
        // It fails if a file differs from the index.
        let _said = try_git(root, write);
    }
    shell(after);
    assert_eq!(
        git(root, ["status", "--porcelain"]),
        expected,
        "{before}; {after}"
    );
}

#[test]
fn removed_files_are_not_reported_as_present() {
    if world().is_none() {
        return;
    }
    check("echo a > new; git add new", "rm new", "AD new\n");
    check(
        "echo a > src/new; git add src/new",
        "rm src/new",
        "AD src/new\n",
    );
    check(
        "mkdir d; echo a > d/new; git add d",
        "rm -r d",
        "AD d/new\n",
    );
    check("echo a > new", "rm new", "");
    check("echo a > src/new", "rm src/new", "");
    check("mkdir -p d/e; echo a > d/e/new", "rm -r d", "");
    also_in_a_namespace("removed_files_are_not_reported_as_present");
}

#[test]
fn replaced_folders_are_examined() {
    if world().is_none() {
        return;
    }
    check("rm readme.md", "git checkout readme.md", "");
    let add = "mkdir -p d/e; echo a > d/a; echo a > d/e/a; git add d";
    check(add, "echo b > d/b", "A  d/a\nA  d/e/a\n?? d/b\n");
    check(add, "echo b > d/e/b", "A  d/a\nA  d/e/a\n?? d/e/b\n");
    check("true", "rm -r src/deep", " D src/deep/er/lib.rs\n");
    check(
        "true",
        "rm -r src/deep; mkdir src/deep; echo a > src/deep/a",
        " D src/deep/er/lib.rs\n?? src/deep/a\n",
    );
    check(
        "mkdir src/deep/x; echo a > src/deep/x/a",
        "echo b > src/deep/b; rm -r src/deep/x",
        "?? src/deep/b\n",
    );
    check(
        "mv src/deep src/low",
        "mv src/low src/deep; echo a > src/deep/er/a",
        "?? src/deep/er/a\n",
    );
    check(
        "rm -r 'with space'; mv src/deep 'with space'",
        "echo a > 'with space/er/a'; git add .; rm 'with space/er/a'",
        "AD \"with space/er/a\"\nR  src/deep/er/lib.rs -> \"with space/er/lib.rs\"\n\
         D  \"with space/\\303\\274.txt\"\n",
    );
    also_in_a_namespace("replaced_folders_are_examined");
}

#[test]
fn git_status_is_the_same_with_and_without_the_monitor() {
    let Some(world) = world() else { return };
    let seeds = std::env::var("BURIN_SEEDS").ok();
    for seed in 0..seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(3) {
        let pool = world.pool();
        let mut lease = one(&pool);
        let mut dice = StdRng::seed_from_u64(seed);
        let mut done = Vec::new();
        for step in 0..60 {
            let root = lease.root.as_path().to_path_buf();
            done.push(act(&root, &mut dice));
            if dice.random_range(0..3) > 0 {
                let (told, looked) = said(&root, &mut dice);
                assert_eq!(told, looked, "seed {seed}, step {step}, after {done:#?}");
            }
            if step == 30 {
                lease = taken_again(&pool, lease);
            }
        }
        let root = lease.root.as_path();
        git(root, ["add", "--all"]);
        git(
            root,
            ["commit", "--quiet", "--allow-empty", "--message=all"],
        );
        assert_eq!(git(root, ["status", "--porcelain"]), "");
    }
    also_in_a_namespace("git_status_is_the_same_with_and_without_the_monitor");
}

/// Unmounts the lease and mounts it again.
fn taken_again(pool: &WorktreePool, lease: worktree::Lease) -> worktree::Lease {
    let id = lease.id.clone();
    drop(lease);
    pool.take_over(&id).unwrap()
}

/// Makes a random change, as an agent would, and describes it.
fn act(root: &Path, dice: &mut StdRng) -> String {
    let names = [
        "readme.md",
        "src",
        "src/main.rs",
        "src/deep",
        "src/deep/er",
        "src/deep/er/lib.rs",
    ];
    let more = [
        "with space",
        "new",
        "new/a",
        "new/b/c",
        "src/new",
        "src/new/x",
        "other",
        "target",
    ];
    let all: Vec<&str> = names.into_iter().chain(more).collect();
    let one = all.choose(dice).unwrap();
    let other = all.choose(dice).unwrap();
    let (path, place) = (root.join(one), root.join(other));
    match dice.random_range(0..13) {
        0..4 => {
            let file = if path.is_dir() {
                path.join("file")
            } else {
                path
            };
            // An existing file stays.
            let made = fs::create_dir_all(file.parent().unwrap());
            let text = format!("{}\n", dice.random_range(0..3));
            let written = made.and_then(|()| fs::write(&file, text));
            format!("write {}: {:?}", file.display(), written.is_ok())
        }
        4 | 5 => format!("remove {one}: {}", remove(&path)),
        6 | 7 => {
            let moved = Command::new("mv").arg("-T").arg(&path).arg(&place).output();
            format!("move {one} to {other}: {}", moved.unwrap().status.success())
        }
        8 => format!("make {one}: {:?}", fs::create_dir_all(&path).is_ok()),
        9 => format!("add {one}: {:?}", try_git(root, ["add", one]).is_ok()),
        10 => {
            let done = try_git(root, ["checkout", "--", one]);
            format!("check out {one}: {:?}", done.is_ok())
        }
        11 => {
            let done = try_git(root, ["stash", "--include-untracked"]);
            let back = dice.random_bool(0.5) && try_git(root, ["stash", "pop"]).is_ok();
            format!("stash: {:?}, back: {back}", done.is_ok())
        }
        _ => match dice.random_range(0..3) {
            0 => format!(
                "commit: {:?}",
                try_git(root, ["commit", "-am", "some"]).is_ok()
            ),
            1 => format!("reset: {:?}", try_git(root, ["reset", "--quiet"]).is_ok()),
            _ => format!("clean: {:?}", try_git(root, ["clean", "-fdx"]).is_ok()),
        },
    }
}

fn remove(path: &PathBuf) -> bool {
    if path.is_dir() {
        fs::remove_dir_all(path).is_ok()
    } else {
        fs::remove_file(path).is_ok()
    }
}

#[test]
fn mounts_of_a_killed_preparation_are_removed() {
    let Some(world) = world() else { return };
    let pool = world.pool();
    drop(one(&pool));
    let state = world.state();
    let mut repositories = fs::read_dir(state.as_path().join("worktrees")).unwrap();
    let is_repository = |entry: &fs::DirEntry| entry.path().join("leases").is_dir();
    let repository = repositories.by_ref().flatten().find(is_repository).unwrap();
    // No process has this id.
    let left = repository.path().join(".probe-4194999.index");
    write(&left.join("upper/tree/a"), "a");
    let own = repository
        .path()
        .join(format!(".probe-{}.index", std::process::id()));
    write(&own.join("upper/tree/a"), "a");
    pool.gc(u64::MAX).unwrap();
    assert!(!left.exists(), "its program is gone");
    assert!(own.exists(), "its program lives");
}

#[test]
fn a_program_that_is_gone_is_passed_over() {
    let Some(mut world) = world() else { return };
    let gone = world.path().join("gone");
    fs::copy(world.settings.monitor.clone().unwrap(), &gone).unwrap();
    world.settings.monitor = Some(gone.clone());
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    fs::remove_file(&gone).unwrap();
    write(&root.join("src/main.rs"), "changed\n");
    write(&root.join("new.txt"), "new\n");
    let done = Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(root)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        " M src/main.rs\n?? new.txt\n"
    );
}
