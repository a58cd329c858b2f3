//! Sensitive files: secrets, git's own files, and the configuration of agents and editors.

use base::AbsPath;
use base::names::widest_key;
use project::is_secret;

use crate::tool::{LockScope, ToolAccess, ToolClass};

use super::RuleVerdict;

/// Folders of the home with keys: access is denied without asking. In lower case, since every spelling
/// of a name counts.
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
    "library/keychains",
    "library/cookies",
    "library/mail",
    "library/messages",
    "library/safari",
    "library/containers",
    "library/group containers",
    "library/mobile documents",
    "library/application support/google",
    "library/application support/chromium",
    "library/application support/bravesoftware",
    "library/application support/firefox",
    "library/application support/1password",
    "library/application support/signal",
    "library/application support/slack",
];

/// Configuration and hooks of git, and the configuration of agents and editors: changing them
/// changes which code runs later.
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

/// Returns the decision about sensitive files, which no rule overrides: a call that accesses keys
/// is denied; secrets, and edits of the configuration of git, agents and editors, only the user may
/// permit. `None` if the call accesses none of them.
pub(super) fn guarded(class: &ToolClass, access: &ToolAccess) -> Option<RuleVerdict> {
    let all = access.reads.iter().chain(&access.writes);
    for path in all.filter_map(path) {
        if holds_keys(path) {
            let reason = format!(
                "{path} contains keys, which models must not see. Ask the user to do what needs them."
            );
            return Some(RuleVerdict::Deny { reason });
        }
        if is_secret(path) {
            return Some(super::firm(format!("{path} may contain secrets")));
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

/// Returns the first absolute path, which lies outside the root.
pub(super) fn outside(scopes: &[LockScope]) -> Option<&str> {
    scopes
        .iter()
        .filter_map(path)
        .find(|path| path.starts_with('/'))
}

/// Returns the path of a file or folder scope; `None` for state of the session.
fn path(scope: &LockScope) -> Option<&str> {
    match scope {
        LockScope::Path(path) | LockScope::Tree(path) => Some(path),
        LockScope::Own(_) => None,
    }
}

/// The other way to every path of the user's volume on macOS, as a key.
const DATA_VOLUME: &str = "/system/volumes/data";

/// Returns whether an absolute path is, or lies in, a key folder of the user's home.
pub(super) fn holds_keys(path: &str) -> bool {
    let Some(home) = home() else {
        return false;
    };
    let (path, home) = (key(path), key(&home.to_string()));
    let path = path.strip_prefix(DATA_VOLUME).unwrap_or(&path);
    let inner = path.strip_prefix(&home);
    let Some(inner) = inner.and_then(|inner| inner.strip_prefix('/')) else {
        return false;
    };
    KEY_FOLDERS.iter().any(|folder| is_below(inner, folder))
}

/// Returns whether a path below the root configures git, agents or editors. Nested projects count
/// too.
pub(super) fn is_steering(path: &str) -> bool {
    let path = key(path);
    let name = path.rsplit('/').next().unwrap_or(&path);
    let is_file = STEERING_FILES
        .iter()
        .any(|file| file.eq_ignore_ascii_case(name));
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    let mut starts = starts.filter_map(|at| path.get(at..));
    is_file || starts.any(|rest| STEERING_FOLDERS.iter().any(|folder| is_below(rest, folder)))
}

/// Returns the key of a path for every volume: a sensitive name is recognized in any spelling.
fn key(path: &str) -> String {
    String::from_utf8_lossy(&widest_key(path.as_bytes())).into_owned()
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the user's home folder from `HOME`; `None` if it is not set or not absolute.
pub(super) fn home() -> Option<AbsPath> {
    AbsPath::new(std::env::var_os("HOME")?)
}
