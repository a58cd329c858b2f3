//! Tests with processes that try to escape.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::*;
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

/// Returns the living processes that sleep for this number of seconds, which no other test uses.
fn sleepers(seconds: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|name| {
            let line = std::fs::read(format!("/proc/{name}/cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0);
            words.next().is_some_and(|word| word.ends_with(b"sleep"))
                && words.next() == Some(seconds.as_bytes())
        })
        .collect()
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

/// Scripts that start a sleeper which tries to outlive them.
const FUGITIVES: [(&str, &str); 5] = [
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
        "setsid orphan",
        "( setsid nohup sleep SECONDS >/dev/null 2>&1 & ); sleep 0.2; echo up; sleep 600",
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
            let seconds = format!("9{}{ix}{round}.5", std::process::id());
            let script = script.replace("SECONDS", &seconds);
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
            match round {
                0 => drop(spawned),
                _ => spawned.stop(Duration::from_millis(50)),
            }
            let left: Vec<String> = sleepers(&seconds);
            assert!(left.is_empty(), "{name}: {left:?} live on");
        }
    }
}

#[test]
fn background_processes_end_with_their_command() {
    let folder = TempFolder::new().expect("a folder");
    let seconds = format!("8{}.5", std::process::id());
    let script = format!("setsid nohup sleep {seconds} >/dev/null 2>&1 & echo up");
    let (spawned, heard) = launch(&script, &folder, None);
    let ended = spawned.exit_receiver().recv_blocking().expect("an end");
    assert_eq!(ended.exit, ProcessExit::Exited(0));
    assert_eq!(text(&heard), "up\n");
    assert!(sleepers(&seconds).is_empty());
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
