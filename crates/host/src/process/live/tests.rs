//! Tests of long-running processes and their children.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use super::*;
use crate::process::probe::{is_alive, setsid, wait_until};
use crate::process::tree::KEEPS_PARENTS;
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

/// Starts a sleeper that leaves its group and session, and prints its id.
const FUGITIVE: &str = "setsid sh -c 'echo $$; exec sleep 600' &";

#[test]
fn a_reparented_descendant_is_killed_too() {
    let fugitive = FUGITIVE.replace("setsid", setsid());
    for (is_awaited, is_dropped) in [(true, true), (true, false), (false, true), (false, false)] {
        if !is_awaited && !KEEPS_PARENTS {
            test_support::skip_part("the process table forgets parents that have ended");
            continue;
        }
        // Its parent ends at once, or when the descendant was seen.
        let first = if is_awaited {
            format!("( {fugitive} read -r line )")
        } else {
            format!("( {fugitive} )")
        };
        // The process is stopped, or ends on its own.
        let rest = if is_dropped {
            "sleep 600"
        } else {
            "read -r line"
        };
        let mut live = shell(&format!("{first}; echo left; {rest}"));
        let mut output = BufReader::new(live.output);
        let mut line = String::new();
        // Without waiting, the two lines come in any order.
        while line.trim().parse::<i32>().is_err() {
            line.clear();
            output.read_line(&mut line).expect("a line");
        }
        let pid: i32 = line.trim().parse().expect("a number");
        assert!(is_alive(pid));
        if is_awaited {
            let is_seen = || live.group.members().contains(&pid.cast_unsigned());
            wait_until("the descendant", is_seen);
            live.input.write_all(b"go\n").expect("it reads");
            line.clear();
            output.read_line(&mut line).expect("a line");
            assert_eq!(line, "left\n");
        }
        drop(live.input);
        if is_dropped {
            drop(live.group);
            assert!(dies(pid), "{pid} is left");
        } else {
            // `read` reached the end of its input.
            assert_eq!(wait(&live.group), ProcessExit::Exited(1));
            assert!(!is_alive(pid), "{pid} is left");
        }
    }
}

#[test]
fn the_memory_of_a_group_grows_with_its_children() {
    let memory = |script: &str| {
        let mut live = shell(script);
        let mut line = String::new();
        let mut output = BufReader::new(&mut live.output);
        output.read_line(&mut line).expect("it writes");
        let bytes = live.group.memory().expect("it runs");
        live.group.kill();
        wait(&live.group);
        assert_eq!(live.group.memory(), None);
        bytes
    };
    let alone = memory("echo ready; read -r word");
    let with_children = memory("for n in 1 2 3 4; do sleep 1000 & done; echo ready; read -r word");
    assert!(
        alone > 10_000 && with_children > alone,
        "{alone} {with_children}"
    );
}
