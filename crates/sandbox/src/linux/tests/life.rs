//! Tests of how commands start and end.

use super::*;

/// Returns the number of processes with this in their command line.
fn processes(mark: &str) -> usize {
    let holds = |entry: &fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    entries.filter(holds).count()
}

/// Waits until a condition holds, for at most five seconds.
#[track_caller]
fn eventually(what: impl Fn() -> bool) {
    for _ in 0..500 {
        if what() {
            return;
        }
        super::super::kernel::sleep(10);
    }
    panic!("it did not come to be");
}

/// Run by the next test in a process of its own, which is killed while orders run in it.
#[test]
fn a_program_that_is_killed() {
    let Some(folder) = std::env::var_os("BURIN_TEST_KILLED") else {
        return;
    };
    let home = Home::new();
    let warm = WarmSandbox::open(&home.policy()).expect("a sandbox");
    let script = "setsid sleep 86404 & sleep 86404";
    let first = warm
        .start(shell(&home.work(), script).0)
        .expect("a command");
    let second = crate::start(&home.policy(), shell(&home.work(), script).0).expect("a command");
    // Renamed once it is complete, since the waiting test kills at once.
    let half = Path::new(&folder).with_extension("half");
    fs::write(&half, home.path().to_str().expect("a path")).expect("written");
    fs::rename(half, folder).expect("said");
    first.wait();
    second.wait();
}

#[test]
fn nothing_is_left_of_a_killed_program() {
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    for round in 0..5 {
        let said = folder.path().join(round.to_string());
        let mut command = std::process::Command::new(std::env::current_exe().expect("a program"));
        command.args(["--exact", "linux::tests::life::a_program_that_is_killed"]);
        command.env("BURIN_TEST_KILLED", &said);
        command.stdout(std::process::Stdio::null());
        let mut child = command.spawn().expect("a child");
        eventually(|| said.exists() && processes("86404") >= 6);
        child.kill().expect("killed");
        child.wait().expect("dead");
        eventually(|| processes("86404") == 0);
        let home = fs::read_to_string(&said).expect("a path");
        let left: Vec<_> = fs::read_dir(Path::new(&home).join("work"))
            .expect("work")
            .collect();
        assert_eq!(left.len(), 0, "{left:?}");
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        assert!(!mounts.contains(&home), "{mounts}");
        fs::remove_dir_all(home).expect("nothing mounted");
    }
}

#[test]
fn codes_and_signals_come_back() {
    let home = Home::new();
    check(&home.policy(), "exit 7", 7);
    let outcome = run(&home.policy(), "kill -TERM $$");
    assert_eq!(outcome.finished.exit, CommandExit::Signal(15));
}

#[test]
fn background_processes_end_with_the_command() {
    let home = Home::new();
    let warm = WarmSandbox::open(&home.policy()).expect("a sandbox");
    for script in [
        "setsid sleep 86401 & exit 0",
        "(setsid sh -c 'sleep 86401 & sleep 86401' &) & exit 0",
        "nohup sleep 86401 >/dev/null 2>&1 & exit 0",
    ] {
        let outcome = run_in(&warm, &home.work(), script);
        assert_eq!(outcome.finished.exit, CommandExit::Exit(0));
        assert_eq!(processes("86401"), 0, "{script}");
        check(&home.policy(), script, 0);
        assert_eq!(processes("86401"), 0, "{script}");
    }
}

#[test]
fn a_kill_handle_ends_the_command() {
    let home = Home::new();
    let warm = WarmSandbox::open(&home.policy()).expect("a sandbox");
    for is_kept in [true, false] {
        let (request, reader) = shell(&home.work(), "setsid sleep 86402 & sleep 86402");
        let running = if is_kept {
            warm.start(request)
        } else {
            crate::start(&home.policy(), request)
        };
        let running = running.expect("a command");
        assert_ne!(running.id(), 0);
        let kill_handle = running.kill_handle();
        kill_handle.kill();
        assert_eq!(processes("86402"), 0);
        assert_eq!(running.wait().exit, CommandExit::Signal(9));
        drop(reader);
    }
}

#[test]
fn a_signal_reaches_the_command() {
    let home = Home::new();
    let (request, mut reader) = shell(
        &home.work(),
        "trap 'exit 3' INT; echo up; while :; do sleep 0.01; done",
    );
    let running = crate::start(&home.policy(), request).expect("a command");
    let mut up = [0; 3];
    reader.read_exact(&mut up).expect("up");
    running.kill_handle().signal(libc::SIGINT);
    assert_eq!(running.wait().exit, CommandExit::Exit(3));
}

#[test]
fn commands_of_a_warm_sandbox_share_only_private_folders() {
    let home = Home::new();
    let warm = WarmSandbox::open(&home.policy()).expect("a sandbox");
    let work = home.work();
    assert_eq!(
        run_in(&warm, &work, "echo kept > /tmp/note").finished.exit,
        CommandExit::Exit(0)
    );
    assert_eq!(run_in(&warm, &work, "cat /tmp/note").text, "kept\n");
    assert_eq!(
        run_in(&warm, &work, "echo $$; ls -d /proc/[0-9]* | wc -l")
            .text
            .lines()
            .next(),
        Some("2")
    );
    assert!(!Path::new("/tmp/note").exists());
    assert_eq!(
        run_in(&warm, &work, "echo x > ../y").finished.denials.len(),
        1
    );
    assert_eq!(run_in(&warm, &work, "true").finished.denials, []);
}

#[test]
fn many_commands_run_at_once() {
    let home = Home::new();
    let warm = Arc::new(WarmSandbox::open(&home.policy()).expect("a sandbox"));
    let threads = (0..8).map(|number| {
        let (warm, work) = (warm.clone(), home.work());
        std::thread::spawn(move || {
            for round in 0..5 {
                let outcome = run_in(&warm, &work, &format!("echo {number} {round}"));
                assert_eq!(outcome.text, format!("{number} {round}\n"));
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().expect("a thread");
    }
}

#[test]
fn dropping_a_warm_sandbox_kills_its_commands() {
    let home = Home::new();
    let warm = WarmSandbox::open(&home.policy()).expect("a sandbox");
    let (request, _reader) = shell(&home.work(), "sleep 86403");
    let running = warm.start(request).expect("a command");
    drop(running);
    assert_eq!(processes("86403"), 0);
    drop(warm);
}

#[test]
fn a_stream_becomes_the_terminal() {
    let main = File::options()
        .read(true)
        .write(true)
        .open("/dev/ptmx")
        .expect("a terminal");
    let number = terminal(&main);
    let stream = File::options()
        .read(true)
        .write(true)
        .open(format!("/dev/pts/{number}"));
    let stream = OwnedFd::from(stream.expect("its other end"));
    let home = Home::new();
    let (mut request, mut reader) = shell(
        &home.work(),
        "tty <&0 >&2; echo typed > /dev/tty; ps -o tty= -p $$",
    );
    request.streams[0] = stream;
    request.terminal = true;
    let running =
        crate::start(&home.policy(), request).unwrap_or_else(|refused| panic!("{refused}"));
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    assert_eq!(running.wait().exit, CommandExit::Exit(0), "{text}");
    let mut typed = [0; 5];
    (&main).read_exact(&mut typed).expect("typed");
    assert_eq!(&typed, b"typed");
}

#[expect(unsafe_code, reason = "the kernel's requests about a terminal")]
fn terminal(main: &File) -> i32 {
    use std::os::fd::AsRawFd as _;
    let (mut number, unlocked) = (0, 0);
    // SAFETY: both numbers outlive the calls.
    unsafe {
        assert_eq!(
            libc::ioctl(main.as_raw_fd(), libc::TIOCSPTLCK as _, &raw const unlocked),
            0
        );
        assert_eq!(
            libc::ioctl(main.as_raw_fd(), libc::TIOCGPTN as _, &raw mut number),
            0
        );
    }
    number
}

#[test]
fn long_requests_are_transferred() {
    let home = Home::new();
    let (mut request, mut reader) = shell(&home.work(), "echo ${#LONG}");
    request
        .environment
        .push(("LONG".into(), "x".repeat(100_000).into()));
    let running = crate::start(&home.policy(), request).expect("a command");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    assert_eq!(
        (running.wait().exit, text.as_str()),
        (CommandExit::Exit(0), "100000\n")
    );
}
