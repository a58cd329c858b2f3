//! A command line for the rules: its simple commands, and those that wrappers and shells run in
//! turn.
//!
//! Start at `CommandLine::read`; `nested` finds the commands that a command runs in turn.

mod nested;

use syntax::shell::{self, ShellAssignment, ShellInput, ShellLine, ShellWord, SimpleCommand};

use super::harmless;
use super::pattern::{MatchCertainty, RulePattern, RuleSubject};
use super::sensitive_paths::home;
use super::width;
use nested::Depth;

/// A command line as rules see it: the text, its parse if it is understood, and its simple
/// commands.
#[derive(Clone, Debug)]
pub(super) struct CommandLine {
    pub(super) written: String,
    /// The parsed line; `None` if it is not understood.
    read: Option<ShellLine>,
    commands: Vec<CommandInvocation>,
}

/// A simple command with the commands it runs in turn, such as that after `sudo`.
#[derive(Clone, Debug)]
pub(super) struct CommandInvocation {
    pub(super) words: Vec<ShellWord>,
    assignments: Vec<ShellAssignment>,
    input: ShellInput,
    /// All commands it may run in turn; a superset where that depends on the options of a wrapper.
    inner: Vec<CommandInvocation>,
    /// The only command that a wrapper certainly runs, if allowing that command allows the wrapper.
    wrapped: Option<Box<CommandInvocation>>,
    /// Whether it may run programs that the line does not name.
    pub(super) is_opaque: bool,
}

/// Variables that only affect output.
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

impl CommandLine {
    /// Parses a line. Never fails: a line that is not understood has commands as far as they are
    /// visible.
    pub(super) fn read(written: &str) -> Self {
        Self::read_at(written, Depth::top(&Depth::command_budget()))
    }

    fn read_at(written: &str, depth: Depth<'_>) -> Self {
        let read = shell::read(written);
        let commands = read.iter().flat_map(|line| &line.commands);
        Self {
            commands: commands
                .map(|it| CommandInvocation::of(it, depth))
                .collect(),
            written: written.to_owned(),
            read,
        }
    }

    /// Returns whether the whole line is parsed; nothing is known about the rest of it otherwise.
    pub(super) fn is_understood(&self) -> bool {
        self.read.is_some()
    }

    /// Returns whether it only reads, and reads neither secrets nor files outside the root.
    pub(super) fn is_read_only(&self) -> bool {
        self.read.as_ref().is_some_and(harmless::is_harmless)
    }

    /// Returns the strongest match among its commands and those that they run in turn.
    pub(super) fn touched(
        &self,
        of: &impl Fn(&CommandInvocation) -> MatchCertainty,
    ) -> MatchCertainty {
        let touched = self.commands.iter().map(|command| command.touched(of));
        touched.max().unwrap_or(MatchCertainty::No)
    }

    /// Returns whether it sets a variable that may make later commands run the program `program`.
    pub(super) fn sets(&self, program: &str) -> bool {
        let mut assignments = self.read.iter().flat_map(|line| &line.assignments);
        assignments.any(|it| configures(&it.name) || mentions(&it.value.text, program))
    }

    /// Returns whether it runs a file of commands and contains all of these words, so that it may
    /// have written them there.
    pub(super) fn may_write_and_run(&self, words: &[&str]) -> bool {
        let runs = |command: &CommandInvocation| {
            if command.runs_file() {
                MatchCertainty::Yes
            } else {
                MatchCertainty::No
            }
        };
        words.iter().all(|word| self.mentions(word)) && self.touched(&runs) == MatchCertainty::Yes
    }

    /// Returns whether the rules `allow` match every command of it, so that it runs without a
    /// question. A line that is not understood is covered only by a rule for all commands or for
    /// exactly this line.
    pub(super) fn is_covered(&self, allow: &[RulePattern], subject: &RuleSubject<'_>) -> bool {
        let is_allowed_whole = |pattern: &RulePattern| {
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
        let is_allowed = |command: &CommandInvocation| {
            allow
                .iter()
                .any(|pattern| pattern.is_about(command, subject))
        };
        // Commands that only read may accompany allowed ones; alone, no rule covers them.
        let (allowed, rest): (Vec<_>, Vec<_>) = self
            .commands
            .iter()
            .zip(&read.commands)
            .partition(|(command, _)| command.is_covered(&is_allowed));
        let is_harmless = |simple: &SimpleCommand| harmless::is_harmless_command(simple);
        !allowed.is_empty() && rest.iter().all(|(_, simple)| is_harmless(simple))
    }

    /// Returns the files it names, as far as its words show.
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
        // The folder that contains an absolute path is unknown here.
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

    /// Returns whether the line contains a word anywhere, even in quotes.
    pub(super) fn mentions(&self, word: &str) -> bool {
        mentions(&self.written, word)
    }

    /// Returns rules that would allow it: one for each command that is not allowed yet, or one for
    /// exactly this line.
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
        if rules.is_empty() { exact() } else { rules }
    }
}

/// Returns whether a line does nothing besides running its commands and writing plain files below
/// the root.
fn has_only_commands(read: &ShellLine) -> bool {
    read.assignments.is_empty()
        && read.effects.is_empty()
        && harmless::are_redirects_harmless(read, harmless::Writing::Below)
}

/// Escapes `*` and `\`, as `Pattern` expects.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('*', "\\*")
}

/// Returns whether a variable tells git or a shell which program to run.
fn configures(variable: &str) -> bool {
    variable.starts_with("GIT_CONFIG") || matches!(variable, "BASH_ENV" | "ENV" | "PROMPT_COMMAND")
}

/// Removes `.` from a path and, as far as possible, `..`.
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

/// Programs whose plain arguments are files.
const OF_FILES: &[&str] = &[
    "cat", "head", "tail", "less", "more", "nl", "tac", "od", "xxd", "strings", "base64", "cp",
    "mv", "rm", "ln", "ls", "cd", "pushd", "tar", "zip", "grep", "rg", "find", "sort", "source",
    ".", "tee", "touch", "truncate", "chmod", "dd", "rsync", "scp", "vim", "nano",
];

/// Returns whether a text contains `word` as a whole word; letters, digits, `_`, `-` and `.` are
/// parts of words.
pub(super) fn mentions(text: &str, word: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || "_-.".contains(sign);
    let mut words = text.split(|sign| !is_part(sign));
    words.any(|other| other == word)
}

impl CommandInvocation {
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

    /// Returns the program's name without its folders; `None` if it depends on an expansion.
    pub(super) fn name(&self) -> Option<&str> {
        let word = self.words.first()?;
        let text = match word.has_tilde {
            true if word.text.contains('/') => word.text.as_str(),
            _ if word.is_certain() => word.text.as_str(),
            _ => return None,
        };
        Some(text.rsplit('/').next().unwrap_or(text))
    }

    fn touched(&self, of: &impl Fn(&CommandInvocation) -> MatchCertainty) -> MatchCertainty {
        let inner = self.inner.iter().map(|inner| inner.touched(of));
        inner.max().unwrap_or(MatchCertainty::No).max(of(self))
    }

    /// Returns whether a variable set for it may make it run the program `program`.
    pub(super) fn is_given(&self, program: &str) -> bool {
        let mut assignments = self.assignments.iter();
        assignments.any(|it| configures(&it.name) || mentions(&it.value.text, program))
    }

    /// Returns whether its arguments or its input contain a word.
    pub(super) fn is_told(&self, word: &str) -> bool {
        let input = match &self.input {
            ShellInput::Text(text) => Some(text),
            ShellInput::Inherited | ShellInput::Other => None,
        };
        let mut texts = self.words.iter().skip(1).chain(input);
        texts.any(|it| mentions(&it.text, word))
    }

    fn add_files(&self, files: &mut Vec<String>) {
        let is_of_files = self.name().is_some_and(|name| OF_FILES.contains(&name));
        for word in self.words.iter().skip(1) {
            let text = word.text.as_str();
            let value = text.split_once('=').map_or("", |(_, value)| value);
            let attached = if text.starts_with('-') && !text.starts_with("--") {
                text.get(2..).unwrap_or_default()
            } else {
                ""
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

    /// Returns whether the command sets a variable that is not in `HARMLESS_VARIABLES`.
    fn has_effective_assignments(&self) -> bool {
        let mut names = self.assignments.iter();
        !names.all(|it| HARMLESS_VARIABLES.contains(&it.name.as_str()))
    }

    /// Returns whether `is_allowed` allows the command, or the one that it certainly wraps. False
    /// if the name of the program depends on an expansion or a variable that may matter is set.
    fn is_covered(&self, is_allowed: &impl Fn(&CommandInvocation) -> bool) -> bool {
        let has_name = self.words.first().is_some_and(ShellWord::is_certain);
        let is_wrapped_covered = || {
            self.wrapped
                .as_ref()
                .is_some_and(|it| it.is_covered(is_allowed))
        };
        has_name && !self.has_effective_assignments() && (is_allowed(self) || is_wrapped_covered())
    }

    /// Returns the prefix that covers all similar commands; `None` if only the exact command is
    /// covered.
    fn width(&self) -> Option<String> {
        match &self.wrapped {
            _ if self.has_effective_assignments() => None,
            Some(wrapped) => wrapped.width(),
            None => width::prefix(&self.words),
        }
    }
}
