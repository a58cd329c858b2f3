//! A command line as rules see it: its simple commands, and those within `sudo`, `xargs`, `bash -c` and the like.

use syntax::shell::{self, ShellLine, SimpleCommand};

use super::harmless;
use super::pattern::{Pattern, Subject};

/// How many wrappers are looked through.
const DEEPEST: usize = 6;

/// A command line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) written: String,
    /// `None` where it does not parse.
    read: Option<ShellLine>,
    commands: Vec<Command>,
}

/// A simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// Whether every word is known before it runs.
    pub(super) is_known: bool,
    /// Whether variables are set for it that may change what it does.
    has_assignments: bool,
    /// What it runs in turn, if it is a wrapper.
    inner: Vec<Command>,
    /// Whether allowing what it runs allows it.
    is_transparent: bool,
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
        let read = shell::read(written);
        let commands = read.iter().flat_map(|line| &line.commands);
        Self {
            commands: commands.map(|command| Command::of(command, 0)).collect(),
            written: written.to_owned(),
            read,
        }
    }

    /// Whether it parses.
    pub(super) fn is_understood(&self) -> bool {
        self.read.is_some()
    }

    /// Whether it only looks, at nothing secret and nothing outside.
    pub(super) fn is_read_only(&self) -> bool {
        self.read.as_ref().is_some_and(harmless::is_harmless)
    }

    /// Whether any command, or one within a wrapper, is such.
    pub(super) fn has(&self, is_such: impl Fn(&Command) -> bool) -> bool {
        self.commands.iter().any(|command| command.has(&is_such))
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
        if !read.assignments.is_empty()
            || !harmless::are_redirects_harmless(read, harmless::Writing::Below)
        {
            return false;
        }
        let is_allowed = |command: &Command| {
            allow
                .iter()
                .any(|pattern| pattern.is_about(command, subject))
        };
        // What only looks may stand beside what is allowed; alone it has no rule to speak for it.
        let (allowed, rest): (Vec<_>, Vec<_>) = self
            .commands
            .iter()
            .zip(&read.commands)
            .partition(|(command, _)| command.is_covered(&is_allowed));
        let is_harmless = |simple: &SimpleCommand| harmless::is_harmless_command(simple);
        !allowed.is_empty() && rest.iter().all(|(_, simple)| is_harmless(simple))
    }

    /// Whether a word stands anywhere in it, for lines that do not parse.
    pub(super) fn mentions(&self, word: &str) -> bool {
        let is_part = |sign: char| sign.is_alphanumeric() || "_-.".contains(sign);
        let mut words = self.written.split(|sign| !is_part(sign));
        words.any(|other| other == word)
    }

    /// Rules that would allow it: one for each command that is not allowed by now.
    pub(super) fn rules(&self) -> Vec<String> {
        let exact = || vec![format!("Bash({})", self.written.trim())];
        let Some(read) = &self.read else {
            return exact();
        };
        if !read.assignments.is_empty()
            || !harmless::are_redirects_harmless(read, harmless::Writing::Below)
        {
            return exact();
        }
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

impl Command {
    fn of(command: &SimpleCommand, depth: usize) -> Self {
        let words: Vec<String> = command.words.iter().map(|word| word.text.clone()).collect();
        let is_known = command.words.iter().all(|word| word.is_known);
        let is_harmless = |name: &String| HARMLESS_VARIABLES.contains(&name.as_str());
        let has_assignments = !command.assignments.iter().all(is_harmless);
        let mut found = Self {
            words,
            is_known,
            has_assignments,
            inner: Vec::new(),
            is_transparent: false,
        };
        // A path to a program is judged by the program's name too.
        if let Some((_, name)) = found.words.first().and_then(|name| name.rsplit_once('/')) {
            let mut plain = found.clone();
            plain.words[0] = name.to_owned();
            found.inner.push(plain);
        }
        if depth < DEEPEST {
            found.look_through(command, depth);
        }
        found
    }

    /// Finds what a wrapper runs.
    fn look_through(&mut self, command: &SimpleCommand, depth: usize) {
        let texts = command.texts();
        let name = texts
            .first()
            .map_or("", |name| name.rsplit('/').next().unwrap_or(name));
        let start = match name {
            "sudo" | "doas" => after_options(
                &texts,
                &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"],
            ),
            "nice" | "ionice" | "nohup" | "setsid" | "stdbuf" | "time" | "command" | "builtin"
            | "exec" | "chronic" | "unbuffer" => {
                self.is_transparent = name != "exec";
                after_options(&texts, &["-n", "-c", "-p", "-a", "-o", "-e", "-i"])
            }
            "timeout" => {
                self.is_transparent = true;
                after_options(&texts, &["-s", "--signal", "-k", "--kill-after"]).map(|at| at + 1)
            }
            "env" => after_options(&texts, &["-u", "--unset", "-C", "--chdir", "-S"]).map(|at| {
                let is_assignment = |text: &&&str| text.contains('=');
                at + texts.iter().skip(at).take_while(is_assignment).count()
            }),
            "xargs" => after_options(&texts, &["-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"]),
            "find" | "fd" => {
                let at = texts.iter().position(|text| {
                    matches!(*text, "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X")
                });
                at.map(|at| at + 1)
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" => return self.look_into_script(&texts),
            "eval" => return self.look_into(&texts[1..].join(" ")),
            _ => return,
        };
        if let Some(words) = start
            .and_then(|at| command.words.get(at..))
            .filter(|words| !words.is_empty())
        {
            let inner = SimpleCommand {
                assignments: Vec::new(),
                words: words.to_vec(),
            };
            self.inner.push(Self::of(&inner, depth + 1));
        }
    }

    /// What a shell is given behind `-c`.
    fn look_into_script(&mut self, texts: &[&str]) {
        let is_flag =
            |text: &&str| text.starts_with('-') && !text.starts_with("--") && text.contains('c');
        if let Some(at) = texts.iter().position(is_flag)
            && let Some(script) = texts.get(at + 1)
        {
            self.look_into(script);
        }
    }

    fn look_into(&mut self, script: &str) {
        let line = Line::read(script);
        if !line.is_understood() {
            self.is_known = false;
        }
        self.inner.extend(line.commands);
    }

    fn has(&self, is_such: &impl Fn(&Command) -> bool) -> bool {
        is_such(self) || self.inner.iter().any(|inner| inner.has(is_such))
    }

    fn is_covered(&self, is_allowed: &impl Fn(&Command) -> bool) -> bool {
        if self.has_assignments || self.words.first().is_none_or(|name| name.contains('$')) {
            return false;
        }
        let is_inner_covered = || self.inner.iter().any(|inner| inner.is_covered(is_allowed));
        is_allowed(self) || self.is_transparent && is_inner_covered()
    }

    /// How much of it stands for all like it: the program and, where it has any, its subcommand.
    fn width(&self) -> Option<String> {
        if self.has_assignments {
            return None;
        }
        let command = match (self.is_transparent, self.inner.last()) {
            (true, Some(inner)) => return inner.width(),
            _ => self,
        };
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let (name, rest) = words.split_first()?;
        let is_word = |word: &&&str| {
            word.starts_with(|sign: char| sign.is_ascii_alphabetic())
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte))
        };
        let taken = match *name {
            "git" | "cargo" | "go" | "docker" | "kubectl" | "gh" | "pip" | "uv" | "poetry"
            | "dotnet" | "mvn" | "gradle" | "terraform" | "bundle" | "mix" | "swift" | "deno"
            | "bun" | "just" | "make" | "rustup" => 1,
            "npm" | "pnpm" | "yarn" => match rest.first() {
                Some(&"run") => 2,
                _ => 1,
            },
            "python" | "python3" => {
                return match rest {
                    ["-m", module, ..] if is_word(&module) => Some(format!("{name} -m {module}")),
                    _ => None,
                };
            }
            // Whoever may run these may do anything.
            "sudo" | "doas" | "bash" | "sh" | "zsh" | "dash" | "ksh" | "eval" | "exec" | "env"
            | "xargs" | "rm" | "find" | "fd" | "node" | "ruby" | "perl" | "php" | "curl"
            | "wget" | "ssh" | "scp" | "rsync" | "dd" | "timeout" | "nice" | "ionice" | "nohup"
            | "setsid" | "stdbuf" | "time" | "command" | "builtin" | "chronic" | "unbuffer"
            | "declaration" | "unset" | "chmod" | "chown" | "kill" | "mv" | "cp" | "ln" | "sed"
            | "awk" | "tee" | "nc" | "source" | "." => return None,
            _ => 0,
        };
        if !is_word(&name) && !name.starts_with("./") || !command.is_known && taken > rest.len() {
            return None;
        }
        let more: Vec<&str> = rest
            .iter()
            .take(taken)
            .take_while(|word| is_word(word))
            .copied()
            .collect();
        // A subcommand behind options is not told from their values.
        if more.len() < taken && !rest.is_empty() {
            return None;
        }
        Some(
            std::iter::once(*name)
                .chain(more)
                .collect::<Vec<_>>()
                .join(" "),
        )
    }
}

/// Where the words behind a wrapper's options begin; `valued` are options that take the next word.
fn after_options(texts: &[&str], valued: &[&str]) -> Option<usize> {
    let mut at = 1;
    while let Some(text) = texts.get(at) {
        match *text {
            "--" => return Some(at + 1),
            text if valued.contains(&text) => at += 2,
            text if text.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}
