//! Tests that an agent runs, with a runner that prints a recorded output.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::*;
use crate::tool::ToolDisplay;

const TEXT: &str = "def test_adds():\n    assert 1\n\ndef test_subtracts():\n    assert 0\n";

/// A project whose interpreter is a script that prints its arguments and `output`, and ends with `code`.
fn project(output: &str, code: i32) -> World {
    let world = World::real();
    world.write("tests/test_sums.py", TEXT);
    world.write("pytest.ini", "");
    world.write("notes.txt", "");
    world.write("output.txt", output);
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$*\"\ncat output.txt\nexit {code}\n");
    world.write(".venv/bin/python", &script);
    let program = world.context.root.join(".venv/bin/python");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program.as_path(), executable).expect("a script");
    world
}

const OUTPUT: &str = "tests/test_sums.py::test_adds PASSED    [ 50%]
tests/test_sums.py::test_subtracts FAILED    [100%]

=================================== FAILURES ===================================
________________________________ test_subtracts ________________________________
tests/test_sums.py:5: in test_subtracts
    assert 0
E   assert 0
----------------------------- Captured stdout call -----------------------------
printed
=========================== short test summary info ============================
FAILED tests/test_sums.py::test_subtracts - assert 0
========================= 1 failed, 1 passed in 0.01s ==========================
";

#[tokio::test]
async fn failed_tests_are_described_and_passed_ones_counted() {
    let world = project(OUTPUT, 1);
    let answer = world.call("run_tests", json!({})).await;
    let failed = "pytest: 2 tests, 1 passed, 1 failed\n\n\
        FAILED tests/test_sums.py::test_subtracts at tests/test_sums.py:5\nassert 0\noutput:\n";
    assert_says(&answer, CallOutcome::Ok, failed);
    assert_says(&answer, CallOutcome::Ok, "printed\n[exit code 1 after ");
    let [ToolDisplay::Command { command, code, .. }] = &answer.display[..] else {
        panic!("{:?}", answer.display);
    };
    let python = world.context.root.join(".venv/bin/python");
    assert_eq!(
        *command,
        format!("{python} -m pytest -v --tb=short --color=no")
    );
    assert_eq!(*code, Some(1));
}

#[tokio::test]
async fn the_command_selects_tests_by_path_and_name() {
    let world = project("tests/test_sums.py::test_adds PASSED [100%]\n", 0);
    let command = |input: Value| {
        let access = world.access("run_tests", input).expect("a command");
        let command = access.command.expect("a command");
        assert!(!access.writes.is_empty(), "{command}");
        let (_, arguments) = command.split_once("--color=no").expect("the options");
        arguments.trim().to_owned()
    };
    assert_eq!(command(json!({ "path": "tests" })), "./tests");
    let file = json!({ "path": "tests/test_sums.py" });
    assert_eq!(command(file), "tests/test_sums.py");
    let one = json!({ "path": "tests/test_sums.py", "name": "adds" });
    assert_eq!(command(one.clone()), "tests/test_sums.py::test_adds");
    assert_eq!(command(json!({ "name": "a; rm b" })), "'-k=a and rm and b'");
    let answer = world.call("run_tests", one).await;
    assert_says(
        &answer,
        CallOutcome::Ok,
        "pytest: 1 test, 1 passed\n[exit code 0",
    );
}

#[tokio::test]
async fn a_run_without_results_shows_the_end_of_the_output() {
    let world = project("ImportError: no module\n", 2);
    let answer = world.call("run_tests", json!({})).await;
    assert_says(&answer, CallOutcome::Ok, "pytest: no test ran\n");
    assert_says(
        &answer,
        CallOutcome::Ok,
        "ImportError: no module\n[exit code 2",
    );
}

#[tokio::test]
pub(super) async fn every_way_of_testing_to_fail_says_what_to_do() {
    use CallOutcome::{InvalidArguments, UnexpectedEnvironment};
    let world = project("", 0);
    world.write("tests/test_none.py", "x = 1\n");
    let file = "tests/test_sums.py";
    let cases = [
        (json!({ "path": 3 }), InvalidArguments, "a string"),
        (
            json!({ "timeout_ms": "x" }),
            InvalidArguments,
            "whole number",
        ),
        (
            json!({ "path": "none.py" }),
            UnexpectedEnvironment,
            "no file none.py",
        ),
        (
            json!({ "path": "/" }),
            UnexpectedEnvironment,
            "outside the project",
        ),
        (
            json!({ "path": "notes.txt" }),
            UnexpectedEnvironment,
            "No test runner is known",
        ),
        (
            json!({ "path": "tests/test_none.py" }),
            UnexpectedEnvironment,
            "There are no tests",
        ),
        (
            json!({ "path": file, "name": "divides" }),
            UnexpectedEnvironment,
            "one of: test_adds, test_subtracts",
        ),
    ];
    for (input, outcome, says) in cases {
        let answer = world.call("run_tests", input).await;
        assert_says(&answer, outcome, says);
    }
    let (sender, stop) = tokio::sync::watch::channel(false);
    let mut stopped = project("", 0);
    stopped.context.stop = stop;
    sender.send(true).expect("a receiver");
    let answer = stopped.call("run_tests", json!({})).await;
    assert_eq!(answer.outcome, CallOutcome::UserAborted);
}
