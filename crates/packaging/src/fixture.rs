//! Programs for the tests.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program that can be started at once. Another process writes it: a process that a test starts meanwhile on
/// another thread would keep the file open for writing, and such a file cannot be started.
pub(crate) fn write_program(path: &Path, content: &[u8]) {
    let child = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn();
    let mut child = child.expect("a shell");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(content).expect("written");
    drop(input);
    assert!(child.wait().expect("the shell ends").success());
}
