//! Which programs Git runs by itself in a working folder, as far as they lie in it.
//!
//! Git runs what its configuration and its hooks name. Where that lies in the working folder, a command can rewrite it,
//! and the person's next Git command runs the new text.
//! Invariant: a path counts whether something is there or not: what appears later at the place is run too.
//!
//! Limitations: scripts are read as words, not executed. A hook that reads the folder by way of a tool (`npm`, `make`)
//! is reported in `notices`, and so is everything else that cannot be told from the text.

#![expect(
    clippy::disallowed_methods,
    reason = "Git reads what the disk holds, whatever `host::Files` would show"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base::AbsPath;

use super::Repository;
use super::config::{self, Entry};
use crate::links::trace;
use crate::names;

/// The longest script or configuration that is read, in bytes; longer ones are guarded and not searched.
const LONGEST: u64 = 256 << 10;
/// The most paths that are kept for one working folder.
const MOST_PATHS: usize = 512;
/// How many scripts call one another.
const DEEPEST: usize = 8;

/// Why a path is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// A configuration that another one includes.
    Config,
    /// A folder of hooks, with all that it holds.
    Hooks,
    /// A program, or a script that one runs.
    Program,
    /// A program of an installed package, which is replaced whenever packages are installed.
    Package,
}

/// What Git runs by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// Absolute paths without links in them, and the links that lead there.
    pub(crate) paths: BTreeMap<PathBuf, Role>,
    notices: BTreeSet<String>,
}

impl Programs {
    /// Looks at the repository of a working folder. `home` is where the person's own configuration lies.
    pub fn of(folder: &AbsPath, home: Option<&AbsPath>) -> Self {
        let Ok(root) = fs::canonicalize(folder) else {
            return Self::default();
        };
        let Some(repository) = Repository::of(&root) else {
            return Self::default();
        };
        let mut search = Search {
            root: &root,
            home: home.map(AbsPath::as_path),
            found: Self::default(),
            read: BTreeSet::new(),
            entered: Vec::new(),
        };
        search.repository(&repository);
        search.found
    }

    /// Whether a path without links is one of them, or lies in a folder of hooks.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.paths.iter().any(|(known, role)| match role {
            Role::Hooks => path.starts_with(known),
            Role::Config | Role::Program => path == known,
            Role::Package => false,
        })
    }

    /// Sentences about hooks whose effect depends on files that cannot be told from their text.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        self.notices.iter().map(String::as_str)
    }
}

/// Values of these names are run, wherever they stand.
const RUN: &[&str] = &[
    "askpass",
    "clean",
    "cccmd",
    "cmd",
    "command",
    "defaultkeycommand",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "headercmd",
    "helper",
    "httpd",
    "packobjectshook",
    "pager",
    "path",
    "process",
    "program",
    "receivepack",
    "recentobjectshook",
    "sendmailcmd",
    "smtpserver",
    "smudge",
    "sshcommand",
    "textconv",
    "tocmd",
    "tunnel",
    "uploadpack",
    "vcs",
    "alternaterefscommand",
];

/// Programs whose first word that is no option is a script.
const INTERPRETERS: &[&str] = &[
    ".", "bash", "bun", "dash", "deno", "env", "exec", "fish", "ksh", "lua", "node", "perl", "php",
    "pwsh", "python", "python2", "python3", "ruby", "sh", "source", "ts-node", "tsx", "zsh",
];

/// Programs that run what files of the folder say.
const RUNNERS: &[&str] = &[
    "ant",
    "bazel",
    "bundle",
    "cargo",
    "cmake",
    "composer",
    "dotnet",
    "go",
    "gradle",
    "gradlew",
    "husky",
    "invoke",
    "jest",
    "just",
    "lefthook",
    "lint-staged",
    "make",
    "mvn",
    "nox",
    "npm",
    "npx",
    "pipenv",
    "pnpm",
    "poetry",
    "pre-commit",
    "pytest",
    "rake",
    "task",
    "tox",
    "uv",
    "yarn",
];

/// Endings of scripts.
const SCRIPTS: &[&str] = &[
    "bash", "cjs", "cts", "js", "lua", "mjs", "mts", "php", "pl", "ps1", "py", "rb", "sh", "ts",
    "zsh",
];

/// Folders of installed packages.
const PACKAGES: &[&str] = &["node_modules", ".venv", "venv", "vendor"];

struct Search<'a> {
    root: &'a Path,
    home: Option<&'a Path>,
    found: Programs,
    /// Configurations and scripts that were read.
    read: BTreeSet<PathBuf>,
    /// Folders that the script which is read now changes to.
    entered: Vec<PathBuf>,
}

impl Search<'_> {
    fn repository(&mut self, repository: &Repository) {
        let Repository {
            git_dir,
            common_dir,
        } = repository;
        let mut files = vec![PathBuf::from("/etc/gitconfig")];
        if let Some(home) = self.home {
            files.push(home.join(".config/git/config"));
            files.push(home.join(".gitconfig"));
        }
        files.push(common_dir.join("config"));
        files.push(git_dir.join("config.worktree"));
        let modules = Repository::modules(git_dir);
        files.extend(modules.iter().map(|module| module.join("config")));
        let mut hooks = vec![common_dir.join("hooks")];
        hooks.extend(modules.iter().map(|module| module.join("hooks")));
        for file in files {
            self.config(&file, &mut hooks);
        }
        for folder in hooks {
            self.hooks(&folder);
        }
    }

    /// Reads a configuration and those that it includes.
    fn config(&mut self, file: &Path, hooks: &mut Vec<PathBuf>) {
        if self.read.len() >= config::MOST_FILES || !self.read.insert(file.to_owned()) {
            return;
        }
        let Some(text) = text(file) else {
            return;
        };
        for entry in config::parse(&text) {
            match (entry.section(), entry.name()) {
                ("include" | "includeif", "path") => {
                    let base = file.parent().unwrap_or(file);
                    let included = self.absolute(&entry.value, base);
                    self.add(&included, Role::Config, 0);
                    self.config(&included, hooks);
                }
                ("core", "hookspath") => {
                    let folder = self.absolute(&entry.value, self.root);
                    self.add(&folder, Role::Hooks, 0);
                    // Husky's own hooks call those of the folder above them.
                    if folder.ends_with(".husky/_") {
                        self.add(&folder.join(".."), Role::Hooks, 0);
                    }
                    hooks.push(folder);
                }
                ("core", "attributesfile") => {
                    let file = self.absolute(&entry.value, self.root);
                    self.add(&file, Role::Config, 0);
                }
                _ if is_run(&entry) => {
                    let line = entry.value.trim_start_matches('!');
                    self.words(line, Whose::Config, None, 0);
                }
                _ => {}
            }
        }
    }

    /// As Git reads a path of a configuration.
    fn absolute(&self, value: &str, base: &Path) -> PathBuf {
        match (value.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => base.join(value),
        }
    }

    fn hooks(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "sample") {
                continue;
            }
            if path.is_symlink() {
                self.link(&path);
            }
            if path.is_file() {
                self.script(&path, 0);
            }
        }
    }

    /// Guards what a link outside of the working folder leads to in it.
    fn link(&mut self, path: &Path) {
        let Ok(target) = fs::read_link(path) else {
            return;
        };
        // The folder of the hook has no links in it, so the names alone tell where the link leads.
        let base = path
            .parent()
            .and_then(|parent| fs::canonicalize(parent).ok());
        let target = plain(&base.unwrap_or_default().join(target));
        self.add(&target, Role::Program, 0);
    }

    /// Guards a path, the links on the way to it, and what it runs.
    fn add(&mut self, path: &Path, role: Role, depth: usize) {
        let trace = trace(self.root, path);
        let Some(end) = trace.end else {
            return;
        };
        let inner = end.strip_prefix(self.root).unwrap_or(&end);
        let mut parts = inner.components().map(|part| part.as_os_str());
        if inner.as_os_str().is_empty() || parts.any(names::is_git) {
            return;
        }
        let is_package = inner
            .components()
            .any(|part| PACKAGES.iter().any(|name| part.as_os_str() == *name));
        let role = match role {
            Role::Program if is_package => Role::Package,
            role => role,
        };
        for path in trace.links.into_iter().chain([end.clone()]) {
            if self.found.paths.len() < MOST_PATHS {
                self.found.paths.entry(path).or_insert(role);
            }
        }
        match role {
            Role::Hooks => self.hooks(&end),
            Role::Program => self.script(&end, depth),
            Role::Config | Role::Package => {}
        }
    }

    /// Looks through a script for others that it runs.
    fn script(&mut self, path: &Path, depth: usize) {
        if depth >= DEEPEST || !self.read.insert(path.to_owned()) {
            return;
        }
        let Some(text) = text(path) else {
            return;
        };
        let Ok(text) = std::str::from_utf8(&text) else {
            return;
        };
        let base = path.parent();
        let entered = std::mem::take(&mut self.entered);
        for (ix, line) in text.lines().enumerate() {
            let line = match line.trim_start().strip_prefix('#') {
                Some(rest) if ix == 0 => rest.trim_start_matches('!'),
                Some(_) => continue,
                None => line,
            };
            let whose = Whose::Script(path, depth);
            self.words(line, whose, base, depth + 1);
        }
        self.entered = entered;
    }

    /// Guards the programs that a line of a shell or of another script names.
    fn words(&mut self, line: &str, whose: Whose<'_>, base: Option<&Path>, depth: usize) {
        let is_end =
            |letter: char| letter.is_whitespace() || "\"'`$(){}[];|&<>,!=\\".contains(letter);
        let words = line.split(is_end).filter(|word| !word.is_empty());
        let (mut is_script_next, mut is_folder_next, mut is_first) = (false, false, true);
        for word in words {
            let name = word.rsplit('/').next().unwrap_or(word);
            if word.starts_with('-') {
                continue;
            }
            // A first word without a slash is looked for in `PATH`.
            let is_command = is_first && matches!(whose, Whose::Config) && word.contains('/');
            let is_run = is_script_next || is_command;
            if is_folder_next && self.root.join(word).is_dir() {
                self.entered.push(self.root.join(word));
            }
            is_script_next = INTERPRETERS.contains(&name);
            is_folder_next = word == "cd";
            is_first = false;
            if RUNNERS.contains(&name)
                && let Whose::Script(path, 0) = whose
            {
                let path = path.to_string_lossy();
                let path = base::printable(&path, base::LineFeeds::Escape);
                self.found.notices.insert(format!(
                    "Git runs {path} by itself, which calls \"{name}\": files that a command changes here can run with your next Git command"
                ));
            }
            let bases = [Some(self.root), base].into_iter().flatten();
            let bases = bases.chain(self.entered.iter().map(PathBuf::as_path));
            let paths: Vec<PathBuf> = bases
                .filter_map(|base| self.program(word, base, is_run))
                .collect();
            for path in paths {
                self.add(&path, Role::Program, depth);
            }
        }
    }

    /// The path that a word of a command names, where it looks like a program of the folder.
    fn program(&self, word: &str, base: &Path, is_run: bool) -> Option<PathBuf> {
        let path = Path::new(word);
        let end = path.extension().and_then(|end| end.to_str());
        let is_script = end.is_some_and(|end| SCRIPTS.contains(&end));
        let has_slash = word.contains('/');
        if word.starts_with("~/") {
            return is_script.then(|| self.absolute(word, base));
        }
        let mut tries = vec![base.join(path)];
        if let Some(rest) = word.strip_prefix('/') {
            // What is left of `$(dirname "$0")/script`.
            tries.push(base.join(rest));
        }
        for path in tries {
            let path = plain(&path);
            if !path.starts_with(self.root) || path == self.root {
                continue;
            }
            let Ok(facts) = fs::metadata(&path) else {
                let has_place = path.parent().is_some_and(Path::is_dir);
                if has_slash && has_place && (is_run || is_script) {
                    return Some(path);
                }
                continue;
            };
            let is_executable = facts.permissions().mode() & 0o111 != 0;
            if facts.is_file() && (is_run || is_script || has_slash && is_executable) {
                return Some(path);
            }
        }
        None
    }
}

/// Where a line stands.
#[derive(Clone, Copy)]
enum Whose<'a> {
    /// A value of a configuration.
    Config,
    /// A script, called by so many others.
    Script(&'a Path, usize),
}

fn is_run(entry: &Entry) -> bool {
    let is_alias = entry.section() == "alias";
    let is_named = RUN.contains(&entry.name()) || entry.section() == "pager";
    entry.value.starts_with('!') || is_named && !is_alias
}

/// Without `.` and `..`, by the names alone.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The content of a regular file that is not too long. A pipe is not waited for.
fn text(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(nonblocking())
        .open(path)
        .ok()?;
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > LONGEST {
        return None;
    }
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    Some(text)
}

fn nonblocking() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits() as i32
}

#[cfg(test)]
mod tests;
