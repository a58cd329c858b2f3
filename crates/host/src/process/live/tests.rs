//! Tests of long-running processes and their children.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use super::*;
use crate::temp::TempFolder;

fn shell(script: &str) -> LiveProcess {
    start(&StartRequest {
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        // A child that runs as long as the process.
        folder: AbsPath::new("/").expect("absolute"),
        environment: ProcessEnvironment::Only(vec![("PATH".into(), "/usr/bin:/bin".into())]),
    })
    .expect("sh starts")
}

fn wait(group: &ProcessGroup) -> ProcessExit {
    let start = Instant::now();
    loop {
        if let Some(end) = group.exit() {
            return end;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "it never ended");
        thread::sleep(Duration::from_millis(2));
    }
}

fn is_alive(pid: i32) -> bool {
    // A process that ended but was not reaped counts as gone.
    let path = format!("/proc/{pid}/stat");
    std::fs::read_to_string(path).is_ok_and(|stat| !stat.contains(") Z "))
}

fn dies(pid: i32) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        if !is_alive(pid) {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_live_process_exchanges_data_and_reports_its_exit() {
    let mut live = shell("read -r word; echo \"got $word\"; echo oops >&2; exit 3");
    live.input.write_all(b"hello\n").expect("it reads");
    let mut text = String::new();
    live.output.read_to_string(&mut text).expect("it writes");
    let mut complaint = String::new();
    live.errors
        .read_to_string(&mut complaint)
        .expect("it complains");
    assert_eq!(
        (text.as_str(), complaint.as_str()),
        ("got hello\n", "oops\n")
    );
    assert_eq!(wait(&live.group), ProcessExit::Exited(3));
}

#[test]
fn an_error_names_the_missing_program() {
    let folder = TempFolder::new().expect("a folder");
    let error = start(&StartRequest {
        program: "burin-no-such-program".into(),
        arguments: Vec::new(),
        folder: folder.path().clone(),
        environment: ProcessEnvironment::Only(Vec::new()),
    })
    .expect_err("nothing starts");
    assert!(
        error
            .to_string()
            .contains("burin-no-such-program is not installed")
    );
}

#[test]
fn children_end_with_a_live_process() {
    for script in [
        "sleep 60 & echo $!; exit 0",
        "nohup sleep 60 >/dev/null 2>&1 & echo $!; exit 0",
        "sleep 60 & echo $!; wait",
    ] {
        let live = shell(script);
        let mut line = String::new();
        let mut output = BufReader::new(live.output);
        output.read_line(&mut line).expect("a number");
        let pid = line.trim().parse().expect("a number");
        drop(live.group);
        assert!(dies(pid), "{script} left {pid}");
    }
}

/// Starts a sleeper that leaves its group, session and parents, and prints its id.
const FUGITIVE: &str = "( setsid sh -c 'echo $$; exec sleep 600' & )";

#[test]
fn a_reparented_descendant_is_killed_too() {
    for (script, is_dropped) in [
        (format!("{FUGITIVE}; sleep 600"), true),
        // The process ends on its own.
        (format!("{FUGITIVE}; read -r line"), false),
    ] {
        let live = shell(&script);
        let mut line = String::new();
        let mut output = BufReader::new(live.output);
        output.read_line(&mut line).expect("a number");
        let pid = line.trim().parse().expect("a number");
        assert!(is_alive(pid));
        drop(live.input);
        if is_dropped {
            drop(live.group);
            assert!(dies(pid), "{script} left {pid}");
        } else {
            // `read` reached the end of its input.
            assert_eq!(wait(&live.group), ProcessExit::Exited(1));
            assert!(!is_alive(pid), "{script} left {pid}");
        }
    }
}
