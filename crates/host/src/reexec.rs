//! Re-executes a test in its own process, where it may change process-wide state.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::temp::TempFolder;

/// Environment variable that marks the re-executed process.
const PART: &str = "BURIN_TEST_AGAIN";

/// Returns whether this process is the re-executed one.
pub(crate) fn is_reexec() -> bool {
    std::env::var_os(PART).is_some()
}

/// Re-executes one test through `program`, which receives this test binary and its arguments.
/// Returns the combined output, or `None` if `program` does not work on this machine; the test is then reported as skipped.
pub(crate) fn reexec_test(
    test: &str,
    program: &[&str],
    variables: &[(&str, &str)],
) -> Option<String> {
    let folder = TempFolder::new().expect("a temporary folder");
    let own = folder.path().join("test");
    // Other users must be able to reach the folder.
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), readable).expect("a mode");
    let program_file = std::env::current_exe().expect("the path of this program");
    // `cp` writes the copy: if this process held it open for writing while another test forked, the
    // copy could not be executed (`ETXTBSY`).
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
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            test_support::skip(format_args!("{program:?} does not start: {error}"));
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if !text.contains("running 1 test") {
        test_support::skip(format_args!("{program:?} does not work here: {errors}"));
        return None;
    }
    test_support::relay_skips(&errors);
    assert!(output.status.success(), "{text}{errors}");
    Some(text + &errors)
}
