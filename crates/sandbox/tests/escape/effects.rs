//! Detects the effects of a program on its scene beyond the permitted ones.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::scene::{SECRET, Scene};

/// Names in a workspace that no agent may write; listed here, so that a truncated list is noticed.
const CLOSED: &[&str] = &[
    ".vscode",
    ".cursor",
    ".claude",
    ".codex",
    ".gemini",
    ".burin",
    ".zed",
    ".idea",
    ".envrc",
    ".mcp.json",
    ".devcontainer",
    ".exrc",
    ".nvim.lua",
    ".gdbinit",
];

/// Entries of a git folder that decide which programs git runs.
const CONTROL: &[&str] = &[
    "config",
    "config.worktree",
    "hooks",
    "commondir",
    "gitdir",
    "info/attributes",
    "objects/info/alternates",
];

/// A snapshot of everything observable in a scene.
pub(crate) struct Before {
    tree: BTreeMap<PathBuf, String>,
}

impl Before {
    pub(crate) fn of(scene: &Scene) -> Self {
        let mut tree = BTreeMap::new();
        picture(&scene.base, Path::new(""), &mut tree);
        Self { tree }
    }

    /// Returns the differences, and the escapes visible in `output`. Empty if the program stayed
    /// inside.
    pub(crate) fn effects(&self, scene: &mut Scene, output: &str) -> Vec<String> {
        let mut effects = self.changes(scene);
        if output.contains(SECRET) {
            effects.push("a secret was read".to_owned());
        }
        if output.contains("ESCAPED") {
            effects.push("it says so".to_owned());
        }
        effects.extend(calls(scene));
        effects.extend(left_behind(scene));
        match scene.victim.try_wait() {
            Ok(None) => {}
            other => effects.push(format!("the victim ended: {other:?}")),
        }
        for folder in ["/tmp", "/var/tmp", "/dev/shm", "/run"] {
            let path = format!("{folder}/{}", scene.shared);
            if fs::symlink_metadata(&path).is_ok() {
                effects.push(format!("{path} came into being"));
            }
        }
        effects
    }

    fn changes(&self, scene: &Scene) -> Vec<String> {
        let mut now = BTreeMap::new();
        picture(&scene.base, Path::new(""), &mut now);
        let is_folder = |tree: &BTreeMap<PathBuf, String>| {
            let found = tree.get(Path::new("work/.git"));
            found.map(|text| text.starts_with("folder"))
        };
        // A first repository may be created; the scan handles anything in it that would run.
        let is_fresh = is_folder(&self.tree).is_none() && is_folder(&now) == Some(true);
        let mut changes = Vec::new();
        for path in self.tree.keys().chain(now.keys()) {
            let (old, new) = (self.tree.get(path), now.get(path));
            let is_own = is_fresh && path.starts_with("work/.git") || self.may_change(path);
            if old != new && !is_own {
                changes.push(format!("{}: {old:?} is {new:?}", path.display()));
            }
        }
        changes.sort();
        changes.dedup();
        changes.truncate(5);
        changes
    }

    /// Returns whether the command may change a path of the scene.
    fn may_change(&self, path: &Path) -> bool {
        let Ok(inner) = path.strip_prefix("work") else {
            return is_of_worktree(path);
        };
        let mut parts = inner.components();
        let Some(first) = parts.next() else {
            // The folder's own times.
            return true;
        };
        let first = first.as_os_str().to_string_lossy().to_lowercase();
        if CLOSED.contains(&first.as_str()) {
            return false;
        }
        if first != ".git" {
            return true;
        }
        let rest = parts.as_path();
        let was = self.tree.get(Path::new("work/.git"));
        let was_folder = was.is_some_and(|was| was.starts_with("folder"));
        let is_itself = rest.as_os_str().is_empty();
        if !was_folder {
            return false;
        }
        if is_itself {
            return path.file_name().is_some_and(|name| name == ".git");
        }
        !CONTROL.iter().any(|name| rest.starts_with(name))
    }
}

/// Returns whether a commit in a linked worktree writes to a path.
fn is_of_worktree(path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix("hub/.git") else {
        return false;
    };
    let own = inner.strip_prefix("worktrees/work").ok();
    let is_control = |inner: &Path| CONTROL.iter().any(|name| inner.starts_with(name));
    let is_shared = ["objects", "refs", "logs"]
        .iter()
        .any(|name| inner.starts_with(name));
    match own {
        Some(own) => !is_control(own),
        None => is_shared && !is_control(inner),
    }
}

/// Returns kind, permissions, names and content of everything below a folder. Times of folders are
/// left out where entries may come and go.
fn picture(base: &Path, path: &Path, tree: &mut BTreeMap<PathBuf, String>) {
    let here = base.join(path);
    let Ok(stat) = fs::symlink_metadata(&here) else {
        return;
    };
    let kind = stat.file_type();
    let rights = format!("{:o} {}:{}", stat.mode(), stat.uid(), stat.gid());
    let text = if kind.is_symlink() {
        format!("link {:?}", fs::read_link(&here).ok())
    } else if kind.is_dir() {
        format!("folder {rights}")
    } else if kind.is_file() {
        let content = fs::read(&here).unwrap_or_default();
        let content = String::from_utf8_lossy(&content[..content.len().min(4096)]).into_owned();
        let names = stat.nlink();
        let mtime = stat.mtime();
        format!("file {rights} {names} {mtime} {} {content:?}", stat.len())
    } else {
        format!("other {rights}")
    };
    tree.insert(path.to_owned(), text);
    if kind.is_dir() {
        for entry in fs::read_dir(&here).into_iter().flatten().flatten() {
            picture(base, &path.join(entry.file_name()), tree);
        }
    }
}

/// Returns which listeners were connected to from inside.
fn calls(scene: &Scene) -> Vec<String> {
    let mut calls = Vec::new();
    let mut called = |is_called: bool, who: &str| {
        if is_called {
            calls.push(format!("{who} was called"));
        }
    };
    called(scene.tcp.accept().is_ok(), "the listener on TCP");
    let six = scene.tcp6.as_ref();
    called(
        six.is_some_and(|listener| listener.accept().is_ok()),
        "the listener on TCP of IPv6",
    );
    called(scene.udp.recv(&mut [0; 16]).is_ok(), "the socket on UDP");
    called(scene.stream.accept().is_ok(), "the socket with a path");
    called(
        scene.datagram.recv(&mut [0; 16]).is_ok(),
        "the datagram socket with a path",
    );
    called(
        scene.abstracted.accept().is_ok(),
        "the socket with an abstract name",
    );
    calls
}

/// Returns what remains: processes that carry the scene's name, and memory, queues and semaphores
/// with its key.
fn left_behind(scene: &Scene) -> Vec<String> {
    let mut found = Vec::new();
    for process in survivors(&scene.shared) {
        found.push(format!("process {process} is still there"));
    }
    for (kind, key) in [("shm", 0x4711000), ("msg", 0x4712000), ("sem", 0x4713000)] {
        let key = key + scene.number;
        let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
        if table
            .lines()
            .filter_map(first)
            .any(|found| found == key.to_string())
        {
            found.push(format!("{kind} {key:#x} is still there"));
        }
    }
    found
}

/// Returns the processes whose command line contains a word.
pub(crate) fn survivors(word: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(number) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if number != std::process::id() as i32 && String::from_utf8_lossy(&line).contains(word) {
            found.push(number);
        }
    }
    found
}
