//! Tests with processes that try to escape.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::*;
use crate::process::probe::{setsid, sleepers, wait_until};
use crate::process::tree::KEEPS_PARENTS;
use crate::temp::TempFolder;

type Heard = Arc<Mutex<Vec<u8>>>;

fn launch(
    script: &str,
    folder: &TempFolder,
    screen: Option<TerminalSize>,
) -> (SpawnedProcess, Heard) {
    let variables = crate::environment::variables(crate::environment::Recipient::Foreign);
    let launch = LaunchRequest {
        program: "bash".into(),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.path().clone(),
        variables,
        terminal: screen,
        sandbox: None,
    };
    let heard = Heard::default();
    let sink = Arc::clone(&heard);
    let spawned = spawn(
        &launch,
        Box::new(move |bytes| sink.lock().expect("no panic").extend_from_slice(bytes)),
    );
    (spawned.expect("bash"), heard)
}

fn text(heard: &Heard) -> String {
    String::from_utf8_lossy(&heard.lock().expect("no panic")).into_owned()
}

fn wait_for(heard: &Heard, what: &str) {
    let start = Instant::now();
    while !text(heard).contains(what) {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", text(heard));
        thread::sleep(Duration::from_millis(2));
    }
}

const SCREEN: Option<TerminalSize> = Some(TerminalSize {
    rows: 24,
    columns: 80,
});

#[test]
fn output_and_code_come_back_with_and_without_a_terminal() {
    let folder = TempFolder::new().expect("a folder");
    for (screen, expected) in [(None, "one\ntwo\nno\n"), (SCREEN, "one\r\ntwo\r\nyes\r\n")] {
        let script = "echo one; echo two >&2; test -t 1 && echo yes || echo no; exit 3";
        let (spawned, heard) = launch(script, &folder, screen);
        let ended = spawned.exit_receiver().recv_blocking().expect("an end");
        assert_eq!((ended.exit, ended.orphans), (ProcessExit::Exited(3), 0));
        assert_eq!(text(&heard), expected);
    }
}

#[test]
fn typed_input_reaches_the_process() {
    let folder = TempFolder::new().expect("a folder");
    let (spawned, heard) = launch("read line; echo \"got $line\"; stty size", &folder, SCREEN);
    assert!(spawned.write(b"hello\n".to_vec()));
    let ended = spawned.exit_receiver().recv_blocking().expect("an end");
    assert_eq!(ended.exit, ProcessExit::Exited(0));
    assert!(
        text(&heard).contains("got hello\r\n24 80"),
        "{}",
        text(&heard)
    );
}

#[test]
fn a_line_that_is_not_shown_is_hidden_input() {
    let folder = TempFolder::new().expect("a folder");
    let script = "echo plain; read line; stty -echo; echo hidden; read line; stty echo; echo shown; read line";
    let (spawned, heard) = launch(script, &folder, SCREEN);
    for (what, is_hidden) in [("plain", false), ("hidden", true), ("shown", false)] {
        wait_for(&heard, what);
        assert_eq!(spawned.hides_input(), is_hidden, "{what}");
        assert!(spawned.write(b"x\n".to_vec()));
    }
    let (piped, _) = launch("sleep 60", &folder, None);
    assert!(!piped.hides_input());
}

#[test]
fn a_missing_program_is_named() {
    let folder = TempFolder::new().expect("a folder");
    for screen in [None, SCREEN] {
        let launch = LaunchRequest {
            program: "no-such-program-here".into(),
            arguments: Vec::new(),
            folder: folder.path().clone(),
            variables: Vec::new(),
            terminal: screen,
            sandbox: None,
        };
        let error = spawn(&launch, Box::new(|_| {})).expect_err("nothing to start");
        assert!(
            error
                .to_string()
                .contains("no-such-program-here is not installed"),
            "{error}"
        );
    }
}

/// The sleeper that loses its parent before anything could see it.
const UNSEEN: &str = "setsid orphan";

/// Scripts that start a sleeper which tries to outlive them.
const FUGITIVES: [(&str, &str); 6] = [
    ("setsid", "setsid sleep SECONDS & echo up; wait"),
    (
        "double fork",
        "( ( sleep SECONDS & ) & ); sleep 0.2; echo up; sleep 600",
    ),
    (
        "nohup",
        "nohup sleep SECONDS >/dev/null 2>&1 & echo up; wait",
    ),
    (
        UNSEEN,
        "( setsid nohup sleep SECONDS >/dev/null 2>&1 & ); sleep 0.2; echo up; sleep 600",
    ),
    (
        "setsid orphan that was seen",
        "echo up; ( setsid nohup sleep SECONDS >/dev/null 2>&1 & \
         until [ -e goSECONDS ]; do sleep 0.01; done ); echo left; sleep 600",
    ),
    (
        "deaf",
        "trap '' TERM HUP INT; sleep SECONDS & echo up; wait",
    ),
];

#[test]
fn no_process_survives_a_drop_or_stop() {
    let folder = TempFolder::new().expect("a folder");
    for (ix, (name, script)) in FUGITIVES.iter().enumerate() {
        for (round, screen) in [None, SCREEN].into_iter().enumerate() {
            if *name == UNSEEN && !KEEPS_PARENTS {
                test_support::skip_part("the process table forgets parents that have ended");
                continue;
            }
            let seconds = format!("9{}{ix}{round}.5", std::process::id());
            let script = script.replace("SECONDS", &seconds);
            let script = script.replace("setsid", setsid());
            let (spawned, heard) = launch(&script, &folder, screen);
            wait_for(&heard, "up");
            let start = Instant::now();
            while sleepers(&seconds).is_empty() {
                assert!(
                    start.elapsed() < Duration::from_secs(20),
                    "{name} has not begun"
                );
                thread::sleep(Duration::from_millis(2));
            }
            if script.contains("left") {
                let sleeper = sleepers(&seconds)[0];
                wait_until("the sleeper", || spawned.members().contains(&sleeper));
                let gate = folder.path().join(format!("go{seconds}"));
                std::fs::write(gate.as_path(), "").expect("a file");
                wait_for(&heard, "left");
            }
            match round {
                0 => drop(spawned),
                _ => spawned.stop(Duration::from_millis(50)),
            }
            let left = sleepers(&seconds);
            assert!(left.is_empty(), "{name}: {left:?} live on");
        }
    }
}

#[test]
fn background_processes_end_with_their_command() {
    for is_awaited in [true, false] {
        if !is_awaited && !KEEPS_PARENTS {
            test_support::skip_part("the process table forgets parents that have ended");
            continue;
        }
        let folder = TempFolder::new().expect("a folder");
        let seconds = format!("8{}{}.5", std::process::id(), u8::from(is_awaited));
        let mut script = setsid().to_owned();
        script.push_str(&format!(" nohup sleep {seconds} >/dev/null 2>&1 & echo up"));
        if is_awaited {
            script.push_str("; until [ -e go ]; do sleep 0.01; done");
        }
        let (spawned, heard) = launch(&script, &folder, None);
        if is_awaited {
            let is_seen = || {
                let members = spawned.members();
                sleepers(&seconds).iter().any(|pid| members.contains(pid))
            };
            wait_until("the sleeper", is_seen);
            std::fs::write(folder.path().join("go").as_path(), "").expect("a file");
        }
        let ended = spawned.exit_receiver().recv_blocking().expect("an end");
        assert_eq!(ended.exit, ProcessExit::Exited(0));
        assert_eq!(text(&heard), "up\n");
        assert!(sleepers(&seconds).is_empty());
    }
}

#[test]
fn an_interrupt_arrives() {
    let folder = TempFolder::new().expect("a folder");
    for screen in [None, SCREEN] {
        let script = "trap 'echo caught; exit 7' INT; echo up; while :; do sleep 0.01; done";
        let (spawned, heard) = launch(script, &folder, screen);
        wait_for(&heard, "up");
        spawned.interrupt();
        let ended = spawned.exit_receiver().recv_blocking().expect("an end");
        assert_eq!(ended.exit, ProcessExit::Exited(7), "{}", text(&heard));
    }
}
