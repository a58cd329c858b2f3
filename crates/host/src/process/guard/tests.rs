//! Tests of programs that are killed while they have child processes.

use std::io::{BufRead, BufReader};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use std::sync::Arc;

use crate::process::probe::{is_alive, setsid, wait_until};
use crate::process::tree::system_table::SystemTable;
use crate::process::tree::table::ProcessTable;
use crate::process::{LaunchRequest, ProcessEnvironment, StartRequest, spawn, start};
use crate::temp::TempFolder;

use super::*;

const SHOWS: &str = "the child is ";
/// A script that starts a process which stays in its group, and one that leaves its group, session
/// and parents once the file `$0` exists.
const SCRIPT: &str = r#"
sleep 600 & echo "the child is $!"
(
  setsid sh -c 'echo "the child is $$"; exec sleep 600' &
  until [ -e "$0" ]; do sleep 0.01; done
)
echo left
wait
"#;

/// Words that no test name contains, by which a process knows that it serves as a guard.
const GUARD_ARGUMENT: &str = "serve as a guard";

/// Makes this test program the guard of its processes, where the guard is a program.
fn serve_ourselves() {
    let own = std::env::current_exe().expect("our path");
    let test = "process::guard::tests::a_program_serves_as_guard";
    let arguments = [test, "--exact", "--nocapture", "--skip", GUARD_ARGUMENT];
    program::set_program(own, arguments.map(Into::into).to_vec());
}

#[test]
fn a_program_serves_as_guard() {
    let table: Arc<dyn ProcessTable> = Arc::new(SystemTable);
    if std::env::args().any(|argument| argument == GUARD_ARGUMENT) {
        program::serve(std::io::stdin().lock(), &table);
        return;
    }
    serve_ourselves();
    let sleep = || {
        let mut command = Command::new("sleep");
        command.arg("600").spawn().expect("sleep")
    };
    let (mut left, mut ended, mut member) = (sleep(), sleep(), sleep());
    let identity = |child: &Child| {
        let entry = table.find(child.id().cast_signed());
        entry.expect("it runs").identity
    };
    let lines = format!(
        "begins {} {}\nbegins {} {}\nmember {} {}\nends {}\n",
        left.id(),
        identity(&left),
        ended.id(),
        identity(&ended),
        left.id(),
        identity(&member),
        ended.id()
    );
    let mut guard = program::program().expect("it is known");
    let guard = guard.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut guard = guard.spawn().expect("ourselves again");
    let mut input = guard.stdin.take().expect("a pipe");
    input.write_all(lines.as_bytes()).expect("it reads");
    drop(input);
    assert!(guard.wait().expect("its end").success());
    for child in [&mut left, &mut member] {
        assert!(!child.wait().expect("its end").success());
    }
    assert_eq!(ended.try_wait().expect("its state"), None);
    ended.kill().expect("killed");
    ended.wait().expect("its end");
}

#[test]
fn a_guard_without_marks_kills_the_groups_that_are_left() {
    let sleep = || {
        let mut command = Command::new("sleep");
        command.arg("600").process_group(0).spawn().expect("sleep")
    };
    let (mut left, mut ended) = (sleep(), sleep());
    let (one, two) = (left.id(), ended.id());
    let lines = format!("begins {one} 1\nbegins {two} 2\nmember {one} 3\nends {two}\n");
    let mut guard = shell("").stdin(Stdio::piped()).spawn().expect("sh");
    let mut input = guard.stdin.take().expect("a pipe");
    input.write_all(lines.as_bytes()).expect("it reads");
    drop(input);
    guard.wait().expect("its end");
    assert!(!left.wait().expect("its end").success());
    assert_eq!(ended.try_wait().expect("its state"), None);
    ended.kill().expect("killed");
    ended.wait().expect("its end");
}

#[test]
fn changes_reach_the_guard_and_the_record() {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("record");
    let read = || std::fs::read_to_string(path.as_path()).expect("the record");
    let mut guard = ProcessGuard {
        process: None,
        trees: TreeRecord::new(),
        record: None,
        recorded: 0,
    };
    guard.send("begins 1000000001 5");
    let file = File::create(path.as_path()).expect("a file");
    guard.record = Some((file, "start".to_owned()));
    guard.write_record();
    guard.send("member 1000000001 6");
    assert_eq!(read(), "start\nbegins 1000000001 5\nmember 1000000001 6\n");
    // A long history is replaced by the state.
    for identity in 0..8000 {
        guard.send(&format!("member 1000000001 {identity}"));
        guard.send(&format!("gone 1000000001 {identity}"));
    }
    assert!(read().len() <= MAX_RECORD, "{}", read().len());
    let mut again = TreeRecord::new();
    read().lines().skip(1).for_each(|line| again.apply(line));
    assert_eq!(again, guard.trees);
    assert!(guard.trees.trees().next().is_some());
}

fn variables() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    vec![("PATH".into(), "/usr/bin:/bin".into())]
}

fn pids(text: &str) -> Vec<u32> {
    let found = text.lines().filter_map(|line| line.split(SHOWS).nth(1));
    found.filter_map(|number| number.parse().ok()).collect()
}

/// Runs as the program that is killed: starts a process of each kind.
fn is_killed() {
    serve_ourselves();
    let folder = TempFolder::new().expect("a folder");
    let gates = [folder.path().join("one"), folder.path().join("two")];
    let script = |gate: &base::AbsPath| {
        let gate = gate.as_path().as_os_str().to_owned();
        vec!["-c".into(), SCRIPT.replace("setsid", setsid()).into(), gate]
    };
    let live = start(&StartRequest {
        program: "sh".into(),
        arguments: script(&gates[0]),
        folder: folder.path().clone(),
        environment: ProcessEnvironment::Only(variables()),
    });
    let live = live.expect("sh starts");
    let mut lines = BufReader::new(live.output).lines();
    let mut children = Vec::new();
    for _ in 0..2 {
        let line = lines.next().expect("a line").expect("a line");
        println!("{line}");
        children.extend(pids(&line));
    }
    let is_seen = || {
        let members = live.group.members();
        children.iter().all(|pid| members.contains(pid))
    };
    wait_until("the members of the live process", is_seen);
    std::fs::write(gates[0].as_path(), "").expect("a file");
    assert_eq!(lines.next().expect("a line").expect("a line"), "left");
    let (told, heard) = std::sync::mpsc::channel();
    let launch = LaunchRequest {
        program: "sh".into(),
        arguments: script(&gates[1]),
        folder: folder.path().clone(),
        variables: variables(),
        terminal: None,
        sandbox: None,
    };
    let mut text = Vec::new();
    let sink = move |bytes: &[u8]| {
        text.extend_from_slice(bytes);
        if text.ends_with(b"\n") {
            told.send(String::from_utf8_lossy(&text).into_owned()).ok();
        }
    };
    let spawned = spawn(&launch, Box::new(sink)).expect("sh starts");
    let hear = |enough: &dyn Fn(&str) -> bool| loop {
        let text = heard.recv().expect("more lines");
        if enough(&text) {
            return text;
        }
    };
    let text = hear(&|text| text.lines().count() == 2);
    print!("{text}");
    let is_seen = || {
        let members = spawned.members();
        pids(&text).iter().all(|pid| members.contains(pid))
    };
    wait_until("the members of the process", is_seen);
    std::fs::write(gates[1].as_path(), "").expect("a file");
    hear(&|text| text.ends_with("left\n"));
    // An earlier group that ended does no harm.
    let short = LaunchRequest {
        arguments: vec!["-c".into(), "exit 0".into()],
        ..launch
    };
    let short = spawn(&short, Box::new(|_| {})).expect("sh starts");
    short.exit_receiver().recv_blocking().expect("its end");
    println!(
        "the guard is {}",
        lock().process.as_ref().expect("it is there").0.id()
    );
    let own = rustix::process::getpid();
    kill_process(own, Signal::KILL).expect("a signal to ourselves");
    thread::sleep(Duration::from_secs(10));
    drop((live.group, spawned));
}

#[test]
fn children_end_when_the_program_is_killed() {
    if crate::reexec::is_reexec() {
        return is_killed();
    }
    let me = std::env::current_exe().expect("our path");
    let test = "process::guard::tests::children_end_when_the_program_is_killed";
    let output = Command::new(me)
        .args([test, "--exact", "--nocapture"])
        .env("BURIN_TEST_AGAIN", "1")
        .output()
        .expect("ourselves again");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = |shows: &str| -> Vec<i32> {
        let found = text.lines().filter_map(|line| line.split(shows).nth(1));
        found.filter_map(|number| number.parse().ok()).collect()
    };
    let children = numbers(SHOWS);
    assert_eq!(children.len(), 4, "{text}");
    assert!(!output.status.success());
    let began = Instant::now();
    let all: Vec<i32> = children
        .into_iter()
        .chain(numbers("the guard is "))
        .collect();
    assert_eq!(all.len(), 5, "{text}");
    while all.iter().any(|pid| is_alive(*pid)) {
        let alive: Vec<_> = all.iter().filter(|pid| is_alive(**pid)).collect();
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{alive:?} of {all:?} outlived us"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_killed_guard_is_restarted() {
    let group = |script: &str| {
        start(&StartRequest {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
            folder: base::AbsPath::new("/").expect("absolute"),
            environment: ProcessEnvironment::Only(variables()),
        })
        .expect("sh starts")
    };
    let number = || lock().process.as_ref().map(|(child, _)| child.id());
    let first = group("sleep 600");
    let guard = number().expect("it is there");
    let second = group("sleep 600");
    assert_eq!(number(), Some(guard));
    let pid = Pid::from_raw(guard.cast_signed()).expect("a number");
    kill_process(pid, Signal::KILL).expect("it runs");
    let began = Instant::now();
    // Another test may be the first to notice.
    while number() == Some(guard) {
        assert!(began.elapsed() < Duration::from_secs(10), "nobody noticed");
        drop(group("exit 0"));
    }
    let own = [first.group.id(), second.group.id()];
    let is_watched = || own.map(|own| lock().trees.trees().any(|(first, _)| first == own));
    assert_eq!(is_watched(), [true; 2]);
    drop((first, second));
    while is_watched() != [false; 2] {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "they are still watched"
        );
        thread::sleep(Duration::from_millis(5));
    }
}
