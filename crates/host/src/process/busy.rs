//! Retries while the kernel reports that a program is busy (`ETXTBSY`).
//!
//! The kernel refuses to execute a file that is open for writing. If another thread forks while this
//! process writes a program, the child inherits the open file and holds it until it calls `execve`, so
//! a program that was just installed or copied can be busy for some milliseconds.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for all attempts.
const LIMIT: Duration = Duration::from_secs(2);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// Calls `start` again until the program is no longer busy. Blocks for two seconds at most.
///
/// # Errors
/// Those of `start`.
pub(super) fn retry_while_busy<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let end = Instant::now() + LIMIT;
    loop {
        match start() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < end =>
            {
                thread::sleep(PAUSE);
            }
            started => return started,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::process::Command;

    use super::*;
    use crate::temp::TempFolder;

    #[test]
    fn a_program_starts_once_its_file_is_closed() {
        let folder = TempFolder::new().expect("a folder");
        let path = folder.path().join("program").as_path().to_owned();
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o755);
        let mut writer = options.open(&path).expect("a program");
        io::Write::write_all(&mut writer, b"#!/bin/sh\nexit 3\n").expect("a program");
        if Command::new(&path).status().is_ok() {
            return test_support::skip("this system executes files that are being written");
        }
        let (mut writer, mut busy) = (Some(writer), 0);
        let status = retry_while_busy(|| {
            let status = Command::new(&path).status();
            if status.is_err() {
                busy += 1;
                writer.take_if(|_| busy == 3);
            }
            status
        });
        assert_eq!(status.expect("a start").code(), Some(3));
        assert!(busy >= 3, "{busy}");
    }

    #[test]
    fn other_errors_are_reported_at_once() {
        let mut calls = 0;
        let started = retry_while_busy(|| {
            calls += 1;
            Command::new("/nowhere/at/all").status()
        });
        assert_eq!(
            started.expect_err("no program").kind(),
            io::ErrorKind::NotFound
        );
        assert_eq!(calls, 1);
    }
}
