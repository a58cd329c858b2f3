//! Commands that only read: an allow-list of programs and their options.
//!
//! Invariant: a command is harmless only if its program and each of its options are on a list.
//! Options are written in full: a prefix of a long option may mean another one.
//! Limitations: programs that a repository's configuration makes git run are not visible here, nor
//! are files found by recursion, globs and symlinks. Therefore such commands run in a sandbox that
//! forbids writes and hides secret files.

mod git;
mod options;
mod programs;
mod special;

use project::is_secret;
use syntax::shell::{self, Redirect, ShellAssignment, ShellLine, ShellWord, SimpleCommand};

use super::sensitive_paths::{holds_keys, home};

/// Returns whether a line only reads, and reads neither secrets nor files outside the root. A line
/// that is not understood does not count.
pub fn is_read_only(line: &str) -> bool {
    shell::read(line).is_some_and(|line| is_harmless(&line))
}

/// The files that redirections may write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    Never,
    /// Files below the root that are neither secret nor configure git, agents or editors.
    Below,
}

/// Returns whether a parsed line only reads, as `is_read_only` does.
pub(super) fn is_harmless(line: &ShellLine) -> bool {
    !line.commands.is_empty()
        && line.effects.is_empty()
        && line.assignments.iter().all(is_plain_variable)
        && are_redirects_harmless(line, Writing::Never)
        && line.commands.iter().all(is_harmless_command)
}

/// Returns whether a variable affects neither the shell nor the harmless programs. Decides by the
/// name alone: lower-case letters, digits and `_`, except for names that end in `_proxy`.
fn is_plain_variable(assignment: &ShellAssignment) -> bool {
    let name = assignment.name.as_str();
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(is_part) && !name.ends_with("_proxy")
}

/// Returns whether all redirections are harmless: they read plain files below the root or discard
/// output, and write only as far as `writing` allows.
pub(super) fn are_redirects_harmless(line: &ShellLine, writing: Writing) -> bool {
    line.redirects.iter().all(|Redirect { is_write, target }| {
        let is_fine = !target.has_globs && is_below_and_plain(target);
        let is_steering = super::sensitive_paths::is_steering(&target.text);
        if target.is_certain() && target.text == "/dev/null" {
            true
        } else if *is_write {
            writing == Writing::Below && is_fine && !is_steering
        } else {
            is_fine
        }
    })
}

/// Returns whether one simple command only reads: its program and all its options are on a list,
/// and every word is known before it runs.
pub(super) fn is_harmless_command(command: &SimpleCommand) -> bool {
    let Some((name, rest)) = command.words.split_first() else {
        return false;
    };
    let is_plain = command.assignments.is_empty() && name.is_certain();
    is_plain && rest.iter().all(|word| word.is_known) && is_harmless_call(&name.text, rest)
}

/// Returns whether the program `name` with the arguments `words` is known to only read; false for a
/// program or an option that is on no list.
fn is_harmless_call(name: &str, words: &[ShellWord]) -> bool {
    if let Some(program) = programs::named(name) {
        return program.allows(words);
    }
    match name {
        "git" => git::is_looking(words),
        _ => special::is_harmless(name, words),
    }
}

/// Returns whether a word, if it is a path, leads to a non-secret file below the root.
fn is_below_and_plain(word: &ShellWord) -> bool {
    if !word.is_known || word.has_tilde {
        return false;
    }
    let text = word.text.as_str();
    // Such a glob may match a name that begins with a dot.
    let hides = word.has_globs
        && text
            .split('/')
            .any(|part| part.starts_with('.') && part.contains(['*', '?', '[']));
    text == "/dev/null" || !hides && is_path_below(text) && has_no_secret(text)
}

/// Returns whether a text, taken as a path, stays below the root: it is relative, does not begin
/// with `~`, has no part `..` and does not contain the path of the home folder. Does not look at
/// the disk.
fn is_path_below(text: &str) -> bool {
    !text.starts_with(['/', '~'])
        && text.split('/').all(|part| part != "..")
        && home().is_none_or(|home| !text.contains(&home.to_string()))
}

/// Returns whether no part of a text names a secret, unlike `HEAD:.env`.
fn has_no_secret(text: &str) -> bool {
    !text.split([':', ',', '=']).any(is_secret) && !holds_keys(text)
}
