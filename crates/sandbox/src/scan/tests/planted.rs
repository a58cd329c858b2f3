//! Tests of entries that a command leaves in a git folder, or in programs that git runs, and that a
//! user's git would follow.

use std::path::PathBuf;

use super::*;
use crate::ScanScope;

/// Runs a shell in a folder.
fn sh(folder: &Path, script: &str) {
    let done = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@b")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@b")
        .output()
        .expect("a shell");
    assert!(done.status.success(), "{script}: {done:?}");
}

/// Creates a repository with a commit in the workspace and changes it by a script; returns the
/// armed findings as `kind path`.
fn armed(before: &str, act: &str) -> (Scene, ScanBaseline, Vec<String>) {
    let scene = scene();
    sh(
        scene.root.as_path(),
        "git init -q -b main; git add .; git commit -qm one; git gc -q",
    );
    sh(scene.root.as_path(), before);
    let baseline = ScanBaseline::of(&scene.root, &[]);
    assert_eq!(
        found(&baseline, &scene.root),
        Vec::<String>::new(),
        "{before}"
    );
    sh(scene.root.as_path(), act);
    let findings = baseline.changes();
    let armed = findings.iter().filter(|finding| finding.is_armed());
    let line = |finding: &super::super::Finding| {
        let path = finding.path.relative_to(&scene.root);
        format!(
            "{} {}",
            finding.kind(),
            path.unwrap_or(finding.path.as_path()).display()
        )
    };
    let armed = armed.map(line).collect();
    (scene, baseline, armed)
}

fn check_armed(before: &str, act: &str, expected: &[&str]) {
    let (scene, baseline, armed) = armed(before, act);
    assert_eq!(armed, expected, "{act}");
    let aside = scene.root.parent().expect("a folder").join("aside");
    let findings: Vec<_> = baseline.changes();
    let findings: Vec<_> = findings.into_iter().filter(|it| it.is_armed()).collect();
    Quarantine::isolate(&findings, &scene.root, &aside, &RealFiles).expect("put aside");
    let left = baseline.changes();
    assert!(!left.iter().any(|it| it.is_armed()), "{act}: {left:?}");
}

#[test]
fn links_and_special_files_in_git_folders_are_quarantined() {
    for name in [
        "COMMIT_EDITMSG",
        "MERGE_MSG",
        "SQUASH_MSG",
        "TAG_EDITMSG",
        "FETCH_HEAD",
        "ORIG_HEAD",
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "AUTO_MERGE",
        "gc.log",
        "gc.pid",
        "index.lock",
        "packed-refs.lock",
        "refs/heads/planted",
        "refs/stash",
        "logs/refs/stash",
        "logs/refs/heads/planted",
        "objects/pack/pack-x.keep",
        "objects/info/commit-graph",
        "objects/ab",
        "objects/maintenance.lock",
        "rr-cache",
        "worktrees",
        "modules",
        "info/sparse-checkout",
        "info/exclude.lock",
        "rebase-merge",
        "BISECT_LOG",
        "shallow.lock",
        "description.lock",
    ] {
        let make = |how: &str| {
            let act = format!(
                "mkdir -p \"$(dirname .git/{name})\"; rm -rf .git/{name}; {how} .git/{name}"
            );
            check_armed("", &act, &[&format!("irregular .git/{name}")]);
        };
        make("ln -s /nowhere/else");
    }
    for (how, name) in [
        ("ln -s ../src/main.rs", "COMMIT_EDITMSG"),
        ("ln -s ORIG_HEAD", "FETCH_HEAD"),
        ("ln -s ..", "refs/loop"),
        ("mkfifo", "COMMIT_EDITMSG"),
        ("mkfifo", "logs/refs/pipe"),
        ("mkfifo", "objects/pack/pipe"),
        (
            "python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])'",
            "MERGE_MSG",
        ),
        ("ln src/main.rs", "COMMIT_EDITMSG"),
        ("ln src/main.rs", "logs/refs/x"),
        ("ln README", "refs/heads/x"),
    ] {
        let act = format!("rm -rf .git/{name}; {how} .git/{name}");
        check_armed(
            "echo > README; mkdir -p .git/refs/heads",
            &act,
            &[&format!("irregular .git/{name}")],
        );
    }
}

#[test]
fn git_folder_parts_replaced_by_links_are_quarantined() {
    for name in [
        "HEAD",
        "index",
        "packed-refs",
        "logs",
        "logs/HEAD",
        "refs",
        "objects/pack",
        "objects/info",
    ] {
        let act = format!("mv .git/{name} .git/moved; ln -s ../moved .git/{name}");
        check_armed("", &act, &[&format!("irregular .git/{name}")]);
    }
    // A file with a meaning of its own is reported under that.
    check_armed(
        "",
        "mv .git/config c; ln -s ../c .git/config",
        &["config .git/config"],
    );
    check_armed(
        "",
        "ln -s ../../x .git/hooks/pre-commit",
        &["hook .git/hooks/pre-commit"],
    );
}

#[test]
fn files_created_by_git_are_no_findings() {
    for act in [
        "echo x > x; git add x; git commit -qm two; git tag v1; git branch b; git stash list",
        "echo x >> src/main.rs; git stash -q; git stash pop -q; git reflog expire --all; git gc -q; git fsck",
        "git checkout -qb other; echo x > x; git add x; git commit -qm x; git checkout -q main; git merge -q --no-ff -m m other",
        "git clone -q . ../clone; git fetch -q ../clone; git repack -adq; git pack-refs --all",
        "git symbolic-ref HEAD refs/heads/new; rm .git/HEAD; ln -s refs/heads/main .git/HEAD",
    ] {
        let (_scene, _control, armed) = armed("", act);
        assert_eq!(armed, Vec::<String>::new(), "{act}");
    }
}

#[test]
fn existing_files_are_no_findings() {
    // As `git new-workdir` and hard-linked copies create it.
    let before = "mkdir ../other; mv .git/rr-cache ../other 2>/dev/null || mkdir ../other/rr; ln -s ../../other/rr .git/rr-cache; \
                  ln .git/HEAD ../head; mkfifo .git/pipe";
    let (_scene, _control, armed) = armed(before, "echo x > x; git add x; git commit -qm two");
    assert_eq!(armed, Vec::<String>::new());
}

#[test]
fn a_repeated_git_folder_scan_finds_one_link() {
    let (scene, _, _) = armed("", "true");
    // Lets the clock advance beyond the last change of a folder.
    std::thread::sleep(std::time::Duration::from_millis(250));
    let baseline = ScanBaseline::of(&scene.root, &[]);
    for path in [
        ".git/objects/ab/link",
        ".git/refs/tags/link",
        ".git/logs/refs/heads/link",
    ] {
        let above = scene.root.join(path).parent().expect("a folder");
        fs::create_dir_all(&above).expect("a folder");
        symlink("/x", scene.root.join(path)).expect("a link");
        assert_eq!(
            found(&baseline, &scene.root),
            [format!("irregular {path} new")]
        );
        fs::remove_file(scene.root.join(path)).expect("removed");
    }
}

#[test]
fn the_shared_git_folder_is_scanned() {
    let scene = scene();
    let hub = scene.root.parent().expect("a folder").join("hub");
    fs::create_dir(&hub).expect("a folder");
    sh(
        hub.as_path(),
        "git init -q -b main; git commit -q --allow-empty -m x; rm -rf ../work; git worktree add -q ../work",
    );
    let baseline = ScanBaseline::of(&scene.root, &[]);
    let git = hub.join(".git");
    for path in [
        "refs/heads/x",
        "logs/refs/heads/x",
        "objects/pack/x",
        "worktrees/work/COMMIT_EDITMSG",
        "worktrees/work/logs/x",
    ] {
        let there = git.join(path);
        fs::create_dir_all(there.parent().expect("a folder")).expect("a folder");
        symlink("/x", &there).expect("a link");
        let findings = baseline.changes();
        let [finding] = &findings[..] else {
            panic!("{path}: {findings:?}");
        };
        assert!(finding.is_armed() && finding.path == there, "{finding:?}");
        let aside = scene.root.parent().expect("a folder").join("aside");
        Quarantine::isolate(&findings, &scene.root, &aside, &RealFiles).expect("put aside");
        assert_eq!(baseline.changes(), [], "{path}");
        fs::remove_dir_all(&aside).expect("removed");
    }
    // A commit in a worktree is work, and so is a hook that the user adds to the main repository.
    sh(
        scene.root.as_path(),
        "echo x > x; git add x; git commit -qm x",
    );
    sh(hub.as_path(), "echo x > .git/hooks/post-commit");
    assert_eq!(baseline.changes(), []);
}

#[test]
fn programs_run_by_git_are_restored() {
    let hooks = "mkdir hooks tools; printf '#!/bin/sh\\nexec tools/run\\n' > hooks/pre-commit; printf '#!/bin/sh\\n' > tools/run; \
                 chmod +x hooks/pre-commit tools/run; git config core.hooksPath hooks";
    check_armed(
        hooks,
        "echo evil >> hooks/pre-commit",
        &["hook hooks/pre-commit"],
    );
    check_armed(
        hooks,
        "echo evil > hooks/post-commit",
        &["hook hooks/post-commit"],
    );
    check_armed(hooks, "echo evil >> tools/run", &["program tools/run"]);
    check_armed(
        hooks,
        "rm tools/run; ln -s /x tools/run",
        &["program tools/run"],
    );
    check_armed(
        hooks,
        "echo x > tools/other; cp hooks/pre-commit copy; touch hooks/pre-commit",
        &[],
    );
    let monitor =
        "printf '#!/bin/sh\\n' > monitor; chmod +x monitor; git config core.fsmonitor ./monitor";
    check_armed(monitor, "echo evil >> monitor", &["program monitor"]);
    check_armed(
        "git config core.fsmonitor tools/later; mkdir tools",
        "echo x > tools/later",
        &["program tools/later"],
    );
    check_armed(
        "git config include.path ../team; printf '[user]\\n name = a\\n' > team",
        "printf '[core]\\n fsmonitor = ./x\\n' > team",
        &["config team"],
    );
    check_armed(
        "git config include.path ../team",
        "printf '[core]\\n fsmonitor = ./x\\n' > team",
        &["config team"],
    );
    check_armed(
        "mkdir scripts; printf '#!/bin/sh\\n' > scripts/check; ln -s ../../scripts/check .git/hooks/pre-commit",
        "echo evil >> scripts/check",
        &["program scripts/check"],
    );
    let husky = "mkdir -p .husky/_; echo 'true' > .husky/pre-commit; echo '. ./h' > .husky/_/pre-commit; git config core.hooksPath .husky/_";
    check_armed(
        husky,
        "echo evil >> .husky/pre-commit",
        &["hook .husky/pre-commit"],
    );
    check_armed(husky, "echo '. ./h' > .husky/_/pre-commit", &[]);
}

#[test]
fn a_restored_program_is_executable_again() {
    let before = "printf '#!/bin/sh\\n' > monitor; chmod 751 monitor; ln -s monitor other; git config core.fsmonitor ./other";
    let (scene, baseline, armed) =
        armed(before, "rm other; echo evil > other; echo evil > monitor");
    assert_eq!(armed, ["program monitor", "program other"]);
    let aside = scene.root.parent().expect("a folder").join("aside");
    Quarantine::isolate(&baseline.changes(), &scene.root, &aside, &RealFiles).expect("put aside");
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(scene.root.join("monitor")).expect("a file");
    assert_eq!(mode.permissions().mode() & 0o777, 0o751);
    let target = fs::read_link(scene.root.join("other")).expect("a link");
    assert_eq!(target, PathBuf::from("monitor"));
}

#[test]
fn targets_of_protected_links_are_protected() {
    let linked = "mkdir -p sub/.vscode shared; echo '{}' > shared/tasks.json; ln -s ../../shared/tasks.json sub/.vscode/tasks.json";
    check_armed(
        linked,
        "echo evil > shared/tasks.json",
        &["editor shared/tasks.json"],
    );
    check_armed(
        linked,
        "rm sub/.vscode/tasks.json; echo > sub/.vscode/tasks.json",
        &["editor sub/.vscode/tasks.json"],
    );
    let folder = "mkdir -p sub shared/editor; echo '{}' > shared/editor/tasks.json; ln -s ../shared/editor sub/.vscode";
    check_armed(
        folder,
        "echo evil > shared/editor/tasks.json",
        &["editor shared/editor/tasks.json"],
    );
    check_armed(
        folder,
        "echo evil > shared/editor/launch.json",
        &["editor shared/editor/launch.json"],
    );
    let dangling = "mkdir sub; ln -s ../shared sub/.vscode";
    check_armed(
        dangling,
        "mkdir shared; echo evil > shared/tasks.json",
        &["editor shared/tasks.json"],
    );
    let chain = "mkdir sub; ln -s ../one sub/.envrc; ln -s two one; echo x > two";
    check_armed(
        chain,
        "rm one; ln -s three one; echo evil > three",
        &["shell one", "shell three"],
    );
    check_armed(chain, "echo evil > two", &["shell two"]);
}

#[test]
fn every_change_of_a_protected_name_is_reported() {
    for act in [
        "mkdir .claude",
        "mkdir -p sub/.cursor/empty/folders",
        "mkdir .vscode; mkdir x; mv .vscode y; mv x .vscode",
        "ln -s /nowhere .zed",
        "touch .envrc",
        "mkfifo .envrc",
        "mkdir -p deep/er/.CLAUDE",
    ] {
        let (_scene, baseline, _) = armed("", act);
        assert_eq!(
            baseline.changes().len(),
            1,
            "{act}: {:?}",
            baseline.changes()
        );
    }
    let (_scene, baseline, _) = armed(
        "mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json",
        "rm -r sub/.vscode",
    );
    assert_eq!(baseline.changes().len(), 1, "{:?}", baseline.changes());
    let (_scene, baseline, _) = armed(
        "mkdir -p sub/.vscode; echo x > sub/.vscode/a",
        "mv sub/.vscode sub/x; mkdir sub/.vscode; echo y > sub/.vscode/a",
    );
    assert_eq!(baseline.changes().len(), 1, "{:?}", baseline.changes());
}

#[test]
fn every_root_is_scanned() {
    let scene = scene();
    let other = scene.root.parent().expect("a folder").join("other");
    fs::create_dir(&other).expect("a folder");
    sh(other.as_path(), "git init -q; mkdir x");
    let baseline = ScanBaseline::for_scope(&ScanScope {
        roots: vec![scene.root.clone(), other.clone(), other.join("x")],
        git_folders: Vec::new(),
        home: None,
    });
    put(&other, ".git/hooks/pre-commit", "x");
    put(&other, ".git/config", "[core]\n fsmonitor = x\n");
    put(&other, "x/.vscode/tasks.json", "x");
    symlink("/x", other.join(".git/COMMIT_EDITMSG")).expect("a link");
    assert_eq!(
        found(&baseline, &other),
        [
            "config .git/config changed",
            "editor x/.vscode/tasks.json new",
            "hook .git/hooks/pre-commit new",
            "irregular .git/COMMIT_EDITMSG new",
        ]
    );
    let aside = scene.root.parent().expect("a folder").join("aside");
    Quarantine::isolate(&baseline.changes(), &scene.root, &aside, &RealFiles).expect("put aside");
    assert_eq!(baseline.changes(), []);
}
