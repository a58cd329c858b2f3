//! Shortens the logs of common tools and keeps what matters: failing tests, errors with their
//! locations, compared values, counts, and the final result. Omitted lines are counted, and the
//! complete output is saved elsewhere.
//!
//! Knows: text alone. Must not know: models, sessions, where the complete output is saved.
//! Invariant: the result contains nothing that is not in the log; its last line counts the omitted
//! lines.
//! Invariant: only logs are shortened. The results of tools that read, fetch or write stay
//! unchanged.
//! Invariant: the same log gives the same result, and a result is not reduced again.
//! Start at `reduce`. Each tool has a function that marks the lines it recognizes in a `LogReducer`;
//! `rest` marks the remaining ones. `terminal_text` is the only cleaner of terminal output.

#![warn(missing_docs)]

mod command;
mod generic;
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
mod rust;
pub mod terminal_text;

use command::DetectedTools;
use log::LogReducer;

/// Texts shorter than this are not reduced, in bytes.
const SHORT: usize = 1_500;
/// Prefix of a result's last line; a text that ends with such a line is already reduced.
const LEFT_OUT: &str = "[left out:";

/// Tools whose results are logs, file names or search matches. The model asked for the results of
/// other tools in full.
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

/// Returns a shorter form of a tool's result, or `None` if it is short already or nothing in it is
/// recognized as dispensable. `tool` is the tool's own name, `command` the command line if the tool
/// ran one.
pub fn reduce(tool: &str, command: Option<&str>, text: &str) -> Option<String> {
    let is_reduced = text
        .lines()
        .next_back()
        .is_some_and(|line| line.starts_with(LEFT_OUT));
    if text.len() < SHORT || is_reduced || !LOGS.contains(&tool) {
        return None;
    }
    let clean = terminal_text::plain(text);
    let unpacked = go::unpack_json(&clean);
    let text_to_read = unpacked.as_deref().unwrap_or(&clean);
    let mut log = LogReducer::new(text_to_read);
    let programs = DetectedTools::of(tool, command, &log.lines);
    if programs.only_shows() {
        return None;
    }
    mark(&mut log, &programs);
    generic::mark(&mut log);
    let short = log.render();
    // A small gain is not worth an unfamiliar format.
    (short.len() * 10 <= text.len() * 8).then_some(short)
}

fn mark(log: &mut LogReducer<'_>, programs: &DetectedTools) {
    type Marker = fn(&mut LogReducer<'_>);
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
