//! A command line as rules see it: its simple commands, and those that wrappers and shells run for them.
//!
//! Start at `Line::read`; what a command may run in turn is found by `within`.

mod within;

use syntax::shell::{self, Assignment, Input, ShellLine, SimpleCommand, Word};

use super::harmless;
use super::pattern::{Pattern, Subject, Touch};
use super::places::home;
use super::width;
use within::Depth;

/// A command line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) written: String,
    /// `None` where it is not understood.
    read: Option<ShellLine>,
    commands: Vec<Command>,
}

/// A simple command.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    assignments: Vec<Assignment>,
    input: Input,
    /// All that it may run in turn. More than it does run, where that depends on the options of a wrapper.
    inner: Vec<Command>,
    /// The one command that a wrapper certainly runs, where allowing that allows the wrapper.
    wrapped: Option<Box<Command>>,
    /// Whether it may run programs whose names are not in the line.
    pub(super) is_opaque: bool,
}

/// Variables that change nothing but what is printed.
const HARMLESS_VARIABLES: &[&str] = &[
    "RUST_LOG",
    "RUST_BACKTRACE",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "TERM",
    "LANG",
    "LC_ALL",
    "TZ",
    "CI",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "CARGO_TERM_COLOR",
    "COLUMNS",
    "LINES",
];

impl Line {
    pub(super) fn read(written: &str) -> Self {
        Self::read_at(written, Depth::top(&Depth::left()))
    }

    fn read_at(written: &str, depth: Depth<'_>) -> Self {
        let read = shell::read(written);
        let commands = read.iter().flat_map(|line| &line.commands);
        Self {
            commands: commands.map(|it| Command::of(it, depth)).collect(),
            written: written.to_owned(),
            read,
        }
    }

    /// Whether it is understood as a whole.
    pub(super) fn is_understood(&self) -> bool {
        self.read.is_some()
    }

    /// Whether it only reads, nothing secret and nothing outside.
    pub(super) fn is_read_only(&self) -> bool {
        self.read.as_ref().is_some_and(harmless::is_harmless)
    }

    /// The strongest of what is true of its commands, and of those that they run in turn.
    pub(super) fn touched(&self, of: &impl Fn(&Command) -> Touch) -> Touch {
        let touched = self.commands.iter().map(|command| command.touched(of));
        touched.max().unwrap_or(Touch::No)
    }

    /// Whether it sets a variable for later commands that may have them run a program of this name.
    pub(super) fn sets(&self, program: &str) -> bool {
        let mut assignments = self.read.iter().flat_map(|line| &line.assignments);
        assignments.any(|it| configures(&it.name) || mentions(&it.value.text, program))
    }

    /// Whether it runs a file of commands and has all of these words, so that it may have written them there.
    pub(super) fn may_write_and_run(&self, words: &[&str]) -> bool {
        let runs = |command: &Command| match command.runs_file() {
            true => Touch::Yes,
            false => Touch::No,
        };
        words.iter().all(|word| self.mentions(word)) && self.touched(&runs) == Touch::Yes
    }

    /// Whether rules allow every part of it.
    pub(super) fn is_covered(&self, allow: &[Pattern], subject: &Subject<'_>) -> bool {
        let is_allowed_whole = |pattern: &Pattern| {
            pattern.is_of_all_commands(subject) || pattern.spells_out(self, subject)
        };
        if allow.iter().any(is_allowed_whole) {
            return true;
        }
        let Some(read) = &self.read else {
            return false;
        };
        if !has_only_commands(read) {
            return false;
        }
        let is_allowed = |command: &Command| {
            allow
                .iter()
                .any(|pattern| pattern.is_about(command, subject))
        };
        // Commands that only read may stand beside what is allowed; alone they have no rule to speak for them.
        let (allowed, rest): (Vec<_>, Vec<_>) = self
            .commands
            .iter()
            .zip(&read.commands)
            .partition(|(command, _)| command.is_covered(&is_allowed));
        let is_harmless = |simple: &SimpleCommand| harmless::is_harmless_command(simple);
        !allowed.is_empty() && rest.iter().all(|(_, simple)| is_harmless(simple))
    }

    /// The files that it names, as far as that can be told from words.
    pub(super) fn files(&self) -> Vec<String> {
        let redirects = self.read.iter().flat_map(|line| &line.redirects);
        let mut files: Vec<String> = redirects.map(|it| it.target.text.clone()).collect();
        self.commands
            .iter()
            .for_each(|command| command.add_files(&mut files));
        let home = home().map(|home| home.to_string());
        let expanded = |path: &String| match (path.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => path.clone(),
        };
        let mut whole: Vec<String> = files.iter().map(|it| tidied(&expanded(it))).collect();
        // Below which folder an absolute path lies is not known here.
        let absolute: Vec<String> = whole
            .iter()
            .filter(|it| it.starts_with('/'))
            .cloned()
            .collect();
        for path in absolute {
            whole.extend(
                path.match_indices('/')
                    .map(|(at, _)| path[at + 1..].to_owned()),
            );
        }
        whole.retain(|path| !path.is_empty());
        whole
    }

    /// Whether a word stands anywhere in it.
    pub(super) fn mentions(&self, word: &str) -> bool {
        mentions(&self.written, word)
    }

    /// Rules that would allow it: one for each command that is not allowed by now, or one for exactly this line.
    pub(super) fn rules(&self) -> Vec<String> {
        let exact = || vec![format!("Bash({})", escaped(self.written.trim()))];
        let Some(read) = self.read.as_ref().filter(|read| has_only_commands(read)) else {
            return exact();
        };
        let mut rules = Vec::new();
        for (command, simple) in self.commands.iter().zip(&read.commands) {
            if harmless::is_harmless_command(simple) {
                continue;
            }
            let Some(width) = command.width() else {
                return exact();
            };
            let rule = format!("Bash({width}:*)");
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        match rules.is_empty() {
            true => exact(),
            false => rules,
        }
    }
}

/// Whether a line does nothing beside running its commands and writing plain files below the root.
fn has_only_commands(read: &ShellLine) -> bool {
    read.assignments.is_empty()
        && read.effects.is_empty()
        && harmless::are_redirects_harmless(read, harmless::Writing::Below)
}

/// A text in which stars are letters, as `Pattern` reads it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('*', "\\*")
}

/// Whether a variable tells git or a shell what to run.
fn configures(variable: &str) -> bool {
    variable.starts_with("GIT_CONFIG") || matches!(variable, "BASH_ENV" | "ENV" | "PROMPT_COMMAND")
}

/// A path without `.` and, as far as it can be told, without `..`.
fn tidied(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Programs whose bare words are files.
const OF_FILES: &[&str] = &[
    "cat", "head", "tail", "less", "more", "nl", "tac", "od", "xxd", "strings", "base64", "cp",
    "mv", "rm", "ln", "ls", "cd", "pushd", "tar", "zip", "grep", "rg", "find", "sort", "source",
    ".", "tee", "touch", "truncate", "chmod", "dd", "rsync", "scp", "vim", "nano",
];

/// Whether a word stands anywhere in a text.
pub(super) fn mentions(text: &str, word: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || "_-.".contains(sign);
    let mut words = text.split(|sign| !is_part(sign));
    words.any(|other| other == word)
}

impl Command {
    fn of(command: &SimpleCommand, depth: Depth<'_>) -> Self {
        let mut found = Self {
            words: command.words.clone(),
            assignments: command.assignments.clone(),
            input: command.input.clone(),
            inner: Vec::new(),
            wrapped: None,
            is_opaque: false,
        };
        found.look_within(depth);
        found
    }

    /// The program's name without its folders; `None` where it is not certain.
    pub(super) fn name(&self) -> Option<&str> {
        let word = self.words.first()?;
        let text = match word.has_tilde {
            true if word.text.contains('/') => word.text.as_str(),
            _ if word.is_certain() => word.text.as_str(),
            _ => return None,
        };
        Some(text.rsplit('/').next().unwrap_or(text))
    }

    fn touched(&self, of: &impl Fn(&Command) -> Touch) -> Touch {
        let inner = self.inner.iter().map(|inner| inner.touched(of));
        inner.max().unwrap_or(Touch::No).max(of(self))
    }

    /// Whether a variable is set for it that may have it run a program of this name.
    pub(super) fn is_given(&self, program: &str) -> bool {
        let mut assignments = self.assignments.iter();
        assignments.any(|it| configures(&it.name) || mentions(&it.value.text, program))
    }

    /// Whether a word stands in its arguments or its input.
    pub(super) fn is_told(&self, word: &str) -> bool {
        let input = match &self.input {
            Input::Text(text) => Some(text),
            Input::Inherited | Input::Other => None,
        };
        let mut texts = self.words.iter().skip(1).chain(input);
        texts.any(|it| mentions(&it.text, word))
    }

    fn add_files(&self, files: &mut Vec<String>) {
        let is_of_files = self.name().is_some_and(|name| OF_FILES.contains(&name));
        for word in self.words.iter().skip(1) {
            let text = word.text.as_str();
            let value = text.split_once('=').map_or("", |(_, value)| value);
            let attached = match text.starts_with('-') && !text.starts_with("--") {
                true => text.get(2..).unwrap_or_default(),
                false => "",
            };
            for path in [text, value, attached] {
                let is_path = path.contains(['/', '.']) || is_of_files;
                if is_path && !path.is_empty() && !path.starts_with('-') {
                    files.push(path.to_owned());
                }
            }
        }
        self.inner.iter().for_each(|inner| inner.add_files(files));
    }

    fn has_assignments(&self) -> bool {
        let mut names = self.assignments.iter();
        !names.all(|it| HARMLESS_VARIABLES.contains(&it.name.as_str()))
    }

    fn is_covered(&self, is_allowed: &impl Fn(&Command) -> bool) -> bool {
        let has_name = self.words.first().is_some_and(Word::is_certain);
        let is_wrapped_covered = || {
            self.wrapped
                .as_ref()
                .is_some_and(|it| it.is_covered(is_allowed))
        };
        has_name && !self.has_assignments() && (is_allowed(self) || is_wrapped_covered())
    }

    /// The words that stand for all commands like it; `None` where only the command itself does.
    fn width(&self) -> Option<String> {
        match &self.wrapped {
            _ if self.has_assignments() => None,
            Some(wrapped) => wrapped.width(),
            None => width::prefix(&self.words),
        }
    }
}
