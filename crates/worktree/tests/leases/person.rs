//! An ordinary user: overlays in their own namespace, copies without one.

use std::path::Path;
use std::process::Command;

use super::world::World;

/// The story that the child runs; without it the story tests below end at once.
const STORY: &str = "BURIN_TEST_STORY";

/// Runs one test of this binary in a child with `story` set; as uid 65534 if this process is root.
fn tell(test: &str, story: &Path) {
    let binary = std::env::current_exe().unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let copy = story.join("binary");
    std::fs::copy(binary, &copy).unwrap();
    let mut command = if is_root {
        let chown = Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(story)
            .status();
        assert!(chown.unwrap().success());
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
            .arg(&copy);
        command
    } else {
        Command::new(&copy)
    };
    let done = command
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .current_dir(story)
        .env(STORY, story)
        .env("HOME", story)
        .env("TMPDIR", story)
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(done.status.success(), "{said}");
    assert!(said.contains("told"), "{said}");
}

fn place() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn an_ordinary_user_has_overlays_in_a_namespace() {
    if !super::world::HAS_OVERLAYS {
        return test_support::skip("this build mounts no overlays");
    }
    tell("leases::person::story_of_a_namespace", place().path());
}

#[test]
fn an_ordinary_user_without_a_namespace_has_copies() {
    tell("leases::person::story_without", place().path());
}

#[test]
fn story_without() {
    if std::env::var_os(STORY).is_none() {
        return;
    }
    let world = World::new();
    let pool = world.pool();
    let support = pool.backend_support().unwrap();
    assert_ne!(support.backend, worktree::TreeBackend::Overlay);
    assert!(support.missing["overlay"].contains("mount"));
    if support.backend != worktree::TreeBackend::CloneTree {
        assert!(support.missing["clone"].contains("clone"));
    }
    let lease = super::world::one(&pool);
    assert_eq!(
        super::world::git(lease.root.as_path(), ["status", "--porcelain"]),
        ""
    );
    println!("told");
}

#[test]
fn story_of_a_namespace() {
    if std::env::var_os(STORY).is_none() {
        return;
    }
    // The threads of the test harness prevent entering a namespace, so a single-threaded child does
    // it.
    let unshared = Command::new("unshare")
        .args(["--user", "--mount", "--map-current-user", "--keep-caps"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "leases::person::story_inside", "--nocapture"])
        .env("BURIN_TEST_INSIDE", "1")
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&unshared.stdout),
        String::from_utf8_lossy(&unshared.stderr)
    );
    assert!(unshared.status.success(), "{said}");
    println!("{said}");
}

#[test]
fn story_inside() {
    if std::env::var_os("BURIN_TEST_INSIDE").is_none() {
        return;
    }
    assert_eq!(
        worktree::current_privilege(),
        worktree::MountPrivilege::Namespace
    );
    let world = World::new();
    super::world::write(&world.main_repo().join("target/built"), "x\n");
    let pool = world.pool();
    let support = pool.backend_support().unwrap();
    assert_eq!(
        support.backend,
        worktree::TreeBackend::Overlay,
        "{support:?}"
    );
    let mut lease = super::world::one(&pool);
    let root = lease.root.as_path().to_path_buf();
    assert_eq!(lease.shared[0].way, worktree::ShareMethod::Overlay);
    assert_eq!(super::world::git(&root, ["status", "--porcelain"]), "");
    super::world::write(&root.join("readme.md"), "x\n");
    std::fs::remove_dir_all(root.join("src")).unwrap();
    super::world::write(&root.join("src/other"), "x\n");
    let tip = super::world::commit(&root, "work");
    let shown = pool.status(&lease.id).unwrap().work.unwrap();
    assert_eq!((shown.tip, shown.touched.len()), (tip, 0));
    assert!(
        pool.give_back(&mut lease, worktree::Discard::Nothing)
            .is_err()
    );
    drop(lease);
    let id = worktree::LeaseId::parse("wt-1").unwrap();
    pool.archive(&id).unwrap();
    let lease = pool.restore("wt-1").unwrap();
    assert_eq!(
        super::world::read(lease.root.as_path().join("readme.md")),
        "x\n"
    );
    println!("told");
}
