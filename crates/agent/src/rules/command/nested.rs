//! The commands that a command runs in turn: after wrappers such as `sudo`, in scripts for shells,
//! for files that a search finds.
//!
//! Returns too many commands rather than too few: where an option may or may not take the next
//! word, both readings are followed.

use std::cell::Cell;
use std::collections::BTreeSet;

use syntax::shell::{ShellInput, ShellWord, SimpleCommand};

use super::{CommandInvocation, CommandLine};
use crate::rules::width::base;

/// Maximum nesting of wrappers that is followed.
const DEEPEST: usize = 8;
/// Maximum number of commands examined per line, including those they run. Beyond it the line
/// counts as opaque.
const MAX_COMMANDS: usize = 300;

/// The nesting depth of a command, and the number of commands that may still be examined.
#[derive(Clone, Copy)]
pub(super) struct Depth<'a> {
    depth: usize,
    left: &'a Cell<usize>,
}

impl<'a> Depth<'a> {
    /// Returns a counter with the number of commands that one line may contain.
    pub(super) fn command_budget() -> Cell<usize> {
        Cell::new(MAX_COMMANDS)
    }

    /// Returns the depth of commands that the line itself names.
    pub(super) fn top(left: &'a Cell<usize>) -> Self {
        Self { depth: 0, left }
    }

    /// Returns the depth of the commands that a command runs; `None` at the limits.
    fn deeper(self) -> Option<Self> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        let depth = self.depth + 1;
        (depth <= DEEPEST).then_some(Self { depth, ..self })
    }
}

/// Programs that run the command in their arguments, with the number of operands before it.
const WRAPPERS: &[(&str, usize)] = &[
    ("sudo", 0),
    ("doas", 0),
    ("su", 0),
    ("runuser", 0),
    ("nice", 0),
    ("ionice", 0),
    ("chrt", 1),
    ("taskset", 1),
    ("numactl", 0),
    ("nohup", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("time", 0),
    ("command", 0),
    ("builtin", 0),
    ("exec", 0),
    ("chronic", 0),
    ("unbuffer", 0),
    ("env", 0),
    ("timeout", 1),
    ("xargs", 0),
    ("parallel", 0),
    ("busybox", 0),
    ("toybox", 0),
    ("chroot", 1),
    ("flock", 1),
    ("strace", 0),
    ("ltrace", 0),
    ("valgrind", 0),
    ("perf", 1),
    ("watch", 0),
    ("entr", 0),
    ("script", 0),
    ("setpriv", 0),
    ("prlimit", 0),
    ("choom", 0),
    ("unshare", 0),
    ("nsenter", 0),
    ("setarch", 1),
    ("linux32", 0),
    ("linux64", 0),
    ("arch", 0),
    ("systemd-run", 0),
    ("systemd-inhibit", 0),
    ("caffeinate", 0),
    ("bwrap", 0),
    ("firejail", 0),
    ("fakeroot", 0),
    ("proot", 0),
    ("faketime", 1),
    ("xvfb-run", 0),
    ("dbus-run-session", 0),
    ("ssh-agent", 0),
    ("ssh", 1),
    ("rlwrap", 0),
    ("torsocks", 0),
    ("proxychains", 0),
    ("proxychains4", 0),
    ("tmux", 1),
    ("screen", 0),
    ("npx", 0),
    ("pnpx", 0),
    ("bunx", 0),
    ("uv", 1),
    ("poetry", 1),
    ("pipenv", 1),
    ("rye", 1),
    ("hatch", 1),
    ("bundle", 1),
    ("mise", 1),
    ("conda", 1),
    ("direnv", 2),
];

const SHELLS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "rbash", "fish",
];

/// Programs that run code in their arguments, whose strings may contain commands.
const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "osascript",
    "vim",
    "vi",
    "nvim",
    "ed",
    "ex",
    "emacs",
    "gdb",
    "make",
    "gmake",
    "just",
    "R",
    "Rscript",
    "julia",
    "ghci",
    "guile",
];

/// Identifiers in interpreter code that run programs.
const RUNNING: &[&str] = &[
    "system",
    "exec",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execSync",
    "execFile",
    "execFileSync",
    "spawn",
    "spawnSync",
    "spawnl",
    "spawnv",
    "spawnvp",
    "posix_spawn",
    "popen",
    "popen2",
    "Popen",
    "open3",
    "Open3",
    "subprocess",
    "check_output",
    "getoutput",
    "qx",
    "fork",
    "shell_exec",
    "passthru",
    "proc_open",
    "ProcessBuilder",
    "child_process",
];

/// Interpreters in which a backquote runs a program, and those in which `!` does.
const BACKQUOTING: &[&str] = &["perl", "ruby", "php"];
const BANGING: &[&str] = &["vim", "vi", "nvim", "ed", "ex", "gdb", "emacs"];

/// Builtins that treat arguments as variable names, whose subscripts are evaluated.
const EVALUATING: &[&str] = &[
    "[[",
    "test",
    "[",
    "printf",
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "read",
    "mapfile",
    "readarray",
    "unset",
    "wait",
    "getopts",
];

impl CommandInvocation {
    /// Returns whether it runs code in its arguments, which may contain commands.
    pub(in super::super) fn is_interpreter(&self) -> bool {
        let name = self.name().map(base);
        name.is_some_and(|name| INTERPRETERS.contains(&name))
    }

    /// Returns whether it runs a file of commands: a script given to a shell, or a program by its
    /// path.
    pub(super) fn runs_file(&self) -> bool {
        let is_path = self
            .words
            .first()
            .is_some_and(|word| word.text.contains('/'));
        let name = self.name().map(base);
        let reads =
            name.is_some_and(|name| SHELLS.contains(&name) || matches!(name, "source" | "."));
        is_path || reads && !self.arguments().is_empty()
    }

    /// Finds the commands that this one runs in turn and stores them in it. Marks it as opaque if
    /// that is not known, or the nesting or the number of commands is too large.
    pub(super) fn look_within(&mut self, depth: Depth<'_>) {
        let Some(name) = self.name().map(str::to_owned) else {
            self.is_opaque = true;
            return;
        };
        let Some(depth) = depth.deeper() else {
            self.is_opaque = true;
            return;
        };
        if let Some((_, positional)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            self.look_behind(&name, *positional, depth);
        }
        match name.as_str() {
            _ if SHELLS.contains(&base(&name)) => self.look_into_shell(depth),
            "find" => {
                self.look_behind_flags(&["-exec", "-execdir", "-ok", "-okdir"], &[";", "+"], depth)
            }
            "fd" | "fdfind" => {
                self.look_behind_flags(&["-x", "-X", "--exec", "--exec-batch"], &[";"], depth);
            }
            "git" => self.look_into_git(depth),
            "eval" => {
                let words: Vec<String> =
                    self.arguments().iter().map(|it| it.text.clone()).collect();
                self.note_opaque(!self.arguments().iter().all(ShellWord::is_certain));
                self.look_into(&words.join(" "), depth);
            }
            "trap" | "alias" => {
                self.note_opaque(!self.arguments().iter().all(|it| it.is_known));
                for text in self.texts() {
                    match text.split_once('=') {
                        Some((_, script)) if name == "alias" => self.look_into(script, depth),
                        _ => self.look_into(&text, depth),
                    }
                }
            }
            "source" | "." => {
                let file = self.arguments().first();
                self.note_opaque(file.is_none_or(is_stream));
            }
            "at" | "batch" | "crontab" => self.look_into_input(depth),
            "hash" => self.note_opaque(self.texts().iter().any(|text| text == "-p")),
            "enable" => self.note_opaque(self.texts().iter().any(|text| text == "-f")),
            _ if EVALUATING.contains(&name.as_str()) => {
                let runs = |text: &String| text.contains("$(") || text.contains('`');
                let mut known = self.arguments().iter().filter(|it| it.is_known);
                let is_opaque = known.any(|it| runs(&it.text));
                self.note_opaque(is_opaque);
            }
            _ => {}
        }
        if self.is_interpreter() {
            self.look_into_interpreter(&name, depth);
        }
        if let Some(subcommand) = name.strip_prefix("git-") {
            let mut words = vec![known_word("git"), known_word(subcommand)];
            words.extend_from_slice(self.arguments());
            self.add(words, depth);
        }
    }

    fn arguments(&self) -> &[ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Notes that it may run programs that the line does not name.
    fn note_opaque(&mut self, is_opaque: bool) {
        self.is_opaque |= is_opaque;
    }

    fn texts(&self) -> Vec<String> {
        self.arguments().iter().map(|it| it.text.clone()).collect()
    }

    fn add(&mut self, words: Vec<ShellWord>, depth: Depth<'_>) {
        if !words.is_empty() {
            let inner = SimpleCommand {
                words,
                input: self.input.clone(),
                ..SimpleCommand::default()
            };
            self.inner.push(Self::of(&inner, depth));
        }
    }

    fn look_into(&mut self, script: &str, depth: Depth<'_>) {
        let line = CommandLine::read_at(script, depth);
        self.note_opaque(!line.is_understood());
        self.inner.extend(line.commands);
    }

    /// Adds the commands that a wrapper runs.
    fn look_behind(&mut self, name: &str, positional: usize, depth: Depth<'_>) {
        if name == "command"
            && matches!(self.texts().first().map(String::as_str), Some("-v" | "-V"))
        {
            return;
        }
        let configures = |text: &String| {
            text.split_once('=')
                .is_some_and(|(name, _)| super::configures(name))
        };
        let is_configured = self.texts().iter().any(configures);
        self.note_opaque(is_configured);
        let mut starts = BTreeSet::new();
        let mut seen = BTreeSet::new();
        self.note_opaque(self.starts(1, positional, &mut seen, &mut starts));
        let replaced = self.replaced(name);
        for start in starts {
            let mut words = self.words[start..].to_vec();
            for word in &mut words {
                if replaced.iter().any(|it| word.text.contains(it.as_str())) {
                    word.is_known = false;
                }
            }
            if matches!(name, "xargs" | "parallel") && replaced.is_empty() {
                // The words that are read from the input.
                words.push(ShellWord::default());
            }
            self.add(words, depth);
        }
        // An argument may be a script as well: `su -c`, `env -S`, `watch`.
        for text in self.texts() {
            if text.contains(|letter: char| letter.is_whitespace() || ";|&".contains(letter)) {
                let bare = text.trim_start_matches('-');
                let value = bare.split_once('=').map_or(bare, |(_, value)| value);
                for script in [text.as_str(), value, text.get(2..).unwrap_or_default()] {
                    self.inner
                        .extend(CommandLine::read_at(script, depth).commands);
                }
            }
        }
        if let Some(start) = self.certain_start(name)
            && let Some(words) = self.words.get(start..)
            && !words.is_empty()
        {
            let inner = SimpleCommand {
                words: words.to_vec(),
                ..SimpleCommand::default()
            };
            self.wrapped = Some(Box::new(Self::of(&inner, depth)));
        }
    }

    /// Collects the positions at which a wrapper's command may begin. Returns whether a word before
    /// it is uncertain.
    fn starts(
        &self,
        at: usize,
        positional: usize,
        seen: &mut BTreeSet<(usize, usize)>,
        starts: &mut BTreeSet<usize>,
    ) -> bool {
        let Some(word) = self.words.get(at) else {
            return false;
        };
        if !seen.insert((at, positional)) {
            return false;
        }
        let text = word.text.as_str();
        if !word.is_certain() {
            starts.insert(at);
            return true;
        }
        let is_variable = text
            .split_once('=')
            .is_some_and(|(name, _)| !name.contains('/'));
        match text {
            "--" => self.starts(at + 1, positional, seen, starts),
            _ if text.starts_with('-') || text.starts_with('+') => {
                let takes = if text.contains('=') {
                    false
                } else {
                    self.starts(at + 2, positional, seen, starts)
                };
                self.starts(at + 1, positional, seen, starts) || takes
            }
            _ if is_variable => self.starts(at + 1, positional, seen, starts),
            _ if positional > 0 => self.starts(at + 1, positional - 1, seen, starts),
            _ => {
                starts.insert(at);
                false
            }
        }
    }

    /// Returns the placeholders that `xargs` and `parallel` replace with the words they read.
    fn replaced(&self, name: &str) -> Vec<String> {
        let texts = self.texts();
        let mut replaced = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            match (name, text.as_str()) {
                ("xargs", "-I" | "-J" | "--replace") => replaced.extend(texts.get(at + 1).cloned()),
                ("xargs", _) if text.starts_with("-I") => replaced.push(text[2..].to_owned()),
                ("xargs", _) if text.starts_with("--replace=") => {
                    replaced.extend(text.split_once('=').map(|(_, it)| it.to_owned()));
                }
                _ => {}
            }
            if matches!(name, "xargs" | "parallel") && (text.contains("{}") || text == "-i") {
                replaced.push("{}".to_owned());
            }
        }
        replaced.retain(|it| !it.is_empty());
        replaced
    }

    /// Returns the start of the command of a wrapper that only changes how it runs; `None` if the
    /// start is uncertain.
    fn certain_start(&self, name: &str) -> Option<usize> {
        let (flags, valued, positional): (&[&str], &[&str], usize) = match name {
            "nohup" | "time" | "command" | "builtin" | "chronic" | "unbuffer" => (&[], &[], 0),
            "setsid" => (&["-w", "--wait"], &[], 0),
            "nice" => (&[], &["-n"], 0),
            "ionice" => (&[], &["-c", "-n"], 0),
            "stdbuf" => (&["-oL", "-eL", "-o0", "-e0", "-i0"], &["-o", "-e", "-i"], 0),
            "timeout" => (
                &["--foreground", "--preserve-status", "-v", "--verbose"],
                &["-s", "-k"],
                1,
            ),
            _ => return None,
        };
        let mut at = 1;
        loop {
            let word = self.words.get(at).filter(|word| word.is_certain())?;
            match word.text.as_str() {
                text if flags.contains(&text) => at += 1,
                text if valued.contains(&text) => at += 2,
                text if text.starts_with('-') => return None,
                _ => return Some(at + positional),
            }
        }
    }

    /// Adds the command after each of these flags, up to one of these ends.
    fn look_behind_flags(&mut self, flags: &[&str], ends: &[&str], depth: Depth<'_>) {
        let texts = self.texts();
        self.note_opaque(self.arguments().iter().any(|it| !it.is_known));
        for (at, text) in texts.iter().enumerate() {
            let (flag, value) = text.split_once('=').unwrap_or((text, ""));
            if !flags.contains(&flag) {
                continue;
            }
            let rest = self.words.iter().skip(at + 2);
            let mut words: Vec<ShellWord> = rest
                .take_while(|it| !ends.contains(&it.text.as_str()))
                .cloned()
                .collect();
            if !value.is_empty() {
                words.insert(0, known_word(value));
            }
            for word in &mut words {
                if word.text.contains('{') {
                    word.is_known = false;
                }
            }
            words.push(ShellWord::default());
            self.add(words, depth);
        }
    }

    fn look_into_git(&mut self, depth: Depth<'_>) {
        let texts = self.texts();
        for (at, text) in texts.iter().enumerate() {
            let is_configuration = text.contains("alias.") && text.contains('=');
            if is_configuration || text.starts_with("--config-env") {
                self.is_opaque = true;
            }
            if matches!(text.as_str(), "run" | "foreach" | "--exec" | "-x") {
                let words: Vec<ShellWord> = self.words.iter().skip(at + 2).cloned().collect();
                if let Some(script) = texts.get(at + 1) {
                    self.look_into(script, depth);
                }
                self.add(words, depth);
            }
            if let Some(script) = text.strip_prefix("--exec=") {
                self.look_into(script, depth);
            }
        }
    }

    fn look_into_shell(&mut self, depth: Depth<'_>) {
        let mut operands: Vec<ShellWord> = Vec::new();
        let (mut runs_text, mut reads_input, mut values) = (false, false, 0);
        for argument in self.arguments() {
            let text = argument.text.as_str();
            if !text.starts_with(['-', '+']) {
                operands.push(argument.clone());
                continue;
            }
            let is_short = !text.starts_with("--");
            runs_text |= is_short && text.contains('c') || text == "--command";
            reads_input |= text == "-" || is_short && text.contains('s');
            // Options with a separate value, such as `-o pipefail` and `--rcfile file`.
            values += usize::from(is_short && text.ends_with(['o', 'O']) || text.ends_with("file"));
        }
        let is_certain = self.arguments().iter().all(|it| it.is_known);
        self.note_opaque(!is_certain);
        if runs_text {
            // The position of the script depends on options that take a value.
            for operand in &operands {
                self.look_into(&operand.text, depth);
            }
        }
        match operands.get(values) {
            Some(file) if !reads_input => self.note_opaque(is_stream(file)),
            _ if runs_text => {}
            _ => self.look_into_input(depth),
        }
    }

    fn look_into_interpreter(&mut self, name: &str, depth: Depth<'_>) {
        let plain = base(name);
        let texts = self.texts();
        if plain == "python"
            && let Some(at) = texts.iter().position(|text| text == "-m")
        {
            let words: Vec<ShellWord> = self.words.iter().skip(at + 2).cloned().collect();
            self.add(words, depth);
        }
        let input = match &self.input {
            ShellInput::Text(input) => input.text.clone(),
            ShellInput::Inherited | ShellInput::Other => String::new(),
        };
        let runs = |text: &String| {
            let mut names = text.split(|it: char| !it.is_alphanumeric() && it != '_');
            names.any(|name| RUNNING.contains(&name))
                || BACKQUOTING.contains(&plain) && text.contains('`')
                || BANGING.contains(&plain) && (text.contains('!') || text.contains("shell"))
        };
        let runs_more = texts.iter().chain([&input]).any(runs);
        self.note_opaque(runs_more);
        let reads_input = texts.iter().all(|text| text == "-");
        self.note_opaque(reads_input && self.input == ShellInput::Other);
    }

    /// Examines the script that a shell reads from its input.
    fn look_into_input(&mut self, depth: Depth<'_>) {
        match self.input.clone() {
            ShellInput::Inherited => {}
            ShellInput::Text(script) if script.is_known => self.look_into(&script.text, depth),
            ShellInput::Text(_) | ShellInput::Other => self.is_opaque = true,
        }
    }
}

/// Returns whether a file is uncertain, or a stream whose contents are not on the disk.
fn is_stream(file: &ShellWord) -> bool {
    !file.is_known || file.text.starts_with("/dev/") || file.text.starts_with("/proc/")
}

fn known_word(text: &str) -> ShellWord {
    ShellWord {
        text: text.to_owned(),
        is_known: true,
        ..ShellWord::default()
    }
}
