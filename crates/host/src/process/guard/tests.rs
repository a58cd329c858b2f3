//! Tests of programs that are killed while they have child processes.

use std::io::{BufRead, BufReader};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use crate::process::{LaunchRequest, ProcessEnvironment, StartRequest, spawn, start};
use crate::temp::TempFolder;

use super::*;

const SHOWS: &str = "the child is ";
/// One that stays in its group, and one that has left its group, session and parents.
const SCRIPT: &str = r#"
sleep 600 & echo "the child is $!"
( setsid sh -c 'echo "the child is $$"; exec sleep 600' & )
wait
"#;

fn is_alive(pid: i32) -> bool {
    // A process that ended but was not reaped counts as gone.
    let path = format!("/proc/{pid}/stat");
    std::fs::read_to_string(path).is_ok_and(|stat| !stat.contains(") Z "))
}

fn variables() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    vec![("PATH".into(), "/usr/bin:/bin".into())]
}

/// A program with a process of each kind, killed while they run.
fn is_killed() {
    let folder = TempFolder::new().expect("a folder");
    let live = start(&StartRequest {
        program: "sh".into(),
        arguments: vec!["-c".into(), SCRIPT.into()],
        folder: folder.path().clone(),
        environment: ProcessEnvironment::Only(variables()),
    });
    let live = live.expect("sh starts");
    let mut lines = BufReader::new(live.output).lines();
    for _ in 0..2 {
        println!("{}", lines.next().expect("a line").expect("a line"));
    }
    let (told, heard) = std::sync::mpsc::channel();
    let launch = LaunchRequest {
        program: "sh".into(),
        arguments: vec!["-c".into(), SCRIPT.into()],
        folder: folder.path().clone(),
        variables: variables(),
        terminal: None,
        sandbox: None,
    };
    let mut text = Vec::new();
    let sink = move |bytes: &[u8]| {
        text.extend_from_slice(bytes);
        if text.iter().filter(|byte| **byte == b'\n').count() == 2 {
            told.send(String::from_utf8_lossy(&text).into_owned()).ok();
        }
    };
    let spawned = spawn(&launch, Box::new(sink)).expect("sh starts");
    print!("{}", heard.recv().expect("two lines"));
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
    let groups = lock().groups.clone();
    assert!(own.iter().all(|group| groups.contains(group)), "{groups:?}");
    drop((first, second));
    while lock().groups.iter().any(|group| own.contains(group)) {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "they are still watched"
        );
        thread::sleep(Duration::from_millis(5));
    }
}
