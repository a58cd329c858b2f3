//! Tests of granted paths that the policy also protects: they can be read and not changed.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::*;

/// Returns every entry below a folder with its mode, number of names, and content or target.
fn state(folder: &Path) -> BTreeMap<PathBuf, (u32, u64, Vec<u8>)> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut entries = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let facts = path.symlink_metadata().expect("an entry");
        let content = if facts.is_dir() {
            entries.extend(state(&path));
            Vec::new()
        } else if facts.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            target.as_os_str().as_bytes().to_vec()
        } else {
            fs::read(&path).expect("a file")
        };
        entries.insert(path, (facts.permissions().mode(), facts.nlink(), content));
    }
    entries
}

/// Runs a script outside of any sandbox.
fn outside(home: &Home, script: &str) {
    let mut command = std::process::Command::new("sh");
    command.current_dir(home.path()).args(["-ec", script]);
    let command = command
        .env("HOME", home.path())
        .env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(command.status().expect("a shell").success(), "{script}");
}

const COMMIT: &str = "git -c user.name=A -c user.email=a@b commit -q";

/// Returns a home whose workspace is a repository with a file `file` and a folder `sub`.
fn repository() -> Home {
    let home = Home::new();
    home.write("work/file", "mine");
    home.write("work/sub/inner", "mine");
    outside(
        &home,
        &format!("cd work && git init -q -b main . && git add . && {COMMIT} -m one"),
    );
    home
}

#[track_caller]
fn check_denied(policy: &Policy, script: &str) {
    let outcome = run(policy, script);
    let finished = &outcome.finished;
    assert_ne!(finished.exit, CommandExit::Exit(0), "{script}: {outcome:?}");
    assert!(!finished.denials.is_empty(), "{script}: {outcome:?}");
}

#[test]
fn a_protected_workspace_cannot_be_changed() {
    let home = repository();
    let mut policy = home.policy();
    policy.protected.paths.push(home.work());
    let before = state(home.work().as_path());
    let commit = format!("{COMMIT} --allow-empty -m two");
    for script in [
        "touch new",
        "touch file",
        "mkdir new",
        "rm file",
        "rm sub/inner",
        "mv file other",
        "mv sub other",
        "echo x >> file",
        "echo x > sub/new",
        "chmod 600 file",
        "chmod 700 .",
        "ln file twin",
        "ln -s file link",
        "mkfifo pipe",
        "truncate -s 0 file",
        "cp -f /bin/true file",
        &commit,
        "git config core.fsmonitor ./x",
        "git branch two",
        "git add -f . && touch .git/index",
        "git init -q sub",
        "echo x > .git/hooks/pre-commit",
        "echo x >> .git/HEAD",
        "mv .git other",
        "rm .git/config",
        "mkdir .vscode",
    ] {
        check_denied(&policy, script);
    }
    let read = "cat file sub/inner && git log --format=%s && git show HEAD:file && ls";
    let outcome = check(&policy, read, 0);
    assert_eq!(outcome.text, "minemineone\nminefile\nsub\n");
    assert_eq!(outcome.finished.denials, []);
    // The places of a command's own stay.
    let own = "echo x > /tmp/x && echo x > /dev/shm/x && echo x > /dev/null && cat /tmp/x";
    assert_eq!(check(&policy, own, 0).text, "x\n");
    assert_eq!(state(home.work().as_path()), before);
}

#[test]
fn a_protected_workspace_is_reported_as_fixed() {
    let home = Home::new();
    let mut policy = home.policy();
    policy.protected.paths.push(home.work());
    let (request, _reader) = shell(&policy.workspace, "true");
    let running = crate::start(&policy, request).expect("a command");
    assert_eq!(running.fixed(), [home.work()]);
    running.wait();
}

#[test]
fn a_protected_workspace_has_no_other_spelling() {
    let home = Home::new();
    let link = home.path().join("link");
    symlink("work", &link).expect("a link");
    symlink(".", home.path().join("here")).expect("a link");
    let spellings =
        ["work", "link", "here/work", "here/link"].map(|name| path(home.path().join(name)));
    for workspace in &spellings {
        for protected in &spellings {
            let mut policy = home.policy();
            policy.workspace = workspace.clone();
            policy.protected.paths.push(protected.clone());
            check_denied(&policy, "touch new");
        }
    }
    // A command can make a link to the folder in which it works: that changes nothing.
    symlink(".", home.path().join("work/self")).expect("a link");
    let mut policy = home.policy();
    policy.protected.paths.push(home.work().join("self"));
    check(&policy, "touch new", 0);
}

#[test]
fn a_protected_workspace_below_a_writable_folder_cannot_be_changed() {
    let home = repository();
    let mut policy = home.policy();
    policy.writable.push(path(home.path()));
    policy.protected.paths.push(home.work());
    let before = state(home.work().as_path());
    for script in [
        "touch new",
        "mv ../work ../other",
        "rm -r ../work",
        "echo x > ../work/file",
        "git config core.fsmonitor ./x",
    ] {
        check_denied(&policy, script);
    }
    check(&policy, "touch ../beside", 0);
    assert!(home.path().join("beside").exists());
    assert_eq!(state(home.work().as_path()), before);
}

#[test]
fn protected_folders_inside_and_beside_the_workspace_cannot_be_changed() {
    let home = repository();
    home.write("other/file", "mine");
    home.write("work/target/file", "mine");
    let mut policy = home.policy();
    let other = path(home.path().join("other"));
    policy.writable = vec![other.clone(), home.work().join("target")];
    policy.protected.paths.push(other.clone());
    check(&policy, "touch new target/new && cat ../other/file", 0);
    check_denied(&policy, "touch ../other/new");
    // A writable path or a repository in a read-only folder opens nothing.
    policy.writable = vec![home.work().join("target"), other];
    policy.protected.repositories.push(home.work().join(".git"));
    policy.protected.paths = vec![home.work()];
    check_denied(&policy, "touch target/new2");
    check_denied(&policy, "touch .git/new");
    check(&policy, "touch ../other/new", 0);
}

#[test]
fn a_protected_linked_worktree_cannot_be_committed_to() {
    for homes in [None, Some("/tmp")] {
        let home = match homes {
            // A private folder of every sandbox: only granted paths are visible.
            Some(folder) => Home {
                folder: tempfile::tempdir_in(folder).expect("a folder"),
            },
            None => Home::new(),
        };
        let script = format!(
            "rm -rf work && git init -q -b main hub && cd hub && {COMMIT} --allow-empty -m base && \
             git worktree add -q ../work && cd ../work && echo mine > file && git add file"
        );
        outside(&home, &script);
        let mut policy = home.policy();
        check(&policy, "git status --short && git log --oneline", 0);
        policy.protected.paths.push(home.work());
        let at = |name: &str| home.path().join(name);
        let before = [state(&at("work")), state(&at("hub"))];
        for script in [
            "touch new",
            "git -c user.name=A -c user.email=a@b commit -qm two",
            "git branch two",
            "git reset -q",
            "rm .git",
            "echo x >> $(git rev-parse --git-dir)/HEAD",
        ] {
            check_denied(&policy, script);
        }
        let read = "git --no-optional-locks status --short && git log --format=%s";
        assert_eq!(check(&policy, read, 0).text, "A  file\nbase\n");
        assert_eq!([state(&at("work")), state(&at("hub"))], before);
    }
}

#[test]
fn a_protected_repository_outside_cannot_be_committed_to() {
    let home = repository();
    outside(
        &home,
        "mv work/.git git && echo \"gitdir: $PWD/git\" > work/.git",
    );
    let mut policy = home.policy();
    let git = path(home.path().join("git"));
    policy.hidden.push(git.clone());
    policy.protected.repositories.push(git.clone());
    check(&policy, &format!("{COMMIT} --allow-empty -m two"), 0);
    policy.protected.paths.push(git.clone());
    check_denied(&policy, &format!("{COMMIT} --allow-empty -m three"));
    check_denied(&policy, "echo x >> ../git/HEAD");
    assert_eq!(
        check(&policy, "touch new && git log --format=%s", 0).text,
        "two\none\n"
    );
    // A link to it that a command could not have made.
    symlink("git", home.path().join("link")).expect("a link");
    policy.protected.paths = vec![path(home.path().join("link"))];
    check_denied(&policy, "echo x >> ../git/HEAD");
}

#[test]
fn a_protected_git_folder_is_read_only_as_a_whole() {
    let home = repository();
    home.write("work/.git/modules/lib/HEAD", "ref: refs/heads/main\n");
    home.write("work/.git/modules/lib/objects/x", "mine");
    let mut policy = home.policy();
    check(&policy, "touch .git/new .git/modules/lib/new", 0);
    policy.protected.paths.push(home.work().join(".git"));
    check_denied(&policy, "touch .git/new2");
    check_denied(&policy, "touch .git/modules/lib/new2");
    check_denied(&policy, &format!("{COMMIT} --allow-empty -m two"));
    check(&policy, "touch new", 0);
    policy.protected.paths = vec![home.work().join(".git/modules/lib")];
    check_denied(&policy, "touch .git/modules/lib/new2");
    check(&policy, &format!("{COMMIT} --allow-empty -m two"), 0);
}

#[test]
fn a_hidden_or_private_folder_shows_a_protected_workspace() {
    let home = Home::new();
    home.write("state/lease/file", "mine");
    home.write("state/secret", "secret");
    let mut policy = home.policy();
    policy.workspace = path(home.path().join("state/lease"));
    policy.hidden.push(path(home.path().join("state")));
    policy.protected.paths.push(policy.workspace.clone());
    check_denied(&policy, "touch new");
    assert_eq!(check(&policy, "cat file; ls ..", 0).text, "minelease\n");
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    policy.workspace = path(folder.path());
    policy.protected.paths = vec![path(folder.path())];
    check_denied(&policy, "touch new");
    check(&policy, "touch /tmp/new", 0);
    assert!(!folder.path().join("new").exists());
}

#[test]
fn links_in_a_protected_workspace_grant_nothing() {
    let home = Home::new();
    home.write(".ssh/id", "secret");
    symlink("../.ssh", home.path().join("work/keys")).expect("a link");
    let mut policy = home.policy();
    let keys = home.work().join("keys");
    policy.protected.paths.push(home.work());
    policy.readable.push(keys.clone());
    policy.writable.push(keys);
    let outcome = run(&policy, "cat keys/id ../.ssh/id; touch ../.ssh/new");
    assert!(!outcome.text.contains("secret"), "{}", outcome.text);
    assert!(!home.path().join(".ssh/new").exists());
}

#[test]
fn start_up_files_that_were_opened_can_be_changed() {
    let home = Home::new();
    home.write(".config/nvim/init.lua", "mine");
    let mut policy = home.policy();
    let script = "echo x > .config/nvim/init.lua";
    policy.workspace = path(home.path());
    check_denied(&policy, script);
    policy.workspace = path(home.path().join(".config/nvim"));
    check(&policy, "echo x > init.lua", 0);
    policy.workspace = home.work();
    policy.writable.push(path(home.path().join(".config/nvim")));
    check(&policy, &format!("cd .. && {script}"), 0);
}

#[test]
fn without_mounts_a_protected_workspace_cannot_be_changed() {
    let home = Home::new();
    let mut policy = home.policy();
    policy.protected.paths.push(home.work());
    policy.without.insert(SandboxLayer::Mounts);
    let outcome = run(&policy, "touch new");
    assert_ne!(outcome.finished.exit, CommandExit::Exit(0), "{outcome:?}");
    assert!(!home.path().join("work/new").exists());
}
