//! Makes logs of common tools short without losing what matters: failing tests, errors with their places, values
//! that were compared, counts, the verdict. What is left out is counted, and the whole is kept elsewhere.
//!
//! Knows: text alone. Must not know: models, sessions, where the whole is kept.
//! Invariant: the result says nothing that the log does not; what was left out is counted in its last line.
//! Invariant: only logs are touched. What a tool read, fetched or wrote stays as it is.
//! Invariant: the same log gives the same result, and a result is not reduced again.
//! Start at `reduce`. Each tool has a function that marks the lines it knows in a `Log`; what nobody knows is
//! marked by `rest`.

mod command;
mod git;
mod go;
mod js;
mod jvm;
mod lint;
mod listing;
mod log;
mod native;
mod packages;
mod python;
mod rest;
mod rust;

use command::Programs;
use log::Log;

/// Texts shorter than this are left as they are.
const SHORT: usize = 1_500;
/// What a result ends with; a text that ends so is one already.
const LEFT_OUT: &str = "[left out:";

/// Tools whose results are logs, names or lines that were found. What others answer was chosen to be read.
const LOGS: [&str; 8] = [
    "exec_command",
    "write_stdin",
    "grep",
    "glob",
    "list",
    "git_log",
    "git_diff",
    "git_status",
];

/// A shorter form of a tool's result, or `None` where it is short already or nothing is known that could go.
/// `tool` is the tool's own name, `command` the command line where it ran one.
pub fn reduce(tool: &str, command: Option<&str>, text: &str) -> Option<String> {
    let is_reduced = text
        .lines()
        .next_back()
        .is_some_and(|line| line.starts_with(LEFT_OUT));
    if text.len() < SHORT || is_reduced || !LOGS.contains(&tool) {
        return None;
    }
    let clean = crate::screen::plain(text);
    let unpacked = go::unpack_json(&clean);
    let text_to_read = unpacked.as_deref().unwrap_or(&clean);
    let mut log = Log::new(text_to_read);
    let programs = Programs::of(tool, command, &log.lines);
    if programs.only_shows() {
        return None;
    }
    mark(&mut log, &programs);
    rest::mark(&mut log);
    let short = log.render();
    // A little less is not worth a form that the model has to get used to.
    (short.len() * 10 <= text.len() * 8).then_some(short)
}

fn mark(log: &mut Log<'_>, programs: &Programs) {
    type Marker = fn(&mut Log<'_>);
    let known: [(bool, Marker); 16] = [
        (programs.git_log, git::mark_log),
        (programs.git_diff, git::mark_diff),
        (programs.git_status, git::mark_status),
        (programs.listing, listing::mark_names),
        (programs.grep, listing::mark_matches),
        (programs.cargo, rust::mark),
        (programs.pytest, python::mark_pytest),
        (programs.unittest, python::mark_unittest),
        (programs.jest, js::mark),
        (programs.go, go::mark),
        (programs.maven, jvm::mark_maven),
        (programs.gradle, jvm::mark_gradle),
        (programs.native, native::mark),
        (programs.lint, lint::mark),
        (programs.packages, packages::mark),
        (true, python::mark_traces),
    ];
    for (is_there, marker) in known {
        if is_there {
            marker(log);
        }
    }
}

#[cfg(test)]
mod tests;
