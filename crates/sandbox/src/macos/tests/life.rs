//! The life of a command: start, failures of the launcher, streams, proxy, end of the tree.

use super::*;
use crate::{DeniedAccess, Network, SandboxLayer};

#[test]
fn a_command_writes_only_where_its_profile_allows() {
    let scene = Scene::new();
    let outcome = scene.run(
        &scene.policy(),
        "echo hello > made && cat made && pwd && echo wrong >&2 && touch \"$TMPDIR/x\" && ! echo x > ../notes",
    );
    assert_eq!(outcome.outcome.exit, CommandExit::Exit(0), "{outcome:?}");
    assert_eq!(
        outcome.output,
        format!("hello\n{}\n", scene.path("home/work"))
    );
    // The launcher's messages are not the command's.
    assert!(outcome.errors.starts_with("wrong\n"), "{outcome:?}");
    assert_eq!(
        fs::read_to_string(scene.at("home/notes")).expect("notes"),
        "mine"
    );
    let without = [
        SandboxLayer::Namespaces,
        SandboxLayer::Landlock,
        SandboxLayer::Seccomp,
        SandboxLayer::NoNewPrivs,
    ];
    assert_eq!(outcome.outcome.without, without.into());
}

#[test]
fn a_protected_workspace_is_read_only() {
    let scene = Scene::new();
    fs::write(scene.at("home/work/file"), "mine").expect("a file");
    let mut policy = scene.policy();
    policy.protected.paths.push(scene.path("home/work"));
    let script =
        "cat file && touch \"$TMPDIR/x\" && ! touch new && ! echo x > file && ! mkdir .git";
    let outcome = scene.run(&policy, script);
    assert_eq!(outcome.outcome.exit, CommandExit::Exit(0), "{outcome:?}");
    assert_eq!(outcome.output, "mine");
    let text = fs::read_to_string(scene.at("home/work/file"));
    assert_eq!(text.expect("the file"), "mine");
    let (request, _output) = request(&policy.workspace, ":");
    let command = start_with(&scene.launcher(), &policy, request).expect("a command");
    assert_eq!(command.fixed(), [scene.path("home/work")]);
    command.wait();
}

#[test]
fn the_private_folder_is_new_and_is_removed() {
    let scene = Scene::new();
    let [one, other] = [0, 1].map(|_| {
        scene.run(
            &scene.policy(),
            "echo \"$TMPDIR $TMP $TEMP\"; ls -A \"$TMPDIR\"; touch \"$TMPDIR/x\"; \
             test -z \"$(find \"$TMPDIR\" -prune -perm /077)\"",
        )
    });
    let folder = |outcome: &Outcome| {
        outcome
            .output
            .split(' ')
            .next()
            .expect("a folder")
            .to_owned()
    };
    assert_ne!(folder(&one), folder(&other));
    assert_eq!(one.output.lines().count(), 1, "{one:?}");
    // No other user can enter it.
    assert_eq!(one.outcome.exit, CommandExit::Exit(0), "{one:?}");
    assert!(!exists(folder(&one)));
}

#[test]
fn failures_of_the_launcher_are_errors_of_the_sandbox() {
    let scene = Scene::new();
    let refused = |code: &str| {
        fs::write(scene.at("exit"), code).expect("a code");
        let refused = scene.start(&scene.policy(), "touch ran");
        refused.map(|_| ()).expect_err("a refusal")
    };
    let profile = refused("65");
    assert!(
        matches!(&profile, SandboxError::Profile { reason } if reason == "sandbox-exec: refused")
    );
    assert!(
        profile
            .to_string()
            .contains("does not accept Burin's sandbox profile"),
        "{profile}"
    );
    let nested = refused("71");
    assert!(matches!(nested, SandboxError::Nested));
    assert!(
        nested.to_string().contains("already inside a sandbox"),
        "{nested}"
    );
    // Advice for it names no path.
    assert!(!nested.to_string().contains('/'), "{nested}");
    assert!(matches!(refused("1"), SandboxError::Gone { .. }));
    let opened = SupervisorPool::open_with(scene.launcher(), &scene.policy());
    assert!(matches!(opened, Err(SandboxError::Gone { .. })));
    fs::remove_file(scene.at("exit")).expect("the code");
    let missing = Launcher {
        program: scene.at("missing"),
        log: "/bin/true".into(),
    };
    let (request, _output) = request(&scene.policy().workspace, "touch ran");
    let refused = start_with(&missing, &scene.policy(), request).map(|_| ());
    let refused = refused.expect_err("a refusal");
    assert!(matches!(refused, SandboxError::Setup { .. }), "{refused}");
    // No layer can be omitted instead.
    assert!(!refused.to_string().contains("--without"), "{refused}");
    assert!(!exists(scene.at("home/work/ran")));
}

#[test]
fn exit_codes_of_the_command_are_its_own() {
    let scene = Scene::new();
    for code in [0, 1, 65, 71, 127] {
        let outcome = scene.run(&scene.policy(), &format!("exit {code}"));
        assert_eq!(outcome.outcome.exit, CommandExit::Exit(code));
    }
    let outcome = scene.run(&scene.policy(), "kill -9 $$");
    assert_eq!(outcome.outcome.exit, CommandExit::Signal(9));
}

#[test]
fn a_program_and_a_folder_are_looked_up_before_the_start() {
    let scene = Scene::new();
    let policy = scene.policy();
    let refusal = |program: &str, folder: &AbsPath| {
        let (mut request, _output) = request(folder, "");
        request.program = program.into();
        start_with(&scene.launcher(), &policy, request)
            .map(|_| ())
            .expect_err("a refusal")
    };
    let work = &policy.workspace;
    assert_eq!(refusal("no-such-program", work).exit_code(), 127);
    fs::write(scene.at("home/work/text"), "x").expect("a file");
    assert_eq!(refusal("./text", work).exit_code(), 126);
    let missing = refusal("sh", &work.join("missing"));
    assert!(matches!(missing, SandboxError::Folder { .. }), "{missing}");
    let mut policy = scene.policy();
    policy.hidden = vec![scene.path("home")];
    let (request, _output) = request(&scene.path("home"), "");
    let hidden = start_with(&scene.launcher(), &policy, request).map(|_| ());
    assert!(
        hidden
            .expect_err("a refusal")
            .to_string()
            .contains("hidden")
    );
}

#[test]
fn each_sandbox_has_a_proxy_on_a_free_port() {
    let scene = Scene::new();
    let mut policy = scene.policy();
    policy
        .environment
        .push(("https_proxy".into(), "http://stranger:1".into()));
    policy
        .environment
        .push(("NO_PROXY".into(), "crates.io".into()));
    let outcome = scene.run(&policy, "env");
    assert!(
        !outcome.output.to_lowercase().contains("proxy="),
        "{outcome:?}"
    );
    policy.network = Network::Hosts(vec!["allowed.example".parse().expect("a host")]);
    let pool = SupervisorPool::open_with(scene.launcher(), &policy).expect("a sandbox");
    let pool = Arc::new(pool);
    let script = "echo \"$https_proxy $NO_PROXY\"; exec 2>/dev/null; \
        curl -s --max-time 9 -o /dev/null -w '%{http_code}\\n' http://denied.example/ || true";
    let run = |pool: &Arc<SupervisorPool>| {
        let (request, output) = request(&policy.workspace, script);
        let command = SupervisorPool::start(pool, request).expect("a command");
        Started { command, output }.finish()
    };
    let one = run(&pool);
    let port = |outcome: &Outcome| outcome.output.lines().next().expect("a line").to_owned();
    assert!(port(&one).starts_with("http://127.0.0.1:"), "{one:?}");
    assert!(
        !port(&one).contains("stranger") && !port(&one).contains("crates.io"),
        "{one:?}"
    );
    let other = SupervisorPool::open_with(scene.launcher(), &policy).expect("a sandbox");
    assert_ne!(port(&one), port(&run(&Arc::new(other))));
    assert_eq!(
        port(&one),
        port(&run(&pool)),
        "commands of one sandbox share the proxy"
    );
    if Path::new("/usr/bin/curl").exists() {
        let denied = DeniedAccess::Host {
            host: "denied.example".to_owned(),
            port: 80,
        };
        assert_eq!(one.outcome.denials, [denied]);
    } else {
        test_support::skip_part("there is no curl");
    }
}

#[test]
fn the_whole_tree_ends_with_the_command() {
    let scene = Scene::new();
    let mark = format!("{}", scene.path("home/work").as_path().display());
    let sleeper = format!("setsid sh -c 'sleep 4711; : {mark}' >/dev/null 2>&1");
    // The process table of the portable build does not name a parent that has ended.
    let without_parent = if cfg!(burin_portable) {
        String::new()
    } else {
        format!("(setsid {sleeper} &) ;")
    };
    let left = format!("{sleeper} & {without_parent} sleep .1");
    let outcome = scene.run(&scene.policy(), &left);
    assert_eq!(outcome.outcome.exit, CommandExit::Exit(0), "{outcome:?}");
    assert!(!is_running(&format!("4711; : {mark}")));
}

#[test]
fn a_command_can_be_killed_from_another_thread() {
    let scene = Scene::new();
    let started = scene
        .start(&scene.policy(), "echo ready; sleep 4712 & wait")
        .expect("a command");
    let Started {
        command,
        output: [mut output, _errors],
    } = started;
    let mut line = [0; 6];
    output.read_exact(&mut line).expect("ready");
    let handle: SupervisorHandle = command.kill_handle();
    let killer = std::thread::spawn(move || handle.kill());
    let outcome = command.wait();
    killer.join().expect("the killer");
    assert_eq!(outcome.exit, CommandExit::Signal(9));
    let started = scene.start(
        &scene.policy(),
        "trap 'exit 7' INT; echo ready; while :; do sleep .01; done",
    );
    let Started {
        command,
        output: [mut output, _errors],
    } = started.expect("a command");
    output.read_exact(&mut line).expect("ready");
    command.kill_handle().signal(libc::SIGINT);
    assert_eq!(command.wait().exit, CommandExit::Exit(7));
}

#[test]
fn a_dropped_command_is_killed() {
    let scene = Scene::new();
    let started = scene
        .start(&scene.policy(), "echo ready; sleep 4713")
        .expect("a command");
    let Started {
        command,
        output: [mut output, _errors],
    } = started;
    output.read_exact(&mut [0; 6]).expect("ready");
    let id = command.id();
    drop(command);
    assert!(!exists(format!("/proc/{id}")));
}

#[test]
fn limits_are_those_of_the_policy() {
    let scene = Scene::new();
    let mut policy = scene.policy();
    policy.limits.open_files = Some(123);
    policy.limits.cpu_seconds = Some(99);
    let outcome = scene.run(&policy, "ulimit -n; ulimit -t; ulimit -c");
    assert_eq!(outcome.output, "123\n99\n0\n");
    policy.limits.memory = Some(1 << 20);
    let outcome = scene.run(&policy, "while :; do sleep .05; done");
    assert_eq!(outcome.outcome.exit, CommandExit::Signal(9));
    policy.without.insert(SandboxLayer::Limits);
    let outcome = scene.run(&policy, "ulimit -n");
    assert_ne!(outcome.output, "123\n");
}

#[test]
fn a_tree_is_measured_as_a_whole() {
    use crate::ResourceLimits;
    let limits = |memory, processes| ResourceLimits {
        memory,
        processes,
        ..ResourceLimits::default()
    };
    let exceeds =
        |limits: &ResourceLimits| super::super::memory::exceeds(limits, &[1, 2, 3], |_| 10);
    assert!(exceeds(&limits(Some(29), None)));
    assert!(!exceeds(&limits(Some(30), None)));
    assert!(exceeds(&limits(None, Some(2))));
    assert!(!exceeds(&limits(None, Some(3))));
    assert!(!exceeds(&limits(None, None)));
}

#[test]
fn a_terminal_becomes_the_commands_own() {
    let scene = Scene::new();
    let policy = scene.policy();
    let (mut request, [mut output, _errors]) = request(&policy.workspace, "ps -o tty= -p $$");
    let (_master, side) = open_terminal();
    let number = std::os::fd::AsRawFd::as_raw_fd(&side);
    let name = fs::read_link(format!("/proc/self/fd/{number}")).expect("a name");
    let name = name.to_str().expect("text").to_owned();
    request.streams[0] = side;
    request.terminal = true;
    let command = start_with(&scene.launcher(), &policy, request).expect("a command");
    command.wait();
    let mut text = String::new();
    output.read_to_string(&mut text).expect("text");
    assert_eq!(format!("/dev/{}", text.trim()), name);
}

/// Opens both sides of a new terminal.
#[expect(unsafe_code, reason = "the call has no safe wrapper here")]
fn open_terminal() -> (OwnedFd, OwnedFd) {
    use std::os::fd::FromRawFd as _;
    use std::ptr::{null, null_mut};
    let [mut master, mut side] = [-1; 2];
    // SAFETY: the call writes both descriptors; null pointers for the name, the attributes and the
    // size are allowed.
    let failed =
        unsafe { libc::openpty(&raw mut master, &raw mut side, null_mut(), null(), null()) };
    assert_eq!(failed, 0, "a terminal");
    // SAFETY: the call returned two new descriptors.
    unsafe { (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(side)) }
}

#[test]
fn nothing_runs_without_the_systems_launcher() {
    super::super::prepare();
    let scene = Scene::new();
    let policy = scene.policy();
    let (request, _output) = request(&policy.workspace, "touch ran");
    let refused = super::super::start(&policy, request)
        .map(|_| ())
        .expect_err("a refusal");
    assert!(
        refused.to_string().contains("/usr/bin/sandbox-exec"),
        "{refused}"
    );
    let refused = SupervisorPool::open(&policy)
        .map(|_| ())
        .expect_err("a refusal");
    assert!(
        refused.to_string().contains("/usr/bin/sandbox-exec"),
        "{refused}"
    );
    assert!(!exists(scene.at("home/work/ran")));
}

#[test]
fn a_warm_sandbox_protects_what_exists_when_a_command_starts() {
    let scene = Scene::new();
    let policy = scene.policy();
    let pool = SupervisorPool::open_with(scene.launcher(), &policy).expect("a sandbox");
    let pool = Arc::new(pool);
    let fixed = |pool: &Arc<SupervisorPool>| {
        let (request, output) = request(&policy.workspace, ":");
        let command = SupervisorPool::start(pool, request).expect("a command");
        let fixed = command.fixed();
        Started { command, output }.finish();
        fixed
    };
    assert_eq!(fixed(&pool), []);
    fs::create_dir(scene.at("home/work/.vscode")).expect("a folder");
    assert!(pool.is_current());
    assert_eq!(fixed(&pool), [scene.path("home/work/.vscode")]);
}
