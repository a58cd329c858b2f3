//! A test run once more in a process of its own, where it may change what belongs to the process.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::temp::TempFolder;

/// Says which part the process plays.
const PART: &str = "BURIN_TEST_AGAIN";

/// Whether this is the other process.
pub(crate) fn is_again() -> bool {
    std::env::var_os(PART).is_some()
}

/// Runs one test again by way of `program`, which is given this program and its arguments. `None`
/// when `program` does not work here.
pub(crate) fn run_again(
    test: &str,
    program: &[&str],
    variables: &[(&str, &str)],
) -> Option<String> {
    let folder = TempFolder::new().expect("a temporary folder");
    let own = folder.path().join("test");
    // Where every user can reach it.
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), readable).expect("a mode");
    let program_file = std::env::current_exe().expect("the path of this program");
    // By another program: a file that was open for writing here while a test beside us forked cannot be started.
    let copied = Command::new("cp")
        .args([program_file.as_os_str(), own.as_path().as_os_str()])
        .status();
    assert!(copied.is_ok_and(|status| status.success()), "not copied");
    let mut command = Command::new(program[0]);
    command
        .args(&program[1..])
        .arg(own.as_path())
        .current_dir(folder.path());
    command
        .args([test, "--exact", "--nocapture"])
        .env(PART, "1");
    command.envs(variables.iter().copied());
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if !text.contains("running 1 test") {
        eprintln!("skipped: {program:?} does not work here: {errors}");
        return None;
    }
    assert!(output.status.success(), "{text}{errors}");
    Some(text + &errors)
}
