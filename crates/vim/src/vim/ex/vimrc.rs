//! Reads a `.vimrc` or `.ideavimrc`: its mappings and options.
//!
//! Scripts are not carried out; every line without an effect is reported. Start at `VimGlobals::read_vimrc`.

use text::{Buffer, Change, Edit, EditOrigin, Snapshot, Timestamp};
use thiserror::Error as ThisError;

use super::names::{self, ExName};
use super::{ExCommand, map, range, set};
use crate::effect::Effect;
use crate::error::Error;
use crate::globals::VimGlobals;
use crate::host::{UndoMove, VimHost};
use crate::key::Key;
use crate::vim::Vim;
use crate::vim::exec::Exec;

/// A line of a `.vimrc` that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VimrcProblem {
    /// Number of the line, counted from 1.
    pub line: u32,
    /// Reason, as a sentence.
    pub message: String,
}

/// Reason for which a line has no effect.
#[derive(Debug, ThisError)]
enum VimrcError {
    #[error("“{0}” is not supported")]
    Unsupported(String),
    #[error("scripts are not carried out: left out up to {0}")]
    Script(&'static str),
    #[error("options without an effect: {0}")]
    Options(String),
    #[error("the variable {0} has no effect")]
    Variable(String),
    #[error("mapleader must be one character, not {0}")]
    Leader(String),
    #[error("the key <{0}> is not supported")]
    Key(String),
    #[error(transparent)]
    Command(#[from] Error),
}

/// Words that begin a part of a script, and the word that ends it.
const SCRIPTS: &[(&str, &str)] = &[
    ("if", "endif"),
    ("function", "endfunction"),
    ("for", "endfor"),
    ("while", "endwhile"),
    ("try", "endtry"),
];

/// Options that each text has by itself: `:set` changes them for the text at hand.
const OF_TEXT: &[&str] = &["tabstop", "ts", "shiftwidth", "sw", "expandtab", "et"];

impl VimGlobals {
    /// Applies the mappings and options of a `.vimrc`, in place of all earlier mappings. Returns the
    /// lines that have no effect.
    pub fn read_vimrc(&mut self, text: &str) -> Vec<VimrcProblem> {
        self.mappings = Default::default();
        let mut problems = Vec::new();
        let mut script_end: Option<&'static str> = None;
        for (line, command) in logical_lines(text) {
            let command = command.trim_start_matches([' ', '\t', ':']);
            let word = first_word(command);
            if let Some(end) = script_end {
                if word == end || command.trim_end() == end {
                    script_end = None;
                }
                continue;
            }
            if command.is_empty() || command.starts_with('"') {
                continue;
            }
            script_end = end_of_script(command, word);
            let done = match script_end {
                Some(end) => Err(VimrcError::Script(end)),
                None => self.read_line(command, word),
            };
            if let Err(error) = done {
                let message = error.to_string();
                problems.push(VimrcProblem { line, message });
            }
        }
        problems
    }

    fn read_line(&mut self, command: &str, word: &str) -> Result<(), VimrcError> {
        if word == "let" {
            return self.read_let(command[word.len()..].trim());
        }
        let unsupported = || VimrcError::Unsupported(word.to_owned());
        let (name, has_bang, arguments) = names::parse(command).ok_or_else(unsupported)?;
        let arguments = arguments.trim_start_matches([' ', '\t']);
        match name {
            ExName::Set => self.read_set(arguments),
            ExName::Map(modes) => {
                let arguments = with_ex_keys(arguments);
                check_keys(&arguments)?;
                let command = ExCommand {
                    name,
                    range: range::ExRange::default(),
                    has_bang,
                    arguments: &arguments,
                };
                let (done, _) = self.run_without_text(|exec| map::run(exec, &command, modes));
                Ok(done?)
            }
            _ => Err(unsupported()),
        }
    }

    /// Sets options one by one, so that one without an effect does not hide the others.
    fn read_set(&mut self, arguments: &str) -> Result<(), VimrcError> {
        let mut without_effect = Vec::new();
        let code = arguments.split(" \"").next().unwrap_or_default();
        for argument in code.split_whitespace() {
            let name = argument
                .split(['=', '+', '-', '^', '&'])
                .next()
                .unwrap_or_default();
            let name = name.strip_prefix("no").unwrap_or(name);
            if OF_TEXT.contains(&name) {
                without_effect.push(format!("{argument} (see the editor's settings)"));
                continue;
            }
            let (done, effects) = self.run_without_text(|exec| set::run(exec, argument));
            let is_of_editor = effects
                .iter()
                .any(|effect| matches!(effect, Effect::SetOption { .. }));
            if is_of_editor {
                without_effect.push(format!("{argument} (see the editor's settings)"));
            } else if done.is_err() {
                without_effect.push(argument.to_owned());
            }
        }
        if without_effect.is_empty() {
            return Ok(());
        }
        Err(VimrcError::Options(without_effect.join(", ")))
    }

    /// Reads `let mapleader = …`; other variables have no effect.
    fn read_let(&mut self, assignment: &str) -> Result<(), VimrcError> {
        let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        let name = name.trim();
        if name != "mapleader" && name != "g:mapleader" {
            return Err(VimrcError::Variable(name.to_owned()));
        }
        let value = value.trim();
        let inner = value
            .get(1..value.len().saturating_sub(1))
            .unwrap_or_default();
        let leader = match inner.strip_prefix('\\') {
            Some(rest) if rest.starts_with('<') => Key::parse(rest, '\\'),
            Some("\\") => vec![Key::Char('\\')],
            _ => Key::parse(inner, '\\'),
        };
        match leader.as_slice() {
            [Key::Char(char)] => {
                self.options.leader = *char;
                Ok(())
            }
            _ => Err(VimrcError::Leader(value.to_owned())),
        }
    }

    fn run_without_text<R>(&mut self, run: impl FnOnce(&mut Exec) -> R) -> (R, Vec<Effect>) {
        let (mut vim, mut host) = (Vim::new(), EmptyText(Buffer::new("")));
        let mut exec = Exec::new(&mut vim, self, &mut host);
        let result = run(&mut exec);
        (result, exec.effects)
    }
}

/// Joins lines that a backslash at the start of the next continues. Gives each the number of its
/// first line.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut lines: Vec<(u32, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let rest = line.trim_start().strip_prefix('\\');
        match (rest, lines.last_mut()) {
            (Some(rest), Some((_, last))) => last.push_str(rest),
            _ => lines.push((number, line.to_owned())),
        }
    }
    lines
}

fn first_word(command: &str) -> &str {
    let end = command.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    &command[..end.unwrap_or(command.len())]
}

/// The word that ends the script which a line begins. A script that ends in its own line begins
/// none.
fn end_of_script(command: &str, word: &str) -> Option<&'static str> {
    if command.starts_with("lua") && command.contains("<<") {
        return Some("EOF");
    }
    let (_, end) = SCRIPTS.iter().find(|(begin, _)| *begin == word)?;
    (!command.contains(end)).then_some(*end)
}

/// Writes `<Cmd>…` as keys of the command line.
fn with_ex_keys(arguments: &str) -> String {
    let lower = arguments.to_ascii_lowercase();
    match lower.find("<cmd>") {
        Some(at) => format!("{}:{}", &arguments[..at], &arguments[at + "<cmd>".len()..]),
        None => arguments.to_owned(),
    }
}

/// Refuses mappings with keys that do not exist here, which would be taken as text.
fn check_keys(arguments: &str) -> Result<(), VimrcError> {
    let flags = [
        "silent", "buffer", "nowait", "unique", "script", "expr", "nop",
    ];
    let mut rest = arguments;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some(end) = rest.find('>') else {
            return Ok(());
        };
        let name = &rest[..end];
        let is_name = !name.is_empty() && !name.contains([' ', '<', '=']);
        let is_known = flags.contains(&name.to_ascii_lowercase().as_str())
            || Key::parse(&format!("<{name}>"), '\\').len() == 1;
        if is_name && !is_known {
            return Err(VimrcError::Key(name.to_owned()));
        }
    }
    Ok(())
}

/// A host without a text, for commands that need none.
struct EmptyText(Buffer);

impl VimHost for EmptyText {
    fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    fn edit(&mut self, edits: &[Edit]) -> Change {
        self.0.edit(edits, &EditOrigin::user(Timestamp(0)))
    }

    fn begin_step(&mut self) {}

    fn end_step(&mut self) {}

    fn travel(&mut self, _: UndoMove) -> Option<Change> {
        None
    }

    fn undo_state(&self) -> u32 {
        0
    }

    fn is_read_only(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
