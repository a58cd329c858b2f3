//! The names in a workspace through which a host runs code, as data.
//!
//! Knows: names. Must not know: the disk, how anything is kept from being written.
//! Invariant: names are compared case-folded, as case-insensitive file systems compare them, on
//! every system: a name that is harmless here may be checked out there.
//!
//! There are three classes, distinguished by *when* a name takes effect:
//! - *Closed*: it takes effect when a folder is merely opened, entered or asked for its status, by
//!   an editor, an agent, a shell or git, before anybody reads it. An agent never writes it; a
//!   missing one stays missing.
//! - *Watched*: it takes effect on the user's next ordinary command (an install, a commit, a build,
//!   a prompt to another agent), and writing it can be the very task. An agent may write it, and
//!   the user is notified before acting on it. Rule files such as `AGENTS.md` belong to this class:
//!   they run nothing, agents are rightly asked to write them, and all they can do is steer the
//!   next agent, which is itself sandboxed.
//! - Everything else, including build scripts, makefiles and tests, is work: it is reviewed as
//!   such, and a user who runs it outside the sandbox knowingly runs code that an agent wrote.
//!
//! Start at `of` for one path, and at `closed` for the names to protect from writing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// The protection class of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameClass {
    /// Never written by an agent, even if it does not exist yet.
    Closed,
    /// Written by agents, and reported to the user.
    Watched,
}

/// The program that acts on a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameReader {
    /// An editor that opens the folder.
    Editor,
    /// An agent started in the folder.
    Agent,
    /// A shell that enters the folder, or a program started in it.
    Shell,
    /// Git, and tools that install git hooks.
    Git,
    /// A package manager or build tool.
    Packages,
    /// A remote machine, once the work is pushed.
    Elsewhere,
}

/// A name through which a host runs code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SensitiveName {
    /// A path relative to any folder of the workspace; components are separated by `/`.
    pub path: &'static str,
    /// The protection class of the name.
    pub class: NameClass,
    /// The program that acts on it.
    pub reader: NameReader,
    /// Its effect, as the predicate of a sentence whose subject is the name.
    pub why: &'static str,
}

const fn closed_to(reader: NameReader, path: &'static str, why: &'static str) -> SensitiveName {
    SensitiveName {
        path,
        class: NameClass::Closed,
        reader,
        why,
    }
}

const fn watched(reader: NameReader, path: &'static str, why: &'static str) -> SensitiveName {
    SensitiveName {
        path,
        class: NameClass::Watched,
        reader,
        why,
    }
}

const TASKS: &str = "holds tasks and program paths that an editor runs when the folder is opened";
const AGENT: &str = "holds hooks, servers and permissions of a coding agent";
const SERVERS: &str = "names servers that a coding agent starts";
const STARTUP: &str = "is run by a program that is started in this folder";
const ENTERED: &str = "is run by a shell that enters this folder";
const RULES: &str = "steers the next agent that reads it";
const COMMITS: &str = "names programs that run on commit";
const DRIVERS: &str = "names programs that git runs on file contents";
const INSTALLS: &str = "changes where a package manager fetches from and what it runs";
const BUILDS: &str = "changes which programs a build runs";
const PUSHED: &str = "runs on another machine once it is pushed";

/// All sensitive names except those of git folders.
pub const NAMES: &[SensitiveName] = &[
    // Editors.
    closed_to(NameReader::Editor, ".vscode", TASKS),
    closed_to(NameReader::Editor, ".vscode-server", TASKS),
    closed_to(NameReader::Editor, ".zed", TASKS),
    closed_to(NameReader::Editor, ".idea", TASKS),
    closed_to(NameReader::Editor, ".fleet", TASKS),
    closed_to(NameReader::Editor, ".helix", TASKS),
    closed_to(NameReader::Editor, ".nvim", TASKS),
    closed_to(NameReader::Editor, ".devcontainer", TASKS),
    closed_to(NameReader::Editor, ".devcontainer.json", TASKS),
    closed_to(NameReader::Editor, ".exrc", STARTUP),
    closed_to(NameReader::Editor, ".nvimrc", STARTUP),
    closed_to(NameReader::Editor, ".nvim.lua", STARTUP),
    closed_to(NameReader::Editor, ".vimrc", STARTUP),
    closed_to(NameReader::Editor, ".dir-locals.el", STARTUP),
    closed_to(NameReader::Editor, ".dir-locals-2.el", STARTUP),
    // Agents, Burin's own first.
    closed_to(NameReader::Agent, ".burin", AGENT),
    closed_to(NameReader::Agent, ".cursor", AGENT),
    closed_to(NameReader::Agent, ".claude", AGENT),
    closed_to(NameReader::Agent, ".codex", AGENT),
    closed_to(NameReader::Agent, ".gemini", AGENT),
    closed_to(NameReader::Agent, ".opencode", AGENT),
    closed_to(NameReader::Agent, ".windsurf", AGENT),
    closed_to(NameReader::Agent, ".continue", AGENT),
    closed_to(NameReader::Agent, ".roo", AGENT),
    closed_to(NameReader::Agent, ".cline", AGENT),
    closed_to(NameReader::Agent, ".kiro", AGENT),
    closed_to(NameReader::Agent, ".amazonq", AGENT),
    closed_to(NameReader::Agent, ".qwen", AGENT),
    closed_to(NameReader::Agent, ".aider.conf.yml", AGENT),
    closed_to(NameReader::Agent, "opencode.json", AGENT),
    closed_to(NameReader::Agent, "opencode.jsonc", AGENT),
    closed_to(NameReader::Agent, ".mcp.json", SERVERS),
    // Shells, debuggers.
    closed_to(NameReader::Shell, ".envrc", ENTERED),
    closed_to(NameReader::Shell, ".autoenv.zsh", ENTERED),
    closed_to(NameReader::Shell, ".gdbinit", STARTUP),
    closed_to(NameReader::Shell, ".lldbinit", STARTUP),
    watched(NameReader::Shell, "mise.toml", ENTERED),
    watched(NameReader::Shell, ".mise.toml", ENTERED),
    watched(NameReader::Shell, ".tool-versions", BUILDS),
    watched(
        NameReader::Shell,
        ".env",
        "sets the environment of programs",
    ),
    closed_to(
        NameReader::Shell,
        ".ssh",
        "holds keys, and commands that ssh runs",
    ),
    // Git. Entries of `.git` itself are listed in `GIT_CONTROL`.
    watched(NameReader::Git, ".gitattributes", DRIVERS),
    watched(
        NameReader::Git,
        ".gitmodules",
        "names other repositories to fetch",
    ),
    watched(
        NameReader::Git,
        ".lfsconfig",
        "names a server that git sends to",
    ),
    watched(NameReader::Git, ".husky", COMMITS),
    watched(NameReader::Git, ".githooks", COMMITS),
    watched(NameReader::Git, ".pre-commit-config.yaml", COMMITS),
    watched(NameReader::Git, "lefthook.yml", COMMITS),
    watched(NameReader::Git, ".lefthook.yml", COMMITS),
    watched(NameReader::Git, ".lintstagedrc", COMMITS),
    // Packages and builds. Agents may write these: adding a registry or a linker is an ordinary
    // task.
    watched(NameReader::Packages, ".npmrc", INSTALLS),
    watched(NameReader::Packages, ".yarnrc", INSTALLS),
    watched(NameReader::Packages, ".yarnrc.yml", INSTALLS),
    watched(NameReader::Packages, ".yarn/plugins", INSTALLS),
    watched(NameReader::Packages, ".yarn/releases", INSTALLS),
    watched(NameReader::Packages, ".pnpmfile.cjs", INSTALLS),
    watched(NameReader::Packages, ".pnpmfile.mjs", INSTALLS),
    watched(NameReader::Packages, "bunfig.toml", INSTALLS),
    watched(NameReader::Packages, "pip.conf", INSTALLS),
    watched(NameReader::Packages, ".pypirc", INSTALLS),
    watched(NameReader::Packages, ".bundle/config", INSTALLS),
    watched(NameReader::Packages, ".cargo/config.toml", BUILDS),
    watched(NameReader::Packages, ".cargo/config", BUILDS),
    watched(NameReader::Packages, "rust-toolchain", BUILDS),
    watched(NameReader::Packages, "rust-toolchain.toml", BUILDS),
    watched(NameReader::Packages, ".bazelrc", BUILDS),
    watched(NameReader::Packages, ".mvn", BUILDS),
    watched(NameReader::Packages, "sitecustomize.py", STARTUP),
    watched(NameReader::Packages, "usercustomize.py", STARTUP),
    // Rules for agents.
    watched(NameReader::Agent, "mcp.json", SERVERS),
    watched(NameReader::Agent, "AGENTS.md", RULES),
    watched(NameReader::Agent, "AGENTS.override.md", RULES),
    watched(NameReader::Agent, "CLAUDE.md", RULES),
    watched(NameReader::Agent, "CLAUDE.local.md", RULES),
    watched(NameReader::Agent, "GEMINI.md", RULES),
    watched(NameReader::Agent, ".cursorrules", RULES),
    watched(NameReader::Agent, ".windsurfrules", RULES),
    watched(NameReader::Agent, ".clinerules", RULES),
    watched(NameReader::Agent, ".rules", RULES),
    watched(NameReader::Agent, ".goosehints", RULES),
    watched(NameReader::Agent, ".github/copilot-instructions.md", RULES),
    watched(NameReader::Agent, ".github/instructions", RULES),
    // Remote machines.
    watched(NameReader::Elsewhere, ".github/workflows", PUSHED),
    watched(NameReader::Elsewhere, ".github/actions", PUSHED),
    watched(NameReader::Elsewhere, ".gitlab-ci.yml", PUSHED),
    watched(NameReader::Elsewhere, ".circleci", PUSHED),
    watched(NameReader::Elsewhere, "Jenkinsfile", PUSHED),
];

/// Entries of a home folder that a login, a shell, a desktop or git runs on its own. They matter
/// only if a home folder is writable.
pub const START_FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_completion",
    ".bash_completion.d",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bashrc.d",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".config/autostart",
    ".config/autostart-scripts",
    ".config/bash",
    ".config/emacs",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/hypr",
    ".config/i3",
    ".config/mimeapps.list",
    ".config/nushell",
    ".config/nvim",
    ".config/plasma-workspace",
    ".config/sway",
    ".config/systemd",
    ".config/tmux",
    ".config/xprofile",
    ".config/zsh",
    ".crontab",
    ".cshrc",
    ".emacs",
    ".emacs.d",
    ".forward",
    ".gdbinit",
    ".gitconfig",
    ".i3",
    ".inputrc",
    ".kshrc",
    ".local/bin",
    ".local/share/applications",
    ".local/share/bash-completion",
    ".local/share/dbus-1",
    ".local/share/fish",
    ".local/share/systemd",
    ".local/share/zsh",
    ".login",
    ".logout",
    ".mailcap",
    ".mkshrc",
    ".oh-my-zsh",
    ".pam_environment",
    ".procmailrc",
    ".profile",
    ".screenrc",
    ".ssh",
    ".tcshrc",
    ".tmux.conf",
    ".vim",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zsh",
    ".zshenv",
    ".zshrc",
    ".zshrc.d",
    "Library/Application Scripts",
    "Library/Input Methods",
    "Library/LaunchAgents",
    "Library/PreferencePanes",
    "Library/Preferences",
    "Library/QuickLook",
    "Library/Scripts",
    "Library/Services",
    "Library/Spotlight",
    "Library/Workflows",
    "bin",
];

/// Entries of a git folder, relative to it, that decide which programs git runs, and which
/// repository it is.
///
/// `rebase-merge` and similar folders contain `exec` lines that `git rebase --continue` runs; an
/// agent's own rebase needs to write them, so they are inspected afterwards, see `GIT_WATCHED`.
pub const GIT_CONTROL: &[&str] = &[
    "config",
    "config.worktree",
    "hooks",
    "commondir",
    "gitdir",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "modules",
    "worktrees",
    "remotes",
    "branches",
];

/// Entries of a git folder that an agent may write, reported if they changed.
pub const GIT_WATCHED: &[&str] = &[
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "shallow",
    "lfs/hooks",
];

/// Returns the names that no agent may write.
pub fn closed() -> impl Iterator<Item = &'static SensitiveName> {
    NAMES.iter().filter(|name| name.class == NameClass::Closed)
}

/// Returns the sensitive name that a path relative to a workspace equals or lies within; the
/// outermost if there are several. Git folders are not included: see `is_git`.
pub fn of(path: &Path) -> Option<&'static SensitiveName> {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(folded(part)),
            _ => None,
        })
        .collect();
    (0..parts.len()).find_map(|from| {
        let rest = &parts[from..];
        NAMES.iter().find(|name| begins(rest, name.path))
    })
}

/// Returns whether the components of `path`, separated by `/`, are the first of `parts`. ASCII case
/// does not matter.
fn begins(parts: &[String], path: &str) -> bool {
    let mut parts = parts.iter();
    path.split('/').all(|wanted| {
        parts
            .next()
            .is_some_and(|part| part.eq_ignore_ascii_case(wanted))
    })
}

/// Returns whether a name denotes a git folder or pointer file on any file system that git
/// supports: in any case, including the characters that HFS+ ignores, and NTFS's equivalents.
pub fn is_git(name: &OsStr) -> bool {
    let name = folded(name);
    let name = name.split(':').next().unwrap_or_default();
    let name = name.trim_end_matches([' ', '.']);
    matches!(name, ".git" | "git~1")
}

/// Folds a name as all file systems that git supports do together: case, normal form, ligatures, and
/// the characters that HFS+ ignores. Names with the same result may be the same file.
pub fn folded(name: &OsStr) -> String {
    String::from_utf8_lossy(&base::names::widest_key(name.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests;
