//! The system calls that change files, as strace records them.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// The name of a file that is looked for before the change begins, and of one after its end. Neither exists.
pub(super) const BEGIN: &str = "begin-of-the-change";
pub(super) const END: &str = "end-of-the-change";

/// The calls that change files. Dying at another call equals dying at the next one of these.
const CHANGING: [&str; 22] = [
    "copy_file_range",
    "fallocate",
    "fchmod",
    "flock",
    "fsync",
    "ftruncate",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "openat",
    "pwrite64",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "sendfile",
    "symlink",
    "symlinkat",
    "unlink",
    "unlinkat",
    "write",
];

/// A call of a change, identified by its name and its number among the calls of that name in its thread.
#[derive(Clone, Debug)]
pub(super) struct Call {
    name: String,
    number: usize,
    /// Its line in the trace, for messages.
    line: String,
}

impl Call {
    /// Returns the options of strace that kill the program when it makes this call.
    pub(super) fn killing(&self) -> Vec<String> {
        let Self { name, number, .. } = self;
        let trace = format!("trace={name}");
        let inject = format!("inject={name}:signal=KILL:when={number}");
        ["-e", &trace, "-e", &inject].map(String::from).to_vec()
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} number {}: {}", self.name, self.number, self.line)
    }
}

/// A line of a trace.
#[derive(Clone, Copy)]
struct TracedCall<'a> {
    /// The thread; empty if the trace has one thread alone.
    thread: &'a str,
    name: &'a str,
    line: &'a str,
}

impl<'a> TracedCall<'a> {
    /// Reads the beginning of a call; `None` for another line.
    fn read(thread: &'a str, line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        let (name, _) = line.split_once('(')?;
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_name = !name.is_empty() && name.bytes().all(is_letter);
        is_name.then_some(Self { thread, name, line })
    }

    /// Returns whether the call changes something in a folder; a path of git's own folder may be relative.
    fn changes(&self, folder: &str) -> bool {
        let is_inside = self.line.contains(folder) || self.line.contains("\".git/");
        let is_read_only = self.name == "openat" && !self.line.contains("O_CREAT");
        let is_failed = self.line.contains(" = -1 ");
        // Git's own report about its run.
        let is_report = self.line.contains("/burin-trace-");
        CHANGING.contains(&self.name) && is_inside && !is_read_only && !is_failed && !is_report
    }

    fn call(&self, number: usize) -> Call {
        Call {
            name: self.name.to_owned(),
            number,
            line: self.line.chars().take(200).collect(),
        }
    }
}

/// Returns the changing calls between the marks, by the thread that makes the marks. Calls that cannot be told from those of
/// other threads and programs are left out.
pub(super) fn marked_calls(trace: &str, folder: &str) -> Vec<Call> {
    let lines = trace.lines().filter_map(|line| line.split_once(' '));
    let traced = lines.filter_map(|(thread, line)| TracedCall::read(thread, line));
    let traced: Vec<TracedCall<'_>> = traced.collect();
    let begin = traced.iter().position(|call| call.line.contains(BEGIN));
    let begin = begin.expect("the change begins");
    let worker = traced[begin].thread;
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let mut calls = Vec::new();
    for (ix, call) in traced.iter().enumerate() {
        if call.line.contains(END) {
            break;
        }
        let count = counts.entry((call.thread, call.name)).or_default();
        *count += 1;
        if ix > begin && call.thread == worker && call.changes(folder) {
            calls.push(call.call(*count));
        }
    }
    calls.retain(|call| {
        let mut same = counts.iter().filter(|((_, name), _)| *name == call.name);
        same.all(|((thread, _), count)| *thread == worker || *count < call.number)
    });
    calls
}

/// Returns the changing calls of a program, from a trace of its first thread alone.
pub(super) fn all_calls(trace: &str, folder: &str) -> Vec<Call> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some(call) = TracedCall::read("", line) else {
            continue;
        };
        let count = counts.entry(call.name).or_default();
        *count += 1;
        if call.changes(folder) {
            calls.push(call.call(*count));
        }
    }
    calls
}

/// Returns some of the calls, evenly spread over them.
pub(super) fn sampled(calls: Vec<Call>, count: usize) -> Vec<Call> {
    let total = calls.len();
    let count = count.min(total);
    let place = |ix: usize| (2 * ix + 1) * total / (2 * count);
    let places: BTreeSet<usize> = (0..count).map(place).collect();
    let calls = calls.into_iter().enumerate();
    calls
        .filter(|(ix, _)| places.contains(ix))
        .map(|(_, call)| call)
        .collect()
}

#[test]
fn changing_calls_between_the_marks_are_numbered() {
    let trace = "\
        7 openat(AT_FDCWD</f>, \"/f/early\", O_WRONLY|O_CREAT, 0666) = 3\n\
        8 rename(\"/f/a\", \"/f/b\") = 0\n\
        7 statx(AT_FDCWD, \"/f/begin-of-the-change\", 0) = -1 ENOENT (No such file or directory)\n\
        7 openat(AT_FDCWD</f>, \"/f/new\", O_WRONLY|O_CREAT, 0666) = 3</f/new>\n\
        8 <... rename resumed>) = 0\n\
        7 write(3</f/new>, \"x\", 1 <unfinished ...>\n\
        7 rename(\"/f/new\", \"/f/old\") = 0\n\
        7 rename(\"/f/old\", \"/f/new\") = 0\n\
        7 unlink(\"/f/none\") = -1 ENOENT (No such file or directory)\n\
        7 openat(AT_FDCWD</f>, \"/f/new\", O_RDONLY) = 3</f/new>\n\
        7 write(1</dev/null>, \"x\", 1) = 1\n\
        7 statx(AT_FDCWD, \"/f/end-of-the-change\", 0) = -1 ENOENT (No such file or directory)\n\
        7 rename(\"/f/late\", \"/f/new\") = 0\n";
    let found = marked_calls(trace, "/f/");
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.name.as_str(), it.number))
        .collect();
    // The first rename of the thread is also one of another thread.
    assert_eq!(found, [("openat", 2), ("write", 1), ("rename", 2)]);
    let all = all_calls(
        "rename(\".git/a\", \".git/b\") = 0\nread(3, \"\", 1) = 0\n",
        "/f/",
    );
    assert_eq!(all.len(), 1);
    let numbers = |count: usize| {
        let call = |number| Call {
            name: String::new(),
            number,
            line: String::new(),
        };
        let calls = sampled((0..10).map(call).collect(), count);
        calls.iter().map(|call| call.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(2), [2, 7]);
    assert_eq!(numbers(100).len(), 10);
    assert!(numbers(0).is_empty());
}
