//! The names in a workspace that make a host run something, as data.
//!
//! Knows: names. Must not know: what lies on a disk, how anything is kept from being written.
//! Invariant: names are compared folded, the way the file systems that ignore case compare them, on every system:
//! what is harmless here may be checked out there.
//!
//! Three classes, and the line between them is *when* a name acts:
//! - *Closed*: it acts when a folder is merely opened, entered or asked for its status, by an editor, an agent, a
//!   shell or git, and nobody reads it first. An agent never writes it; what is absent stays absent.
//! - *Watched*: it acts on the next ordinary command of the person (an install, a commit, a build, a prompt to another
//!   agent), and writing it can be the very task. An agent writes it, and the person is told before acting on it.
//!   Rule files such as `AGENTS.md` are of this class: they run nothing, agents are rightly asked to write them, and
//!   what they can do is to steer the next agent, which is itself held by this sandbox.
//! - Everything else, build scripts, makefiles and tests among it, is work: it is reviewed as such, and whoever runs it
//!   outside runs code that an agent wrote and knows it.
//!
//! Start at `of`, for one path, and at `closed`, for what is to be kept from being written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// What becomes of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// Written by no agent, also where it does not exist yet.
    Closed,
    /// Written by agents, and told to the person.
    Watched,
}

/// Who acts on a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reader {
    /// An editor that opens the folder.
    Editor,
    /// An agent that is started in the folder.
    Agent,
    /// A shell that enters the folder, or a program that is started in it.
    Shell,
    /// Git, and what hooks itself into it.
    Git,
    /// A package manager or a build tool.
    Packages,
    /// A machine elsewhere, once the work is pushed.
    Elsewhere,
}

/// One name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// A path relative to any folder of the workspace; parts are divided by `/`.
    pub path: &'static str,
    /// What becomes of it.
    pub guard: Guard,
    /// Who acts on it.
    pub reader: Reader,
    /// What it does, as the end of a sentence that begins with the name.
    pub why: &'static str,
}

const fn closed_to(reader: Reader, path: &'static str, why: &'static str) -> Name {
    Name {
        path,
        guard: Guard::Closed,
        reader,
        why,
    }
}

const fn watched(reader: Reader, path: &'static str, why: &'static str) -> Name {
    Name {
        path,
        guard: Guard::Watched,
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
const COMMITS: &str = "names programs that run when somebody commits";
const DRIVERS: &str = "names programs for git to run on contents";
const INSTALLS: &str = "changes where a package manager fetches from and what it runs";
const BUILDS: &str = "changes which programs a build runs";
const PUSHED: &str = "runs on another machine once it is pushed";

/// All of them.
pub const NAMES: &[Name] = &[
    // Editors.
    closed_to(Reader::Editor, ".vscode", TASKS),
    closed_to(Reader::Editor, ".vscode-server", TASKS),
    closed_to(Reader::Editor, ".zed", TASKS),
    closed_to(Reader::Editor, ".idea", TASKS),
    closed_to(Reader::Editor, ".fleet", TASKS),
    closed_to(Reader::Editor, ".helix", TASKS),
    closed_to(Reader::Editor, ".nvim", TASKS),
    closed_to(Reader::Editor, ".devcontainer", TASKS),
    closed_to(Reader::Editor, ".devcontainer.json", TASKS),
    closed_to(Reader::Editor, ".exrc", STARTUP),
    closed_to(Reader::Editor, ".nvimrc", STARTUP),
    closed_to(Reader::Editor, ".nvim.lua", STARTUP),
    closed_to(Reader::Editor, ".vimrc", STARTUP),
    closed_to(Reader::Editor, ".dir-locals.el", STARTUP),
    closed_to(Reader::Editor, ".dir-locals-2.el", STARTUP),
    // Agents, ourselves first.
    closed_to(Reader::Agent, ".burin", AGENT),
    closed_to(Reader::Agent, ".cursor", AGENT),
    closed_to(Reader::Agent, ".claude", AGENT),
    closed_to(Reader::Agent, ".codex", AGENT),
    closed_to(Reader::Agent, ".gemini", AGENT),
    closed_to(Reader::Agent, ".opencode", AGENT),
    closed_to(Reader::Agent, ".windsurf", AGENT),
    closed_to(Reader::Agent, ".continue", AGENT),
    closed_to(Reader::Agent, ".roo", AGENT),
    closed_to(Reader::Agent, ".cline", AGENT),
    closed_to(Reader::Agent, ".kiro", AGENT),
    closed_to(Reader::Agent, ".amazonq", AGENT),
    closed_to(Reader::Agent, ".qwen", AGENT),
    closed_to(Reader::Agent, ".aider.conf.yml", AGENT),
    closed_to(Reader::Agent, "opencode.json", AGENT),
    closed_to(Reader::Agent, "opencode.jsonc", AGENT),
    closed_to(Reader::Agent, ".mcp.json", SERVERS),
    // Shells, debuggers.
    closed_to(Reader::Shell, ".envrc", ENTERED),
    closed_to(Reader::Shell, ".autoenv.zsh", ENTERED),
    closed_to(Reader::Shell, ".gdbinit", STARTUP),
    closed_to(Reader::Shell, ".lldbinit", STARTUP),
    watched(Reader::Shell, "mise.toml", ENTERED),
    watched(Reader::Shell, ".mise.toml", ENTERED),
    watched(Reader::Shell, ".tool-versions", BUILDS),
    watched(Reader::Shell, ".env", "sets the environment of programs"),
    closed_to(
        Reader::Shell,
        ".ssh",
        "holds keys, and commands that ssh runs",
    ),
    // Git. What lies in `.git` itself has a list of its own, `GIT_CONTROL`.
    watched(Reader::Git, ".gitattributes", DRIVERS),
    watched(
        Reader::Git,
        ".gitmodules",
        "names other repositories to fetch",
    ),
    watched(
        Reader::Git,
        ".lfsconfig",
        "names a server that git sends to",
    ),
    watched(Reader::Git, ".husky", COMMITS),
    watched(Reader::Git, ".githooks", COMMITS),
    watched(Reader::Git, ".pre-commit-config.yaml", COMMITS),
    watched(Reader::Git, "lefthook.yml", COMMITS),
    watched(Reader::Git, ".lefthook.yml", COMMITS),
    watched(Reader::Git, ".lintstagedrc", COMMITS),
    // Packages and builds. These are work files: adding a registry or a linker is an ordinary task.
    watched(Reader::Packages, ".npmrc", INSTALLS),
    watched(Reader::Packages, ".yarnrc", INSTALLS),
    watched(Reader::Packages, ".yarnrc.yml", INSTALLS),
    watched(Reader::Packages, ".yarn/plugins", INSTALLS),
    watched(Reader::Packages, ".yarn/releases", INSTALLS),
    watched(Reader::Packages, ".pnpmfile.cjs", INSTALLS),
    watched(Reader::Packages, ".pnpmfile.mjs", INSTALLS),
    watched(Reader::Packages, "bunfig.toml", INSTALLS),
    watched(Reader::Packages, "pip.conf", INSTALLS),
    watched(Reader::Packages, ".pypirc", INSTALLS),
    watched(Reader::Packages, ".bundle/config", INSTALLS),
    watched(Reader::Packages, ".cargo/config.toml", BUILDS),
    watched(Reader::Packages, ".cargo/config", BUILDS),
    watched(Reader::Packages, "rust-toolchain", BUILDS),
    watched(Reader::Packages, "rust-toolchain.toml", BUILDS),
    watched(Reader::Packages, ".bazelrc", BUILDS),
    watched(Reader::Packages, ".mvn", BUILDS),
    watched(Reader::Packages, "sitecustomize.py", STARTUP),
    watched(Reader::Packages, "usercustomize.py", STARTUP),
    // Rules for agents.
    watched(Reader::Agent, "mcp.json", SERVERS),
    watched(Reader::Agent, "AGENTS.md", RULES),
    watched(Reader::Agent, "AGENTS.override.md", RULES),
    watched(Reader::Agent, "CLAUDE.md", RULES),
    watched(Reader::Agent, "CLAUDE.local.md", RULES),
    watched(Reader::Agent, "GEMINI.md", RULES),
    watched(Reader::Agent, ".cursorrules", RULES),
    watched(Reader::Agent, ".windsurfrules", RULES),
    watched(Reader::Agent, ".clinerules", RULES),
    watched(Reader::Agent, ".rules", RULES),
    watched(Reader::Agent, ".goosehints", RULES),
    watched(Reader::Agent, ".github/copilot-instructions.md", RULES),
    watched(Reader::Agent, ".github/instructions", RULES),
    // Machines elsewhere.
    watched(Reader::Elsewhere, ".github/workflows", PUSHED),
    watched(Reader::Elsewhere, ".github/actions", PUSHED),
    watched(Reader::Elsewhere, ".gitlab-ci.yml", PUSHED),
    watched(Reader::Elsewhere, ".circleci", PUSHED),
    watched(Reader::Elsewhere, "Jenkinsfile", PUSHED),
];

/// In a home folder: what a login, a shell, a desktop or Git runs by itself. They matter where a home folder can be
/// written at all.
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
    "bin",
];

/// What in a git folder decides which programs git runs, and which repository it is at all. Relative to the folder.
///
/// `rebase-merge` and its like hold `exec` lines that `git rebase --continue` runs; an agent's own rebase needs to write
/// them, so they are looked at afterwards, see `GIT_WATCHED`.
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

/// What in a git folder an agent may write, and what is told when it changed.
pub const GIT_WATCHED: &[&str] = &[
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "shallow",
    "lfs/hooks",
];

/// The names that no agent writes.
pub fn closed() -> impl Iterator<Item = &'static Name> {
    NAMES.iter().filter(|name| name.guard == Guard::Closed)
}

/// The name that a path relative to a workspace is, or lies within; the outermost where there are several. Git folders
/// are not among them: see `is_git`.
pub fn of(path: &Path) -> Option<&'static Name> {
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

fn begins(parts: &[String], path: &str) -> bool {
    let mut parts = parts.iter();
    path.split('/').all(|wanted| {
        parts
            .next()
            .is_some_and(|part| part.eq_ignore_ascii_case(wanted))
    })
}

/// Whether a name is that of a git folder or pointer to any file system git runs on: in any case, with what HFS+ leaves
/// out of names, and with what NTFS takes for the same.
pub fn is_git(name: &OsStr) -> bool {
    let name = folded(name);
    let name = name.split(':').next().unwrap_or_default();
    let name = name.trim_end_matches([' ', '.']);
    matches!(name, ".git" | "git~1")
}

/// A name as file systems see it that ignore case: lower case, the two letters beside ASCII that fold into it, and
/// without the marks that HFS+ does not see. The names here are all ASCII, and nothing else composes to ASCII, so this
/// is also their comparison in normal form C.
pub fn folded(name: &OsStr) -> String {
    String::from_utf8_lossy(name.as_bytes())
        .chars()
        .filter(|letter| !is_unseen(*letter))
        .flat_map(|letter| match letter {
            '\u{17f}' => 's'.to_lowercase(),
            other => other.to_lowercase(),
        })
        .collect()
}

/// What HFS+ leaves out when it compares names.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests;
