//! Tests of everything that a command cannot touch.

use super::*;

#[test]
fn a_command_works_in_its_workspace() {
    let home = Home::new();
    let outcome = check(&home.policy(), "echo hello > made && cat made && pwd", 0);
    assert_eq!(outcome.text, format!("hello\n{}\n", home.work()));
    assert_eq!(
        fs::read_to_string(home.path().join("work/made")).expect("made"),
        "hello\n"
    );
    assert_eq!(outcome.finished.denials, []);
}

#[test]
fn writes_outside_are_denied_and_recorded() {
    let home = Home::new();
    home.write("notes", "mine");
    let outcome = run(
        &home.policy(),
        "echo x > ../notes; mkdir ../new; rm ../notes; echo x >> /etc/passwd",
    );
    assert_ne!(outcome.finished.exit, CommandExit::Exit(0));
    assert_eq!(
        fs::read_to_string(home.path().join("notes")).expect("notes"),
        "mine"
    );
    assert!(!home.path().join("new").exists());
    let denied = |name: &str, access| DeniedAccess::Path {
        path: path(home.path().join(name)),
        access,
    };
    let denials = &outcome.finished.denials;
    assert!(
        denials.contains(&denied("notes", PathAccess::Write)),
        "{denials:?}"
    );
    assert!(
        denials.contains(&denied("new", PathAccess::Create)),
        "{denials:?}"
    );
    assert!(
        denials.contains(&denied("notes", PathAccess::Remove)),
        "{denials:?}"
    );
}

#[test]
fn secrets_look_empty() {
    let home = Home::new();
    home.write(".ssh/id", "secret");
    home.write(".netrc", "secret");
    let script = "cat ../.netrc; ls -A ../.ssh; cat ../.ssh/id; echo x > ../.ssh/id";
    let outcome = run(&home.policy(), script);
    assert!(!outcome.text.contains("secret"), "{}", outcome.text);
    assert_ne!(outcome.finished.exit, CommandExit::Exit(0));
}

#[test]
fn caches_appear_writable() {
    let home = Home::new();
    home.write(".cache/tool/known", "warm");
    let script =
        "cat ../.cache/tool/known && echo new > ../.cache/tool/known && cat ../.cache/tool/known";
    let outcome = check(&home.policy(), script, 0);
    assert_eq!(outcome.text, "warmnew\n");
    let cache = home.path().join(".cache/tool/known");
    assert_eq!(fs::read_to_string(cache).expect("a cache"), "warm");
}

#[test]
fn a_workspace_in_a_private_folder_is_visible() {
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    let beside = tempfile::tempdir_in("/tmp").expect("a folder");
    let mut policy = Home::new().policy();
    policy.workspace = path(folder.path());
    let script = format!(
        "echo x > made; ls {}; echo x > {}/y",
        beside.path().display(),
        beside.path().display()
    );
    let outcome = run(&policy, &script);
    assert_ne!(outcome.finished.exit, CommandExit::Exit(0));
    assert!(folder.path().join("made").exists());
    assert!(!beside.path().join("y").exists());
}

#[test]
fn a_home_in_a_private_folder_shows_only_the_workspace() {
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["state/demo", "state/other", ".ssh", ".cache"] {
        fs::create_dir_all(at(name)).expect("folders");
        fs::write(at(name).join("secret"), "secret").expect("a file");
    }
    let mut policy = Home::new().policy();
    policy.workspace = path(at("state/demo"));
    policy.hidden.extend([path(at("state")), path(at(".ssh"))]);
    policy.scratch.push(path(at(".cache")));
    let script = "cat ../other/secret ../../.ssh/secret ../../.cache/secret; ls ..; echo x > made";
    let outcome = run(&policy, script);
    assert_eq!(outcome.finished.exit, CommandExit::Exit(0), "{outcome:?}");
    assert!(outcome.text.ends_with("\ndemo\n"), "{}", outcome.text);
    assert!(!outcome.text.contains("secret\n"), "{}", outcome.text);
    assert!(at("state/demo/made").exists());
}

#[test]
fn a_workspace_behind_a_link_is_the_folder_itself() {
    let home = Home::new();
    let link = home.path().join("link");
    std::os::unix::fs::symlink("work", &link).expect("a link");
    let mut policy = home.policy();
    policy.workspace = path(&link);
    check(&policy, "echo x > made", 0);
    assert!(home.path().join("work/made").exists());
}

#[test]
fn the_network_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let home = Home::new();
    let script = format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let outcome = run(&home.policy(), &script);
    assert_ne!(outcome.finished.exit, CommandExit::Exit(0));
    let outcome = run(
        &home.policy(),
        "exec bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'",
    );
    let denied = DeniedAccess::Host {
        host: "192.0.2.1".to_owned(),
        port: 80,
    };
    assert!(outcome.finished.denials.contains(&denied), "{outcome:?}");
}

#[test]
fn only_sockets_created_inside_can_be_connected_to() {
    let home = Home::new();
    let _listener =
        std::os::unix::net::UnixListener::bind(home.path().join("socket")).expect("a socket");
    let connect = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])";
    let script = format!("python3 -c '{connect}' ../socket");
    let outcome = run(&home.policy(), &script);
    assert_ne!(outcome.finished.exit, CommandExit::Exit(0));
    let denied = DeniedAccess::Path {
        path: path(home.path().join("socket")),
        access: PathAccess::Connect,
    };
    assert!(outcome.finished.denials.contains(&denied), "{outcome:?}");
    let both = "import socket; l=socket.socket(socket.AF_UNIX); l.bind(\"/tmp/s\"); l.listen(); \
                s=socket.socket(socket.AF_UNIX); s.connect(\"/tmp/s\"); s.send(b\"hi\"); print(l.accept()[0].recv(2))";
    let outcome = check(&home.policy(), &format!("python3 -c '{both}'"), 0);
    assert_eq!(outcome.text, "b'hi'\n");
}

#[test]
fn protected_names_cannot_be_changed_or_created() {
    let home = Home::new();
    home.write("work/.envrc", "mine");
    home.write("work/deep/file", "x");
    for script in [
        "echo x > .envrc",
        "rm .envrc",
        "mv .envrc other",
        "mkdir .vscode",
        "mkdir .VSCODE",
        "mkdir made && mv made .vscode",
        "echo x > .git",
        "mkdir made2 && mv made2 .git",
        "ln -s deep .git",
        "ln -s .git link && echo x > link",
        "mkdir /proc/self/cwd/.git",
    ] {
        let outcome = run(&home.policy(), script);
        assert_ne!(outcome.finished.exit, CommandExit::Exit(0), "{script}");
        assert!(!outcome.finished.denials.is_empty(), "{script}");
    }
    assert_eq!(
        fs::read_to_string(home.path().join("work/.envrc")).expect("kept"),
        "mine"
    );
    for name in [".git", ".vscode", ".VSCODE"] {
        assert!(
            fs::symlink_metadata(home.path().join("work").join(name)).is_err(),
            "{name}"
        );
    }
}

#[test]
fn a_protected_link_above_the_workspace_unprotects_nothing() {
    let home = Home::new();
    home.write("work/.vscode/tasks.json", "mine");
    home.write("work/keep/file", "mine");
    let up = home.path().join("work/.vscode/up");
    std::os::unix::fs::symlink("../..", up).expect("a link");
    let mut policy = home.policy();
    // Looked up after the protected names.
    policy.protected.paths.push(home.work().join("keep/file"));
    for script in ["echo x > keep/file", "mv keep kept", "rm .vscode/up"] {
        let outcome = run(&policy, script);
        assert_ne!(outcome.finished.exit, CommandExit::Exit(0), "{script}");
    }
    let (request, _reader) = shell(&policy.workspace, "echo x > made");
    let running = crate::start(&policy, request).expect("a command");
    let fixed = running.fixed();
    assert_eq!(running.wait().exit, CommandExit::Exit(0));
    assert!(fixed.iter().all(|path| path.is_within(&policy.workspace)));
}

#[test]
fn git_can_commit_but_not_be_configured() {
    let home = Home::new();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .current_dir(home.path().join("work"))
            .args(arguments);
        command.env("HOME", home.path());
        let output = command.output().expect("git");
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q", "-b", "main", "."]);
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@example.org"]);
    let policy = home.policy();
    check(
        &policy,
        "echo x > file && git add . && git commit -qm one && git status --short",
        0,
    );
    check(
        &policy,
        "git checkout -qb other && echo y > file && git commit -qam two && git log --oneline",
        0,
    );
    for script in [
        "git config core.fsmonitor ./x",
        "echo x > .git/config",
        "mv .git .git2",
        "mv .git/hooks .git/h2",
        "echo x > .git/hooks/pre-commit",
        "echo . > .git/commondir",
        "echo x > .git/config.worktree",
        "cp file .git/info/attributes",
        "mv .git/info .git/i2",
        "mv .git/objects .git/o2",
        "echo x > .git/objects/info/alternates",
        "mkdir .git/worktrees",
    ] {
        let outcome = run(&policy, script);
        assert_ne!(outcome.finished.exit, CommandExit::Exit(0), "{script}");
        assert!(!outcome.finished.denials.is_empty(), "{script}");
    }
}

#[test]
fn dangerous_system_calls_are_denied() {
    let home = Home::new();
    let outcome = run(&home.policy(), "unshare -Ur true");
    assert_ne!(outcome.finished.exit, CommandExit::Exit(0));
    let denied = DeniedAccess::Call { name: "unshare" };
    assert!(outcome.finished.denials.contains(&denied), "{outcome:?}");
}

#[test]
fn the_environment_comes_from_the_policy() {
    let home = Home::new();
    let outcome = check(&home.policy(), "cat /proc/1/environ; env", 0);
    assert!(!outcome.text.contains("CARGO"), "{}", outcome.text);
    assert!(outcome.text.contains("denied"), "{}", outcome.text);
}

#[test]
fn a_missing_layer_refuses_the_command() {
    let home = Home::new();
    let mut policy = home.policy();
    policy.limits.open_files = Some(u64::MAX >> 1);
    let (request, _reader) = shell(&policy.workspace, "true");
    let refused = crate::start(&policy, request).expect_err("more files than there can be");
    assert_eq!(refused.layer(), Some(SandboxLayer::Limits));
    assert!(
        refused.to_string().contains("--without limits"),
        "{refused}"
    );
    policy.without.insert(SandboxLayer::Limits);
    let outcome = check(&policy, "true", 0);
    assert!(outcome.finished.without.contains(&SandboxLayer::Limits));
}

#[test]
fn an_unexecutable_program_is_refused() {
    let home = Home::new();
    let (mut request, _reader) = shell(&home.work(), "true");
    request.program = "no-such-program".into();
    let refused = crate::start(&home.policy(), request).expect_err("no program");
    assert_eq!(refused.exit_code(), 127);
    let (mut request, _reader) = shell(&home.work(), "true");
    request.folder = path("/nowhere");
    let refused = crate::start(&home.policy(), request).expect_err("no folder");
    assert!(matches!(refused, SandboxError::Folder { .. }), "{refused}");
    let mut policy = home.policy();
    policy.workspace = path("/");
    let (request, _reader) = shell(&home.work(), "true");
    let refused = crate::start(&policy, request).expect_err("the whole disk");
    assert!(matches!(refused, SandboxError::Policy { .. }), "{refused}");
}

#[test]
fn every_layer_can_be_omitted() {
    let home = Home::new();
    for layer in SandboxLayer::ALL {
        let mut policy = home.policy();
        policy.without.insert(layer);
        let outcome = check(&policy, "echo x > made", 0);
        assert_eq!(outcome.finished.without, policy.without);
    }
}

/// The same for an ordinary user: this test program runs itself again as a user who owns nothing.
#[test]
fn an_ordinary_user_is_confined_too() {
    const NOBODY: u32 = 65534;
    if !rustix::process::geteuid().is_root() {
        return test_support::skip("only root can start a program as another user");
    }
    let folder = tempfile::tempdir_in("/var").expect("a folder");
    let program = folder.path().join("tests");
    // `cp` writes the copy: if this process held it open for writing while another test forked, the
    // copy could not be executed (`ETXTBSY`).
    let copied = std::process::Command::new("cp")
        .arg(std::env::current_exe().expect("a program"))
        .arg(&program)
        .status();
    assert!(copied.is_ok_and(|status| status.success()), "not copied");
    for path in [folder.path(), &program] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
    }
    let mut command = std::process::Command::new(&program);
    use std::os::unix::process::CommandExt as _;
    command.uid(NOBODY).gid(NOBODY).current_dir(folder.path());
    command
        .env(super::HOMES, folder.path())
        .env("HOME", folder.path());
    command.args(["linux::tests", "--skip", "killed"]);
    let output = command.output().expect("the tests");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn a_linked_worktree_can_commit() {
    let home = Home::new();
    let script = "
        git init -q -b main hub && cd hub && git -c user.name=A -c user.email=a@b commit -q --allow-empty -m base
        mkdir -p ../state/leases/one/tree && git clone -q --shared --bare . ../state/leases/one/git
        cd ../state/leases/one && git --git-dir=git config core.bare false
        git --git-dir=git config user.name A && git --git-dir=git config user.email a@b
        echo \"gitdir: $PWD/git\" > tree/.git";
    let mut command = std::process::Command::new("sh");
    command
        .current_dir(home.path())
        .args(["-ec", script])
        .env("HOME", home.path());
    assert!(command.status().expect("git").success());
    let lease = home.path().join("state/leases/one");
    let mut policy = home.policy();
    policy.workspace = path(lease.join("tree"));
    policy.hidden.push(path(home.path().join("state")));
    policy.protected.repositories = vec![path(lease.join("git"))];
    let script = "echo x > file && git add . && git commit -qm one && git log --oneline | wc -l";
    assert_eq!(check(&policy, script, 0).text, "2\n");
    for script in [
        "echo x > .git",
        "rm .git",
        "git config core.hooksPath .",
        "mkdir -p ../git/hooks && echo x > ../git/hooks/post-commit",
        "echo .. > ../git/commondir",
        "echo x > ../git/objects/info/alternates",
        "cd ../../../../hub && git commit -q --allow-empty -m mine",
        "mv ../git ../git2",
    ] {
        let outcome = run(&policy, script);
        assert_ne!(outcome.finished.exit, CommandExit::Exit(0), "{script}");
    }
    assert!(lease.join("git/refs/heads/main").exists());
}

#[test]
fn a_git_folder_behind_a_link_is_protected() {
    let home = Home::new();
    let script = "git init -q --bare elsewhere && ln -s ../elsewhere work/.git";
    let mut command = std::process::Command::new("sh");
    command.current_dir(home.path()).args(["-ec", script]);
    assert!(command.status().expect("git").success());
    let policy = home.policy();
    for script in [
        "rm .git",
        "mv .git other",
        "ln -sfn . .git",
        "echo x > .git/config",
    ] {
        let outcome = run(&policy, script);
        assert_ne!(outcome.finished.exit, CommandExit::Exit(0), "{script}");
    }
    assert!(home.path().join("work/.git/config").exists());
}

#[test]
fn files_of_root_are_out_of_reach() {
    let home = Home::new();
    for script in [
        "echo x > /proc/sys/kernel/core_pattern",
        "echo 1 > /proc/sysrq-trigger",
        "echo 1 > /sys/kernel/mm/ksm/run",
        "chmod 777 /etc/hostname",
        "touch /etc/hostname",
        "mknod dev b 254 0",
        "cat /proc/1/environ",
        "cat /proc/1/maps",
        "readlink /proc/1/fd/4",
        "ls /proc/1/root/",
        "ls /dev/vda",
        "head -c1 /etc/shadow | grep .",
        "mount -t tmpfs none /mnt",
        "kill -9 1; kill -0 1 && false",
        "ln /etc/hostname link",
        "chown 12345 .",
        // With the rights of the user who runs this program, for every user of this machine.
        "touch own && chmod u+s own",
        "touch own && chmod 2755 own",
        "mkdir box && chmod g+s box",
        "perl -e 'sysopen(F, \"made\", 65, 04755) or exit 1'",
    ] {
        let outcome = run(&home.policy(), script);
        assert_ne!(
            outcome.finished.exit,
            CommandExit::Exit(0),
            "{script}: {outcome:?}"
        );
    }
}

#[test]
fn resource_limits_are_enforced() {
    let home = Home::new();
    let mut policy = home.policy();
    policy.limits.processes = Some(20);
    policy.limits.file_bytes = Some(1 << 20);
    policy.limits.private_bytes = 1 << 20;
    let script = "for n in $(seq 40); do sleep 0.1 & done; wait";
    assert_ne!(run(&policy, script).finished.exit, CommandExit::Exit(0));
    let script = "head -c 2000000 /dev/zero > big";
    assert_ne!(run(&policy, script).finished.exit, CommandExit::Exit(0));
    policy.limits.file_bytes = None;
    let script = "head -c 2000000 /dev/zero > /tmp/big";
    assert_ne!(run(&policy, script).finished.exit, CommandExit::Exit(0));
}

#[test]
fn only_the_proxy_reaches_hosts() {
    let home = Home::new();
    let mut policy = home.policy();
    policy.network = crate::Network::Hosts(vec![crate::HostRule {
        host: "allowed.example".to_owned(),
        ports: Vec::new(),
    }]);
    let script = "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; \
        printf \"CONNECT other.example:443 HTTP/1.1\\r\\nHost: other.example:443\\r\\n\\r\\n\" >&3; head -1 <&3; echo $https_proxy'";
    let outcome = check(&policy, script, 0);
    assert!(outcome.text.contains(" 403 "), "{outcome:?}");
    assert!(
        outcome.text.contains("http://127.0.0.1:3128"),
        "{outcome:?}"
    );
    let denied = DeniedAccess::Host {
        host: "other.example".to_owned(),
        port: 443,
    };
    assert!(outcome.finished.denials.contains(&denied), "{outcome:?}");
}

/// Two threads: one requests an allowed path, the other changes the path in memory while we check
/// it. The soak tries for longer, and so do the races of the escape battery.
#[test]
fn a_process_that_wins_a_race_is_ended() {
    let home = Home::new();
    let script = r#"
import ctypes, os, threading
libc = ctypes.CDLL(None)
os.mkdir("aaaa")
buffer = ctypes.create_string_buffer(b"aaaa/commondir")
def flip():
    while True:
        ctypes.memmove(buffer, b".git", 4)
        ctypes.memmove(buffer, b"aaaa", 4)
threading.Thread(target=flip, daemon=True).start()
import time
until = time.time() + SECONDS
while time.time() < until:
    libc.mkdir(buffer, 0o755)
    try: os.rmdir("aaaa/commondir")
    except OSError: pass
    if os.path.exists(".git/commondir"):
        time.sleep(1)
        open(".git/commondir/planted", "w").write("planted")
"#;
    let mut policy = home.policy();
    policy.limits.cpu_seconds = Some(15);
    let is_soak = std::env::var_os("BURIN_SOAK").is_some();
    let script = script.replace("SECONDS", if is_soak { "5" } else { "2" });
    home.write("work/race.py", &script);
    let made = std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(home.work())
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let outcome = run(&policy, "exec python3 race.py");
    let planted = home.path().join("work/.git/commondir");
    assert!(!planted.join("planted").exists());
    if planted.exists() {
        assert_eq!(outcome.finished.exit, CommandExit::Signal(9), "{outcome:?}");
    }
}
