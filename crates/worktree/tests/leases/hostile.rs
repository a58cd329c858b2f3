//! Malicious changes of an agent to its tree and git folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use worktree::{Discard, Error};

use super::world::{World, git, one, write};

#[test]
fn a_config_that_is_not_ours_is_refused() {
    let world = World::new();
    let pool = world.pool();
    let mut lease = one(&pool);
    let canary = world.path().join("canary");
    let config = lease.git_dir.as_path().join("config");
    let text = fs::read_to_string(&config).unwrap();
    write(
        &config,
        &format!("{text}[core]\n\tfsmonitor = touch {}\n", canary.display()),
    );
    let shown = pool.status(&lease.id).unwrap();
    assert!(shown.work.unwrap_err().to_string().contains("config"));
    assert!(matches!(
        pool.give_back(&mut lease, Discard::Nothing),
        Err(Error::Corrupt { .. })
    ));
    let id = lease.id.clone();
    drop(lease);
    assert!(pool.archive(&id).is_err());
    pool.gc(0).unwrap();
    assert!(!canary.exists());
    pool.release(&id, Discard::Work).unwrap();
}

#[test]
fn planted_files_are_not_run_or_followed() {
    let world = World::new();
    let canary = world.path().join("canary");
    let run = format!("#!/bin/sh\ntouch {}\n", canary.display());
    let plant = |what: &str| {
        let pool = world.pool();
        let lease = one(&pool);
        let (root, git_dir) = (lease.root.as_path(), lease.git_dir.as_path());
        match what {
            "a hook" => {
                for hook in [
                    "post-checkout",
                    "reference-transaction",
                    "pre-commit",
                    "post-index-change",
                ] {
                    write(&git_dir.join("hooks").join(hook), &run);
                    super::world::make_executable(&git_dir.join("hooks").join(hook));
                }
                write(&root.join("readme.md"), "x\n");
            }
            "a filter" => write(
                &root.join(".gitattributes"),
                "* filter=evil diff=evil merge=evil\n",
            ),
            "a pipe for an index" => {
                fs::remove_file(git_dir.join("index")).unwrap();
                assert!(
                    Command::new("mkfifo")
                        .arg(git_dir.join("index"))
                        .status()
                        .unwrap()
                        .success()
                );
            }
            "a pipe for a HEAD" => {
                fs::remove_file(git_dir.join("HEAD")).unwrap();
                assert!(
                    Command::new("mkfifo")
                        .arg(git_dir.join("HEAD"))
                        .status()
                        .unwrap()
                        .success()
                );
            }
            "a pipe in the tree" => {
                assert!(
                    Command::new("mkfifo")
                        .arg(root.join("pipe"))
                        .status()
                        .unwrap()
                        .success()
                );
                fs::remove_file(root.join("readme.md")).unwrap();
                assert!(
                    Command::new("mkfifo")
                        .arg(root.join("readme.md"))
                        .status()
                        .unwrap()
                        .success()
                );
            }
            "a link for objects" => {
                fs::remove_dir_all(git_dir.join("objects")).unwrap();
                symlink("/", git_dir.join("objects")).unwrap();
            }
            "a link for refs" => {
                fs::remove_dir_all(git_dir.join("refs")).unwrap();
                symlink("/etc", git_dir.join("refs")).unwrap();
            }
            "a HEAD that climbs" => write(
                &git_dir.join("HEAD"),
                "ref: refs/../../../../../../etc/passwd\n",
            ),
            "a torn index" => write(&git_dir.join("index"), "DIRC not an index"),
            "a torn HEAD" => write(&git_dir.join("HEAD"), "nonsense\n"),
            "a common folder" => write(&git_dir.join("commondir"), "/\n"),
            "a link to the root" => symlink("/", root.join("everything")).unwrap(),
            other => panic!("{other}"),
        }
        let shown = pool.status(&lease.id).unwrap();
        if let Err(error) = &shown.work {
            let sentence = error.to_string();
            assert!(
                sentence.contains(lease.id.as_str()) || sentence.contains("git cannot"),
                "{what}: {sentence}"
            );
        }
        drop(shown);
        let id = lease.id.clone();
        drop(lease);
        // Whether it succeeds or fails, it neither hangs nor runs a program.
        pool.gc(0).unwrap();
        if pool.status(&id).is_ok() {
            pool.release(&id, Discard::Work).unwrap();
        }
        assert!(!canary.exists(), "{what}");
        assert!(world.main_repo().join("readme.md").exists(), "{what}");
    };
    for what in [
        "a hook",
        "a filter",
        "a pipe for an index",
        "a pipe for a HEAD",
        "a pipe in the tree",
        "a link for objects",
        "a link for refs",
        "a HEAD that climbs",
        "a torn index",
        "a torn HEAD",
        "a common folder",
        "a link to the root",
    ] {
        plant(what);
    }
}

#[test]
fn changes_cannot_be_hidden_by_marks_in_the_index() {
    let world = World::new();
    let pool = world.pool();
    let mut lease = one(&pool);
    let root = lease.root.as_path();
    git(root, ["update-index", "--assume-unchanged", "readme.md"]);
    git(root, ["update-index", "--skip-worktree", "run.sh"]);
    write(&root.join("readme.md"), "# Changed\n");
    write(&root.join("run.sh"), "changed\n");
    assert_eq!(git(root, ["status", "--porcelain"]), "");
    let touched = pool.status(&lease.id).unwrap().work.unwrap().touched;
    let names: Vec<_> = touched
        .iter()
        .map(|one| String::from_utf8_lossy(&one.path))
        .collect();
    assert_eq!(names, ["readme.md", "run.sh"]);
    assert!(pool.give_back(&mut lease, Discard::Nothing).is_err());
}

#[test]
fn objects_that_lie_about_their_name_are_not_taken_over() {
    let world = World::new();
    let pool = world.pool();
    let lease = one(&pool);
    let root = lease.root.as_path();
    write(&root.join("readme.md"), "# One more\n");
    git(root, ["add", "--all"]);
    git(root, ["commit", "--quiet", "--message=x"]);
    // One object is replaced by the content of another.
    let id = |what: &str| git(root, ["rev-parse", what]).trim().to_owned();
    let path = |id: &str| {
        lease
            .git_dir
            .as_path()
            .join("objects")
            .join(&id[..2])
            .join(&id[2..])
    };
    let (blob, tree) = (id("HEAD:readme.md"), id("HEAD^{tree}"));
    fs::remove_file(path(&blob)).unwrap();
    fs::copy(path(&tree), path(&blob)).unwrap();
    let lease_id = lease.id.clone();
    drop(lease);
    assert!(pool.archive(&lease_id).is_err());
    assert!(pool.list().unwrap().archives.is_empty());
    assert!(pool.status(&lease_id).is_ok(), "it is still there");
}
