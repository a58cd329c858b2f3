//! Tests of processes with a folder, a deadline and a cap.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use super::{ProcessEnvironment, ProcessExit, ProcessOutput, ProcessRequest, run, run_while};
use crate::temp::TempFolder;

fn shell(script: &str, change: impl Fn(&mut ProcessRequest)) -> ProcessOutput {
    let folder = TempFolder::new().expect("a temporary folder");
    let mut request = ProcessRequest::new("sh", folder.path()).with_arguments(["-c", script]);
    change(&mut request);
    run(&request).expect("a process")
}

#[test]
fn output_errors_and_code_come_back() {
    let finished = shell("echo out; echo err >&2; exit 3", |_| {});
    assert_eq!(finished.exit, ProcessExit::Exited(3));
    assert_eq!(finished.text(), "out\n");
    assert_eq!(finished.errors, b"err\n");
    assert!(!finished.is_success() && !finished.is_cut);
}

#[test]
fn run_passes_input_and_folder() {
    let finished = shell("cat; pwd", |request| request.input = b"in ".to_vec());
    assert!(finished.text().starts_with("in /"), "{}", finished.text());
    assert!(finished.text().contains("burin-test-"));
}

#[test]
fn output_is_cut_at_the_cap_without_stopping_the_process() {
    let finished = shell("yes | head -c 1000000; echo done >&2", |request| {
        request.output_cap = 1000;
    });
    assert_eq!((finished.output.len(), finished.is_cut), (1000, true));
    assert_eq!(finished.errors, b"done\n");
}

#[test]
fn the_deadline_kills_the_whole_group() {
    let start = Instant::now();
    // The grandchild holds the pipes open.
    let finished = shell("sleep 100 & sleep 100", |request| {
        request.deadline = Duration::from_millis(100);
    });
    assert_eq!(finished.exit, ProcessExit::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn background_processes_end_with_run() {
    let start = Instant::now();
    let finished = shell("sleep 100 & echo started", |_| {});
    assert_eq!(finished.text(), "started\n");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_environment_can_be_chosen() {
    let finished = shell("echo $ONE-$HOME", |request| {
        let one = (OsString::from("ONE"), OsString::from("1"));
        let path = (
            OsString::from("PATH"),
            std::env::var_os("PATH").unwrap_or_default(),
        );
        request.environment = ProcessEnvironment::Only(vec![one, path]);
    });
    assert_eq!(finished.text(), "1-\n");
}

#[test]
fn a_missing_program_and_a_signal_are_reported() {
    let folder = TempFolder::new().expect("a temporary folder");
    let missing = run(&ProcessRequest::new("no-such-program", folder.path()));
    let message = missing.expect_err("an error").to_string();
    assert!(
        message.contains("no-such-program is not installed"),
        "{message}"
    );
    let killed = shell("kill -9 $$", |_| {});
    assert_eq!(killed.exit, ProcessExit::Signalled(9));
}

#[test]
fn an_unwanted_process_is_killed() {
    let folder = TempFolder::new().expect("a temporary folder");
    let request = ProcessRequest::new("sh", folder.path()).with_arguments(["-c", "sleep 600"]);
    let began = Instant::now();
    let is_wanted = || began.elapsed() < Duration::from_millis(50);
    let finished = run_while(&request, &is_wanted).expect("a process");
    assert_eq!(finished.exit, ProcessExit::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(5));
}
