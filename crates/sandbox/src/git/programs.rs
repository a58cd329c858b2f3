//! The programs inside a working folder that Git runs on its own.
//!
//! Git runs the programs that its configuration and its hooks name. If such a program lies in the
//! working folder, a command can rewrite it, and the user's next Git command runs the new version.
//! Invariant: a path counts whether or not it exists: a file that is created there later is run
//! too.
//!
//! Limitations: scripts are split into words, not executed. A hook that reads the folder through a
//! tool (`npm`, `make`) is reported in `notices`, and so is everything else that the text does not
//! reveal.

#![expect(
    clippy::disallowed_methods,
    reason = "Git reads what the disk holds, whatever `host::Files` would show"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base::AbsPath;

use super::RepositoryPaths;
use super::config::{self, ConfigEntry};
use crate::links::trace;
use crate::names;

/// Maximum size of a script or configuration that is parsed, in bytes; larger ones are guarded but
/// not searched.
const MAX_SCRIPT_BYTES: u64 = 256 << 10;
/// Maximum number of paths kept for one working folder.
const MAX_PATHS: usize = 512;
/// Maximum depth of scripts that call one another.
const MAX_DEPTH: usize = 8;

/// The reason that a path is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProgramRole {
    /// A configuration file that another one includes.
    Config,
    /// A folder of hooks with its contents.
    Hooks,
    /// A program, or a script that one runs.
    Program,
    /// A program of an installed package, which is replaced whenever packages are installed.
    Package,
}

/// The programs and files through which Git runs code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitPrograms {
    /// Absolute paths without links, and the links that lead there.
    pub(crate) paths: BTreeMap<PathBuf, ProgramRole>,
    notices: BTreeSet<String>,
}

impl GitPrograms {
    /// Inspects the repository of a working folder. `home` contains the user's own configuration.
    pub fn of(folder: &AbsPath, home: Option<&AbsPath>) -> Self {
        let Ok(root) = fs::canonicalize(folder) else {
            return Self::default();
        };
        let Some(repository) = RepositoryPaths::of(&root) else {
            return Self::default();
        };
        let mut search = ProgramSearch {
            root: &root,
            home: home.map(AbsPath::as_path),
            found: Self::default(),
            read: BTreeSet::new(),
            entered: Vec::new(),
        };
        search.repository(&repository);
        search.found
    }

    /// Returns whether a path without links is guarded or lies in a folder of hooks.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        self.paths.iter().any(|(known, role)| match role {
            ProgramRole::Hooks => path.starts_with(known),
            ProgramRole::Config | ProgramRole::Program => path == known,
            ProgramRole::Package => false,
        })
    }

    /// Returns sentences about hooks whose effect depends on files that their text does not reveal.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        self.notices.iter().map(String::as_str)
    }
}

/// Configuration names whose values Git runs, in any section.
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

/// Programs whose first non-option argument is a script.
const INTERPRETERS: &[&str] = &[
    ".", "bash", "bun", "dash", "deno", "env", "exec", "fish", "ksh", "lua", "node", "perl", "php",
    "pwsh", "python", "python2", "python3", "ruby", "sh", "source", "ts-node", "tsx", "zsh",
];

/// Programs that run code chosen by files of the folder.
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

/// File extensions of scripts.
const SCRIPTS: &[&str] = &[
    "bash", "cjs", "cts", "js", "lua", "mjs", "mts", "php", "pl", "ps1", "py", "rb", "sh", "ts",
    "zsh",
];

/// Folders of installed packages.
const PACKAGES: &[&str] = &["node_modules", ".venv", "venv", "vendor"];

struct ProgramSearch<'a> {
    root: &'a Path,
    home: Option<&'a Path>,
    found: GitPrograms,
    /// Configurations and scripts already read.
    read: BTreeSet<PathBuf>,
    /// Folders that the current script changes to.
    entered: Vec<PathBuf>,
}

impl ProgramSearch<'_> {
    fn repository(&mut self, repository: &RepositoryPaths) {
        let RepositoryPaths {
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
        let modules = RepositoryPaths::modules(git_dir);
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

    /// Parses a configuration and those that it includes.
    fn config(&mut self, file: &Path, hooks: &mut Vec<PathBuf>) {
        if self.read.len() >= config::MAX_FILES || !self.read.insert(file.to_owned()) {
            return;
        }
        let Some(text) = read_text(file) else {
            return;
        };
        for entry in config::parse(&text) {
            match (entry.section(), entry.name()) {
                ("include" | "includeif", "path") => {
                    let base = file.parent().unwrap_or(file);
                    let included = self.absolute(&entry.value, base);
                    self.add(&included, ProgramRole::Config, 0);
                    self.config(&included, hooks);
                }
                ("core", "hookspath") => {
                    let folder = self.absolute(&entry.value, self.root);
                    self.add(&folder, ProgramRole::Hooks, 0);
                    // Husky's own hooks call those of the parent folder.
                    if folder.ends_with(".husky/_") {
                        self.add(&folder.join(".."), ProgramRole::Hooks, 0);
                    }
                    hooks.push(folder);
                }
                ("core", "attributesfile") => {
                    let file = self.absolute(&entry.value, self.root);
                    self.add(&file, ProgramRole::Config, 0);
                }
                _ if is_run(&entry) => {
                    let line = entry.value.trim_start_matches('!');
                    self.scan_line(line, LineSource::Config, None, 0);
                }
                _ => {}
            }
        }
    }

    /// Resolves a path of a configuration as Git does.
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

    /// Guards the target inside the working folder of a link outside it.
    fn link(&mut self, path: &Path) {
        let Ok(target) = fs::read_link(path) else {
            return;
        };
        // The hook's folder is free of links, so the link's target can be computed lexically.
        let base = path
            .parent()
            .and_then(|parent| fs::canonicalize(parent).ok());
        let target = normalized(&base.unwrap_or_default().join(target));
        self.add(&target, ProgramRole::Program, 0);
    }

    /// Guards a path, the links on the way to it, and the programs it runs.
    fn add(&mut self, path: &Path, role: ProgramRole, depth: usize) {
        let trace = trace(self.root, path);
        let Some(end) = trace.target else {
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
            ProgramRole::Program if is_package => ProgramRole::Package,
            role => role,
        };
        for path in trace.links.into_iter().chain([end.clone()]) {
            if self.found.paths.len() < MAX_PATHS {
                self.found.paths.entry(path).or_insert(role);
            }
        }
        match role {
            ProgramRole::Hooks => self.hooks(&end),
            ProgramRole::Program => self.script(&end, depth),
            ProgramRole::Config | ProgramRole::Package => {}
        }
    }

    /// Searches a script for others that it runs.
    fn script(&mut self, path: &Path, depth: usize) {
        if depth >= MAX_DEPTH || !self.read.insert(path.to_owned()) {
            return;
        }
        let Some(text) = read_text(path) else {
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
            let whose = LineSource::Script(path, depth);
            self.scan_line(line, whose, base, depth + 1);
        }
        self.entered = entered;
    }

    /// Guards the programs named on a line of a shell script or configuration.
    fn scan_line(&mut self, line: &str, whose: LineSource<'_>, base: Option<&Path>, depth: usize) {
        let is_end =
            |letter: char| letter.is_whitespace() || "\"'`$(){}[];|&<>,!=\\".contains(letter);
        let words = line.split(is_end).filter(|word| !word.is_empty());
        let (mut is_script_next, mut is_folder_next, mut is_first) = (false, false, true);
        for word in words {
            let name = word.rsplit('/').next().unwrap_or(word);
            if word.starts_with('-') {
                continue;
            }
            // The shell looks up a first word without a slash in `PATH`.
            let is_command = is_first && matches!(whose, LineSource::Config) && word.contains('/');
            let is_run = is_script_next || is_command;
            if is_folder_next && self.root.join(word).is_dir() {
                self.entered.push(self.root.join(word));
            }
            is_script_next = INTERPRETERS.contains(&name);
            is_folder_next = word == "cd";
            is_first = false;
            if RUNNERS.contains(&name)
                && let LineSource::Script(path, 0) = whose
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
                self.add(&path, ProgramRole::Program, depth);
            }
        }
    }

    /// Returns the path that a word names if it looks like a program of the folder.
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
            // The remainder of `$(dirname "$0")/script`.
            tries.push(base.join(rest));
        }
        for path in tries {
            let path = normalized(&path);
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

/// The origin of a line.
#[derive(Clone, Copy)]
enum LineSource<'a> {
    /// A value of a configuration.
    Config,
    /// A script and its call depth.
    Script(&'a Path, usize),
}

/// Returns whether Git runs the value of an entry, or a part of it, as a command. An alias counts
/// only if its value begins with `!`.
fn is_run(entry: &ConfigEntry) -> bool {
    let is_alias = entry.section() == "alias";
    let is_named = RUN.contains(&entry.name()) || entry.section() == "pager";
    entry.value.starts_with('!') || is_named && !is_alias
}

/// Removes `.` and `..` lexically.
fn normalized(path: &Path) -> PathBuf {
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

/// Reads a regular file that is not too long. NONBLOCK keeps a pipe from blocking.
fn read_text(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(nonblocking())
        .open(path)
        .ok()?;
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > MAX_SCRIPT_BYTES {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_SCRIPT_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}

fn nonblocking() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits() as i32
}

#[cfg(test)]
mod tests;
