//! Commands that only read: programs, and the options with which they do no more than that.
//!
//! Invariant: a command is harmless only if its program and each of its options are on a list; nothing is harmless
//! because it is on none. Options are written in full: a beginning of a long option may mean another one.
//! Limits: what a repository's configuration has git run is not seen from here. Files that are found by recursion, globs
//! and links are not seen either, so such commands run with bounds in which nothing can be written and secret files are
//! hidden.

mod git;
mod options;
mod programs;
mod special;

use project::is_secret;
use syntax::shell::{self, Assignment, Redirect, ShellLine, SimpleCommand, Word};

use super::places::{holds_keys, home};

/// Whether a line only reads, below the root and nothing secret. A line that is not understood does not.
pub fn is_read_only(line: &str) -> bool {
    shell::read(line).is_some_and(|line| is_harmless(&line))
}

/// What redirections may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    Never,
    /// Files below the root that are neither secret nor steer anything.
    Below,
}

pub(super) fn is_harmless(line: &ShellLine) -> bool {
    !line.commands.is_empty()
        && line.effects.is_empty()
        && line.assignments.iter().all(is_plain_variable)
        && are_redirects_harmless(line, Writing::Never)
        && line.commands.iter().all(is_harmless_command)
}

/// Whether a variable means nothing to the shell and the programs that it runs.
fn is_plain_variable(assignment: &Assignment) -> bool {
    let name = assignment.name.as_str();
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(is_part) && !name.ends_with("_proxy")
}

pub(super) fn are_redirects_harmless(line: &ShellLine, writing: Writing) -> bool {
    line.redirects.iter().all(|Redirect { is_write, target }| {
        let is_fine = !target.has_globs && is_below_and_plain(target);
        let is_steering = super::places::is_steering(&target.text);
        match is_write {
            _ if target.is_certain() && target.text == "/dev/null" => true,
            false => is_fine,
            true => writing == Writing::Below && is_fine && !is_steering,
        }
    })
}

/// Whether a command does no more than read.
pub(super) fn is_harmless_command(command: &SimpleCommand) -> bool {
    let Some((name, rest)) = command.words.split_first() else {
        return false;
    };
    let is_plain = command.assignments.is_empty() && name.is_certain();
    is_plain && rest.iter().all(|word| word.is_known) && is_harmless_call(&name.text, rest)
}

fn is_harmless_call(name: &str, words: &[Word]) -> bool {
    if let Some(program) = programs::named(name) {
        return program.allows(words);
    }
    match name {
        "git" => git::is_looking(words),
        _ => special::is_harmless(name, words),
    }
}

/// Whether a word, if it is a path, leads to something below the root that is no secret.
fn is_below_and_plain(word: &Word) -> bool {
    if !word.is_known || word.has_tilde {
        return false;
    }
    let text = word.text.as_str();
    // A glob that may match a name that begins with a dot.
    let hides = word.has_globs
        && text
            .split('/')
            .any(|part| part.starts_with('.') && part.contains(['*', '?', '[']));
    text == "/dev/null" || !hides && is_path_below(text) && has_no_secret(text)
}

fn is_path_below(text: &str) -> bool {
    !text.starts_with(['/', '~'])
        && text.split('/').all(|part| part != "..")
        && home().is_none_or(|home| !text.contains(&home.to_string()))
}

/// Whether no part of a text names a secret: `HEAD:.env` does.
fn has_no_secret(text: &str) -> bool {
    !text.split([':', ',', '=']).any(is_secret) && !holds_keys(text)
}
