//! What cannot be touched.

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
fn nothing_outside_is_written_and_that_is_told() {
    let home = Home::new();
    home.write("notes", "mine");
    let outcome = run(
        &home.policy(),
        "echo x > ../notes; mkdir ../new; rm ../notes; echo x >> /etc/passwd",
    );
    assert_ne!(outcome.finished.end, End::Exit(0));
    assert_eq!(
        fs::read_to_string(home.path().join("notes")).expect("notes"),
        "mine"
    );
    assert!(!home.path().join("new").exists());
    let denied = |name: &str, access| Denied::Path {
        path: path(home.path().join(name)),
        access,
    };
    let denials = &outcome.finished.denials;
    assert!(
        denials.contains(&denied("notes", Access::Write)),
        "{denials:?}"
    );
    assert!(
        denials.contains(&denied("new", Access::Create)),
        "{denials:?}"
    );
    assert!(
        denials.contains(&denied("notes", Access::Remove)),
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
    assert_ne!(outcome.finished.end, End::Exit(0));
}

#[test]
fn caches_seem_writable() {
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
fn a_workspace_in_the_private_folder_is_there() {
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
    assert_ne!(outcome.finished.end, End::Exit(0));
    assert!(folder.path().join("made").exists());
    assert!(!beside.path().join("y").exists());
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
fn nothing_is_reached() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let home = Home::new();
    let script = format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let outcome = run(&home.policy(), &script);
    assert_ne!(outcome.finished.end, End::Exit(0));
    let outcome = run(
        &home.policy(),
        "exec bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'",
    );
    let denied = Denied::Host {
        host: "192.0.2.1".to_owned(),
        port: 80,
    };
    assert!(outcome.finished.denials.contains(&denied), "{outcome:?}");
}

#[test]
fn sockets_of_the_machine_are_not_reached_and_own_ones_are() {
    let home = Home::new();
    let _listener =
        std::os::unix::net::UnixListener::bind(home.path().join("socket")).expect("a socket");
    let connect = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])";
    let script = format!("python3 -c '{connect}' ../socket");
    let outcome = run(&home.policy(), &script);
    assert_ne!(outcome.finished.end, End::Exit(0));
    let denied = Denied::Path {
        path: path(home.path().join("socket")),
        access: Access::Connect,
    };
    assert!(outcome.finished.denials.contains(&denied), "{outcome:?}");
    let both = "import socket; l=socket.socket(socket.AF_UNIX); l.bind(\"/tmp/s\"); l.listen(); \
                s=socket.socket(socket.AF_UNIX); s.connect(\"/tmp/s\"); s.send(b\"hi\"); print(l.accept()[0].recv(2))";
    let outcome = check(&home.policy(), &format!("python3 -c '{both}'"), 0);
    assert_eq!(outcome.text, "b'hi'\n");
}

#[test]
fn protected_names_stay_whether_there_or_not() {
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
        "mkdir .git",
        "ln -s deep .git",
        "ln -s .git link && mkdir link/",
        "mkdir /proc/self/cwd/.git",
    ] {
        let outcome = run(&home.policy(), script);
        assert_ne!(outcome.finished.end, End::Exit(0), "{script}");
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
fn git_commits_and_is_not_configured() {
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
        assert_ne!(outcome.finished.end, End::Exit(0), "{script}");
        assert!(!outcome.finished.denials.is_empty(), "{script}");
    }
}

#[test]
fn calls_that_reach_the_kernel_deeper_are_not_given() {
    let home = Home::new();
    let outcome = run(&home.policy(), "unshare -Ur true");
    assert_ne!(outcome.finished.end, End::Exit(0));
    let denied = Denied::Call { name: "unshare" };
    assert!(outcome.finished.denials.contains(&denied), "{outcome:?}");
}

#[test]
fn the_environment_is_the_policys() {
    let home = Home::new();
    let outcome = check(&home.policy(), "cat /proc/1/environ; env", 1);
    assert!(!outcome.text.contains("CARGO"), "{}", outcome.text);
}

#[test]
fn a_missing_layer_is_refused_with_a_sentence() {
    let home = Home::new();
    let mut policy = home.policy();
    policy.limits.open_files = Some(u64::MAX >> 1);
    let (order, _reader) = shell(&policy.workspace, "true");
    let refused = crate::start(&policy, order).expect_err("more files than there can be");
    assert_eq!(refused.layer(), Some(Layer::Limits));
    assert!(
        refused.to_string().contains("--without limits"),
        "{refused}"
    );
    policy.without.insert(Layer::Limits);
    let outcome = check(&policy, "true", 0);
    assert!(outcome.finished.without.contains(&Layer::Limits));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let home = Home::new();
    let (mut order, _reader) = shell(&home.work(), "true");
    order.program = "no-such-program".into();
    let refused = crate::start(&home.policy(), order).expect_err("no program");
    assert_eq!(refused.exit_code(), 127);
    let (mut order, _reader) = shell(&home.work(), "true");
    order.folder = path("/nowhere");
    let refused = crate::start(&home.policy(), order).expect_err("no folder");
    assert!(matches!(refused, Refused::Folder { .. }), "{refused}");
    let mut policy = home.policy();
    policy.workspace = path("/");
    let (order, _reader) = shell(&home.work(), "true");
    let refused = crate::start(&policy, order).expect_err("the whole disk");
    assert!(matches!(refused, Refused::Policy { .. }), "{refused}");
}

#[test]
fn every_layer_can_be_left_out() {
    let home = Home::new();
    for layer in Layer::ALL {
        let mut policy = home.policy();
        policy.without.insert(layer);
        let outcome = check(&policy, "echo x > made", 0);
        assert_eq!(outcome.finished.without, policy.without);
    }
}
