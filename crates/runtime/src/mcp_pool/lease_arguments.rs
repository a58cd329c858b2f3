//! The arguments with which a server of a checkout serves a worktree.
//!
//! Knows: entries of servers. Must not know: sessions, tools.
//! Invariant: no argument and no variable that may name code leads into the worktree, because an
//! agent writes the worktree, and a server runs with the user's rights. An argument of unknown
//! meaning keeps the folder that the user approved.

use base::AbsPath;
use connect::mcp::{ServerEntry, ServerTransport};
use host::{FileKind, Files};

/// The names of options and variables whose folder is data that a server works on, in lower case
/// and with hyphens.
const DATA_NAMES: &[&str] = &[
    "allow",
    "allowed-dir",
    "allowed-directory",
    "data",
    "project-path",
    "project-root",
    "repo",
    "repo-path",
    "repository",
    "root",
    "roots",
    "workspace",
    "workspace-folder",
    "workspace-root",
];

/// Programs that run the code which their first argument names; the arguments after it are the
/// code's own.
const LAUNCHERS: &[&str] = &[
    "bun", "bunx", "cargo", "deno", "dotnet", "go", "java", "npm", "npx", "pipx", "pnpm", "poetry",
    "ts-node", "tsx", "uv", "uvx", "yarn",
];

/// Programs that start others, so that any argument may name code.
const WRAPPERS: &[&str] = &[
    "bash",
    "cmd",
    "docker",
    "env",
    "fish",
    "just",
    "make",
    "nice",
    "nix",
    "podman",
    "powershell",
    "pwsh",
    "sh",
    "sudo",
    "timeout",
    "zsh",
];

/// Launchers whose names also have a version, such as `python3.12`.
const VERSIONED_LAUNCHERS: &[&str] = &["python", "pypy", "node", "ruby", "perl", "php", "lua"];

/// Arguments of launchers that precede the name of the code.
const SUBCOMMANDS: &[&str] = &[
    "create", "dlx", "exec", "run", "script", "start", "tool", "x",
];

/// Options of launchers that have no value, or whose value is the name of the code.
const FLAGS: &[&str] = &["-m", "-q", "-u", "-y", "--quiet", "--yes"];

/// The part of a program in what a server runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramKind {
    /// It is the server's code.
    Server,
    /// It runs the code that its first argument names.
    Launcher,
    /// It starts other programs.
    Wrapper,
}

/// Makes a server configured for a checkout serve a worktree: folders of the checkout that are its
/// data become those of the worktree. Its working folder, the files it names and the folders that
/// may hold its code stay.
pub(super) fn point_at_worktree(
    files: &dyn Files,
    entry: &mut ServerEntry,
    checkout: &AbsPath,
    worktree: &AbsPath,
) {
    let Ok(ServerTransport::Process {
        command,
        arguments,
        environment,
        ..
    }) = &mut entry.reach
    else {
        return;
    };
    let moved = |value: &str| moved_folder(files, value, checkout, worktree);
    let kind = ProgramKind::of(command);
    let mut is_code_named = kind == ProgramKind::Server;
    let mut option_before: Option<String> = None;
    for text in arguments.iter_mut() {
        let before = option_before.take();
        if text.starts_with('-') {
            if let Some((option, value)) = text.split_once('=') {
                if let Some(folder) = moved(value).filter(|_| is_data(option)) {
                    *text = format!("{option}={folder}");
                }
            } else if !FLAGS.contains(&text.as_str()) {
                option_before = Some(text.clone());
            }
            continue;
        }
        let holds_data = before
            .as_ref()
            .map_or(is_code_named, |option| is_data(option));
        let names_code = before.is_none()
            && kind == ProgramKind::Launcher
            && !SUBCOMMANDS.contains(&text.as_str());
        is_code_named |= names_code;
        if let Some(folder) = moved(text).filter(|_| holds_data) {
            *text = folder;
        }
    }
    for (name, value) in environment.iter_mut() {
        if let Some(folder) = moved(value).filter(|_| is_data(name)) {
            *value = folder;
        }
    }
}

/// Returns the worktree's folder for a value that names a folder of the checkout.
fn moved_folder(
    files: &dyn Files,
    value: &str,
    checkout: &AbsPath,
    worktree: &AbsPath,
) -> Option<String> {
    let is_path = value == "." || value.starts_with("./") || value.starts_with('/');
    let path = checkout.join(value);
    let relative = path.relative_to(checkout).filter(|_| is_path)?;
    let stat = files.stat(&path).ok()?;
    (stat.kind == FileKind::Folder).then(|| worktree.join(relative).to_string())
}

/// Returns whether the folder of this option or variable is data.
fn is_data(name: &str) -> bool {
    let name = name.trim_start_matches('-').replace('_', "-");
    DATA_NAMES.contains(&name.to_ascii_lowercase().as_str())
}

impl ProgramKind {
    fn of(command: &str) -> Self {
        let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
        let name = name.to_ascii_lowercase();
        let mut ends = [".exe", ".cmd", ".bat"].iter();
        let name = ends.find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if WRAPPERS.contains(&name) {
            Self::Wrapper
        } else if LAUNCHERS.contains(&name) || VERSIONED_LAUNCHERS.contains(&unversioned) {
            Self::Launcher
        } else {
            Self::Server
        }
    }
}

#[cfg(test)]
mod tests;
