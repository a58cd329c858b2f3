//! Questions that tests ask about processes.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::tree::system_table::SystemTable;
use super::tree::table::ProcessTable as _;

/// Returns whether a process runs. One that ended but was not reaped does not.
pub(super) fn is_alive(pid: i32) -> bool {
    SystemTable.find(pid).is_some_and(|entry| !entry.is_zombie)
}

/// Starts a process that sleeps, carries these variables, and has lost its parent. Returns its id.
pub(super) fn start_orphan(variables: &[String]) -> i32 {
    let script = "sleep 300 >/dev/null 2>&1 & echo $!";
    let variables = variables.iter().map(|name| (name, "1"));
    let output = Command::new("sh")
        .args(["-c", script])
        .envs(variables)
        .output()
        .expect("sh");
    let text = String::from_utf8(output.stdout).expect("a number");
    text.trim().parse().expect("a number")
}

/// Kills a process.
pub(super) fn kill(pid: i32) {
    let pid = Pid::from_raw(pid).expect("an id");
    kill_process(pid, Signal::KILL).expect("killed");
}

/// Waits until `is_so`.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "not in time: {what}"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the words of a shell that run the command after them in a session of its own. macOS has no
/// program `setsid`.
pub(super) fn setsid() -> &'static str {
    if Path::new("/usr/bin/setsid").exists() {
        "setsid"
    } else {
        "perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV'"
    }
}

/// Returns the ids of living processes that sleep for this number of seconds, which no other test
/// uses.
pub(crate) fn sleepers(seconds: &str) -> Vec<u32> {
    let output = Command::new("ps")
        .args(["-A", "-o", "pid=", "-o", "stat=", "-o", "args="])
        .output()
        .expect("ps");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pid_of = |line: &str| {
        let mut words = line.split_whitespace();
        let pid = words.next()?.parse().ok()?;
        let is_zombie = words.next()?.starts_with('Z');
        let is_sleep = words.next()?.ends_with("sleep") && words.next() == Some(seconds);
        (is_sleep && !is_zombie).then_some(pid)
    };
    text.lines().filter_map(pid_of).collect()
}
