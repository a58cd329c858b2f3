//! Malicious trees that try to escape from the worktree.

use super::*;
use crate::land::LandingError;
use git::merge::{EntryMode, ObjectEntry};

#[test]
fn names_and_links_that_lead_elsewhere_are_refused() {
    let hub = Hub::new(&[("a.txt", "a\n"), ("dir/b.txt", "b\n")]);
    std::fs::write(hub.folder.path().join("secret").as_path(), "s").unwrap();
    let work = hub.session("s1");
    let link = |to: &str, at: &str| {
        let place = work.root.join(at);
        std::fs::create_dir_all(place.parent().unwrap().as_path()).unwrap();
        std::os::unix::fs::symlink(to, place.as_path()).unwrap();
    };
    link("/etc/passwd", "absolute");
    link("../secret", "up");
    link("../../secret", "deep/up");
    link(".git/config", "inside");
    std::fs::remove_dir_all(work.root.join("dir").as_path()).unwrap();
    link("..", "dir");
    write(&work.root, ".GIT/config", "[core]\n");
    write(&work.root, "sub/.Git/hooks/pre-commit", "x\n");
    write(&work.root, "git~1/config", "[core]\n");
    write(&work.root, "back\\slash", "x\n");
    write(&work.root, "nested/.git/HEAD", "ref: refs/heads/x\n");
    write(&work.root, "nested/file", "x\n");
    write(&work.root, "good.txt", "good\n");
    std::process::Command::new("mkfifo")
        .arg(work.root.join("pipe").as_path())
        .status()
        .unwrap();
    let file = std::fs::File::create(work.root.join("huge").as_path()).unwrap();
    file.set_len(200 << 20).unwrap();
    let landings = hub.landings();
    let scanned = landings.read(&work).unwrap();
    let refused: Vec<String> = scanned
        .refused
        .iter()
        .map(|it| it.path.to_string())
        .collect();
    for name in [
        "absolute",
        "up",
        "deep/up",
        "inside",
        "dir",
        "git~1/config",
        "back\\slash",
        "huge",
    ] {
        assert!(
            refused.iter().any(|it| it == name),
            "{name} is let in: {refused:?}"
        );
    }
    // Git itself ignores `.GIT`: it is neither reported nor landed.
    assert!(refused.iter().any(|it| it == "nested"), "{refused:?}");
    let taken: Vec<String> = scanned.changes.keys().map(ToString::to_string).collect();
    assert_eq!(taken, ["dir/b.txt", "good.txt"]);
    landed(&{
        let id = landings.enqueue(&request(&work, scanned.changes)).unwrap();
        landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap()
    });
    assert_eq!(hub.status(), "");
    hub.assert_sound();
}

#[test]
fn landing_with_unsafe_path_is_refused() {
    let hub = Hub::new(&[("a.txt", "a\n")]);
    let work = hub.session("s1");
    let landings = hub.landings();
    let file = |text: &str| Some(ObjectEntry::of_bytes(EntryMode::Plain, text.as_bytes()));
    let link = |text: &str| Some(ObjectEntry::of_bytes(EntryMode::Link, text.as_bytes()));
    for (name, entry) in [
        (".git/config", file("x")),
        ("a/../../b", file("x")),
        ("x/.GIT./hooks/y", file("x")),
        ("l", link("/etc")),
        ("x/l", link("../../y")),
        (".gitmodules", link("a.txt")),
    ] {
        let changes = Changes::from([(path(name), entry)]);
        let refused = landings.enqueue(&request(&work, changes));
        assert!(
            matches!(refused, Err(LandingError::Refused { .. })),
            "{name}: {refused:?}"
        );
    }
    assert!(landings.list().unwrap().is_empty());
}

#[test]
fn nothing_is_written_through_a_link_in_the_checkout() {
    let hub = Hub::new(&[("a.txt", "a\n")]);
    let work = hub.session("s1");
    let outside = hub.folder.path().join("outside");
    std::fs::create_dir(outside.as_path()).unwrap();
    write(&work.root, "sub/new.txt", "x\n");
    let landings = hub.landings();
    let id = enqueue(&landings, &work);
    std::os::unix::fs::symlink(outside.as_path(), hub.root.join("sub").as_path()).unwrap();
    let tip = hub.tip();
    let outcome = landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap();
    assert!(
        matches!(outcome, LandingOutcome::Blocked { .. }),
        "{outcome:?}"
    );
    assert_eq!(hub.tip(), tip);
    assert_eq!(std::fs::read_dir(outside.as_path()).unwrap().count(), 0);
}

#[test]
fn no_hook_no_filter_and_no_monitor_runs() {
    let hub = Hub::new(&[("a.txt", "a\n")]);
    let work = hub.session("s1");
    let canary = hub.folder.path().join("canary");
    let script = format!("#!/bin/sh\ntouch {}\ncat\n", canary.as_path().display());
    for root in [&hub.root, &work.root] {
        for hook in [
            "pre-commit",
            "post-commit",
            "reference-transaction",
            "post-checkout",
            "fsmonitor-watchman",
        ] {
            let name = format!(".git/hooks/{hook}");
            write(root, &name, &script);
            std::process::Command::new("chmod")
                .args(["+x"])
                .arg(root.join(&name).as_path())
                .status()
                .unwrap();
        }
        let hook = root.join(".git/hooks/pre-commit");
        let program = hook.as_path().to_str().unwrap();
        for key in [
            "core.fsmonitor",
            "filter.x.clean",
            "filter.x.smudge",
            "merge.x.driver",
            "diff.x.textconv",
        ] {
            git(root.as_path(), &["config", key, program]);
        }
    }
    write(&work.root, ".gitattributes", "* filter=x merge=x diff=x\n");
    write(&work.root, "a.txt", "a\nb\n");
    // The session's own config does not decide where files are.
    git(work.root.as_path(), &["config", "core.worktree", "/etc"]);
    let landings = hub.landings();
    let (id, outcome) = land(&landings, &work);
    landed(&outcome);
    landings.undo(id, &UnsavedBuffers::new()).unwrap();
    assert!(!canary.as_path().exists(), "something was run");
}
