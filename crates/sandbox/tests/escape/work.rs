//! Ordinary work in a sandbox that needs more than the workspace: worktrees, submodules, first
//! repositories, hooks, servers of the machine, caches of a fresh home.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::time::Duration;

use base::AbsPath;
use sandbox::{HostRule, Network, Policy, ScanBaseline};

use crate::battery::in_parts;
use crate::policies::{Left, inside, usual};
use crate::scene::{Ground, Kind, Scene, git};

fn run(scene: &Scene, policy: &Policy, script: &str) -> Left {
    let patience = Duration::from_secs(20);
    let left = inside(policy, scene, "/bin/sh", &["-ec", script], patience);
    left.unwrap_or_else(|refused| panic!("{script}: {refused}"))
}

#[track_caller]
fn check(scene: &Scene, policy: &Policy, script: &str) -> String {
    let left = run(scene, policy, script);
    assert_eq!(left.code, 0, "{script}: {} {:?}", left.output, left.denials);
    left.output
}

#[track_caller]
fn check_fails(scene: &Scene, policy: &Policy, script: &str) {
    let left = run(scene, policy, script);
    assert_ne!(left.code, 0, "{script}: {}", left.output);
}

/// Runs git as the user; returns its output.
#[track_caller]
fn person(scene: &Scene, folder: &str, arguments: &[&str]) -> String {
    let done = git(
        &scene.base.join(folder),
        &scene.base.join("home"),
        arguments,
    );
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

#[test]
fn a_linked_worktree_can_be_committed_to() {
    in_parts("work::a_linked_worktree_can_be_committed_to", || {
        let ground = Ground::new("worktree");
        let scene = ground.scene(Kind::Linked);
        let policy = usual(&scene);
        let control = ScanBaseline::of(&scene.work(), &[]);
        check(
            &scene,
            &policy,
            "echo x > x; git add x; git commit -qm two; git status --short",
        );
        check(
            &scene,
            &policy,
            "echo y >> x; git stash -q; git stash pop -q; git commit -qam three",
        );
        check(
            &scene,
            &policy,
            "git checkout -qb other; git tag v1; git commit -q --amend -m four; git reset -q --hard HEAD~1",
        );
        check(
            &scene,
            &policy,
            "git merge -q --no-ff -m merged v1; git rebase -q HEAD~1; git log --oneline; git gc -q --auto",
        );
        assert_eq!(control.changes(), []);
        assert_eq!(
            person(&scene, "hub", &["rev-parse", "--verify", "-q", "v1"]).len(),
            40
        );
        person(&scene, "hub", &["fsck"]);
        for script in [
            "git config core.fsmonitor x",
            "git config --worktree core.fsmonitor x",
            "echo x > ../hub/.git/hooks/post-commit",
            "echo x > ../hub/.git/config",
            "echo x > ../hub/.git/HEAD",
            "echo x > ../hub/.git/index",
            "echo x > ../hub/.git/packed-refs",
            "echo x > ../hub/.git/info/attributes",
            "echo x > ../hub/.git/objects/info/alternates",
            "echo x > ../hub/.git/worktrees/work/commondir",
            "echo x > ../hub/.git/worktrees/work/gitdir",
            "echo x > ../hub/.git/worktrees/work/config.worktree",
            "mkdir -p ../hub/.git/worktrees/other",
            "mv ../hub/.git/refs ../hub/.git/r2",
            "echo x > ../hub/a.txt",
        ] {
            check_fails(&scene, &policy, script);
        }
    });
}

#[test]
fn a_forged_pointer_makes_no_folder_writable() {
    let ground = Ground::new("pointer");
    let scene = ground.scene(Kind::NoGit);
    let other = scene.base.join("other");
    person(&scene, "other", &["init", "-q"]);
    fs::write(
        scene.base.join("work/.git"),
        format!("gitdir: {}/.git\n", other.display()),
    )
    .expect("written");
    let policy = usual(&scene);
    for script in [
        "echo x > ../other/.git/index",
        "echo x > ../other/.git/refs/heads/x",
        "git commit -q --allow-empty -m x",
    ] {
        check_fails(&scene, &policy, script);
    }
}

#[test]
fn submodules_can_be_committed_to() {
    in_parts("work::submodules_can_be_committed_to", || {
        let ground = Ground::new("submodule");
        let scene = ground.scene(Kind::Plain);
        person(&scene, ".", &["init", "-q", "lib"]);
        person(&scene, "lib", &["commit", "-q", "--allow-empty", "-m", "x"]);
        let lib = scene.base.join("lib").display().to_string();
        for name in ["lib", "deep/er"] {
            let add = [
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                &lib,
                name,
            ];
            person(&scene, "work", &add);
        }
        person(&scene, "work", &["commit", "-qm", "submodules"]);
        let policy = usual(&scene);
        let control = ScanBaseline::of(&scene.work(), &[]);
        for name in ["lib", "deep/er"] {
            check(
                &scene,
                &policy,
                &format!(
                    "cd {name}; echo x > x; git add x; git commit -qm two; git checkout -qb b; git tag t"
                ),
            );
            for script in [
                format!("cd {name}; git config core.fsmonitor x"),
                format!("echo x > .git/modules/{name}/hooks/post-commit"),
                format!("echo x > .git/modules/{name}/config"),
                format!("echo x > .git/modules/{name}/commondir"),
                format!("echo x > .git/modules/{name}/objects/info/alternates"),
                format!("mv .git/modules/{name} .git/modules/x"),
                format!("rmdir .git/modules/{name}"),
            ] {
                check_fails(&scene, &policy, &script);
            }
            person(&scene, &format!("work/{name}"), &["fsck"]);
        }
        check(
            &scene,
            &policy,
            "git add -A; git commit -qm moved; git submodule status",
        );
        check_fails(&scene, &policy, "mkdir .git/modules/planted");
        let changes = control.changes();
        assert!(
            !changes.iter().any(|finding| finding.is_armed()),
            "{changes:?}"
        );
        // The submodule itself as the workspace.
        let mut policy = usual(&scene);
        policy.workspace = AbsPath::new(scene.base.join("work/lib")).expect("absolute");
        check(
            &scene,
            &policy,
            "cd lib; echo y > y; git add y; git commit -qm three",
        );
        check_fails(&scene, &policy, "echo x > a.txt");
    });
}

#[test]
fn a_new_repository_is_protected_afterwards() {
    in_parts("work::a_new_repository_is_protected_afterwards", || {
        let ground = Ground::new("begun");
        let scene = ground.scene(Kind::NoGit);
        let control = ScanBaseline::of(&scene.work(), &[]);
        let policy = usual(&scene);
        check(
            &scene,
            &policy,
            "git init -q; git config user.name Ada; git add .; git commit -qm one; git status --short",
        );
        let symlinks = ["config", "--default", "unset", "--get", "core.symlinks"];
        assert_eq!(person(&scene, "work", &symlinks), "unset");
        let changes = control.changes();
        assert!(!changes.is_empty(), "it is told");
        assert!(
            !changes.iter().any(|finding| finding.is_armed()),
            "{changes:?}"
        );
        for script in [
            "git config core.fsmonitor x",
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/config",
            "mv .git .git2",
        ] {
            check_fails(&scene, &policy, script);
        }
        check(&scene, &policy, "echo x > x; git add x; git commit -qm two");
    });
}

#[test]
fn dangerous_parts_of_a_new_repository_are_refused() {
    let ground = Ground::new("first");
    for script in [
        "git init -q; git config core.fsmonitor x",
        "git init -q; git config core.hooksPath x",
        "git init -q; echo x > .git/hooks/pre-commit",
        "git init -q; mv .git/hooks/pre-commit.sample .git/hooks/pre-commit",
        "git init -q; echo .. > .git/commondir",
        "git init -q; echo x > .git/config.worktree",
        "git init -q; printf '[core]\\n fsmonitor = x\\n' >> .git/config",
        "git init -q; ln -s /x .git/COMMIT_EDITMSG",
        "git init -q; mkdir -p .git/objects/info; echo x > .git/objects/info/alternates",
        "mkdir .git; mkdir h; echo x > h/pre-commit; mv h .git/hooks",
        "git init -q g; mv g/.git .git",
        "ln -s src .git",
        "echo 'gitdir: g' > .git",
    ] {
        let scene = ground.scene(Kind::NoGit);
        let left = run(&scene, &usual(&scene), script);
        assert_ne!(left.code, 0, "{script}: {}", left.output);
        assert!(!left.denials.is_empty(), "{script}: {}", left.output);
    }
}

#[test]
fn project_hooks_run_and_their_scripts_are_readable() {
    let ground = Ground::new("hooks");
    let husky = "mkdir -p .husky/_; printf 'echo checked >> log\\n' > .husky/pre-commit; \
        printf '#!/usr/bin/env sh\\n. \"$(dirname \"$0\")/h\"\\n' > .husky/_/pre-commit; \
        printf 'n=$(basename \"$0\")\\nsh -e \"$(dirname \"$(dirname \"$0\")\")/$n\" \"$@\"\\n' > .husky/_/h; \
        chmod +x .husky/_/*; git config core.hooksPath .husky/_";
    let precommit = "printf '#!/bin/sh\\nexec python3 tools/hooks.py\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; \
        mkdir tools; printf 'open(\"log\",\"a\").write(\"checked\\\\n\")\\n' > tools/hooks.py";
    let linked = "mkdir tools; printf '#!/bin/sh\\necho checked >> log\\n' > tools/check; chmod +x tools/check; \
        ln -s ../../tools/check .git/hooks/pre-commit";
    for before in [husky, precommit, linked] {
        let scene = ground.scene(Kind::Plain);
        let done = std::process::Command::new("sh")
            .args(["-ec", before])
            .current_dir(scene.base.join("work"))
            .status();
        assert!(done.is_ok_and(|status| status.success()), "{before}");
        let home = AbsPath::new(scene.base.join("home"));
        let control = ScanBaseline::for_scope(&sandbox::ScanScope {
            roots: vec![scene.work()],
            git_folders: Vec::new(),
            home,
        });
        let policy = usual(&scene);
        check(
            &scene,
            &policy,
            "echo x > x; git add x; git commit -qm two; grep -q checked log",
        );
        // Reinstalling hooks writes the same content.
        check(
            &scene,
            &policy,
            "for f in .husky/_/*; do [ -e $f ] || continue; cp $f t; cp t $f; rm t; done",
        );
        let changes = control.changes();
        assert!(
            !changes.iter().any(|finding| finding.is_armed()),
            "{before}: {changes:?}"
        );
    }
}

/// Answers one request, like a server that a user runs for a test.
fn serve(listener: TcpListener) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut head = [0; 1024];
        let read = stream.read(&mut head).expect("a request");
        assert!(read > 0, "an empty request");
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        stream.write_all(answer).expect("an answer");
    })
}

#[test]
fn allowed_ports_of_this_machine_are_reached_by_every_client() {
    let ground = Ground::new("loopback");
    let scene = ground.scene(Kind::NoGit);
    let urllib = "python3 -c 'import urllib.request,sys; print(urllib.request.urlopen(sys.argv[1]).read())' http://HOST:PORT/";
    let bare = "exec bash -c 'exec 3<>/dev/tcp/HOST/PORT; printf \"GET / HTTP/1.0\\r\\n\\r\\n\" >&3; cat <&3'";
    let by_proxy = "NO_PROXY= no_proxy= python3 -c 'import urllib.request,sys; print(urllib.request.urlopen(sys.argv[1]).read())' http://HOST:PORT/";
    for (rule, host, address) in [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "localhost", "127.0.0.1"),
        ("localhost", "localhost", "127.0.0.1"),
        ("localhost", "127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost", "::1"),
        ("[::1]", "[::1]", "::1"),
        ("127.0.0.2", "127.0.0.2", "127.0.0.2"),
    ] {
        for client in [urllib, bare, by_proxy] {
            // The proxy resolves names through the system, and few systems resolve `localhost` to
            // ::1.
            let has_no_address = host == "localhost" && address == "::1";
            if client == bare && host.starts_with('[')
                || client == by_proxy && (rule != host || has_no_address)
            {
                continue;
            }
            let listener = TcpListener::bind((address, 0)).expect("a listener");
            let port = listener.local_addr().expect("an address").port();
            let mut policy = usual(&scene);
            let rule: HostRule = format!("{rule}:{port}").parse().expect("a host");
            policy.network = Network::Hosts(vec![rule]);
            let server = serve(listener);
            let script = client
                .replace("HOST", host)
                .replace("PORT", &port.to_string());
            let said = check(&scene, &policy, &script);
            assert!(said.contains("hello"), "{script}: {said}");
            server.join().expect("the server");
        }
    }
}

#[test]
fn other_ports_of_this_machine_stay_out_of_reach() {
    let ground = Ground::new("ports");
    let scene = ground.scene(Kind::NoGit);
    let given = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let other = TcpListener::bind("127.0.0.1:0").expect("a listener");
    other.set_nonblocking(true).expect("a listener");
    let port = |listener: &TcpListener| listener.local_addr().expect("an address").port();
    let mut policy = usual(&scene);
    let rule = format!("127.0.0.1:{}", port(&given))
        .parse()
        .expect("a host");
    policy.network = Network::Hosts(vec![rule]);
    let script = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}'", port(&other));
    check_fails(&scene, &policy, &script);
    let script = format!(
        "bash -c 'exec 3<>/dev/tcp/127.0.0.2/{}; read -t 5 x <&3; [ -n \"$x\" ]'",
        port(&given)
    );
    check_fails(&scene, &policy, &script);
    assert!(other.accept().is_err());
    // Servers started by the command itself on its own loopback.
    check(
        &scene,
        &policy,
        "python3 -c 'import socket; l=socket.socket(); l.bind((\"127.0.0.1\",0)); l.listen(); socket.create_connection(l.getsockname())'",
    );
}

#[test]
fn caches_of_a_fresh_home_are_writable_and_remain_empty() {
    in_parts(
        "work::caches_of_a_fresh_home_are_writable_and_remain_empty",
        || {
            let ground = Ground::new("fresh");
            let scene = ground.scene(Kind::NoGit);
            let home = scene.base.join("home");
            for name in [".cache", ".npm", ".cargo", ".gradle", ".m2", ".local/state"] {
                fs::remove_dir_all(home.join(name)).ok();
            }
            let policy = usual(&scene);
            check(
                &scene,
                &policy,
                "for f in .cache .npm .cargo/registry .gradle .m2/repository .local/state; do mkdir -p $HOME/$f/x; echo x > $HOME/$f/x/y; done; cat $HOME/.cache/x/y",
            );
            for name in [
                ".cache/x",
                ".npm/x",
                ".cargo/registry",
                ".m2/repository",
                ".local/state/x",
            ] {
                assert!(!home.join(name).exists(), "{name}");
            }
            assert!(
                !home.join("go").exists(),
                "a folder that everybody sees is not made"
            );
        },
    );
}

#[test]
fn a_workspace_behind_a_link_in_a_shared_folder() {
    let ground = Ground::new("linked");
    let scene = ground.scene(Kind::Plain);
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    let beside = folder.path().join("beside");
    fs::create_dir(&beside).expect("a folder");
    for (name, target) in [
        ("link", scene.base.join("work")),
        ("up", scene.base.clone()),
    ] {
        symlink(target, folder.path().join(name)).expect("a link");
    }
    for given in ["link", "up/work"] {
        let mut policy = usual(&scene);
        policy.workspace = AbsPath::new(folder.path().join(given)).expect("absolute");
        let script = format!(
            "cd {0}; echo x > made; cat {0}/made; git status --short; rm made; ls {1}",
            policy.workspace,
            folder.path().display()
        );
        let said = check(&scene, &policy, &script);
        assert!(
            said.starts_with("x\n?? made\n") && !said.contains("beside"),
            "{said}"
        );
        check_fails(
            &scene,
            &policy,
            &format!("echo x > {}", beside.join("x").display()),
        );
    }
}

#[test]
fn sockets_created_by_the_command_can_be_connected_to_inside() {
    in_parts(
        "work::sockets_created_by_the_command_can_be_connected_to_inside",
        || {
            let ground = Ground::new("sockets");
            let scene = ground.scene(Kind::Plain);
            for path in ["own.sock", "/tmp/own.sock"] {
                let script = format!(
                    "python3 -c 'import socket\nl=socket.socket(socket.AF_UNIX); l.bind(\"{path}\"); l.listen()\n\
                 s=socket.socket(socket.AF_UNIX); s.connect(\"{path}\"); s.send(b\"hi\"); print(l.accept()[0].recv(2))'"
                );
                assert_eq!(check(&scene, &usual(&scene), &script), "b'hi'\n");
            }
        },
    );
}
