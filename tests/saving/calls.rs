//! The system calls of a save, in order.

use std::collections::HashMap;
use std::fmt;
use std::fs;

use super::kinds::{Kind, Place};
use crate::agent::Agent;

/// The calls that a full, failing or forbidden disk can make fail.
pub(super) const FAILING: [&str; 18] = [
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "fchmod",
    "fchown",
    "fsetxattr",
    "fremovexattr",
    "flistxattr",
    "rename",
    "renameat2",
    "mkdir",
    "read",
    "statx",
    "flock",
];

/// The calls that a signal can interrupt.
pub(super) const INTERRUPTED: [&str; 7] = [
    "openat",
    "read",
    "write",
    "pwrite64",
    "fsync",
    "ftruncate",
    "fallocate",
];

/// Calls that do not concern files, so that dying there equals dying at the next other call. Their
/// number differs between runs.
const MEMORY: [&str; 10] = [
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "madvise",
    "brk",
    "futex",
    "sigaltstack",
    "rt_sigprocmask",
    "getrandom",
];

/// One call of a save, identified by its name and its number among the calls of that name in the
/// run.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    number: usize,
    /// Its line in the trace, for messages.
    line: String,
}

impl Call {
    pub(super) fn names_temporary_file(&self) -> bool {
        self.line.contains("/.burin-")
    }

    /// Returns the strace arguments that change this call alone.
    pub(super) fn injecting(&self, what: &str, place: &Place) -> Vec<String> {
        let Self { name, number, .. } = self;
        let inject = format!("inject={name}:{what}:when={number}");
        let trace = format!("trace={name}");
        let output = place.trace();
        let output = output.to_string_lossy();
        let mut arguments = vec!["-f", "-o", &output, "-e", &trace, "-e", &inject];
        // With the filter, strace stops the program only at calls of this name, but signals get
        // lost.
        if !what.starts_with("signal") {
            arguments.push("--seccomp-bpf");
        }
        arguments.into_iter().map(String::from).collect()
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} number {}: {}", self.name, self.number, self.line)
    }
}

/// Returns the calls of a complete save, from the first that touches the file's folder to the last.
pub(super) fn calls_of(agent: &Agent, kind: &Kind) -> Vec<Call> {
    let place = Place::new(kind);
    let trace = place.trace();
    let strace = ["-f", "-o", &trace.to_string_lossy()].map(String::from);
    let output = place.save(agent, super::way(kind, &strace));
    assert!(
        output.status.success(),
        "{}: {}",
        kind.name,
        super::errors(&output)
    );
    let text = fs::read(&trace).expect("the trace");
    let text = String::from_utf8_lossy(&text);
    let folder = place.folder().to_string_lossy().into_owned();
    // strace counts the calls of each thread separately.
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let mut calls: Vec<(&str, Call)> = Vec::new();
    let mut has_begun = false;
    for line in text.lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, _)) = call.trim_start().split_once('(') else {
            continue;
        };
        if !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            continue;
        }
        let count = counts.entry((thread, name)).or_default();
        *count += 1;
        has_begun |= call.contains(&folder);
        if has_begun && name != "exit_group" && !MEMORY.contains(&name) {
            let call = Call {
                name: name.to_owned(),
                number: *count,
                line: call.trim_start().chars().take(160).collect(),
            };
            calls.push((thread, call));
        }
    }
    let is_sure = |thread: &str, call: &Call| {
        let mut others = counts
            .iter()
            .filter(|((other, name), _)| *other != thread && *name == call.name);
        others.all(|(_, count)| *count < call.number)
    };
    for (thread, call) in &calls {
        assert!(
            is_sure(thread, call),
            "{call} cannot be told from another thread's"
        );
    }
    calls.into_iter().map(|(_, call)| call).collect()
}
