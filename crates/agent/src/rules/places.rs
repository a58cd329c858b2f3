//! Files that nobody reads or changes by the way: secrets, git's own, and what steers agents and editors.

use base::AbsPath;
use project::is_secret;

use crate::tool::{Access, Scope, ToolClass};

use super::Verdict;

/// Folders of the home that hold keys: not even asked for.
const KEY_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
];

/// What git runs and believes, and what steers agents and editors: a change of it is a change of what happens next.
const STEERING_FOLDERS: &[&str] = &[
    ".git",
    ".claude",
    ".burin",
    ".cursor",
    ".agents",
    ".codex",
    ".gemini",
    ".opencode",
    ".vscode",
    ".idea",
    ".github/workflows",
    ".husky",
    ".githooks",
    ".cargo",
    ".devcontainer",
];
const STEERING_FILES: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    ".mcp.json",
    ".gitmodules",
    ".gitattributes",
    ".worktreeinclude",
    ".pre-commit-config.yaml",
    ".bashrc",
    ".profile",
    ".zshrc",
];

/// What is judged whatever rules allow.
pub(super) fn guarded(class: &ToolClass, access: &Access) -> Option<Verdict> {
    let all = access.reads.iter().chain(&access.writes);
    for path in all.filter_map(path) {
        if holds_keys(path) {
            let reason = format!(
                "{path} holds keys, which are not for models. Ask the person to do what needs them."
            );
            return Some(Verdict::Deny { reason });
        }
        if is_secret(path) {
            return Some(super::firm(format!("{path} may hold secrets")));
        }
    }
    if *class != ToolClass::Edit {
        return None;
    }
    let steering = access
        .writes
        .iter()
        .filter_map(path)
        .find(|path| is_steering(path));
    steering.map(|path| super::firm(format!("{path} steers git, agents or the editor")))
}

/// The first place that lies outside of the root.
pub(super) fn outside(scopes: &[Scope]) -> Option<&str> {
    scopes
        .iter()
        .filter_map(path)
        .find(|path| path.starts_with('/'))
}

fn path(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::Path(path) | Scope::Tree(path) => Some(path),
        Scope::Own(_) => None,
    }
}

/// Whether an absolute path lies in a folder of keys of this person's home, or is one.
pub(super) fn holds_keys(path: &str) -> bool {
    let Some(home) = home() else {
        return false;
    };
    let Some(inner) = path
        .strip_prefix(&home.to_string())
        .and_then(|inner| inner.strip_prefix('/'))
    else {
        return false;
    };
    KEY_FOLDERS.iter().any(|folder| is_below(inner, folder))
}

/// Whether a path below the root steers what happens next. Nested projects count too.
pub(super) fn is_steering(path: &str) -> bool {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let is_file = STEERING_FILES
        .iter()
        .any(|file| file.eq_ignore_ascii_case(name));
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    let mut starts = starts.filter_map(|at| path.get(at..));
    is_file || starts.any(|rest| STEERING_FOLDERS.iter().any(|folder| is_below(rest, folder)))
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub(super) fn home() -> Option<AbsPath> {
    AbsPath::new(std::env::var_os("HOME")?)
}
